/* SPDX-License-Identifier: MIT */
/*
 * The registry of threads: one line of memory for each thread that needs one, in one array, so that
 * others can go through all of them. Internal to the library; programs need nothing of it, and
 * spinlocks use it in the checking variant alone.
 *
 * A thread's first use registers it and its end gives the line back. Registration never allocates:
 * the lines are reserved (PAWL_THREAD_LINES; untouched pages cost no memory). A thread beyond them
 * has no line, and each primitive says how it serves such a thread.
 *
 * Everything process-wide hangs on one object however many plug-ins carry a copy of the library
 * (on ELF systems with glibc; elsewhere one object for each copy).
 */
#ifndef PAWL_THREAD_H
#define PAWL_THREAD_H

#include <pawl/atomic.h>

/* Reserved lines. More threads than this at once leave the rest without one. */
#define PAWL_THREAD_LINES 1024

/* An address as an integer that the seam has operations for. */
#if UINTPTR_MAX > UINT32_MAX
typedef uint64_t pawl_address_;
#define PAWL_ADDRESS_(operation) PAWL_CAT_(operation, 64)
#else
typedef uint32_t pawl_address_;
#define PAWL_ADDRESS_(operation) PAWL_CAT_(operation, 32)
#endif

#if PAWL_CHECKED
#include <pawl/spin.h>

/* Locks that one thread can hold at once under the checking variant's eyes. */
#define PAWL_HELD_LOCKS 64

/* Locks, and ordered pairs of locks, whose order the checking variant remembers. */
#define PAWL_ORDER_LOCKS 16384
#define PAWL_ORDER_PAIRS 65536

/* One lock that a thread holds or asks for. The owner writes, everybody may read. */
struct pawl_held {
    pawl_address_ lock; /* 0: the entry is free */
    pawl_address_ site; /* where the state was taken or is asked for: a return address */
    uint32_t what;      /* states and width, packed by src/check/check.h */
};

/* A lock in the graph of orders. Indices count from 1, 0 is none. */
struct pawl_order_lock {
    pawl_address_ lock;
    uint32_t bits;
    uint32_t next;    /* in its chain of the hash table, or in the free list */
    uint32_t out, in; /* its pairs, as the first of two and as the second */
    uint32_t goal;    /* the search that looks for this lock */
    uint32_t goal_hold;
    uint32_t seen[2]; /* the search that has been here, for each kind of wait */
    uint32_t via[2];  /* the pair by which it came */
};

/* "`from` was held while `to` was asked for." */
struct pawl_order_pair {
    pawl_address_ from_site, to_site;
    uint32_t from, to;
    uint32_t thread;
    uint8_t from_state, to_state;
    uint8_t hold, wait; /* kinds, src/check/check_order.c */
    uint32_t next;      /* in its chain of the hash table, or in the free list */
    uint32_t out_next, out_previous, in_next, in_previous;
};

struct pawl_orders {
    struct pawl_spin32 lock; /* everything below, and the counting of claimants */
    uint32_t search;
    uint32_t locks_used, pairs_used, free_locks, free_pairs;
    uint32_t lock_chains[PAWL_ORDER_LOCKS], pair_chains[PAWL_ORDER_PAIRS];
    uint32_t queue[2 * PAWL_ORDER_LOCKS];
    struct pawl_order_lock locks[PAWL_ORDER_LOCKS + 1];
    struct pawl_order_pair pairs[PAWL_ORDER_PAIRS + 1];
};
#endif

/* ---- Wait lists keyed by address (src/lock/table.h) ------------------------------------------ */

/* 2^PAWL_TABLE_BITS lists at first; they double with the number of waiters, at most so often. */
#if PAWL_HOOKS
#define PAWL_TABLE_BITS 1 /* models see them grow */
#else
#define PAWL_TABLE_BITS 6
#endif
#define PAWL_TABLE_DOUBLINGS 16

struct pawl_link {
    struct pawl_link *next, *previous;
};

/* One list and its lock, usable from zero bytes. On a line of its own. */
struct pawl_bucket {
    pawl_address_ latch;   /* bit 0: held; the rest: the youngest of those who sleep for it */
    struct pawl_link list; /* the sentinel, oldest next; zeroes until somebody waits */
    uint32_t length;       /* waiters in the list; changed under the latch, read by anybody */
    /* Hints of lock.c, read and written relaxed under the latch. Growth hands them on. */
    uint64_t last_handoff __attribute__((aligned(8))); /* ns of pawl_os_now */
    uint64_t quiet_until __attribute__((aligned(8)));  /* ns: how long awake_for counts */
    pawl_address_ awake_for; /* a lock of which a waiter in this list is awake */
    /* In the first array only: who waits at an address of this hash by wait.c, which says how it
     * counts. */
    uint64_t sleepers __attribute__((aligned(8)));
} __attribute__((aligned(PAWL_CACHE_LINE)));

