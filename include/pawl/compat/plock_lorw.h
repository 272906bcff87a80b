/* SPDX-License-Identifier: MIT */
/*
 * plock's lock of low overhead (pl_lorw_*): readers or one writer in an unsigned long, not
 * upgradable, writers first. Also its helpers that wait for a word.
 *
 *   31 ... SHR 2 | 1 WRQ | 0 EXC      the same on 64 bits; 0 is unlocked; no bit is the program's
 *
 *   SHR  one unit for each reader, also for one that waits for EXC to fall.
 *   WRQ  the gate: a writer waits for readers to drop; new readers and writers are not granted.
 *        That writer sets it, and the next writer that drops clears it.
 *   EXC  a writer holds the lock.
 *
 * A writer that drops clears EXC and WRQ: readers that have counted themselves are granted before
 * the next writer. No recursion: a reader that takes the lock again waits for ever once WRQ is set.
 */
#ifndef PAWL_COMPAT_PLOCK_LORW_H
#define PAWL_COMPAT_PLOCK_LORW_H

#include <pawl/compat/plock_atomic.h>

#define PLOCK_LORW_EXC_BIT 0
#define PLOCK_LORW_EXC_SIZE 1
#define PLOCK_LORW_EXC_BASE (1ul << PLOCK_LORW_EXC_BIT)
#define PLOCK_LORW_EXC_MASK (((1ul << PLOCK_LORW_EXC_SIZE) - 1) << PLOCK_LORW_EXC_BIT)
#define PLOCK_LORW_WRQ_BIT 1
#define PLOCK_LORW_WRQ_SIZE 1
#define PLOCK_LORW_WRQ_BASE (1ul << PLOCK_LORW_WRQ_BIT)
#define PLOCK_LORW_WRQ_MASK (((1ul << PLOCK_LORW_WRQ_SIZE) - 1) << PLOCK_LORW_WRQ_BIT)
#define PLOCK_LORW_SHR_BIT 2
#define PLOCK_LORW_SHR_SIZE 30
#define PLOCK_LORW_SHR_BASE (1ul << PLOCK_LORW_SHR_BIT)
#define PLOCK_LORW_SHR_MASK (((1ul << PLOCK_LORW_SHR_SIZE) - 1) << PLOCK_LORW_SHR_BIT)

/* The seam's operations and type of an unsigned long. */
#if __SIZEOF_LONG__ == 8
#define PAWL_LORW_(operation) operation##64
typedef uint64_t ipawl_lorw_word_;
#else
#define PAWL_LORW_(operation) operation##32
typedef uint32_t ipawl_lorw_word_;
#endif

PAWL_C_BEGIN

PAWL_API PAWL_COLD void PAWL_SYMBOL_(pawl_lorw_rdlock_slow)(unsigned long *lock);
PAWL_API PAWL_COLD void PAWL_SYMBOL_(pawl_lorw_wrlock_slow)(unsigned long *lock);
PAWL_API unsigned int PAWL_SYMBOL_(pawl_plock_wait_unlock_int)(const unsigned int *p,
                                                               unsigned int mask);
PAWL_API unsigned long PAWL_SYMBOL_(pawl_plock_wait_unlock_long)(const unsigned long *p,
                                                                 unsigned long mask);
PAWL_API unsigned int PAWL_SYMBOL_(pawl_plock_wait_new_int)(const unsigned int *p,
                                                            unsigned int previous);
PAWL_API unsigned long PAWL_SYMBOL_(pawl_plock_wait_new_long)(const unsigned long *p,
                                                              unsigned long previous);

PAWL_C_END

PAWL_INLINE_BEGIN

PAWL_INLINE PAWL_ALWAYS_INLINE_ ipawl_lorw_word_ *ipawl_lorw_(unsigned long *lock)
{
    return (ipawl_lorw_word_ *)lock; /* the seam's accesses may alias */
}

/* ---- The lock -------------------------------------------------------------------------------- */

PAWL_INLINE void pl_lorw_rdlock(unsigned long *lock)
{
    ipawl_lorw_word_ w = 0;
    /* [LORW_R_TAKE] acquire: our reads come after the last writer's stores. */
    if (PAWL_UNLIKELY(!PAWL_LORW_(pawl_cas_acquire)(ipawl_lorw_(lock), &w, PLOCK_LORW_SHR_BASE,
                                                    PAWL_LORW_R_TAKE)))
        PAWL_SYMBOL_(pawl_lorw_rdlock_slow)(lock);
}

PAWL_INLINE void pl_lorw_wrlock(unsigned long *lock)
{
    ipawl_lorw_word_ w = 0;
    /* [LORW_W_TAKE] acquire: our stores come after everything earlier readers and writers did. */
    if (PAWL_UNLIKELY(!PAWL_LORW_(pawl_cas_acquire)(ipawl_lorw_(lock), &w, PLOCK_LORW_EXC_BASE,
                                                    PAWL_LORW_W_TAKE)))
        PAWL_SYMBOL_(pawl_lorw_wrlock_slow)(lock);
}

PAWL_INLINE void pl_lorw_rdunlock(unsigned long *lock)
{
    /* [LORW_R_DROP] release: our reads complete before a writer sees us gone. */
    (void)PAWL_LORW_(pawl_fetch_sub_release)(ipawl_lorw_(lock), PLOCK_LORW_SHR_BASE,
                                             PAWL_LORW_R_DROP);
}

PAWL_INLINE void pl_lorw_wrunlock(unsigned long *lock)
{
    /* [LORW_W_DROP] release: our stores complete before the next holder enters. */
    (void)PAWL_LORW_(pawl_fetch_and_release)(
        ipawl_lorw_(lock), ~(PLOCK_LORW_WRQ_MASK | PLOCK_LORW_EXC_MASK), PAWL_LORW_W_DROP);
}

/* EXC can only be the caller's: it is not set while a reader holds the lock. */
PAWL_INLINE void pl_lorw_unlock(unsigned long *lock)
{
    if (PAWL_LORW_(pawl_load_relaxed)(ipawl_lorw_(lock)) & PLOCK_LORW_EXC_MASK)
        pl_lorw_wrunlock(lock);
    else
        pl_lorw_rdunlock(lock);
}

/* ---- Waiting for a word ---------------------------------------------------------------------- */

/* Waits until (*p & mask) == 0; returns the value seen. Acquire. */
PAWL_INLINE unsigned int pl_wait_unlock_int(const unsigned int *p, const unsigned int mask)
{
    return PAWL_SYMBOL_(pawl_plock_wait_unlock_int)(p, mask);
}

PAWL_INLINE unsigned long pl_wait_unlock_long(const unsigned long *p, const unsigned long mask)
{
    return PAWL_SYMBOL_(pawl_plock_wait_unlock_long)(p, mask);
}

/* Waits until *p != previous; returns the value seen. Acquire. */
PAWL_INLINE unsigned int pl_wait_new_int(const unsigned int *p, const unsigned int previous)
{
    return PAWL_SYMBOL_(pawl_plock_wait_new_int)(p, previous);
}

PAWL_INLINE unsigned long pl_wait_new_long(const unsigned long *p, const unsigned long previous)
{
    return PAWL_SYMBOL_(pawl_plock_wait_new_long)(p, previous);
}

PAWL_INLINE_END

/* Other names of the same. */
#define __pl_wait_unlock_int(p, mask) pl_wait_unlock_int(p, mask)
#define __pl_wait_unlock_long(p, mask) pl_wait_unlock_long(p, mask)

#endif
