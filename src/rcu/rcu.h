/* SPDX-License-Identifier: MIT */
/* What the parts of RCU share: readers (rcu.c), grace periods (rcu_grace.c), stalls (rcu_stall.c),
 * callbacks (rcu_call.c). Domains are named by their index. */
#ifndef PAWL_RCU_INSIDE_H
#define PAWL_RCU_INSIDE_H

#include <pawl/rcu.h>

static inline uint32_t rcu_nesting(uint32_t word)
{
    return word & PAWL_RCU_NESTING_;
}

/* ---- Grace periods (rcu_grace.c) ------------------------------------------------------------- */

/* The grace period that what the caller removed must wait for: a full fence and a load. Cookies of
 * a domain only grow; 0 is over. Signal-safe. */
static uint64_t rcu_start(uint32_t index);
/* Whether it is over, by one acquire load; drives nothing. */
static bool rcu_over(uint32_t index, uint64_t cookie);
/* The same, and drives it as far as that goes without waiting. Signal-safe. */
static bool rcu_poll(uint32_t index, uint64_t cookie);
/* Returns when it is over. Does not look whether the caller reads. `looks`: times that the driver
 * looks at the readers before it sleeps; RCU_LOOKS or more. */
static void rcu_wait(uint32_t index, uint64_t cookie, unsigned looks);
#if PAWL_HOOKS
#define RCU_LOOKS 0u /* a harness wants to see the sleep */
#else
#define RCU_LOOKS 10u
#endif

/* The child of a fork: nobody drives, but for the caller (of a signal handler that forks). */
static void rcu_grace_after_fork(struct pawl_rcu_state *state, const struct pawl_rcu_mine *mine);

/* ---- Callbacks (rcu_call.c) ------------------------------------------------------------------ */

/* The domain ends: returns when no callback of it is left and none of its workers runs. */
static void rcu_calls_end(pawl_rcu_domain *d);

/* ---- Readers (rcu.c) ------------------------------------------------------------------------- */

/* Whether the caller is in a section of the domain (of PAWL_RCU_QS_: online): then it may not wait
 * for a grace period of it. Signal-safe. */
static bool rcu_inside(uint32_t index);
/* ... of any domain but PAWL_RCU_QS_. */
static bool rcu_inside_any(void);
/* Who waits for a grace period of quiescent states holds no reference meanwhile: takes the caller
 * offline, whatever it was, and back. */
static uint32_t rcu_rest_begin(void);
static void rcu_rest_end(uint32_t was);

/* For thread.c. A line has been claimed: its last owner may have died in a section. */
static void rcu_claimed(uint32_t line);
/* The calling thread ends. True: it is in a section, and another key's destructor may yet leave
 * it. */
static bool rcu_stays(void);
/* Ends its sections, before the line is given back; and after that. */
static struct pawl_rcu_mine *rcu_depart(void);
static void rcu_departed(struct pawl_rcu_mine *mine);
/* The child of a fork has its own sections, and nobody else's; nobody drives. */
static void rcu_after_fork_in_child(void);

/* Enters a section, or leaves one: false if the caller is in none. */
static void rcu_enter(uint32_t index);
static bool rcu_leave(uint32_t index);
/* How many sections the caller is in, one inside the other. */
static uint32_t rcu_depth(uint32_t index);

static struct pawl_rcu_line *rcu_line_of(const struct pawl_thread_line *line);
static const struct pawl_thread_line *rcu_registered(void);
static struct pawl_rcu_state *rcu_state(uint32_t index);
static const char *rcu_name(uint32_t index);

/* ---- Stalls (rcu_stall.c) -------------------------------------------------------------------- */

/* When the driver's sleep must end for a report: ns of pawl_os_now; PAWL_NO_DEADLINE if nobody
 * asked for reports. */
static uint64_t rcu_stall_due(struct pawl_rcu_state *state);
/* Reports the old readers if it is time. By the driver. */
static void rcu_stall_look(uint32_t index);
/* A grace period has noted its readers. */
static void rcu_stall_begin(struct pawl_rcu_state *state);

/* Ends the program: what the caller asked for can never happen. */
static _Noreturn void rcu_never(const char *call, const char *why);

/* ---- The checking variant -------------------------------------------------------------------- */

#if PAWL_CHECKED
/* "WHAT: rcu domain NAME", done by that call at that return address. */
static void rcu_misuse(const char *what, uint32_t index, const char *call, const void *site);
/* The calling thread ends in a section. */
static void rcu_left_open(uint32_t index);
/* The domain is about to be destroyed. */
static void rcu_nobody_reads(uint32_t index, const void *site);
#endif

#endif