struct pawl_table {
    uint32_t doublings; /* which array is current */
    uint32_t growing;   /* one thread is at it */
    uint32_t grow_at;   /* more waiters than this ask for more lists; 0: as many as there are */
    struct pawl_bucket *grown[PAWL_TABLE_DOUBLINGS]; /* [n]: after n + 1 doublings; never freed */
    struct pawl_bucket first[1 << PAWL_TABLE_BITS];
    uint32_t waiters __attribute__((aligned(PAWL_CACHE_LINE))); /* in all lists */
    uint32_t wake_ns;     /* the least time from waking to running seen so far; 0: none seen */
    uint32_t wakes_timed; /* how many have been looked at */
};

/* ---- Cells of counters (counter_cells.h) ----------------------------------------------------- */

/* Single cells that a thread's block has, and as many again in pairs. A block is reserved whole;
 * its untouched pages cost no memory. */
#if PAWL_HOOKS
#define PAWL_COUNTER_CELLS 64
#define PAWL_COUNTER_LINES 8
#elif UINTPTR_MAX > UINT32_MAX
#define PAWL_COUNTER_CELLS 32768
#define PAWL_COUNTER_LINES PAWL_THREAD_LINES
#else
#define PAWL_COUNTER_CELLS 4096
#define PAWL_COUNTER_LINES PAWL_THREAD_LINES
#endif
#define PAWL_COUNTER_LATCHES 16

/* What one thread needs at hand. NULL or 0 until its first use of a counter. */
struct pawl_counter_mine {
    char *block;        /* its cells */
    char *rseq;         /* its struct rseq, if sequences can be used and shut out; implies block */
    char *cpus;         /* the cells of CPU 0, if there are any; implies rseq */
    uint32_t cpu_limit; /* CPUs that have cells */
    uint32_t wait;      /* uses that still go without a block before another try to get one */
};

struct pawl_counter_latch {
    uint32_t word; /* 0 free, 1 held, 2 held and somebody may sleep */
} __attribute__((aligned(64)));

struct pawl_counters {
    pawl_address_ blocks[PAWL_COUNTER_LINES]; /* of each line, kept for its next owners */
    pawl_address_ cpus;                       /* per-CPU cells, once asked for */
    uint32_t cpu_limit;
    uint32_t br_writer; /* the big-reader lock of pawl_counter_exact: 1 while somebody reads */
    /* Which cells and pairs belong to counters, and where the next search begins: slot latch. */
    uint32_t next[2];
    uint32_t used[2][PAWL_COUNTER_CELLS / 32];
    struct pawl_counter_latch slots;
    struct pawl_counter_latch latches[PAWL_COUNTER_LATCHES]; /* by the counter's address */
#if PAWL_HOOKS
    struct pawl_counter_mine mine[PAWL_COUNTER_LINES];
    uint64_t cells[PAWL_COUNTER_LINES][2 * PAWL_COUNTER_CELLS] __attribute__((aligned(8)));
#endif
};

/* ---- Readers of RCU (rcu.h) ------------------------------------------------------------------ */

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
} __attribute__((aligned(PAWL_CACHE_LINE)));

/* What one thread needs at hand. */
struct pawl_rcu_mine {
    struct pawl_rcu_line *line; /* NULL: none yet, or its sections need a fence (rcu.c) */
    /* Sections of a thread that has no line: nesting, and bit 31, the side they are counted on. */
    uint32_t apart[PAWL_RCU_DOMAINS];
    uint32_t open;      /* how many of these; not 0 also while a section is being entered */
    uint32_t wait;      /* sections that still go without a line before another try to get one */
    uint32_t reads;     /* 1: it has had a section, and its end must look for open ones */
    uint32_t farewells; /* how often the thread has ended inside a section */
#if PAWL_CHECKED
    uint32_t qs_sections; /* pawl_rcu_qs_read_lock less pawl_rcu_qs_read_unlock */
#endif
};

struct pawl_rcu_stall;

