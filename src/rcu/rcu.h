/* SPDX-License-Identifier: MIT */
/* What the parts of RCU share: readers (rcu.c), grace periods (rcu_grace.c), stalls (rcu_stall.c),
 * callbacks (rcu_call.c). Domains are named by their index. */
#ifndef PAWL_RCU_INSIDE_H
#define PAWL_RCU_INSIDE_H

#include <pawl/rcu.h>

#include "../base/base.h"
#include "../check/check.h"

/* ---- What is one per process ----------------------------------------------------------------- */

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
    struct pawl_latch stalls; /* what domains were told to do about stalls; rcu_stall.c */
    struct pawl_rcu_line lines[PAWL_RCU_LINES];
    struct pawl_rcu_state states[PAWL_RCU_DOMAINS];
#if PAWL_HOOKS
    struct pawl_rcu_mine mine[2 * PAWL_RCU_LINES]; /* of all threads, the half without a line */
#endif
};

PAWL_SHARED_DECLARE(struct pawl_rcu, rcu_object);

static inline struct pawl_rcu *rcu_here(void)
{
    return PAWL_SHARED(struct pawl_rcu, rcu_object);
}

static inline uint32_t rcu_nesting(uint32_t word)
{
    return word & PAWL_RCU_NESTING_;
}

/* ---- Grace periods (rcu_grace.c) ------------------------------------------------------------- */

/* The grace period that what the caller removed must wait for: a full fence and a load. Cookies of
 * a domain only grow; 0 is over. Signal-safe. */
PAWL_INTERNAL uint64_t rcu_start(uint32_t index);
/* Whether it is over, by one acquire load; drives nothing. */
PAWL_INTERNAL bool rcu_over(uint32_t index, uint64_t cookie);
/* The same, and drives it as far as that goes without waiting. Signal-safe. */
PAWL_INTERNAL bool rcu_poll(uint32_t index, uint64_t cookie);
/* Returns when it is over. Does not look whether the caller reads. `looks`: times that the driver
 * looks at the readers before it sleeps; RCU_LOOKS or more. */
PAWL_INTERNAL void rcu_wait(uint32_t index, uint64_t cookie, unsigned looks);
#if PAWL_HOOKS
#define RCU_LOOKS 0u /* a harness wants to see the sleep */
#else
#define RCU_LOOKS 10u
#endif

/* The child of a fork: nobody drives, but for the caller (of a signal handler that forks). */
PAWL_INTERNAL void rcu_grace_after_fork(struct pawl_rcu_state *state,
                                        const struct pawl_rcu_mine *mine);

/* ---- Callbacks (rcu_call.c) ------------------------------------------------------------------ */

/* The domain ends: returns when no callback of it is left and none of its workers runs. */
PAWL_INTERNAL void rcu_calls_end(pawl_rcu_domain *d);

/* ---- Readers (rcu.c) ------------------------------------------------------------------------- */

/* Whether the caller is in a section of the domain (of PAWL_RCU_QS_: online): then it may not wait
 * for a grace period of it. Signal-safe. */
PAWL_INTERNAL bool rcu_inside(uint32_t index);
/* ... of any domain but PAWL_RCU_QS_. */
PAWL_INTERNAL bool rcu_inside_any(void);
/* Who waits for a grace period of quiescent states holds no reference meanwhile: takes the caller
 * offline, whatever it was, and back. */
PAWL_INTERNAL uint32_t rcu_rest_begin(void);
PAWL_INTERNAL void rcu_rest_end(uint32_t was);

/* Enters a section, or leaves one: false if the caller is in none. */
PAWL_INTERNAL void rcu_enter(uint32_t index);
PAWL_INTERNAL bool rcu_leave(uint32_t index);
/* How many sections the caller is in, one inside the other. */
PAWL_INTERNAL uint32_t rcu_depth(uint32_t index);

PAWL_INTERNAL struct pawl_rcu_line *rcu_line_of(const struct pawl_thread_line *line);
PAWL_INTERNAL struct pawl_rcu_state *rcu_state(uint32_t index);
PAWL_INTERNAL const char *rcu_name(uint32_t index);

/* ---- Stalls (rcu_stall.c) -------------------------------------------------------------------- */

/* When the driver's sleep must end for a report: ns of pawl_os_now; PAWL_NO_DEADLINE if nobody
 * asked for reports. */
PAWL_INTERNAL uint64_t rcu_stall_due(struct pawl_rcu_state *state);
/* Reports the old readers if it is time. By the driver. */
PAWL_INTERNAL void rcu_stall_look(uint32_t index);
/* A grace period has noted its readers. */
PAWL_INTERNAL void rcu_stall_begin(struct pawl_rcu_state *state);

/* Ends the program: what the caller asked for can never happen. */
PAWL_INTERNAL __attribute__((noreturn)) void rcu_never(const char *call, const char *why);

/* ---- The checking variant -------------------------------------------------------------------- */

#if PAWL_CHECKED
/* "WHAT: rcu domain NAME", done by that call at that return address. */
PAWL_INTERNAL void rcu_misuse(const char *what, uint32_t index, const char *call, const void *site);
/* The calling thread ends in a section. */
PAWL_INTERNAL void rcu_left_open(uint32_t index);
/* The domain is about to be destroyed. */
PAWL_INTERNAL void rcu_nobody_reads(uint32_t index, const void *site);
#endif

#endif
