/* SPDX-License-Identifier: MIT */
/* Reading the clock, and sleeping by it. */
#pragma once

#include <cerrno>
#include <cstdint>
#include <ctime>

namespace bench {

inline double seconds_of(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

inline std::uint64_t now_ns()
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return static_cast<std::uint64_t>(t.tv_sec) * 1000000000U +
           static_cast<std::uint64_t>(t.tv_nsec);
}

inline struct timespec timespec_of(std::uint64_t ns)
{
    return {static_cast<time_t>(ns / 1000000000U), static_cast<long>(ns % 1000000000U)};
}

/* Sleeps until `ns` of CLOCK_MONOTONIC, even if signals arrive. */
inline void sleep_until(std::uint64_t ns)
{
    const struct timespec when = timespec_of(ns);
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &when, nullptr) == EINTR)
        ;
}

} // namespace bench
