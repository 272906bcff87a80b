/* SPDX-License-Identifier: MIT */
/* The system calls for the lock for handlers and real-time threads (sift.h). They block signals,
 * raise the calling thread, and lend a thread the priority of its waiter. */
#ifndef PAWL_OS_PRIORITY_H
#define PAWL_OS_PRIORITY_H

#include "os.h"

PAWL_C_BEGIN

/* ---- Signals. A set has bit n - 1 for signal n. --------------------------------------------- */

/* The signals that this system cannot block; all, where it has no signals. */
uint64_t PAWL_SYMBOL_(pawl_os_unblockable)(void);
/* Blocks them in the calling thread; returns the set that was blocked before. Async-signal-safe. */
uint64_t PAWL_SYMBOL_(pawl_os_block)(uint64_t signals);
void PAWL_SYMBOL_(pawl_os_unblock)(uint64_t signals);

/* ---- Scheduling ------------------------------------------------------------------------------ */

/* 0 when the calling thread may run at SCHED_FIFO `priority`; EPERM, EINVAL (no such priority), or
 * ENOTSUP. */
int PAWL_SYMBOL_(pawl_os_may_raise)(uint32_t priority);
/* Raises the calling thread to that priority, unless it is as high already or may not be raised.
 * True when it was raised; the former values are for pawl_os_lower. */
bool PAWL_SYMBOL_(pawl_os_raise)(uint32_t priority, uint32_t *policy_before,
                                 uint32_t *priority_before);
void PAWL_SYMBOL_(pawl_os_lower)(uint32_t policy, uint32_t priority);
/* The calling thread's priority as a real-time thread; 0: it is none. */
uint32_t PAWL_SYMBOL_(pawl_os_priority)(void);

/* ---- Lending: a word that holds its owner's thread number, or 0. Free words are taken, and words
 * without waiters are dropped, by compare-exchange and without these. They order nothing: the
 * callers have another word for that. ---------------------------------------------------------- */

bool PAWL_SYMBOL_(pawl_os_lends)(void);
/* Sleeps until the caller owns the word; the owner has the caller's priority meanwhile. False: the
 * deadline has passed. Aborts when the caller already owns it, because no thread could end that
 * wait. */
bool PAWL_SYMBOL_(pawl_os_lend)(uint32_t *word, uint64_t deadline);
/* Drops the word when a thread waits. The child of a fork may do so for its parent. */
void PAWL_SYMBOL_(pawl_os_lent)(uint32_t *word);

PAWL_C_END

#define pawl_os_unblockable PAWL_SYMBOL_(pawl_os_unblockable)
#define pawl_os_block PAWL_SYMBOL_(pawl_os_block)
#define pawl_os_unblock PAWL_SYMBOL_(pawl_os_unblock)
#define pawl_os_may_raise PAWL_SYMBOL_(pawl_os_may_raise)
#define pawl_os_raise PAWL_SYMBOL_(pawl_os_raise)
#define pawl_os_lower PAWL_SYMBOL_(pawl_os_lower)
#define pawl_os_priority PAWL_SYMBOL_(pawl_os_priority)
#define pawl_os_lends PAWL_SYMBOL_(pawl_os_lends)
#define pawl_os_lend PAWL_SYMBOL_(pawl_os_lend)
#define pawl_os_lent PAWL_SYMBOL_(pawl_os_lent)

#endif
