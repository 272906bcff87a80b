/* SPDX-License-Identifier: MIT */
/*
 * pawl-bench-lru: lookups per second of a shared cache under each lock and strategy.
 *
 * One run measures one cell (threads, size, key space, cost of a miss) for all candidates, a sample
 * of each in turn, and prints a JSON line per sample. The command `pawl bench lru` runs it over
 * many cells and makes tables of what it prints.
 */
#include <sys/stat.h>
#include <unistd.h>

#include "lru/candidates.hpp"
#include "core/cpus.hpp"

namespace bench {
namespace {

/* The published measurements give about 345 ns for a lookup by one thread (2.8 million a second at
 * 99 % hits, on a core of 2.5 GHz), which is a walk along a long chain, not a probe of a sparse
 * table. With so many entries to a chain ours take about as long. Recorded keys get the table that
 * a program for them would have, one chain for each entry. */
constexpr long long entries_of_a_chain = 200;

struct options {
    long long threads = 2, size = 3200, keyspace = 0, chains = -1, miss_cost = 100;
    long long rounds = 12, seed = 1;
    double seconds = 0.25, warmup = 0.05, zipf_s = 0.99;
    std::string dist = "uniform", trace, pin = "auto";
    std::vector<std::string> candidates;
    bool latency = false, list = false;
};

void declare(CLI::App &app, options &o)
{
    app.add_flag("--list", o.list, "print the candidates as a JSON array and end");
    app.add_option("--threads", o.threads, "threads that look keys up (default 2)");
    app.add_option("--size", o.size, "entries the cache keeps (default 3200)");
    app.add_option("--keyspace", o.keyspace, "distinct keys (default size*100/99)");
    app.add_option("--chains", o.chains,
                   "chains of the hash table (default size/200; with --trace: size)");
    app.add_option("--miss-cost", o.miss_cost, "rounds of work for a miss (default 100)");
    app.add_option("--seconds", o.seconds, "length of a sample (default 0.25)");
    app.add_option("--rounds", o.rounds, "samples of each candidate (default 12)");
    app.add_option("--warmup", o.warmup, "seconds before each sample (default 0.05)");
    app.add_option("--seed", o.seed, "of the random keys (default 1)");
    app.add_option("--dist", o.dist, "uniform (default) or zipf");
    app.add_option("--zipf-s", o.zipf_s, "exponent of zipf (default 0.99)");
    app.add_option("--trace", o.trace, "file of recorded keys, in place of random ones");
    app.add_option("--pin", o.pin, "CPUs, as 0,1: thread i on the i-th; none; auto (default)");
    app.add_option("--candidates", o.candidates, "names, as --list gives them")->delimiter(',');
    app.add_flag("--latency", o.latency, "also time single lookups (slows all down)");
}

int print_list(const std::vector<candidate> &all)
{
    json list = json::array();
    for (const candidate &c : all)
        list.push_back({{"name", c.name},
                        {"strategy", c.strategy},
                        {"lock", c.lock},
                        {"available", c.why.empty()},
                        {"why", c.why},
                        {"baseline", c.baseline},
                        {"one_thread_only", c.one_thread_only}});
    emit(list);
    return exit_done;
}

void check(options &o)
{
    constexpr long long most_keys = 1LL << 30;
    require("--threads", o.threads, 1LL, 1024LL);
    require("--size", o.size, 1LL, most_keys);
    if (o.chains == -1)
        o.chains = o.trace.empty() ? std::max(1LL, o.size / entries_of_a_chain) : o.size;
    require("--chains", o.chains, 1LL, most_keys);
    require("--miss-cost", o.miss_cost, 0LL, 1000000LL);
    require("--rounds", o.rounds, 1LL, 100000LL);
    require("--seconds", o.seconds, 0.001, 3600.0);
    require("--warmup", o.warmup, 0.0, 60.0);
    require("--seed", o.seed, 0LL, INT64_MAX + 0LL);
    require("--zipf-s", o.zipf_s, 0.0, 10.0);
    if (o.dist != "uniform" && o.dist != "zipf")
        throw bad_input("--dist is '" + o.dist + "'; it must be uniform or zipf.");
    if (o.keyspace == 0)
        o.keyspace = o.size * 100 / 99;
    require("--keyspace", o.keyspace, 1LL, most_keys);
}

key_source open_keys(options &o)
{
    key_source source;
    if (!o.trace.empty()) {
        source.recorded = std::make_unique<const trace>(read_trace(o.trace));
        o.keyspace = static_cast<long long>(source.recorded->distinct);
    }
    if (o.size > o.keyspace)
        throw bad_input("--size is " + std::to_string(o.size) + ", but there are only " +
                        std::to_string(o.keyspace) + " distinct keys" +
                        (o.trace.empty() ? " (--keyspace)" : " in the trace") +
                        ": with all of them in the cache nothing would be measured but hits. "
                        "Choose a smaller --size.");
    source.keyspace = static_cast<std::uint32_t>(o.keyspace);
    if (o.trace.empty() && o.dist == "zipf")
        source.zipf = std::make_unique<const zipf_table>(source.keyspace, o.zipf_s);
    return source;
}

struct contestant {
    const candidate *who;
    std::unique_ptr<cell> cache;
};

void check_threads(const std::vector<const candidate *> &chosen, const options &o)
{
    for (const candidate *c : chosen)
        if (c->one_thread_only && o.threads > 1)
            throw bad_input("The candidate '" + c->name + "' has no lock and runs with one thread "
                            "only: use --threads 1 or leave it out.");
}

void check_memory(std::size_t candidates, const options &o)
{
    const double needed =
        static_cast<double>(candidates) * static_cast<double>(o.size + o.chains) * 64;
    const double have = static_cast<double>(sysconf(_SC_PHYS_PAGES)) *
                        static_cast<double>(sysconf(_SC_PAGESIZE));
    if (needed > have / 2)
        throw bad_input("Caches of " + std::to_string(o.size) + " entries for " +
                        std::to_string(candidates) + " candidates need more than half of this "
                        "machine's memory: choose a smaller --size or fewer --candidates.");
}

/* Each cache gets its own keys to fill up with, the same for all. */
std::vector<contestant> prepare(const std::vector<const candidate *> &chosen,
                                const key_source &source, const options &o)
{
    std::vector<contestant> field;
    const auto size = static_cast<std::size_t>(o.size);
    const auto chains = static_cast<std::size_t>(o.chains);
    for (const candidate *c : chosen) {
        if (interrupted)
            break;
        contestant who{c, c->make(size, chains)};
        key_stream keys(source, mix(static_cast<std::uint64_t>(o.seed)), 0);
        who.cache->fill(keys);
        field.push_back(std::move(who));
    }
    return field;
}

json sample_line(const contestant &who, long long round, double seconds,
                 const std::vector<tally> &tallies, bool latency)
{
    tally sum;
    for (const tally &t : tallies) {
        sum.lookups += t.lookups;
        sum.hits += t.hits;
        sum.wrong += t.wrong;
        sum.used.cpu_seconds += t.used.cpu_seconds;
        sum.used.voluntary += t.used.voluntary;
        sum.used.involuntary += t.used.involuntary;
        sum.times.merge(t.times);
    }
    if (sum.wrong)
        throw std::runtime_error("Under '" + who.who->name + "' " + std::to_string(sum.wrong) +
                                 " lookups found what belongs to another key: the lock failed.");
    json line = {{"type", "sample"},
                 {"candidate", who.who->name},
                 {"round", round},
                 {"threads", tallies.size()},
                 {"ops", sum.lookups},
                 {"seconds", seconds},
                 {"hits", sum.hits},
                 {"misses", sum.lookups - sum.hits},
                 {"cpu_seconds", sum.used.cpu_seconds},
                 {"ctx_voluntary", sum.used.voluntary},
                 {"ctx_involuntary", sum.used.involuntary}};
    if (latency)
        line["latency_ns"] = sum.times.quantiles();
    return line;
}

/* Where a thread starts in the trace: threads far apart, and each round further on. */
std::size_t start_of(unsigned thread, long long round, const key_source &source, const options &o)
{
    if (!source.recorded)
        return 0;
    const double part = static_cast<double>(thread) / static_cast<double>(o.threads) +
                        static_cast<double>(round) / static_cast<double>(o.rounds);
    const std::size_t keys = source.recorded->keys.size();
    return static_cast<std::size_t>((part - std::floor(part)) * static_cast<double>(keys)) % keys;
}

/* false: interrupted, nothing to report. In a round all candidates get the same keys: random ones
 * from the same seed, recorded ones from the same place. */
bool sample(crew &threads, contestant &who, long long round, const key_source &source,
            const options &o)
{
    std::vector<tally> tallies(threads.size());
    const std::uint64_t seed = mix(static_cast<std::uint64_t>(o.seed)) +
                               0x10001 * static_cast<std::uint64_t>(round);
    const crew::task task = [&](unsigned thread, const phase_flag &flag) {
        key_stream keys(source, mix(seed + thread), start_of(thread, round, source, o));
        who.cache->run(keys, flag, static_cast<unsigned>(o.miss_cost), o.latency,
                       tallies[thread]);
    };
    const double seconds = threads.run(task, o.warmup, o.seconds);
    if (seconds <= 0)
        return false;
    emit(sample_line(who, round, seconds, tallies, o.latency));
    return true;
}

void emit_start(const options &o, const std::vector<const candidate *> &chosen,
                const std::vector<unsigned> &cpus, const crew &threads, const key_source &source)
{
    json names = json::array();
    for (const candidate *c : chosen)
        names.push_back(c->name);
    json line = {{"type", "start"},
                 {"bench", "lru"},
                 {"threads", o.threads},
                 {"size", o.size},
                 {"keyspace", o.keyspace},
                 {"chains", o.chains},
                 {"miss_cost", o.miss_cost},
                 {"seconds", o.seconds},
                 {"rounds", o.rounds},
                 {"warmup", o.warmup},
                 {"seed", o.seed},
                 {"dist", o.trace.empty() ? o.dist : "trace"},
                 {"zipf_s", o.zipf_s},
                 {"trace", o.trace},
                 {"trace_count", source.recorded ? source.recorded->keys.size() : 0},
                 {"pin", cpus},
                 {"candidates", names},
                 {"latency", o.latency},
                 {"compiler", compiler()},
                 {"flags", compiler_flags()},
                 {"pinned", !cpus.empty() && threads.pin_error().empty()},
                 {"pin_error", threads.pin_error()}};
    emit(line);
}

int run(options &o)
{
    const std::vector<candidate> all = lru_candidates();
    if (o.list)
        return print_list(all);
    check(o);
    std::vector<const candidate *> chosen = choose(all, o.candidates);
    if (o.candidates.empty() && o.threads > 1)
        chosen.erase(std::remove_if(chosen.begin(), chosen.end(),
                                    [](const candidate *c) { return c->one_thread_only; }),
                     chosen.end());
    check_threads(chosen, o);
    check_memory(chosen.size(), o);
    const std::vector<unsigned> cpus = parse_pin(o.pin);
    const key_source source = open_keys(o);

    watch_for_interrupts();
    crew threads(static_cast<unsigned>(o.threads), cpus);
    emit_start(o, chosen, cpus, threads, source);
    std::vector<contestant> field = prepare(chosen, source, o);
    for (long long round = 0; round < o.rounds && !interrupted; round++)
        for (const std::size_t i : order_of_round(field.size(), static_cast<unsigned>(round)))
            if (!sample(threads, field[i], round, source, o))
                return finish();
    /* Every entry against the rest of its chain: for big caches that would take minutes. */
    for (const contestant &who : field)
        if (o.size <= 100000 && !who.cache->is_sound())
            throw std::runtime_error("The cache under '" + who.who->name +
                                     "' is damaged: the lock failed.");
    return finish();
}

} // namespace
} // namespace bench

int main(int argc, char **argv)
{
    bench::options o;
    CLI::App app("Lookups per second of a shared cache under each lock; JSON lines.");
    bench::declare(app, o);
    return bench::guarded(app, argc, argv, [&] { return bench::run(o); });
}
