/* SPDX-License-Identifier: MIT */
/* What the files of the recorder share: a thread's state, the functions beside the calls, and how a
 * call enters and leaves the thread's lane. */
#pragma once

#include <errno.h>
#include <sched.h>
#include <stddef.h>
#include <string.h>

#include <pawl/atomic.h>

#include "clock.h"
#include "format.h"
#include "next.h"

#define TRACE_HIDDEN __attribute__((visibility("hidden")))
#define TRACE_HERE() ((uint64_t)(uintptr_t)__builtin_return_address(0))
#define TRACE_HANDLERS_SEE_THIS_ORDER() __asm__ __volatile__("" ::: "memory")

enum { TRACE_DROPPED = 4 };

/* Parts of a millisecond: how long a look at the processor is good for, before a hold without a
 * wait and after one with it; a hold that went on for so long after a wake is noted. */
enum { TRACE_SOME_NS = 20000 }; /* off its processor for less: that is not looked into */
enum { TRACE_OFTEN = 4, TRACE_OFTEN_WAITED = 16, TRACE_LONG = 8 };

/* A read lock that this thread has dropped lately. */
struct trace_dropped {
    uint64_t lock, at, read;
    uint32_t writes;
};

/* A take that is timed, in parts, and its release (price.c). */
struct trace_price {
    uint64_t begun;  /* 0: no call is being timed */
    uint64_t tried;  /* the lock was granted */
    uint64_t since;  /* which hold it is */
    uint64_t let_go; /* its release */
    uint64_t noted;  /* the lock is released */
    uint64_t part[TRACE_PARTS];
    struct trace_record *record; /* during the release */
};

struct trace_self {
    struct trace_lane *lane; /* NULL: the thread has none (yet) */
    struct trace_key *keys;
    struct trace_record *records;
    struct trace_edge *edges;
    struct trace_blame *blames;
    struct trace_event *events;
    struct trace_event *windows[2];
    struct trace_event *timed; /* of a window: how long does its releasing call take? */
    uint64_t timed_at;
    uint64_t realtime; /* TRACE_REALTIME or 0, as of the last wait */
    uint32_t inside;
    uint32_t number;
    uint32_t refused; /* there is no lane for it */
    uint32_t dropped_next;
    uint32_t asking;                       /* 1: an operation of Pawl's own locks waits */
    uint32_t stack_in, stack_gap;          /* takes until one has its stack; of how many one has */
    uint32_t price_in;                     /* and until one is timed */
    uint64_t woke_at, woke_key, woke_site; /* the first wake in the holds marked TRACE_WOKE */
    uint64_t seen_at, seen_cpu, seen_left; /* processor time and voluntary switches, lately */
    struct trace_price price;
    struct trace_dropped dropped[TRACE_DROPPED];
};

/* A wait in front of the thread: between the two calls the lane is not entered. */
struct trace_wait {
    uint64_t key, site, begun, holder;
    struct trace_upgrade *upgrade; /* NULL: none */
    uint32_t writes;               /* of the lock, when this thread had read it */
    uint32_t at;                   /* index of the hold */
    uint32_t stack;
    bool inverted;
};

extern _Thread_local struct trace_self trace_self
    __attribute__((tls_model("initial-exec"), visibility("hidden")));
extern struct trace_control *trace_control TRACE_HIDDEN;
extern uint64_t trace_window TRACE_HIDDEN; /* ticks between a read and a write of one pattern */

/* ---- The cold side: record.c, lane.c --------------------------------------------------------- */

PAWL_COLD TRACE_HIDDEN bool trace_enter_slow(void);
PAWL_COLD TRACE_HIDDEN void trace_forget(uint64_t lock);
PAWL_COLD TRACE_HIDDEN void trace_outgrow(void);
PAWL_COLD TRACE_HIDDEN void trace_window_begins(uint64_t now);
PAWL_COLD TRACE_HIDDEN void trace_window_looks_at_clock(struct trace_window *w, uint64_t now);
/* tables.c. True: the recorder may make a system call of its own, until trace_has_called(). False:
 * the program has sandboxed itself, or is about to. */
PAWL_COLD TRACE_HIDDEN bool trace_may_call(void);
PAWL_COLD TRACE_HIDDEN void trace_has_called(void);
PAWL_COLD TRACE_HIDDEN bool trace_calls_are_over(void);
/* Returns when no thread is in a call any more. */
PAWL_COLD TRACE_HIDDEN void trace_calls_end(void);
/* An outermost hold begins: processor time and switches are noted, as it may become a long one. The
 * hold then begins after the look. */
