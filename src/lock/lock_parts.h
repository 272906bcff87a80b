/* SPDX-License-Identifier: MIT */
/* Shared by the parts of the sleeping progressive lock: the queue of one lock, how a thread waits,
 * and the readers that scale. Except where a comment says otherwise, the bucket is locked. */
#ifndef PAWL_LOCK_PARTS_H
#define PAWL_LOCK_PARTS_H

#ifndef PAWL_COMPILED_
#define PAWL_COMPILED_ /* as in src/pawl.c */
#endif

#include <pawl/lock.h>

#include "../base/base.h"
#include "entries.h"
#include "table.h"
#include "waiting.h"

/* A bit beside the classes, set where only atomic users remain. No class can go on, because atomic
 * users may overlap for ever. But the oldest waiter's turn may have come. */
#define WAIT_TURN 1024u

/* Waiters of one lock that may spin while they are in its queue. */
#define LOCK_SPINNERS CONSTANT(SPINNERS, 1)

/* Readers, or atomic users, that one look wakes. */
#define LOCK_WAKES CONSTANT(WAKES, 2)

#define LOCK_HANDOFF_NS CONSTANT(HANDOFF_NS, PAWL_LOCK_HANDOFF_NS)

/* Drops beside a waiter that is awake: so many in a row may pass without a look at the clock, if as
 * many before them took no longer than this. This can extend a hint by 20 us, or by eight sections
 * where these suddenly become long. */
#define LOCK_QUICK_DROPS 7u
#define LOCK_QUICK_NS 20000u

/* For so long a waiter spins before it joins the queue. One of them spins once more there, and so
 * does each that is in others' way. A sleep and a wake leave the lock idle for longer than most
 * sections last. */
#define LOCK_SPIN_NS CONSTANT(SPIN_NS, 50000)

/* A spinning waiter yields its CPU after so long, and so often at most before it sleeps. Where the
 * crowd's own threads want the CPU, each then has it for a few sections, not for a time slice. */
#define LOCK_YIELD_AFTER_NS 2000u
#define LOCK_YIELDS 64u

/* A sleep or yield that ends so late is judged, as often as that, by three quarters of the CPUs'
 * time (lock_note_delay). Then its thread does not spin for a while, and none yields. Timers are up
 * to 0.1 ms late on an idle machine. */
#define LOCK_LATE_NS 200000u
#define LOCK_JUDGE_NS 20000000u
#define LOCK_CALM_NS 40000000u
#define LOCK_NO_YIELD_NS 100000000u

/* The sleepers of one class, by rank and then by age, in the order of the bits of the classes; in a
 * list of their own those that keep a claim. */
enum {
    LOCK_LIST_R,
    LOCK_LIST_S,
    LOCK_LIST_W,
    LOCK_LIST_A,
    LOCK_LIST_GONE,
    LOCK_LIST_CLAIM,
    LOCK_LISTS
};

struct wait;

struct lock_list {
    struct wait *first, *last;
    struct wait *last_ranked; /* of those with a rank above 0; NULL: there is none */
};

struct lock_queue {
    struct pawl_queue queue; /* first member */
    struct lock_list lists[LOCK_LISTS];
    uint32_t awake;
    uint32_t asleep;
    struct wait *keeper;   /* whose turn it is: it keeps a claim (I3) */
    uint64_t last_handoff; /* ns of pawl_os_now */
};

struct loop {
    struct backoff backoff; /* as in spinlocks: few looks leave the word to its holder */
    uint64_t end;           /* 0: not begun */
    uint32_t yields;
};

#define LOOP_INIT {BACKOFF_INIT, 0, 0}

/* One operation's wait, on the stack of its thread. */
struct wait {
    struct pawl_waiter waiter;   /* first member */
    struct wait *before, *after; /* in its list of sleepers */
    struct lock_queue room;
    struct pawl_parker parker;
    struct claimant self;
    uint64_t since; /* ns of pawl_os_now when it joined the queue */
    bool signalled; /* joins the queue at once: its wait for a condition has ended */
    bool queued;
    /* A writer's looks before it sleeps, together: a lost race must not begin them anew. Where many
     * wait, each is lost, and no thread would ever sleep. */
    struct loop loop;
    bool has_spun; /* for as long as a waiter does before it sleeps */
    bool slept;
    bool counted;   /* a reader that any thread may drop: in no entry */
    uint32_t rank;  /* sleepers of a higher one come first; 0, but for ranked waits */
    uint64_t woken; /* ns of pawl_os_now when another thread last woke it */
};