/* The grace periods of one domain; what is not marked is changed by who drives them. */
struct pawl_rcu_state {
    uint32_t taken;        /* the domain exists; by compare-exchange */
    pawl_address_ driver;  /* who drives the grace period: its struct pawl_rcu_mine, or 0 */
    uint32_t turn;         /* goes on when a reader that the driver sleeps for has left */
    uint32_t ended;        /* goes on when a grace period has ended, or its driver has gone */
    uint32_t sleepers;     /* threads that wait for `ended` to go on; by atomic additions */
    uint32_t noted;        /* 1: the readers of grace period `started` have been noted */
    uint32_t lines;        /* how many words were noted */
    /* Grace periods begun and over: equal, or one is under way. */
    uint64_t started __attribute__((aligned(8)));
    uint64_t completed __attribute__((aligned(8)));
    /* Threads without a line are counted on two sides in turn; by atomic additions. */
    uint32_t apart[2] __attribute__((aligned(PAWL_CACHE_LINE)));
    uint32_t side;         /* where those who enter are counted */
    uint32_t apart_old;    /* a bit for each side that had readers when they were noted */
    uint32_t apart_waited; /* the driver sleeps for one of them */
    const char *name;
    /* The stall detector's, rcu_stall.c. */
    uint64_t stall_ns __attribute__((aligned(8)));
    uint64_t stall_since __attribute__((aligned(8))); /* the readers were noted */
    uint64_t stall_age __attribute__((aligned(8))); /* when it last reported */
    void (*stall_report)(const struct pawl_rcu_stall *stall, void *argument);
    void *stall_argument;
    /* The words of those readers that are still waited for, 0 for the others. */
    uint32_t old[PAWL_RCU_LINES] __attribute__((aligned(PAWL_CACHE_LINE)));
};

struct pawl_rcu {
    struct pawl_rcu_line lines[PAWL_RCU_LINES];
    struct pawl_rcu_state states[PAWL_RCU_DOMAINS];
#if PAWL_HOOKS
    struct pawl_rcu_mine mine[2 * PAWL_RCU_LINES]; /* of all threads, the half without a line */
#endif
};

/* ---- Callbacks of RCU (rcu_call.h) ----------------------------------------------------------- */

/* A thread that the library starts for itself; kept for as long as it runs. */
struct pawl_own_thread {
    void (*body)(void *argument);
    void *argument;
    const char *name; /* for the system's tools; at most 15 characters */
};

/* Heads that wait for one grace period. */
struct pawl_rcu_batch {
    pawl_address_ state; /* nobody's and empty, or with a list, or who works on it (rcu_call.h) */
    pawl_address_ list;  /* heads that have not been called; changed by who works on it */
    uint32_t emptied;    /* goes on each time that it has become empty; by who works on it */
    uint64_t cookie __attribute__((aligned(8))); /* of the grace period */
    uint64_t since __attribute__((aligned(8)));  /* ns: when the oldest head was queued */
};

/* The heads that one thread has queued, or all those without a line. */
struct pawl_rcu_shard {
    pawl_address_ newest; /* a list, 0: none; by atomic operations */
    uint32_t terms;       /* those that the credit was taken under */
    uint64_t since __attribute__((aligned(8))); /* ns: when `newest` was last empty */
    /* Owner only: calls and bytes that it may queue without asking, and has queued in its life. */
    uint64_t credit[2] __attribute__((aligned(8)));
    uint64_t called[2] __attribute__((aligned(8)));
    struct pawl_rcu_batch batches[2] __attribute__((aligned(PAWL_CACHE_LINE)));
    uint32_t takes; /* times that `newest` has been taken, counted before it is */
} __attribute__((aligned(PAWL_CACHE_LINE)));

/* The callbacks of one domain. [0] counts heads, [1] their bytes. */
struct pawl_rcu_calls {
    uint32_t terms; /* bit 0: there is a worker; the rest goes on when the limits change */
    uint32_t used;  /* 1: there has been a call */
    uint32_t policy;
    uint64_t limit[2] __attribute__((aligned(8))); /* 0: the default */
    pawl_address_ worker;                          /* which thread it is */
    struct pawl_own_thread thread;
    uint64_t retry_at __attribute__((aligned(8))); /* ns: when to try again to start it */
    /* Heads and bytes queued, and credit; by atomic additions. */
    uint64_t taken[2] __attribute__((aligned(PAWL_CACHE_LINE)));
    uint32_t waiters; /* threads that wait for room, or in a barrier */
    uint32_t turn;    /* goes on when there is something new for them */
    uint64_t run[2] __attribute__((aligned(8)));
    uint64_t cookie __attribute__((aligned(8))); /* the last that a batch has got */
    uint64_t grace_periods __attribute__((aligned(8)));
    uint64_t longest_delay __attribute__((aligned(8)));
    uint64_t refusals __attribute__((aligned(8)));
    uint64_t helped __attribute__((aligned(8)));
    uint64_t waits __attribute__((aligned(8)));
    uint32_t bell __attribute__((aligned(PAWL_CACHE_LINE))); /* how the worker sleeps */
    uint32_t urgent; /* somebody waits: no rest */
    uint32_t stop;   /* the worker is to end when it has nothing to do */
    struct pawl_rcu_shard shared;
    struct pawl_rcu_shard shards[PAWL_RCU_LINES];
};

