/* SPDX-License-Identifier: MIT */
/*
 * The promises of doc/lock.md about the order of waiters, under a virtual clock and random
 * schedules. A writer waits for at most the readers already in. Readers held back enter together.
 * The oldest waiter keeps a claim when its turn has come, and a later claim does not get in before
 * it; readers may, for they are in no seeker's way.
 */
#include "explorer/explorer.h"

#include <pawl/lock.h>

#include "lock/table.h"

enum { RUNS = 3000, FEWEST = 6, LAST = 4000, STEP_NS = 600000 };

static pawl_lock32 lock;
static uint64_t choice;

static struct {
    enum pawl_state wanted; /* by the one who waits */
    bool asks, in, keeps;
    unsigned bypasses; /* grants to others whose claim came after its own was kept */
    unsigned others;   /* grants while it waited */
} oldest;

/* A claim counts from its first units in the word. The grant may be seen much later: a thread that
 * has claimed S, and is granted, may stop before its last look at the word, and the oldest waiter
 * claims meanwhile. */
static bool claims[SCHED_THREADS], claimed_late[SCHED_THREADS]; /* after the oldest waiter's */
static enum pawl_state taking[SCHED_THREADS];
static bool passed_early; /* a reader claimed for a writer that slept, before the oldest's claim */
static unsigned readers_at_once, most_readers;

static void begin(uint64_t seed)
{
    memset(&lock, 0, sizeof lock);
    memset(table_here(), 0, sizeof *table_here());
    memset(&oldest, 0, sizeof oldest);
    choice = seed;
    passed_early = false;
}

static void granted_to_another(enum pawl_state state)
{
    if (!oldest.asks || oldest.in)
        return;
    oldest.others++;
    if (state != PAWL_STATE_R || oldest.wanted == PAWL_STATE_W)
        oldest.bypasses += claimed_late[sched.current];
}

/* The units that the operation added to the word of the lock. A claim turns PARKED round, too. */
static uint32_t added(const struct pawl_operation *o, uint64_t found)
{
    uint64_t after = found;
    if (o->address == &lock.word && o->kind == PAWL_HOOK_ADD)
        after = found + o->operand;
    if (o->address == &lock.word && o->kind == PAWL_HOOK_COMPARE_EXCHANGE && found == o->expected)
        after = o->operand;
    return (uint32_t)(after / PAWL_SPIN32_R - found / PAWL_SPIN32_R) * PAWL_SPIN32_R;
}

static void take(enum pawl_state state)
{
    if (state == PAWL_STATE_R)
        pawl_take_read(&lock);
    else if (state == PAWL_STATE_S)
        pawl_take_seek(&lock);
    else if (state == PAWL_STATE_W)
        pawl_take_write(&lock);
    else
        pawl_take_atomic(&lock);
}

static void drop(enum pawl_state state)
{
    if (state == PAWL_STATE_R)
        pawl_drop_read(&lock);
    else if (state == PAWL_STATE_S)
        pawl_drop_seek(&lock);
    else if (state == PAWL_STATE_W)
        pawl_drop_write(&lock);
    else
        pawl_drop_atomic(&lock);
}

/* Whether the thread's claim comes after that of the oldest waiter. */
static void note_claim(const struct pawl_operation *o, uint32_t units)
{
    const unsigned me = sched.current;
    const bool adds = units != 0 && units <= UINT32_MAX / 2;
    if (o->address != &lock.word)
        return;
    if (adds && taking[me] == PAWL_STATE_R &&
        units == PAWL_SPIN32_W + PAWL_SPIN32_S + PAWL_SPIN32_R) {
        passed_early |= !oldest.keeps;
    } else if (adds && !claims[me]) {
        claims[me] = true;
        claimed_late[me] = oldest.keeps;
    } else if (o->kind == PAWL_HOOK_SUB || (units != 0 && !adds)) {
        claims[me] = false; /* withdrawn, or dropped */
    } else if (units == 0 && !claims[me] &&
               (o->tag == PAWL_SPIN_R_TAKE || o->tag == PAWL_SPIN_S_TAKE ||
                o->tag == PAWL_SPIN_W_TAKE || o->tag == PAWL_SPIN_A_TAKE)) {
        claimed_late[me] = oldest.keeps && !passed_early; /* another thread claimed for it */
    }
}

