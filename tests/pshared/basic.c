/* SPDX-License-Identifier: MIT */
/* The lock for shared memory: what it grants, how it waits, withdraws and wakes. Schedules are in
 * tests/pshared/lost_wake.c. */
#include "pshared/waiter.h"

static uint64_t word(const struct width *x)
{
    return x->size == sizeof lock.l32 ? lock.l32.word : lock.l64.word;
}

/* ---- What is granted ------------------------------------------------------------------------- */

static void beside(const struct width *x)
{
    static const bool lets_in[4][4] = {/* R S W A */
                                       {true, true, false, false},
                                       {true, false, false, false},
                                       {false, false, false, false},
                                       {false, false, false, true}};
    for (unsigned held = 0; held < 4; held++) {
        assert_true(x->tries[held](&lock));
        for (unsigned asked = 0; asked < 4; asked++) {
            const uint64_t before = word(x) & ~UINT64_C(3);
            assert_int_equal(x->tries[asked](&lock), lets_in[held][asked]);
            if (lets_in[held][asked])
                x->drop[asked](&lock);
            else
                assert_false(x->take[asked](&lock, 1));
            assert_true((word(x) & ~UINT64_C(3)) == before); /* PARKED may stay */
        }
        x->drop[held](&lock);
    }
}

TEST_CASE(each_state_lets_in_beside_it_whom_the_table_says)
{
    FOR_EACH_WIDTH(beside);
}

static void units(const struct width *x)
{
    const uint64_t added[4] = {x->r, x->s + x->r, x->w + x->s + x->r, x->w};
    for (unsigned i = 0; i < 4; i++) {
        assert_true(x->take[i](&lock, UINT64_MAX));
        assert_true(word(x) == added[i]);
        x->drop[i](&lock);
        assert_true(word(x) == 0);
    }
}

TEST_CASE(the_word_is_the_published_one)
{
    FOR_EACH_WIDTH(units);
}

static void moves_of_32(void **state)
{
    pawl_pshared_lock32 *l = &lock.l32;
    memset(&lock, 0, sizeof lock);
    pawl_pshared_lock32_take_seek(l);
    pawl_pshared_lock32_seek_to_write(l);
    pawl_pshared_lock32_write_to_seek(l);
    assert_true(pawl_pshared_lock32_try_seek_to_write(l));
    pawl_pshared_lock32_write_to_read(l);
    assert_true(pawl_pshared_lock32_try_read_to_seek(l));
    pawl_pshared_lock32_seek_to_read(l);
    assert_true(pawl_pshared_lock32_try_read_to_write(l));
    pawl_pshared_lock32_write_to_read(l);
    assert_true(pawl_pshared_lock32_read_claim_write(l));
    pawl_pshared_lock32_write_to_read(l);
    assert_true(pawl_pshared_lock32_try_read_to_atomic(l));
    assert_int_equal(pawl_pshared_lock32_atomic_to_read(l), PAWL_REGAIN_KEPT);
    assert_true(pawl_pshared_lock32_read_claim_atomic(l));
    assert_int_equal(l->word, PAWL_SPIN32_W);
    pawl_pshared_lock32_drop_atomic(l);
    assert_true(pawl_pshared_lock32_claim_write(l));
    pawl_pshared_lock32_drop_write(l);
    assert_true(pawl_pshared_lock32_claim_atomic(l));
    pawl_pshared_lock32_drop_atomic(l);
    pawl_pshared_lock32_take_read(l);
    pawl_pshared_lock32_take_read(l);
    assert_false(pawl_pshared_lock32_try_read_to_write(l));
    assert_false(pawl_pshared_lock32_try_read_to_atomic(l));
    pawl_pshared_lock32_drop_read(l);
    pawl_pshared_lock32_drop_read(l);
    assert_int_equal(l->word, 0);
}

TEST_CASE(every_move_ends_in_the_state_that_its_name_says)
{
    moves_of_32(state);
}

/* By the front names of generic.h, which choose by the type of the lock. */
#define BY_TYPE(l)                                                                                 \
    do {                                                                                           \
        assert_true(pawl_init(l));                                                                 \
        pawl_take_read(l);                                                                         \
        assert_true(pawl_try_read_to_seek(l));                                                     \
        pawl_seek_to_write(l);                                                                     \
        assert_false(pawl_take_read_until(l, 0));                                                  \
        pawl_drop_write(l);                                                                        \
        assert_true(pawl_take_atomic_until(l, UINT64_MAX));                                        \
        assert_int_equal(pawl_atomic_to_read_until(l, 0), PAWL_REGAIN_KEPT);                       \
        pawl_drop_read(l);                                                                         \
        pawl_destroy(l);                                                                           \
    } while (0)

