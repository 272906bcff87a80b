/* SPDX-License-Identifier: MIT */
/*
 * pawl-bench-readers: locks that are mostly read. One run measures one cell for all candidates (a
 * scene of arena.hpp, threads, section, share of writes, locks), a sample of each in turn, a JSON
 * line a sample. floor/none has no lock; floor/pawl_rcu has readers that writers never stop.
 */
#include "core/crew_scene.hpp"
#include "readers/candidates.hpp"

namespace bench {
namespace {

const std::vector<std::string> scenes = {"mix", "write", "seek", "flood"};

struct readers_settings {
    std::string scene = "mix";
    double section_us = 0, writes = 0, period_us = 1000;
    long long locks = 1, registered = 0;

    /* Threads beside those that --threads counts. */
    unsigned more() const
    {
        if (scene == "write")
            return static_cast<unsigned>(registered);
        return scene == "seek" || scene == "flood" ? 1 : 0;
    }
};

const std::vector<histogram::point> points = {{"p50", 0.5}, {"p99", 0.99}, {"p99.9", 0.999}};

using contestant = std::unique_ptr<readers_arena>;

class readers_scene final : public crew_scene<readers_candidate, contestant> {
  public:
    readers_scene(const options &o, const readers_settings &s)
        : crew_scene(o, s.more()), s_(s), task_(task_of(s, gauge_))
    {
        adapter::reader_count = static_cast<unsigned>(threads_.size());
    }

    json start() const override
    {
        return {{"bench", "readers"},          {"scene", s_.scene},
                {"section_us", s_.section_us}, {"writes", s_.writes},
                {"locks", s_.locks},           {"registered", s_.registered},
                {"period_us", s_.period_us},   {"steps_per_us", gauge_.steps_per_us()}};
    }

    /* The readers of the scene `write` come before its writer. Beside it a thousand of them on two
     * processors could spin under one candidate for minutes. */
    contestant make(const readers_candidate &who) override
    {
        contestant place = who.design();
        if (s_.scene == "write")
            threads_.run_to_the_end(
                [&place](unsigned thread, const phase_flag &) { place->enlist(thread); });
        return place;
    }

    json sample(const readers_candidate &who, contestant &place, long long round) override
    {
        std::vector<readers_tally> tallies;
        readers_task task = task_;
        task.seed = seed_of(round);
        const unsigned readers = static_cast<unsigned>(o_.threads);
        const double seconds =
            measure(tallies, [&](unsigned thread, const phase_flag &flag, readers_tally &t) {
                if (s_.scene == "write")
                    place->write(task, thread, flag, t);
                else if (s_.scene == "seek")
                    place->seek(task, thread, flag, t);
                else if (s_.scene == "flood")
                    place->flood(task, thread, thread == readers, flag, t);
                else
                    place->mix(task, thread, flag, t);
            });
        readers_tally sum;
        for (const readers_tally &t : tallies)
            sum.add(t);
        expect(sum.wrong == 0, "Under '" + who.name + "' " + std::to_string(sum.wrong) +
                                   " sections saw another thread write: the lock failed.");
        return line_of(sum.ops, seconds,
                       {{"writes", sum.writes},
                        {"wait_ns", sum.waits.quantiles(points)},
                        {"waits", sum.waits.buckets()}},
                       sum.used);
    }

  private:
    static readers_task task_of(const readers_settings &s, const work_gauge &gauge)
    {
        readers_task t;
        t.inside = gauge.steps(s.section_us * 1000);
        t.write_limit = static_cast<std::uint64_t>(s.writes / 100 * 4294967296.0);
        t.period_ns = static_cast<std::uint64_t>(s.period_us * 1000);
        t.locks = static_cast<unsigned>(s.locks);
        /* Short sections must not pay for the look at the phase; long ones must notice it soon. */
        t.batch = s.section_us < 0.5 && s.scene != "flood" ? 32 : 1;
        return t;
    }

    const readers_settings s_;
    const work_gauge gauge_;
    const readers_task task_;
};

class readers_driver {
  public:
    static constexpr const char *says = "Locks that are mostly read; JSON lines.";

    explicit readers_driver(options &o) : o_(o)
    {
        o.take_threads(2, "threads that use the locks; of seek and flood those that only read");
        o.text("--scene", s_.scene, "mix, write, seek or flood (readers/arena.hpp)");
        o.number("--section", s_.section_us, 0, 100000, "microseconds under the lock");
        o.number("--writes", s_.writes, 0, 100, "percent of sections that write");
        o.number("--locks", s_.locks, 1, most_locks, "locks, one of which is taken at random");
        o.number("--registered", s_.registered, 0, 4096,
                 "of the scene write: threads that have read once and sleep");
        o.number("--period", s_.period_us, 1, 1000000,
                 "of the scene flood: microseconds between writes");
        o.take_seconds(0.02);
        o.take_rounds(6);
        o.take_warmup(0.005);
        o.take_seed("of the choice of locks and of writes");
        o.take_pin("auto");
    }

    std::vector<readers_candidate> candidates() const
    {
        return readers_candidates(s_.scene == "seek");
    }

    void check() const
    {
        if (std::find(scenes.begin(), scenes.end(), s_.scene) == scenes.end())
            throw bad_input("--scene is '" + s_.scene + "'; it must be mix, write, seek or flood.");
        if (s_.scene == "write" && o_.threads != 1)
            throw bad_input("--threads is " + std::to_string(o_.threads) +
                            "; the scene write "
                            "has one thread that writes: say --threads 1, and --registered for "
                            "others.");
        if (s_.scene != "mix" && (s_.writes > 0 || s_.locks > 1))
            throw bad_input("--writes and --locks are of the scene mix; leave them out.");
    }

    std::unique_ptr<readers_scene> open(const std::vector<const readers_candidate *> &) const
    {
        return std::make_unique<readers_scene>(o_, s_);
    }

  private:
    const options &o_;
    readers_settings s_;
};

} // namespace
} // namespace bench

int main(int argc, char **argv)
{
    return bench::drive<bench::readers_driver>(argc, argv);
}
