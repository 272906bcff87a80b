/* SPDX-License-Identifier: MIT */
/*
 * Where a workload's threads run: here on simulated cores. native/stage.hpp runs the same workload
 * on the host, so that both can be compared.
 *
 *   stage::world w(s);                       before any shared memory
 *   T &shared = stage::make<T>(...);
 *   findings f = w.run([&](stage::member &me) { do { ... } while (me.done(writes)); });
 */
#pragma once

#include <climits>
#include <new>
#include <vector>

#include "bench/core/random.hpp"
#include "engine/oracle.hpp"
#include "models/glibc.hpp"
#include "workloads/settings.hpp"

namespace sim {
/* The engine's counts. */
void add_counts(findings &f, const engine &e);

/* How evenly threads share: Jain's index; what the slowest and the fastest thread did, by the mean;
 * the threads of the slowest cluster and socket by those of the fastest. `done`: by thread. */
void add_fairness(findings &f, const settings &s, unsigned cores,
                  const std::vector<std::uint64_t> &done);
} // namespace sim

namespace stage {

constexpr unsigned most_threads = sim::most_threads;

inline unsigned self()
{
    return sim::engine::running != nullptr ? sim::engine::running->self() : 0;
}

/* Zeroed, and at the same place in each run. */
inline void *memory(std::size_t size, std::size_t alignment)
{
    return sim::arena_take(size, alignment);
}

template <class T, class... Arguments> T &make(Arguments &&...arguments)
{
    constexpr std::size_t at_least = alignof(T) < 128 ? 128 : alignof(T);
    return *new (memory(sizeof(T), at_least)) T(static_cast<Arguments &&>(arguments)...);
}

[[noreturn]] inline void fail(const char *text)
{
    throw sim::program_failed(text);
}

template <class Lock> using watched = sim::watched<Lock>;

class world;

class member {
  public:
    unsigned number() const { return number_; }
    bool chance(double share) { return static_cast<double>(draw_.next() >> 11) * 0x1p-53 < share; }
    void work(double ns);
    /* The same for what may last: the run is not taken for one that stands still. And off its core
     * for so long; nobody wakes it. */
    void work_on(double ns);
    void sleep(std::uint32_t *bed, double ns);
    void waits() { since_ = sim::engine::running->now(); }
    void entered(bool writes);
    bool done(bool writes); /* one operation more; false: the run is over */

  private:
    friend class world;
    member(world &w, unsigned number, std::uint64_t seed) : w_(w), number_(number), draw_(seed) {}
    world &w_;
    unsigned number_;
    bench::random_numbers draw_;
    sim::ps since_ = sim::never; /* it waits since then */
    std::uint64_t operations_ = 0;
};

class world {
  public:
    explicit world(sim::settings &s);
    template <class Body> sim::findings run(Body body)
    {
        for (unsigned t = 0; t < threads_; t++)
            members_.push_back(std::unique_ptr<member>(new member(*this, t, s_.seed * 4096 + t)));
        for (unsigned t = 0; t < threads_; t++)
            e_.add(s_.place(t, cores_), [this, t, &body] { body(*members_[t]); }, start_of(t));
        e_.run();
        return found();
    }
    void name(const void *object, std::size_t size, const char *text)
    {
        e_.name(object, size, text);
    }
    unsigned threads() const { return threads_; }

  private:
    friend class member;
    sim::ps start_of(unsigned thread) const;
    sim::findings found();

    sim::settings &s_;
    std::pair<unsigned, unsigned> crowd_;
    unsigned cores_, threads_;
    std::uint64_t first_, last_;
    sim::engine e_;
    std::vector<std::unique_ptr<member>> members_;
    std::uint64_t done_ = 0;
    sim::ps began_ = sim::never, ended_ = 0;
    std::vector<sim::ps> waited_[2]; /* of readers, of writers */
    /* Write sections that followed one of another thread, and those in the same cluster. */
    void follows(unsigned thread);
    void add_near(sim::findings &f) const;
    unsigned cluster_of(unsigned thread) const;
    unsigned last_writer_ = UINT_MAX;
    std::uint64_t followed_ = 0, near_ = 0;
};

} // namespace stage
