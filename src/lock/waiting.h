/* SPDX-License-Identifier: MIT */
/*
 * The classes of waits at a progressive lock that sleeps. A class is a bit. A word lets a set of
 * classes go on (`ready` in waiting_word.inc.h).
 *
 * A claim is a set of units that a waiter keeps in the word until it is granted. Claims hold
 * newcomers back. There are two reasons for one:
 *
 *   - Only readers, whom nobody else keeps in, are in the way: DRAIN, UPDATE. The spinlock claims
 *     in the same cases.
 *   - It is the waiter's turn: ALONE, PAST, NEXT. At most one waiter of a lock has its turn.
 *
 * A turn must not keep a thread out for longer than the spinlock would: a program may rely on a
 * reader to get in while a seeker holds S. So a reader, a seeker or an atomic user keeps W only
 * beside the W of others. When these have gone, a reader enters. The two others keep no more than
 * S, which lets readers in.
 */
#ifndef PAWL_WAITING_H
#define PAWL_WAITING_H

#include <stdint.h>

enum wait_class {
    WAIT_NOTHING = 0,
    /* Without a claim. */
    WAIT_R = 1,
    WAIT_S = 2,
    WAIT_W = 4,
    WAIT_A = 8,
    WAIT_GONE = 16, /* holds R, comes from A: until no W is left, or a claimant waits for R */
    /* With a claim. */
    WAIT_DRAIN = 32,  /* W+S+R: no R but its own */
    WAIT_UPDATE = 64, /* W+S, for A: no R */
    WAIT_ALONE = 128, /* W+S, for W: no other W, no R */
    WAIT_PAST = 256,  /* W+S, for R, S or A: no other W */
    WAIT_NEXT = 512,  /* S, for S or A: no other S, no W */
    /* A reader that passes claims: as R, and where all W are claims beside another reader. */
    WAIT_BESIDE = 2048,
    WAIT_PASS = WAIT_R | WAIT_BESIDE
};

/* The classes of waiters that are in others' way: no wake of theirs may be delayed. */
#define WAIT_URGENT                                                                                \
    ((unsigned)(WAIT_GONE | WAIT_DRAIN | WAIT_UPDATE | WAIT_ALONE | WAIT_PAST | WAIT_NEXT))

enum outcome {
    WAIT_PASSED, /* the word let the class go on */
    WAIT_TIMED_OUT,
    WAIT_CLAIM_MADE, /* by the waiter, whose turn it is, or for it by another thread */
    WAIT_ENTERED     /* beside a claim */
};

/* The outcome for a writer that claims before it looks at the entries. */
enum lines_claim {
    LINES_CHANGED, /* nothing: somebody is in the word */
    LINES_GRANTED,
    LINES_IN_USE /* the claim, which it keeps, and waits for the readers in entries */
};

#endif