/* The first thread sees itself add W+S, or S alone: from then on its claim is kept. */
static uint64_t watch(const struct pawl_operation *o,
                      uint64_t (*make)(const struct pawl_operation *))
{
    const uint64_t found = make(o);
    const uint32_t units = added(o, found);
    if (sched.current == 0 && (units == PAWL_SPIN32_W + PAWL_SPIN32_S || units == PAWL_SPIN32_S))
        oldest.keeps = true;
    if (sched.current == 0 && oldest.keeps && /* before it takes back what it still keeps */
        (units == PAWL_SPIN32_R - PAWL_SPIN32_W - PAWL_SPIN32_S || units == 0 - PAWL_SPIN32_S))
        oldest.in = true;
    note_claim(o, units);
    return found;
}

/* ---- The oldest waiter ----------------------------------------------------------------------- */

static void wait_once(void *unused)
{
    oldest.asks = true;
    take(oldest.wanted);
    oldest.in = true;
    drop(oldest.wanted);
}

static void come_again_and_again(void *unused)
{
    for (unsigned i = 0; i < LAST && !oldest.in; i++) {
        const enum pawl_state state =
            (enum pawl_state)(PAWL_STATE_R + test_random_below(&choice, 4));
        claims[sched.current] = claimed_late[sched.current] = false;
        taking[sched.current] = state;
        take(state);
        granted_to_another(state);
        sched.clock += test_random_below(&choice, STEP_NS);
        drop(state);
    }
}

/* Grants to others who claimed after the waiter's claim was kept; LAST: it never got in. One run in
 * a hundred, roughly, keeps a claim: there are as many runs as it takes for some of them. */
static unsigned bypassed(enum pawl_state wanted, unsigned *kept)
{
    static void (*const bodies[])(void *) = {wait_once, come_again_and_again, come_again_and_again};
    uint64_t seed = test_seed();
    unsigned all = 0;
    *kept = 0;
    for (unsigned run = 0; run < RUNS || *kept < FEWEST; run++) {
        begin(test_random(&seed));
        oldest.wanted = wanted;
        if (!sched_random(3, bodies, NULL, test_random(&seed)) || oldest.others >= LAST)
            return LAST;
        *kept += oldest.keeps;
        all += oldest.bypasses;
    }
    return all;
}

TEST_CASE(who_claims_after_the_oldest_waiter_kept_a_claim_gets_in_after_it)
{
    static const enum pawl_state all[] = {PAWL_STATE_R, PAWL_STATE_S, PAWL_STATE_W, PAWL_STATE_A};
    unsigned kept, others;
    sched.fault = watch;
    for (unsigned i = 0; i < 4; i++) {
        others = bypassed(all[i], &kept);
        print_message("%c: %u runs with a kept claim, %u bypasses\n", "URSWA"[all[i]], kept,
                      others);
        assert_int_equal(others, 0);
    }
    sched.fault = NULL;
}

/* ---- The oldest waiter while another one is always awake ------------------------------------- */

/* Two writers take turns, and a third one sleeps:
 *
 *   1. One of the two holds W. The other one joins the queue, awake, and has not looked yet.
 *   2. The first one drops W. It finds the hint that a waiter is awake, and leaves the look to it.
 *   3. The other one finds the word free and is granted. It leaves the queue with the sleeper in it
 *      and looks whom it can wake: nobody, as it holds W itself.
 *   4. The same again, the two of them exchanged.
 *
 * The sleeper slept for as long as that went on, however long ago its turn had come. */
enum { ROUND_NS = 100000, MOST_ROUNDS = 60 };

static bool entered[SCHED_THREADS], stands[SCHED_THREADS], held;
static unsigned rounds;

/* A writer that has joined the queue looks at the word once the other one has dropped it. */
static uint64_t stand_before_the_look(const struct pawl_operation *o,
                                      uint64_t (*make)(const struct pawl_operation *))
{
    const unsigned me = sched.current;
    if (me != 0 && entered[me] && o->address == &lock.word) {
        entered[me] = false;
        stands[me] = o->kind == PAWL_HOOK_LOAD;
        while (stands[me] && held)
            pawl_cpu_relax();
    }
    if (o->tag == PAWL_TABLE_ENTER)
        entered[me] = true;
    uint64_t found = make(o);
    if (o->tag == PAWL_SPIN_W_DROP)
        held = false;
    return found;
}

static void write_in_turn_with(unsigned me, unsigned other)
{
    while (!oldest.in && rounds < MOST_ROUNDS) {
        while (rounds > 0 && !held && !oldest.in && rounds < MOST_ROUNDS)
            pawl_cpu_relax(); /* until the other one is in, and no longer in the queue */
        pawl_take_write(&lock);
        held = true;
        stands[me] = false;
        rounds++;
        while (!oldest.in && (sched.slept == 0 || !stands[other]) && rounds < MOST_ROUNDS)
            pawl_cpu_relax();
        sched.clock += ROUND_NS;
        pawl_drop_write(&lock);
    }
}

