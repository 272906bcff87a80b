/* SPDX-License-Identifier: MIT */
/*
 * The block of a thread: all data that the library keeps for it. Internal; inline functions read
 * the first part.
 *
 * Each copy of the library has one thread variable, a pointer. It points to a constant block of
 * zero bytes until the thread's first call of a compiled function that needs more. So an inline
 * function needs no test of its own: zero always means "ask the compiled function". src/os/own.c
 * makes the blocks. Where threads have no block (PAWL_OWN_IS_POINTER_ is 0) the variable is the
 * structure itself.
 */
#ifndef PAWL_OWN_H
#define PAWL_OWN_H

#include <pawl/atomic.h>

/* An address as an integer that the seam has operations for. */
#if UINTPTR_MAX > UINT32_MAX
typedef uint64_t ipawl_address_;
#define PAWL_ADDRESS_(operation) PAWL_CAT_(operation, 64)
#else
typedef uint32_t ipawl_address_;
#define PAWL_ADDRESS_(operation) PAWL_CAT_(operation, 32)
#endif

struct pawl_entries;     /* detail/entries.h */
struct pawl_rcu_line;    /* detail/rcu_inline.h */
struct pawl_rcu_extra;   /* src/rcu/rcu.h */
struct pawl_thread_line; /* src/base/process.h */
struct pawl_parker;      /* src/base/park.h */

/* RCU's domains, the default one and the one of quiescent states included. */
#define PAWL_RCU_DOMAINS 14

/* Of counters. NULL or 0 until the thread's first use of one. */
struct pawl_counter_mine {
    char *block;        /* its cells */
    char *rseq;         /* its struct rseq, if sequences can be used and shut out; implies block */
    char *cpus;         /* the cells of CPU 0, if there are any; implies rseq */
    uint32_t cpu_limit; /* CPUs that have cells */
    uint32_t wait;      /* uses that still go without a block before another try to get one */
};

/* Of RCU. */
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

struct pawl_own {
    struct pawl_entries *entries; /* detail/entries.h */
    uint32_t owner;               /* of the block: a thread's number; 0: it is none's */
    uint32_t ticket;              /* thread.h */
    struct pawl_counter_mine counter;
    struct pawl_rcu_mine rcu;
    /* Not for inline functions: */
    struct pawl_thread_line *slot;    /* src/base/process.h */
    struct pawl_parker *latch_parker; /* src/lock/table_latch.h, as the next one */
    uint32_t latches;                 /* that it has, asks for or gives up */
    uint32_t met;                     /* src/lock/evidence.c */
    uint64_t calm_until;              /* src/lock/lock_own.c, as the next four */
    uint64_t judged, used;
    uint64_t clock_read;
    uint32_t clock_unread;             /* drops that do not look at the clock any more */
    uint32_t robust_life, robust_self; /* src/os/robust.c, as the next one */
    const void *robust_page;           /* of the copy that robust_life is of */
    unsigned long slack_before;        /* src/os/priority.c */
    uint32_t frees_hazards;            /* src/rcu/hazard.c */
} __attribute__((__aligned__(PAWL_CACHE_LINE)));

#if defined(__ELF__) && (defined(__linux__) || defined(__FreeBSD__)) && !PAWL_CALLS_OUT_
#define PAWL_OWN_IS_POINTER_ 1
#else
#define PAWL_OWN_IS_POINTER_ 0
#endif

#if !PAWL_HOOKS
/* One for all copies of the library. __thread, because thread_local of C++ would call a function
 * that looks for a constructor. */
PAWL_C_BEGIN
#define ipawl_thread_own_ PAWL_SYMBOL_(pawl_thread_own)
#if PAWL_OWN_IS_POINTER_
extern PAWL_API __thread struct pawl_own *ipawl_thread_own_
    __attribute__((__tls_model__("initial-exec")));
#define PAWL_OWN_ (*ipawl_thread_own_)
#else
extern PAWL_API __thread struct pawl_own ipawl_thread_own_
    __attribute__((__tls_model__("initial-exec")));
#define PAWL_OWN_ ipawl_thread_own_
#endif
PAWL_C_END
#endif

#endif
