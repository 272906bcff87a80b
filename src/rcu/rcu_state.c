/* SPDX-License-Identifier: MIT */
/*
 * RCU: what readers and grace periods have in common, at the bottom of both: a thread's own part
 * and its line, leaving the sections in a line, the domains and their names.
 */
#include "rcu.h"

#include "../base/base.h"
#if PAWL_CHECKED
#include <stdio.h>

#include "../check/check.h"
#endif

#if PAWL_OWN_IS_POINTER_
PAWL_THREAD_SHARED_DEFINE(struct pawl_rcu_line *, rcu_at_hand);

PAWL_INTERNAL void rcu_have_line(struct pawl_rcu_mine *mine, struct pawl_rcu_line *line)
{
    *PAWL_SHARED_PLACE(struct pawl_rcu_line *, rcu_at_hand) = NULL;
    HANDLERS_SEE_THIS_ORDER();
    mine->line = line;
    HANDLERS_SEE_THIS_ORDER();
    *PAWL_SHARED_PLACE(struct pawl_rcu_line *, rcu_at_hand) = line;
    HANDLERS_SEE_THIS_ORDER();
}
#else
PAWL_INTERNAL void rcu_have_line(struct pawl_rcu_mine *mine, struct pawl_rcu_line *line)
{
    mine->line = line;
}
#endif

#if !PAWL_HOOKS

__attribute__((noinline)) struct pawl_rcu_mine *ipawl_rcu_mine_(void)
{
    return &pawl_os_own()->rcu;
}

#else

struct pawl_rcu_mine *ipawl_rcu_mine_(void)
{
    static struct pawl_rcu_mine nobody; /* for threads of harnesses that do not read */
    const size_t number = (size_t)(ipawl_thread_line_() - process_here()->lines);
    return number < 2 * PAWL_RCU_LINES ? &rcu_here()->mine[number] : &nobody;
}

#endif

PAWL_INTERNAL struct pawl_rcu_state *rcu_state(uint32_t index)
{
    return &rcu_here()->states[index];
}

PAWL_INTERNAL struct pawl_rcu_line *rcu_line_of_caller(const struct pawl_rcu_mine *mine)
{
    return mine->extra != NULL ? (struct pawl_rcu_line *)(void *)mine->extra
                               : rcu_line_of(thread_registered());
}

/* ---- Leaving --------------------------------------------------------------------------------- */

PAWL_COLD void ipawl_rcu_tell_(uint32_t index)
{
    struct pawl_rcu_state *state = rcu_state(index);
    struct pawl_rcu_line *line = rcu_line_of_caller(ipawl_rcu_mine_());
    if (line != NULL)
        (void)pawl_fetch_and_relaxed32(&line->waited, ~(UINT32_C(1) << index));
    /* Relaxed: a driver that finds the new turn before its fence of RCU_SLEEP comes after the
     * reader's fence of RCU_LEFT. So that driver finds the reader's word as well. */
    (void)pawl_fetch_add_relaxed32(&state->turn, 1);
    (void)pawl_os_wake(&state->turn, UINT32_MAX);
}

/* Leaves the sections in a line, for as many new ones: `nesting`, mostly 0. One store does both, so
 * a handler finds the thread in the old ones or in the new ones. */
PAWL_INTERNAL void rcu_leave_line(struct pawl_rcu_line *line, uint32_t index, uint32_t nesting)
{
    const uint32_t left = (rcu_load_word(line, index) & ~PAWL_RCU_NESTING_) + PAWL_RCU_LEFT_;
    RCU_TOLD_LEFT(index);
    /* [RCU_LEAVE] release: the reader's reads are done before the grace period sees it gone. */
    pawl_store_release32(&line->read[index], left + nesting, PAWL_RCU_LEAVE);
    /* [RCU_LEFT] light: the reader's word is written before it looks whether a driver waits for
     * it. */
    pawl_fence_light(PAWL_RCU_LEFT);
    if (PAWL_UNLIKELY((pawl_load_relaxed32(&line->waited) & UINT32_C(1) << index) != 0))
        ipawl_rcu_tell_(index);
}

PAWL_INTERNAL void rcu_line_left_behind(struct pawl_rcu_line *line)
{
    for (uint32_t index = 0; index < PAWL_RCU_DOMAINS; index++) {
        if (rcu_nesting(rcu_load_word(line, index)) != 0)
            rcu_leave_line(line, index, 0);
    }
}

/* ---- Fork ------------------------------------------------------------------------------------ */

PAWL_INTERNAL void rcu_grace_after_fork(struct pawl_rcu_state *state,
                                        const struct pawl_rcu_mine *mine)
{
    if (PAWL_ADDRESS_(pawl_load_relaxed)(&state->driver) != (ipawl_address_)(uintptr_t)mine) {
        PAWL_ADDRESS_(pawl_store_relaxed)(&state->driver, 0);
        state->noted = 0;
    }
    pawl_store_relaxed32(&state->apart_waited, 0);
    pawl_store_relaxed32(&state->sleepers,
                         mine->sleeps == (uint32_t)(state - rcu_here()->states) + 1);
    pawl_store_relaxed32(&state->turn, pawl_load_relaxed32(&state->turn) + 1);
    pawl_store_relaxed32(&state->ended, pawl_load_relaxed32(&state->ended) + 1);
}

/* ---- Domains --------------------------------------------------------------------------------- */

static pawl_rcu_domain built_in[2] = {{PAWL_RCU_DEFAULT_, "default"},
                                      {PAWL_RCU_QS_, "quiescent states"}};

pawl_rcu_domain *pawl_rcu_default(void)
{
    return &built_in[0];
}

pawl_rcu_domain *pawl_rcu_qs(void)
{
    return &built_in[1];
}

PAWL_INTERNAL const char *rcu_name(uint32_t index)
{
    const char *name = index <= PAWL_RCU_QS_ ? built_in[index].name : rcu_state(index)->name;
    return name == NULL ? "" : name;
}

#if PAWL_CHECKED

PAWL_INTERNAL void rcu_misuse(const char *what, uint32_t index, const char *call, const void *site)
{
    char type[128];
    (void)snprintf(type, sizeof type, "rcu domain %s", rcu_name(index));
    ipawl_report_misuse_(what, type, rcu_state(index), call, site);
}

PAWL_INTERNAL void rcu_left_open(uint32_t index)
{
    const struct pawl_rcu_line *line = rcu_line_of_caller(ipawl_rcu_mine_());
    rcu_misuse("section left open at the end of its thread", index, "pawl_rcu_read_lock",
               line == NULL ? NULL
                            : (const void *)(uintptr_t)PAWL_ADDRESS_(pawl_load_relaxed)(
                                  &line->entered[index]));
}

#endif
