/* SPDX-License-Identifier: MIT */
/*
 * All primitives at once. Threads come and end, some while they read; signal handlers read and
 * write by tries at any instruction; threads fork with reads held, and the child goes on; processes
 * that share memory are killed. Each lock's data say when two are in that exclude each other. At
 * the end of each round every word is free, and every sum is right. A thread that is stuck ends the
 * program, which says at what. The same three times: readers scale, by evidence, never.
 *
 * PAWL_STRESS_SECONDS is the time for all three. Runs follow from the seed (--seed=N), but for what
 * the clock and the scheduler decide.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "test.h"

#include <sys/prctl.h>

#include <pawl/pawl.h>

#include "lock/entries.h"

#if PAWL_SCALES_ && defined(__linux__)

#include "all/stress_locks.h"
#include "all/stress_others.h"

enum { SLOTS = 10, LEAVES_NOTHING = -1 };

static struct slot {
    pthread_t id;
    uint64_t random, in_handlers; /* the states of two sequences */
    struct added added;
    int64_t by_handlers; /* what they have added to the counter */
    unsigned steps;
    int leaves; /* the place at which it ends while it reads */
    uint32_t beat, doing;
} slots[SLOTS];

static uint32_t stop; /* 1: the round ends */
static _Thread_local struct slot *me;

/* ---- Handlers -------------------------------------------------------------------------------- */

static void handle(int number)
{
    const int saved = errno;
    struct slot *const s = me;
    if (s == NULL)
        return;
    for (unsigned i = 0; i < QUIET; i++)
        place_walk(&locks.quiet[i], &s->in_handlers, true);
    pawl_counter_add_in_handler(&others.counter, 1);
    s->by_handlers++;
    pawl_rcu_read_lock();
    const struct node *n = pawl_rcu_dereference(others.node);
    must(n->complement == ~n->number);
    pawl_rcu_read_unlock();
    errno = saved;
}

static void says_who_is_stuck(int number)
{
    for (unsigned i = 0; i < SLOTS; i++)
        fprintf(stderr, "slot %u: %u steps, now at step_%u\n", i, slots[i].beat, slots[i].doing);
    abort();
}

/* ---- Forks ----------------------------------------------------------------------------------- */

/* It has what the forking thread held. It makes anew those that others held. */
static void child_goes_on(uint64_t *random, struct place *held)
{
    must(signal(SIGALRM, SIG_DFL) != SIG_ERR);
    alarm(TEST_HANGS);
    if (held != NULL) {
        place_is_whole(held, PAWL_STATE_R);
        must(held->verbs->run[OP_drop_read](&held->lock));
    }
    me = NULL;
    locks_begin();
    for (unsigned i = 0; i < 30; i++) {
        places_nest(random);
        place_walk(&locks.quiet[i % QUIET], random, true);
        step_pshared(random);
        step_robust(random);
        pawl_rcu_read_lock();
        must(pawl_rcu_dereference(others.node) != NULL);
        pawl_rcu_read_unlock();
        pawl_counter_add(&others.counter, 1);
    }
    places_are_free(locks.places, PLACES);
    _exit(0);
}

static void step_fork(uint64_t *random)
{
    struct place *held = &locks.places[test_random_below(random, PLACES)];
    if (!held->verbs->run[OP_try_read](&held->lock))
        held = NULL;
    pid_t child = fork();
    must(child >= 0);
    if (child == 0)
        child_goes_on(random, held);
    if (held != NULL)
        (void)held->verbs->run[OP_drop_read](&held->lock);
    must(test_wait(child) == 0);
}

/* A process that goes on until it is killed, at whatever instruction. */
static pid_t start_victim(uint64_t random)
{
    const pid_t child = fork();
    must(child >= 0);
    if (child != 0)
        return child;
    must(prctl(PR_SET_PDEATHSIG, SIGKILL) == 0);
    must(signal(SIGALRM, SIG_DFL) != SIG_ERR);
    alarm(TEST_HANGS);
    for (;;)
        step_robust(&random);
}

