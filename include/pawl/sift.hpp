// SPDX-License-Identifier: MIT
//
// sift.h for C++17. pawl::sift meets the SharedTimedMutex requirements for threads: unique_lock,
// shared_lock, scoped_lock of std hold it. Readers of other contexts use pawl::sift_read_guard, or
// std::unique_lock on a pawl::sift_reader. Include pawl.hpp, or this.
#ifndef PAWL_SIFT_HPP
#define PAWL_SIFT_HPP

#include <pawl/detail/cxx17.inc.h>
#if PAWL_CXX17_

#include <pawl/detail/deadline.hpp>
#include <pawl/sift.h>

namespace pawl {
PAWL_INLINE_BEGIN

// Keeps a call from becoming a jump, so that the checking variant's call sites are the user's.
#if PAWL_CHECKED
#define PAWL_SIFT_STAY_() __asm__ __volatile__("")
#else
#define PAWL_SIFT_STAY_() ((void)0)
#endif
#define PAWL_SIFT_FACE_ PAWL_ALWAYS_INLINE_

// The readers of one context of one lock, as a TimedLockable (for threads also as a
// SharedTimedMutex). A view: it holds nothing, and each use may make a new one.
class sift_reader {
  public:
    sift_reader(pawl_sift &lock, enum pawl_sift_context context) noexcept
        : lock_(&lock), context_(context)
    {
    }
    PAWL_SIFT_FACE_ void lock()
    {
        pawl_sift_take_read(lock_, context_);
        PAWL_SIFT_STAY_();
    }
    [[nodiscard]] PAWL_SIFT_FACE_ bool try_lock()
    {
        const bool ok = pawl_sift_try_read(lock_, context_);
        PAWL_SIFT_STAY_();
        return ok;
    }
    PAWL_SIFT_FACE_ void unlock()
    {
        pawl_sift_drop_read(lock_, context_);
        PAWL_SIFT_STAY_();
    }
    PAWL_TIMED_(try_lock, , pawl_sift_take_read_until, lock_, context_)

  private:
    pawl_sift *lock_;
    enum pawl_sift_context context_;
};

class sift {
  public:
    using native_handle_type = pawl_sift *;

    // Read and written by threads.
    sift() noexcept : lock_(), error_(pawl_sift_init(&lock_, nullptr)) {}
    // Throws nothing. A use that pawl_sift_init refuses makes a lock for threads, and error()
    // returns the reason; other contexts must not use such a lock.
    explicit sift(const pawl_sift_use &use) noexcept : lock_(), error_(pawl_sift_init(&lock_, &use))
    {
    }
    sift(const sift &) = delete;
    sift &operator=(const sift &) = delete;
    PAWL_SIFT_FACE_ ~sift()
    {
        pawl_sift_destroy(&lock_);
        PAWL_SIFT_STAY_();
    }
    [[nodiscard]] int error() const noexcept { return error_; }

    // W
    PAWL_SIFT_FACE_ void lock()
    {
        pawl_sift_take_write(&lock_);
        PAWL_SIFT_STAY_();
    }
    [[nodiscard]] PAWL_SIFT_FACE_ bool try_lock()
    {
        const bool ok = pawl_sift_try_write(&lock_);
        PAWL_SIFT_STAY_();
        return ok;
    }
    PAWL_SIFT_FACE_ void unlock()
    {
        pawl_sift_drop_write(&lock_);
        PAWL_SIFT_STAY_();
    }
    PAWL_TIMED_(try_lock, , pawl_sift_take_write_until, &lock_)
    // R, by threads
    PAWL_SIFT_FACE_ void lock_shared()
    {
        pawl_sift_take_read(&lock_, PAWL_SIFT_THREAD);
        PAWL_SIFT_STAY_();
    }
    [[nodiscard]] PAWL_SIFT_FACE_ bool try_lock_shared()
    {
        const bool ok = pawl_sift_try_read(&lock_, PAWL_SIFT_THREAD);
        PAWL_SIFT_STAY_();
        return ok;
    }
    PAWL_SIFT_FACE_ void unlock_shared()
    {
        pawl_sift_drop_read(&lock_, PAWL_SIFT_THREAD);
        PAWL_SIFT_STAY_();
    }
    PAWL_TIMED_(try_lock_shared, , pawl_sift_take_read_until, &lock_, PAWL_SIFT_THREAD)
    // R, by others
    [[nodiscard]] sift_reader reader(enum pawl_sift_context context) noexcept
    {
        return sift_reader(lock_, context);
    }

    // For the functions of sift.h.
    [[nodiscard]] native_handle_type native_handle() noexcept { return &lock_; }

  private:
    pawl_sift lock_;
    int error_;
};

// R for a scope: in a handler, say. Async-signal-safe in the handlers' contexts.
class sift_read_guard {
  public:
    [[nodiscard]] PAWL_SIFT_FACE_ sift_read_guard(sift &lock, enum pawl_sift_context context)
        : reader_(lock.reader(context))
    {
        reader_.lock();
    }
    sift_read_guard(const sift_read_guard &) = delete;
    sift_read_guard &operator=(const sift_read_guard &) = delete;
    PAWL_SIFT_FACE_ ~sift_read_guard() { reader_.unlock(); }

  private:
    sift_reader reader_;
};

#undef PAWL_SIFT_STAY_
#undef PAWL_SIFT_FACE_

PAWL_INLINE_END
} // namespace pawl

#endif
#endif
