/* SPDX-License-Identifier: MIT */
/*
 * pawl-bench-tree: lookups and insertions per second of an ordered tree under each lock, in the
 * case that the progressive lock was made for: lookups of few keys, which the cache has, beside
 * rare insertions of random ones, which walk through memory that no cache has, and then change a
 * few pointers.
 *
 * One run measures one cell (nodes, share of insertions, threads) for all candidates, a sample of
 * each in turn, a JSON line a sample. The candidate parts/none is no lock: its samples time the
 * pieces (tree_parts.hpp).
 */
#include <unistd.h>

#include <cmath>

#include "core/cpus.hpp"
#include "tree/tree.hpp"
#if PAWL_BENCH_BSD
#include "tree/parts.hpp"
#endif

namespace bench {

#if PAWL_BENCH_BSD

tree::tree(std::size_t nodes, std::uint64_t seed) : nodes_(nodes)
{
    random_numbers random(seed);
    for (tree_node &n : nodes_) {
        tree_place place;
        do {
            n.key = random.next() & ~UINT64_C(1);
            place = place_of(n.key);
        } while (place.present);
        n.value = value_of(n.key);
        insert_at(place, &n);
    }
}

bool tree::is_sound()
{
    std::size_t count = 0;
    const tree_node *before = nullptr;
    for (tree_node *n = RB_MIN(tree_root, &root_); n; n = RB_NEXT(tree_root, &root_, n)) {
        if ((before && before->key >= n->key) || n->value != value_of(n->key))
            return false;
        before = n;
        count++;
    }
    return count == nodes_.size();
}

#endif

namespace {

struct options {
    long long threads = 2, nodes = 1000000, hot = 8, rounds = 9, seed = 1;
    double inserts = 1, seconds = 0.2, warmup = 0.05;
    std::string lookups = "hot", pin = "auto";
    std::vector<std::string> candidates;
    bool list = false;
};

void declare(CLI::App &app, options &o)
{
    app.add_flag("--list", o.list, "print the candidates as a JSON array and end");
    app.add_option("--threads", o.threads, "threads that look up and insert (default 2)");
    app.add_option("--nodes", o.nodes, "nodes of the tree (default 1000000)");
    app.add_option("--inserts", o.inserts, "percent of operations that insert (default 1)");
    app.add_option("--lookups", o.lookups, "hot (default): a few keys; cold: any key");
    app.add_option("--hot", o.hot, "how many are a few (default 8)");
    app.add_option("--seconds", o.seconds, "length of a sample (default 0.2)");
    app.add_option("--rounds", o.rounds, "samples of each candidate (default 9)");
    app.add_option("--warmup", o.warmup, "seconds before each sample (default 0.05)");
    app.add_option("--seed", o.seed, "of the random keys (default 1)");
    app.add_option("--pin", o.pin, "CPUs, as 0,1: thread i on the i-th; none; auto (default)");
    app.add_option("--candidates", o.candidates, "names, as --list gives them")->delimiter(',');
}

int print_list(const std::vector<tree_candidate> &all)
{
    json list = json::array();
    for (const tree_candidate &c : all)
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

void check(const options &o)
{
    require("--threads", o.threads, 1LL, 1024LL);
    require("--nodes", o.nodes, 1LL, 1LL << 28);
    require("--inserts", o.inserts, 0.0, 100.0);
    require("--hot", o.hot, 1LL, o.nodes);
    require("--rounds", o.rounds, 1LL, 100000LL);
    require("--seconds", o.seconds, 0.001, 3600.0);
    require("--warmup", o.warmup, 0.0, 60.0);
    require("--seed", o.seed, 0LL, INT64_MAX + 0LL);
    if (o.lookups != "hot" && o.lookups != "cold")
        throw bad_input("--lookups is '" + o.lookups + "'; it must be hot or cold.");
    const double have = static_cast<double>(sysconf(_SC_PHYS_PAGES)) *
                        static_cast<double>(sysconf(_SC_PAGESIZE));
    if (static_cast<double>(o.nodes) * 64 > have / 2)
        throw bad_input("A tree of " + std::to_string(o.nodes) + " nodes needs more than half of "
                        "this machine's memory: choose fewer --nodes.");
}

#if PAWL_BENCH_BSD

struct contestant {
    const tree_candidate *who;
    std::unique_ptr<tree_design> design; /* none: the pieces */
};

tree_scene scene_of(const options &o, long long round)
{
    tree_scene s;
    s.inserts = o.inserts;
    s.hot = o.lookups == "hot";
    s.hot_keys = static_cast<std::uint32_t>(o.hot);
    s.seed = mix(static_cast<std::uint64_t>(o.seed)) + 0x10001 * static_cast<std::uint64_t>(round);
    return s;
}

json sample_line(const contestant &one, long long round, double seconds,
                 const std::vector<tree_tally> &tallies)
{
    tree_tally sum;
    for (const tree_tally &t : tallies) {
        sum.ops += t.ops;
        sum.inserts += t.inserts;
        sum.wrong += t.wrong;
        sum.used.cpu_seconds += t.used.cpu_seconds;
        sum.used.voluntary += t.used.voluntary;
        sum.used.involuntary += t.used.involuntary;
    }
    if (sum.wrong)
        throw std::runtime_error("Under '" + one.who->name + "' " + std::to_string(sum.wrong) +
                                 " lookups missed a key that is there: the lock failed.");
    return {{"type", "sample"},
            {"candidate", one.who->name},
            {"round", round},
            {"threads", tallies.size()},
            {"ops", sum.ops},
            {"seconds", seconds},
            {"inserts", sum.inserts},
            {"lookups", sum.ops - sum.inserts},
            {"cpu_seconds", std::round(sum.used.cpu_seconds * 1e6) / 1e6},
            {"ctx_voluntary", sum.used.voluntary},
            {"ctx_involuntary", sum.used.involuntary}};
}

/* false: interrupted, nothing to report. */
bool sample(crew &threads, contestant &one, long long round, const options &o)
{
    std::vector<tree_tally> tallies(threads.size());
    const tree_scene scene = scene_of(o, round);
    const crew::task task = [&](unsigned thread, const phase_flag &flag) {
        one.design->run(scene, thread, flag, tallies[thread]);
    };
    const double seconds = threads.run(task, o.warmup, o.seconds);
    one.design->clear();
    if (seconds <= 0)
        return false;
    emit(sample_line(one, round, seconds, tallies));
    return true;
}

bool sample_parts(crew &threads, tree &t, const contestant &one, const work_gauge &gauge,
                  long long round, const options &o)
{
    const tree_scene scene = scene_of(o, round);
    parts_bench bench(t, scene, gauge);
    parts found;
    threads.run_to_the_end([&](unsigned thread, const phase_flag &) {
        if (thread != 0)
            return;
        bench.run(o.warmup, scene.seed + 1);
        found = bench.run(o.seconds, scene.seed);
    });
    if (interrupted)
        return false;
    const auto hundredths = [](double ns) { return std::round(ns * 100) / 100; };
    emit({{"type", "sample"},
          {"candidate", one.who->name},
          {"round", round},
          {"threads", 1},
          {"ops", found.insertions},
          {"seconds", found.seconds},
          {"read_ns", hundredths(found.read_ns)},
          {"seek_ns", hundredths(found.seek_ns)},
          {"write_ns", hundredths(found.write_ns)}});
    return true;
}

void emit_start(const options &o, const std::vector<contestant> &field,
                const std::vector<unsigned> &cpus, const crew &threads)
{
    json names = json::array();
    for (const contestant &c : field)
        names.push_back(c.who->name);
    emit({{"type", "start"},
          {"bench", "tree"},
          {"threads", o.threads},
          {"nodes", o.nodes},
          {"node_bytes", sizeof(tree_node)},
          {"inserts", o.inserts},
          {"lookups", o.lookups},
          {"hot", o.hot},
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

int measure(const std::vector<const tree_candidate *> &chosen, const options &o)
{
    const std::vector<unsigned> cpus = parse_pin(o.pin);
    watch_for_interrupts();
    const work_gauge gauge;
    crew threads(static_cast<unsigned>(o.threads), cpus);
    tree shared(static_cast<std::size_t>(o.nodes), static_cast<std::uint64_t>(o.seed));
    std::vector<contestant> field;
    for (const tree_candidate *c : chosen)
        field.push_back(
            {c, c->make ? c->make(shared, static_cast<unsigned>(o.threads)) : nullptr});
    emit_start(o, field, cpus, threads);
    for (long long round = 0; round < o.rounds && !interrupted; round++)
        for (const std::size_t i : order_of_round(field.size(), static_cast<unsigned>(round)))
            if (!(field[i].design ? sample(threads, field[i], round, o)
                                  : sample_parts(threads, shared, field[i], gauge, round, o)))
                return finish();
    if (!shared.is_sound())
        throw std::runtime_error("The tree is damaged: one of the locks failed.");
    return finish();
}

#else

int measure(const std::vector<const tree_candidate *> &, const options &)
{
    throw bad_input("This build has no tree: install libbsd-dev and build again.");
}

#endif

int run(const options &o)
{
    std::vector<tree_candidate> all = tree_candidates();
    if (o.list)
        return print_list(all);
    check(o);
    std::vector<const tree_candidate *> chosen = choose(all, o.candidates);
    for (const tree_candidate *c : chosen)
        if (c->one_thread_only && o.threads > 1 && !o.candidates.empty())
            throw bad_input("The candidate '" + c->name + "' has no lock and runs with one thread "
                            "only: use --threads 1 or leave it out.");
    if (o.threads > 1)
        chosen.erase(std::remove_if(chosen.begin(), chosen.end(),
                                    [](const tree_candidate *c) { return c->one_thread_only; }),
                     chosen.end());
    return measure(chosen, o);
}

} // namespace
} // namespace bench

int main(int argc, char **argv)
{
    bench::options o;
    CLI::App app("Lookups and insertions of an ordered tree under each lock; JSON lines.");
    bench::declare(app, o);
    return bench::guarded(app, argc, argv, [&] { return bench::run(o); });
}
