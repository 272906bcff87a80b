/* SPDX-License-Identifier: MIT */
/* The cost of the kernel's part in synchronization. */
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>

#include "core/membarrier.hpp"
#include "costs/rows.hpp"

namespace bench::costs {
namespace {

long futex(const std::atomic<std::uint32_t> &word, int operation, std::uint32_t value)
{
    return syscall(SYS_futex, &word, operation | FUTEX_PRIVATE_FLAG, value, nullptr, nullptr, 0);
}

/* ---- membarrier ------------------------------------------------------------------------------ */

std::string why_no_membarrier()
{
    if (switched_off("PAWL_NO_MEMBARRIER"))
        return "switched off by PAWL_NO_MEMBARRIER";
    const long offered = syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0);
    if (offered < 0)
        return std::string("this kernel has no membarrier (") + std::strerror(errno) + ")";
    if ((offered & MEMBARRIER_CMD_PRIVATE_EXPEDITED) == 0)
        return "this kernel has no expedited membarrier";
    if (syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) != 0)
        return std::string("membarrier was refused (") + std::strerror(errno) + ")";
    return "";
}

/* Every other CPU runs a thread of this process, which the kernel must interrupt. */
measured membarrier_busy(world &w)
{
    std::atomic<bool> over{false};
    std::atomic<unsigned> spinning{0};
    std::vector<worker *> others;
    for (const unsigned cpu : w.cpus)
        if (cpu != w.first)
            others.push_back(&w.threads.on(cpu));
    for (worker *other : others)
        other->start([&] {
            spinning.fetch_add(1, std::memory_order_relaxed);
            while (!over.load(std::memory_order_relaxed))
                ;
        });
    worker &here = w.threads.on(w.first);
    measured m;
    here.start([&] {
        while (spinning.load(std::memory_order_relaxed) < others.size())
            ;
        m = repeat_op(w.seconds, 16, send_membarrier<MEMBARRIER_CMD_PRIVATE_EXPEDITED>);
    });
    /* Even after an exception here, the others must end before this frame does. */
    std::exception_ptr failure;
    try {
        here.wait();
    } catch (...) {
        failure = std::current_exception();
    }
    over.store(true, std::memory_order_relaxed);
    for (worker *other : others)
        other->wait();
    if (failure)
        std::rethrow_exception(failure);
    return m;
}

/* ---- futex ----------------------------------------------------------------------------------- */

/* Time for the sleeper to fall asleep deeply enough, as far as possible. An idle CPU enters its
 * first idle state within a few microseconds. */
constexpr double settle = 30e-6;

struct wake_times {
    std::vector<double> call, latency;
};

/* One thread sleeps, on the near CPU; the other wakes it. A wake counts when the kernel reports
 * a woken thread: only then was there a sleeper. */
wake_times wake_a_sleeper(world &w)
{
    std::atomic<std::uint32_t> word{0};
    std::atomic<double> awake{0};
    std::atomic<std::uint32_t> ready{0}, done{0};
    std::atomic<bool> over{false};
    wake_times times;
    w.threads.both(
        w.threads.on(w.first),
        [&] {
            const deadline end(w.seconds);
            /* Rounds count too: the kernel may never have seen a sleeper. */
            const auto done_with = [&](std::size_t rounds) {
                return end.over(std::max(times.call.size(), rounds / 64));
            };
            for (std::uint32_t round = 1; !done_with(round); round++) {
                while (ready.load(std::memory_order_acquire) != round)
                    ;
                for (const double until = now() + settle; now() < until;)
                    ;
                const double start = now();
                word.store(round, std::memory_order_release);
                const bool woken = futex(word, FUTEX_WAKE, 1) == 1;
                const double returned = now();
                while (done.load(std::memory_order_acquire) != round)
                    ;
                if (woken) {
                    times.call.push_back(returned - start);
                    times.latency.push_back(awake.load(std::memory_order_relaxed) - start);
                }
            }
            over.store(true, std::memory_order_relaxed);
            word.store(UINT_MAX, std::memory_order_release);
            futex(word, FUTEX_WAKE, 1);
        },
        w.threads.on(w.near),
        [&] {
            for (std::uint32_t round = 1;; round++) {
                ready.store(round, std::memory_order_release);
                while (word.load(std::memory_order_acquire) == round - 1)
                    futex(word, FUTEX_WAIT, round - 1);
                awake.store(now(), std::memory_order_relaxed);
                if (over.load(std::memory_order_relaxed))
                    return;
                done.store(round, std::memory_order_release);
            }
        });
    if (times.call.empty() && !interrupted)
        throw std::runtime_error("No sleeper was woken in a whole sample.");
    return times;
}

