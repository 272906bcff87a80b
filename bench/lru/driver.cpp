/* SPDX-License-Identifier: MIT */
/*
 * pawl-bench-lru: lookups per second of a shared cache under each lock and strategy.
 *
 * One run measures one cell (threads, size, key space, cost of a miss) for all candidates. It takes
 * a sample of each in turn, and prints a JSON line per sample. The command `pawl bench lru` runs it
 * over many cells and makes tables of the output.
 */
#include "core/crew_scene.hpp"
#include "lru/candidates.hpp"

namespace bench {
namespace {

/* The published measurements give about 345 ns for a lookup by one thread (2.8 million a second
 * at 99 % hits, on a core of 2.5 GHz). That is a walk along a long chain, not a probe of a
 * sparse table. With so many entries to a chain this cache takes about as long. Recorded keys
 * get the table that a program for them would have, one chain for each entry. */
constexpr long long entries_of_a_chain = 200;
constexpr long long most_keys = 1LL << 30;

struct lru_settings {
    long long size = 3200, keyspace = 0, chains = -1, miss_cost = 100;
    double zipf_s = 0.99;
    std::string dist = "uniform", trace;
    bool latency = false;
};

/* Sets `keyspace` to the number of keys in a trace. */
key_source open_keys(lru_settings &s)
{
    key_source source;
    if (!s.trace.empty()) {
        source.recorded = std::make_unique<const trace>(read_trace(s.trace));
        s.keyspace = static_cast<long long>(source.recorded->distinct);
    }
    if (s.size > s.keyspace)
        throw bad_input("--size is " + std::to_string(s.size) + ", but there are only " +
                        std::to_string(s.keyspace) + " distinct keys" +
                        (s.trace.empty() ? " (--keyspace)" : " in the trace") +
                        ": with all of them in the cache nothing would be measured but hits. "
                        "Choose a smaller --size.");
    source.keyspace = static_cast<std::uint32_t>(s.keyspace);
    source.scans = s.trace.empty() && s.dist == "scan";
    if (s.trace.empty() && s.dist != "uniform")
        source.zipf = std::make_unique<const zipf_table>(source.keyspace, s.zipf_s);
    return source;
}

class lru_scene final : public crew_scene<lru_candidate, std::unique_ptr<cell>> {
  public:
    lru_scene(const options &o, const lru_settings &s, key_source source)
        : crew_scene(o), s_(s), source_(std::move(source))
    {
    }

    json start() const override
    {
        return {{"bench", "lru"},
                {"size", s_.size},
                {"keyspace", s_.keyspace},
                {"chains", s_.chains},
                {"miss_cost", s_.miss_cost},
                {"dist", s_.trace.empty() ? s_.dist : "trace"},
                {"zipf_s", s_.zipf_s},
                {"trace", s_.trace},
                {"trace_count", source_.recorded ? source_.recorded->keys.size() : 0},
                {"latency", s_.latency}};
    }

    /* Each cache gets its own keys to fill up with, the same for all. */
    std::unique_ptr<cell> make(const lru_candidate &who) override
    {
        auto cache =
            who.design(static_cast<std::size_t>(s_.size), static_cast<std::size_t>(s_.chains));
        key_stream keys(source_, mix(static_cast<std::uint64_t>(o_.seed)), 0);
        cache->fill(keys);
        return cache;
    }

    /* In a round all candidates get the same keys: random ones from the same seed, recorded ones
     * from the same place. */
    json sample(const lru_candidate &who, std::unique_ptr<cell> &cache, long long round) override
    {
        std::vector<tally> tallies;
        const double seconds =
            measure(tallies, [&](unsigned thread, const phase_flag &flag, tally &t) {
                key_stream keys(source_, mix(seed_of(round) + thread), start_of(thread, round));
                cache->run(keys, flag, static_cast<unsigned>(s_.miss_cost), s_.latency, t);
            });
        tally sum;
        for (const tally &t : tallies)
            sum.add(t);
        expect(sum.wrong == 0, "Under '" + who.name + "' " + std::to_string(sum.wrong) +
                                   " lookups found what belongs to another key: the lock failed.");
        json line = line_of(sum.lookups, seconds,
                            {{"hits", sum.hits}, {"misses", sum.lookups - sum.hits}}, sum.used);
        if (s_.latency)
            line["latency_ns"] = sum.times.quantiles();
        return line;
    }

