/* SPDX-License-Identifier: MIT */
/*
 * pawl-bench-rcu: what reading, waiting for readers and deferring costs, ours and others', each
 * beside the least that it could cost.
 *
 * A row is group/what@threads+beside as in pawl-bench-counters. Samples of `call` and `flood` take
 * as many callbacks as the options say, however long that is.
 */
#include "counters/scene.hpp"
#include "rcu/rcu.hpp"

namespace bench::rcu {
namespace {

struct options {
    counters::run_options run;
    std::vector<std::string> groups;
};

const std::vector<std::string> all_groups = {"read", "nested", "deref", "quiet",
                                             "sync", "call",   "delay", "flood"};

/* Rows of other groups are left out unless they are named. */
void choose_groups(candidates &all, const std::vector<std::string> &groups)
{
    for (const std::string &group : groups)
        if (std::find(all_groups.begin(), all_groups.end(), group) == all_groups.end())
            throw bad_input("--groups names '" + group + "'; the groups are read, nested, deref, "
                            "quiet, sync, call, delay and flood.");
    for (counters::candidate &c : all)
        c.by_default = groups.empty() ||
                       std::find(groups.begin(), groups.end(), c.group) != groups.end();
}

void check()
{
    require("--callbacks", chosen.callbacks, 1LL, 100000000LL);
    require("--period", chosen.period_us, 1LL, 1000000LL);
    require("--flood", chosen.flood, 1LL, 1000000000LL);
    require("--bound", chosen.bound, 4096LL, 1LL << 40);
    require("--most", chosen.most, 1LL << 20, 1LL << 40);
}

int run(const options &o)
{
    candidates all;
    read_rows(all);
    sync_rows(all);
    call_rows(all);
    flood_rows(all);
    choose_groups(all, o.groups);
    check();
    return counters::run("rcu", all, o.run,
                         {{"callbacks", chosen.callbacks},
                          {"period_us", chosen.period_us},
                          {"flood", chosen.flood},
                          {"bound_bytes", chosen.bound},
                          {"most_bytes", chosen.most},
                          {"sleepers", sleepers::count}});
}

} // namespace
} // namespace bench::rcu

int main(int argc, char **argv)
{
    using bench::rcu::chosen;
    bench::rcu::options o;
    CLI::App app("What read-copy-update costs, beside its floors; JSON lines.");
    bench::counters::declare(app, o.run);
    app.add_option("--groups", o.groups, "of rows: read, nested, deref, ... (default all)")
        ->delimiter(',');
    app.add_option("--callbacks", chosen.callbacks, "of a sample of call (default 1000000)");
    app.add_option("--period", chosen.period_us, "microseconds between calls of delay (200)");
    app.add_option("--flood", chosen.flood, "callbacks of a sample of flood (default 10000000)");
    app.add_option("--bound", chosen.bound, "bytes that may be queued, if bounded (64 MiB)");
    app.add_option("--most", chosen.most, "bytes queued at which this driver stops (2 GiB)");
    return bench::guarded(app, argc, argv, [&] { return bench::rcu::run(o); });
}
