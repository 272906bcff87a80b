/* SPDX-License-Identifier: MIT */
/*
 * The internals of the checking variant: the checks around each operation (check.c), the limits of
 * a word (check_claims.c), the order of locks (check_order.c) and reports (check_report.c).
 * doc/checking.md is the user's view.
 *
 * Each operation publishes its request in an entry of its thread's line before it touches the lock,
 * and corrects the entry afterwards. So at every instant an entry covers the units that its thread
 * has in a lock word. Only the owner writes a line; others read it, for reports and to count
 * claimants. Nothing here allocates.
 */
#ifndef PAWL_CHECK_H
#define PAWL_CHECK_H

#include "../base/base.h"
#include "misuse.h"

#if PAWL_CHECKED

#include <pawl/spin.h>

#include "check_report.h"

/* ---- Objects of the process ------------------------------------------------------------------ */

/* Locks held by one thread at once that the checking variant can track. */
#define PAWL_HELD_LOCKS 64

/* The checker keeps books for the threads of so many lines. */
#define PAWL_CHECK_LINES 1024u

/* Holds without a thread that reports can name. */
#define PAWL_CHECK_LOST 256u

/* A change of an entry moves one of so many counters of its line on. */
#define PAWL_CHECK_TURNS 16u

/* Locks, and ordered pairs of locks, whose order the checking variant remembers. */
#define PAWL_ORDER_LOCKS 16384
#define PAWL_ORDER_PAIRS 65536

/* One lock that a thread holds or asks for. The owner writes, any thread may read. */
struct pawl_held {
    ipawl_address_ lock; /* 0: the entry is free */
    uint32_t what;       /* states and type, packed by check_what() */
    uint32_t watched;    /* the watch only: the turn that it saw last, and since when */
    uint64_t since;
    struct pawl_check_stack stack; /* where the state was taken or is asked for */
};

/* A hold that no thread will drop: its thread has ended, or stayed in the parent of a fork. */
struct pawl_check_lost {
    ipawl_address_ lock; /* 0: free */
    uint32_t what;
    struct pawl_check_stack stack;
};

/* A lock in the graph of orders. Indices count from 1, 0 is none. */
struct pawl_order_lock {
    ipawl_address_ lock;
    uint32_t bits;
    uint32_t next;    /* in its chain of the hash table, or in the free list */
    uint32_t out, in; /* its pairs, as the first of two and as the second */
    uint32_t goal;    /* the search that looks for this lock */
    uint32_t goal_hold;
    uint32_t seen[2]; /* the last search that came here, for each kind of wait */
    uint32_t via[2];  /* the pair by which it came */
};

/* "`from` was held while `to` was asked for." */
struct pawl_order_pair {
    struct pawl_check_stack from_stack, to_stack;
    uint32_t from, to;
    uint32_t thread;
    uint8_t from_state, to_state;
    uint8_t hold, wait; /* kinds, src/check/check_order.c */
    uint32_t next;      /* in its chain of the hash table, or in the free list */
    uint32_t out_next, out_previous, in_next, in_previous;
};

struct pawl_orders {
    struct pawl_latch lock; /* everything below, and the counting of claimants */
    uint32_t search;
    uint32_t locks_used, pairs_used, free_locks, free_pairs;
    uint32_t lock_chains[PAWL_ORDER_LOCKS], pair_chains[PAWL_ORDER_PAIRS];
    uint32_t queue[2 * PAWL_ORDER_LOCKS];
    struct pawl_order_lock locks[PAWL_ORDER_LOCKS + 1];
    struct pawl_order_pair pairs[PAWL_ORDER_PAIRS + 1];
};

/* A wait that no entry shows: of a lock that has no books. */
struct pawl_check_wait {
    ipawl_address_ object; /* 0: the thread does not wait */
    const char *type, *call;
    uint32_t holder;  /* check_self, or number, of the thread that had it then; 0: not known */
    uint32_t turn;    /* grows with each wait */
    uint32_t watched; /* the watch only, as in an entry */
    uint64_t since;
    struct pawl_check_stack stack;
};

