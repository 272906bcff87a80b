/* SPDX-License-Identifier: MIT */
/*
 * The memory orders behind the pl_* names, recorded through the hooks: plock's waits were relaxed,
 * and its releases stronger than said. And what happens when another thread gets in at the worst
 * moment, which a hook plays.
 */
#include <pawl/compat/plock.h>

#include "test.h"

enum { MOST = 64 };

static struct pawl_operation seen[MOST];
static unsigned count, relaxed_pauses;
static void (*before_access)(const struct pawl_operation *); /* another thread's turn */
static void (*at_pause)(void);

static uint64_t access_memory(const struct pawl_operation *o)
{
    uint64_t old = 0, left;
    if (o->width == 0)
        return 0;
    memcpy(&old, o->address, o->width); /* little endian, as all targets of these tests */
    left = o->kind == PAWL_HOOK_ADD                                      ? old + o->operand
           : o->kind == PAWL_HOOK_SUB                                    ? old - o->operand
           : o->kind == PAWL_HOOK_AND                                    ? old & o->operand
           : o->kind == PAWL_HOOK_OR                                     ? old | o->operand
           : o->kind == PAWL_HOOK_XOR                                    ? old ^ o->operand
           : o->kind == PAWL_HOOK_LOAD                                   ? old
           : o->kind != PAWL_HOOK_COMPARE_EXCHANGE || old == o->expected ? o->operand
                                                                         : old;
    memcpy(o->address, &left, o->width);
    return old;
}

uint64_t pawl_hook_atomic(const struct pawl_operation *operation)
{
    if (before_access)
        before_access(operation);
    must(count < MOST);
    seen[count++] = *operation;
    return access_memory(operation);
}

void pawl_hook_relax(void)
{
    relaxed_pauses++;
    if (at_pause)
        at_pause();
}

void pawl_hook_yield(void)
{
}
bool pawl_hook_wait(const uint32_t *address, uint32_t expected, uint64_t deadline)
{
    (void)address, (void)expected, (void)deadline;
    return true;
}
unsigned pawl_hook_wake(const uint32_t *address, unsigned most)
{
    (void)address, (void)most;
    return 0;
}
uint64_t pawl_hook_now(void)
{
    return 0;
}
uint32_t pawl_hook_thread_id(void)
{
    return 1;
}
struct pawl_thread_line **pawl_hook_thread_slot(void)
{
    static struct pawl_thread_line *slot;
    return &slot;
}

static int reset(void **state)
{
    count = relaxed_pauses = 0;
    before_access = NULL;
    at_pause = NULL;
    return 0;
}

/* ---- Orders ---------------------------------------------------------------------------------- */

#define LAST (seen[count - 1])

#define ORDER_OF(expression, wanted)                                                               \
    do {                                                                                           \
        count = 0;                                                                                 \
        (void)(expression);                                                                        \
        assert_int_equal(count, 1);                                                                \
        assert_int_equal(LAST.order, wanted);                                                      \
    } while (0)
/* Nothing moves across: a full fence on either side. */
#define ORDERS_ALL(expression)                                                                     \
    do {                                                                                           \
        count = 0;                                                                                 \
        (void)(expression);                                                                        \
        assert_int_equal(count, 3);                                                                \
        assert_int_equal(seen[0].kind, PAWL_HOOK_FENCE);                                           \
        assert_int_equal(seen[0].order, PAWL_ORDER_SEQ_CST);                                       \
        assert_int_equal(seen[1].order, PAWL_ORDER_RELAXED);                                       \
        assert_int_equal(seen[2].kind, PAWL_HOOK_FENCE);                                           \
        assert_int_equal(seen[2].order, PAWL_ORDER_SEQ_CST);                                       \
    } while (0)
