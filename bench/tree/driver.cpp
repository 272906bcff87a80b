/* SPDX-License-Identifier: MIT */
/*
 * pawl-bench-tree: lookups and insertions per second of an ordered tree under each lock. It
 * measures the case that the progressive lock was made for. Lookups of few keys, which the cache
 * has, run beside rare insertions of random keys. An insertion walks through memory that no cache
 * has, and then changes a few pointers.
 *
 * Whole maps (maps.cpp) do the same, and removals too.
 *
 * One run measures one cell (nodes, share of insertions, threads) for all candidates, a sample of
 * each in turn, a JSON line a sample. The candidate parts/none is no lock: its samples time the
 * pieces (parts.hpp).
 */
#include "core/crew_scene.hpp"
#include "tree/tree.hpp"
#if PAWL_BENCH_BSD
#include "tree/parts.hpp"
#endif

namespace bench {
namespace {

struct tree_settings {
    long long nodes = 1000000, hot = 8, timing = 0;
    double inserts = 1, removes = 0;
    std::string lookups = "hot";
};

/* Empty: times the pieces. */
using tree_contestant = std::unique_ptr<tree_design>;

#if PAWL_BENCH_BSD

class tree_scene final : public crew_scene<tree_candidate, tree_contestant> {
  public:
    tree_scene(const options &o, const tree_settings &s)
        : crew_scene(o), s_(s),
          tree_(static_cast<std::size_t>(s.nodes), static_cast<std::uint64_t>(o.seed))
    {
    }

    json start() const override
    {
        return {{"bench", "tree"},       {"nodes", s_.nodes},     {"node_bytes", sizeof(tree_node)},
                {"inserts", s_.inserts}, {"removes", s_.removes}, {"lookups", s_.lookups},
                {"hot", s_.hot},         {"timing", s_.timing}};
    }

    tree_contestant make(const tree_candidate &who) override
    {
        return who.design ? who.design(tree_, static_cast<unsigned>(o_.threads)) : nullptr;
    }

    json sample(const tree_candidate &who, tree_contestant &design, long long round) override
    {
        return design ? sample_lock(who, *design, round) : sample_parts(round);
    }

    void verify(const tree_candidate &, const tree_contestant &) override
    {
        if (!std::exchange(verified_, true))
            expect(tree_.is_sound(), "The tree is damaged: one of the locks failed.");
    }

  private:
    tree_task task_of(long long round) const
    {
        tree_task t;
        t.inserts = s_.inserts;
        t.hot = s_.lookups == "hot";
        t.hot_keys = static_cast<std::uint32_t>(s_.hot);
        t.removes = s_.removes;
        t.timing = static_cast<unsigned>(s_.timing);
        t.seed = seed_of(round);
        return t;
    }

    json sample_lock(const tree_candidate &who, tree_design &design, long long round)
    {
        std::vector<tree_tally> tallies;
        const tree_task task = task_of(round);
        const double seconds =
            measure(tallies, [&](unsigned thread, const phase_flag &flag, tree_tally &t) {
                design.run(task, thread, flag, t);
            });
        design.clear();
        tree_tally sum;
        for (const tree_tally &t : tallies)
            sum.add(t);
        expect(sum.wrong == 0, "Under '" + who.name + "' " + std::to_string(sum.wrong) +
                                   " lookups missed a key that is there: the lock failed.");
        json line =
            line_of(sum.ops, seconds,
                    {{"inserts", sum.inserts}, {"lookups", sum.ops - sum.inserts}}, sum.used);
        if (sum.times.total() != 0)
            line["latency_ns"] = sum.times.quantiles();
        return line;
    }

    json sample_parts(long long round)
    {
        const tree_task task = task_of(round);
        parts_bench bench(tree_, task, gauge_);
        parts found;
        threads_.run_to_the_end([&](unsigned thread, const phase_flag &) {
            if (thread != 0)
                return;
            bench.run(o_.warmup, task.seed + 1);
            found = bench.run(o_.seconds, task.seed);
        });
        const auto hundredths = [](double ns) { return std::round(ns * 100) / 100; };
        return {{"threads", 1},
                {"ops", found.insertions},
                {"seconds", found.seconds},
                {"read_ns", hundredths(found.read_ns)},
                {"seek_ns", hundredths(found.seek_ns)},
                {"write_ns", hundredths(found.write_ns)}};
    }

    const tree_settings s_;
    const work_gauge gauge_;
    tree tree_;
    bool verified_ = false;
};

#endif

class tree_driver {
  public:
    static constexpr const char *says =
        "Lookups and insertions of an ordered tree under each lock; JSON lines.";

    explicit tree_driver(options &o) : o_(o)
    {
        o.take_threads(2, "threads that look up and insert");
        o.number("--nodes", s_.nodes, 1, 1LL << 28, "nodes of the tree");
        o.number("--inserts", s_.inserts, 0, 100, "percent of operations that insert");
        o.number("--removes", s_.removes, 0, 90, "percent of these that remove instead");
        o.number("--timing", s_.timing, 0, 1000000, "time one lookup in so many; 0: none");
        o.text("--lookups", s_.lookups, "hot: a few keys; cold: any key");
        o.dependent_number("--hot", s_.hot, "how many are a few (default 8)");
        o.take_seconds(0.2);
        o.take_rounds(9);
        o.take_warmup(0.05);
        o.take_seed("of the random keys");
        o.take_pin("auto");
    }

    std::vector<tree_candidate> candidates() const { return tree_candidates(); }

    void check() const
    {
        require("--hot", s_.hot, 1, s_.nodes);
        if (s_.lookups != "hot" && s_.lookups != "cold")
            throw bad_input("--lookups is '" + s_.lookups + "'; it must be hot or cold.");
        if (is_too_much_memory(static_cast<double>(s_.nodes) * 64))
            throw bad_input("A tree of " + std::to_string(s_.nodes) +
                            " nodes needs more than half "
                            "of this machine's memory: choose fewer --nodes.");
    }

    std::unique_ptr<scene<tree_candidate, tree_contestant>>
    open(const std::vector<const tree_candidate *> &) const
    {
#if PAWL_BENCH_BSD
        return std::make_unique<tree_scene>(o_, s_);
#else
        throw bad_input("This build has no tree: " + adapter::to_install("libbsd-dev") + ".");
#endif
    }

  private:
    const options &o_;
    tree_settings s_;
};

} // namespace
} // namespace bench

int main(int argc, char **argv)
{
    return bench::drive<bench::tree_driver>(argc, argv);
}
