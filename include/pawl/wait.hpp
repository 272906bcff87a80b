// SPDX-License-Identifier: MIT
//
// C++20's waits on atomic objects, with deadlines, for C++17: over wait.h, where the contracts are.
// No thread polls, whatever the size of the object, and no wake is lost.
//
//   pawl::atomic_wait(&a, old)                   until a holds another value
//   pawl::atomic_wait_for(&a, old, duration)     true: it does; false: the time was over
//   pawl::atomic_wait_until(&a, old, time)       the same, for a point of any clock
//   pawl::atomic_notify_one(&a), _all(&a)        after the store
//
// `a` is a std::atomic<T>, lock-free, of 1, 2, 4 or 8 bytes. From C++20 on it may be a T itself,
// which all threads access by std::atomic_ref. Values are compared bit by bit, so a T has no
// padding. The last argument of a wait is the order of its loads, seq_cst as in the standard. These
// waits and std::atomic's own do not meet: wait and notify by one of both. Not for signal handlers.
#ifndef PAWL_WAIT_HPP
#define PAWL_WAIT_HPP

#include <pawl/detail/cxx17.inc.h>
#if PAWL_CXX17_

#include <pawl/detail/deadline.hpp>

#include <atomic>
#include <cstring>
#include <type_traits>
#include <utility>

namespace pawl {
inline namespace PAWL_NAMESPACE_ {

template <std::size_t bytes> struct wait_word_ {
    static_assert(bytes == 0, "a wait needs an object of 1, 2, 4 or 8 bytes");
    using word = std::uint8_t;
    static pawl_waited wait(const void *, word, std::uint64_t) noexcept;
};
#define PAWL_WAIT_WORD_(bytes, type, function)                                                     \
    template <> struct wait_word_<bytes> {                                                         \
        using word = type;                                                                         \
        static pawl_waited wait(const void *at, word old, std::uint64_t deadline) noexcept         \
        {                                                                                          \
            return function(static_cast<const word *>(at), old, deadline);                         \
        }                                                                                          \
    };
PAWL_WAIT_WORD_(1, std::uint8_t, pawl_wait8_until)
PAWL_WAIT_WORD_(2, std::uint16_t, pawl_wait16_until)
PAWL_WAIT_WORD_(4, std::uint32_t, pawl_wait32_until)
PAWL_WAIT_WORD_(8, std::uint64_t, pawl_wait64_until)
#undef PAWL_WAIT_WORD_

template <class T> T load_(const std::atomic<T> *a, std::memory_order order) noexcept
{
    static_assert(sizeof(std::atomic<T>) == sizeof(T) && std::atomic<T>::is_always_lock_free,
                  "a wait needs an atomic object that is lock-free and no larger than its value");
    return a->load(order);
}
#if defined(__cpp_lib_atomic_ref)
template <class T> T load_(const T *object, std::memory_order order) noexcept
{
    return std::atomic_ref<T>(const_cast<T &>(*object)).load(order);
}
#endif

// The type that an object holds, which `old` is converted to.
template <class A>
using held_ = decltype(load_(std::declval<const A *>(), std::memory_order_relaxed));

template <class A, class Deadline>
bool wait_(const A *a, held_<A> old, const Deadline &left, std::memory_order order)
{
    using T = held_<A>;
    static_assert(std::is_trivially_copyable_v<T> &&
                      (std::has_unique_object_representations_v<T> || std::is_floating_point_v<T>),
                  "a wait compares bits: the type must have no padding");
    using bits = wait_word_<sizeof(T)>;
    typename bits::word wanted;
    std::memcpy(&wanted, &old, sizeof wanted);
    for (;;) {
        const T now = load_(a, order);
        if (std::memcmp(&now, &old, sizeof now) != 0)
            return true;
        const std::uint64_t deadline = left();
        if (deadline == 0)
            return false;
        (void)bits::wait(a, wanted, deadline);
    }
}

template <class A>
void atomic_wait(const A *a, held_<A> old, std::memory_order order = std::memory_order_seq_cst)
{
    (void)wait_(a, old, [] { return PAWL_WAIT_FOREVER; }, order);
}

// Clocks that are set, or run slower than the monotonic one, are looked at again.
template <class A, class Clock, class Duration>
[[nodiscard]] bool atomic_wait_until(const A *a, held_<A> old,
                                     const std::chrono::time_point<Clock, Duration> &when,
                                     std::memory_order order = std::memory_order_seq_cst)
{
    return wait_(a, old, [&] { return deadline_in_(left_until_(when)); }, order);
}

template <class A, class Rep, class Period>
[[nodiscard]] bool atomic_wait_for(const A *a, held_<A> old,
                                   const std::chrono::duration<Rep, Period> &time,
                                   std::memory_order order = std::memory_order_seq_cst)
{
    const std::uint64_t deadline = deadline_in_(time);
    return wait_(a, old, [=] { return deadline > pawl_now() ? deadline : 0; }, order);
}

template <class A> void atomic_notify_one(const A *a) noexcept
{
    (void)pawl_wake_one(a);
}

template <class A> void atomic_notify_all(const A *a) noexcept
{
    (void)pawl_wake_all(a);
}

} // namespace PAWL_NAMESPACE_
} // namespace pawl

#endif
#endif
