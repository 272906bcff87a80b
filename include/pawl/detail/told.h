/* SPDX-License-Identifier: MIT */
/*
 * A checker of data races is told this. Included in builds for ThreadSanitizer only; in other
 * builds nothing here exists.
 *
 * An operation runs hidden: the checker sees neither its accesses nor their order. So it makes no
 * difference whether the compiled halves were built for the checker. Clocks then state the order
 * that the operation promises. A clock is an address: a thread that gets it comes after all threads
 * that gave it before.
 *
 * A signal handler that runs inside a hidden operation is hidden too: races there stay unreported.
 */
#ifndef PAWL_TOLD_H
#define PAWL_TOLD_H

#include <pawl/atomic.h>

#if PAWL_TOLD_

#if PAWL_TSAN_
#include <sanitizer/tsan_interface.h>
#endif

PAWL_INLINE_BEGIN

#if PAWL_TSAN_

/* How ThreadSanitizer ignores a span of code: a try-lock that fails leaves no trace. */
#define PAWL_TOLD_IGNORE_ (__tsan_mutex_try_lock | __tsan_mutex_try_lock_failed)

/* The object of an operation is only named: it may be gone before told_show. */
PAWL_INLINE PAWL_ALWAYS_INLINE_ void ipawl_told_hide_(const void *object)
{
    __tsan_mutex_pre_lock((void *)(uintptr_t)object, PAWL_TOLD_IGNORE_);
}

PAWL_INLINE PAWL_ALWAYS_INLINE_ void ipawl_told_show_(const void *object)
{
    __tsan_mutex_post_lock((void *)(uintptr_t)object, PAWL_TOLD_IGNORE_, 0);
}

/* The sanitizer sees nothing at all of a hidden operation. */
PAWL_INLINE PAWL_ALWAYS_INLINE_ void ipawl_told_plain_(const void *object, size_t size)
{
    (void)object, (void)size;
}

PAWL_INLINE PAWL_ALWAYS_INLINE_ void ipawl_told_give_(const void *clock)
{
    __tsan_release((void *)(uintptr_t)clock);
}

PAWL_INLINE PAWL_ALWAYS_INLINE_ void ipawl_told_get_(const void *clock)
{
    __tsan_acquire((void *)(uintptr_t)clock);
}

#undef PAWL_TOLD_IGNORE_

#else /* Valgrind: src/os/valgrind.c */

PAWL_INLINE PAWL_ALWAYS_INLINE_ void ipawl_told_hide_(const void *object)
{
    (void)object;
    PAWL_SYMBOL_(pawl_told_hide)();
}

PAWL_INLINE PAWL_ALWAYS_INLINE_ void ipawl_told_show_(const void *object)
{
    (void)object;
    PAWL_SYMBOL_(pawl_told_show)();
}

/* Operations on the object access this memory plainly, too, and their latches are hidden. */
PAWL_INLINE PAWL_ALWAYS_INLINE_ void ipawl_told_plain_(const void *object, size_t size)
{
    PAWL_SYMBOL_(pawl_told_plain)((void *)(uintptr_t)object, size);
}

PAWL_INLINE PAWL_ALWAYS_INLINE_ void ipawl_told_give_(const void *clock)
{
    PAWL_SYMBOL_(pawl_told_give)(clock);
}

PAWL_INLINE PAWL_ALWAYS_INLINE_ void ipawl_told_get_(const void *clock)
{
    PAWL_SYMBOL_(pawl_told_get)(clock);
}

#endif

PAWL_INLINE_END

#endif
#endif
