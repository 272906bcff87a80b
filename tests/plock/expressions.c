/* SPDX-License-Identifier: MIT */
/* The names as parts of larger expressions, and over every kind of word that plock takes. */
#include <pawl/compat/plock.h>

#include "test.h"

TEST_CASE(a_take_is_an_operand_like_any_other)
{
    unsigned int l = 0;
    int i = 1 - pl_take_r(&l);
    assert_int_equal(i, 1);
    assert_int_equal(l, PLOCK32_RL_1);
    assert_true(!pl_take_r(&l) && !pl_take_r(&l));
    assert_int_equal(l, 3 * PLOCK32_RL_1);
    l = 0;
    assert_int_equal(-pl_take_s(&l), 0);
    l = 0;
    assert_int_equal(7 + pl_take_w(&l) * 2, 7);
    l = 0;
    assert_true(1 ? !pl_take_a(&l) : pl_take_j(&l));
    assert_int_equal(l, PLOCK32_WL_1);
}

TEST_CASE(a_try_is_an_operand_like_any_other)
{
    unsigned long l = 0;
    if (!pl_try_r(&l) || !pl_try_s(&l))
        fail();
    assert_int_equal(-pl_try_w(&l), 0);
    assert_int_equal(10 - pl_try_r(&l) * 3, 7);
    assert_true(pl_try_s(&l) + pl_try_a(&l) + pl_try_w_nowait(&l) == 0);
    pl_drop_r(&l), pl_drop_r(&l), pl_drop_s(&l);
    assert_true(l == 0);
    while (pl_try_r(&l) && pl_try_rtow(&l) && pl_last_writer(&l))
        break;
    assert_false(pl_try_r(&l) ? true : false);
}

TEST_CASE(drops_and_moves_are_expressions_without_a_value)
{
    unsigned int l = 0;
    pl_take_s(&l) ? (void)0 : pl_stow(&l);
    for (pl_wtos(&l); l != 0; pl_drop_s(&l))
        continue;
    assert_int_equal((pl_take_r(&l), pl_rtoj(&l), pl_drop_j(&l), 5), 5);
    assert_int_equal(l, 0);
}

TEST_CASE(each_argument_is_evaluated_once)
{
    unsigned int locks[2] = {0, 0};
    unsigned int *l = locks;
    unsigned int words[4] = {0, 0, 0, 0};
    unsigned int *w = words;
    unsigned int x = 1;
    pl_take_r(l++);
    assert_ptr_equal(l, locks + 1);
    assert_true(pl_try_w(l++));
    assert_ptr_equal(l, locks + 2);
    pl_drop_w(--l);
    pl_drop_r(--l);
    assert_int_equal(locks[0] | locks[1], 0);
    assert_int_equal(pl_add(w++, x++), 1);
    assert_int_equal(pl_bts(w++, x++), 0);
    assert_int_equal(words[1], 4);
    assert_int_equal(pl_cmpxchg(w++, 0, x++), 0);
    assert_int_equal(pl_xchg(w, x++), 0);
    assert_ptr_equal(w, words + 3);
    assert_int_equal(x, 5);
}

/* ---- Kinds of words -------------------------------------------------------------------------- */

static int target;

/* A pointer whose two lowest bits are free is a lock; its value lies in R and above. */
TEST_CASE(a_pointer_is_a_lock)
{
    void *head = NULL;
    int *tagged = NULL;
    pl_take_w(&head);
    assert_true(head != NULL);
    assert_false(pl_try_r(&head));
    pl_drop_w(&head);
    assert_ptr_equal(head, NULL);
    pl_take_r(&tagged);
    assert_true(pl_try_rtos(&tagged));
    pl_drop_s(&tagged);
    assert_ptr_equal(tagged, NULL);
}

TEST_CASE(a_pointer_goes_through_the_helpers)
{
    int other;
    int *p = NULL;
    pl_store(&p, &target);
    int *old = pl_load(&p);
    assert_ptr_equal(old, &target);
    assert_ptr_equal(pl_xchg(&p, &other), &target);
    assert_ptr_equal(pl_cmpxchg(&p, &other, NULL), &other);
    assert_ptr_equal(pl_load_lax(&p), NULL);
}

TEST_CASE(a_signed_word_keeps_its_sign)
{
    signed char c = -1;
    short s = -2;
    int i = -3;
    long l = -4;
    assert_int_equal(pl_load(&c), -1);
    assert_int_equal(pl_add(&s, 1), -1);
    assert_int_equal(pl_ldadd(&i, -1), -3);
    assert_int_equal(pl_xchg(&l, -9), -4);
    assert_true(pl_load(&l) < 0 && pl_load(&i) == -4);
    assert_true(pl_cmpxchg(&i, -4, -5) == -4 && i == -5);
}

TEST_CASE(a_volatile_or_signed_lock_is_a_lock)
{
    volatile unsigned int v = 0;
    int s = 0;
    pl_take_w(&v);
    assert_false(pl_try_r(&v));
    pl_drop_w(&v);
    assert_int_equal(v, 0);
    pl_take_s(&s);
    pl_stow(&s);
    pl_drop_w(&s);
    assert_int_equal(s, 0);
}

/* The compiler must not take our accesses and the program's for accesses of different objects. */
static unsigned long set_then_take(unsigned long *word)
{
    *word = 1;
    pl_take_r(word);
    return *word;
}

static void *publish(void **slot, void *first, void *second)
{
    *slot = first;
    pl_store(slot, second);
    return *slot;
}

TEST_CASE(the_program_sees_our_changes_through_its_own_type)
{
    unsigned long word = 0;
    void *slot = NULL;
    assert_true(set_then_take(&word) > 1);
    assert_ptr_equal(publish(&slot, &word, &target), &target);
}

TEST_MAIN()
