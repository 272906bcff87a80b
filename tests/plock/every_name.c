/* SPDX-License-Identifier: MIT */
/* Every public name of plock once, with what it does to a word that nobody else uses. */
#include <pawl/compat/plock.h>

#include "test.h"

/* ---- Locks ----------------------------------------------------------------------------------- */

#define R32 PLOCK32_RL_1
#define S32 PLOCK32_SL_1
#define W32 PLOCK32_WL_1

TEST_CASE(the_constants_are_the_published_ones)
{
    assert_int_equal(PLOCK32_RL_1, PAWL_SPIN32_R);
    assert_int_equal(PLOCK32_SL_1, PAWL_SPIN32_S);
    assert_int_equal(PLOCK32_WL_1, PAWL_SPIN32_W);
    assert_true(PLOCK64_RL_1 == PAWL_SPIN64_R);
    assert_true(PLOCK64_SL_1 == PAWL_SPIN64_S);
    assert_true(PLOCK64_WL_1 == PAWL_SPIN64_W);
    assert_true((PLOCK32_RL_ANY | PLOCK32_SL_ANY | PLOCK32_WL_ANY) == 0xfffffffc);
    assert_true((PLOCK32_RL_ANY & PLOCK32_SL_ANY) == 0 && (PLOCK32_SL_ANY & PLOCK32_WL_ANY) == 0);
    assert_true((PLOCK64_RL_ANY | PLOCK64_SL_ANY | PLOCK64_WL_ANY) == ~UINT64_C(3));
    assert_true((PLOCK64_RL_ANY & PLOCK64_SL_ANY) == 0 && (PLOCK64_SL_ANY & PLOCK64_WL_ANY) == 0);
    assert_true(PLOCK32_RL_2PL == PLOCK32_RL_ANY - PLOCK32_RL_1);
    assert_true(PLOCK32_WL_2PL == PLOCK32_WL_ANY - PLOCK32_WL_1);
    assert_true(PLOCK64_RL_2PL == PLOCK64_RL_ANY - PLOCK64_RL_1);
    assert_true(PLOCK64_WL_2PL == PLOCK64_WL_ANY - PLOCK64_WL_1);
}

TEST_CASE(take_drop_and_try_change_the_word_as_published)
{
    unsigned int l = 0;
    pl_take_r(&l);
    assert_int_equal(l, R32);
    pl_drop_r(&l);
    pl_take_s(&l);
    assert_int_equal(l, S32 + R32);
    pl_drop_s(&l);
    pl_take_w(&l);
    assert_int_equal(l, W32 + S32 + R32);
    pl_drop_w(&l);
    pl_take_a(&l);
    assert_int_equal(l, W32);
    pl_drop_a(&l);
    assert_int_equal(l, 0);
    assert_true(pl_try_r(&l));
    assert_int_equal(l, R32);
    pl_drop_r(&l);
    assert_true(pl_try_s(&l));
    assert_int_equal(l, S32 + R32);
    assert_false(pl_try_s(&l));
    pl_drop_s(&l);
    assert_true(pl_try_w(&l));
    assert_int_equal(l, W32 + S32 + R32);
    assert_false(pl_try_w(&l));
    assert_false(pl_try_r(&l));
    pl_drop_w(&l);
    assert_true(pl_try_w_nowait(&l));
    assert_int_equal(l, W32 + S32 + R32);
    assert_false(pl_try_w_nowait(&l));
    pl_drop_w(&l);
    assert_true(pl_try_a(&l));
    assert_int_equal(l, W32);
    pl_drop_a(&l);
    assert_int_equal(l, 0);
}

TEST_CASE(transitions_change_the_word_as_published)
{
    unsigned long l = 0;
    const unsigned long r = sizeof l == 8 ? (unsigned long)PLOCK64_RL_1 : PLOCK32_RL_1;
    const unsigned long s = sizeof l == 8 ? (unsigned long)PLOCK64_SL_1 : PLOCK32_SL_1;
    const unsigned long w = sizeof l == 8 ? (unsigned long)PLOCK64_WL_1 : PLOCK32_WL_1;
    pl_take_s(&l);
    pl_stow(&l);
    assert_true(l == w + s + r);
    pl_wtos(&l);
    assert_true(l == s + r);
    pl_stor(&l);
    assert_true(l == r);
    assert_true(pl_try_rtos(&l));
    assert_true(l == s + r);
    pl_stor(&l);
    assert_true(pl_try_rtow(&l));
    assert_true(l == w + s + r);
    pl_wtor(&l);
    assert_true(l == r);
    assert_true(pl_try_rtoa(&l));
    assert_true(l == w);
    pl_ator(&l);
    assert_true(l == r);
    pl_drop_r(&l);
    assert_true(l == 0);
}