TEST_CASE(the_front_names_choose_by_the_type_of_the_lock)
{
    BY_TYPE(&lock.l32);
    assert_true(pawl_pshared_lock32_is_free(&lock.l32));
    BY_TYPE(&lock.l64);
    assert_true(pawl_pshared_lock64_is_free(&lock.l64));
}

/* ---- Deadlines ------------------------------------------------------------------------------- */

static void past(const struct width *x)
{
    for (unsigned i = 0; i < 4; i++) { /* free: granted, however late */
        assert_true(x->take[i](&lock, 0));
        x->drop[i](&lock);
        assert_true(x->take[i](&lock, UINT64_MAX - 1));
        x->drop[i](&lock);
    }
    assert_true(x->tries[R](&lock)); /* a second reader, for whom all that follows would wait */
    assert_true(x->tries[S](&lock));
    assert_false(x->seek_to_write(&lock, 0));
    assert_true(word(x) >> 2 == (x->s + 2 * x->r) >> 2); /* still S, R */
    x->drop[S](&lock);
    assert_false(x->try_write(&lock, 0));
    assert_false(x->try_atomic(&lock, 0));
    assert_true(x->tries[R](&lock));
    assert_false(x->read_to_write(&lock, 0));
    assert_false(x->read_to_atomic(&lock, 0));
    assert_true(word(x) >> 2 == (2 * x->r) >> 2); /* still R, R */
    x->drop[R](&lock);
    x->drop[R](&lock);
    assert_true(x->tries[A](&lock));
    assert_true(x->tries[A](&lock));
    assert_int_equal(x->turn(&lock, 0), PAWL_REGAIN_TIMED_OUT); /* holds nothing now */
    x->drop[A](&lock);
}

TEST_CASE(a_past_deadline_asks_once_and_an_absurd_one_is_none)
{
    FOR_EACH_WIDTH(past);
}

/* False: the writer's time was over before we had seen it sleep. */
static bool held_back_for(const struct width *x, uint64_t ns)
{
    struct task writer, reader;
    bool slept;
    memset(&lock, 0, sizeof lock); /* PARKED may have been left */
    assert_true(x->tries[R](&lock));
    pthread_t w = start(&writer, x, W, now_and(ns));
    while (!(slept = is_parked(x)) && sem_trywait(&writer.done) != 0)
        sched_yield();
    pthread_t r = start(&reader, x, R, UINT64_MAX);
    test_join(w);
    test_join(r); /* although nobody drops */
    assert_false(writer.got);
    assert_true(reader.got);
    x->drop[R](&lock);
    x->drop[R](&lock);
    return slept;
}

static void held_back(const struct width *x)
{
    uint64_t time = 50 * ms;
    while (!held_back_for(x, time))
        time *= 2;
}

TEST_CASE(a_writer_whose_time_is_over_lets_in_the_readers_it_held_back)
{
    FOR_EACH_WIDTH(held_back);
}

static void seeker_upgrade(const struct width *x)
{
    struct task reader;
    assert_true(x->tries[R](&lock));
    assert_true(x->tries[S](&lock));
    pthread_t r = start(&reader, x, R, UINT64_MAX);
    test_join(r);
    assert_false(x->seek_to_write(&lock, now_and(5 * ms)));
    r = start(&reader, x, R, UINT64_MAX); /* the upgrade has left no trace */
    test_join(r);
    x->drop[R](&lock), x->drop[R](&lock), x->drop[R](&lock);
    assert_true(x->seek_to_write(&lock, UINT64_MAX));
    x->drop[W](&lock);
}

TEST_CASE(an_upgrade_whose_time_is_over_still_holds_s)
{
    FOR_EACH_WIDTH(seeker_upgrade);
}

/* ---- Sleeping -------------------------------------------------------------------------------- */

static void sleeps(const struct width *x)
{
    for (unsigned held = 0; held < 4; held++)
        for (unsigned asked = 0; asked < 4; asked++) {
            struct task t;
            assert_true(x->tries[held](&lock));
            if (x->tries[asked](&lock)) { /* beside each other: nobody sleeps */
                x->drop[asked](&lock);
                x->drop[held](&lock);
                continue;
            }
            pthread_t id = start(&t, x, asked, UINT64_MAX);
            until_parked(x);
            assert_int_equal(sem_trywait(&t.done), -1);
            x->drop[held](&lock);
            test_join(id);
            assert_true(t.got);
            x->drop[asked](&lock);
        }
}

