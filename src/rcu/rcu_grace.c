/* SPDX-License-Identifier: MIT */
/*
 * RCU: grace periods. They have no thread of their own. A thread that needs one to end becomes its
 * driver. There is one driver at a time. It hands the grace period over when it stops; a poller
 * stops after each look. The other threads sleep until a grace period has ended or its driver has
 * stopped.
 *
 *   begin   started = completed + 1; heavy fence; the words of all lines are noted      (I1, I3)
 *   look    by acquire loads, until each noted word has left its section or counted on    (I2)
 *   sleep   the bit of the domain is set in the lines that are still in; heavy fence; look once
 *           more; sleep until the turn grows, or until it is time to look for the dead    (I4)
 *   end     completed = started; wakes the threads that wait for that
 *
 * One fence is enough, because the driver compares each word with its noted value. A reader that
 * enters after the fence sees what was removed before it. If that reader's word was noted all the
 * same, the grace period only takes longer. So readers read no common number, and the driver need
 * not flip a side and wait twice.
 *
 * Readers without a line are counted in apart[side]. A side that had readers when they were noted
 * counts as empty once the driver has seen it at zero. When the only side left is the one that new
 * readers use, the driver sends them to the other.
 */
#include "rcu.h"

#include <stdlib.h>
#include <string.h>

#include "../base/base.h"
#include "rcu_looks.h"

/* How often a sleeping driver looks whether the threads that it waits for still exist. No other
 * sleep of the library ends by a clock of its own: the dead wake nobody (scripts/no_timeouts). */
#define DEAD_LOOK_NS UINT64_C(1000000000)

/* ---- Readers that are waited for ------------------------------------------------------------- */

/* Begins a grace period, or begins it again if a fork interrupted its driver. */
static void grace_note_readers(struct pawl_rcu_state *state, uint32_t index)
{
    const uint64_t number = pawl_load_relaxed64(&state->completed) + 1;
    pawl_store_relaxed64(&state->started, number);
    /* [RCU_BEGIN] heavy: readers see what was removed before it, or the driver sees their words. */
    pawl_fence_heavy(PAWL_RCU_BEGIN);
    state->lines = rcu_lines(pawl_load_relaxed32(&process_here()->lines_used));
    for (uint32_t i = 0; i < state->lines; i++) {
        /* [RCU_GONE] acquire: what follows comes after the reads of the readers that have left. */
        const uint32_t word = pawl_load_acquire32(&rcu_line(i)->read[index], PAWL_RCU_GONE);
        *rcu_line_old(state, i) = rcu_nesting(word) != 0 ? word : 0;
    }
    state->apart_old = 0;
    for (uint32_t i = 0; i < 2; i++)
        /* [RCU_GONE] acquire: what follows comes after the reads of the readers that have left. */
        if (pawl_load_acquire32(&state->apart[i], PAWL_RCU_GONE) != 0)
            state->apart_old |= 1u << i;
    state->noted = 1;
    PAWL_PROBE2(rcu_grace_begin, index, number);
    state->stall_since = pawl_load_relaxed64(&state->stall_ns) != 0 ? pawl_os_now() : 0;
    state->stall_age = 0;
}

static bool grace_apart_gone(struct pawl_rcu_state *state)
{
    const uint32_t side = pawl_load_relaxed32(&state->side);
    for (uint32_t i = 0; i < 2; i++)
        if ((state->apart_old & 1u << i) != 0 &&
            /* [RCU_GONE] acquire: what follows comes after the reads of the readers that have
             * left. */
            pawl_load_acquire32(&state->apart[i], PAWL_RCU_GONE) == 0)
            state->apart_old &= ~(1u << i);
    if (state->apart_old == 1u << side)
        pawl_store_relaxed32(&state->side, 1 - side);
    return state->apart_old == 0;
}

/* Whether all noted readers have left. */
static bool grace_all_gone(struct pawl_rcu_state *state, uint32_t index)
{
    bool gone = true;
    for (uint32_t i = 0; i < state->lines; i++) {
        uint32_t *const old = rcu_line_old(state, i);
        uint32_t word;
        if (*old == 0)
            continue;
        /* [RCU_GONE] acquire: what follows comes after the reads of the readers that have left. */
        word = pawl_load_acquire32(&rcu_line(i)->read[index], PAWL_RCU_GONE);
        if (rcu_nesting(word) != 0 && (word ^ *old) < PAWL_RCU_LEFT_)
            gone = false;
        else
            *old = 0;
    }
    return (state->apart_old == 0 || grace_apart_gone(state)) && gone;
}

