/* SPDX-License-Identifier: MIT */
/*
 * The words that the inline functions of rcu.h read: a line of words for each thread that reads,
 * and what the calling thread has at hand. Internal; the rest of RCU's state is in src/rcu.
 */
#ifndef PAWL_RCU_INLINE_H
#define PAWL_RCU_INLINE_H

#include <pawl/thread.h>

/* Domains, of PAWL_RCU_DOMAINS; each has a word of each line. */
#define PAWL_RCU_DEFAULT_ 0u
#define PAWL_RCU_QS_ 1u

/* A word: sections left, and sections that the thread is in. */
#define PAWL_RCU_LEFT_ UINT32_C(0x10000)
#define PAWL_RCU_NESTING_ (PAWL_RCU_LEFT_ - 1)

#if PAWL_HOOKS
#define PAWL_RCU_LINES 4
#else
#define PAWL_RCU_LINES PAWL_THREAD_LINES
#endif

struct pawl_rcu_line {
    uint32_t read[PAWL_RCU_DOMAINS]; /* owner only; others read */
    uint32_t waited;                 /* a bit for each domain: who drives it sleeps for us */
#if PAWL_CHECKED
    ipawl_address_ entered[PAWL_RCU_DOMAINS]; /* owner only; others read: return addresses */
#endif
} __attribute__((__aligned__(PAWL_CACHE_LINE)));

/* The thread's words for RCU (src/rcu/rcu_state.c), one for all copies of the library. */
PAWL_C_BEGIN
PAWL_API struct pawl_rcu_mine *PAWL_SYMBOL_(pawl_rcu_mine)(void);
PAWL_C_END
#define ipawl_rcu_mine_ PAWL_SYMBOL_(pawl_rcu_mine)
#if PAWL_HOOKS
#define PAWL_RCU_MINE_ (*ipawl_rcu_mine_())
#else
#define PAWL_RCU_MINE_ PAWL_OWN_.rcu /* for fast paths */
#endif

/* PAWL_RCU_LINE_: the line once more, because a section is two loads and two stores, and would feel
 * one more load. */
#if PAWL_OWN_IS_POINTER_
PAWL_C_BEGIN
extern PAWL_API __thread struct pawl_rcu_line *PAWL_SYMBOL_(pawl_rcu_at_hand)
    __attribute__((__tls_model__("initial-exec")));
PAWL_C_END
#define PAWL_RCU_LINE_ PAWL_SYMBOL_(pawl_rcu_at_hand)
#else
#define PAWL_RCU_LINE_ PAWL_RCU_MINE_.line
#endif

#endif
