// SPDX-License-Identifier: MIT
//
// Times of <chrono> as deadlines of the functions in C. A long double holds each nanosecond of any
// clock, and no unit overflows it.
#ifndef PAWL_DETAIL_DEADLINE_HPP
#define PAWL_DETAIL_DEADLINE_HPP

#include <pawl/wait.h>

#include <chrono>
#include <cstdint>

namespace pawl {
PAWL_INLINE_BEGIN

using nanoseconds_ = std::chrono::duration<long double, std::nano>;

// So many nanoseconds from now. NaN is in the past, centuries are for ever.
inline std::uint64_t deadline_in_(nanoseconds_ left)
{
    if (!(left.count() > 0))
        return 0;
    return left.count() < 9e18L ? pawl_now() + static_cast<std::uint64_t>(left.count()) + 1
                                : PAWL_WAIT_FOREVER;
}

// The time left until a point of any clock.
template <class Clock, class Duration>
nanoseconds_ left_until_(const std::chrono::time_point<Clock, Duration> &when)
{
    return nanoseconds_(when.time_since_epoch()) - nanoseconds_(Clock::now().time_since_epoch());
}

// The timed forms of a try, over a function whose last argument is a deadline. Another clock may be
// set meanwhile, or run slower.
#define PAWL_TIMED_(name, attribute, function, ...)                                                \
    template <class Rep, class Period>                                                             \
    [[nodiscard]] PAWL_ALWAYS_INLINE_ bool name##_for(                                             \
        const std::chrono::duration<Rep, Period> &time) attribute                                  \
    {                                                                                              \
        return function(__VA_ARGS__, deadline_in_(time));                                          \
    }                                                                                              \
    template <class Clock, class Duration>                                                         \
    [[nodiscard]] PAWL_ALWAYS_INLINE_ bool name##_until(                                           \
        const std::chrono::time_point<Clock, Duration> &when) attribute                            \
    {                                                                                              \
        for (;;) {                                                                                 \
            const nanoseconds_ left = left_until_(when);                                           \
            if (function(__VA_ARGS__, deadline_in_(left)))                                         \
                return true;                                                                       \
            if (!(left.count() > 0))                                                               \
                return false;                                                                      \
        }                                                                                          \
    }

PAWL_INLINE_END
} // namespace pawl

#endif
