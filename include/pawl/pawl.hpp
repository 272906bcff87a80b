// SPDX-License-Identifier: MIT
//
// Pawl for C++17: locks under the names that the standard library and Boost know, and guards that
// compile only the moves the lock has. No logic of its own: every function is one call of
// spin.h or lock.h.
//
//   spin_lock           lock, lock_shared, lock_upgrade and the like (std::unique_lock,
//                       std::shared_lock, std::scoped_lock, boost::upgrade_lock work on it)
//   lock                the same for the lock that sleeps, and try_lock_for, try_lock_until and
//                       the like (a SharedTimedMutex; std::condition_variable_any works on it)
//   read_guard  seek_guard  write_guard  atomic_guard
//                       hold the lock in that state for a scope and move from one to the next
//   two_read_guard  two_seek_guard  two_write_guard, take_two
//                       two locks, the one at the lower address first
//
// Guards hold a spin_lock, a lock, or a plain pawl_spin16/32/64 or pawl_lock32/64 that C code
// shares. All of it works in every variant of the library. doc/cxx.md has the table of names and
// what clang's -Wthread-safety and ThreadSanitizer see.
#ifndef PAWL_PAWL_HPP
#define PAWL_PAWL_HPP

#include <pawl/detail/cxx17.inc.h>
#if PAWL_CXX17_

#include <pawl/detail/deadline.hpp>
#include <pawl/pawl.h>

#include <cstdint>
#include <mutex>
#include <optional>
#include <type_traits>
#include <utility>

// ---- Clang's thread-safety attributes (nothing elsewhere) ---------------------------------------
// S counts as shared: it gives the right to read. The analysis knows no third kind.

#if defined(__clang__)
#define PAWL_ATTRIBUTE_(x) __attribute__((x))
#else
#define PAWL_ATTRIBUTE_(x)
#endif
#define PAWL_TSA_CAPABILITY(name) PAWL_ATTRIBUTE_(capability(name))
#define PAWL_TSA_SCOPED_CAPABILITY PAWL_ATTRIBUTE_(scoped_lockable)
#define PAWL_TSA_GUARDED_BY(...) PAWL_ATTRIBUTE_(guarded_by(__VA_ARGS__))
#define PAWL_TSA_PT_GUARDED_BY(...) PAWL_ATTRIBUTE_(pt_guarded_by(__VA_ARGS__))
#define PAWL_TSA_REQUIRES(...) PAWL_ATTRIBUTE_(requires_capability(__VA_ARGS__))
#define PAWL_TSA_REQUIRES_SHARED(...) PAWL_ATTRIBUTE_(requires_shared_capability(__VA_ARGS__))
#define PAWL_TSA_EXCLUDES(...) PAWL_ATTRIBUTE_(locks_excluded(__VA_ARGS__))
#define PAWL_TSA_ACQUIRE(...) PAWL_ATTRIBUTE_(acquire_capability(__VA_ARGS__))
#define PAWL_TSA_ACQUIRE_SHARED(...) PAWL_ATTRIBUTE_(acquire_shared_capability(__VA_ARGS__))
#define PAWL_TSA_RELEASE(...) PAWL_ATTRIBUTE_(release_capability(__VA_ARGS__))
#define PAWL_TSA_RELEASE_SHARED(...) PAWL_ATTRIBUTE_(release_shared_capability(__VA_ARGS__))
#define PAWL_TSA_RELEASE_ANY(...) PAWL_ATTRIBUTE_(release_generic_capability(__VA_ARGS__))
#define PAWL_TSA_TRY_ACQUIRE(...) PAWL_ATTRIBUTE_(try_acquire_capability(__VA_ARGS__))
#define PAWL_TSA_TRY_ACQUIRE_SHARED(...) PAWL_ATTRIBUTE_(try_acquire_shared_capability(__VA_ARGS__))
#define PAWL_TSA_ASSERT_CAPABILITY(...) PAWL_ATTRIBUTE_(assert_capability(__VA_ARGS__))
#define PAWL_TSA_ASSERT_SHARED_CAPABILITY(...)                                                     \
    PAWL_ATTRIBUTE_(assert_shared_capability(__VA_ARGS__))