/* A wait that no thread sleeps in (notice.c). At a word it uses waiter, parker and room only. */
struct notice {
    void *lock;     /* as in struct pawl_notice */
    uint32_t state; /* the same */
    int descriptor;
    struct wait wait;
    bool (*operation)(struct claimant *c);
    uint32_t made;    /* NOTICE_MADE */
    uint32_t pending; /* what for */
    uint32_t forks;   /* of the process, when that began */
    bool asleep;      /* among the sleepers, unless a waker has picked it */
    bool on_hold;     /* the operation has returned to go on later: what it keeps stays */
    bool met_entry;   /* a reader was in an entry */
} __attribute__((__may_alias__));

/* A locked bucket, the queue of one lock there (NULL: nobody waits), and whom to wake once it is
 * unlocked. */
struct lock_place {
    struct pawl_bucket *bucket;
    struct lock_queue *queue;
    struct wake_list woken;
};

static inline uint32_t lock_owner(const struct word *word)
{
    return word->layout == WORD_64 ? TABLE_OF_LOCK64 : TABLE_OF_LOCK32;
}

/* The classes that a change lets go on and that were asleep before. */
static inline unsigned lock_opens(uint64_t found, uint64_t after)
{
    return lock_opened(found, after, WAIT_FEW_AT_A_TIME, 0);
}

/* Whether no wake of the waiter may be delayed. */
static inline bool lock_is_urgent(const struct wait *wait)
{
    return wait->self.claim != WAIT_NOTHING || (wait->waiter.kind & WAIT_URGENT) != 0;
}

/* ---- The place in the queue (lock.c) --------------------------------------------------------- */

/* A pause; false when the time is over, or the deadline has passed. */
PAWL_INTERNAL bool lock_loop_on(struct loop *loop, uint64_t deadline);
/* The thread was due to run at that time. If it runs late, though the process does not use its
 * CPUs, other processes want them, and spins would use up what the thread may have: each later
 * sleep then ends late, too. So the thread is calm for a while, and does not spin (lock_own.c). */
PAWL_INTERNAL void lock_note_delay(uint64_t due);
PAWL_INTERNAL bool lock_is_calm(uint64_t now);
/* Yields if it is time to, unless the deadline is near, or a thread was late beside other processes
 * just now: there a yield costs a time slice. */
PAWL_INTERNAL bool lock_yields(struct loop *loop, uint64_t now, uint64_t deadline);
/* Whether the bucket's hint still counts for a releaser. */
PAWL_INTERNAL bool lock_hint_counts(const struct pawl_bucket *bucket);
/* Locks the bucket of the lock, which the caller does not join. */
PAWL_INTERNAL void lock_look(struct lock_place *here, const void *lock, uint32_t owner);
/* The same; false: in a handler that has interrupted its thread at a latch, and this one stays
 * held. */
PAWL_INTERNAL bool lock_try_look(struct lock_place *here, const void *lock, uint32_t owner);
/* The waiter is in the queue from now on, and awake. */
PAWL_INTERNAL void lock_queue_up(struct lock_place *here, struct wait *wait);
/* Locks the bucket; the waiter is then in its queue and awake. */
PAWL_INTERNAL void lock_join(struct lock_place *here, struct wait *wait);
/* Unlocks the bucket, and then wakes those that were picked. */
PAWL_INTERNAL void lock_unlock(struct lock_place *here);
/* The waiter is among the sleepers from now on, and awake again. */
PAWL_INTERNAL void lock_falls_asleep(struct lock_place *here, struct wait *wait,
                                     enum wait_class class);
PAWL_INTERNAL void lock_wakes_up(struct lock_place *here, struct wait *wait);
/* Sleeps until it is woken (true), or its deadline has passed. The bucket is locked again. */
PAWL_INTERNAL bool lock_sleep(struct lock_place *here, struct wait *wait);
/* The waiter leaves the queue. True when others sleep there. */
PAWL_INTERNAL bool lock_leave(struct lock_place *here, struct wait *wait);
/* The waiter keeps this claim in the word from now on. */
PAWL_INTERNAL void lock_keeps(struct lock_place *here, struct wait *wait, enum wait_class claim);
/* The waiter is about to change the word by `units`, and to keep `next` then. Returns the change
 * with PARKED. */
PAWL_INTERNAL uint64_t lock_begin_change(const struct word *word, struct pawl_waiter *waiter,
                                         uint64_t units, uint64_t next);
/* The change was made at `found`, and its author has noted it; or it was not made, and is 0. Sets
 * PARKED again if it was set before. Returns the word then: it may have changed without a look. */
PAWL_INTERNAL uint64_t lock_park_again(const struct word *word, uint64_t found, uint64_t change);

/* ---- Its sleepers (lock_sleepers.c) ---------------------------------------------------------- */

PAWL_INTERNAL void lock_enlist(struct lock_place *here, struct wait *wait);
PAWL_INTERNAL void lock_delist(struct lock_place *here, struct wait *wait);
/* The class of which the oldest sleeper can enter: a number of a list, or LOCK_LISTS. */
PAWL_INTERNAL unsigned lock_oldest_ready(const struct lock_place *here, unsigned ready);
/* Whether the waiter may keep a claim now: it is the oldest, has waited long enough, nobody else
 * had a turn just now (I3), and nobody of a higher rank sleeps. */
