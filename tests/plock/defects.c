/* SPDX-License-Identifier: MIT */
/*
 * What went wrong in plock and must not here, one test each. Its memory orders are in
 * orders.c, its unparenthesised macros in expressions.c, its recursion in misuse.c.
 */
#include <pawl/compat/plock.h>

#include "test.h"

static unsigned int lock;
static uint32_t inside[2]; /* writers, atomic users */
static uint32_t granted;

static bool other_is_granted(void)
{
    return pawl_load_acquire32(&granted, PAWL_TAG_NONE_) != 0;
}

static pthread_t start(void *(*body)(void *))
{
    pawl_store_relaxed32(&granted, 0);
    const pthread_t thread = test_start(body, NULL);
    return thread;
}

/* Waits until the thread has claimed, gives it time, and sees that it has not been granted. */
static void see_it_wait(unsigned int units)
{
    test_await((pl_deref_int(&lock) & units) != 0);
    for (unsigned i = 0; i < 200; i++)
        sched_yield();
    assert_false(other_is_granted());
}

static void finish(pthread_t thread)
{
    test_join(thread);
    assert_true(other_is_granted());
}

/* ---- W and A together ------------------------------------------------------------------------ */

/* A writer that waits for a seeker has W and S but no R, and R alone told A that nobody was in. */
static void enter_and_leave(unsigned own)
{
    (void)pawl_fetch_add_acq_rel32(&inside[own], 1, PAWL_TAG_NONE_);
    must(pawl_load_acquire32(&inside[1 - own], PAWL_TAG_NONE_) == 0);
    pl_cpu_relax();
    must(pawl_load_acquire32(&inside[1 - own], PAWL_TAG_NONE_) == 0);
    (void)pawl_fetch_sub_acq_rel32(&inside[own], 1, PAWL_TAG_NONE_);
}

static void *write_once(void *unused)
{
    pl_take_w(&lock);
    enter_and_leave(0);
    pl_drop_w(&lock);
    return unused;
}

static int reset(void **state)
{
    lock = 0;
    inside[0] = inside[1] = 0;
    return 0;
}

TEST_CASE_WITH(atomic_users_and_a_writer_that_waited_for_a_seeker_exclude_each_other, reset, NULL)
{
    for (int round = 0; round < TEST_SCALE(2000); round++) {
        pl_take_s(&lock);
        pthread_t thread = start(write_once);
        test_await((pl_deref_int(&lock) & PLOCK32_WL_ANY) != 0);
        pl_drop_s(&lock);
        pl_take_a(&lock);
        enter_and_leave(1);
        pl_drop_a(&lock);
        test_join(thread);
    }
    assert_int_equal(lock, 0);
}

/* ---- Application bits ------------------------------------------------------------------------ */

#define WORKS_WITH_BITS(type, bits)                                                                \
    do {                                                                                           \
        type l = (bits);                                                                           \
        assert_true(pl_try_w(&l));                                                                 \
        pl_drop_w(&l);                                                                             \
        assert_true(pl_try_w_nowait(&l));                                                          \
        pl_drop_w(&l);                                                                             \
        assert_true(pl_try_r(&l) && pl_try_rtow(&l));                                              \
        pl_drop_w(&l);                                                                             \
        assert_true(pl_try_r(&l) && pl_try_rtoa(&l));                                              \
        pl_ator(&l);                                                                               \
        pl_rtoc(&l);                                                                               \
        pl_ctoa(&l);                                                                               \
        pl_atoj(&l);                                                                               \
        pl_drop_j(&l);                                                                             \
        assert_true(pl_try_a(&l));                                                                 \
        pl_drop_a(&l);                                                                             \
        assert_true(pl_try_j(&l) != 0);                                                            \
        pl_jtoc(&l);                                                                               \
        pl_drop_c(&l);                                                                             \
        pl_take_s(&l);                                                                             \
        pl_stow(&l);                                                                               \
        pl_drop_w(&l);                                                                             \
        assert_true(l == (bits));                                                                  \
    } while (0)

TEST_CASE_WITH(every_operation_works_whatever_the_application_bits_hold, reset, NULL)
{
    WORKS_WITH_BITS(unsigned int, 1);
    WORKS_WITH_BITS(unsigned int, 2);
    WORKS_WITH_BITS(unsigned int, 3);
    WORKS_WITH_BITS(unsigned long, 1);
    WORKS_WITH_BITS(unsigned long, 2);
    WORKS_WITH_BITS(unsigned long, 3);
}

