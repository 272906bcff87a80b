// SPDX-License-Identifier: MIT
//
// Locks for memory that processes share, for C++17: the locks of pshared.h and robust.h under the
// names of pawl.hpp. No logic of its own.
//
//   pshared_lock32, pshared_lock64
//         all names of pawl::lock but assert_held_*, so those of std::shared_timed_mutex too; the
//         guards of pawl.hpp, of the standard library and of Boost hold them
//   robust_read_guard, robust_seek_guard, robust_write_guard, robust_atomic_guard
//         hold a pawl_robust_lock for a scope and tell how the take ended
//
// Both kinds consist of the bytes in the memory alone: no address, no virtual function. Zero bytes
// construct them (robust: pawl_robust_lock_init), and nothing destroys them. So a program may map
// the file and use the locks in it, and so may a program in C.
#ifndef PAWL_PSHARED_HPP
#define PAWL_PSHARED_HPP

#include <pawl/detail/cxx17.inc.h>
#if PAWL_CXX17_

#include <pawl/pawl.hpp>
#include <pawl/robust.h>
#include <pawl/pshared.h>

#include <cstddef>
#include <type_traits>

// Found by argument-dependent lookup, for guards of the plain structures that C programs share.
PAWL_INLINE_BEGIN
// clang-format off
inline pawl_pshared_lock32 *handle_of_(pawl_pshared_lock32 &l) { return &l; }
inline pawl_pshared_lock64 *handle_of_(pawl_pshared_lock64 &l) { return &l; }
// clang-format on
PAWL_INLINE_END

namespace pawl {
PAWL_INLINE_BEGIN

// `Word` is pawl_pshared_lock32 or pawl_pshared_lock64.
template <class Word>
class PAWL_TSA_CAPABILITY("progressive lock") basic_pshared_lock
    : public basic_sleeping_lock<Word> {
  public:
    constexpr basic_pshared_lock() noexcept = default;

    // The lock uses these bits itself, and the checking variant does not watch it.
    void bits() const = delete;
    void set_bits(unsigned) = delete;
    void clear_bits(unsigned) = delete;
    void assert_held_read() const = delete;
    void assert_held_seek() const = delete;
    void assert_held_write() const = delete;
    void assert_held_atomic() const = delete;
};

using pshared_lock32 = basic_pshared_lock<pawl_pshared_lock32>;
using pshared_lock64 = basic_pshared_lock<pawl_pshared_lock64>;
using pshared_lock = pshared_lock64; // 64 bits, like lock and spin_lock

// The conditions for a type in memory that programs share: the same bytes for all, and no need for
// a constructor, a destructor or an address of one program.
template <class Lock>
inline constexpr bool lies_in_shared_memory_v =
    std::is_standard_layout_v<Lock> && !std::is_polymorphic_v<Lock> &&
    (PAWL_CHECKED || std::is_trivially_destructible_v<Lock>);

static_assert(lies_in_shared_memory_v<pshared_lock32>);
static_assert(lies_in_shared_memory_v<pshared_lock64>);
static_assert(lies_in_shared_memory_v<pawl_robust_lock>);
static_assert(!std::is_copy_constructible_v<pshared_lock32>);
static_assert(!std::is_copy_assignable_v<pshared_lock64>);
// Two integers each, and no room for an address.
static_assert(sizeof(pshared_lock32) == 8 && alignof(pshared_lock32) == 4);
static_assert(sizeof(pshared_lock64) == 16 && alignof(pshared_lock64) == 8);
static_assert(offsetof(pawl_pshared_lock32, waits) == 4 &&
              offsetof(pawl_pshared_lock64, waits) == 8);
static_assert(sizeof(pawl_robust_lock) == 64 * (3 + PAWL_ROBUST_MEMBERS));
static_assert(alignof(pawl_robust_lock) == 64);

// ---- Robust guards ------------------------------------------------------------------------------

// if (pawl::robust_write_guard guard(lock); guard) {
//     if (guard.owner_died()) { repair(); guard.mark_consistent(); }
//     ...
// }
template <pawl_robust (*Take)(pawl_robust_lock *), pawl_robust (*Drop)(pawl_robust_lock *)>
class [[nodiscard]] robust_guard {
  public:
    [[nodiscard]] explicit robust_guard(pawl_robust_lock &l) noexcept : lock_(&l), how_(Take(lock_))
    {
    }
    robust_guard(const robust_guard &) = delete;
    robust_guard &operator=(const robust_guard &) = delete;
    ~robust_guard()
    {
        if (owns_lock())
            (void)Drop(lock_);
    }

    [[nodiscard]] pawl_robust how() const noexcept { return how_; }
    [[nodiscard]] bool owns_lock() const noexcept { return pawl_robust_held(how_); }
    explicit operator bool() const noexcept { return owns_lock(); }
    [[nodiscard]] bool owner_died() const noexcept { return how_ == PAWL_ROBUST_OWNER_DIED; }
    pawl_robust mark_consistent() noexcept { return pawl_robust_lock_consistent(lock_); }

  private:
    pawl_robust_lock *lock_;
    pawl_robust how_;
};

using robust_read_guard = robust_guard<pawl_robust_lock_take_read, pawl_robust_lock_drop_read>;
using robust_seek_guard = robust_guard<pawl_robust_lock_take_seek, pawl_robust_lock_drop_seek>;
using robust_write_guard = robust_guard<pawl_robust_lock_take_write, pawl_robust_lock_drop_write>;
using robust_atomic_guard =
    robust_guard<pawl_robust_lock_take_atomic, pawl_robust_lock_drop_atomic>;

PAWL_INLINE_END
} // namespace pawl

#endif
#endif
