/* SPDX-License-Identifier: MIT */
/*
 * pawl-bench-sem: operations per second on many semaphores, which a table finds by their number, in
 * the manner of semop. The table is the ID table, or an array under one lock.
 *
 * One run measures one cell (semaphores, which of them the threads use, threads) for all
 * candidates. It takes a sample of each in turn, and prints a JSON line a sample.
 */
#include "core/crew_scene.hpp"
#include "sem/sem.hpp"

namespace bench {
namespace {

struct sem_settings {
    long long semaphores = 1024;
    std::string choose = "disjoint";
};

sem_choice choice_of(const std::string &text)
{
    if (text == "disjoint")
        return sem_choice::disjoint;
    if (text == "same")
        return sem_choice::same;
    if (text == "random")
        return sem_choice::random;
    throw bad_input("--choose is '" + text + "'; it must be disjoint, same or random.");
}

struct contestant {
    std::unique_ptr<sem_design> design;
    std::int64_t units; /* the expected units */
};

class sem_scene final : public crew_scene<sem_candidate, contestant> {
  public:
    sem_scene(const options &o, const sem_settings &s) : crew_scene(o), s_(s) {}

    json start() const override
    {
        return {{"bench", "sem"}, {"semaphores", s_.semaphores}, {"choose", s_.choose}};
    }

    contestant make(const sem_candidate &who) override
    {
        contestant one{who.design(static_cast<std::uint32_t>(s_.semaphores)), 0};
        one.units = one.design->units();
        return one;
    }

    json sample(const sem_candidate &who, contestant &one, long long round) override
    {
        std::vector<sem_tally> tallies;
        sem_task task;
        task.choice = choice_of(s_.choose);
        task.threads = static_cast<unsigned>(o_.threads);
        task.seed = seed_of(round);
        const double seconds =
            measure(tallies, [&](unsigned thread, const phase_flag &flag, sem_tally &t) {
                one.design->run(task, thread, flag, t);
            });
        sem_tally sum;
        for (const sem_tally &t : tallies)
            sum.add(t);
        one.units += sum.added;
        expect(sum.missing == 0 && one.units == one.design->units(),
               "Under '" + who.name +
                   "' semaphores were not found or lost units: the lock "
                   "failed.");
        return line_of(sum.ops, seconds, {{"refused", sum.refused}}, sum.used);
    }

  private:
    const sem_settings s_;
};

class sem_driver {
  public:
    static constexpr const char *says =
        "Operations on semaphores that are found by number; JSON lines.";

    explicit sem_driver(options &o) : o_(o)
    {
        o.take_threads(2, "threads that operate on semaphores");
        o.number("--semaphores", s_.semaphores, 1, 1LL << 24, "how many there are");
        o.text("--choose", s_.choose, "which ones a thread uses: disjoint: its own; same; random");
        o.take_seconds(0.1);
        o.take_rounds(9);
        o.take_warmup(0.02);
        o.take_seed("of the random numbers");
        o.take_pin("auto");
    }

    std::vector<sem_candidate> candidates() const { return sem_candidates(); }

    void check() const
    {
        if (choice_of(s_.choose) == sem_choice::disjoint && s_.semaphores < o_.threads)
            throw bad_input("--semaphores is " + std::to_string(s_.semaphores) +
                            ", fewer than "
                            "there are threads: each needs some of its own.");
    }

    std::unique_ptr<sem_scene> open(const std::vector<const sem_candidate *> &) const
    {
        return std::make_unique<sem_scene>(o_, s_);
    }

  private:
    const options &o_;
    sem_settings s_;
};

} // namespace
} // namespace bench

int main(int argc, char **argv)
{
    return bench::drive<bench::sem_driver>(argc, argv);
}