TEST_CASE(who_sleeps_is_woken_when_the_last_in_its_way_drops)
{
    FOR_EACH_WIDTH(sleeps);
}

static void moves_wake(const struct width *x)
{
    struct task reader, atomic;
    assert_true(x->tries[A](&lock));
    pthread_t r = start(&reader, x, R, now_and(30000 * ms));
    until_parked(x);
    assert_true(x->turn(&lock, UINT64_MAX) != PAWL_REGAIN_TIMED_OUT); /* A -> R lets readers in */
    test_join(r);
    assert_true(reader.got);
    x->drop[R](&lock);
    pthread_t a = start(&atomic, x, A, now_and(30000 * ms));
    until_parked(x);
    x->drop[R](&lock);
    test_join(a);
    assert_true(atomic.got);
    x->drop[A](&lock);
}

TEST_CASE(moves_wake_those_whom_they_let_in)
{
    FOR_EACH_WIDTH(moves_wake);
}

enum { MANY = 24 };

static void many(const struct width *x)
{
    struct task tasks[MANY];
    pthread_t ids[MANY];
    assert_true(x->tries[W](&lock));
    for (unsigned i = 0; i < MANY; i++)
        ids[i] = start(&tasks[i], x, i % 4 == 2 ? S : R, UINT64_MAX);
    until_parked(x);
    x->drop[W](&lock);
    for (unsigned i = 0; i < MANY; i++)
        if (i % 4 != 2) {
            test_join(ids[i]);
            x->drop[R](&lock);
        }
    for (unsigned i = 0; i < MANY / 4; i++) { /* the seekers, one after the other */
        unsigned j;
        for (j = 0;; j = (j + 1) % MANY)
            if (j % 4 == 2 && sem_trywait(&tasks[j].done) == 0)
                break;
        test_join(ids[j]);
        x->drop[S](&lock);
    }
}

TEST_CASE(a_crowd_of_sleepers_gets_in)
{
    FOR_EACH_WIDTH(many);
}

/* A reader is always in. A seeker sleeps behind another and gives up: PARKED stays. The drop of S
 * finds no sleeper, and PARKED must go with it. Otherwise each later drop of S wakes nobody at the
 * price of some system calls, until no reader overlaps. */
static void given_up_beside_readers(const struct width *x)
{
    assert_true(x->tries[R](&lock));
    assert_true(x->tries[S](&lock));
    assert_false(x->take[S](&lock, now_and(2 * ms)));
    assert_true(is_parked(x));
    x->drop[S](&lock);
    assert_false(is_parked(x));
    x->drop[R](&lock);
}

TEST_CASE(parked_goes_with_the_last_sleeper_while_readers_overlap)
{
    FOR_EACH_WIDTH(given_up_beside_readers);
}

/* The same where S is not dropped but becomes R, which is a move. */
TEST_CASE(parked_goes_with_a_move_too)
{
    pawl_pshared_lock32 *l = &lock.l32;
    memset(&lock, 0, sizeof lock);
    pawl_pshared_lock32_take_seek(l);
    assert_false(pawl_pshared_lock32_take_seek_until(l, now_and(2 * ms)));
    assert_true(is_parked(&widths[0]));
    pawl_pshared_lock32_seek_to_read(l);
    assert_false(is_parked(&widths[0]));
    pawl_pshared_lock32_drop_read(l);
}

/* Two seekers sleep and one drop wakes one of them: PARKED must stay for the other. */
static void one_of_two_woken(const struct width *x)
{
    struct task t[2];
    pthread_t id[2];
    assert_true(x->tries[R](&lock));
    assert_true(x->tries[S](&lock));
    for (unsigned i = 0; i < 2; i++)
        id[i] = start(&t[i], x, S, UINT64_MAX);
    until_parked(x);
    x->drop[S](&lock);
    for (unsigned i = 0; i < 2; i++) {
        while (sem_trywait(&t[0].done) != 0 && sem_trywait(&t[1].done) != 0)
            sched_yield();
        x->drop[S](&lock);
    }
    test_join_all(id, 2);
    x->drop[R](&lock);
}

TEST_CASE(parked_stays_for_the_sleeper_that_is_not_woken)
{
    FOR_EACH_WIDTH(one_of_two_woken);
}

TEST_MAIN(alarm(TEST_HANGS))