TEST_CASE(join_and_claim_change_the_word_as_published)
{
    unsigned int l = 0;
    pl_take_r(&l);
    pl_rtoj(&l);
    assert_int_equal(l, W32 + R32);
    assert_true(pl_last_writer(&l));
    pl_jtoc(&l);
    assert_int_equal(l, W32 + S32 + R32);
    pl_ctoa(&l);
    assert_int_equal(l, W32);
    pl_atoj(&l);
    assert_int_equal(l, W32 + R32);
    pl_drop_j(&l);
    assert_int_equal(l, 0);
    pl_take_r(&l);
    pl_rtoc(&l);
    assert_int_equal(l, W32 + S32 + R32);
    pl_drop_c(&l);
    assert_int_equal(l, 0);
    pl_take_j(&l);
    assert_int_equal(l, W32 + R32);
    pl_drop_j(&l);
    assert_int_equal(pl_try_j(&l), W32 + R32);
    pl_drop_j(&l);
    pl_take_a(&l);
    pl_take_a(&l);
    assert_false(pl_last_writer(&l));
    pl_drop_a(&l);
    assert_true(pl_last_writer(&l));
    pl_drop_a(&l);
    assert_int_equal(l, 0);
}

TEST_CASE(the_lorw_lock_changes_the_word_as_published)
{
    unsigned long l = 0;
    pl_lorw_rdlock(&l);
    pl_lorw_rdlock(&l);
    assert_true(l == 2 * PLOCK_LORW_SHR_BASE);
    pl_lorw_rdunlock(&l);
    pl_lorw_unlock(&l);
    assert_true(l == 0);
    pl_lorw_wrlock(&l);
    assert_true(l == PLOCK_LORW_EXC_BASE);
    pl_lorw_wrunlock(&l);
    pl_lorw_wrlock(&l);
    pl_lorw_unlock(&l);
    assert_true(l == 0);
    assert_int_equal(PLOCK_LORW_EXC_BIT + PLOCK_LORW_EXC_SIZE, PLOCK_LORW_WRQ_BIT);
    assert_int_equal(PLOCK_LORW_WRQ_BIT + PLOCK_LORW_WRQ_SIZE, PLOCK_LORW_SHR_BIT);
    assert_int_equal(PLOCK_LORW_SHR_BIT + PLOCK_LORW_SHR_SIZE, 32);
    assert_true((PLOCK_LORW_EXC_MASK | PLOCK_LORW_WRQ_MASK | PLOCK_LORW_SHR_MASK) == 0xffffffff);
    assert_true(PLOCK_LORW_WRQ_BASE == PLOCK_LORW_WRQ_MASK);
}

TEST_CASE(what_waits_for_a_word_returns_what_it_saw)
{
    unsigned int i = 5;
    unsigned long l = 6;
    assert_int_equal(pl_wait_unlock_int(&i, 2), 5);
    assert_true(pl_wait_unlock_long(&l, 1) == 6);
    assert_int_equal(__pl_wait_unlock_int(&i, 2), 5);
    assert_true(__pl_wait_unlock_long(&l, 1) == 6);
    assert_int_equal(pl_wait_new_int(&i, 4), 5);
    assert_true(pl_wait_new_long(&l, 7) == 6);
    assert_int_equal(pl_deref_int(&i), 5);
    assert_true(pl_deref_long(&l) == 6);
}

/* ---- Helpers --------------------------------------------------------------------------------- */

TEST_CASE(fences_and_hints_are_statements)
{
    pl_barrier();
    pl_cpu_relax();
    pl_mb();
    pl_mb_load();
    pl_mb_store();
    pl_mb_ato();
    pl_mb_ato_load();
    pl_mb_ato_store();
}

TEST_CASE(load_store_and_exchange)
{
    unsigned int x = 3;
    assert_int_equal(pl_load(&x), 3);
    assert_int_equal(pl_load_lax(&x), 3);
    pl_store(&x, 4);
    assert_int_equal(x, 4);
    pl_store_lax(&x, 5);
    assert_int_equal(pl_xchg(&x, 7), 5);
    assert_int_equal(pl_xadd(&x, 2), 7);
    assert_int_equal(pl_cmpxchg(&x, 9, 10), 9);
    assert_int_equal(x, 10);
    assert_int_equal(pl_cmpxchg(&x, 9, 11), 10);
    assert_int_equal(x, 10);
}