#define PAWL_TSA_NOT_CHECKED PAWL_ATTRIBUTE_(no_thread_safety_analysis)

// Inlined always, so that the checking variant's call sites are the user's; and not analysed
// inside, where only the C functions are called, which the analysis does not know.
#define PAWL_FACE_ PAWL_ALWAYS_INLINE_ PAWL_TSA_NOT_CHECKED

namespace pawl {
PAWL_INLINE_BEGIN

// ---- The lock -----------------------------------------------------------------------------------

// `Word` is one of pawl_spin16/32/64 and pawl_lock32/64. Zero bytes are an unlocked lock here too.
template <class Word> class PAWL_TSA_CAPABILITY("progressive lock") basic_lock {
  public:
    using word_type = Word;
    using bits_type = decltype(Word::word);
    using native_handle_type = Word *;

    constexpr basic_lock() noexcept = default;
    basic_lock(const basic_lock &) = delete;
    basic_lock &operator=(const basic_lock &) = delete;
#if PAWL_CHECKED
    PAWL_FACE_ ~basic_lock() { pawl_destroy(&word_); }
#else
    // Trivial, so that destructors of static objects can use a static lock in any order.
    ~basic_lock() = default;
#endif

    // W
    PAWL_FACE_ void lock() PAWL_TSA_ACQUIRE() { pawl_take_write(&word_); }
    PAWL_FACE_ void unlock() PAWL_TSA_RELEASE() { pawl_drop_write(&word_); }
    [[nodiscard]] PAWL_FACE_ bool try_lock() PAWL_TSA_TRY_ACQUIRE(true)
    {
        return pawl_try_write(&word_);
    }
    [[nodiscard]] PAWL_FACE_ bool claim_lock() PAWL_TSA_TRY_ACQUIRE(true)
    {
        return pawl_claim_write(&word_);
    }

    // R
    PAWL_FACE_ void lock_shared() PAWL_TSA_ACQUIRE_SHARED() { pawl_take_read(&word_); }
    PAWL_FACE_ void unlock_shared() PAWL_TSA_RELEASE_SHARED() { pawl_drop_read(&word_); }
    [[nodiscard]] PAWL_FACE_ bool try_lock_shared() PAWL_TSA_TRY_ACQUIRE_SHARED(true)
    {
        return pawl_try_read(&word_);
    }

    // S
    PAWL_FACE_ void lock_upgrade() PAWL_TSA_ACQUIRE_SHARED() { pawl_take_seek(&word_); }
    PAWL_FACE_ void unlock_upgrade() PAWL_TSA_RELEASE_SHARED() { pawl_drop_seek(&word_); }
    [[nodiscard]] PAWL_FACE_ bool try_lock_upgrade() PAWL_TSA_TRY_ACQUIRE_SHARED(true)
    {
        return pawl_try_seek(&word_);
    }

    // A. Data that atomic users update are atomics, so to the analysis A is shared as well.
    PAWL_FACE_ void lock_atomic() PAWL_TSA_ACQUIRE_SHARED() { pawl_take_atomic(&word_); }
    PAWL_FACE_ void unlock_atomic() PAWL_TSA_RELEASE_SHARED() { pawl_drop_atomic(&word_); }
    [[nodiscard]] PAWL_FACE_ bool try_lock_atomic() PAWL_TSA_TRY_ACQUIRE_SHARED(true)
    {
        return pawl_try_atomic(&word_);
    }
    [[nodiscard]] PAWL_FACE_ bool claim_lock_atomic() PAWL_TSA_TRY_ACQUIRE_SHARED(true)
    {
        return pawl_claim_atomic(&word_);
    }

    // S -> W waits for readers; W -> S, W -> R and S -> R are at once.
    PAWL_FACE_ void unlock_upgrade_and_lock() PAWL_TSA_RELEASE_SHARED() PAWL_TSA_ACQUIRE()
    {
        pawl_seek_to_write(&word_);
    }
    PAWL_FACE_ void unlock_and_lock_upgrade() PAWL_TSA_RELEASE() PAWL_TSA_ACQUIRE_SHARED()
    {
        pawl_write_to_seek(&word_);
    }
    PAWL_FACE_ void unlock_and_lock_shared() PAWL_TSA_RELEASE() PAWL_TSA_ACQUIRE_SHARED()
    {
        pawl_write_to_read(&word_);
    }
    PAWL_FACE_ void unlock_upgrade_and_lock_shared() PAWL_TSA_REQUIRES_SHARED(this)
    {
        pawl_seek_to_read(&word_);
    }
    // A -> R. Compare with PAWL_REGAIN_KEPT; PAWL_REGAIN_LET_GO: look again.
    [[nodiscard]] PAWL_FACE_ pawl_regained unlock_atomic_and_lock_shared()
        PAWL_TSA_REQUIRES_SHARED(this)
    {
        return pawl_atomic_to_read(&word_);
    }

    // These may fail, and the first state is then still held. Drop the lock that R tried before
    // another try. The analysis cannot say "shared, or now exclusive": to it the state stays.
    [[nodiscard]] PAWL_FACE_ bool try_unlock_upgrade_and_lock() PAWL_TSA_REQUIRES_SHARED(this)
    {
        return pawl_try_seek_to_write(&word_);
    }
    [[nodiscard]] PAWL_FACE_ bool try_unlock_shared_and_lock() PAWL_TSA_REQUIRES_SHARED(this)
    {
        return pawl_try_read_to_write(&word_);
    }
    [[nodiscard]] PAWL_FACE_ bool unlock_shared_and_claim_lock() PAWL_TSA_REQUIRES_SHARED(this)
    {
        return pawl_read_claim_write(&word_);
    }
    [[nodiscard]] PAWL_FACE_ bool try_unlock_shared_and_lock_upgrade()
        PAWL_TSA_REQUIRES_SHARED(this)
    {
        return pawl_try_read_to_seek(&word_);
    }
    [[nodiscard]] PAWL_FACE_ bool try_unlock_shared_and_lock_atomic() PAWL_TSA_REQUIRES_SHARED(this)
    {
        return pawl_try_read_to_atomic(&word_);
    }
    [[nodiscard]] PAWL_FACE_ bool unlock_shared_and_claim_lock_atomic()
        PAWL_TSA_REQUIRES_SHARED(this)
    {
        return pawl_read_claim_atomic(&word_);
    }

    // The two application bits, held or not; set and clear return them as found. Not in lock.
    [[nodiscard]] PAWL_FACE_ bits_type bits() const { return pawl_bits(&word_); }
    PAWL_FACE_ bits_type set_bits(bits_type bits) { return pawl_set_bits(&word_, bits); }
    PAWL_FACE_ bits_type clear_bits(bits_type bits) { return pawl_clear_bits(&word_, bits); }

    // This thread holds the lock so: checked in the checking variant, believed by the analysis.
    PAWL_FACE_ void assert_held_write() const PAWL_TSA_ASSERT_CAPABILITY(this)
    {
        pawl_assert_held_write(&word_);
    }
    PAWL_FACE_ void assert_held_read() const PAWL_TSA_ASSERT_SHARED_CAPABILITY(this)
    {
        pawl_assert_held_read(&word_);
    }
    PAWL_FACE_ void assert_held_seek() const PAWL_TSA_ASSERT_SHARED_CAPABILITY(this)
    {
        pawl_assert_held_seek(&word_);
    }
    PAWL_FACE_ void assert_held_atomic() const PAWL_TSA_ASSERT_SHARED_CAPABILITY(this)
    {
        pawl_assert_held_atomic(&word_);
    }

    // For the functions of spin.h and lock.h.
    [[nodiscard]] PAWL_FACE_ Word *native_handle() noexcept { return &word_; }

  private:
    Word word_ = {};
};

template <class Word> using basic_spin_lock = basic_lock<Word>;
using spin_lock16 = basic_spin_lock<pawl_spin16>;
using spin_lock32 = basic_spin_lock<pawl_spin32>;
using spin_lock64 = basic_spin_lock<pawl_spin64>;
using spin_lock = spin_lock64; // 64 bits, like lock: limits that no program reaches

// ---- The lock that sleeps, with deadlines -------------------------------------------------------

// A reader that queued for S would keep out the writer that S becomes. So it tries again and again,
// at growing distances up to a millisecond, and others may come first.
template <class Word> bool read_to_seek_until_(Word *l, std::uint64_t deadline)
{
    const std::uint32_t nothing = 0;
    std::uint64_t pause = 1000;
    while (!pawl_try_read_to_seek(l)) {
        std::uint64_t until = pawl_now() + pause;
        if (until - pause >= deadline)
            return false;
        if (until > deadline)
            until = deadline;
        (void)pawl_wait32_until(&nothing, 0, until);
        pause += pause < 1000000 ? pause : 0;
    }
    return true;
}

#define PAWL_LOCK_TIMED_(name, attribute, function)                                                \
    PAWL_TIMED_(name, attribute PAWL_TSA_NOT_CHECKED, function, this->native_handle())

// Waits of any length, by sleeping; a SharedTimedMutex.
template <class Word>
class PAWL_TSA_CAPABILITY("progressive lock") basic_sleeping_lock : public basic_lock<Word> {
  public:
    PAWL_LOCK_TIMED_(try_lock, PAWL_TSA_TRY_ACQUIRE(true), pawl_take_write_until)
    PAWL_LOCK_TIMED_(try_lock_shared, PAWL_TSA_TRY_ACQUIRE_SHARED(true), pawl_take_read_until)
    PAWL_LOCK_TIMED_(try_lock_upgrade, PAWL_TSA_TRY_ACQUIRE_SHARED(true), pawl_take_seek_until)
    PAWL_LOCK_TIMED_(try_lock_atomic, PAWL_TSA_TRY_ACQUIRE_SHARED(true), pawl_take_atomic_until)
    // When these fail, the first state is still held.
    PAWL_LOCK_TIMED_(try_unlock_upgrade_and_lock, PAWL_TSA_REQUIRES_SHARED(this),
                     pawl_seek_to_write_until)
    PAWL_LOCK_TIMED_(try_unlock_shared_and_lock, PAWL_TSA_REQUIRES_SHARED(this),
                     pawl_read_claim_write_until)
    PAWL_LOCK_TIMED_(try_unlock_shared_and_lock_upgrade, PAWL_TSA_REQUIRES_SHARED(this),
                     read_to_seek_until_)
    PAWL_LOCK_TIMED_(try_unlock_shared_and_lock_atomic, PAWL_TSA_REQUIRES_SHARED(this),
                     pawl_read_claim_atomic_until)
};
#undef PAWL_LOCK_TIMED_

using lock32 = basic_sleeping_lock<pawl_lock32>;
using lock64 = basic_sleeping_lock<pawl_lock64>;

PAWL_INLINE_END
} // namespace pawl

#include <pawl/guards.hpp>

#include <pawl/brlock.hpp>
#include <pawl/cache.hpp>
#include <pawl/guarded.hpp>
#include <pawl/hazard.hpp>
#include <pawl/idtable.hpp>
#include <pawl/seq.hpp>
#include <pawl/sift.hpp>
#include <pawl/table.hpp>
#include <pawl/tree.hpp>

// Last, because parameters above are called lock.
namespace pawl {
PAWL_INLINE_BEGIN
using lock = lock64;
PAWL_INLINE_END
} // namespace pawl

#endif
#endif
