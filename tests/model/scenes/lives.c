/* SPDX-License-Identifier: MIT */
/*
 * Two primitives over one table.
 *
 * One address in two lives: a lock, a bit lock or a wait word is used for the last time, and its
 * memory becomes another primitive. A releaser or waker of the first life looks into the wait list
 * late, when waiters of the second life are there. It must leave them alone, and must not read what
 * they do not have. Words of one width only: 32 bits, as the checker wants it.
 *
 * And two addresses in one bucket, which share the bucket's hints.
 */
#include <pawl/bitlock.h>
#include <pawl/cond.h>
#include <pawl/detail/hook.h>
#include <pawl/lock.h>
#include <pawl/wait.h>

#include "../../../src/lock/table.h"
#include "scenes.h"

#include <stddef.h>

enum { LOCKS = 8, BIT = 3 };

struct stage {
    union {
        pawl_lock32 lock;
        pawl_cond cond;
        uint32_t word;
    } life;
    pawl_lock32 locks[LOCKS];
    pawl_spin32 spin;
    pawl_spin32 second; /* an application bit says that the second life has begun */
    uint32_t other;     /* which of `locks` has the bucket of the first one */
};
#define STAGE M_SCENE(struct stage)
#define LOCK (&STAGE->life.lock)
#define COND (&STAGE->life.cond)
#define WORD (&STAGE->life.word)

/* ---- The end of the first life --------------------------------------------------------------- */

static void the_second_life_begins(void)
{
    m_begin("the memory is used anew");
    pawl_store_relaxed32(WORD, 0);
    (void)pawl_spin32_set_bits(&STAGE->second, 1);
    (void)pawl_hook_wake(&STAGE->second.word, 1);
    m_end();
}

static void waits_for_the_second_life(void)
{
    m_begin("waits for the second life");
    while (pawl_spin32_bits(&STAGE->second) == 0)
        (void)pawl_hook_wait(&STAGE->second.word, 0, PAWL_NO_DEADLINE);
    m_end();
}

/* Two atomic users. A waiter that has given up has left PARKED: so a drop looks into the list, also
 * for a waiter whose turn has come beside other atomic users. */
static void two_update(void)
{
    pawl_take_atomic(LOCK);
    pawl_take_atomic(LOCK);
    (void)pawl_fetch_or_relaxed32(WORD, PAWL_LOCK_PARKED);
}

static void drops_the_lock(void)
{
    M_STEP(pawl_drop_atomic(LOCK));
}

/* When it holds W, the other user has left. */
static void outlives_the_lock(void)
{
    drops_the_lock();
    M_STEP(pawl_take_write(LOCK));
    M_STEP(pawl_drop_write(LOCK));
    the_second_life_begins();
}

static void the_bit_is_held(void)
{
    pawl_bitlock32_take(WORD, BIT);
}

static void drops_the_bit(void)
{
    M_STEP(pawl_bitlock32_drop(WORD, BIT));
}

static void outlives_the_bit(void)
{
    M_STEP(pawl_bitlock32_take(WORD, BIT));
    M_STEP(pawl_bitlock32_drop(WORD, BIT));
    the_second_life_begins();
}

static void tells_the_word(void)
{
    m_begin("pawl_wake_all");
    pawl_store_relaxed32(WORD, 1);
    (void)pawl_wake_all(WORD);
    m_end();
}

static void waits_at_the_word(void)
{
    m_begin("pawl_wait32_masked");
    while ((pawl_load_relaxed32(WORD) & 1) == 0)
        (void)pawl_wait32_masked(WORD, 1, 0);
    m_end();
}

static void outlives_the_word(void)
{
    waits_at_the_word();
    the_second_life_begins();
}

/* ---- The second life ------------------------------------------------------------------------- */

static void writes(void)
{
    M_STEP(pawl_take_write(LOCK));
    m_write(0, m_read(0) + 1);
    M_STEP(pawl_drop_write(LOCK));
}

static void counts_under_the_bit(void)
{
    M_STEP(pawl_bitlock32_take(WORD, BIT));
    m_write(0, m_read(0) + 1);
    M_STEP(pawl_bitlock32_drop(WORD, BIT));
}