PAWL_COLD TRACE_HIDDEN void trace_look_at_processor(struct trace_hold *h);
/* The thread was off its processor for more than half of the time, and never of its own accord. */
PAWL_COLD TRACE_HIDDEN bool trace_was_only_kept_off(uint64_t since, uint64_t now);
PAWL_COLD TRACE_HIDDEN void trace_long_hold(struct trace_record *r, const struct trace_hold *h,
                                            uint64_t now);
PAWL_COLD TRACE_HIDDEN struct trace_record *trace_insert(const struct trace_key *key);
PAWL_COLD TRACE_HIDDEN void trace_look_at_priority(void);
PAWL_COLD TRACE_HIDDEN void trace_upgrade(uint64_t key, uint64_t site, struct trace_wait *wait);
/* How long the recorder's own work takes before a hold, once a process. */
PAWL_COLD TRACE_HIDDEN void trace_look_at_own_cost(void);
/* price.c: a call begins that is timed; the lock is taken, and being released; it is released. And
 * what these take of a lock that nobody shares, once a process. */
PAWL_COLD TRACE_HIDDEN void trace_price_begins(void);
PAWL_COLD TRACE_HIDDEN void trace_price_is_taken(struct trace_hold *h);
PAWL_COLD TRACE_HIDDEN void trace_price_is_released(struct trace_record *r,
                                                    const struct trace_hold *h, uint64_t now);
PAWL_COLD TRACE_HIDDEN void trace_price_ends(void);
PAWL_COLD TRACE_HIDDEN void trace_price_alone(void);
/* order.c: a lock or a sleep behind a hold; a hold that ends before the one after it. */
TRACE_HIDDEN void trace_order(uint64_t key, uint64_t site);
TRACE_HIDDEN void trace_edge(const struct trace_hold *h, uint64_t key, uint64_t site);
TRACE_HIDDEN void trace_hands_over(const struct trace_hold *h, const struct trace_hold *then);
/* Did another thread write since the read? */
TRACE_HIDDEN void trace_changed(struct trace_upgrade *u, uint64_t lock, uint32_t writes);
/* A lock without a wait, by a thread that holds others. True: there is no more to be done. */
TRACE_HIDDEN bool trace_among_others(uint64_t key, uint64_t site, bool only_tried);
/* The memory of a lock is another lock's from now on. */
TRACE_HIDDEN void trace_lock_ends(const volatile void *lock);
/* The thread ends, and what it holds with it. */
PAWL_COLD TRACE_HIDDEN void trace_ends_holding(void);
/* The processor time of the thread so far. */
PAWL_COLD TRACE_HIDDEN void trace_note_processor(void);
/* Names the memory: where a lock was initialised. */
PAWL_COLD TRACE_HIDDEN void trace_initialised(const void *lock, uint64_t site);
/* The block of memory that a lock lies in; the same where it was not asked for yet. */
PAWL_COLD TRACE_HIDDEN void trace_find_block(struct trace_init *init);
PAWL_COLD TRACE_HIDDEN void trace_allocated(uint64_t key);
/* Makes sure that the modules of both addresses are in the file. */
PAWL_COLD TRACE_HIDDEN void trace_know(uint64_t address, uint64_t another);
/* The stack of the call that returns to the site; 0: it is not known, or not wanted. */
PAWL_COLD TRACE_HIDDEN uint32_t trace_stack(uint64_t site);
/* Who called the function that the site lies in; 0 where it is not known. */
PAWL_COLD TRACE_HIDDEN void trace_callers(uint64_t site, uint64_t found[TRACE_CALLERS]);
/* A wait at that stack. */
PAWL_COLD TRACE_HIDDEN void trace_stack_waited(uint64_t key, uint32_t stack, uint64_t ticks);
/* The thread's newest hold, of a take without a wait: one in some has its stack. */
PAWL_COLD TRACE_HIDDEN void trace_stack_taken(void);
/* A short lock for tables of the process, which nobody waits for long; false: another has it. */
TRACE_HIDDEN bool trace_tables_try(void);
TRACE_HIDDEN void trace_tables_done(void);
TRACE_HIDDEN void trace_tables_in_child(void);

/* ---- Waits: record.c, blame.c ---------------------------------------------------------------- */