static void kill_victim(pid_t victim)
{
    must(kill(victim, SIGKILL) == 0);
    const int status = test_wait(victim);
    must(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

/* ---- Threads --------------------------------------------------------------------------------- */

static void step(struct slot *s)
{
    uint64_t *const random = &s->random;
    struct place *const p = &locks.places[test_random_below(random, PLACES)];
    s->doing = test_random_below(random, 16);
    switch (s->doing) {
    case 0: step_bit(random); break;
    case 1: step_brlock(random); break;
    case 2: step_sift(random); break;
    case 3: step_seq(random); break;
    case 4: step_counters(random, &s->added); break;
    case 5: step_rcu(random); break;
    case 6: step_idtable(random); break;
    case 7: step_robust(random); break;
    case 8: step_pshared(random); break;
    case 9: place_hands_over(p, random); break;
    case 10: (void)place_drops_one(p, &p->handed); break;
    case 11: place_walk(&locks.quiet[test_random_below(random, QUIET)], random, true); break;
    case 12:
        if (test_random_below(random, 64) == 0)
            step_fork(random);
        break;
    case 13: places_nest(random); break;
    default: place_walk(p, random, false);
    }
    __atomic_store_n(&s->beat, s->beat + 1, __ATOMIC_RELAXED);
}

static void *work(void *slot)
{
    struct slot *const s = (struct slot *)slot;
    me = s;
    for (unsigned i = 0; i < s->steps && pawl_load_relaxed32(&stop) == 0; i++)
        step(s);
    if (test_random_below(&s->random, 4) == 0) {
        struct place *const p = &locks.places[test_random_below(&s->random, PLACES)];
        if (p->verbs->run[OP_try_read](&p->lock))
            s->leaves = (int)(p - locks.places);
    }
    return NULL;
}

static void start(struct slot *s, uint64_t *random)
{
    s->random = test_random(random);
    s->in_handlers = test_random(random);
    s->steps = 1 + test_random_below(random, TEST_SCALE(4000));
    s->leaves = LEAVES_NOTHING;
    s->id = test_start(work, s);
}

/* True when the thread has ended. Its reads are in the word now, for anybody to drop. */
static bool has_ended(struct slot *s)
{
    if (pthread_tryjoin_np(s->id, NULL) != 0)
        return false;
    if (s->leaves != LEAVES_NOTHING)
        (void)pawl_fetch_add_relaxed32(&locks.places[s->leaves].left, 1);
    return true;
}

/* Time for the next alarm begins anew when each thread has gone on. */
static void watch(uint32_t *beats)
{
    for (unsigned i = 0; i < SLOTS; i++)
        if (__atomic_load_n(&slots[i].beat, __ATOMIC_RELAXED) == beats[i])
            return;
    for (unsigned i = 0; i < SLOTS; i++)
        beats[i] = __atomic_load_n(&slots[i].beat, __ATOMIC_RELAXED);
    alarm(TEST_HANGS);
}

/* ---- Rounds ---------------------------------------------------------------------------------- */

static void look_after_threads(uint64_t *random, double end)
{
    uint32_t beats[SLOTS];
    pid_t victim = 0;
    memset(beats, 0xff, sizeof beats);
    while (test_now() < end) {
        struct slot *const s = &slots[test_random_below(random, SLOTS)];
        must(pthread_kill(s->id, SIGUSR1) == 0);
        if (has_ended(s))
            start(s, random);
        places_drop_all();
        (void)pawl_cond_broadcast(&locks.places[test_random_below(random, PLACES)].cond);
        if (test_random_below(random, 16) == 0) {
            if (victim != 0)
                kill_victim(victim);
            victim = start_victim(test_random(random));
        }
        watch(beats);
        usleep(test_random_below(random, 500));
    }
    if (victim != 0)
        kill_victim(victim);
}

static void round_of(uint64_t seed, double seconds)
{
    uint64_t random = seed;
    struct added all;
    memset(slots, 0, sizeof slots);
    memset(&all, 0, sizeof all);
    locks_begin();
    others_begin();
    pawl_store_relaxed32(&stop, 0);
    for (unsigned i = 0; i < SLOTS; i++)
        start(&slots[i], &random);
    look_after_threads(&random, test_now() + seconds);
    pawl_store_relaxed32(&stop, 1);
    for (unsigned ended = 0; ended < SLOTS;
         usleep(100)) { /* in any order: one may wait for another */
        for (unsigned i = 0; i < SLOTS; i++)
            if (slots[i].steps != 0 && has_ended(&slots[i])) {
                slots[i].steps = 0;
                ended++;
            }
        places_drop_all();
    }
    for (unsigned i = 0; i < SLOTS; i++) {
        all.plain += slots[i].added.plain + slots[i].by_handlers;
        all.exact += slots[i].added.exact;
        all.limited += slots[i].added.limited;
    }
    places_drop_all();
    places_are_free(locks.places, PLACES);
    places_are_free(locks.quiet, QUIET);
    step_robust(&random);
    others_end(&all);
}

static void runs(void *mode)
{
    const double seconds = test_seconds(6) / 3, end = test_now() + seconds;
    uint64_t seed = test_seed();
    must(signal(SIGUSR1, handle) != SIG_ERR);
    must(signal(SIGALRM, says_who_is_stuck) != SIG_ERR);
    ipawl_entries_mode_(*(const enum entries_mode *)mode);
    do
        round_of(seed++, seconds < 1 ? seconds : 1);
    while (test_now() < end);
}

static void all_at_once(enum entries_mode mode)
{
    static char said[65536];
    const int status = test_in_child(runs, &mode, said, sizeof said);
    if (status != 0)
        fail_msg("seed %" PRIu64 ", status %#x:\n%s", test_seed(), (unsigned)status, said);
}

TEST_CASE(all_hold_where_readers_scale)
{
    all_at_once(ENTRIES_ON);
}

TEST_CASE(all_hold_where_readers_scale_by_evidence)
{
    all_at_once(ENTRIES_EVIDENCE);
}

TEST_CASE(all_hold_where_readers_never_scale)
{
    all_at_once(ENTRIES_OFF);
}

TEST_MAIN()

#else

TEST_SKIPPED("readers do not scale on this system")

#endif