static void waits_for_the_condition(void)
{
    M_STEP(pawl_spin32_take_write(&STAGE->spin));
    m_begin("pawl_cond_wait_write");
    while (m_read(0) == 0)
        pawl_spin32_cond_wait_write(COND, &STAGE->spin);
    m_end();
    m_write(0, 2);
    M_STEP(pawl_spin32_drop_write(&STAGE->spin));
}

static void signals_the_condition(void)
{
    M_STEP(pawl_spin32_take_write(&STAGE->spin));
    m_write(0, 1);
    M_STEP(pawl_spin32_drop_write(&STAGE->spin));
    M_STEP(pawl_cond_signal(COND));
}

static void waits_at_the_word_again(void)
{
    waits_at_the_word();
    m_write(0, 2);
}

static void nobody_is_left(void)
{
    const struct pawl_lists *table = table_here();
    m_demand(pawl_load_relaxed32(&table->queues) == 0, M_RESTORED, "a queue is left");
    for (uint32_t i = 0; i < 1u << PAWL_TABLE_BITS; i++)
        m_demand(table->first[i].queues == NULL && table->first[i].urgent == 0, M_RESTORED,
                 "a bucket seems to hold somebody");
}

static void two_have_used_it(void)
{
    m_demand(m_read(0) == 2, M_EXCLUSION, "two were in at once, or a waiter is left");
    nobody_is_left();
}

/* The late one is thread 0. Thread 1 begins the second life. */
/* clang-format off */
#define LIVES(first, held, drops, second, one, two)                                                \
    static void first##_then_##second(void)                                                        \
    {                                                                                              \
        outlives_the_##first();                                                                    \
        one();                                                                                     \
    }                                                                                              \
    static void second##_after_##first(void)                                                       \
    {                                                                                              \
        waits_for_the_second_life();                                                               \
        two();                                                                                     \
    }
#define ALL_LIVES                                                                                  \
    LIVES(lock, two_update, drops_the_lock, word, waits_at_the_word_again, tells_the_word)         \
    LIVES(lock, two_update, drops_the_lock, cond, waits_for_the_condition, signals_the_condition)  \
    LIVES(lock, two_update, drops_the_lock, bit, counts_under_the_bit, counts_under_the_bit)       \
    LIVES(lock, two_update, drops_the_lock, lock, writes, writes)                                  \
    LIVES(bit, the_bit_is_held, drops_the_bit, lock, writes, writes)                               \
    LIVES(bit, the_bit_is_held, drops_the_bit, cond, waits_for_the_condition,                      \
          signals_the_condition)                                                                   \
    LIVES(word, NULL, tells_the_word, lock, writes, writes)                                        \
    LIVES(word, NULL, tells_the_word, cond, waits_for_the_condition, signals_the_condition)
ALL_LIVES
#undef LIVES

/* ---- Two addresses in one bucket ------------------------------------------------------------- */

static void neighbours_are_held(void)
{
    const uint32_t bucket = table_hash(&STAGE->locks[0], 0);
    uint32_t i = 1;
    while (i < LOCKS && table_hash(&STAGE->locks[i], 0) != bucket)
        i++;
    m_demand(i < LOCKS, "harness", "no two locks in one bucket");
    STAGE->other = i;
    pawl_take_write(&STAGE->locks[0]);
    pawl_take_write(&STAGE->locks[i]);
}

static void drops_both(void)
{
    M_STEP(pawl_drop_write(&STAGE->locks[0]));
    M_STEP(pawl_drop_write(&STAGE->locks[STAGE->other]));
}

static void takes_the_one(void)
{
    M_STEP(pawl_take_write(&STAGE->locks[0]));
    M_STEP(pawl_drop_write(&STAGE->locks[0]));
}

static void takes_the_other(void)
{
    M_STEP(pawl_take_write(&STAGE->locks[STAGE->other]));
    M_STEP(pawl_drop_write(&STAGE->locks[STAGE->other]));
}

#define LIVES(first, held, drops, second, one, two)                                                \
    {"lives_" #first "_then_" #second, held, {drops, first##_then_##second,                        \
     second##_after_##first}, two_have_used_it, "preempt=1"},

extern const struct m_scene m_lives_scenes[];
const struct m_scene m_lives_scenes[] = {
    ALL_LIVES
    {"lives_of_neighbours", neighbours_are_held, {drops_both, takes_the_one, takes_the_other},
     nobody_is_left, "preempt=1"},
    {NULL, NULL, {NULL}, NULL, NULL},
};
/* clang-format on */
