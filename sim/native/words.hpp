/* SPDX-License-Identifier: MIT */
/* The operations of simulated/words.hpp on the host itself. */
#pragma once

#include <ctime>

#include <cstdint>

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace sim {

template <class Word> Word load(const Word *p)
{
    return __atomic_load_n(p, __ATOMIC_ACQUIRE);
}

template <class Word> void store(Word *p, Word value)
{
    __atomic_store_n(p, value, __ATOMIC_RELEASE);
}

template <class Word> Word add(Word *p, Word n)
{
    return __atomic_fetch_add(p, n, __ATOMIC_ACQ_REL);
}

template <class Word> Word set_bits(Word *p, Word bits)
{
    return __atomic_fetch_or(p, bits, __ATOMIC_ACQ_REL);
}

template <class Word> Word clear_bits(Word *p, Word bits)
{
    return __atomic_fetch_and(p, static_cast<Word>(~bits), __ATOMIC_ACQ_REL);
}

template <class Word> Word exchange(Word *p, Word value)
{
    return __atomic_exchange_n(p, value, __ATOMIC_ACQ_REL);
}

template <class Word> Word cas(Word *p, Word expected, Word value)
{
    (void)__atomic_compare_exchange_n(p, &expected, value, false, __ATOMIC_ACQ_REL,
                                      __ATOMIC_ACQUIRE);
    return expected;
}

inline void full_fence()
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

template <class Word, class Accept> Word poll(const Word *p, unsigned relaxes, Accept accept)
{
    for (;;) {
        const Word value = load(p);
        if (accept(value))
            return value;
        for (unsigned i = 0; i < relaxes; i++)
            __builtin_ia32_pause();
    }
}

inline void relax(unsigned hints)
{
    while (hints-- > 0)
        __builtin_ia32_pause();
}

inline void yield()
{
    (void)sched_yield();
}

inline void sleep_while(const std::uint32_t *p, std::uint32_t value)
{
    (void)syscall(SYS_futex, p, FUTEX_WAIT_PRIVATE, value, nullptr, nullptr, 0);
}

inline void wake(const std::uint32_t *p, unsigned count)
{
    (void)syscall(SYS_futex, p, FUTEX_WAKE_PRIVATE, count, nullptr, nullptr, 0);
}

inline std::uint64_t clock_now()
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return static_cast<std::uint64_t>(t.tv_sec) * 1000000000U +
           static_cast<std::uint64_t>(t.tv_nsec);
}

} // namespace sim
