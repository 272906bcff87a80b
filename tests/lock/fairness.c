/* SPDX-License-Identifier: MIT */
/*
 * What doc/lock.md promises about who gets in when, under a virtual clock and random schedules:
 * a writer waits for at most the readers already in; readers held back enter together; whoever is
 * the oldest waiter when its turn has come keeps a claim, and nobody who claims after that gets in
 * before it.
 */
#include "explorer/explorer.h"

#include <pawl/lock.h>

#include "lock/table.h"

enum { RUNS = 3000, FEWEST = 6, LAST = 4000, STEP_NS = 600000 };

static pawl_lock32 lock;
static uint64_t choice;

static struct {
    enum pawl_state wanted;   /* by the one who waits */
    bool asks, in, keeps;
    unsigned bypasses;        /* grants to others whose claim came after its own was kept */
    unsigned others;          /* grants while it waited */
} oldest;

static bool claimed_late[SCHED_THREADS]; /* after the oldest waiter's claim was kept */
static unsigned readers_at_once, most_readers;

static void begin(uint64_t seed)
{
    memset(&lock, 0, sizeof lock);
    memset(table_here(), 0, sizeof *table_here());
    memset(&oldest, 0, sizeof oldest);
    choice = seed;
}

static void granted_to_another(void)
{
    if (!oldest.asks || oldest.in)
        return;
    oldest.others++;
    oldest.bypasses += claimed_late[sched.current];
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

/* The first thread sees itself add W+S: from then on its claim is kept. */
static uint64_t watch(const struct pawl_operation *o,
                      uint64_t (*make)(const struct pawl_operation *))
{
    const uint64_t found = make(o);
    if (sched.current == 0 && o->address == &lock.word && o->kind == PAWL_HOOK_ADD &&
        o->operand == PAWL_SPIN32_W + PAWL_SPIN32_S)
        oldest.keeps = true;
    if (sched.current == 0 && o->tag == PAWL_SPIN_W_KEEP)
        oldest.in = true; /* through W, whatever it wants */
    if (o->tag == PAWL_SPIN_R_TAKE || o->tag == PAWL_SPIN_S_TAKE || o->tag == PAWL_SPIN_W_TAKE ||
        o->tag == PAWL_SPIN_A_TAKE)
        claimed_late[sched.current] = oldest.keeps;
    return found;
}

/* ---- The oldest waiter ----------------------------------------------------------------------- */

static void wait_once(void *unused)
{
    (void)unused;
    oldest.asks = true;
    take(oldest.wanted);
    oldest.in = true;
    drop(oldest.wanted);
}

static void come_again_and_again(void *unused)
{
    unsigned i;
    (void)unused;
    for (i = 0; i < LAST && !oldest.in; i++) {
        const enum pawl_state state =
            (enum pawl_state)(PAWL_STATE_R + test_random_below(&choice, 4));
        claimed_late[sched.current] = false;
        take(state);
        granted_to_another();
        sched.clock += test_random_below(&choice, STEP_NS);
        drop(state);
    }
}

/* Grants to others who claimed after the waiter's claim was kept; LAST: it never got in. One run in
 * a hundred, roughly, keeps a claim: there are as many runs as it takes for some of them. */
static unsigned bypassed(enum pawl_state wanted, unsigned *kept)
{
    static void (*const bodies[])(void *) = {wait_once, come_again_and_again,
                                                       come_again_and_again};
    uint64_t seed = test_seed();
    unsigned all = 0;
    unsigned run;
    *kept = 0;
    for (run = 0; run < RUNS || *kept < FEWEST; run++) {
        begin(test_random(&seed));
        oldest.wanted = wanted;
        if (!sched_random(3, bodies, NULL, test_random(&seed)) || oldest.others >= LAST)
            return LAST;
        *kept += oldest.keeps;
        all += oldest.bypasses;
    }
    return all;
}

static void who_claims_after_the_oldest_waiter_kept_a_claim_gets_in_after_it(void **state)
{
    static const enum pawl_state all[] = {PAWL_STATE_R, PAWL_STATE_S, PAWL_STATE_W, PAWL_STATE_A};
    unsigned i, kept, others;
    (void)state;
    sched.fault = watch;
    for (i = 0; i < 4; i++) {
        others = bypassed(all[i], &kept);
        print_message("%c: %u runs with a kept claim, %u bypasses\n", "URSWA"[all[i]], kept,
                      others);
        assert_int_equal(others, 0);
    }
    sched.fault = NULL;
}

/* ---- Readers and writers --------------------------------------------------------------------- */

static bool writer_claimed, writer_in, late_reader_in;

static void first_reader(void *unused)
{
    (void)unused;
    pawl_take_read(&lock);
    while (!writer_claimed)
        pawl_cpu_relax();
    pawl_drop_read(&lock);
}

static void writer(void *unused)
{
    (void)unused;
    while (lock.word == 0)
        pawl_cpu_relax();
    pawl_take_write(&lock);
    must(!late_reader_in);
    writer_in = true;
    pawl_drop_write(&lock);
}

static void late_reader(void *unused)
{
    (void)unused;
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
    if (sched.current == 1 && o->address == &lock.word && o->tag == PAWL_SPIN_W_TAKE)
        writer_claimed = true;
    return found;
}

static void a_writer_waits_for_the_readers_already_in_and_no_others(void **state)
{
    static void (*const bodies[])(void *) = {first_reader, writer, late_reader};
    uint64_t seed = test_seed();
    unsigned run;
    (void)state;
    sched.fault = watch_claim;
    for (run = 0; run < RUNS; run++) {
        begin(test_random(&seed));
        writer_claimed = writer_in = late_reader_in = false;
        assert_true(sched_random(3, bodies, NULL, test_random(&seed)));
        assert_true(lock.word == 0);
    }
    sched.fault = NULL;
}

static void write_first(void *unused)
{
    (void)unused;
    pawl_take_write(&lock);
    while (sched.slept < 3) /* until the three readers sleep */
        pawl_cpu_relax();
    pawl_drop_write(&lock);
}

static void read_beside_the_others(void *unused)
{
    (void)unused;
    while (lock.word == 0)
        pawl_cpu_relax();
    pawl_take_read(&lock);
    readers_at_once++;
    while (readers_at_once < 3) /* each stays until all are in: no drop of one lets another in */
        pawl_cpu_relax();
    most_readers = 3;
    pawl_drop_read(&lock);
}

static void readers_held_back_enter_together(void **state)
{
    static void (*const bodies[])(void *) = {
        write_first, read_beside_the_others, read_beside_the_others, read_beside_the_others};
    uint64_t seed = test_seed();
    unsigned run;
    (void)state;
    for (run = 0; run < RUNS / 10; run++) {
        begin(test_random(&seed));
        readers_at_once = most_readers = sched.slept = 0;
        assert_true(sched_random(4, bodies, NULL, test_random(&seed)));
        assert_int_equal(most_readers, 3);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_claims_after_the_oldest_waiter_kept_a_claim_gets_in_after_it),
        cmocka_unit_test(a_writer_waits_for_the_readers_already_in_and_no_others),
        cmocka_unit_test(readers_held_back_enter_together),
    };
    if (TEST_SANITIZED) { /* they do not follow a thread from stack to stack */
        printf("skipped: sanitizers know nothing of fibers\n");
        return 0;
    }
    return test_run(argc, argv, tests);
}