static void write_as_the_first(void *unused)
{
    write_in_turn_with(1, 2);
}

static void write_as_the_second(void *unused)
{
    while (sched.slept == 0)
        pawl_cpu_relax();
    write_in_turn_with(2, 1);
}

static void write_late(void *unused)
{
    while (!held)
        pawl_cpu_relax();
    wait_once(unused);
}

TEST_CASE(a_sleeper_has_its_turn_while_others_are_awake)
{
    static void (*const bodies[])(void *) = {write_late, write_as_the_first, write_as_the_second};
    uint64_t seed = test_seed();
    sched.fault = stand_before_the_look;
    for (unsigned run = 0; run < 20; run++) {
        begin(test_random(&seed));
        oldest.wanted = PAWL_STATE_W;
        held = false;
        rounds = sched.slept = 0;
        memset(entered, 0, sizeof entered);
        memset(stands, 0, sizeof stands);
        assert_true(sched_random(3, bodies, NULL, test_random(&seed)));
        assert_true(lock.word == 0);
        assert_true(rounds < MOST_ROUNDS / 2);
    }
    sched.fault = NULL;
}

/* ---- Readers and writers --------------------------------------------------------------------- */

static bool writer_claimed, writer_in, late_reader_in;

static void first_reader(void *unused)
{
    pawl_take_read(&lock);
    while (!writer_claimed)
        pawl_cpu_relax();
    pawl_drop_read(&lock);
}

static void writer(void *unused)
{
    while (lock.word == 0)
        pawl_cpu_relax();
    pawl_take_write(&lock);
    must(!late_reader_in);
    writer_in = true;
    pawl_drop_write(&lock);
}

static void late_reader(void *unused)
{
    while (!writer_claimed)
        pawl_cpu_relax();
    pawl_take_read(&lock);
    late_reader_in = true;
    must(writer_in);
    pawl_drop_read(&lock);
}

static uint64_t watch_claim(const struct pawl_operation *o,
                            uint64_t (*make)(const struct pawl_operation *))
{
    const uint64_t found = make(o);
    if (sched.current == 1 && added(o, found) == PAWL_SPIN32_W + PAWL_SPIN32_S + PAWL_SPIN32_R)
        writer_claimed = true;
    return found;
}

TEST_CASE(a_writer_waits_for_the_readers_already_in_and_no_others)
{
    static void (*const bodies[])(void *) = {first_reader, writer, late_reader};
    uint64_t seed = test_seed();
    sched.fault = watch_claim;
    for (unsigned run = 0; run < RUNS; run++) {
        begin(test_random(&seed));
        writer_claimed = writer_in = late_reader_in = false;
        assert_true(sched_random(3, bodies, NULL, test_random(&seed)));
        assert_true(lock.word == 0);
    }
    sched.fault = NULL;
}

/* ---- R and S alone --------------------------------------------------------------------------- */

static bool seeker_in, reader_in;

/* Holds S until a reader is in, however long the others wait. */
static void seek_until_a_reader_is_in(void *unused)
{
    pawl_take_seek(&lock);
    seeker_in = true;
    while (!reader_in) {
        sched.clock += PAWL_LOCK_HANDOFF_NS;
        pawl_cpu_relax();
    }
    pawl_drop_seek(&lock);
}

static void seek_next(void *unused)
{
    while (!seeker_in)
        pawl_cpu_relax();
    pawl_take_seek(&lock);
    pawl_drop_seek(&lock);
}

static void read_late(void *unused)
{
    while (!seeker_in)
        pawl_cpu_relax();
    for (unsigned i = 0; i < 20; i++)
        pawl_cpu_relax();
    pawl_take_read(&lock);
    reader_in = true;
    pawl_drop_read(&lock);
}

/* A second seeker waited for longer than 0.6 ms and kept W+S, as its turn had come. The reader then
 * waited for the seekers, and the first seeker for the reader: nobody went on. Among R and S alone
 * that is a deadlock of the lock's own making, and the spinlock has none. */
TEST_CASE(a_reader_gets_in_beside_a_seeker_whoever_waits)
{
    static void (*const bodies[])(void *) = {seek_until_a_reader_is_in, seek_next, read_late};
    uint64_t seed = test_seed();
    for (unsigned run = 0; run < RUNS; run++) {
        begin(test_random(&seed));
        seeker_in = reader_in = false;
        assert_true(sched_random(3, bodies, NULL, test_random(&seed)));
        assert_true(lock.word == 0);
    }
}

/* ---- Tries ----------------------------------------------------------------------------------- */

static unsigned changes, elsewhere;

