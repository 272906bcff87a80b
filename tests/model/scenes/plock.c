/* SPDX-License-Identifier: MIT */
/*
 * compat/plock.h: readers and atomic users beside each other; those who join, claim and change
 * together; its lock of low overhead; its helpers.
 *
 * Data of the join states: everybody reads all cells under R; who has joined or claims writes its
 * own, which the others read when all have gone on to A; who is alone in J writes all.
 */
#include <pawl/compat/plock.h>

#include "scenes.h"

#include <stddef.h>

struct stage {
    unsigned int lock;
    unsigned long lorw;
    unsigned int one, other;
    unsigned int seen[2];
};
#define STAGE M_SCENE(struct stage)
#define LOCK (&STAGE->lock)

static void the_word_is_free(void)
{
    m_demand(pawl_load_relaxed32(LOCK) == 0, M_RESTORED, "units are left");
}

/* ---- R and A --------------------------------------------------------------------------------- */

static void reads(void)
{
    M_STEP(pl_take_r(LOCK));
    (void)m_read(0);
    (void)m_read(1);
    M_STEP(pl_drop_r(LOCK));
}

static void writes(void)
{
    M_STEP(pl_take_w(LOCK));
    m_write(0, 1);
    m_write(1, 1);
    M_STEP(pl_drop_w(LOCK));
}

/* Atomic users, each with data of its own, which it reads when it comes back to R. */
static void updates_and_reads(void)
{
    M_STEP(pl_take_a(LOCK));
    m_write(m_me(), 1);
    M_STEP(pl_ator(LOCK));
    (void)m_read(0);
    (void)m_read(1);
    M_STEP(pl_drop_r(LOCK));
}

static void updates(void)
{
    M_STEP(pl_take_a(LOCK));
    m_write(m_me(), 1);
    M_STEP(pl_drop_a(LOCK));
}

static void two_is_an_atomic_user(void)
{
    M_STEP(pl_take_a(LOCK));
}

static void two_leaves(void)
{
    m_write(1, 1);
    M_STEP(pl_drop_a(LOCK));
}

/* The last one sees what the other has done, who does not come back. */
static void sums_up_if_last(void)
{
    M_STEP(pl_take_a(LOCK));
    M_DO(int last = pl_last_writer(LOCK));
    if (last)
        (void)m_read(1);
    M_STEP(pl_drop_a(LOCK));
}

/* ---- J, C, A --------------------------------------------------------------------------------- */

static void write_own(void)
{
    m_write(m_me(), m_read(m_me()) + 1);
}

static void read_all(void)
{
    (void)m_read(0);
    (void)m_read(1);
}

static void join(void)
{
    M_STEP(pl_take_r(LOCK));
    read_all();
    M_STEP(pl_rtoj(LOCK));
    write_own();
}

static void joins(void)
{
    join();
    M_STEP(pl_drop_j(LOCK));
}

static void joins_and_claims(void)
{
    join();
    M_STEP(pl_jtoc(LOCK));
    write_own();
    M_STEP(pl_drop_c(LOCK));
}

static void change(void)
{
    join();
    M_STEP(pl_jtoc(LOCK));
    write_own();
    M_STEP(pl_ctoa(LOCK));
    read_all();
}

static void changes(void)
{
    change();
    M_STEP(pl_drop_a(LOCK));
}

static void changes_and_reads(void)
{
    change();
    M_STEP(pl_ator(LOCK));
    read_all();
    M_STEP(pl_drop_r(LOCK));
}

static void changes_and_joins_again(void)
{
    change();
    M_STEP(pl_atoj(LOCK));
    M_STEP(pl_drop_j(LOCK));
}

/* Once more all the way; what it has done is read by who is alone then. */
static void changes_twice(void)
{
    change();
    M_STEP(pl_atoj(LOCK));
    M_STEP(pl_jtoc(LOCK));
    M_STEP(pl_ctoa(LOCK));
    M_STEP(pl_drop_a(LOCK));
}

static void is_alone(void)
{
    M_STEP(pl_take_j(LOCK));
    m_write(0, 1);
    m_write(1, 1);
    M_STEP(pl_drop_j(LOCK));
}

static void tries_to_be_alone(void)
{
    M_DO(unsigned long word = pl_try_j(LOCK));
    if (word != 0) {
        m_write(0, 1);
        m_write(1, 1);
        M_STEP(pl_drop_j(LOCK));
    }
}