/* The locks of a thread; lines[n] belongs to the thread that has the registry's line n. */
struct pawl_check_line {
    uint32_t busy;      /* owner only: the checker runs; a signal handler stays out of it */
    uint32_t untracked; /* owner only: locks held beyond those in `held` */
    uint32_t farewells; /* owner only: how often the thread has ended while holding locks */
    uint32_t held_used; /* held[held_used...] have never been used */
    uint32_t self;      /* check_self of the owner, once it has held a lock that names its holder */
    uint32_t turns[PAWL_CHECK_TURNS]; /* each grows after a change of an entry (check_turn) */
    struct pawl_held held[PAWL_HELD_LOCKS];
    struct pawl_check_wait wait;
    struct pawl_check_unwound unwound[PAWL_CHECK_UNWOUND]; /* owner only: check_stack.c */
} __attribute__((aligned(PAWL_CACHE_LINE)));

struct pawl_check {
    struct pawl_check_line lines[PAWL_CHECK_LINES];
    struct pawl_latch report_lock;
    uint32_t warned;     /* a bit for each warning already given */
    uint32_t unbooked;   /* 1: some lock was taken that no entry shows */
    uint32_t watch;      /* 1: a thread looks for long waits, in this process (check_watch.c) */
    uint32_t long_waits; /* that it has reported */
    /* Reads that any thread may drop, of all locks: that began, and that ended. Both only grow. */
    uint32_t counted_comes, counted_gone;
    uint32_t lost_used; /* grows; lost[lost_used % PAWL_CHECK_LOST] is written next */
    struct pawl_check_lost lost[PAWL_CHECK_LOST];
};

PAWL_SHARED_DECLARE(struct pawl_check, check_object);
PAWL_SHARED_DECLARE(struct pawl_orders, orders_object);

static inline struct pawl_check *check_here(void)
{
    return PAWL_SHARED(struct pawl_check, check_object);
}

static inline struct pawl_orders *orders_here(void)
{
    return PAWL_SHARED(struct pawl_orders, orders_object);
}

/* The calling thread, not 0. Unlike its number it stays the same in the child of a fork, which has
 * what the forking thread held. Slots of two threads are at least 64 bytes apart. */
static inline uint32_t check_self(void)
{
    return (uint32_t)((uintptr_t)pawl_os_thread_slot() >> 5) | 1;
}

/* The books of the line; NULL for no line, and for one that has none. */
static inline struct pawl_check_line *check_line_of(const struct pawl_thread_line *line)
{
    return line == NULL || thread_number(line) >= PAWL_CHECK_LINES
               ? NULL
               : &check_here()->lines[thread_number(line)];
}

/* Those of the calling thread, which registers if need be. */
static inline struct pawl_check_line *check_line(void)
{
    return check_line_of(ipawl_thread_line_());
}

/* For a lock that names its holder: the calling thread. The watch finds its number by that. */
static inline uint32_t check_holder(void)
{
    struct pawl_check_line *const line = check_line();
    if (line != NULL)
        pawl_store_relaxed32(&line->self, check_self());
    return check_self();
}

/* Lines with books that have been used. */
static inline uint32_t check_lines_used(void)
{
    const uint32_t used = pawl_load_relaxed32(&process_here()->lines_used);
    return used < PAWL_CHECK_LINES ? used : PAWL_CHECK_LINES;
}

/* The number of the thread that has the line; 0: none has. */
static inline uint32_t check_owner(const struct pawl_check_line *line)
{
    return pawl_load_relaxed32(&process_here()->lines[line - check_here()->lines].owner);
}

/* ---- pawl_held.what: the state held, the one asked for (U: none), the kind of asking, width -- */

#define CHECK_LEAVING UINT32_C(0x1000) /* a drop runs: no longer a reason to keep the lock */

static inline uint32_t check_what(unsigned state, unsigned wants, unsigned kind, uint32_t bits)
{
    return state | wants << 4 | kind << 8 | bits << 16;
}

/* clang-format off */
static inline unsigned check_state(uint32_t what) { return what & 0xf; }
static inline unsigned check_wants(uint32_t what) { return what >> 4 & 0xf; }
static inline unsigned check_kind(uint32_t what) { return what >> 8 & 0xf; }
static inline uint32_t check_bits(uint32_t what) { return what >> 16; }

static inline unsigned check_width(uint32_t bits) { return bits & 0xff; }
/* clang-format on */

/* Reading any thread's entries; a free one has lock 0. */
static inline ipawl_address_ check_lock_of(const struct pawl_held *h)
{
    return PAWL_ADDRESS_(pawl_load_relaxed)(&h->lock);
}

