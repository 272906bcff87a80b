/* SPDX-License-Identifier: MIT */
/*
 * The words that the inline functions of rcu.h read: a line of words for each thread that reads,
 * and what the calling thread has at hand. Internal; the rest of RCU's state is in src/rcu.
 */
#ifndef PAWL_RCU_INLINE_H
#define PAWL_RCU_INLINE_H

#include <pawl/thread.h>

/* Domains, the default one and the one of quiescent states included: a word of each line. */
#define PAWL_RCU_DOMAINS 14
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
    pawl_address_ entered[PAWL_RCU_DOMAINS]; /* owner only; others read: return addresses */
#endif
} __attribute__((__aligned__(PAWL_CACHE_LINE)));

struct pawl_rcu_extra; /* src/rcu/rcu.h */

/* The words that one thread has at hand. */
struct pawl_rcu_mine {
    struct pawl_rcu_line *line;   /* NULL: none yet, or its sections need a fence (rcu.c) */
    struct pawl_rcu_extra *extra; /* its line where the registry has none for it, or NULL */
    /* Sections of a thread that has no line: nesting, and bit 31, the side they are counted on. */
    uint32_t apart[PAWL_RCU_DOMAINS];
    uint32_t open;      /* how many of these; not 0 also while a section is being entered */
    uint32_t wait;      /* sections that still go without a line before another try to get one */
    uint32_t reads;     /* 1: it has had a section, and its end must look for open ones */
    uint32_t farewells; /* how often the thread has ended inside a section */
    /* Of callbacks and grace periods: for the child of a fork, which has this thread only. A domain
     * is named by its index + 1; 0: none. */
    uint32_t calling;  /* the domain whose callback it runs */
    uint32_t accounts; /* the domain whose account of callbacks it changes */
    uint32_t starts;   /* the domain whose worker it starts */
    uint32_t rests;    /* the domain whose callback, run by it, waits for quiescent states */
    uint32_t listens;  /* the domain in which it waits for callbacks */
    uint32_t sleeps;   /* the domain in which it waits for the driver of a grace period */
#if PAWL_CHECKED
    uint32_t qs_sections; /* pawl_rcu_qs_read_lock less pawl_rcu_qs_read_unlock */
#endif
};

/* The thread's words for RCU (src/rcu/rcu_state.c), one for all copies of the library. */
PAWL_C_BEGIN
PAWL_API struct pawl_rcu_mine *PAWL_SYMBOL_(pawl_rcu_mine)(void);
PAWL_C_END
#define pawl_rcu_mine_ PAWL_SYMBOL_(pawl_rcu_mine)
#if PAWL_HOOKS
#define PAWL_RCU_MINE_ (*pawl_rcu_mine_())
#else
PAWL_C_BEGIN
extern PAWL_API __thread struct pawl_rcu_mine PAWL_SYMBOL_(pawl_rcu_own)
    __attribute__((__tls_model__("initial-exec")));
PAWL_C_END
#define pawl_rcu_own_ PAWL_SYMBOL_(pawl_rcu_own)
#define PAWL_RCU_MINE_ pawl_rcu_own_ /* for fast paths */
#endif

#endif