TRACE_HIDDEN void trace_wait_begins(struct trace_wait *w, uint64_t key, uint64_t site);
/* blame.c: holders note their holds while somebody waits, and the waiter shares its wait out. */
PAWL_COLD TRACE_HIDDEN void trace_looks_who_holds(struct trace_wait *w, uint64_t holder);
PAWL_COLD TRACE_HIDDEN void trace_held_meanwhile(const struct trace_hold *h, uint64_t now);
PAWL_COLD TRACE_HIDDEN void trace_waits_no_more(const struct trace_wait *w);
PAWL_COLD TRACE_HIDDEN void trace_blame(const struct trace_wait *w, uint64_t now, bool granted);
/* The wait is over; `granted`: with the lock. */
TRACE_HIDDEN void trace_wait_ends(struct trace_wait *w, bool granted, bool timed_out);
/* The same where no call will say that the lock is released, so there is no hold. */
TRACE_HIDDEN void trace_wait_is_over(struct trace_wait *w, bool granted, bool timed_out);
/* A wait on something that nobody holds: condition, barrier, semaphore. */
TRACE_HIDDEN void trace_waited(uint64_t key, uint64_t site, uint64_t begun, bool waited, int error);
/* A call without wait and hold: signal, post; failed: a try. */
TRACE_HIDDEN void trace_called(uint64_t key, uint64_t site, bool failed);
/* A signal or a broadcast of a condition. */
TRACE_HIDDEN void trace_wakes(uint64_t key, uint64_t site);
/* pthread_cond_wait gives the mutex up and comes back with it. */
TRACE_HIDDEN void trace_cond_gives_up(const void *mutex, uint64_t site);
TRACE_HIDDEN void trace_cond_is_back(const void *mutex, uint64_t site);

/* ---- Entering and leaving -------------------------------------------------------------------- */

/* True: the thread may write its lane, until leave(). */
static inline bool enter(void)
{
    if (PAWL_UNLIKELY(trace_self.lane == NULL || trace_self.inside != 0 ||
                      pawl_load_relaxed32(&trace_control->enabled) == 0))
        return trace_enter_slow();
    trace_self.inside = 1;
    TRACE_HANDLERS_SEE_THIS_ORDER();
    return true;
}

static inline void leave(void)
{
    TRACE_HANDLERS_SEE_THIS_ORDER();
    trace_self.inside = 0;
}

/* Before a lock is tried that may be waited for. */
static inline void trace_will_ask(void)
{
    if (PAWL_UNLIKELY(--trace_self.price_in == 0))
        trace_price_begins();
}

static inline uint64_t key_of(const volatile void *lock, enum trace_mode mode)
{
    return ((uint64_t)(uintptr_t)lock & TRACE_ADDRESS) | (uint64_t)mode << TRACE_ADDRESS_BITS;
}

static inline enum trace_mode mode_of(uint64_t key)
{
    return (enum trace_mode)(key >> TRACE_ADDRESS_BITS & ((1 << TRACE_MODE_BITS) - 1));
}

static inline bool is_read(uint64_t key)
{
    return (1u << mode_of(key) & (1u << TRACE_READ | 1u << TRACE_OUR_READ)) != 0;
}

static inline bool is_write(uint64_t key)
{
    return (1u << mode_of(key) & (1u << TRACE_WRITE | 1u << TRACE_OUR_WRITE)) != 0;
}

static inline bool is_seek(uint64_t key)
{
    return mode_of(key) == TRACE_OUR_SEEK;
}

/* Several may be in. */
static inline bool is_counted(uint64_t key)
{
    return (1u << mode_of(key) &
            (1u << TRACE_READ | 1u << TRACE_OUR_READ | 1u << TRACE_OUR_SEEK)) != 0;
}

/* The result of a function of C11, as glibc has it. */
static inline int trace_thrd(int error)
{
    switch (error) {
    case 0: return thrd_success;
    case ENOMEM: return thrd_nomem;
    case ETIMEDOUT: return thrd_timedout;
    case EBUSY: return thrd_busy;
    default: return thrd_error;
    }
}

static inline bool trace_is_time(const struct timespec *t)
{
    return t != NULL && t->tv_nsec >= 0 && t->tv_nsec < 1000000000;
}

static inline uint64_t mixed(uint64_t a, uint64_t b, uint64_t c)
{
    return ((a ^ (b << 21 | b >> 43) ^ (c << 42 | c >> 22)) * UINT64_C(0x9e3779b97f4a7c15)) >> 32;
}

static inline struct trace_slot *slot_of(uint64_t lock)
{
    return &trace_control->slots[mixed(lock & TRACE_ADDRESS, 0, 0) % TRACE_SLOTS];
}

static inline uint32_t bucket_of(uint64_t ticks)
{
    if (ticks < 4)
        return (uint32_t)ticks;
    uint32_t exponent = 63 - (uint32_t)__builtin_clzll(ticks);
    uint32_t bucket = 4 * (exponent - 1) + (uint32_t)(ticks >> (exponent - 2) & 3);
    return bucket < TRACE_BUCKETS ? bucket : TRACE_BUCKETS - 1;
}
