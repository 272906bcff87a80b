/* SPDX-License-Identifier: MIT */
/*
 * The waiting half of the progressive locks that sleep, for all widths: the classes of waits
 * (waiting_word.c), and the operations (waiting_write.c, waiting.c). lock_wait.c says how a thread
 * waits for lock.h, and pshared.c for shared memory.
 *
 * A class is a bit. A word lets a set of classes go on (lock_ready).
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

#ifndef PAWL_COMPILED_
#define PAWL_COMPILED_ /* as in src/pawl.c */
#endif

#include <pawl/spin.h>

#include "../base/base.h"
#include "atomic_word.h"

enum wait_class {
    WAIT_NOTHING = 0,
    /* Without a claim. */
    WAIT_R = 1,
    WAIT_S = 2,
    WAIT_W = 4,
    WAIT_A = 8,
    WAIT_ENDED = 16,                       /* no W is left */
    WAIT_CLAIMED = 4096,                   /* a claimant waits for R */
    WAIT_GONE = WAIT_ENDED | WAIT_CLAIMED, /* of a holder of R that comes from A */
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

/* Facts about a word, for the rows of waiting.def. */
enum wait_fact {
    WORD_NO_R = 1,
    WORD_SOME_R = 2,
    WORD_ONE_R = 4,
    WORD_MORE_R = 8,
    WORD_NO_S = 16, /* the same of S, four bits on */
    WORD_SOME_S = 32,
    WORD_ONE_S = 64,
    WORD_NO_W = 256, /* and of W */
    WORD_SOME_W = 512,
    WORD_ONE_W = 1024,
    WAIT_IN_TURN = 4096 /* it is the waiter's turn */
};

/* Whom a change wakes. */
enum { WAKES_ONE, WAKES_FEW, WAKES_ALL };

/* Sets of classes. */
enum {
    WAIT_ONE_BY_ONE = 0
#define WAIT_CLASS(class, w, s, r, wakes) | ((wakes) == WAKES_ONE ? class : 0)
#include "waiting.def"
    ,
    WAIT_FEW_AT_A_TIME = WAIT_ONE_BY_ONE
#define WAIT_CLASS(class, w, s, r, wakes) | ((wakes) == WAKES_FEW ? class : 0)
#include "waiting.def"
    ,
    WAIT_CLAIMS = 0 /* all of which keep S, some W, and some R */
#define WAIT_CLASS(class, w, s, r, wakes) | ((s) != 0 ? class : 0)
#include "waiting.def"
    ,
    WAIT_CLAIMS_W = 0
#define WAIT_CLASS(class, w, s, r, wakes) | ((w) != 0 ? class : 0)
#include "waiting.def"
    ,
    WAIT_CLAIMS_R = 0
#define WAIT_CLASS(class, w, s, r, wakes) | ((r) != 0 ? class : 0)
#include "waiting.def"
};

/* The classes of waiters that are in others' way: no wake of theirs may be delayed. */
#define WAIT_URGENT ((unsigned)(WAIT_GONE | WAIT_CLAIMS))

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

/* Units of the wide word. */
#define UNIT_R PAWL_SPIN64_R
#define UNIT_S PAWL_SPIN64_S
#define UNIT_W PAWL_SPIN64_W
#define UNITS_R_S (UNIT_S + UNIT_R)
#define UNITS_W_S (UNIT_W + UNIT_S)
#define UNITS_W_S_R (UNIT_W + UNIT_S + UNIT_R)

struct claimant;

/* How a thread waits. The read that ends a wait is relaxed; the access that follows acquires. */
struct wait_way {
    /* Waits until the word lets the class go on; may give the waiter its turn, and finds a claim
     * that another thread made for it. */
    enum outcome (*wait_for)(struct claimant *c, enum wait_class class);
    /* Makes a claim if the word permits it. */
    bool (*stake)(struct claimant *c, enum wait_class claim);
    /* Adds units to what the waiter keeps, and wakes whom that lets in. Release [SPIN_R_TO_A]: an
     * atomic user's reads under R are done before another atomic user enters. */
    void (*alter)(struct claimant *c, uint64_t units, enum wait_class claim);
    /* A reader's PAST becomes R, unless there is another W. */
    bool (*enter_in_turn)(struct claimant *c);
    /* NULL: no reader of this lock is in an entry. */
    const struct wait_scaling *scaling;
};

/* The part of readers that scale. */
struct wait_scaling {
    /* A reader that finds no W enters by an entry, if readers scale. */
    bool (*enter)(struct claimant *c, uint64_t w);
    /* Makes a claim in the queue before W looks at the entries. */
    enum lines_claim (*claim_at_lines)(struct claimant *c);
    /* W of the caller is in the word: waits until no entry has the lock; false when the deadline
     * has passed first. */
    bool (*readers_gone)(struct claimant *c);
    /* A reader has met W. */
    void (*met_writer)(struct claimant *c);
};

/* One operation's wait. */
struct claimant {
    struct word word;
    const struct wait_way *way;
    uint64_t deadline;
    enum wait_class to_read; /* the class of a reader: R or PASS */
    enum wait_class claim;   /* WAIT_NOTHING, or the class of what it keeps in the word */
};

/* ---- The word -------------------------------------------------------------------------------- */

/* The classes whose waiters can go on at this value of the word. */
PAWL_INTERNAL unsigned lock_ready(uint64_t w);
/* Only atomic users are in, or about to enter. */
PAWL_INTERNAL bool lock_atomics_only(uint64_t w);
/* The classes whose waiters do not sleep at this value. Those that escalate do not sleep where only
 * atomic users are in, but wait awake for their turn. */
PAWL_INTERNAL unsigned lock_sleepless(uint64_t w, unsigned escalate);
/* The classes that a change lets go on, or keeps from sleeping, and that waited before. Of
 * those that are woken one by one, a change wakes a waiter whenever they can go on. */
PAWL_INTERNAL unsigned lock_opened(uint64_t found, uint64_t after, unsigned one_by_one,
                                   unsigned escalate);
/* Whether the word permits a claim of this class. `turn`: it is the waiter's turn. */
PAWL_INTERNAL bool lock_permits(enum wait_class claim, uint64_t w, bool turn);
/* The claim that the word permits a waiter for the class; nothing where a claim would not help it,
 * or would keep out readers beside a seeker. */
PAWL_INTERNAL enum wait_class lock_claim_of(enum wait_class class, uint64_t w, bool turn);
PAWL_INTERNAL uint64_t lock_units_of(enum wait_class claim);

/* ---- Operations: false when the deadline has passed ------------------------------------------ */

/* Whether readers of the lock scale at this value of the word. */
PAWL_INTERNAL bool lock_scales(const struct claimant *c, uint64_t w);
static inline bool lock_readers_gone(struct claimant *c)
{
    return c->way->scaling == NULL || c->way->scaling->readers_gone(c);
}
/* Takes the waiter's claim of these units out of the word; always false. */
PAWL_INTERNAL bool lock_withdraw(struct claimant *c, uint64_t units);

PAWL_INTERNAL bool lock_take_read(struct claimant *c);
PAWL_INTERNAL bool lock_take_seek(struct claimant *c);
PAWL_INTERNAL bool lock_take_write(struct claimant *c);
PAWL_INTERNAL bool lock_take_atomic(struct claimant *c);
/* False also when the claim cannot be made. */
PAWL_INTERNAL bool lock_claim_write(struct claimant *c);
PAWL_INTERNAL bool lock_claim_atomic(struct claimant *c);
/* W+S+R is in the word, of which W, or W and S, is new. */
PAWL_INTERNAL bool lock_seek_to_write(struct claimant *c);
PAWL_INTERNAL bool lock_read_to_write(struct claimant *c);
/* R is in the word beside W+S, and is given up. */
PAWL_INTERNAL bool lock_read_to_atomic(struct claimant *c);
/* R is in the word beside the W of others. False: R has been dropped, and is to be taken anew. */
PAWL_INTERNAL bool lock_regain(struct claimant *c);

#endif
