// SPDX-License-Identifier: MIT
//
// brlock.h for C++17: pawl::brlock meets the SharedTimedMutex requirements (std::unique_lock,
// std::shared_lock, std::scoped_lock). For its seek state it has Boost's UpgradeLockable names.
// Include pawl.hpp, or this.
#ifndef PAWL_BRLOCK_HPP
#define PAWL_BRLOCK_HPP

#include <pawl/detail/cxx17.inc.h>
#if PAWL_CXX17_

#include <pawl/brlock.h>
#include <pawl/detail/deadline.hpp>

namespace pawl {
PAWL_INLINE_BEGIN

// Keeps a call from becoming a jump, so that the checking variant's call sites are the user's.
#if PAWL_CHECKED
#define PAWL_BRLOCK_STAY_() __asm__ __volatile__("")
#else
#define PAWL_BRLOCK_STAY_() ((void)0)
#endif
#define PAWL_BRLOCK_FACE_ PAWL_ALWAYS_INLINE_

class brlock {
  public:
    using native_handle_type = pawl_brlock *;

    // `lines` as for pawl_brlock_init. Throws nothing. Without memory, or with a number that init
    // refuses, the lock works by its shared counter, and error() returns the reason.
    explicit brlock(uint32_t lines = PAWL_BRLOCK_LINES) noexcept
        : error_(pawl_brlock_init(&lock_, lines))
    {
    }
    brlock(const brlock &) = delete;
    brlock &operator=(const brlock &) = delete;
    PAWL_BRLOCK_FACE_ ~brlock()
    {
        pawl_brlock_destroy(&lock_);
        PAWL_BRLOCK_STAY_();
    }
    [[nodiscard]] int error() const noexcept { return error_; }

#define PAWL_BRLOCK_CALL_(name, operation)                                                         \
    PAWL_BRLOCK_FACE_ void name()                                                                  \
    {                                                                                              \
        pawl_brlock_##operation(&lock_);                                                           \
        PAWL_BRLOCK_STAY_();                                                                       \
    }
#define PAWL_BRLOCK_TRY_(name, operation)                                                          \
    [[nodiscard]] PAWL_BRLOCK_FACE_ bool name()                                                    \
    {                                                                                              \
        const bool ok = pawl_brlock_##operation(&lock_);                                           \
        PAWL_BRLOCK_STAY_();                                                                       \
        return ok;                                                                                 \
    }

    // W
    PAWL_BRLOCK_CALL_(lock, take_write)
    PAWL_BRLOCK_CALL_(unlock, drop_write)
    PAWL_BRLOCK_TRY_(try_lock, try_write)
    PAWL_TIMED_(try_lock, , pawl_brlock_take_write_until, &lock_)
    // R
    PAWL_BRLOCK_CALL_(lock_shared, take_read)
    PAWL_BRLOCK_CALL_(unlock_shared, drop_read)
    PAWL_BRLOCK_TRY_(try_lock_shared, try_read)
    PAWL_TIMED_(try_lock_shared, , pawl_brlock_take_read_until, &lock_)
    // S
    PAWL_BRLOCK_CALL_(lock_upgrade, take_seek)
    PAWL_BRLOCK_CALL_(unlock_upgrade, drop_seek)
    PAWL_BRLOCK_TRY_(try_lock_upgrade, try_seek)
    PAWL_TIMED_(try_lock_upgrade, , pawl_brlock_take_seek_until, &lock_)
    // From one to the next
    PAWL_BRLOCK_CALL_(unlock_upgrade_and_lock, seek_to_write)
    PAWL_BRLOCK_CALL_(unlock_and_lock_upgrade, write_to_seek)
    PAWL_BRLOCK_CALL_(unlock_and_lock_shared, write_to_read)
    PAWL_BRLOCK_CALL_(unlock_upgrade_and_lock_shared, seek_to_read)
    PAWL_BRLOCK_TRY_(try_unlock_upgrade_and_lock, try_seek_to_write)
    PAWL_TIMED_(try_unlock_upgrade_and_lock, , pawl_brlock_seek_to_write_until, &lock_)
    PAWL_BRLOCK_TRY_(try_unlock_shared_and_lock_upgrade, try_read_to_seek)

#undef PAWL_BRLOCK_CALL_
#undef PAWL_BRLOCK_TRY_

    // For the functions of brlock.h.
    [[nodiscard]] native_handle_type native_handle() noexcept { return &lock_; }

  private:
    pawl_brlock lock_;
    int error_;
};

#undef PAWL_BRLOCK_STAY_
#undef PAWL_BRLOCK_FACE_

PAWL_INLINE_END
} // namespace pawl

#endif
#endif