/* A thread may end without notice: by a bare system call, or because its end could not be
 * watched. It reads no more. */
static void grace_forget_the_dead(struct pawl_rcu_state *state)
{
    for (uint32_t i = 0; i < state->lines; i++)
        if (*rcu_line_old(state, i) != 0) {
            const uint32_t owner = pawl_load_relaxed32(rcu_line_owner(i));
            if (owner != 0 && !pawl_os_thread_lives(owner))
                *rcu_line_old(state, i) = 0;
        }
}

/* The age at which the old readers are reported next; 0: the domain reports none. */
PAWL_INTERNAL uint64_t rcu_stall_next_age(struct pawl_rcu_state *state)
{
    const uint64_t ns = pawl_load_relaxed64(&state->stall_ns);
    if (ns == 0)
        return 0;
    if (state->stall_since == 0)
        state->stall_since = pawl_os_now();
    return state->stall_age < ns ? ns : 2 * state->stall_age;
}

/* When the driver's sleep must end for a report; PAWL_NO_DEADLINE if the domain reports none. */
static uint64_t grace_stall_due(struct pawl_rcu_state *state)
{
    const uint64_t age = rcu_stall_next_age(state);
    return age == 0 || age > PAWL_NO_DEADLINE - state->stall_since ? PAWL_NO_DEADLINE
                                                                   : state->stall_since + age;
}

/* When the driver's sleep must end: for a report, or to look for the dead. The threads of a harness
 * do not die unseen. */
#if PAWL_HOOKS
static uint64_t grace_sleeps_until(struct pawl_rcu_state *state)
{
    return grace_stall_due(state);
}
#else
static uint64_t grace_sleeps_until(struct pawl_rcu_state *state)
{
    const uint64_t report = grace_stall_due(state);
    const uint64_t until = pawl_os_now() + DEAD_LOOK_NS;
    return report < until ? report : until;
}
#endif

/* Reports the old readers if a report is due, in a program that has asked for reports. */
static void grace_look_for_stalls(struct pawl_rcu_state *state, uint32_t index)
{
    const ipawl_address_ look = PAWL_ADDRESS_(pawl_load_relaxed)(&state->stall_look);
    if (look != 0)
        ((void (*)(uint32_t))(uintptr_t)look)(index);
}

/* Asks the old readers to wake the driver, and sleeps until one has left. True when all have
 * left. */
static bool grace_sleep_for_readers(struct pawl_rcu_state *state, uint32_t index)
{
    /* [RCU_TOLD] acquire: the report time that the driver reads next is as new as the turn. */
    const uint32_t turn = pawl_load_acquire32(&state->turn, PAWL_RCU_TOLD);
    const uint64_t until = grace_sleeps_until(state);
    bool gone;
    grace_forget_the_dead(state);
    for (uint32_t i = 0; i < state->lines; i++)
        if (*rcu_line_old(state, i) != 0)
            (void)pawl_fetch_or_relaxed32(&rcu_line(i)->waited, UINT32_C(1) << index);
    pawl_store_relaxed32(&state->apart_waited, state->apart_old != 0);
    /* [RCU_SLEEP] heavy: leaving readers can see the driver's bits before it looks whether they
     * have left. */
    pawl_fence_heavy(PAWL_RCU_SLEEP);
    gone = grace_all_gone(state, index);
    PAWL_PROBE1(rcu_sleep, index);
    if (!gone && !pawl_os_wait(&state->turn, turn, until))
        grace_look_for_stalls(state, index);
    pawl_store_relaxed32(&state->apart_waited, 0);
    return gone;
}

/* ---- Waits that can never end ---------------------------------------------------------------- */

PAWL_INTERNAL PAWL_NORETURN void rcu_never(const char *call, const char *why)
{
    pawl_os_complain("pawl: ", 6);
    pawl_os_complain(call, strlen(call));
    pawl_os_complain(" ", 1);
    pawl_os_complain(why, strlen(why));
    pawl_os_complain(": it would wait for itself\n", 27);
    abort();
}

/* ---- Driving --------------------------------------------------------------------------------- */

/* Names the calling thread. In the simulator all threads have their variables at one address. */
#ifdef PAWL_SIM
static ipawl_address_ grace_own_number(void)
{
    return pawl_os_thread_id();
}
#else
static ipawl_address_ grace_own_number(void)
{
    return (ipawl_address_)(uintptr_t)ipawl_rcu_mine_();
}
#endif

