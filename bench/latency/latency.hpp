/* SPDX-License-Identifier: MIT */
/*
 * What the parts of pawl-bench-latency share: contexts, the timing of all threads of a sample, the
 * notes of each thread, and the interface of every lock.
 *
 * Times are cycles of the processor's counter, less the cost of reading it.
 */
#pragma once

#include <functional>
#include <memory>

#include "core/candidate.hpp"
#include "core/cycles.hpp"
#include "latency/watch.hpp"
#include "core/work.hpp"

namespace bench::latency {

/* From the lowest to the highest, as in pawl_sift_context. */
enum class context { thread, realtime, deferred, interrupt };
constexpr std::array<const char *, 4> context_names = {"thread", "realtime", "deferred",
                                                       "interrupt"};

enum class role { writer, try_writer, reader, realtime_reader, try_reader, host, hog };

/* The lengths and times of a cell; made once for all its samples. */
struct timing {
    const cycle_gauge *gauge = nullptr;
    std::uint64_t write_steps = 0, read_steps = 0, slow_steps = 0; /* of work in a section */
    std::uint64_t slow_gap = 0; /* cycles from a slow section to the next; 0: none */
    std::uint64_t writer_pause_ns = 0, try_pause_ns = 0;
    unsigned tries = 1;
    std::uint64_t busy = 0, idle_ns = 0; /* of a real-time reader: cycles, then nanoseconds */
    std::uint64_t begin = 0, end = 0;    /* the time that counts, cycles */
};

/* The results of one thread, or of the handlers of one thread. No other thread touches it
 * meanwhile. */
struct alignas(128) tally {
    std::string who;
    context where = context::thread;
    std::uint64_t iterations = 0; /* passes */
    std::uint64_t failed = 0;     /* tries that did not get the lock */
    std::uint64_t slow = 0;       /* passes with the slow section, among these */
    std::uint64_t wrong = 0;      /* sections that saw another thread write */
    std::uint64_t result = 0;     /* of the work: the compiler must keep it */
    series lock, unlock;
    watch seen;
    unsigned number = 0; /* of its role */

    /* A wait that only reaches into the time that counts is noted too: a starved thread has no
     * other. */
    void note(const timing &s, std::uint64_t asked, std::uint64_t held, std::uint64_t done,
              std::uint64_t free)
    {
        if (held < s.begin || asked >= s.end)
            return;
        iterations += held < s.end;
        lock.add(s.gauge->between(asked, held));
        unlock.add(s.gauge->between(done, free));
    }
};

/* A lock with what it protects, and the threads' use of it. */
class arena {
  public:
    virtual ~arena() = default;
    virtual void work(role as, const timing &s, tally &t) = 0;
    /* A signal handler calls this. */
    virtual void interrupt(context where, const timing &s, tally &t) = 0;
    /* Whether a handler that reads may be interrupted by another one that reads. */
    virtual bool nests() const = 0;
};

/* What a lock's constructor must know. */
struct setting {
    bool realtime = false;         /* some readers, or handlers, are on real-time threads */
    std::uint64_t write_steps = 0; /* of a write section */
};

struct pair_time {
    std::uint64_t ops = 0;
    double seconds = 0;
};

/* A row of the scenarios makes an arena; a row of the scenario "pairs" runs pairs by itself. */
struct design {
    std::function<std::unique_ptr<arena>(const setting &)> make;
    std::function<pair_time(double seconds, const setting &how)> run;
};

struct latency_candidate : candidate<design> {
    /* Its waits spin for a bit whose holder a real-time thread may have preempted. That takes a
     * second if the system throttles real-time threads, and for ever if not. */
    bool spins = false;
};

using candidates = std::vector<latency_candidate>;

inline latency_candidate named(const std::string &name, const std::string &why)
{
    latency_candidate c;
    c.name = name;
    c.why = why;
    return c;
}

candidates all_candidates();

/* The candidates of the scenario "pairs": one thread alone, no handlers. `no_realtime`: the
 * reason why the scheduling class cannot be changed; empty: it can. */
candidates all_pairs(const std::string &no_realtime);

} // namespace bench::latency
