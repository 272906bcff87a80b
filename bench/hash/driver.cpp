/* SPDX-License-Identifier: MIT */
/*
 * pawl-bench-hash: operations per second of a hash table under each design, from one lock over all
 * of it to no lock at all, for one mix of searches and updates.
 *
 * One run measures one cell (elements, updates, threads) for all candidates, a sample of each in
 * turn, a JSON line a sample. All chained designs work on the same table, one after the other. An
 * update deletes an element and inserts a new one, so that the table keeps its load; memory that is
 * freed later than the sample ends is waited for and counted apart (drain_seconds).
 */
#include <unistd.h>

#include <cmath>

#include "hash/hash.hpp"
#include "core/cpus.hpp"

namespace bench {

hash_store::hash_store(std::uint32_t keys) : buckets_(keys)
{
    for (std::uint32_t key = 0; key < keys; key++) {
        auto *e = new element(key);
        e->place = &buckets_[key].first;
        buckets_[key].first = e;
    }
}

hash_store::~hash_store()
{
    for (bucket &b : buckets_)
        for (element *e = b.first; e;) {
            element *gone = e;
            e = e->next;
            delete gone;
        }
}

bool hash_store::is_sound() const
{
    for (std::uint32_t key = 0; key < keys(); key++) {
        const element *e = buckets_[key].first;
        if (!e || e->next || e->place != &buckets_[key].first || e->key != key ||
            e->check != element::check_of(key) || e->references.load() != 1)
            return false;
    }
    return true;
}

namespace {

/* Tables up to this size are looked through after each sample, larger ones at the end. */
constexpr std::uint32_t looked_through = 100000;

struct options {
    long long threads = 2, elements = 1024, rounds = 9, seed = 1;
    double updates = 0, seconds = 0.1, warmup = 0.02;
    std::string pin = "auto";
    std::vector<std::string> candidates;
    bool list = false;
};

void declare(CLI::App &app, options &o)
{
    app.add_flag("--list", o.list, "print the candidates as a JSON array and end");
    app.add_option("--threads", o.threads, "threads that search and update (default 2)");
    app.add_option("--updates", o.updates, "percent of operations that delete and reinsert (0)");
    app.add_option("--elements", o.elements, "elements, and buckets (default 1024)");
    app.add_option("--seconds", o.seconds, "length of a sample (default 0.1)");
    app.add_option("--rounds", o.rounds, "samples of each candidate (default 9)");
    app.add_option("--warmup", o.warmup, "seconds before each sample (default 0.02)");
    app.add_option("--seed", o.seed, "of the random keys and run lengths (default 1)");
    app.add_option("--pin", o.pin, "CPUs, as 0,1: thread i on the i-th; none; auto (default)");
    app.add_option("--candidates", o.candidates, "names, as --list gives them")->delimiter(',');
}

std::vector<hash_candidate> all_candidates()
{
    std::vector<hash_candidate> all;
    add_hash_locks(all);
    add_hash_rcu(all);
    add_hash_libraries(all);
    return all;
}

int print_list(const std::vector<hash_candidate> &all)
{
    json list = json::array();
    for (const hash_candidate &c : all)
        list.push_back({{"name", c.name},
                        {"strategy", c.strategy},
                        {"lock", c.lock},
                        {"available", c.why.empty()},
                        {"why", c.why},
                        {"baseline", c.baseline}});
    emit(list);
    return exit_done;
}

void check(const options &o)
{
    require("--threads", o.threads, 1LL, 1024LL);
    require("--elements", o.elements, 1LL, 1LL << 30);
    require("--updates", o.updates, 0.0, 100.0);
    require("--rounds", o.rounds, 1LL, 100000LL);
    require("--seconds", o.seconds, 0.001, 3600.0);
    require("--warmup", o.warmup, 0.0, 60.0);
    require("--seed", o.seed, 0LL, INT64_MAX + 0LL);
    if (o.elements < o.threads)
        throw bad_input("--elements is " + std::to_string(o.elements) + ", fewer than there are "
                        "threads: each needs a part of the table.");
    /* An element, its bucket and malloc's own, and as much for a table of another library. */
    const double needed = 2.0 * static_cast<double>(o.elements) *
                          (sizeof(element) + sizeof(bucket) + 16);
    const double have = static_cast<double>(sysconf(_SC_PHYS_PAGES)) *
                        static_cast<double>(sysconf(_SC_PAGESIZE));
    if (needed > have / 2)
        throw bad_input("Tables of " + std::to_string(o.elements) + " elements need more than half "
                        "of this machine's memory: choose fewer --elements.");
}

struct contestant {
    const hash_candidate *who;
    std::unique_ptr<hash_design> design;
};

json sample_line(const contestant &one, long long round, double seconds, double drain,
                 const std::vector<hash_tally> &tallies)
{
    hash_tally sum;
    for (const hash_tally &t : tallies) {
        sum.ops += t.ops;
        sum.updates += t.updates;
        sum.found += t.found;
        sum.absent += t.absent;
        sum.wrong += t.wrong;
        sum.used.cpu_seconds += t.used.cpu_seconds;
        sum.used.voluntary += t.used.voluntary;
        sum.used.involuntary += t.used.involuntary;
    }
    if (sum.wrong)
        throw std::runtime_error("Under '" + one.who->name + "' " + std::to_string(sum.wrong) +
                                 " searches found an element that had been freed.");
    return {{"type", "sample"},
            {"candidate", one.who->name},
            {"round", round},
            {"threads", tallies.size()},
            {"ops", sum.ops},
            {"seconds", seconds},
            {"updates", sum.updates},
            {"found", sum.found},
            {"absent", sum.absent},
            {"drain_seconds", std::round(drain * 1e6) / 1e6},
            {"cpu_seconds", std::round(sum.used.cpu_seconds * 1e6) / 1e6},
            {"ctx_voluntary", sum.used.voluntary},
            {"ctx_involuntary", sum.used.involuntary}};
}

void must_be_sound(const contestant &one, const hash_store &store)
{
    if (!store.is_sound() || !one.design->is_sound())
        throw std::runtime_error("The table under '" + one.who->name +
                                 "' is damaged: its synchronisation failed.");
}

/* false: interrupted, nothing to report. */
bool sample(crew &threads, contestant &one, const hash_store &store, long long round,
            const options &o)
{
    std::vector<hash_tally> tallies(threads.size());
    hash_scene scene;
    scene.updates = o.updates;
    scene.threads = static_cast<unsigned>(o.threads);
    scene.seed = mix(static_cast<std::uint64_t>(o.seed)) +
                 0x10001 * static_cast<std::uint64_t>(round);
    const crew::task task = [&](unsigned thread, const phase_flag &flag) {
        one.design->run(scene, thread, flag, tallies[thread]);
    };
    const double seconds = threads.run(task, o.warmup, o.seconds);
    double drain = seconds_of(CLOCK_MONOTONIC);
    one.design->drain();
    drain = seconds_of(CLOCK_MONOTONIC) - drain;
    if (seconds <= 0)
        return false;
    for (const hash_tally &t : tallies)
        drain = std::max(drain, t.leaving);
    emit(sample_line(one, round, seconds, drain, tallies));
    if (store.keys() <= looked_through)
        must_be_sound(one, store);
    return true;
}

void emit_start(const options &o, const std::vector<contestant> &field,
                const std::vector<unsigned> &cpus, const crew &threads)
{
    json names = json::array();
    for (const contestant &c : field)
        names.push_back(c.who->name);
    emit({{"type", "start"},
          {"bench", "hash"},
          {"threads", o.threads},
          {"updates", o.updates},
          {"elements", o.elements},
          {"element_bytes", sizeof(element)},
          {"bucket_bytes", sizeof(bucket)},
          {"bytes", static_cast<std::size_t>(o.elements) * (sizeof(element) + sizeof(bucket))},
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
    const std::vector<hash_candidate> all = all_candidates();
    if (o.list)
        return print_list(all);
    check(o);
    const std::vector<const hash_candidate *> chosen = choose(all, o.candidates);
    const std::vector<unsigned> cpus = parse_pin(o.pin);

    watch_for_interrupts();
    crew threads(static_cast<unsigned>(o.threads), cpus);
    hash_store store(static_cast<std::uint32_t>(o.elements));
    std::vector<contestant> field;
    for (const hash_candidate *c : chosen)
        field.push_back({c, c->make(store)});
    emit_start(o, field, cpus, threads);
    for (long long round = 0; round < o.rounds && !interrupted; round++)
        for (const std::size_t i : order_of_round(field.size(), static_cast<unsigned>(round)))
            if (!sample(threads, field[i], store, round, o))
                return finish();
    if (store.keys() > looked_through)
        for (const contestant &one : field)
            must_be_sound(one, store);
    return finish();
}

} // namespace
} // namespace bench

int main(int argc, char **argv)
{
    bench::options o;
    CLI::App app("Operations per second of a hash table under each design; JSON lines.");
    bench::declare(app, o);
    return bench::guarded(app, argc, argv, [&] { return bench::run(o); });
}
