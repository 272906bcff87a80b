/* SPDX-License-Identifier: MIT */
/*
 * pawl-bench-rcu: the cost of reading, waiting for readers and deferring, the library's and
 * others', each beside the least that it could cost.
 *
 * A row is group/what@threads+beside as in pawl-bench-counters. Samples of `call` and `flood` take
 * the number of callbacks that the options give, for any length of time.
 */
#include "counters/scene.hpp"
#include "rcu/rcu.hpp"

namespace bench::rcu {
namespace {

const std::vector<std::string> all_groups = {"read", "nested", "deref", "quiet", "sync",
                                             "busy", "call",   "delay", "flood"};

/* Leaves out the rows of other groups unless the user names them. */
void choose_groups(candidates &all, const std::vector<std::string> &groups)
{
    for (const std::string &group : groups)
        if (std::find(all_groups.begin(), all_groups.end(), group) == all_groups.end())
            throw bad_input("--groups names '" + group +
                            "'; the groups are read, nested, deref, "
                            "quiet, sync, busy, call, delay and flood.");
    for (counters::counter_candidate &c : all)
        c.by_default =
            groups.empty() || std::find(groups.begin(), groups.end(), c.strategy) != groups.end();
}

class rcu_driver {
  public:
    static constexpr const char *says =
        "What read-copy-update costs, beside its floors; JSON lines.";

    explicit rcu_driver(options &o) : o_(o)
    {
        counters::take_options(o);
        o.names("--groups", groups_, "of rows: read, nested, deref, ... (default all)");
        o.number("--callbacks", chosen.callbacks, 1, 100000000, "of a sample of call");
        o.number("--period", chosen.period_us, 1, 1000000, "microseconds between calls of delay");
        o.number("--flood", chosen.flood, 1, 1000000000, "callbacks of a sample of flood");
        o.number("--bound", chosen.bound, 4096, 1LL << 40, "bytes that may be queued, if bounded");
        o.number("--most", chosen.most, 1LL << 20, 1LL << 40,
                 "bytes queued at which this driver stops");
    }

    std::vector<counters::counter_candidate> candidates() const
    {
        std::vector<counters::counter_candidate> all;
        read_rows(all);
        sync_rows(all);
        busy_rows(all);
        call_rows(all);
        flood_rows(all);
        choose_groups(all, groups_);
        counters::need_cpus(all, o_);
        return all;
    }

    void check() const {}

    std::unique_ptr<counters::counter_scene>
    open(const std::vector<const counters::counter_candidate *> &) const
    {
        return std::make_unique<counters::counter_scene>(o_, json{{"bench", "rcu"},
                                                                  {"callbacks", chosen.callbacks},
                                                                  {"period_us", chosen.period_us},
                                                                  {"flood", chosen.flood},
                                                                  {"bound_bytes", chosen.bound},
                                                                  {"most_bytes", chosen.most},
                                                                  {"sleepers", sleepers::count}});
    }

  private:
    const options &o_;
    std::vector<std::string> groups_;
};

} // namespace
} // namespace bench::rcu

int main(int argc, char **argv)
{
    return bench::drive<bench::rcu::rcu_driver>(argc, argv);
}