/* One operation in its four orders: what it returns, and what it leaves. */
#define FOUR(name, before, returned, left)                                                         \
    do {                                                                                           \
        x = (before);                                                                              \
        assert_true(name(&x) == (returned) && x == (left));                                        \
        x = (before);                                                                              \
        assert_true(name##_lax(&x) == (returned) && x == (left));                                  \
        x = (before);                                                                              \
        assert_true(name##_acq(&x) == (returned) && x == (left));                                  \
        x = (before);                                                                              \
        assert_true(name##_rel(&x) == (returned) && x == (left));                                  \
    } while (0)
#define FOUR_BY(name, before, by, returned, left)                                                  \
    do {                                                                                           \
        x = (before);                                                                              \
        assert_true(name(&x, by) == (returned) && x == (left));                                    \
        x = (before);                                                                              \
        assert_true(name##_lax(&x, by) == (returned) && x == (left));                              \
        x = (before);                                                                              \
        assert_true(name##_acq(&x, by) == (returned) && x == (left));                              \
        x = (before);                                                                              \
        assert_true(name##_rel(&x, by) == (returned) && x == (left));                              \
    } while (0)
/* The four that return nothing, one after the other: they must leave `left` in turn. */
#define FOUR_QUIET(name, arguments, a, b, c, d)                                                    \
    do {                                                                                           \
        name arguments;                                                                            \
        assert_true(x == (a));                                                                     \
        name##_lax arguments;                                                                      \
        assert_true(x == (b));                                                                     \
        name##_acq arguments;                                                                      \
        assert_true(x == (c));                                                                     \
        name##_rel arguments;                                                                      \
        assert_true(x == (d));                                                                     \
    } while (0)

#define EVERY_HELPER(type)                                                                         \
    do {                                                                                           \
        type x;                                                                                    \
        FOUR(pl_inc, 5, 1, 6);                                                                     \
        FOUR(pl_inc, (type) - 1, 0, 0);                                                            \
        FOUR(pl_dec, 5, 1, 4);                                                                     \
        FOUR(pl_dec, 1, 0, 0);                                                                     \
        FOUR_BY(pl_add, 5, 3, 8, 8);                                                               \
        FOUR_BY(pl_add, (type) - 1, 3, 2, 2);                                                      \
        FOUR_BY(pl_sub, 5, 3, 2, 2);                                                               \
        FOUR_BY(pl_sub, 1, 2, (type) - 1, (type) - 1);                                             \
        FOUR_BY(pl_and, 6, 3, 2, 2);                                                               \
        FOUR_BY(pl_or, 6, 3, 7, 7);                                                                \
        FOUR_BY(pl_xor, 6, 3, 5, 5);                                                               \
        FOUR_BY(pl_ldadd, 5, 3, 5, 8);                                                             \
        FOUR_BY(pl_ldsub, 5, 3, 5, 2);                                                             \
        FOUR_BY(pl_ldand, 6, 3, 6, 2);                                                             \
        FOUR_BY(pl_ldor, 6, 3, 6, 7);                                                              \
        FOUR_BY(pl_ldxor, 6, 3, 6, 5);                                                             \
        FOUR_BY(pl_bts, 1, 6, 0, 65);                                                              \
        FOUR_BY(pl_bts, 65, 6, 64, 65);                                                            \
        FOUR_BY(pl_btr, 65, 6, 64, 1);                                                             \
        FOUR_BY(pl_btr, 1, 6, 0, 1);                                                               \
        x = 5;                                                                                     \
        FOUR_QUIET(pl_inc_noret, (&x), 6, 7, 8, 9);                                                \
        FOUR_QUIET(pl_dec_noret, (&x), 8, 7, 6, 5);                                                \
        FOUR_QUIET(pl_add_noret, (&x, 3), 8, 11, 14, 17);                                          \
        FOUR_QUIET(pl_sub_noret, (&x, 3), 14, 11, 8, 5);                                           \
        FOUR_QUIET(pl_xor_noret, (&x, 3), 6, 5, 6, 5);                                             \
        FOUR_QUIET(pl_or_noret, (&x, 3), 7, 7, 7, 7);                                              \
        FOUR_QUIET(pl_and_noret, (&x, 3), 3, 3, 3, 3);                                             \
    } while (0)

TEST_CASE(helpers_work_on_every_size)
{
    EVERY_HELPER(unsigned char);
    EVERY_HELPER(unsigned short);
    EVERY_HELPER(unsigned int);
    EVERY_HELPER(unsigned long);
    EVERY_HELPER(int);
    EVERY_HELPER(long);
}

TEST_MAIN()
