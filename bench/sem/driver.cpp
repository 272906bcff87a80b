/* SPDX-License-Identifier: MIT */
/*
 * pawl-bench-sem: operations per second on many semaphores, which are found by their number in a
 * table, in the manner of semop: through the ID table, and through an array under one lock.
 *
 * One run measures one cell (semaphores, which of them the threads use, threads) for all
 * candidates, a sample of each in turn, a JSON line a sample.
 */
#include <cmath>

#include "core/cpus.hpp"
#include "sem/sem.hpp"

namespace bench {
namespace {

struct options {
    long long threads = 2, semaphores = 1024, rounds = 9, seed = 1;
    double seconds = 0.1, warmup = 0.02;
    std::string choose = "disjoint", pin = "auto";
    std::vector<std::string> candidates;
    bool list = false;
};

void declare(CLI::App &app, options &o)
{
    app.add_flag("--list", o.list, "print the candidates as a JSON array and end");
    app.add_option("--threads", o.threads, "threads that operate on semaphores (default 2)");
    app.add_option("--semaphores", o.semaphores, "how many there are (default 1024)");
    app.add_option("--choose", o.choose,
                   "which ones a thread uses: disjoint (default): its own; same; random");
    app.add_option("--seconds", o.seconds, "length of a sample (default 0.1)");
    app.add_option("--rounds", o.rounds, "samples of each candidate (default 9)");
    app.add_option("--warmup", o.warmup, "seconds before each sample (default 0.02)");
    app.add_option("--seed", o.seed, "of the random numbers (default 1)");
    app.add_option("--pin", o.pin, "CPUs, as 0,1: thread i on the i-th; none; auto (default)");
    app.add_option("--candidates", o.candidates, "names, as --list gives them")->delimiter(',');
}

int print_list(const std::vector<sem_candidate> &all)
{
    json list = json::array();
    for (const sem_candidate &c : all)
        list.push_back({{"name", c.name},
                        {"strategy", c.strategy},
                        {"lock", c.lock},
                        {"available", c.why.empty()},
                        {"why", c.why},
                        {"baseline", c.baseline}});
    emit(list);
    return exit_done;
}

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

void check(const options &o)
{
    require("--threads", o.threads, 1LL, 1024LL);
    require("--semaphores", o.semaphores, 1LL, 1LL << 24);
    require("--rounds", o.rounds, 1LL, 100000LL);
    require("--seconds", o.seconds, 0.001, 3600.0);
    require("--warmup", o.warmup, 0.0, 60.0);
    require("--seed", o.seed, 0LL, INT64_MAX + 0LL);
    if (choice_of(o.choose) == sem_choice::disjoint && o.semaphores < o.threads)
        throw bad_input("--semaphores is " + std::to_string(o.semaphores) + ", fewer than there "
                        "are threads: each needs some of its own.");
}

struct contestant {
    const sem_candidate *who;
    std::unique_ptr<sem_design> design;
    std::int64_t units; /* that there should be */
};

json sample_line(contestant &one, long long round, double seconds,
                 const std::vector<sem_tally> &tallies)
{
    sem_tally sum;
    for (const sem_tally &t : tallies) {
        sum.ops += t.ops;
        sum.refused += t.refused;
        sum.missing += t.missing;
        sum.added += t.added;
        sum.used.cpu_seconds += t.used.cpu_seconds;
        sum.used.voluntary += t.used.voluntary;
        sum.used.involuntary += t.used.involuntary;
    }
    one.units += sum.added;
    if (sum.missing || one.units != one.design->units())
        throw std::runtime_error("Under '" + one.who->name + "' semaphores were not found or lost "
                                 "units: the lock failed.");
    return {{"type", "sample"},
            {"candidate", one.who->name},
            {"round", round},
            {"threads", tallies.size()},
            {"ops", sum.ops},
            {"seconds", seconds},
            {"refused", sum.refused},
            {"cpu_seconds", std::round(sum.used.cpu_seconds * 1e6) / 1e6},
            {"ctx_voluntary", sum.used.voluntary},
            {"ctx_involuntary", sum.used.involuntary}};
}

/* false: interrupted, nothing to report. */
bool sample(crew &threads, contestant &one, long long round, const options &o)
{
    std::vector<sem_tally> tallies(threads.size());
    sem_scene scene;
    scene.choice = choice_of(o.choose);
    scene.threads = static_cast<unsigned>(o.threads);
    scene.seed = mix(static_cast<std::uint64_t>(o.seed)) +
                 0x10001 * static_cast<std::uint64_t>(round);
    const crew::task task = [&](unsigned thread, const phase_flag &flag) {
        one.design->run(scene, thread, flag, tallies[thread]);
    };
    const double seconds = threads.run(task, o.warmup, o.seconds);
    if (seconds <= 0)
        return false;
    emit(sample_line(one, round, seconds, tallies));
    return true;
}

void emit_start(const options &o, const std::vector<contestant> &field,
                const std::vector<unsigned> &cpus, const crew &threads)
{
    json names = json::array();
    for (const contestant &c : field)
        names.push_back(c.who->name);
    emit({{"type", "start"},
          {"bench", "sem"},
          {"threads", o.threads},
          {"semaphores", o.semaphores},
          {"choose", o.choose},
          {"seconds", o.seconds},
          {"rounds", o.rounds},
          {"warmup", o.warmup},
          {"seed", o.seed},
          {"pin", cpus},
          {"candidates", names},
          {"compiler", compiler()},
          {"flags", compiler_flags()},
          {"pinned", !cpus.empty() && threads.pin_error().empty()},
          {"pin_error", threads.pin_error()}});
}

int run(const options &o)
{
    const std::vector<sem_candidate> all = sem_candidates();
    if (o.list)
        return print_list(all);
    check(o);
    const std::vector<const sem_candidate *> chosen = choose(all, o.candidates);
    const std::vector<unsigned> cpus = parse_pin(o.pin);

    watch_for_interrupts();
    crew threads(static_cast<unsigned>(o.threads), cpus);
    std::vector<contestant> field;
    for (const sem_candidate *c : chosen) {
        contestant one{c, c->make(static_cast<std::uint32_t>(o.semaphores)), 0};
        one.units = one.design->units();
        field.push_back(std::move(one));
    }
    emit_start(o, field, cpus, threads);
    for (long long round = 0; round < o.rounds && !interrupted; round++)
        for (const std::size_t i : order_of_round(field.size(), static_cast<unsigned>(round)))
            if (!sample(threads, field[i], round, o))
                return finish();
    return finish();
}

} // namespace
} // namespace bench

int main(int argc, char **argv)
{
    bench::options o;
    CLI::App app("Operations on semaphores that are found by number; JSON lines.");
    bench::declare(app, o);
    return bench::guarded(app, argc, argv, [&] { return bench::run(o); });
}
