/* SPDX-License-Identifier: MIT */
/*
 * pawl-bench-latency: how long a lock that handlers read keeps signals blocked and priorities
 * raised, and how long each kind of thread waits for it.
 *
 * One run measures one scenario for all candidates, a sample of each in turn, a JSON line a sample.
 * Times are cycles of the processor's counter, less the cost of reading it; the driver calibrates
 * the counter at the start. Real-time threads are idle for most of the time. A thread above them
 * ends the process if a sample does not end (realtime.hpp).
 */
#include <cmath>

#include "core/driver.hpp"
#include "core/second_thread.hpp"
#include "latency/cast.hpp"

namespace bench::latency {
namespace {

constexpr double unset = -1;
/* For a real-time reader: the length of a burst and the pause after it together. */
constexpr double burst_ms = 10;
constexpr double grace_seconds = 20;

struct latency_settings {
    std::string which = "placed", realtime = "auto";
    long long tries = 100;
    double slow_section_us = 3000, slow_every_ms = 50, write_section_us = unset,
           read_section_us = 1, writer_delay_us = unset, trylock_delay_us = 1000,
           handler_period_ms = unset, realtime_share = 20;
};

const scenario *find_scenario(const std::string &name)
{
    for (const scenario &s : scenarios())
        if (name == s.name)
            return &s;
    if (name == "pairs")
        return nullptr;
    std::string names = "pairs";
    for (const scenario &s : scenarios())
        names += std::string(", ") + s.name;
    throw bad_input("--scenario is '" + name + "'; it must be one of " + names + ".");
}

/* The reason why there are no real-time threads; empty: there are some. */
std::string realtime_of(const std::string &wanted)
{
    if (wanted == "no")
        return "real-time scheduling was not asked for (--realtime no)";
    if (wanted != "auto" && wanted != "yes")
        throw bad_input("--realtime is '" + wanted + "'; it must be yes, no or auto.");
    const std::string why = no_realtime();
    if (wanted == "yes" && !why.empty())
        throw bad_input("--realtime yes: " + why + "; or say --realtime auto.");
    return why;
}

/* The settings of all samples, and what every line says about the machine. */
class latency_scene : public scene<latency_candidate, nothing_made> {
  public:
    latency_scene(const options &o, const latency_settings &s, const std::string &no_realtime)
        : o_(o), s_(s), no_realtime_(no_realtime), cpus_(parse_pin(o.pin))
    {
    }

    json start() const override
    {
        return {{"bench", "latency"},
                {"scenario", s_.which},
                {"realtime", no_realtime_.empty()},
                {"realtime_error", no_realtime_},
                {"counter", gauge_.describe()}};
    }
    placement where() const override { return {cpus_, !cpus_.empty(), ""}; }
    nothing_made make(const latency_candidate &) override { return {}; }
    json sample(const latency_candidate &who, nothing_made &, long long) override
    {
        json line = {{"scenario", s_.which},
                     {"realtime_error", no_realtime_},
                     {"counter", gauge_.describe()}};
        line.update(sample_of(who));
        return line;
    }

  protected:
    virtual json sample_of(const latency_candidate &who) = 0;

