/* SPDX-License-Identifier: MIT */
/*
 * BRAVO, written from its paper: D. Dice, A. Kogan, "BRAVO: Biased Locking for Reader-Writer
 * Locks", USENIX ATC 2019. It wraps a lock, here one of the C library's, and shares one table of
 * 4,096 slots among all locks of the process.
 *
 *   reader   while the lock is biased: claims the slot of (lock, thread) by compare-exchange, and
 *            stays if the lock still is. Else it takes the lock below, and biases it where that is
 *            not inhibited.
 *   writer   takes the lock below. If the lock is biased: ends that, waits until no slot names it,
 *            and inhibits bias for nine times as long as this took.
 */
#pragma once

#include <atomic>
#include <cstdint>
#include <ctime>

#include "adapters/pthread.hpp"

namespace adapter {

constexpr unsigned bravo_slots = 4096, bravo_times = 9;
inline std::atomic<const void *> bravo_table[bravo_slots];
/* The slot of the one lock that the thread reads through it. Its address names the thread. */
inline thread_local std::atomic<const void *> *bravo_held;

inline std::uint64_t bravo_now()
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return static_cast<std::uint64_t>(t.tv_sec) * 1000000000U +
           static_cast<std::uint64_t>(t.tv_nsec);
}

template <class Below> struct bravo {
    Below below;
    std::atomic<bool> biased{false};
    std::atomic<std::uint64_t> inhibited_until{0};

    std::atomic<const void *> &slot() const
    {
        const std::uint64_t both = reinterpret_cast<std::uintptr_t>(this) * 31 +
                                   reinterpret_cast<std::uintptr_t>(&bravo_held);
        return bravo_table[(both * UINT64_C(0x9E3779B97F4A7C15)) >> 52];
    }
    void take_read()
    {
        if (biased.load(std::memory_order_relaxed)) {
            std::atomic<const void *> &mine = slot();
            const void *none = nullptr;
            if (mine.compare_exchange_strong(none, this)) {
                if (biased.load(std::memory_order_seq_cst)) {
                    bravo_held = &mine;
                    return;
                }
                mine.store(nullptr, std::memory_order_release);
            }
        }
        below.take_read();
        bravo_held = nullptr;
        if (!biased.load(std::memory_order_relaxed) &&
            bravo_now() >= inhibited_until.load(std::memory_order_relaxed))
            biased.store(true, std::memory_order_seq_cst);
    }
    void drop_read()
    {
        if (bravo_held)
            bravo_held->store(nullptr, std::memory_order_release);
        else
            below.drop_read();
    }
    void take_write()
    {
        below.take_write();
        if (!biased.load(std::memory_order_relaxed))
            return;
        biased.store(false, std::memory_order_seq_cst);
        const std::uint64_t began = bravo_now();
        std::atomic_thread_fence(std::memory_order_seq_cst);
        for (std::atomic<const void *> &one : bravo_table)
            while (one.load(std::memory_order_acquire) == this)
                relax();
        const std::uint64_t now = bravo_now();
        inhibited_until.store(now + (now - began) * bravo_times, std::memory_order_relaxed);
    }
    void drop_write() { below.drop_write(); }

  private:
    static void relax()
    {
#if defined(__x86_64__) || defined(__i386__)
        __builtin_ia32_pause();
#endif
    }
};
using bravo_pthread_rwlock = bravo<pthread_rwlock>;

} // namespace adapter
