/* SPDX-License-Identifier: MIT */
/* Mutexes that outlive their holders: the system calls of src/lock/robust.c (os/robust.c). */
#ifndef PAWL_OS_ROBUST_H
#define PAWL_OS_ROBUST_H

#include "os.h"

#define PAWL_OS_ROBUST_SIZE 48
#if PAWL_HOOKS
#define PAWL_OS_ROBUST_USED PAWL_OS_ROBUST_SIZE
#else
#include <pthread.h>
#define PAWL_OS_ROBUST_USED sizeof(pthread_mutex_t)
#endif

enum pawl_os_robust {
    PAWL_OS_ROBUST_GOT,
    PAWL_OS_ROBUST_GOT_DEAD, /* held, and its last holder died while it held it */
    PAWL_OS_ROBUST_BUSY,
    PAWL_OS_ROBUST_LATE,
    PAWL_OS_ROBUST_BROKEN /* the bytes are no such mutex, or the caller holds it */
};

PAWL_C_BEGIN

/* Makes one in PAWL_OS_ROBUST_SIZE bytes of shared memory, of which it uses the first _USED. */
bool PAWL_SYMBOL_(pawl_os_robust_make)(void *mutex);
/* Waits until `deadline` (ns of pawl_os_now). */
enum pawl_os_robust PAWL_SYMBOL_(pawl_os_robust_lock)(void *mutex, uint64_t deadline);
enum pawl_os_robust PAWL_SYMBOL_(pawl_os_robust_try)(void *mutex);
/* Relaxed looks: whether nobody has it; whether a dead holder may have left it. On other C
 * libraries than glibc only a try tells: never, and always. */
bool PAWL_SYMBOL_(pawl_os_robust_is_free)(const void *mutex);
bool PAWL_SYMBOL_(pawl_os_robust_is_left)(const void *mutex);
/* By the holder: its unlock, or its death, wakes a sleeper, even if the mutex shows none. */
void PAWL_SYMBOL_(pawl_os_robust_owe_wake)(void *mutex);
/* After GOT_DEAD: the next holder gets it with GOT. A holder that dies before this leaves it
 * GOT_DEAD. */
bool PAWL_SYMBOL_(pawl_os_robust_heal)(void *mutex);
/* The caller's thread number, as the mutexes know it: also in a child of _Fork. */
uint32_t PAWL_SYMBOL_(pawl_os_robust_self)(void);
/* By the thread that holds it; else false. */
bool PAWL_SYMBOL_(pawl_os_robust_unlock)(void *mutex);

PAWL_C_END

#define pawl_os_robust_make PAWL_SYMBOL_(pawl_os_robust_make)
#define pawl_os_robust_lock PAWL_SYMBOL_(pawl_os_robust_lock)
#define pawl_os_robust_try PAWL_SYMBOL_(pawl_os_robust_try)
#define pawl_os_robust_is_free PAWL_SYMBOL_(pawl_os_robust_is_free)
#define pawl_os_robust_is_left PAWL_SYMBOL_(pawl_os_robust_is_left)
#define pawl_os_robust_owe_wake PAWL_SYMBOL_(pawl_os_robust_owe_wake)
#define pawl_os_robust_heal PAWL_SYMBOL_(pawl_os_robust_heal)
#define pawl_os_robust_self PAWL_SYMBOL_(pawl_os_robust_self)
#define pawl_os_robust_unlock PAWL_SYMBOL_(pawl_os_robust_unlock)

#endif
