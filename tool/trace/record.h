/* SPDX-License-Identifier: MIT */
/*
 * What the recorder does at each call. A thread writes its own lane only, so nothing here is
 * atomic but the slots, which say who holds a lock; those are read and written relaxed.
 *
 * A signal handler may interrupt any line. `inside` is 1 while the lane is being changed: the
 * handler's calls are then counted and not recorded. While a thread waits, `inside` is 0. The
 * handler leaves the holds as it found them.
 *
 * Nothing here allocates, waits, or changes errno.
 */
#ifndef PAWL_TRACE_RECORD_H
#define PAWL_TRACE_RECORD_H

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
    uint32_t stack_in;                     /* takes until one has its stack */
    uint32_t price_in;                     /* and until one is timed */
    uint64_t woke_at, woke_key, woke_site; /* the first wake in the holds marked TRACE_WOKE */
    uint64_t seen_at, seen_cpu, seen_left; /* processor time and voluntary switches, lately */
    struct trace_price price;
    struct trace_dropped dropped[TRACE_DROPPED];
};

struct trace_wait;

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
/* sandbox.c. True: the recorder may make a system call of its own, until trace_has_called(). False:
 * the program has sandboxed itself, or is about to. */
PAWL_COLD TRACE_HIDDEN bool trace_may_call(void);
PAWL_COLD TRACE_HIDDEN void trace_has_called(void);
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
/* The block of memory that a lock lies in, where it was not asked for yet. */
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

/* ---- Tables ---------------------------------------------------------------------------------- */

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
    uint32_t exponent, bucket;
    if (ticks < 4)
        return (uint32_t)ticks;
    exponent = 63 - (uint32_t)__builtin_clzll(ticks);
    bucket = 4 * (exponent - 1) + (uint32_t)(ticks >> (exponent - 2) & 3);
    return bucket < TRACE_BUCKETS ? bucket : TRACE_BUCKETS - 1;
}

static inline struct trace_record *record_of(uint64_t lock, uint64_t take, uint64_t release)
{
    const struct trace_key key = {lock, take, release};
    const size_t first = (mixed(lock, take, release) & (trace_self.lane->sets - 1)) * TRACE_WAYS;
    size_t i;
    for (i = first; i < first + TRACE_WAYS; i++) {
        const struct trace_key *const k = &trace_self.keys[i];
        if (k->lock == lock && k->take == take && k->release == release)
            return &trace_self.records[i];
    }
    return trace_insert(&key);
}

static inline void seen_by(struct trace_record *r)
{
    if (PAWL_UNLIKELY(r->last_thread != trace_self.number)) {
        r->last_thread = trace_self.number;
        r->threads++;
    }
}

static inline void add_wait(struct trace_record *r, uint64_t begun, uint64_t ticks)
{
    if (r->waits++ == 0)
        r->first_wait = begun;
    r->wait_sum += ticks;
    if (ticks > r->wait_max)
        r->wait_max = ticks;
    r->wait[bucket_of(ticks)]++;
}

static inline void add_to_window(const struct trace_event *e, uint64_t now)
{
    struct trace_lane *const lane = trace_self.lane;
    struct trace_window *w;
    uint64_t count;
    if (PAWL_UNLIKELY(now >= lane->window_next))
        trace_window_begins(now);
    w = &lane->windows[lane->window & 1];
    count = w->count;
    if (count == lane->ring) {
        w->missed++;
        return;
    }
    trace_self.windows[lane->window & 1][count] = *e;
    trace_self.timed = &trace_self.windows[lane->window & 1][count];
    trace_self.timed_at = now;
    TRACE_HANDLERS_SEE_THIS_ORDER();
    w->count = count + 1;
    if (PAWL_UNLIKELY((count & (count + 1)) == 0))
        trace_window_looks_at_clock(w, now);
}

static inline void add_event(const struct trace_event *e, uint64_t now)
{
    struct trace_lane *const lane = trace_self.lane;
    trace_self.events[lane->events & (lane->ring - 1)] = *e;
    TRACE_HANDLERS_SEE_THIS_ORDER();
    lane->events++;
    add_to_window(e, now);
}

/* ---- Taking ---------------------------------------------------------------------------------- */

/* Pushes a hold. NULL: the thread holds too many. */
static inline struct trace_hold *push(uint64_t key, uint64_t site, uint64_t now, uint32_t state)
{
    struct trace_lane *const lane = trace_self.lane;
    struct trace_hold *const h = &lane->holds[lane->depth];
    if (PAWL_UNLIKELY(lane->depth == TRACE_HOLDS)) {
        lane->deep++;
        return NULL;
    }
    h->lock = key;
    h->take = site;
    h->since = now;
    h->waited = 0;
    h->state = state;
    TRACE_HANDLERS_SEE_THIS_ORDER();
    lane->depth++;
    lane->last = now;
    return h;
}

