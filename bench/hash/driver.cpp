/* SPDX-License-Identifier: MIT */
/*
 * pawl-bench-hash: operations per second of a hash table for one mix of searches and updates. The
 * designs go from one lock over the whole table to no lock at all.
 *
 * One run measures one cell (elements, updates, threads) for all candidates, a sample of each in
 * turn, a JSON line a sample. All chained designs work on the same table, one after the other. An
 * update deletes an element and inserts a new one, so that the table keeps its load. Memory may be
 * freed after the end of the sample. The driver waits for that and counts it apart (drain_seconds).
 */
#include "core/crew_scene.hpp"
#include "hash/hash.hpp"

namespace bench {
namespace {

/* The driver checks tables up to this size after each sample, larger ones at the end. */
constexpr std::uint32_t looked_through = 100000;

struct hash_settings {
    long long elements = 1024;
    double updates = 0;
};

using hash_contestant = std::unique_ptr<hash_design>;

class hash_scene final : public crew_scene<hash_candidate, hash_contestant> {
  public:
    hash_scene(const options &o, const hash_settings &s)
        : crew_scene(o), s_(s), store_(static_cast<std::uint32_t>(s.elements))
    {
    }

    json start() const override
    {
        const auto elements = static_cast<std::size_t>(s_.elements);
        return {{"bench", "hash"},
                {"updates", s_.updates},
                {"elements", s_.elements},
                {"element_bytes", sizeof(element)},
                {"bucket_bytes", sizeof(bucket)},
                {"bytes", elements * (sizeof(element) + sizeof(bucket))}};
    }

    hash_contestant make(const hash_candidate &who) override { return who.design(store_); }

    json sample(const hash_candidate &who, hash_contestant &design, long long round) override
    {
        std::vector<hash_tally> tallies;
        hash_task task;
        task.updates = s_.updates;
        task.threads = static_cast<unsigned>(o_.threads);
        task.seed = seed_of(round);
        const double seconds =
            measure(tallies, [&](unsigned thread, const phase_flag &flag, hash_tally &t) {
                design->run(task, thread, flag, t);
            });
        const double start = seconds_of(CLOCK_MONOTONIC);
        design->drain();
        const double drain = seconds_of(CLOCK_MONOTONIC) - start;
        hash_tally sum;
        for (const hash_tally &t : tallies)
            sum.add(t);
        expect(sum.wrong == 0, "Under '" + who.name + "' " + std::to_string(sum.wrong) +
                                   " searches found an element that had been freed.");
        if (store_.keys() <= looked_through)
            must_be_sound(who, *design);
        return line_of(sum.ops, seconds,
                       {{"updates", sum.updates},
                        {"found", sum.found},
                        {"absent", sum.absent},
                        {"drain_seconds", microseconds_of(std::max(drain, sum.leaving))}},
                       sum.used);
    }

    void verify(const hash_candidate &who, const hash_contestant &design) override
    {
        if (store_.keys() > looked_through)
            must_be_sound(who, *design);
    }

  private:
    void must_be_sound(const hash_candidate &who, const hash_design &design) const
    {
        expect(store_.is_sound() && design.is_sound(),
               "The table under '" + who.name + "' is damaged: its synchronisation failed.");
    }

    const hash_settings s_;
    hash_store store_;
};

class hash_driver {
  public:
    static constexpr const char *says =
        "Operations per second of a hash table under each design; JSON lines.";

    explicit hash_driver(options &o) : o_(o)
    {
        o.take_threads(2, "threads that search and update");
        o.number("--elements", s_.elements, 1, 1LL << 30, "elements, and buckets");
        o.number("--updates", s_.updates, 0, 100, "percent of operations that delete and reinsert");
        o.take_seconds(0.1);
        o.take_rounds(9);
        o.take_warmup(0.02);
        o.take_seed("of the random keys and run lengths");
        o.take_pin("auto");
    }

    std::vector<hash_candidate> candidates() const
    {
        std::vector<hash_candidate> all;
        add_hash_locks(all);
        add_hash_rcu(all);
        add_hash_tables(all);
        add_hash_libraries(all);
        return all;
    }

    void check() const
    {
        const std::string elements = std::to_string(s_.elements);
        if (s_.elements < o_.threads)
            throw bad_input("--elements is " + elements +
                            ", fewer than there are threads: each "
                            "needs a part of the table.");
        /* An element, its bucket and malloc's own, and as much for a table of another library. */
        if (is_too_much_memory(2.0 * static_cast<double>(s_.elements) *
                               (sizeof(element) + sizeof(bucket) + 16)))
            throw bad_input("Tables of " + elements +
                            " elements need more than half of this "
                            "machine's memory: choose fewer --elements.");
    }

    std::unique_ptr<hash_scene> open(const std::vector<const hash_candidate *> &) const
    {
        return std::make_unique<hash_scene>(o_, s_);
    }

  private:
    const options &o_;
    hash_settings s_;
};

} // namespace
} // namespace bench

int main(int argc, char **argv)
{
    return bench::drive<bench::hash_driver>(argc, argv);
}