PAWL_INTERNAL bool lock_turn_has_come(const struct lock_place *here,
                                      const struct pawl_waiter *oldest);

/* ---- Whom a change wakes (lock_wake.c) ------------------------------------------------------- */

/* As lock_ready. Where the only W is that of the waiter whose turn it is, which keeps no R, a
 * single R is a reader's. */
PAWL_INTERNAL unsigned lock_ready_here(const struct lock_place *here, uint64_t w);
/* Wakes sleepers that can enter together when the `ready` classes can. The oldest decides. */
PAWL_INTERNAL void lock_pick(struct lock_place *here, unsigned ready);
/* The same for a waiter that has left the queue; and the oldest sleeper, if its turn has come. */
PAWL_INTERNAL void lock_pick_left_asleep(struct lock_place *here, unsigned ready);
/* Units have left the word: wakes the waiters that can go on. I7: no access to the lock. */
PAWL_INTERNAL void lock_dropped(struct word word, uint64_t found, uint64_t after);

/* ---- Turns that others begin (lock_turn.c) --------------------------------------------------- */

/* A reader that passes claims enters if it can. The waiters whose claims they are wait for the R
 * that is in, and then for this one. */
PAWL_INTERNAL bool lock_enter_beside(const struct lock_place *here, const struct word *word,
                                     enum wait_class class, uint64_t w);
/* As wait_way's; the bucket is not locked. */
PAWL_INTERNAL bool lock_enter_in_turn(struct claimant *c);
/* Makes the claim of the sleeper that comes first. It is that sleeper's turn, so no newcomer enters
 * after the caller's drop. The bucket is not locked. */
PAWL_INTERNAL void lock_hand_off(struct word word);

/* ---- Readers that scale (lock_scaling.c) ----------------------------------------------------- */

#if PAWL_SCALES_
PAWL_INTERNAL bool lock_enter_scaling(struct claimant *c, uint64_t w);
PAWL_INTERNAL enum lines_claim lock_claim_at_lines(struct claimant *c);
PAWL_INTERNAL bool lock_wait_for_entries(struct claimant *c);
/* The same for a request, which looks once. */
PAWL_INTERNAL bool lock_look_at_entries(struct claimant *c);
PAWL_INTERNAL void lock_met_writer(struct claimant *c);
/* R of the caller is in the word, and has met another reader's. */
PAWL_INTERNAL void lock_met_reader(struct word word);
/* Before a drop of R in the word. */
PAWL_INTERNAL void lock_before_drop(struct word word);
PAWL_INTERNAL void lock_count(struct word word);
PAWL_INTERNAL uint64_t lock_look_at_all(struct word word);
PAWL_INTERNAL bool lock_claim_at_once(struct word word, uint64_t held, uint64_t claim,
                                      uint64_t granted);
#else
static inline void lock_met_reader(struct word word)
{
    (void)word;
}
#endif

/* ---- Waits (lock_wait.c) --------------------------------------------------------------------- */

static inline struct wait *lock_wait_of(struct claimant *c)
{
    return (struct wait *)(void *)((char *)c - offsetof(struct wait, self));
}

static inline struct notice *lock_notice_of(struct claimant *c)
{
    return (struct notice *)(void *)((char *)c - offsetof(struct notice, wait.self));
}

/* Waits in the operation. A thread with a rank comes before sleepers of a lower one; with
 * PAWL_LOCK_PASSES it is a reader that passes claims, and with PAWL_LOCK_SIGNALLED it does not spin
 * before it joins the queue. Any thread may drop a counted read. */
PAWL_INTERNAL bool lock_wait(struct word word, uint64_t deadline,
                             bool (*operation)(struct claimant *c), uint32_t rank, bool counted);

/* ---- Requests (lock_notice.c) ---------------------------------------------------------------- */

/* The steps of a wait that a request makes as well. A turn: the waiter has made its claim, or none.
 * Parked: the waiter is among the sleepers, unless the word has changed. The bucket is locked for
 * these two. */
PAWL_INTERNAL void lock_wait_begin(struct wait *wait, struct word word, uint64_t deadline);
PAWL_INTERNAL bool lock_stake(struct claimant *c, enum wait_class claim);
PAWL_INTERNAL void lock_alter(struct claimant *c, uint64_t units, enum wait_class claim);
PAWL_INTERNAL bool lock_takes_turn(struct lock_place *here, struct wait *wait,
                                   enum wait_class class, uint64_t w);
PAWL_INTERNAL bool lock_parks(struct lock_place *here, struct wait *wait, enum wait_class class);
/* The waiter was granted the lock, or its deadline has passed. */
PAWL_INTERNAL void lock_wait_end(struct wait *wait);

#endif
