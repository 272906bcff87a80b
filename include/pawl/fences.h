/* SPDX-License-Identifier: MIT */
/*
 * Light and heavy fences, as a property of the process. Readers of RCU and of big-reader locks, and
 * threads that count, pass light fences: these hold only the compiler. The thread that waits for
 * them makes all threads of the process pass a fence, by the system call membarrier. A program
 * that forbids itself this call calls pawl_fences_strong first.
 *
 * Not for programs that stay as free as they start. Nor for a system without membarrier (an old
 * kernel, a sandbox from the start): the library finds that by itself. Nor for a single lock that
 * is written often (PAWL_BRLOCK_FENCED).
 *
 * The first copy of the library in the process chooses the mode when it is loaded, and every other
 * copy takes it over. The mode stays, except for pawl_fences_strong:
 *
 *   light    readers pass no fence; a heavy fence is a membarrier. If the system then refuses one,
 *            the process ends with a message, in whichever copy needed it: the fence that its
 *            readers left out cannot be had otherwise.
 *   strong   readers pass full fences, and no system call is made. So it is from the start without
 *            membarrier, and with PAWL_NO_MEMBARRIER=1 in the environment.
 */
#ifndef PAWL_FENCES_H
#define PAWL_FENCES_H

#include <pawl/atomic.h>

PAWL_C_BEGIN

/* Makes the mode strong, for the rest of the process and in all its copies of the library. Returns
 * 0, also if it is strong already. EBUSY: a thread has used one of these primitives and may pass
 * light fences; nothing has changed, and membarrier must stay allowed. So call it first in main.
 * No other thread may use the library, nor load or unload a copy, during the call. Not
 * signal-safe. A child of fork inherits the mode. */
PAWL_API int PAWL_SYMBOL_(pawl_fences_strong)(void);

PAWL_C_END

#define pawl_fences_strong PAWL_SYMBOL_(pawl_fences_strong)

#endif
