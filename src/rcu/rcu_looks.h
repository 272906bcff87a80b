/* SPDX-License-Identifier: MIT */
/*
 * How a caller polls for the end of a grace period. It looks some times before it sleeps, and does
 * not yield between the looks: where CPUs are oversubscribed, each yield costs a slice of another
 * thread's time, and a sleeper is woken sooner.
 *
 * Long polling is only of use while a CPU is free for it. It was useless if the readers outlasted
 * it, or if the caller lost its CPU meanwhile: then other threads want that CPU, and the reader may
 * be one of them. So the next expedited calls of the domain poll no longer than synchronize: ever
 * more of them when the readers stay, and MOST_SKIPPED after the loss of a CPU.
 *
 * Short polling, too, is of no use where the reader waits for the caller's CPU: it runs once the
 * caller sleeps. So after a poll that found nothing, the next SHORT_POLLS polls of the domain
 * make only FEW_LOOKS. They suffice for a reader that runs and leaves soon.
 */
#ifndef PAWL_RCU_LOOKS_H
#define PAWL_RCU_LOOKS_H

#include "rcu.h"

#include "../base/base.h"

/* Looks of an expedited grace period. The pauses between them are of 192 relax hints on average.
 * In all they take 1.2 ms (38 cycles a hint) to 4.4 ms (140 cycles) at 3 GHz. */
#define EXPEDITED_LOOKS (PAWL_HOOKS ? 1u : 500u)

/* At most so many expedited calls in turn poll no longer than synchronize. A CPU that is lost comes
 * back after milliseconds: shared among so many calls, that is less than a microsecond for each. */
#define MOST_SKIPPED 16383u

/* A useless poll of RCU_LOOKS takes 12 to 45 us: shared among so many, about as long as a sleep. */
#define SHORT_POLLS 7u
#define FEW_LOOKS 3u

struct grace_poll {
    struct backoff pauses;
    unsigned looks; /* that are left */
    bool is_long;
    bool is_short;
    uint64_t last; /* when a long one last looked; 0 at first */
};

#if PAWL_HOOKS

PAWL_STATIC struct grace_poll grace_poll_begin(struct pawl_rcu_state *state, unsigned looks)
{
    const struct grace_poll poll = {BACKOFF_INIT, looks, false, false, 0};
    (void)state;
    return poll;
}

PAWL_STATIC void grace_poll_end(struct pawl_rcu_state *state, const struct grace_poll *poll)
{
    (void)state, (void)poll;
}

PAWL_STATIC bool grace_poll_pause(struct pawl_rcu_state *state, struct grace_poll *poll)
{
    (void)state;
    if (poll->looks == 0)
        return false;
    poll->looks--;
    backoff_pause_once(&poll->pauses, poll);
    return true;
}

#else

PAWL_STATIC struct grace_poll grace_poll_begin(struct pawl_rcu_state *state, unsigned looks)
{
    struct grace_poll poll = {BACKOFF_INIT, looks, looks > RCU_LOOKS, false, 0};
    const uint32_t skip = poll.is_long ? pawl_load_relaxed32(&state->skip_polling) : 0;
    const uint32_t brief = pawl_load_relaxed32(&state->short_polls);
    if (skip > 0) {
        pawl_store_relaxed32(&state->skip_polling, skip - 1);
        poll.looks = RCU_LOOKS;
        poll.is_long = false;
    }
    if (!poll.is_long && brief > 0) {
        pawl_store_relaxed32(&state->short_polls, brief - 1);
        poll.looks = FEW_LOOKS;
        poll.is_short = true;
    }
    return poll;
}

/* The poll has found what it waited for. */
PAWL_STATIC void grace_poll_end(struct pawl_rcu_state *state, const struct grace_poll *poll)
{
    if (poll->is_long && poll->looks > 0 && poll->looks < EXPEDITED_LOOKS - RCU_LOOKS)
        pawl_store_relaxed32(&state->skipped, pawl_load_relaxed32(&state->skipped) / 2);
}

PAWL_STATIC void grace_skip_polls(struct pawl_rcu_state *state, uint32_t skip)
{
    pawl_store_relaxed32(&state->skipped, skip);
    pawl_store_relaxed32(&state->skip_polling, skip);
}

/* Whether the caller has kept its CPU since the last look: a pause is much shorter. */
PAWL_STATIC bool grace_poll_ran(struct grace_poll *poll)
{
    const uint64_t now = pawl_os_now();
    const bool ran = poll->last == 0 || now - poll->last < PAWL_SPIN_SUSPECT_NS;
    poll->last = now;
    return ran;
}

/* Pauses before the next look; false: the caller has looked often enough and should sleep. */
PAWL_STATIC bool grace_poll_pause(struct pawl_rcu_state *state, struct grace_poll *poll)
{
    if (poll->looks == 0) {
        if (!poll->is_short)
            pawl_store_relaxed32(&state->short_polls, SHORT_POLLS);
        poll->is_short = true; /* said once */
        return false;
    }
    poll->looks--;
    (void)backoff_relaxed(&poll->pauses, poll);
    if (!poll->is_long)
        return true;
    if (!grace_poll_ran(poll)) {
        poll->looks = 0;
        grace_skip_polls(state, MOST_SKIPPED);
    } else if (poll->looks == 0) {
        const uint32_t more = 2 * pawl_load_relaxed32(&state->skipped) + 1;
        grace_skip_polls(state, more < MOST_SKIPPED ? more : MOST_SKIPPED);
    }
    return true; /* one look more in any case */
}

#endif

#endif