    const options &o_;
    const latency_settings s_;
    const std::string no_realtime_; /* the reason for having no real-time threads */
    const std::vector<unsigned> cpus_;
    const cycle_gauge gauge_;
};

/* ---- Scenarios ------------------------------------------------------------------------------- */

json row_of(const tally &t)
{
    json row = {{"who", t.who},
                {"context", context_names[static_cast<std::size_t>(t.where)]},
                {"iterations", t.iterations},
                {"failed", t.failed},
                {"slow", t.slow},
                {"lock", t.lock.describe()},
                {"unlock", t.unlock.describe()},
                {"deferred", t.seen.deferred.lengths.describe()},
                {"interrupt", t.seen.interrupt.lengths.describe()},
                {"raised", t.seen.raised.lengths.describe()}};
    if (t.seen.interrupt.lengths.count() > 0)
        row["blocked"] = t.seen.interrupt.lengths.buckets();
    return row;
}

class scenario_scene final : public latency_scene {
  public:
    scenario_scene(const options &o, const latency_settings &s, const std::string &no_realtime,
                   const scenario &what)
        : latency_scene(o, s, no_realtime),
          /* Beside the readers: it must not disturb a writer. */
          guard_(no_realtime.empty(), cpus_.empty() ? -1 : static_cast<int>(cpus_.back())),
          on_{&what,
              cpus_,
              no_realtime.empty(),
              &guard_,
              static_cast<std::uint64_t>(s.handler_period_ms * 1e6),
              o.warmup,
              o.seconds}
    {
        if (what.placed() && cpus_.size() < 2)
            throw bad_input("--scenario " + s.which +
                            " needs a CPU for the writers and one for "
                            "the readers: name two with --pin, as 0,1.");
        if (what.hosts && cpus_.empty())
            throw bad_input("--scenario " + s.which +
                            " has handlers on every CPU: name CPUs with "
                            "--pin, or say auto.");
    }

  protected:
    json sample_of(const latency_candidate &who) override
    {
        const timing t = timing_of();
        const std::unique_ptr<arena> place = who.design.make({on_.realtime, t.write_steps});
        guard_.arm(o_.warmup + o_.seconds + grace_seconds,
                   "The scenario " + s_.which + " under '" + who.name + "'");
        const auto tallies = perform(on_, *place, t);
        const unsigned rescued = guard_.disarm();
        json rows = json::array();
        std::uint64_t ops = 0, wrong = 0;
        for (const auto &one : tallies) {
            ops += one->iterations;
            wrong += one->wrong;
            rows.push_back(row_of(*one));
        }
        expect(wrong == 0, "Under '" + who.name + "' " + std::to_string(wrong) +
                               " sections saw another thread write: the lock failed.");
        return {{"threads", on_.what->threads(cpus_.size())},
                {"ops", ops},
                {"seconds", o_.seconds},
                {"rescued", rescued},
                {"rows", rows}};
    }

  private:
    timing timing_of() const
    {
        timing t;
        t.gauge = &gauge_;
        t.write_steps = speed_.steps(s_.write_section_us * 1000);
        t.read_steps = speed_.steps(s_.read_section_us * 1000);
        t.slow_steps = speed_.steps(s_.slow_section_us * 1000);
        t.slow_gap = gauge_.of_ns(s_.slow_every_ms * 1e6);
        t.writer_pause_ns = static_cast<std::uint64_t>(s_.writer_delay_us * 1000);
        t.try_pause_ns = static_cast<std::uint64_t>(s_.trylock_delay_us * 1000);
        t.tries = static_cast<unsigned>(s_.tries);
        t.busy = gauge_.of_ns(burst_ms * 1e6 * s_.realtime_share / 100);
        t.idle_ns = static_cast<std::uint64_t>(burst_ms * 1e6 * (1 - s_.realtime_share / 100));
        return t;
    }

    const work_gauge speed_;
    watchdog guard_;
    const stage on_;
};

/* ---- One thread alone ------------------------------------------------------------------------ */

class lone_scene final : public latency_scene {
  public:
    lone_scene(const options &o, const latency_settings &s, const std::string &no_realtime)
        : latency_scene(o, s, no_realtime)
    {
        const int error = cpus_.empty() ? 0 : put_on(pthread_self(), cpus_.front());
        if (error != 0)
            throw bad_input("Could not run on CPU " + std::to_string(cpus_.front()) + " (" +
                            std::strerror(error) + "): name another with --pin.");
    }

  protected:
    json sample_of(const latency_candidate &who) override
    {
        const setting how = {no_realtime_.empty(), 0};
        who.design.run(o_.warmup, how);
        const pair_time found = who.design.run(o_.seconds, how);
        return {{"threads", 1}, {"ops", found.ops}, {"seconds", found.seconds}};
    }

