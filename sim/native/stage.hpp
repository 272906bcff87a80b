/* SPDX-License-Identifier: MIT */
/* Runs a workload's threads on the host: simulated/stage.hpp says what each part is for. */
#pragma once

#include <new>
#include <vector>

#include "bench/core/random.hpp"
#include "models/glibc.hpp"
#include "workloads/settings.hpp"

namespace stage {

constexpr unsigned most_threads = 256;

extern thread_local unsigned own_number;
inline unsigned self()
{
    return own_number;
}

void *memory(std::size_t size, std::size_t alignment);

template <class T, class... Arguments> T &make(Arguments &&...arguments)
{
    constexpr std::size_t at_least = alignof(T) < 128 ? 128 : alignof(T);
    return *new (memory(sizeof(T), at_least)) T(static_cast<Arguments &&>(arguments)...);
}

[[noreturn]] void fail(const char *text);

template <class Lock> struct watched : Lock {};

class world;

class alignas(128) member {
  public:
    unsigned number() const { return number_; }
    bool chance(double share) { return static_cast<double>(draw_.next() >> 11) * 0x1p-53 < share; }
    void work(double ns);
    void waits() {} /* to look at the clock would change what is measured */
    void entered(bool) {}
    bool done(bool writes);

  private:
    friend class world;
    member(world &w, unsigned number, std::uint64_t seed) : w_(w), number_(number), draw_(seed) {}
    world &w_;
    unsigned number_;
    bench::random_numbers draw_;
    std::uint64_t operations_ = 0; /* written by its thread, read by all */
};

class world {
  public:
    explicit world(sim::settings &s);
    template <class Body> sim::findings run(Body body)
    {
        struct all {
            static void one(void *body_, member &me) { (*static_cast<Body *>(body_))(me); }
        };
        return run_all(all::one, &body);
    }
    void name(const void *, std::size_t, const char *) {}
    unsigned threads() const { return threads_; }

  private:
    friend class member;
    sim::findings run_all(void (*one)(void *, member &), void *body);

    sim::settings &s_;
    std::pair<unsigned, unsigned> crowd_;
    unsigned cores_, threads_;
    double warm_, seconds_;
    bool over_ = false;
};

} // namespace stage
