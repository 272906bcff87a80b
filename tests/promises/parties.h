/* SPDX-License-Identifier: MIT */
/*
 * Threads that do one operation after another on one lock, and an oracle that knows who holds what:
 * it foretells whether an operation is granted, refused or waits. It knows states and the rules of
 * include/pawl/lock.h, and no word.
 *
 * A party that waits is seen asleep by the kernel's word (shim/actors.h), never after a time. While
 * a party waits its claim may hold others back, so then the oracle only insists on exclusion, and
 * on that somebody goes on where all who wait could.
 */
#pragma once

#include "test.h"

#include "lock/entries.h"
#include "promises/verbs.h"
#include "shim/actors.h"
#include "support/sandbox.h"

enum { HAS_R = 1, HAS_S = 2, HAS_W = 4, HAS_A = 8, ANYBODY = 15 };

/* By which states of others an operation is refused, and for which it waits. */
static const struct rule {
    unsigned char refused_by, waits_for;
} rules[VERBS] = {
    [OP_take_read] = {0, HAS_W | HAS_A},
    [OP_try_read] = {HAS_W | HAS_A, 0},
    [OP_take_seek] = {0, HAS_S | HAS_W | HAS_A},
    [OP_try_seek] = {HAS_S | HAS_W | HAS_A, 0},
    [OP_take_write] = {0, ANYBODY},
    [OP_try_write] = {ANYBODY, 0},
    [OP_claim_write] = {HAS_S | HAS_W | HAS_A, HAS_R},
    [OP_take_atomic] = {0, HAS_R | HAS_S | HAS_W},
    [OP_try_atomic] = {HAS_R | HAS_S | HAS_W, 0},
    [OP_claim_atomic] = {HAS_S | HAS_W, HAS_R},
    [OP_seek_to_write] = {0, HAS_R},
    [OP_try_seek_to_write] = {HAS_R, 0},
    [OP_try_read_to_seek] = {HAS_S, 0},
    [OP_try_read_to_write] = {HAS_R | HAS_S, 0},
    [OP_read_claim_write] = {HAS_S, HAS_R},
    [OP_try_read_to_atomic] = {HAS_R | HAS_S, 0},
    [OP_read_claim_atomic] = {HAS_S, HAS_R},
    [OP_atomic_to_read] = {0, HAS_A},
    [OP_take_read_counted] = {0, HAS_W | HAS_A},
    [OP_try_read_counted] = {HAS_W | HAS_A, 0},
    [OP_cond_wait_read] = {0, HAS_W | HAS_A},
};

/* Operations that never wait, whatever stands in the word. */
static bool never_waits(unsigned verb)
{
    return rules[verb].waits_for == 0;
}

enum { ME, OTHER, READER, PARTIES };
enum { TOLD = 1, BEGUN, DONE };

struct party {
    pthread_t id;
    pid_t number;
    int inside; /* TOLD, BEGUN or DONE */
    void (*task)(struct party *);
    const struct verbs *verbs;
    unsigned verb;
    uint64_t deadline; /* 0: none, the operation without */
    bool result, pending, ends;
    enum pawl_state state;
};

static struct {
    struct party parties[PARTIES];
    struct verbs own, copied;
    union any_lock lock;
    unsigned counted; /* R in the word that are no party's: counted reads, and of ended threads */
    bool entries;     /* the lines exist, and may be looked at */
} now;

static _Thread_local struct party *self;

/* ---- The oracle ------------------------------------------------------------------------------ */

/* The modes that others than `p` hold; NULL: that all hold. */
static unsigned held_beside(const struct party *p)
{
    static const unsigned char bits[] = {0, HAS_R, HAS_S, HAS_W, HAS_A};
    unsigned held = now.counted > 0 ? HAS_R : 0, i;
    for (i = 0; i < PARTIES; i++)
        if (&now.parties[i] != p)
            held |= bits[now.parties[i].state];
    return held;
}

enum answer { NO, YES, WAITS };

static enum answer foretell(const struct party *p, unsigned verb)
{
    const unsigned held = held_beside(p);
    if (held & rules[verb].refused_by)
        return NO;
    return held & rules[verb].waits_for ? WAITS : YES;
}

static unsigned pending(void)
{
    unsigned count = 0, i;
    for (i = 0; i < PARTIES; i++)
        count += now.parties[i].pending;
    return count;
}

