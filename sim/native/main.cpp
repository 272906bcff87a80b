/* SPDX-License-Identifier: MIT */
/* The simulator's workloads on the host:  pawl-sim-native WORKLOAD [NAME=VALUE]... */
#include "workloads/settings.hpp"

#include <cstdio>

int main(int argc, char **argv)
{
    try {
        const sim::workload run =
            sim::chosen("pawl-sim-native",
                        {{"section", sim::run_section, "readers and writers of one object"},
                         {"counter", sim::run_counter, "threads that count events"},
                         {"reference", sim::run_reference, "threads that take and drop references"},
                         {"chain", sim::run_chain, "threads that wake each other in turn"}},
                        argc, argv);
        if (run) {
            sim::settings s({argv + 2, argv + argc});
            (void)std::printf("%s\n", run(s).json(false).c_str());
        }
        return 0;
    } catch (const sim::bad_input &fault) {
        (void)std::fprintf(stderr, "pawl-sim-native: %s\n", fault.what());
        return 2;
    }
}