    /* Checks every entry against the rest of its chain, but not in big caches: that would take
     * minutes. */
    void verify(const lru_candidate &who, const std::unique_ptr<cell> &cache) override
    {
        expect(s_.size > 100000 || cache->is_sound(),
               "The cache under '" + who.name + "' is damaged: the lock failed.");
    }

  private:
    /* The start of a thread in the trace: threads start far apart, and each round starts further
     * on. */
    std::size_t start_of(unsigned thread, long long round) const
    {
        if (!source_.recorded && !source_.scans)
            return 0;
        const double part = static_cast<double>(thread) / static_cast<double>(o_.threads) +
                            static_cast<double>(round) / static_cast<double>(o_.rounds);
        const std::size_t keys =
            source_.recorded ? source_.recorded->keys.size() : 2 * std::size_t(source_.keyspace);
        return static_cast<std::size_t>((part - std::floor(part)) * static_cast<double>(keys)) %
               keys;
    }

    const lru_settings s_;
    const key_source source_;
};

class lru_driver {
  public:
    static constexpr const char *says =
        "Lookups per second of a shared cache under each lock; JSON lines.";

    explicit lru_driver(options &o) : o_(o)
    {
        o.take_threads(2, "threads that look keys up");
        o.number("--size", s_.size, 1, most_keys, "entries the cache keeps");
        o.dependent_number("--keyspace", s_.keyspace, "distinct keys (default size*100/99)");
        o.dependent_number("--chains", s_.chains,
                           "chains of the hash table (default size/200; with --trace: size)");
        o.number("--miss-cost", s_.miss_cost, 0, 1000000, "rounds of work for a miss");
        o.take_seconds(0.25);
        o.take_rounds(12);
        o.take_warmup(0.05);
        o.take_seed("of the random keys");
        o.text("--dist", s_.dist, "uniform, zipf, or scan: zipf, and every other key in turn");
        o.number("--zipf-s", s_.zipf_s, 0, 10, "exponent of zipf");
        o.text("--trace", s_.trace, "file of recorded keys, in place of random ones");
        o.take_pin("auto");
        o.flag("--latency", s_.latency, "also time single lookups (slows all down)");
    }

    std::vector<lru_candidate> candidates() const { return lru_candidates(); }

    void check()
    {
        if (s_.chains == -1)
            s_.chains = s_.trace.empty() ? std::max(1LL, s_.size / entries_of_a_chain) : s_.size;
        require("--chains", s_.chains, 1, most_keys);
        if (s_.dist != "uniform" && s_.dist != "zipf" && s_.dist != "scan")
            throw bad_input("--dist is '" + s_.dist + "'; it must be uniform, zipf or scan.");
        if (s_.keyspace == 0)
            s_.keyspace = s_.size * 100 / 99;
        require("--keyspace", s_.keyspace, 1, most_keys);
    }

    std::unique_ptr<lru_scene> open(const std::vector<const lru_candidate *> &chosen)
    {
        const auto caches = static_cast<double>(chosen.size());
        if (is_too_much_memory(caches * static_cast<double>(s_.size + s_.chains) * 64))
            throw bad_input("Caches of " + std::to_string(s_.size) + " entries for " +
                            std::to_string(chosen.size()) +
                            " candidates need more than half of "
                            "this machine's memory: choose a smaller --size or fewer "
                            "--candidates.");
        key_source keys = open_keys(s_);
        return std::make_unique<lru_scene>(o_, s_, std::move(keys));
    }

  private:
    const options &o_;
    lru_settings s_;
};

} // namespace
} // namespace bench

int main(int argc, char **argv)
{
    return bench::drive<bench::lru_driver>(argc, argv);
}
