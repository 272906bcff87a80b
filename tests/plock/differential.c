/* SPDX-License-Identifier: MIT */
/*
 * Random sequences of the names of the R S W A model, by holders that one thread plays, against
 * transitions.def: after each operation the word and the result must be those of the table. What
 * would wait is not begun. The lorw lock likewise, against what it publishes of its word.
 */
#include <pawl/compat/plock.h>

#include "test.h"
#include "support/table.h"

enum { MOST_HOLDERS = 8, STEPS = 200000 };

/* ---- Both sides of an operation -------------------------------------------------------------- */

struct name {
    enum table_op op;
    int (*run32)(unsigned int *);
    int (*run64)(unsigned long *);
};

/* clang-format off */
#define VALUE(name, op)                                                                            \
    static int name##_32(unsigned int *l) { return name(l); }                                      \
    static int name##_64(unsigned long *l) { return name(l); }
#define NO_VALUE(name, op)                                                                         \
    static int name##_32(unsigned int *l) { return name(l), 0; }                                   \
    static int name##_64(unsigned long *l) { return name(l), 0; }
/* clang-format on */

#define NAMES(VALUE, NO_VALUE)                                                                     \
    VALUE(pl_take_r, take_read)                                                                    \
    VALUE(pl_take_s, take_seek)                                                                    \
    VALUE(pl_take_w, take_write)                                                                   \
    VALUE(pl_take_a, take_atomic)                                                                  \
    VALUE(pl_try_r, try_read)                                                                      \
    VALUE(pl_try_s, try_seek)                                                                      \
    VALUE(pl_try_w, claim_write)                                                                   \
    VALUE(pl_try_w_nowait, try_write)                                                              \
    VALUE(pl_try_a, claim_atomic)                                                                  \
    NO_VALUE(pl_drop_r, drop_read)                                                                 \
    NO_VALUE(pl_drop_s, drop_seek)                                                                 \
    NO_VALUE(pl_drop_w, drop_write)                                                                \
    NO_VALUE(pl_drop_a, drop_atomic)                                                               \
    NO_VALUE(pl_stow, seek_to_write)                                                               \
    NO_VALUE(pl_wtos, write_to_seek)                                                               \
    NO_VALUE(pl_stor, seek_to_read)                                                                \
    NO_VALUE(pl_wtor, write_to_read)                                                               \
    VALUE(pl_try_rtos, try_read_to_seek)                                                           \
    VALUE(pl_try_rtow, read_claim_write)                                                           \
    VALUE(pl_try_rtoa, read_claim_atomic)                                                          \
    NO_VALUE(pl_ator, atomic_to_read)

NAMES(VALUE, NO_VALUE)

#define ROW(name, op) {OP_##op, name##_32, name##_64},
static const struct name names[] = {NAMES(ROW, ROW)};
enum { NAME_COUNT = sizeof names / sizeof names[0] };

/* ---- The table's side ------------------------------------------------------------------------ */

enum ending { GRANTED, FAILED, WAITS };

/* Follows the rows on `word` with nobody else about. */
static enum ending follow(const struct table *t, unsigned bits, enum table_op op, uint64_t *word)
{
    enum table_step step = table_first(t, op);
    while (step < STEP_COUNT) {
        const struct table_step_row *row = &t->steps[step];
        const struct table_fields found = table_fields_of(bits, *word);
        if (!table_passes(row->gate, found))
            return row->how == HOW_LOOK_ADD || row->how == HOW_LOOK_CAS ? FAILED : WAITS;
        *word = (*word + table_operand(bits, row->add)) & table_mask(bits);
        step = table_next(t, step, found);
    }
    return step == STEP_END_granted ? GRANTED : FAILED;
}

/* ---- Playing --------------------------------------------------------------------------------- */

struct game {
    struct table table;
    unsigned bits, count; /* holders */
    uint64_t word;        /* the table's */
    unsigned int l32;
    unsigned long l64;
    enum pawl_state holders[MOST_HOLDERS];
    unsigned done[NAME_COUNT][2];
};