/* ---- lorw ------------------------------------------------------------------------------------ */

static void lorw_reads(void)
{
    M_STEP(pl_lorw_rdlock(&STAGE->lorw));
    m_demand(m_read(0) == m_read(1), M_VISIBILITY, "half of what a writer did");
    M_STEP(pl_lorw_rdunlock(&STAGE->lorw));
}

static void lorw_writes(void)
{
    M_STEP(pl_lorw_wrlock(&STAGE->lorw));
    m_write(0, m_read(0) + 1);
    m_write(1, m_read(1) + 1);
    M_STEP(pl_lorw_unlock(&STAGE->lorw));
}

static void lorw_is_free(void)
{
    m_demand((pl_load_lax(&STAGE->lorw) & ~PLOCK_LORW_WRQ_MASK) == 0, M_RESTORED, "units are left");
}

/* ---- The helpers: a message, by each operation that acquires or releases --------------------- */

static void message_is_down(void)
{
    STAGE->one = 3;
}

static void leaves_message(void)
{
    m_write(0, 1);
    m_begin("leaves a message");
}

static void finds_message(bool there)
{
    m_end();
    if (there)
        (void)m_read(0);
}

static unsigned int fenced_load(unsigned int *p)
{
    const unsigned int w = pl_load_lax(p);
    pl_mb_load();
    return w;
}

#define MESSAGE(name, publish, look, published)                                                    \
    static void says_by_##name(void)                                                               \
    {                                                                                              \
        unsigned int *p = &STAGE->one;                                                             \
        leaves_message();                                                                          \
        publish;                                                                                   \
        m_end();                                                                                   \
    }                                                                                              \
    static void hears_by_##name(void)                                                              \
    {                                                                                              \
        unsigned int *p = &STAGE->one;                                                             \
        m_begin("looks for a message");                                                            \
        finds_message((look) == (published));                                                      \
    }
MESSAGE(load, pl_store(p, 4), pl_load(p), 4)
MESSAGE(add, pl_add_noret_rel(p, 1), pl_ldadd_acq(p, 0), 4)
MESSAGE(sub, pl_sub_noret_rel(p, 1), pl_ldsub_acq(p, 0), 2)
MESSAGE(and, pl_and_noret_rel(p, 2), pl_ldand_acq(p, ~0u), 2)
MESSAGE(or, pl_or_noret_rel(p, 4), pl_ldor_acq(p, 0), 7)
MESSAGE(xor, pl_xor_noret_rel(p, 1), pl_ldxor_acq(p, 0), 2)
MESSAGE(fence, (pl_mb_store(), pl_store_lax(p, 4)), fenced_load(p), 4)
MESSAGE(unlock, pl_store(p, 0), pl_wait_unlock_int(p, 3), 0)
MESSAGE(change, pl_store(p, 4), pl_wait_new_int(p, 3), 4)

/* ---- The helpers that order everything: of two who each change one word and look at the other's,
 * one at least sees the other ------------------------------------------------------------------ */

static void nobody_has_looked(void)
{
    STAGE->seen[0] = STAGE->seen[1] = 0;
}

static void one_has_seen_the_other(void)
{
    m_demand(STAGE->seen[0] != 0 || STAGE->seen[1] != 0, M_VISIBILITY, "neither saw the other");
}

static void sees(uint32_t which, bool seen)
{
    m_end();
    STAGE->seen[which] = seen;
}

/* The second one, with fences. */
static void stores_and_looks(void)
{
    m_begin("pl_mb between a store and a load");
    pl_store_lax(&STAGE->other, 1);
    pl_mb();
    sees(1, pl_load_lax(&STAGE->one) != 0);
}