struct pawl_rcu_engine {
    uint32_t forks; /* forks that wait for callbacks to pause, or are under way */
    struct pawl_rcu_calls calls[PAWL_RCU_DOMAINS];
};

/* Where writers of big-reader locks (brlock.h) sleep until readers have left: here, because a
 * reader that leaves may not touch the lock any more. Locks share them by their address. */
#define PAWL_THREAD_DRAINS 16

struct pawl_drain {
    uint32_t waiters; /* writers that wait here: not zero makes readers wake them */
    uint32_t turn;    /* goes on with every wake */
} __attribute__((aligned(PAWL_CACHE_LINE)));

struct pawl_thread_line {
    uint32_t owner; /* thread id, 0: free. Claimed and freed by compare-exchange and store. */
#if PAWL_CHECKED
    uint32_t busy;      /* owner only: the checker is at work, a signal handler stays out of it */
    uint32_t untracked; /* owner only: locks held beyond those in `held` */
    uint32_t farewells; /* owner only: how often the thread has ended while holding locks */
    uint32_t held_used; /* held[held_used...] have never been used */
    struct pawl_held held[PAWL_HELD_LOCKS];
#endif
} __attribute__((aligned(PAWL_CACHE_LINE)));

struct pawl_process {
    uint32_t setup;      /* 0 not begun, 1 one thread is at it, 2 done */
    uint32_t exit_key;   /* the system's key for thread exit, valid when setup is 2 */
    uint32_t lines_used; /* lines[lines_used...] have never been claimed */
    struct pawl_thread_line lines[PAWL_THREAD_LINES];
    struct pawl_table table;
    struct pawl_drain drains[PAWL_THREAD_DRAINS];
    struct pawl_counters counters;
    struct pawl_rcu rcu;
    struct pawl_rcu_engine callbacks;
#if PAWL_CHECKED
    struct pawl_thread_line no_line; /* in the slot of a thread that got none, for its life */
    struct pawl_spin32 report_lock;
    uint32_t warned; /* a bit for each warning that has been given */
    struct pawl_orders orders;
#endif
};

PAWL_C_BEGIN

/* The caller's line, registered now if need be; NULL when all lines are taken. Never allocates.
 * Async-signal-safe. */
PAWL_API struct pawl_thread_line *PAWL_SYMBOL_(pawl_thread_line)(void);

/* Gives the caller's line back; the end of a thread does it by itself. */
PAWL_API void PAWL_SYMBOL_(pawl_thread_exit)(void);

/* The process object, the same for every copy of the library in the process. */
PAWL_API struct pawl_process *PAWL_SYMBOL_(pawl_process)(void);

#if PAWL_HOOKS
/* What each copy of the library does before main, or when it is loaded. */
PAWL_API void PAWL_SYMBOL_(pawl_set_up)(void);
#define pawl_set_up_ PAWL_SYMBOL_(pawl_set_up)
#endif

PAWL_C_END

/* What the calling thread needs for RCU; defined in src/os, once for all copies of the library. */
PAWL_C_BEGIN
PAWL_API struct pawl_rcu_mine *PAWL_SYMBOL_(pawl_rcu_mine)(void);
PAWL_C_END
#define pawl_rcu_mine_ PAWL_SYMBOL_(pawl_rcu_mine)
#if PAWL_HOOKS
#define PAWL_RCU_MINE_ (*pawl_rcu_mine_())
#else
#ifdef __cplusplus
extern "C" PAWL_API __thread struct pawl_rcu_mine PAWL_SYMBOL_(pawl_rcu_own)
    __attribute__((tls_model("initial-exec")));
#else
extern PAWL_API _Thread_local struct pawl_rcu_mine PAWL_SYMBOL_(pawl_rcu_own)
    __attribute__((tls_model("initial-exec")));
#endif
#define pawl_rcu_own_ PAWL_SYMBOL_(pawl_rcu_own)
#define PAWL_RCU_MINE_ pawl_rcu_own_ /* for fast paths */
#endif

#define pawl_thread_line_ PAWL_SYMBOL_(pawl_thread_line)
#define pawl_thread_exit_ PAWL_SYMBOL_(pawl_thread_exit)
#define pawl_process_ PAWL_SYMBOL_(pawl_process)

#endif