static bool grace_drive_begin(struct pawl_rcu_state *state)
{
    ipawl_address_ nobody = 0;
    if (PAWL_ADDRESS_(pawl_load_relaxed)(&state->driver) != 0)
        return false;
    /* [RCU_DRIVE] acquire: the driver sees the grace period as its last driver left it. */
    if (!PAWL_ADDRESS_(pawl_cas_acquire)(&state->driver, &nobody, grace_own_number(),
                                         PAWL_RCU_DRIVE))
        return false;
    PLAIN_WRITE(state->old);
    return true;
}

static void grace_drive_end(struct pawl_rcu_state *state)
{
    PLAIN_WRITE(state->old);
    /* [RCU_HALT] release: the driver's part of the grace period is done before the next
     * driver's. */
    PAWL_ADDRESS_(pawl_store_release)(&state->driver, 0, PAWL_RCU_HALT);
    /* [RCU_TELL] release: a thread that reads the new number sees that the driver has stopped. */
    (void)pawl_fetch_add_release32(&state->ended, 1, PAWL_RCU_TELL);
    /* [RCU_DRIVER_WAKE] full: a waiter sees that the driver has stopped, or the driver sees it
     * wait. */
    pawl_fence_full(PAWL_RCU_DRIVER_WAKE);
    if (PAWL_UNLIKELY(pawl_load_relaxed32(&state->sleepers) != 0))
        (void)pawl_os_wake(&state->ended, UINT32_MAX);
}

static void grace_end(struct pawl_rcu_state *state)
{
    const uint64_t number = pawl_load_relaxed64(&state->started);
    state->noted = 0;
    /* [RCU_END] release: all old sections have ended before the number is stored. */
    pawl_store_release64(&state->completed, number, PAWL_RCU_END);
    PAWL_PROBE2(rcu_grace_end, state - rcu_here()->states, number);
}

/* Drives as far as possible without waiting; true when a grace period has ended. */
static bool grace_drive_once(struct pawl_rcu_state *state, uint32_t index)
{
    if (state->noted == 0)
        grace_note_readers(state, index);
    if (!grace_all_gone(state, index))
        return false;
    grace_end(state);
    return true;
}

/* Drives to the end of one grace period. */
static void grace_drive(struct pawl_rcu_state *state, uint32_t index, unsigned looks)
{
    struct grace_poll poll = grace_poll_begin(state, looks);
    while (!grace_drive_once(state, index)) {
        if (!grace_poll_pause(state, &poll) && grace_sleep_for_readers(state, index)) {
            grace_end(state);
            break;
        }
    }
    grace_poll_end(state, &poll);
}

/* Waits until `ended` has changed; may also return without a reason. */
static void grace_wait_for_driver(struct pawl_rcu_state *state, uint32_t index, uint32_t ended,
                                  unsigned looks)
{
    struct grace_poll poll = grace_poll_begin(state, looks);
    if (PAWL_ADDRESS_(pawl_load_relaxed)(&state->driver) == grace_own_number())
        rcu_never("synchronize", "in a signal handler that interrupted the same");
    while (grace_poll_pause(state, &poll))
        if (pawl_load_relaxed32(&state->ended) != ended) {
            grace_poll_end(state, &poll);
            return;
        }
    PAWL_PROBE1(rcu_wait, index);
    ipawl_rcu_mine_()->sleeps = index + 1;
    rcu_for_handlers();
    (void)pawl_fetch_add_relaxed32(&state->sleepers, 1);
    /* [RCU_DRIVER_WAIT] full: the driver sees the waiter, or the waiter sees that the driver has
     * stopped. */
    pawl_fence_full(PAWL_RCU_DRIVER_WAIT);
    (void)pawl_os_wait(&state->ended, ended, PAWL_NO_DEADLINE);
    (void)pawl_fetch_sub_relaxed32(&state->sleepers, 1);
    rcu_for_handlers();
    ipawl_rcu_mine_()->sleeps = 0;
}

/* ---- What the rest of the library asks for --------------------------------------------------- */

PAWL_INTERNAL uint64_t rcu_start(uint32_t index)
{
    /* [RCU_START] full: what the caller has removed comes before the beginning of a later grace
     * period. */
    pawl_fence_full(PAWL_RCU_START);
    return pawl_load_relaxed64(&rcu_state(index)->started) + 1;
}