/* What others see, and what they had left there. */
static inline uint32_t show(uint64_t key, uint64_t site, uint32_t *writes)
{
    struct trace_slot *const slot = slot_of(key);
    const uint64_t lock = key & TRACE_ADDRESS;
    const uint32_t cpu = (uint32_t)sched_getcpu();
    const uint64_t holder = (site & UINT64_C(0xffffffffffff)) | trace_self.realtime |
                            (uint64_t)(trace_self.number & 0x3fff) << 48;
    uint32_t state = TRACE_HELD;
    if (PAWL_LIKELY(pawl_load_relaxed64(&slot->lock) == lock)) {
        if (pawl_load_relaxed32(&slot->cpu) != cpu) {
            state |= TRACE_HANDED_OFF;
            pawl_store_relaxed32(&slot->cpu, cpu);
        }
        if (is_counted(key) && pawl_load_relaxed32(&slot->readers) != 0)
            state |= is_seek(key) ? TRACE_BESIDE : TRACE_OVERLAPPED;
        if (mode_of(key) == TRACE_OUR_READ && pawl_load_relaxed32(&slot->seekers) != 0)
            state |= TRACE_BESIDE;
    } else {
        pawl_store_relaxed64(&slot->lock, lock);
        pawl_store_relaxed32(&slot->cpu, cpu);
        pawl_store_relaxed32(&slot->writes, pawl_load_relaxed32(&slot->writes) + 1);
    }
    if (is_counted(key)) {
        state |= TRACE_COUNTED;
        (void)pawl_fetch_add_relaxed32(is_read(key) ? &slot->readers : &slot->seekers, 1);
    }
    *writes = pawl_load_relaxed32(&slot->writes);
    pawl_store_relaxed64(&slot->holder, holder);
    if (PAWL_UNLIKELY(mode_of(key) == TRACE_OUR_READ))
        pawl_store_relaxed64(&slot->reader, holder);
    return state;
}

/* The lock is held, without a wait. A caller that only tried would not have waited, so no order of
 * locks follows from it. The clock is read last: what others see may cost a line of their caches,
 * and a section would look that much longer. */
static inline void granted_at_once(uint64_t key, uint64_t site, bool only_tried)
{
    const bool priced = trace_self.price.begun != 0;
    struct trace_hold *h;
    uint32_t writes, state;
    if (PAWL_UNLIKELY(priced))
        trace_self.price.tried = trace_ticks_in_order();
    if (PAWL_UNLIKELY(trace_self.lane->depth != 0) && trace_among_others(key, site, only_tried)) {
        trace_self.price.begun = 0;
        return;
    }
    if (is_write(key))
        trace_upgrade(key, site, NULL);
    state = show(key, site, &writes);
    h = push(key, site, trace_ticks(), state);
    h->writes = writes;
    if (PAWL_UNLIKELY(h->since - trace_self.seen_at > trace_window / TRACE_OFTEN))
        trace_look_at_processor(h);
    if (PAWL_UNLIKELY(--trace_self.stack_in == 0))
        trace_stack_taken();
    if (PAWL_UNLIKELY(priced))
        trace_price_is_taken(h);
}

static inline void granted(uint64_t key, uint64_t site)
{
    granted_at_once(key, site, false);
}

/* A wait in front of the thread: between the two calls the lane is not entered. */
struct trace_wait {
    uint64_t key, site, begun, holder;
    struct trace_upgrade *upgrade; /* NULL: none */
    uint32_t writes;               /* of the lock, when this thread had read it */
    uint32_t at;                   /* index of the hold */
    uint32_t stack;
    bool inverted;
};

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

/* ---- Releasing ------------------------------------------------------------------------------- */

