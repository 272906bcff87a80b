/* SPDX-License-Identifier: MIT */
/*
 * pawl-bench-costs: what single operations cost on this machine. Three parts: rows (instructions,
 * caches, atomic operations, transfers, the kernel), matrix (a line between any two CPUs), locks.
 * JSON lines as the other drivers print them; nanoseconds of an operation are seconds / ops. The
 * command `pawl costs` runs it and makes the table.
 */
#include <unistd.h>

#include "costs/rows.hpp"

namespace bench::costs {
namespace {

struct options {
    long long rounds = 15;
    double seconds = 0.004;
    std::string part = "rows", cpus = "auto", caches = "auto";
    long long near = -1;
    std::vector<std::string> candidates;
    bool list = false;
};

std::vector<std::size_t> numbers(const char *option, const std::string &text, std::size_t digits)
{
    std::vector<std::size_t> found;
    for (std::size_t at = 0; at <= text.size();) {
        const std::size_t comma = std::min(text.find(',', at), text.size());
        const std::string part = text.substr(at, comma - at);
        if (part.empty() || part.size() > digits ||
            part.find_first_not_of("0123456789") != std::string::npos)
            throw bad_input(std::string(option) + " is '" + text + "'; it must be whole numbers "
                            "with commas between them, or auto.");
        found.push_back(static_cast<std::size_t>(std::stoull(part)));
        at = comma + 1;
    }
    return found;
}

std::vector<unsigned> choose_cpus(const std::string &text)
{
    std::vector<unsigned> cpus;
    if (text == "auto") {
        cpu_set_t allowed;
        if (sched_getaffinity(0, sizeof allowed, &allowed) == 0)
            for (unsigned cpu = 0; cpu < CPU_SETSIZE; cpu++)
                if (CPU_ISSET(cpu, &allowed))
                    cpus.push_back(cpu);
        if (cpus.empty())
            throw bad_input("The system does not say which CPUs may be used: name them with "
                            "--cpus.");
        return cpus;
    }
    for (const std::size_t cpu : numbers("--cpus", text, 6)) {
        if (std::find(cpus.begin(), cpus.end(), cpu) != cpus.end())
            throw bad_input("--cpus names CPU " + std::to_string(cpu) + " twice.");
        cpus.push_back(static_cast<unsigned>(cpu));
    }
    return cpus;
}

std::vector<std::size_t> choose_caches(const std::string &text)
{
    if (text != "auto")
        return numbers("--caches", text, 12);
    std::vector<std::size_t> caches;
    for (const int name :
         {_SC_LEVEL1_DCACHE_SIZE, _SC_LEVEL2_CACHE_SIZE, _SC_LEVEL3_CACHE_SIZE}) {
        const long bytes = sysconf(name);
        caches.push_back(bytes > 0 ? static_cast<std::size_t>(bytes) : 0);
    }
    return caches;
}

world look_around(const options &o)
{
    world w;
    w.cpus = choose_cpus(o.cpus);
    w.first = w.cpus.front();
    w.near = w.cpus.size() > 1 ? w.cpus[1] : w.first;
    if (o.near >= 0) {
        w.near = static_cast<unsigned>(o.near);
        if (std::find(w.cpus.begin(), w.cpus.end(), w.near) == w.cpus.end())
            throw bad_input("--near is " + std::to_string(o.near) +
                            ", which --cpus does not name.");
    }
    w.caches = choose_caches(o.caches);
    w.seconds = o.seconds;
    return w;
}

rows rows_of(const std::string &part, const world &w)
{
    if (part == "locks")
        return lock_rows(w);
    if (part == "matrix")
        return matrix_rows(w);
    if (part != "rows")
        throw bad_input("--part is '" + part + "'; it must be rows, matrix or locks.");
    rows all;
    add_processor(all, w);
    add_memory(all, w);
    add_atomics(all);
    add_transfers(all, w);
    add_kernel(all, w);
    return all;
}

int print_list(const rows &all)
{
    json list = json::array();
    for (const row &r : all)
        list.push_back({{"name", r.name},
                        {"strategy", r.group},
                        {"lock", r.name},
                        {"available", r.why.empty()},
                        {"why", r.why},
                        {"baseline", r.name == "instruction"}});
    emit(list);
    return exit_done;
}

void emit_start(const options &o, const world &w, const std::vector<const row *> &chosen)
{
    json names = json::array();
    for (const row *r : chosen)
        names.push_back(r->name);
    emit({{"type", "start"},
          {"bench", "costs"},
          {"part", o.part},
          {"rounds", o.rounds},
          {"seconds", o.seconds},
          {"cpus", w.cpus},
          {"first", w.first},
          {"near", w.near},
          {"caches", w.caches},
          {"candidates", names},
          {"compiler", compiler()},
          {"flags", compiler_flags()},
          {"pinned", true},
          {"pin_error", ""}});
}

void emit_sample(const row &r, long long round, const measured &m)
{
    json line = {{"type", "sample"}, {"candidate", r.name}, {"round", round},
                 {"ops", m.ops},     {"seconds", m.seconds}};
    line.update(m.extra);
    emit(line);
}

/* What rows allocate is touched here first, and so lies near the CPU that measures. The main thread
 * sleeps while anything is measured. */
void stay_near(unsigned cpu)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    if (cpu < CPU_SETSIZE)
        CPU_SET(cpu, &set);
    const int error = pthread_setaffinity_np(pthread_self(), sizeof set, &set);
    if (error != 0)
        throw bad_input("Could not pin a thread on CPU " + std::to_string(cpu) + " (" +
                        std::strerror(error) + "): name CPUs this process may use with --cpus.");
}

int run(const options &o)
{
    require("--rounds", o.rounds, 1LL, 100000LL);
    require("--seconds", o.seconds, 0.0001, 10.0);
    world w = look_around(o);
    stay_near(w.first);
    const rows all = rows_of(o.part, w);
    if (o.list)
        return print_list(all);
    const std::vector<const row *> chosen = choose(all, o.candidates);
    if (chosen.empty())
        throw bad_input("Nothing of the part '" + o.part + "' can be measured here: " +
                        (all.empty() ? needs_two_cpus : all.front().why) + ".");
    watch_for_interrupts();
    emit_start(o, w, chosen);
    for (long long round = 0; round < o.rounds; round++) {
        for (const std::size_t i : order_of_round(chosen.size(), static_cast<unsigned>(round))) {
            const measured m = chosen[i]->run(w);
            if (interrupted)
                return finish();
            emit_sample(*chosen[i], round, m);
        }
    }
    return finish();
}

} // namespace
} // namespace bench::costs

int main(int argc, char **argv)
{
    bench::costs::options o;
    CLI::App app("Nanoseconds of single operations on this machine; JSON lines.");
    app.add_flag("--list", o.list, "print the rows of the part as a JSON array and end");
    app.add_option("--part", o.part, "rows (default), matrix or locks");
    app.add_option("--cpus", o.cpus, "CPUs, as 0,1: rows of one thread use the first");
    app.add_option("--near", o.near, "the other end of transfers (default: the second CPU)");
    app.add_option("--caches", o.caches, "bytes of level 1 (data), 2, 3 (default: as glibc says)");
    app.add_option("--rounds", o.rounds, "samples of each row (default 15)");
    app.add_option("--seconds", o.seconds, "length of a sample (default 0.004)");
    app.add_option("--candidates", o.candidates, "rows, as --list gives them")->delimiter(',');
    return bench::guarded(app, argc, argv, [&] { return bench::costs::run(o); });
}
