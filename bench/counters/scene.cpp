/* SPDX-License-Identifier: MIT */
/* Measures candidates: a sample of each in turn, a JSON line a sample. */
#include "counters/scene.hpp"

#include <cmath>

#include "core/team.hpp"
#include "core/cpus.hpp"

namespace bench::counters {
namespace {

unsigned seats(const candidate &c)
{
    return c.threads + (c.beside.empty() ? 0 : 1);
}

/* What one CPU alone cannot show is a row that says so. */
void need_cpus(candidates &all, std::size_t cpus)
{
    for (candidate &c : all)
        if (c.why.empty() && seats(c) > cpus)
            c.why = "it needs " + std::to_string(seats(c)) + " CPUs and this process has " +
                    std::to_string(cpus);
}

int print_list(const candidates &all)
{
    json list = json::array();
    for (const candidate &c : all)
        list.push_back({{"name", c.name},
                        {"strategy", c.group},
                        {"lock", c.what},
                        {"available", c.why.empty()},
                        {"why", c.why},
                        {"baseline", c.baseline}});
    emit(list);
    return exit_done;
}

/* A candidate with its object and what was done to it so far. */
struct runner {
    const candidate *who;
    std::unique_ptr<subject> what;
    std::uint64_t total = 0;
};

struct sample {
    std::uint64_t ops = 0;
    double seconds = 0;
};

/* The thread beside must go whatever happens to the others. */
class companion {
  public:
    companion(costs::worker &where, subject &what) : where_(where)
    {
        where_.start([this, &what] { what.beside(stop_); });
    }
    ~companion()
    {
        stop_ = true;
        try {
            where_.wait();
        } catch (...) { /* the measured threads say what is wrong */
        }
    }

  private:
    costs::worker &where_;
    std::atomic<bool> stop_{false};
};

sample run_once(runner &r, costs::team &team, const std::vector<unsigned> &cpus,
                const run_options &o)
{
    const unsigned threads = r.who->threads;
    gate together(threads);
    std::vector<measure> parts(threads, measure(o.warmup, o.seconds, together));
    {
        std::unique_ptr<companion> beside;
        if (!r.who->beside.empty())
            beside = std::make_unique<companion>(team.on(cpus[threads]), *r.what);
        for (unsigned t = 0; t < threads; t++)
            team.on(cpus[t]).start([&, t] { r.what->run(parts[t], t); });
        for (unsigned t = 0; t < threads; t++)
            team.on(cpus[t]).wait();
    }
    sample s;
    for (const measure &m : parts) {
        s.ops += m.ops;
        s.seconds += m.seconds / threads;
        r.total += m.total;
    }
    return s;
}

void emit_start(const char *bench, const run_options &o, const json &more,
                const std::vector<const candidate *> &chosen)
{
    json names = json::array();
    for (const candidate *c : chosen)
        names.push_back(c->name);
    json line = {{"type", "start"},
                 {"bench", bench},
                 {"rounds", o.rounds},
                 {"seconds", o.seconds},
                 {"warmup", o.warmup},
                 {"pin", o.pin},
                 {"candidates", names},
                 {"compiler", compiler()},
                 {"flags", compiler_flags()},
                 {"pinned", true},
                 {"pin_error", ""}};
    line.update(more);
    emit(line);
}

void emit_sample(const runner &r, long long round, const sample &s)
{
    json line = {{"type", "sample"},
                 {"candidate", r.who->name},
                 {"round", round},
                 {"threads", r.who->threads},
                 {"ops", s.ops},
                 {"seconds", std::round(s.seconds * 1e9) / 1e9}};
    line.update(r.what->more());
    emit(line);
}

int measure_all(std::vector<runner> &runners, const std::vector<unsigned> &cpus,
                const run_options &o)
{
    costs::team team;
    for (long long round = 0; round < o.rounds; round++)
        for (const std::size_t i : order_of_round(runners.size(), static_cast<unsigned>(round))) {
            const sample s = run_once(runners[i], team, cpus, o);
            if (interrupted)
                return finish();
            runners[i].what->verify(runners[i].total);
            emit_sample(runners[i], round, s);
        }
    return finish();
}

} // namespace

void declare(CLI::App &app, run_options &o)
{
    app.add_flag("--list", o.list, "print the candidates as a JSON array and end");
    app.add_option("--rounds", o.rounds, "samples of each candidate (default 12)");
    app.add_option("--seconds", o.seconds, "length of a sample (default 0.02)");
    app.add_option("--warmup", o.warmup, "seconds before each sample (default 0.003)");
    app.add_option("--pin", o.pin, "CPUs, as 0,1: thread i on the i-th; auto (default): all");
    app.add_option("--candidates", o.candidates, "names, as --list gives them")->delimiter(',');
}

int run(const char *bench, candidates all, const run_options &o, const json &more)
{
    const std::vector<unsigned> cpus = parse_pin(o.pin);
    if (cpus.empty())
        throw bad_input("--pin is '" + o.pin + "'; this bench needs its threads on CPUs of their "
                        "own: name them, as 0,1, or say auto.");
    need_cpus(all, cpus.size());
    if (o.list)
        return print_list(all);
    require("--rounds", o.rounds, 1LL, 100000LL);
    require("--seconds", o.seconds, 0.0001, 3600.0);
    require("--warmup", o.warmup, 0.0, 60.0);
    const std::vector<const candidate *> chosen = choose(all, o.candidates);
    watch_for_interrupts();
    std::vector<runner> runners;
    for (const candidate *c : chosen)
        runners.push_back({c, c->make()});
    emit_start(bench, o, more, chosen);
    return measure_all(runners, cpus, o);
}

} // namespace bench::counters
