/* SPDX-License-Identifier: MIT */
/*
 * What the files of pawl-bench-costs share: a row is a name and a function that measures one sample
 * of it. A sample consists of batches, and the median batch stands for it. A batch in which the
 * system ran another program says nothing about the processor.
 */
#pragma once

#include <atomic>
#include <cstdint>
#include <random>

#include "core/candidate.hpp"
#include "core/team.hpp"

namespace bench::costs {

/* The resources of a sample. */
struct world {
    team threads;
    std::vector<unsigned> cpus;
    unsigned first = 0; /* rows of one thread run here */
    unsigned near = 0;  /* the other end of transfers; equals first on one CPU */
    double seconds = 0.004;
    std::vector<std::size_t> caches; /* bytes of level 1 (data), 2, 3; 0: there is none */

    bool has_two() const { return near != first; }
};

/* `ops` operations took `seconds`; the sample's line contains `extra`, too. */
struct measured {
    double ops = 0, seconds = 0;
    json extra = json::object();
};

/* The strategy of a row is its group. */
using row = candidate<std::function<measured(world &)>>;
using rows = std::vector<row>;

/* `why`: the reason why it cannot be measured here; empty: it can. */
inline void add(rows &all, const std::string &name, const char *group, const std::string &why,
                std::function<measured(world &)> run)
{
    all.push_back({group, name, why, std::move(run), name});
}

void add_processor(rows &all, const world &w);
void add_memory(rows &all, const world &w);
void add_atomics(rows &all);
void add_transfers(rows &all, const world &w);
void add_kernel(rows &all, const world &w);
void add_rseq(rows &all);
void add_rcu(rows &all);
rows lock_rows(const world &w);
rows matrix_rows(const world &w);

/* ---- Helpers of the measuring functions ------------------------------------------------------ */

inline double now()
{
    return seconds_of(CLOCK_MONOTONIC);
}

inline double median(std::vector<double> &values)
{
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

/* Runs batches, each of which returns its seconds, until the time of a sample is over. */
template <class Batch> measured repeat(double limit, double ops, Batch batch)
{
    std::vector<double> times;
    const double end = now() + limit;
    do
        times.push_back(batch());
    while (now() < end && !interrupted);
    return {ops, median(times), json::object()};
}

/* Runs single operations, `unroll` in a batch, timed from outside. */
template <class Op> measured repeat_op(double limit, unsigned unroll, Op op)
{
    return repeat(limit, unroll, [&] {
        const double start = now();
        for (unsigned i = 0; i < unroll; i++) {
            op();
            __asm__ __volatile__("" : : : "memory");
        }
        return now() - start;
    });
}

/* The same, on the first CPU. */
template <class Op> std::function<measured(world &)> on_first(unsigned unroll, Op op)
{
    return [=](world &w) {
        measured m;
        w.threads.alone(w.first, [&] { m = repeat_op(w.seconds, unroll, op); });
        return m;
    };
}

/* A value that the compiler knows nothing about. */
template <class T> T opaque(T value)
{
    __asm__ __volatile__("" : "+r"(value));
    return value;
}

/* `count` additions, each of which needs the one before: they take that many cycles on all known
 * processors. The addend is in a register: some processors add constants at no cost. */
inline std::uintptr_t chain(std::uintptr_t value, std::uintptr_t addend, unsigned count)
{
    for (unsigned i = 0; i < count; i += 8) {
#define PAWL_STEP                                                                                  \
    value += addend;                                                                               \
    __asm__ __volatile__("" : "+r"(value))
        PAWL_STEP;
        PAWL_STEP;
        PAWL_STEP;
        PAWL_STEP;
        PAWL_STEP;
        PAWL_STEP;
        PAWL_STEP;
        PAWL_STEP;
#undef PAWL_STEP
    }
    return value;
}

/* Two threads take turns; each waits without a system call. */
class alignas(256) turns {
  public:
    void wait_for(unsigned who) const
    {
        while (now_.load(std::memory_order_acquire) != who)
            ;
    }
    void give_to(unsigned who) { now_.store(who, std::memory_order_release); }

  private:
    std::atomic<unsigned> now_{0};
};

/* The end of a sample of two threads. Where another program has one of the CPUs, a batch takes
 * as long as that program's slice, so a few batches say nothing. Then the sample takes longer. */
class deadline {
  public:
    explicit deadline(double limit) : soft_(now() + limit), hard_(now() + 25 * limit) {}
    bool over(std::size_t batches) const
    {
        if (batches < 2)
            return false;
        const double at = now();
        return interrupted || at > hard_ || (at > soft_ && batches >= 32);
    }

  private:
    double soft_, hard_;
};

/* Thread `a` measures batches; before each, thread `b` has done `prepare`. Each is on its own CPU.
 * `batch` returns its seconds. */
template <class Prepare, class Batch>
std::vector<double> alternate(team &threads, unsigned a, unsigned b, double limit, Prepare prepare,
                              Batch batch)
{
    turns turn;
    std::atomic<bool> over{false};
    std::vector<double> times;
    threads.both(
        threads.on(a),
        [&] {
            const deadline end(limit);
            do {
                turn.give_to(1);
                turn.wait_for(0);
                times.push_back(batch());
            } while (!end.over(times.size()));
            over.store(true, std::memory_order_relaxed);
            turn.give_to(1);
        },
        threads.on(b),
        [&] {
            for (;;) {
                turn.wait_for(1);
                if (over.load(std::memory_order_relaxed))
                    return;
                prepare();
                turn.give_to(0);
            }
        });
    return times;
}

/* Objects for the cost of a line that another core had last. Each lies on a page of its own and
 * in another set of the cache, and each walk takes another order. With closer or regular objects
 * the hardware fetches ahead, and the measurement shows no transfer any more. On the machine on
 * which this was found, it showed 7 ns in place of 33. */
constexpr std::size_t scattered = 64;

template <class T> struct alignas(64) cell {
    T object{};
    std::uintptr_t data = 0;
    unsigned char apart[4096 + 64];
};

class shuffled {
  public:
    shuffled()
    {
        for (std::size_t i = 0; i < scattered; i++)
            order_[i] = i;
    }
    void shuffle()
    {
        for (std::size_t i = scattered - 1; i > 0; i--)
            std::swap(order_[i], order_[random_() % (i + 1)]);
    }
    std::size_t at(std::size_t i) const { return order_[i]; }

  private:
    std::minstd_rand random_;
    std::size_t order_[scattered];
};

constexpr const char *needs_two_cpus = "it needs two CPUs, and one was given";

} // namespace bench::costs