static inline uint32_t check_what_of(const struct pawl_held *h)
{
    return pawl_load_relaxed32(&h->what);
}

/* The counter that an entry for the lock moves on. */
static inline uint32_t *check_turn(struct pawl_check_line *line, ipawl_address_ lock)
{
    return &line->turns[(uint32_t)((lock * UINT64_C(0x9e3779b97f4a7c15)) >> 32) % PAWL_CHECK_TURNS];
}

static inline uint32_t check_used_of(const struct pawl_check_line *line)
{
    return pawl_load_relaxed32(&line->held_used);
}

/* The checker's own locks, over words that no other code uses. A thread without a line (NULL) takes
 * them only to report. */
static inline void check_enter(struct pawl_check_line *line, struct pawl_latch *lock)
{
    if (line != NULL)
        line->busy++;
    latch_take(lock);
}

static inline void check_leave(struct pawl_check_line *line, struct pawl_latch *lock)
{
    latch_drop(lock);
    if (line != NULL)
        line->busy--;
}

/* ---- check.c --------------------------------------------------------------------------------- */

#define ipawl_check_before_ PAWL_SYMBOL_(pawl_check_before)
#define ipawl_check_after_ PAWL_SYMBOL_(pawl_check_after)
#define ipawl_check_unused_ PAWL_SYMBOL_(pawl_check_unused)
#define ipawl_check_asserted_ PAWL_SYMBOL_(pawl_check_asserted)
#define ipawl_check_has_ PAWL_SYMBOL_(pawl_check_has)

/* Around an operation: reports its faults. `ok` says whether the caller's state changed. */
struct pawl_held *ipawl_check_before_(const struct pawl_check_call *call);
void ipawl_check_after_(const struct pawl_check_call *call, struct pawl_held *held, bool ok);

/* For init and destroy: reports when a thread holds or wants the lock (`what` is the headline), and
 * forgets its orders. `units`: the word shows holders; false when the word's contents are
 * unknown. */
void ipawl_check_unused_(const struct pawl_check_call *call, const char *what, bool units);

void ipawl_check_asserted_(const struct pawl_check_call *call);

/* Before a wait for a condition: false where the caller's hold can only be a read that any thread
 * may drop. These are in no book. */
bool ipawl_check_has_(const void *lock);

#define ipawl_check_counted_comes_ PAWL_SYMBOL_(pawl_check_counted_comes)
#define ipawl_check_counted_goes_ PAWL_SYMBOL_(pawl_check_counted_goes)
#define ipawl_check_counted_waits_ PAWL_SYMBOL_(pawl_check_counted_waits)

/* Around a read that any thread may drop, which has no entry. `waits`: it does not get in now. */
void ipawl_check_counted_comes_(void);
void ipawl_check_counted_goes_(void);
void ipawl_check_counted_waits_(const struct pawl_check_call *call);

/* ---- check_claims.c -------------------------------------------------------------------------- */

#define ipawl_claims_fit_ PAWL_SYMBOL_(pawl_claims_fit)
#define ipawl_claims_count_ PAWL_SYMBOL_(pawl_claims_count)

/* Judged by the word that the call met: true when the units to be added fit; else reports. `what`:
 * the caller's entry while it asks. */
bool ipawl_claims_fit_(const struct pawl_check_call *call, uint32_t what);
/* Judged by the entries, the caller's included. This is enough for 16 bits, and done for these
 * only. */
void ipawl_claims_count_(struct pawl_check_line *line, const struct pawl_check_call *call);

/* ---- check_order.c --------------------------------------------------------------------------- */

#define ipawl_order_check_ PAWL_SYMBOL_(pawl_order_check)
#define ipawl_order_forget_ PAWL_SYMBOL_(pawl_order_forget)
#define ipawl_order_after_fork_ PAWL_SYMBOL_(pawl_order_after_fork)

/* The call may wait: notes that it comes after all locks that the thread holds, and reports an
 * inversion. `drains`: it waits for readers only. */
void ipawl_order_check_(struct pawl_check_line *line, const struct pawl_check_call *call,
                        bool drains);
void ipawl_order_forget_(struct pawl_check_line *line, ipawl_address_ lock);
void ipawl_order_after_fork_(void);

#include "check_view.h"

#endif
#endif