  private:
    const second_thread asleep_;
};

/* ---- The driver ------------------------------------------------------------------------------ */

class latency_driver {
  public:
    static constexpr const char *says =
        "Times with signals blocked, and waits for each kind of thread; JSON lines.";

    explicit latency_driver(options &o) : o_(o)
    {
        o.text("--scenario", s_.which,
               "pairs, writer, trylock_writer, reader, realtime_reader, readers, contention, "
               "placed or handlers");
        o.take_seconds(2, 0.0001, 600);
        o.take_rounds(1);
        o.take_warmup(0.05);
        declare_readers(o);
        declare_writers(o);
        o.text("--realtime", s_.realtime,
               "yes; no: real-time readers are ordinary threads; auto: yes if permitted");
        o.take_pin("auto", "CPUs, as 0,1: writers on the first, readers on the last; auto: all");
    }

    std::vector<latency_candidate> candidates()
    {
        what_ = find_scenario(s_.which);
        no_realtime_ = realtime_of(s_.realtime);
        if (what_ == nullptr)
            return all_pairs(no_realtime_);
        auto locks = all_candidates();
        for (latency_candidate &c : locks)
            c.by_default = !c.spins || !what_->hosts || !no_realtime_.empty();
        return locks;
    }

    void check()
    {
        usual(s_.write_section_us, what_ ? what_->write_section_us : unset, 1);
        usual(s_.writer_delay_us, what_ ? what_->writer_pause_us : unset, 100);
        usual(s_.handler_period_ms, what_ ? what_->handler_period_ms : unset, 100);
        require("--write-section", s_.write_section_us, 0, 100000);
        require("--writer-delay", s_.writer_delay_us, 0, 1000000);
        require("--handler-period", s_.handler_period_ms, 0.1, 60000);
        for (const unsigned cpu : parse_pin(o_.pin))
            require("--pin", static_cast<long long>(cpu), 0, CPU_SETSIZE - 1);
    }

    std::unique_ptr<latency_scene> open(const std::vector<const latency_candidate *> &) const
    {
        if (what_ == nullptr)
            return std::make_unique<lone_scene>(o_, s_, no_realtime_);
        return std::make_unique<scenario_scene>(o_, s_, no_realtime_, *what_);
    }

  private:
    void declare_readers(options &o)
    {
        o.number("--slow-section", s_.slow_section_us, 0, 100000,
                 "microseconds of a reader's slow section");
        o.number("--slow-every", s_.slow_every_ms, 0, 60000,
                 "milliseconds from a reader's slow section to its next; 0: none");
        o.number("--read-section", s_.read_section_us, 0, 100000, "of its other sections, us");
        o.number("--realtime-share", s_.realtime_share, 1, 45,
                 "percent of the time that a real-time reader is busy");
    }
    void declare_writers(options &o)
    {
        o.dependent_number("--write-section", s_.write_section_us,
                           "microseconds of a write section (default 1; handlers: 20)");
        o.dependent_number("--writer-delay", s_.writer_delay_us,
                           "microseconds between two writes (default 100; handlers: 20)");
        o.number("--trylock-delay", s_.trylock_delay_us, 1, 1000000,
                 "microseconds between two series of tries to write");
        o.number("--tries", s_.tries, 1, 1000000, "how often a series tries");
        o.dependent_number("--handler-period", s_.handler_period_ms,
                           "milliseconds from signal to signal (default 100; handlers: 1)");
    }

    /* The usual value in the scenario, or elsewhere. */
    static void usual(double &value, double here, double elsewhere)
    {
        if (value == unset)
            value = here >= 0 ? here : elsewhere;
    }

    const options &o_;
    latency_settings s_;
    const scenario *what_ = nullptr; /* none: pairs */
    std::string no_realtime_;
};

} // namespace
} // namespace bench::latency

int main(int argc, char **argv)
{
    return bench::drive<bench::latency::latency_driver>(argc, argv);
}
