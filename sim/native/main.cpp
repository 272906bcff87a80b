/* SPDX-License-Identifier: MIT */
/* The simulator's workloads on the host:  pawl-sim-native WORKLOAD [NAME=VALUE]... */
#include "words.hpp"
#include "workloads/settings.hpp"

#include <algorithm>
#include <cstdio>

namespace {

/* Nanoseconds of one of many, of the quickest batch: an interrupt only makes a batch longer. */
template <class Body> double price(Body one)
{
    constexpr unsigned batches = 200, each = 200;
    double best = 1e9;
    for (unsigned b = 0; b < batches; b++) {
        const std::uint64_t began = sim::clock_now();
        for (unsigned i = 0; i < each; i++)
            one();
        best = std::min(best, static_cast<double>(sim::clock_now() - began) / each);
    }
    return best;
}

sim::findings run_prices(sim::settings &s)
{
    s.refuse_unused();
    sim::findings f;
    f.add("relax", price([] { __builtin_ia32_pause(); }));
    f.add("clock", price([] { (void)sim::clock_now(); }));
    return f;
}

} // namespace

int main(int argc, char **argv)
{
    try {
        const sim::workload run =
            sim::chosen("pawl-sim-native",
                        {{"section", sim::run_section, "readers and writers of one object"},
                         {"word", sim::run_word, "the same of one word on the line of its lock"},
                         {"counter", sim::run_counter, "threads that count events"},
                         {"reference", sim::run_reference, "threads that take and drop references"},
                         {"chain", sim::run_chain, "threads that wake each other in turn"},
                         {"prices", run_prices, "a relax hint and a look at the clock, in ns"}},
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
