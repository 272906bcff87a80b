/* SPDX-License-Identifier: MIT */
/*
 * pawl-bench-counters: what counting costs, and what sequence locks, reference counts and
 * big-reader locks cost, each beside what they replace, at one thread and at two.
 */
#include "counters/scene.hpp"

namespace {

bench::counters::candidates all_candidates()
{
    bench::counters::candidates all;
    add_candidates(all);
    read_candidates(all);
    sequence_candidates(all);
    reference_candidates(all);
    big_reader_candidates(all);
    return all;
}

} // namespace

int main(int argc, char **argv)
{
    bench::counters::run_options o;
    CLI::App app("What counting costs, beside what it replaces; JSON lines.");
    bench::counters::declare(app, o);
    return bench::guarded(app, argc, argv,
                          [&] { return bench::counters::run("counters", all_candidates(), o); });
}
