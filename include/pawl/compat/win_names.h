/* SPDX-License-Identifier: MIT */
/*
 * Windows 8's WaitOnAddress, WakeByAddressSingle and WakeByAddressAll where the system lacks them:
 * on older Windows and on every other system. A program stays as it is, and is compiled with
 * `-include pawl/compat/win_names.h`, or includes this after windows.h. It links our library in
 * place of synchronization.lib. New programs use wait.h, which has masks, counts and deadlines. For
 * programs that cannot be compiled again there is a DLL of the three (doc/ports.md).
 *
 *   WaitOnAddress(address, compare, size, milliseconds)
 *       sleeps while the word of 1, 2, 4 or 8 bytes equals *compare; INFINITE: until it is woken.
 *       False when the time is over (ERROR_TIMEOUT; elsewhere errno ETIMEDOUT), or for another size
 *       or a null or misaligned address (ERROR_INVALID_PARAMETER; EINVAL). True for all else, also
 *       for no reason, so callers look at the word again.
 *   WakeByAddressSingle(address), WakeByAddressAll(address)
 *       wake one waiter or all of them, ours only: a wait in a DLL that calls Windows is not woken.
 *
 * Orders, handlers, fork, cost: as wait.h says of pawl_wait32_until and pawl_wake_one.
 * Source: "Implementing atomic wait and notify" (doc/wait.md).
 */
#ifndef PAWL_COMPAT_WIN_NAMES_H
#define PAWL_COMPAT_WIN_NAMES_H

#include <errno.h>
#include <string.h>

#include <pawl/wait.h>

#ifdef _WIN32
#include <windows.h>
#define PAWL_WIN_SAYS_(win, posix) SetLastError(win)
#else
#define PAWL_WIN_SAYS_(win, posix) (errno = (posix))
#ifndef INFINITE
#define INFINITE 0xffffffffu
#endif
#endif

PAWL_INLINE_BEGIN

PAWL_INLINE int ipawl_win_wait_(const volatile void *address, const void *compare, size_t size,
                                uint32_t milliseconds)
{
    const void *const word = (const void *)(uintptr_t)address; /* the waits read it atomically */
    const uint64_t deadline = milliseconds == INFINITE
                                  ? PAWL_WAIT_FOREVER
                                  : pawl_now() + (uint64_t)milliseconds * 1000000u;
    enum pawl_waited how = PAWL_WAIT_REFUSED;
    uint8_t one;
    uint16_t two;
    uint32_t four;
    uint64_t eight;

    if (size == 1) {
        memcpy(&one, compare, 1);
        how = pawl_wait8_until((const uint8_t *)word, one, deadline);
    } else if (size == 2) {
        memcpy(&two, compare, 2);
        how = pawl_wait16_until((const uint16_t *)word, two, deadline);
    } else if (size == 4) {
        memcpy(&four, compare, 4);
        how = pawl_wait32_until((const uint32_t *)word, four, deadline);
    } else if (size == 8) {
        memcpy(&eight, compare, 8);
        how = pawl_wait64_until((const uint64_t *)word, eight, deadline);
    }
    if (how == PAWL_WAIT_EXPIRED)
        PAWL_WIN_SAYS_(ERROR_TIMEOUT, ETIMEDOUT);
    else if (how == PAWL_WAIT_REFUSED)
        PAWL_WIN_SAYS_(ERROR_INVALID_PARAMETER, EINVAL);
    return how != PAWL_WAIT_EXPIRED && how != PAWL_WAIT_REFUSED;
}

PAWL_INLINE_END

#define WaitOnAddress(address, compare, size, milliseconds)                                        \
    ipawl_win_wait_(address, compare, size, milliseconds)
#define WakeByAddressSingle(address) ((void)pawl_wake_one((const void *)(uintptr_t)(address)))
#define WakeByAddressAll(address) ((void)pawl_wake_all((const void *)(uintptr_t)(address)))

#endif
