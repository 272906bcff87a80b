/* SPDX-License-Identifier: MIT */
/*
 * One simulated run:  pawl-sim WORKLOAD [machine.NAME=VALUE | NAME=VALUE]...
 * Prints one line of JSON. Exit code: 1, the simulated program failed (standard error says how);
 * 2, bad input.
 */
#include "workloads/settings.hpp"

#include <cstdio>
#include <cstring>

#include <unistd.h>

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        sim::workload run;
    } all[] = {{"lru", sim::run_lru}};
    try {
        for (const auto &w : all) {
            if (argc < 2 || std::strcmp(argv[1], w.name) != 0)
                continue;
            sim::settings s({argv + 2, argv + argc});
            const std::string line = w.run(s).json() + "\n";
            (void)std::fputs(line.c_str(), stdout);
            (void)std::fflush(stdout);
            _exit(0); /* fibers that were stopped in the middle end with the process */
        }
        std::string names;
        for (const auto &w : all)
            names += std::string(names.empty() ? "" : ", ") + w.name;
        throw sim::bad_input("The first argument names a workload: " + names + ".");
    } catch (const sim::program_failed &failure) {
        (void)std::fprintf(stderr, "pawl-sim: the simulated program failed. %s\n", failure.what());
        _exit(1);
    } catch (const sim::bad_input &fault) {
        (void)std::fprintf(stderr, "pawl-sim: %s\n", fault.what());
        _exit(2);
    }
}