/* The hold is copied, for looking for its record may move the thread to a larger lane. */
static inline void end_hold(const struct trace_hold *held, uint64_t release, uint64_t now)
{
    struct trace_event e;
    const struct trace_hold copy = *held, *const h = &copy;
    struct trace_record *const r = record_of(h->lock, h->take, release);
    const uint64_t passed = now > h->since ? now - h->since : 0;
    const uint64_t hold = (h->state & TRACE_AGAIN) == 0 ? passed : 0; /* the outer one has it */
    r->count++;
    r->hold_sum += hold;
    if (hold > r->hold_max)
        r->hold_max = hold;
    r->hold[bucket_of(hold)]++;
    if (PAWL_UNLIKELY(h->waited != 0))
        add_wait(r, h->begun, h->waited);
    r->handoffs += (h->state & TRACE_HANDED_OFF) != 0;
    r->overlaps += (h->state & TRACE_OVERLAPPED) != 0;
    r->beside += (h->state & TRACE_BESIDE) != 0;
    seen_by(r);
    if (PAWL_UNLIKELY(hold >= trace_window / TRACE_LONG))
        trace_long_hold(r, h, now);
    e.lock = h->lock;
    e.take = h->take;
    e.release = release;
    e.begun = h->waited != 0 ? h->begun : h->since;
    e.wait = h->since - e.begun;
    e.hold = passed;
    add_event(&e, now);
    if (PAWL_UNLIKELY((h->state & TRACE_PRICED) != 0) && hold < trace_window / TRACE_LONG)
        trace_price_is_released(r, h, now); /* else the record may have moved */
    trace_self.lane->pairs++;
    trace_self.lane->last = now;
}

/* A reader or seeker less. */
static inline void count_out(uint64_t key, uint32_t state)
{
    struct trace_slot *const slot = slot_of(key);
    if ((state & TRACE_COUNTED) == 0)
        return;
    (void)pawl_fetch_sub_relaxed32(is_read(key) ? &slot->readers : &slot->seekers, 1);
    if (mode_of(key) == TRACE_OUR_READ &&
        TRACE_NUMBER(pawl_load_relaxed64(&slot->reader)) == (trace_self.number & 0x3fff))
        pawl_store_relaxed64(&slot->reader, 0);
}

static inline void ends_for_others(const struct trace_hold *h, uint64_t now)
{
    if (PAWL_UNLIKELY(pawl_load_relaxed32(&slot_of(h->lock)->waiters) != 0))
        trace_held_meanwhile(h, now);
    count_out(h->lock, h->state);
}

/* Others see that the lock is free, as far as this thread is concerned, and who had it last. */
static inline void unshow(const struct trace_hold *h, uint64_t now)
{
    struct trace_slot *const slot = slot_of(h->lock);
    const uint64_t holder = pawl_load_relaxed64(&slot->holder);
    if (PAWL_UNLIKELY((h->state & TRACE_AGAIN) != 0))
        return;
    ends_for_others(h, now);
    if (is_read(h->lock)) {
        struct trace_dropped *const d =
            &trace_self.dropped[trace_self.dropped_next++ % TRACE_DROPPED];
        d->lock = h->lock & TRACE_ADDRESS;
        d->at = now;
        d->read = h->take;
        d->writes = h->writes;
    } else if (is_write(h->lock) || mode_of(h->lock) == TRACE_OUR_ATOMIC) {
        pawl_store_relaxed32(&slot->writes, pawl_load_relaxed32(&slot->writes) + 1);
    }
    if (TRACE_NUMBER(holder) == (trace_self.number & 0x3fff))
        pawl_store_relaxed64(&slot->holder, holder | TRACE_PAST);
}

TRACE_HIDDEN void trace_release_at(uint32_t index, uint64_t site);

/* Before the lock is released. */
static inline void releases(const volatile void *address, uint64_t site)
{
    const uint64_t lock = (uint64_t)(uintptr_t)address & TRACE_ADDRESS;
    uint32_t i;
    if (PAWL_UNLIKELY(!enter())) {
        trace_forget(lock);
        return;
    }
    for (i = trace_self.lane->depth; i-- > 0;)
        if ((trace_self.lane->holds[i].lock & TRACE_ADDRESS) == lock &&
            (trace_self.lane->holds[i].state & TRACE_WAITING) == 0)
            break;
    if (PAWL_LIKELY(i != UINT32_MAX))
        trace_release_at(i, site);
    else
        trace_self.lane->strange++;
    leave();
    if (PAWL_UNLIKELY(trace_self.price.record != NULL))
        trace_self.price.noted = trace_ticks_in_order();
}

/* After it. A call that wakes a waiter takes far longer than one that does not, and that time is
 * the lock's, not the program's. */
static inline void released(void)
{
    struct trace_event *const e = trace_self.timed;
    uint64_t units;
    if (PAWL_LIKELY(e == NULL)) {
        if (PAWL_UNLIKELY(trace_self.price.record != NULL))
            trace_price_ends();
        return;
    }
    trace_self.timed = NULL;
    units = (trace_ticks() - trace_self.timed_at) >> TRACE_CALL_UNIT;
    if (units >> (64 - TRACE_SITE_BITS) != 0)
        units = (UINT64_C(1) << (64 - TRACE_SITE_BITS)) - 1;
    e->release = (e->release & ((UINT64_C(1) << TRACE_SITE_BITS) - 1)) | units << TRACE_SITE_BITS;
}

#endif
