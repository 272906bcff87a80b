/* SPDX-License-Identifier: MIT */
/* The compiled half of compat/plock.h: the waits, and the join and claim states (join.def). */
#include <pawl/compat/plock.h>

#include "../base/base.h"

#define PAWL_WORD_KIND PAWL_KIND_PLOCK_
#define PAWL_WORD_BITS 32
#include "compat_word.inc.h"
#define PAWL_WORD_BITS 64
#include "compat_word.inc.h"
#undef PAWL_WORD_KIND

/* ---- Waiting on a plain word ----------------------------------------------------------------- */

#define WAITS(type, size)                                                                          \
    unsigned type PAWL_SYMBOL_(pawl_plock_wait_unlock_##type)(const unsigned type *p,              \
                                                              unsigned type mask)                  \
    {                                                                                              \
        unsigned type w;                                                                           \
        WAIT_UNTIL(w, (unsigned type)ipawl_plock_load_(p, size, PAWL_PLOCK_ACQUIRE_),              \
                   (w & mask) == 0);                                                               \
        return w;                                                                                  \
    }                                                                                              \
    unsigned type PAWL_SYMBOL_(pawl_plock_wait_new_##type)(const unsigned type *p,                 \
                                                           unsigned type previous)                 \
    {                                                                                              \
        unsigned type w;                                                                           \
        pawl_cpu_relax(); /* the caller has just seen `previous` */                                \
        WAIT_UNTIL(w, (unsigned type)ipawl_plock_load_(p, size, PAWL_PLOCK_ACQUIRE_),              \
                   w != previous);                                                                 \
        return w;                                                                                  \
    }
WAITS(int, sizeof(int))
WAITS(long, sizeof(long))
#undef WAITS

/* ---- lorw ------------------------------------------------------------------------------------ */

void PAWL_SYMBOL_(pawl_lorw_rdlock_slow)(unsigned long *lock)
{
    ipawl_lorw_word_ *const l = ipawl_lorw_(lock);
    ipawl_lorw_word_ w;
    /* The door: a writer that waits for readers to leave lets no new one in. */
    WAIT_UNTIL(w, PAWL_LORW_(pawl_load_relaxed)(l), (w & PLOCK_LORW_WRQ_MASK) == 0);
    /* [LORW_R_TAKE] acquire: the reader's reads follow the last writer's stores. */
    w = PAWL_LORW_(pawl_fetch_add_acquire)(l, PLOCK_LORW_SHR_BASE, PAWL_LORW_R_TAKE);
    if ((w & PLOCK_LORW_EXC_MASK) == 0)
        return;
    /* This reader is counted, so it follows the present writer; no other writer comes between. */
    /* [LORW_R_TAKE] acquire: the reader's reads follow the last writer's stores. */
    WAIT_UNTIL(w, PAWL_LORW_(pawl_load_acquire)(l, PAWL_LORW_R_TAKE),
               (w & PLOCK_LORW_EXC_MASK) == 0);
}

/* True when the word was free except for the door, and the caller holds the lock now. */
static bool lorw_enter(ipawl_lorw_word_ *l, ipawl_lorw_word_ w)
{
    /* [LORW_W_TAKE] acquire: the writer's stores follow all accesses of earlier readers and
     * writers. */
    return (w & ~(ipawl_lorw_word_)PLOCK_LORW_WRQ_MASK) == 0 &&
           PAWL_LORW_(pawl_cas_acquire)(l, &w, w | PLOCK_LORW_EXC_MASK, PAWL_LORW_W_TAKE);
}

void PAWL_SYMBOL_(pawl_lorw_wrlock_slow)(unsigned long *lock)
{
    ipawl_lorw_word_ *const l = ipawl_lorw_(lock);
    struct backoff pauses = BACKOFF_INIT;
    ipawl_lorw_word_ w = PAWL_LORW_(pawl_load_relaxed)(l);
    /* A writer that finds the door closed by another writer waits outside until that writer has
     * left. */
    while (w & PLOCK_LORW_WRQ_MASK) {
        backoff_pause_once(&pauses, &w);
        w = PAWL_LORW_(pawl_load_relaxed)(l);
    }
    while (!lorw_enter(l, w)) {
        /* A writer that leaves opens the door, so it may have to be closed again. */
        if ((w & PLOCK_LORW_WRQ_MASK) == 0 && w != 0)
            w = PAWL_LORW_(pawl_fetch_or_relaxed)(l, PLOCK_LORW_WRQ_MASK) | PLOCK_LORW_WRQ_MASK;
        else
            backoff_pause_once(&pauses, &w);
        w = PAWL_LORW_(pawl_load_relaxed)(l);
    }
}
