/* SPDX-License-Identifier: MIT */
/*
 * What simulated threads (explorer/explorer.h) do with a progressive lock that sleeps: a book of
 * holders, and a body that makes up its operations from scene.seed. Two who exclude each other, a
 * claim that is not taken back, a drop that touches the lock after it has given it up: each ends
 * the program.
 *
 * The includer defines LOCK (the type), AT_REST(word) (what an unused word may be) and
 * regain_read(lock, deadline) (A -> R: whether R is held in the end). It may define SCENE_READY(),
 * which sets up what else each run needs, and BEFORE_DROP(), which each holder calls.
 */
#pragma once

#include "lock/table.h"

#define OF(verb) PAWL_CAT_(LOCK, _##verb)

static struct scene {
    LOCK lock;
    unsigned held[5];
    uint64_t seed;
    unsigned granted, timed_out;
} scene;

static void scene_begins(void *argument)
{
    memset(&scene.lock, 0, sizeof scene.lock);
    memset(table_here(), 0, sizeof *table_here());
    memset(scene.held, 0, sizeof scene.held);
    sched.touched_late = 0;
#ifdef SCENE_READY
    SCENE_READY();
#endif
}

static void scene_ends(void *argument)
{
    must(AT_REST(scene.lock.word));
    must(sched.touched_late == 0);
}

/* ---- Holding --------------------------------------------------------------------------------- */

static void enter(enum pawl_state state)
{
    scene.held[state]++;
    scene.granted++;
    must(scene.held[PAWL_STATE_W] <= 1 && scene.held[PAWL_STATE_S] <= 1);
    if (scene.held[PAWL_STATE_W])
        must(!scene.held[PAWL_STATE_R] && !scene.held[PAWL_STATE_S] && !scene.held[PAWL_STATE_A]);
    if (scene.held[PAWL_STATE_A])
        must(!scene.held[PAWL_STATE_R] && !scene.held[PAWL_STATE_S]);
}

static void leave(enum pawl_state state)
{
    scene.held[state]--;
}

static void drop(enum pawl_state state)
{
#ifdef SCENE_READY
    sched_pass(); /* the holder stays for a moment */
#endif
#ifdef BEFORE_DROP
    BEFORE_DROP();
#endif
    leave(state);
    sched_drop_begins(&scene.lock.word);
    switch (state) {
    case PAWL_STATE_R: OF(drop_read)(&scene.lock); break;
    case PAWL_STATE_S: OF(drop_seek)(&scene.lock); break;
    case PAWL_STATE_W: OF(drop_write)(&scene.lock); break;
    default: OF(drop_atomic)(&scene.lock); break;
    }
    sched_drop_ends();
}

static bool take_until(enum pawl_state state, uint64_t deadline)
{
    bool ok;
    switch (state) {
    case PAWL_STATE_R: ok = OF(take_read_until)(&scene.lock, deadline); break;
    case PAWL_STATE_S: ok = OF(take_seek_until)(&scene.lock, deadline); break;
    case PAWL_STATE_W: ok = OF(take_write_until)(&scene.lock, deadline); break;
    default: ok = OF(take_atomic_until)(&scene.lock, deadline); break;
    }
    if (ok)
        enter(state);
    else
        scene.timed_out++;
    return ok;
}

/* ---- What a thread may do -------------------------------------------------------------------- */

static void seek_then_write(uint64_t deadline)
{
    if (!take_until(PAWL_STATE_S, deadline))
        return;
    leave(PAWL_STATE_S);
    if (!OF(seek_to_write_until)(&scene.lock, deadline)) {
        enter(PAWL_STATE_S);
        drop(PAWL_STATE_S);
        return;
    }
    enter(PAWL_STATE_W);
    leave(PAWL_STATE_W);
    if (sched_below(&scene.seed, 2)) {
        /* Before the move, which lets others see us as a reader at once. */
        scene.held[PAWL_STATE_R]++;
        OF(write_to_read)(&scene.lock);
        drop(PAWL_STATE_R);
    } else {
        scene.held[PAWL_STATE_S]++;
        OF(write_to_seek)(&scene.lock);
        leave(PAWL_STATE_S);
        scene.held[PAWL_STATE_R]++;
        OF(seek_to_read)(&scene.lock);
        drop(PAWL_STATE_R);
    }
}

static void atomic_then_read(uint64_t deadline)
{
    if (!take_until(PAWL_STATE_A, deadline))
        return;
    leave(PAWL_STATE_A);
    if (regain_read(&scene.lock, deadline)) {
        enter(PAWL_STATE_R);
        drop(PAWL_STATE_R);
    }
}

static void read_then_more(uint64_t deadline)
{
    const unsigned how = sched_below(&scene.seed, 3);
    enum pawl_state to = PAWL_STATE_S;
    bool ok;
    if (!take_until(PAWL_STATE_R, deadline))
        return;
    leave(PAWL_STATE_R);
    if (how == 0) {
        ok = OF(try_read_to_seek)(&scene.lock);
    } else if (how == 1) {
        ok = OF(read_claim_write_until)(&scene.lock, deadline);
        to = PAWL_STATE_W;
    } else {
        ok = OF(read_claim_atomic_until)(&scene.lock, deadline);
        to = PAWL_STATE_A;
    }
    if (!ok)
        to = PAWL_STATE_R;
    enter(to);
    drop(to);
}

static void try_something(void)
{
    static bool (*const tries[])(LOCK *) = {OF(try_read),    OF(try_seek),   OF(try_write),
                                            OF(claim_write), OF(try_atomic), OF(claim_atomic)};
    static const enum pawl_state states[] = {PAWL_STATE_R, PAWL_STATE_S, PAWL_STATE_W,
                                             PAWL_STATE_W, PAWL_STATE_A, PAWL_STATE_A};
    const unsigned i = sched_below(&scene.seed, 6);
    if (tries[i](&scene.lock)) {
        enter(states[i]);
        drop(states[i]);
    }
}

static inline void something(void *argument)
{
    static const enum pawl_state states[] = {PAWL_STATE_R, PAWL_STATE_S, PAWL_STATE_W,
                                             PAWL_STATE_A};
    unsigned rounds = 1 + sched_below(&scene.seed, 3);
    for (; rounds > 0; rounds--) {
        const uint64_t deadline =
            sched_below(&scene.seed, 2) ? UINT64_MAX : sched.clock + sched_below(&scene.seed, 300);
        const unsigned what = sched_below(&scene.seed, 10);
        const enum pawl_state state = states[sched_below(&scene.seed, 4)];
        if (sched_below(&scene.seed, 3) == 0)
            sched.clock += 600000; /* somebody's turn may have come */
        if (what < 3 && take_until(state, deadline))
            drop(state);
        else if (what == 3 || what == 4)
            seek_then_write(deadline);
        else if (what == 5 || what == 6)
            atomic_then_read(deadline);
        else if (what == 7 || what == 8)
            read_then_more(deadline);
        else
            try_something();
    }
}
