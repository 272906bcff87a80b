/* SPDX-License-Identifier: MIT */
/* Threads on CPUs, for a length of time; each counts its operations on a line of its own. */
#include "stage.hpp"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <thread>

#include <sched.h>

#include "bench/core/work.hpp"

namespace stage {

thread_local unsigned own_number;

namespace {

const bench::work_gauge &gauge()
{
    static const bench::work_gauge g;
    return g;
}

unsigned cpus()
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? static_cast<unsigned>(CPU_COUNT(&set)) : 1;
}

void stay_on(unsigned place)
{
    cpu_set_t all, one;
    if (sched_getaffinity(0, sizeof all, &all) != 0)
        return;
    CPU_ZERO(&one);
    for (unsigned cpu = 0, seen = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &all) && seen++ == place)
            CPU_SET(cpu, &one);
    (void)sched_setaffinity(0, sizeof one, &one);
}

void pass(double seconds)
{
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

double clock_seconds()
{
    return static_cast<double>(bench::now_ns()) * 1e-9;
}

} // namespace

void *memory(std::size_t size, std::size_t alignment)
{
    size = (size + alignment - 1) / alignment * alignment;
    void *const got = std::aligned_alloc(alignment, size); /* for the process's life */
    if (got == nullptr)
        fail("There is no memory left.");
    return std::memset(got, 0, size);
}

void fail(const char *text)
{
    (void)std::fprintf(stderr, "pawl-sim-native: the program failed. %s\n", text);
    std::_Exit(1);
}

world::world(sim::settings &s)
    : s_(s), crowd_(s.crowd(cpus(), most_threads)), cores_(crowd_.first), threads_(crowd_.second),
      warm_(s.number("warm_seconds", 0.05, 0, 60)), seconds_(s.number("seconds", 0.3, 0.001, 600))
{
    (void)s.number("warm", 0, 0, 1e7); /* those of the simulator; here time says when to stop */
    (void)s.number("count", 10, 10, 1e9);
    (void)gauge();
}

void member::work(double ns)
{
    static thread_local std::uint64_t value = 1;
    value = bench::spin_work(gauge().steps(ns), value);
}

bool member::done(bool)
{
    __atomic_store_n(&operations_, operations_ + 1, __ATOMIC_RELAXED);
    return !__atomic_load_n(&w_.over_, __ATOMIC_RELAXED);
}

sim::findings world::run_all(void (*one)(void *, member &), void *body)
{
    std::vector<std::unique_ptr<member>> members;
    for (unsigned t = 0; t < threads_; t++)
        members.push_back(std::unique_ptr<member>(new member(*this, t, s_.seed * 4096 + t)));
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < threads_; t++)
        threads.emplace_back([&, t] {
            own_number = t;
            stay_on(t % cores_);
            one(body, *members[t]);
        });
    const auto count = [&] {
        std::uint64_t sum = 0;
        for (const auto &m : members)
            sum += __atomic_load_n(&m->operations_, __ATOMIC_RELAXED);
        return static_cast<double>(sum);
    };
    pass(warm_);
    const double before = count(), began = clock_seconds();
    pass(seconds_);
    const double after = count(), ended = clock_seconds();
    __atomic_store_n(&over_, true, __ATOMIC_RELAXED);
    for (std::thread &t : threads)
        t.join();
    sim::findings f;
    f.add("operations_per_s", (after - before) / (ended - began));
    return f;
}

} // namespace stage