PAWL_INTERNAL bool rcu_over(uint32_t index, uint64_t cookie)
{
    /* [RCU_DONE] acquire: what follows comes after the reads of all old sections. */
    if (pawl_load_acquire64(&rcu_state(index)->completed, PAWL_RCU_DONE) < cookie)
        return false;
    RCU_TOLD_OVER(index);
    return true;
}

PAWL_INTERNAL bool rcu_poll(uint32_t index, uint64_t cookie)
{
    struct pawl_rcu_state *state = rcu_state(index);
    if (rcu_over(index, cookie))
        return true;
    if (!grace_drive_begin(state))
        return false;
    while (!rcu_over(index, cookie) && grace_drive_once(state, index))
        continue;
    /* No report of old readers here: the caller may be a signal handler that has interrupted the
     * holder of the latch of these reports. */
    grace_drive_end(state);
    return rcu_over(index, cookie);
}

PAWL_INTERNAL void rcu_wait(uint32_t index, uint64_t cookie, unsigned looks)
{
    struct pawl_rcu_state *state = rcu_state(index);
    process_sees_forks();
    for (;;) {
        /* [RCU_TOLD] acquire: the driver that the caller looks at next is as new as the number. */
        const uint32_t ended = pawl_load_acquire32(&state->ended, PAWL_RCU_TOLD);
        if (rcu_over(index, cookie))
            return;
        if (grace_drive_begin(state)) {
            if (!rcu_over(index, cookie))
                grace_drive(state, index, looks);
            grace_drive_end(state);
        } else {
            grace_wait_for_driver(state, index, ended, looks);
        }
    }
}

/* ---- The interface --------------------------------------------------------------------------- */

#if PAWL_CHECKED
#define RCU_MISUSE(what, index, call) rcu_misuse(what, index, call, __builtin_return_address(0))
#define RCU_IN_QS_SECTION() (ipawl_rcu_mine_()->qs_sections != 0)
#else
#define RCU_MISUSE(what, index, call) ((void)0)
#define RCU_IN_QS_SECTION() false
#endif

/* For quiescent states the caller is offline while it waits. So it waits for itself only if the
 * checking variant has counted it in a section. */
static bool grace_waits_for_itself(uint32_t index)
{
    return index == PAWL_RCU_QS_ ? RCU_IN_QS_SECTION() : rcu_inside(index);
}

#define MAY_WAIT(index, call)                                                                      \
    do {                                                                                           \
        if (PAWL_UNLIKELY(grace_waits_for_itself(index))) {                                        \
            RCU_MISUSE("waits for itself", index, call);                                           \
            rcu_never(call, "in a section of its domain");                                         \
        }                                                                                          \
    } while (0)

static void grace_synchronize(uint32_t index, uint64_t cookie, unsigned looks)
{
    const struct rcu_calls_face *calls;
    uint32_t was;
    if (index != PAWL_RCU_QS_) {
        rcu_wait(index, cookie, looks);
        return;
    }
    calls = rcu_calls_here();
    was = rcu_rest_begin();
    if (calls != NULL)
        calls->rest_begin();
    rcu_wait(index, cookie, looks);
    if (calls != NULL)
        calls->rest_end();
    rcu_rest_end(was);
}

void pawl_rcu_domain_synchronize(pawl_rcu_domain *d)
{
    MAY_WAIT(d->index, "pawl_rcu_synchronize");
    grace_synchronize(d->index, rcu_start(d->index), RCU_LOOKS);
}

void pawl_rcu_domain_synchronize_expedited(pawl_rcu_domain *d)
{
    MAY_WAIT(d->index, "pawl_rcu_synchronize_expedited");
    grace_synchronize(d->index, rcu_start(d->index), EXPEDITED_LOOKS);
}

uint64_t pawl_rcu_domain_start_poll(pawl_rcu_domain *d)
{
    return rcu_start(d->index);
}

bool pawl_rcu_domain_poll(pawl_rcu_domain *d, uint64_t cookie)
{
    return rcu_poll(d->index, cookie);
}

void pawl_rcu_domain_synchronize_cond(pawl_rcu_domain *d, uint64_t cookie)
{
    if (rcu_over(d->index, cookie))
        return;
    MAY_WAIT(d->index, "pawl_rcu_synchronize_cond");
    grace_synchronize(d->index, cookie, RCU_LOOKS);
}