#define SUFFIXES(name, arguments)                                                                  \
    do {                                                                                           \
        ORDERS_ALL((name arguments, 0));                                                           \
        ORDER_OF((name##_lax arguments, 0), PAWL_ORDER_RELAXED);                                   \
        ORDER_OF((name##_acq arguments, 0), PAWL_ORDER_ACQUIRE);                                   \
        ORDER_OF((name##_rel arguments, 0), PAWL_ORDER_RELEASE);                                   \
    } while (0)

TEST_CASE_WITH(a_helper_has_the_order_of_its_suffix, reset, NULL)
{
    unsigned int x = 0;
    SUFFIXES(pl_inc_noret, (&x));
    SUFFIXES(pl_dec_noret, (&x));
    SUFFIXES(pl_add_noret, (&x, 1));
    SUFFIXES(pl_sub_noret, (&x, 1));
    SUFFIXES(pl_and_noret, (&x, 1));
    SUFFIXES(pl_or_noret, (&x, 1));
    SUFFIXES(pl_xor_noret, (&x, 1));
    SUFFIXES((void)pl_inc, (&x));
    SUFFIXES((void)pl_dec, (&x));
    SUFFIXES((void)pl_add, (&x, 1));
    SUFFIXES((void)pl_sub, (&x, 1));
    SUFFIXES((void)pl_and, (&x, 1));
    SUFFIXES((void)pl_or, (&x, 1));
    SUFFIXES((void)pl_xor, (&x, 1));
    SUFFIXES((void)pl_ldadd, (&x, 1));
    SUFFIXES((void)pl_ldsub, (&x, 1));
    SUFFIXES((void)pl_ldand, (&x, 1));
    SUFFIXES((void)pl_ldor, (&x, 1));
    SUFFIXES((void)pl_ldxor, (&x, 1));
    SUFFIXES((void)pl_bts, (&x, 1));
    SUFFIXES((void)pl_btr, (&x, 1));
    ORDERS_ALL(pl_xadd(&x, 1));
    ORDERS_ALL(pl_xchg(&x, 1));
    ORDERS_ALL(pl_cmpxchg(&x, 1, 2));
    ORDER_OF(pl_load(&x), PAWL_ORDER_ACQUIRE);
    ORDER_OF(pl_load_lax(&x), PAWL_ORDER_RELAXED);
    ORDER_OF((pl_store(&x, 1), 0), PAWL_ORDER_RELEASE);
    ORDER_OF((pl_store_lax(&x, 1), 0), PAWL_ORDER_RELAXED);
    ORDER_OF((pl_mb(), 0), PAWL_ORDER_SEQ_CST);
    ORDER_OF((pl_mb_load(), 0), PAWL_ORDER_ACQUIRE);
    ORDER_OF((pl_mb_store(), 0), PAWL_ORDER_RELEASE);
}

TEST_CASE_WITH(every_drop_is_a_release_and_no_more, reset, NULL)
{
    unsigned int l = 64 * (PLOCK32_WL_1 + PLOCK32_SL_1 + PLOCK32_RL_1);
    unsigned long lorw = 2 * PLOCK_LORW_SHR_BASE;
    ORDER_OF((pl_drop_r(&l), 0), PAWL_ORDER_RELEASE);
    ORDER_OF((pl_drop_s(&l), 0), PAWL_ORDER_RELEASE);
    ORDER_OF((pl_drop_w(&l), 0), PAWL_ORDER_RELEASE);
    ORDER_OF((pl_drop_a(&l), 0), PAWL_ORDER_RELEASE);
    ORDER_OF((pl_wtos(&l), 0), PAWL_ORDER_RELEASE);
    ORDER_OF((pl_wtor(&l), 0), PAWL_ORDER_RELEASE);
    ORDER_OF((pl_stor(&l), 0), PAWL_ORDER_RELEASE);
    ORDER_OF((pl_lorw_rdunlock(&lorw), 0), PAWL_ORDER_RELEASE);
    ORDER_OF((pl_lorw_wrunlock(&lorw), 0), PAWL_ORDER_RELEASE);
    count = 0;
    pl_drop_j(&l);
    assert_int_equal(LAST.order, PAWL_ORDER_RELEASE);
    pl_drop_c(&l);
    assert_int_equal(LAST.order, PAWL_ORDER_RELEASE);
}

/* ---- Waits ----------------------------------------------------------------------------------- */

static unsigned int word;
static unsigned long long_word;
static unsigned int word_then;

static void others_leave(void)
{
    word = word_then;
    long_word = word_then;
}

/* Runs what waits until the word becomes `then`; the read that ended the wait must have acquired,
 * or the claim that came after it. */
#define ENDS_IN_AN_ACQUIRE(before, then, expression)                                               \
    do {                                                                                           \
        reset(NULL);                                                                               \
        word = (before);                                                                           \
        long_word = (before);                                                                      \
        word_then = (then);                                                                        \
        at_pause = others_leave;                                                                   \
        (void)(expression);                                                                        \
        assert_true(relaxed_pauses > 0);                                                           \
        assert_true(LAST.order == PAWL_ORDER_ACQUIRE || LAST.order == PAWL_ORDER_ACQ_REL);         \
    } while (0)

#define R PLOCK32_RL_1
#define S PLOCK32_SL_1
#define W PLOCK32_WL_1

TEST_CASE_WITH(every_wait_ends_in_an_acquire, reset, NULL)
{
    ENDS_IN_AN_ACQUIRE(4, 0, pl_wait_unlock_int(&word, 4));
    ENDS_IN_AN_ACQUIRE(4, 0, pl_wait_unlock_long(&long_word, 4));
    ENDS_IN_AN_ACQUIRE(4, 0, pl_wait_new_int(&word, 4));
    ENDS_IN_AN_ACQUIRE(4, 0, pl_wait_new_long(&long_word, 4));
    ENDS_IN_AN_ACQUIRE(W + S + R, 0, pl_take_r(&word));
    ENDS_IN_AN_ACQUIRE(W + S + R, 0, pl_take_s(&word));
    ENDS_IN_AN_ACQUIRE(R, W + S + R, pl_take_w(&word));
    ENDS_IN_AN_ACQUIRE(W + S + R, 0, pl_take_a(&word));
    ENDS_IN_AN_ACQUIRE(S + 2 * R, W + S + R, (pl_stow(&word), 0));
    ENDS_IN_AN_ACQUIRE(R, W + S + R, pl_try_w(&word));
    ENDS_IN_AN_ACQUIRE(2 * R, W + S + R, pl_try_rtow(&word));
    ENDS_IN_AN_ACQUIRE(2 * W, R, (pl_ator(&word), 0));
    ENDS_IN_AN_ACQUIRE(2 * R, W + R, (pl_rtoj(&word), 0));
    ENDS_IN_AN_ACQUIRE(2 * (W + R) + S, 2 * W, (pl_ctoa(&word), 0));
    ENDS_IN_AN_ACQUIRE(2 * (W + R) + S, 2 * W + S, (pl_ctoa(&word), 0));
    ENDS_IN_AN_ACQUIRE(R, W + 2 * S + R, pl_take_j(&word));
    ENDS_IN_AN_ACQUIRE(R, W + 2 * S + R, pl_try_j(&word));
    ENDS_IN_AN_ACQUIRE(PLOCK_LORW_EXC_BASE, 0, (pl_lorw_rdlock(&long_word), 0));
    ENDS_IN_AN_ACQUIRE(PLOCK_LORW_EXC_BASE, 0, (pl_lorw_wrlock(&long_word), 0));
    ENDS_IN_AN_ACQUIRE(PLOCK_LORW_WRQ_BASE + PLOCK_LORW_EXC_BASE, 0,
                       (pl_lorw_rdlock(&long_word), 0));
}

TEST_CASE_WITH(a_dereference_is_an_acquire, reset, NULL)
{
    unsigned int i = 1;
    unsigned long l = 1;
    ORDER_OF(pl_deref_int(&i), PAWL_ORDER_ACQUIRE);
    ORDER_OF(pl_deref_long(&l), PAWL_ORDER_ACQUIRE);
    ORDER_OF(pl_last_writer(&i), PAWL_ORDER_ACQUIRE);
}

/* ---- The worst moment ------------------------------------------------------------------------ */

static void an_atomic_user_enters_before_the_claim(const struct pawl_operation *o)
{
    if (o->kind == PAWL_HOOK_COMPARE_EXCHANGE) {
        before_access = NULL;
        word += W;
    }
}

static void it_leaves(void)
{
    must(word == W); /* we have not claimed beside it */
    word -= W;
    at_pause = NULL;
}

TEST_CASE_WITH(j_from_u_claims_only_a_word_that_still_has_no_w, reset, NULL)
{
    word = 0;
    before_access = an_atomic_user_enters_before_the_claim;
    at_pause = it_leaves;
    pl_take_j(&word);
    assert_int_equal(relaxed_pauses, 1);
    assert_int_equal(word, W + R);
}

static void a_joiner_gets_in_first(void)
{
    if (relaxed_pauses == 1)
        word += W; /* the reader in the word joins, and may: R and W are equal */
    else if (relaxed_pauses == 2) {
        must(word % S == R && word / W == 1); /* we have withdrawn */
        word = 0;
    }
}

TEST_CASE_WITH(j_from_u_makes_way_for_a_reader_that_joins, reset, NULL)
{
    word = R;
    at_pause = a_joiner_gets_in_first;
    assert_int_equal(pl_try_j(&word), 0);
    assert_int_equal(word, 0);
    assert_int_equal(relaxed_pauses, 2);
}

static void somebody_claims(const struct pawl_operation *o)
{
    if (o->kind == PAWL_HOOK_ADD && o->operand == R) {
        before_access = NULL;
        word += W;
    }
}

TEST_CASE_WITH(a_reader_that_only_looked_in_leaves_nothing, reset, NULL)
{
    word = 0;
    before_access = somebody_claims;
    assert_false(pl_try_r(&word));
    assert_int_equal(word, W);
}

TEST_MAIN()