/* S beside R; A beside A; R beside R; nothing else. */
static void exclusion_holds(void)
{
    const unsigned held = held_beside(NULL);
    unsigned i, seekers = 0, writers = 0;
    for (i = 0; i < PARTIES; i++) {
        seekers += now.parties[i].state == PAWL_STATE_S;
        writers += now.parties[i].state == PAWL_STATE_W;
    }
    must(seekers + writers <= 1);
    must(!(held & HAS_W) || held == HAS_W);
    must(!(held & HAS_A) || held == HAS_A);
}

/* ---- What parties do ------------------------------------------------------------------------- */

static void operate(struct party *p)
{
    p->result = p->deadline != 0 ? p->verbs->until[p->verb](&now.lock, p->deadline)
                                 : p->verbs->run[p->verb](&now.lock);
}

static void *party_main(void *opaque)
{
    struct party *const p = (struct party *)opaque;
    self = p;
    __atomic_store_n(&p->number, (pid_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
    while (!__atomic_load_n(&p->ends, __ATOMIC_ACQUIRE)) {
        if (__atomic_load_n(&p->inside, __ATOMIC_ACQUIRE) == TOLD) {
            __atomic_store_n(&p->inside, BEGUN, __ATOMIC_RELEASE);
            p->task(p);
            __atomic_store_n(&p->inside, DONE, __ATOMIC_RELEASE);
        }
        usleep(10); /* no futex: a filter may kill for one */
    }
    return NULL;
}

static void party_start(struct party *p, const struct verbs *verbs)
{
    memset(p, 0, sizeof *p);
    p->verbs = verbs;
    p->id = test_start(party_main, p);
    while (__atomic_load_n(&p->number, __ATOMIC_ACQUIRE) == 0)
        usleep(10);
}

static void party_end(struct party *p)
{
    __atomic_store_n(&p->ends, true, __ATOMIC_RELEASE);
    test_join(p->id);
}

static bool party_is_done(const struct party *p)
{
    return __atomic_load_n(&p->inside, __ATOMIC_ACQUIRE) == DONE;
}

static void party_begins(struct party *p, void (*task)(struct party *))
{
    p->task = task;
    __atomic_store_n(&p->inside, TOLD, __ATOMIC_RELEASE);
}

static void party_does(struct party *p, void (*task)(struct party *))
{
    party_begins(p, task);
    while (!party_is_done(p))
        usleep(10);
}

static bool party_is_asleep(const struct party *p)
{
    return __atomic_load_n(&p->inside, __ATOMIC_ACQUIRE) == BEGUN &&
           thread_state(p->number) == 'S' && __atomic_load_n(&p->inside, __ATOMIC_ACQUIRE) == BEGUN;
}

/* Its operation has ended: the state that it has now. */
static void party_ends_verb(struct party *p)
{
    p->pending = false;
    if (p->verb == OP_cond_wait_read)
        p->state = PAWL_STATE_R;
    else if (p->verb == OP_drop_read_counted)
        now.counted--;
    else if (p->verb >= OP_COUNT)
        now.counted +=
            p->result && (p->verb == OP_take_read_counted || p->verb == OP_try_read_counted);
    else if (p->result) {
        p->state = table_ops[p->verb].to;
    } else if (p->verb == OP_atomic_to_read) {
        p->state = PAWL_STATE_U; /* the deadline has passed, and A was given up before */
    }
    exclusion_holds();
}

/* Ends what can end: while all who wait could be granted, one of them must be. */
static void settle(void)
{
    unsigned i, ready;
    do {
        for (i = 0, ready = 0; i < PARTIES; i++) {
            struct party *const p = &now.parties[i];
            if (p->pending && party_is_done(p))
                party_ends_verb(p);
            ready += p->pending && foretell(p, p->verb) == YES;
        }
        if (ready > 0)
            usleep(20);
    } while (ready > 0 && ready == pending());
}

/* `p` does the operation, and ends it or is asleep in it. */
static void party_operates(struct party *p, unsigned verb, uint64_t deadline)
{
    const enum answer answer = foretell(p, verb);
    const bool is_alone = pending() == 0;
    p->verb = verb;
    p->deadline = deadline;
    p->pending = true;
    if ((verb == OP_atomic_to_read && answer == WAITS) || verb == OP_cond_wait_read)
        p->state = PAWL_STATE_U;
    party_begins(p, operate);
    while (!party_is_done(p) && (deadline != 0 || never_waits(verb) ||
                                 (is_alone && answer != WAITS) || !party_is_asleep(p)))
        usleep(10);
    if (is_alone) {
        must((answer == WAITS && deadline == 0) != party_is_done(p));
        must(!party_is_done(p) || p->result == (answer == YES));
    }
    if (party_is_done(p)) /* before those whom it has let in */
        party_ends_verb(p);
    settle();
}
