/* SPDX-License-Identifier: MIT */
/*
 * What the parts of pawl-bench-counters share. A candidate is an operation that one thread repeats,
 * or several at the same time. One more thread may do something else beside them; it is not
 * measured. Its name says so: group/what@threads+beside.
 */
#pragma once

#include <sched.h>

#include <atomic>
#include <functional>
#include <memory>

#include "adapters/absent.hpp"
#include "core/candidate.hpp"
#include "core/placed.hpp"

namespace bench::counters {

/* Lets all threads of a sample begin together, and continue until all have measured. */
class gate {
  public:
    explicit gate(unsigned threads) : coming_(threads), measuring_(threads) {}

    void arrive()
    {
        coming_.fetch_sub(1);
        while (coming_.load() != 0)
            sched_yield();
    }
    void measured() { measuring_.fetch_sub(1, std::memory_order_release); }
    bool over() const { return measuring_.load(std::memory_order_acquire) == 0; }

  private:
    std::atomic<unsigned> coming_, measuring_;
};

/* One thread's part of a sample. */
class measure {
  public:
    measure(double warmup, double length, gate &g) : warmup_(warmup), limit_(length), gate_(g) {}

    /* Operations between two looks at the clock: enough to make the cost of the clock
     * negligible. */
    static constexpr unsigned many = 4096, few = 16;

    template <class Operation> void operator()(Operation operation)
    {
        batches(many, looped(operation));
    }
    template <class Operation> void slow(Operation operation) { batches(few, looped(operation)); }

    /* `batch(n)` does it n times. */
    template <class Batch> void batches(unsigned n, Batch batch)
    {
        gate_.arrive();
        const double start = seconds_of(CLOCK_MONOTONIC);
        double begun, now;
        do {
            batch(n);
            total += n;
            begun = seconds_of(CLOCK_MONOTONIC);
        } while (begun < start + warmup_ && !interrupted);
        do {
            batch(n);
            ops += n;
            now = seconds_of(CLOCK_MONOTONIC);
        } while (now < begun + limit_ && !interrupted);
        seconds = now - begun;
        total += ops;
        gate_.measured();
        /* The others are still measuring, and need this thread to go on. */
        for (; !gate_.over(); total += n)
            batch(n);
    }

    /* `once()` returns the seconds that count, of one operation among preparations. */
    template <class Once> void timed(Once once)
    {
        gate_.arrive();
        const double start = seconds_of(CLOCK_MONOTONIC);
        do {
            seconds += once();
            ops++;
        } while (seconds_of(CLOCK_MONOTONIC) < start + warmup_ + limit_ && !interrupted);
        total = ops;
        gate_.measured();
    }

    /* `all()` is the whole sample, of any length; it returns its number of operations. */
    template <class All> void whole(All all)
    {
        gate_.arrive();
        const double start = seconds_of(CLOCK_MONOTONIC);
        ops = total = all();
        seconds = seconds_of(CLOCK_MONOTONIC) - start;
        gate_.measured();
    }

    double warmup() const { return warmup_; }
    double length() const { return limit_; }

    std::uint64_t ops = 0;   /* while it was measured */
    std::uint64_t total = 0; /* in all */
    double seconds = 0;

  private:
    template <class Operation> static auto looped(Operation operation)
    {
        return [operation](unsigned n) {
            for (unsigned i = 0; i < n; i++) {
                operation();
                /* The compiler must not merge or drop operations that it could see through. */
                __asm__ __volatile__("" : : : "memory");
            }
        };
    }

    double warmup_, limit_;
    gate &gate_;
};

/* The object that is measured, for all samples of its candidate. */
class subject {
  public:
    virtual ~subject() = default;
    virtual void run(measure &m, unsigned thread) = 0;
    /* The work of the thread beside until it is told to stop. */
    virtual void beside(const std::atomic<bool> &) {}
    /* Runs after each sample; `total`: operations so far. Throws if an operation got lost. */
    virtual void verify(std::uint64_t) {}
    /* More fields for a sample line. */
    virtual json more() { return json::object(); }
};

inline void expect_count(const char *who, std::int64_t value, std::uint64_t wanted)
{
    expect(static_cast<std::uint64_t>(value) == wanted,
           std::string(who) + " shows " + std::to_string(value) + " after " +
               std::to_string(wanted) + " additions: it lost or invented some.");
}

struct counter_candidate : candidate<std::function<std::unique_ptr<subject>()>> {
    unsigned threads = 1;
    std::string beside;
};

using candidates = std::vector<counter_candidate>;

inline counter_candidate named(const char *group, const char *what, unsigned threads,
                               const std::string &beside)
{
    counter_candidate c;
    c.strategy = group;
    c.lock = what;
    c.threads = threads;
    c.beside = beside;
    c.name = c.strategy + "/" + what + "@" + std::to_string(threads) +
             (beside.empty() ? "" : "+" + beside);
    return c;
}

template <class Subject>
void offer(candidates &all, const char *group, const char *what, unsigned threads = 1,
           const char *beside = "")
{
    all.push_back(named(group, what, threads, beside));
    all.back().design = [] { return std::make_unique<Subject>(); };
}

/* At one thread, and at two. */
template <class Subject> void offer_both(candidates &all, const char *group, const char *what)
{
    offer<Subject>(all, group, what, 1);
    offer<Subject>(all, group, what, 2);
}

inline void offer_none(candidates &all, const char *group, const char *what, const std::string &why)
{
    all.push_back(named(group, what, 1, ""));
    all.back().why = why;
}

void add_candidates(candidates &all);
void read_candidates(candidates &all);
void sequence_candidates(candidates &all);
void reference_candidates(candidates &all);
void big_reader_candidates(candidates &all);

} // namespace bench::counters