static void play_one(struct game *g, uint64_t *random)
{
    enum pawl_state *holder = &g->holders[test_random_below(random, g->count)];
    const unsigned number = test_random_below(random, NAME_COUNT);
    const struct table_op_row *row = &g->table.ops[names[number].op];
    uint64_t word = g->word;
    if (row->from != *holder)
        return;
    enum ending ending = follow(&g->table, g->bits, names[number].op, &word);
    if (ending == WAITS)
        return;
    g->word = word;
    int result = g->bits == 32 ? names[number].run32(&g->l32) : names[number].run64(&g->l64);
    if (row->result == RESULT_bool)
        assert_int_equal(result != 0, ending == GRANTED);
    else
        assert_int_equal(result, 0);
    if (ending == GRANTED)
        *holder = row->to;
    g->done[number][ending]++;
}

/* The program changes its bits by plain arithmetic, as it may while nobody else is about. */
static void change_bits(struct game *g, uint64_t *random)
{
    const unsigned app = test_random_below(random, 4);
    g->word = (g->word & ~UINT64_C(3)) | app;
    g->l32 = (g->l32 & ~3u) | app;
    g->l64 = (g->l64 & ~3ul) | app;
}

/* Two holders find the lock free often enough, eight find it taken in every way. */
static void play(unsigned bits)
{
    static struct game g;
    uint64_t random = test_seed() + bits;
    memset(&g, 0, sizeof g);
    g.table = table_as_it_is();
    g.bits = bits;
    for (unsigned i = 0; i < STEPS; i++) {
        g.count = i < STEPS / 2 ? 2 : MOST_HOLDERS;
        play_one(&g, &random);
        assert_true((bits == 32 ? g.l32 : g.l64) == g.word);
        if (test_random_below(&random, 50) == 0)
            change_bits(&g, &random);
    }
    for (unsigned i = 0; i < NAME_COUNT; i++) {
        const struct table_op_row *row = &g.table.ops[names[i].op];
        if (g.done[i][GRANTED] == 0 || (row->result == RESULT_bool && g.done[i][FAILED] == 0))
            fail_msg("%s was not played in every way", row->name);
    }
}

TEST_CASE(random_sequences_follow_the_table_on_32_bits)
{
    play(32);
}

TEST_CASE(random_sequences_follow_the_table_on_64_bits)
{
    if (sizeof(long) != 8)
        skip();
    play(64);
}

/* ---- lorw ------------------------------------------------------------------------------------ */

TEST_CASE(random_sequences_of_lorw_follow_its_word)
{
    uint64_t random = test_seed();
    unsigned long lock = 0;
    unsigned long readers = 0;
    bool writer = false;
    for (unsigned i = 0; i < STEPS; i++) {
        const unsigned choice = test_random_below(&random, 6);
        if (choice == 0 && readers == 0 && !writer) {
            pl_lorw_wrlock(&lock);
            writer = true;
        } else if (choice == 1 && writer) {
            lock |= PLOCK_LORW_WRQ_MASK; /* as if another writer waited */
        } else if (choice == 2 && writer) {
            test_random_below(&random, 2) ? pl_lorw_wrunlock(&lock) : pl_lorw_unlock(&lock);
            writer = false;
        } else if (choice <= 4 && !writer && readers < 100) {
            pl_lorw_rdlock(&lock);
            readers++;
        } else if (readers > 0) {
            test_random_below(&random, 2) ? pl_lorw_rdunlock(&lock) : pl_lorw_unlock(&lock);
            readers--;
        }
        assert_true((lock & ~PLOCK_LORW_WRQ_MASK) ==
                    readers * PLOCK_LORW_SHR_BASE + (writer ? PLOCK_LORW_EXC_BASE : 0));
        assert_true(writer || (lock & PLOCK_LORW_WRQ_MASK) == 0);
    }
}

TEST_MAIN()