static uint64_t watch_a_try(const struct pawl_operation *o,
                            uint64_t (*make)(const struct pawl_operation *))
{
    const uint32_t before = lock.word;
    const uint64_t found = make(o);
    elsewhere += o->address != &lock.word;
    changes += lock.word != before;
    return o->kind == PAWL_HOOK_LOAD ? 0 : found; /* the look was before the writer came */
}

static void try_all(void *unused)
{
    must(!pawl_try_read(&lock));
    must(!pawl_try_seek(&lock));
    must(!pawl_try_write(&lock));
    must(!pawl_try_atomic(&lock));
}

/* A try looked, added its claim, found that a writer had come, and took the claim back. As a waiter
 * slept, it then looked into the wait list. In a signal handler it waited there for the latch that
 * the interrupted thread held. */
TEST_CASE(a_try_that_fails_touches_nothing_but_the_word_and_changes_nothing)
{
    static void (*const bodies[])(void *) = {try_all};
    uint64_t seed = test_seed();
    begin(1);
    lock.word = PAWL_SPIN32_W + PAWL_SPIN32_S + PAWL_SPIN32_R + PAWL_LOCK_PARKED;
    changes = elsewhere = 0;
    sched.fault = watch_a_try;
    assert_true(sched_random(1, bodies, NULL, test_random(&seed)));
    sched.fault = NULL;
    assert_int_equal(changes, 0);
    assert_int_equal(elsewhere, 0);
}

static void write_first(void *unused)
{
    pawl_take_write(&lock);
    while (sched.slept < 3) /* until the three readers sleep */
        pawl_cpu_relax();
    pawl_drop_write(&lock);
}

static void read_beside_the_others(void *unused)
{
    while (lock.word == 0)
        pawl_cpu_relax();
    pawl_take_read(&lock);
    readers_at_once++;
    while (readers_at_once < 3) /* each stays until all are in: no drop of one lets another in */
        pawl_cpu_relax();
    most_readers = 3;
    pawl_drop_read(&lock);
}

TEST_CASE(readers_held_back_enter_together)
{
    static void (*const bodies[])(void *) = {write_first, read_beside_the_others,
                                             read_beside_the_others, read_beside_the_others};
    uint64_t seed = test_seed();
    for (unsigned run = 0; run < RUNS / 10; run++) {
        begin(test_random(&seed));
        readers_at_once = most_readers = sched.slept = 0;
        assert_true(sched_random(4, bodies, NULL, test_random(&seed)));
        assert_int_equal(most_readers, 3);
    }
}

/* ---- A reader's turn beside an upgrade ------------------------------------------------------- */

/* 1. A writer holds the lock, and a reader whose turn has come keeps W+S beside it. 2. The writer
 * turns to S. The reader sees no W but its own. 3. The seeker turns to W again: it finds no reader.
 * 4. The reader entered without another look, beside the writer. */
static bool writes;
static unsigned overtaken;
static uint32_t step; /* a reason for the explorer to let the other thread go on */

static void read_once(void *unused)
{
    oldest.asks = true;
    pawl_take_read(&lock);
    must(!writes);
    oldest.in = true;
    pawl_drop_read(&lock);
}

static void write_seek_and_write(void *unused)
{
    while (!oldest.in) {
        pawl_take_write(&lock);
        writes = true;
        sched.clock += test_random_below(&choice, STEP_NS);
        writes = false;
        pawl_write_to_seek(&lock);
        pawl_seek_to_write(&lock);
        writes = true;
        overtaken += oldest.keeps && !oldest.in;
        for (unsigned i = 0; i < 60; i++)
            (void)pawl_load_relaxed32(&step);
        sched.clock += test_random_below(&choice, STEP_NS);
        writes = false;
        pawl_drop_write(&lock);
    }
}

TEST_CASE(a_reader_whose_turn_it_is_enters_beside_no_seeker_that_became_a_writer)
{
    static void (*const bodies[])(void *) = {read_once, write_seek_and_write};
    uint64_t seed = test_seed();
    unsigned run;
    sched.fault = watch;
    overtaken = 0;
    for (run = 0; run < 2 * RUNS || overtaken < FEWEST; run++) {
        begin(test_random(&seed));
        oldest.wanted = PAWL_STATE_R;
        must(sched_random(2, bodies, NULL, test_random(&seed)));
    }
    sched.fault = NULL;
    print_message("%u runs, %u upgrades beside a kept claim\n", run, overtaken);
}

int main(int argc, char **argv)
{
    if (TEST_SANITIZED) /* they do not follow a thread from stack to stack */
        return test_skipped("sanitizers know nothing of fibers");
    return test_main(argc, argv);
}