#define EVERYTHING(name, change)                                                                   \
    static void changes_and_looks_by_##name(void)                                                  \
    {                                                                                              \
        unsigned int *p = &STAGE->one;                                                             \
        m_begin(#change " before a load");                                                         \
        (void)(change);                                                                            \
        sees(0, pl_load_lax(&STAGE->other) != 0);                                                  \
    }
EVERYTHING(xadd, pl_xadd(p, 1))
EVERYTHING(sub, pl_sub(p, 1))
EVERYTHING(or, pl_or(p, 1))
EVERYTHING(xor, pl_xor(p, 1))
EVERYTHING(xchg, pl_xchg(p, 1))
EVERYTHING(cmpxchg, pl_cmpxchg(p, 0, 1))

/* Bits that are to be cleared, instead of a word that is zero. */
static void bits_are_set(void)
{
    STAGE->one = 1;
}

static void stores_and_looks_for_clear(void)
{
    m_begin("pl_mb between a store and a load");
    pl_store_lax(&STAGE->other, 1);
    pl_mb();
    sees(1, pl_load_lax(&STAGE->one) == 0);
}
EVERYTHING(and, pl_and(p, 2))

/* The operation's own look comes after the store that stands before it. */
static void stores_and_looks_by_xadd(void)
{
    unsigned int *p = &STAGE->one;
    m_begin("a store before pl_xadd");
    pl_store_lax(p, 1);
    sees(0, pl_xadd(&STAGE->other, 0) != 0);
}

/* clang-format off */
#define BESIDE(a, b) {"plock_" #a "_beside_" #b, NULL, {a, b}, the_word_is_free, "preempt=2"},
#define LORW(a, b) {"plock_" #a "_beside_" #b, NULL, {a, b}, lorw_is_free, "preempt=3"},
#define SAYS(name)                                                                                 \
    {"plock_message_by_" #name, message_is_down, {says_by_##name, hears_by_##name}, NULL, ""},
#define LOOKS(name)                                                                                \
    {"plock_everything_by_" #name, nobody_has_looked,                                              \
     {changes_and_looks_by_##name, stores_and_looks}, one_has_seen_the_other, ""},

extern const struct m_scene m_plock_scenes[];
const struct m_scene m_plock_scenes[] = {
    BESIDE(reads, writes)
    BESIDE(updates_and_reads, updates_and_reads)
    BESIDE(updates_and_reads, updates)
    BESIDE(updates_and_reads, writes)
    {"plock_last_of_two", two_is_an_atomic_user, {sums_up_if_last, two_leaves}, the_word_is_free,
     "preempt=3"},
    BESIDE(joins, reads)
    BESIDE(joins, joins)
    BESIDE(joins_and_claims, reads)
    BESIDE(joins_and_claims, joins)
    BESIDE(changes, reads)
    BESIDE(changes, joins)
    BESIDE(changes, joins_and_claims)
    BESIDE(changes, changes)
    BESIDE(changes_and_reads, changes)
    BESIDE(changes_and_reads, reads)
    BESIDE(changes_and_joins_again, changes)
    BESIDE(changes_and_joins_again, reads)
    BESIDE(changes_twice, reads)
    BESIDE(changes_twice, changes)
    BESIDE(is_alone, reads)
    BESIDE(is_alone, is_alone)
    BESIDE(tries_to_be_alone, reads)
    BESIDE(tries_to_be_alone, joins)
    BESIDE(tries_to_be_alone, tries_to_be_alone)
    {"plock_two_change_beside_a_reader", NULL, {changes, changes, reads}, the_word_is_free,
     "preempt=0"},
    LORW(lorw_reads, lorw_writes)
    LORW(lorw_writes, lorw_writes)
    {"plock_lorw_two_writers_and_a_reader", NULL, {lorw_writes, lorw_reads, lorw_writes},
     lorw_is_free, "preempt=2"},
    {"plock_lorw_two_readers_and_a_writer", NULL, {lorw_reads, lorw_reads, lorw_writes},
     lorw_is_free, "preempt=2"},
    SAYS(load)
    SAYS(add)
    SAYS(sub)
    SAYS(and)
    SAYS(or)
    SAYS(xor)
    SAYS(fence)
    SAYS(unlock)
    SAYS(change)
    LOOKS(xadd)
    LOOKS(sub)
    LOOKS(or)
    LOOKS(xor)
    LOOKS(xchg)
    LOOKS(cmpxchg)
    {"plock_everything_by_and", bits_are_set,
     {changes_and_looks_by_and, stores_and_looks_for_clear}, one_has_seen_the_other, ""},
    {"plock_everything_before_xadd", nobody_has_looked,
     {stores_and_looks_by_xadd, stores_and_looks}, one_has_seen_the_other, "fences=1"},
    {NULL, NULL, {NULL}, NULL, NULL},
};
/* clang-format on */
