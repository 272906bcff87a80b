/* SPDX-License-Identifier: MIT */
/*
 * One simulated run:  pawl-sim WORKLOAD [machine.NAME=VALUE | library.NAME=VALUE | NAME=VALUE]...
 * A library.NAME is a constant of the library (engine/constants.cpp). Prints one line of
 * JSON. Exit code: 1, the simulated program failed (standard error says how); 2, bad input.
 */
#include "engine/constants.hpp"
#include "engine/engine.hpp"
#include "workloads/settings.hpp"

#include <cstdio>

#include <unistd.h>

int main(int argc, char **argv)
{
    try {
        const sim::workload run = sim::chosen(
            "pawl-sim",
            {{"lru", sim::run_lru, "threads that look keys up in a cache with one lock"},
             {"section", sim::run_section, "readers and writers of one object"},
             {"word", sim::run_word, "the same of one word on the line of its lock"},
             {"counter", sim::run_counter, "threads that count events"},
             {"reference", sim::run_reference, "threads that take and drop references"},
             {"chain", sim::run_chain, "threads that wake each other in turn"},
             {"replay", sim::run_replay, "threads of a trace do again what they did"}},
            argc, argv);
        if (!run)
            return 0;
        std::vector<std::string> words;
        for (int i = 2; i < argc; i++)
            if (!sim::set_constant(argv[i]))
                words.emplace_back(argv[i]);
        sim::settings s(words);
        const std::string line = run(s).json(true) + "\n";
        (void)std::fputs(line.c_str(), stdout);
        (void)std::fflush(stdout);
        _exit(0); /* fibers that were stopped in the middle end with the process */
    } catch (const sim::program_failed &failure) {
        (void)std::fprintf(stderr, "pawl-sim: the simulated program failed. %s\n", failure.what());
        _exit(1);
    } catch (const sim::bad_input &fault) {
        (void)std::fprintf(stderr, "pawl-sim: %s\n", fault.what());
        _exit(2);
    }
}