/* ---- A -> R ---------------------------------------------------------------------------------- */

static void *atomic_to_read(void *unused)
{
    pl_ator(&lock);
    pawl_store_release32(&granted, 1, PAWL_TAG_NONE_);
    pl_drop_r(&lock);
    return unused;
}

/* Two atomic users; one turns to R and waits. The other leaves, and before the first has looked, a
 * writer claims: shown here by the word that it leaves. They waited for each other for ever. */
TEST_CASE_WITH(a_writer_and_an_atomic_user_who_wants_r_do_not_wait_for_each_other, reset, NULL)
{
    pl_take_a(&lock);
    pl_take_a(&lock);
    pthread_t thread = start(atomic_to_read);
    see_it_wait(PLOCK32_RL_ANY);
    /* in one step: drop A, and a claim of W beside the R of the other */
    pl_add_noret(&lock, PLOCK32_SL_1 + PLOCK32_RL_1);
    test_await((pl_deref_int(&lock) & PLOCK32_RL_ANY) == PLOCK32_RL_1);
    assert_false(other_is_granted());
    pl_drop_w(&lock);
    finish(thread);
    assert_int_equal(lock, 0);
}

static void *join_from_r(void *unused)
{
    pl_rtoj(&lock);
    pawl_store_release32(&granted, 1, PAWL_TAG_NONE_);
    pl_drop_j(&lock);
    return unused;
}

static void *join_from_u(void *unused)
{
    pl_take_j(&lock);
    pawl_store_release32(&granted, 1, PAWL_TAG_NONE_);
    pl_drop_j(&lock);
    return unused;
}

/* One who waits to join shows it in S, which makes an atomic user who wants R let go. */
TEST_CASE_WITH(who_waits_to_join_shows_it_to_atomic_users_who_want_r, reset, NULL)
{
    lock = 2 * PLOCK32_RL_1;
    pthread_t thread = start(join_from_r);
    see_it_wait(PLOCK32_WL_ANY);
    assert_true((pl_deref_int(&lock) & PLOCK32_SL_ANY) != 0);
    pl_drop_r(&lock);
    finish(thread);
    assert_int_equal(lock, 0);
    lock = PLOCK32_RL_1;
    thread = start(join_from_u);
    see_it_wait(PLOCK32_WL_ANY);
    assert_true((pl_deref_int(&lock) & PLOCK32_SL_ANY) != 0);
    pl_drop_r(&lock);
    finish(thread);
    assert_int_equal(lock, 0);
}

/* ---- Join and claim -------------------------------------------------------------------------- */

TEST_CASE_WITH(the_last_joiner_leaves_an_unlocked_word, reset, NULL)
{
    unsigned int l = 2 * (PLOCK32_WL_1 + PLOCK32_RL_1);
    pl_jtoc(&l);
    pl_drop_c(&l);
    assert_int_equal(l, PLOCK32_WL_1 + PLOCK32_SL_1 + PLOCK32_RL_1);
    pl_drop_j(&l);
    assert_int_equal(l, 0);
}

/* A reader that looks in while the last claimer leaves has R in the word for a moment. */
TEST_CASE_WITH(the_last_claimer_leaves_no_trace_beside_a_reader_that_looks_in, reset, NULL)
{
    unsigned int l = PLOCK32_WL_1 + PLOCK32_SL_1 + 2 * PLOCK32_RL_1;
    pl_drop_c(&l);
    assert_int_equal(l, PLOCK32_RL_1);
}

TEST_CASE_WITH(a_stale_s_lets_nobody_join_beside_readers, reset, NULL)
{
    lock = PLOCK32_SL_1 + 2 * PLOCK32_RL_1;
    pthread_t thread = start(join_from_r);
    see_it_wait(PLOCK32_WL_ANY);
    pl_drop_r(&lock);
    finish(thread);
    assert_int_equal(lock, 0);
}

TEST_CASE_WITH(j_from_u_is_not_granted_beside_atomic_users, reset, NULL)
{
    pl_take_a(&lock);
    pthread_t thread = start(join_from_u);
    for (unsigned i = 0; i < 200; i++)
        sched_yield();
    assert_false(other_is_granted());
    assert_int_equal(pl_deref_int(&lock), PLOCK32_WL_1);
    pl_drop_a(&lock);
    finish(thread);
    assert_int_equal(lock, 0);
}

TEST_MAIN()