measured one_of(std::vector<double> &times)
{
    return {1, times.empty() ? 1 : median(times), json::object()};
}

/* Two threads on one CPU hand a word to each other: the thread that gives it away sleeps. */
measured context_switch(world &w)
{
    constexpr std::uint32_t handovers = 64;
    std::atomic<std::uint32_t> turn{0};
    std::atomic<bool> over{false};
    const auto wait_for = [&](std::uint32_t who) {
        while (turn.load(std::memory_order_acquire) != who)
            futex(turn, FUTEX_WAIT, 1 - who);
    };
    const auto give_to = [&](std::uint32_t who) {
        turn.store(who, std::memory_order_release);
        futex(turn, FUTEX_WAKE, 1);
    };
    measured m;
    w.threads.both(
        w.threads.on(w.first),
        [&] {
            m = repeat(w.seconds, 2 * handovers, [&] {
                const double start = now();
                for (std::uint32_t i = 0; i < handovers; i++) {
                    give_to(1);
                    wait_for(0);
                }
                return now() - start;
            });
            over.store(true, std::memory_order_relaxed);
            give_to(1);
        },
        w.threads.on(w.first, 1),
        [&] {
            for (;;) {
                wait_for(1);
                if (over.load(std::memory_order_relaxed))
                    return;
                give_to(0);
            }
        });
    return m;
}

/* ---- Signals --------------------------------------------------------------------------------- */

thread_local volatile std::sig_atomic_t delivered;

measured signal_to_self(world &w)
{
    struct sigaction action = {}, before;
    action.sa_handler = [](int) { delivered = delivered + 1; };
    sigemptyset(&action.sa_mask);
    sigaction(SIGUSR1, &action, &before);
    measured m;
    w.threads.alone(w.first, [&] {
        sigset_t one, old;
        sigemptyset(&one);
        sigaddset(&one, SIGUSR1);
        pthread_sigmask(SIG_UNBLOCK, &one, &old);
        m = repeat_op(w.seconds, 16, [] {
            const int seen = delivered;
            pthread_kill(pthread_self(), SIGUSR1);
            if (delivered == seen)
                throw std::runtime_error("A signal to the thread itself did not arrive.");
        });
        pthread_sigmask(SIG_SETMASK, &old, nullptr);
    });
    sigaction(SIGUSR1, &before, nullptr);
    return m;
}

} // namespace

void add_kernel(rows &all, const world &w)
{
    const std::string barrier = why_no_membarrier();
    const std::string two = w.has_two() ? "" : needs_two_cpus;
    static std::atomic<std::uint32_t> nobody{0};
    add(all, "system_call", "kernel", "", on_first(64, [] { syscall(SYS_getppid); }));
    add(all, "membarrier_idle", "kernel", barrier,
        on_first(16, send_membarrier<MEMBARRIER_CMD_PRIVATE_EXPEDITED>));
    add(all, "membarrier_busy", "kernel", barrier.empty() ? two : barrier, membarrier_busy);
    add(all, "futex_wake_nobody", "kernel", "", on_first(64, [] { futex(nobody, FUTEX_WAKE, 1); }));
    add(all, "futex_wake_sleeper", "kernel", two, [](world &world) {
        wake_times times = wake_a_sleeper(world);
        return one_of(times.call);
    });
    add(all, "wake_latency", "kernel", two, [](world &world) {
        wake_times times = wake_a_sleeper(world);
        return one_of(times.latency);
    });
    add(all, "context_switch", "kernel", "", context_switch);
    add(all, "signal", "kernel", "", signal_to_self);
}

} // namespace bench::costs
