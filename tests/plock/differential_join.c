/* SPDX-License-Identifier: MIT */
/* Random sequences of the names of the R J C A model, by holders that one thread plays, against
 * join.def: the word must be the table's after each. What would wait is not begun. */
#include <pawl/compat/plock.h>

#include "plock/join_walk.h"

enum { HOLDERS = 6, STEPS = 200000 };

struct name {
    int op;
    int (*run32)(unsigned int *);
    int (*run64)(unsigned long *);
};

#define NAME(name, op)                                                                             \
    static int name##_32(unsigned int *l)                                                          \
    {                                                                                              \
        return name(l), 0;                                                                         \
    }                                                                                              \
    static int name##_64(unsigned long *l)                                                         \
    {                                                                                              \
        return name(l), 0;                                                                         \
    }
#define NAMES(NAME)                                                                                \
    NAME(pl_take_r, take_read)                                                                     \
    NAME(pl_drop_r, drop_read)                                                                     \
    NAME(pl_rtoj, read_to_join)                                                                    \
    NAME(pl_jtoc, join_to_claim)                                                                   \
    NAME(pl_ctoa, claim_to_atomic)                                                                 \
    NAME(pl_atoj, atomic_to_join)                                                                  \
    NAME(pl_ator, atomic_to_read)                                                                  \
    NAME(pl_drop_j, drop_join)                                                                     \
    NAME(pl_drop_c, drop_claim)                                                                    \
    NAME(pl_drop_a, drop_atomic)                                                                   \
    NAME(pl_take_j, take_join)                                                                     \
    NAME(pl_try_j, try_join)
NAMES(NAME)

#define ROW(name, op) {OP_##op, name##_32, name##_64},
static const struct name names[] = {NAMES(ROW)};
enum { NAME_COUNT = sizeof names / sizeof names[0] };

/* Follows the rows on `word`, false if they would wait. */
static bool follow_rows(struct walk *k, int op, uint16_t *word)
{
    int step = 1;
    while (k->steps[step].op != op)
        step++;
    while (step < STEP_COUNT) {
        const struct step_row *row = &k->steps[step];
        const bool exchange = row->how >= HOW_EXCHANGE;
        uint16_t judged = *word;
        unsigned n;
        if (!word_passes(row->gate, *word))
            return false;
        *word = exchanged(k, step, *word);
        if (exchange)
            judged = *word;
        for (n = 0; k->nexts[n].step != step || !word_passes(k->nexts[n].test, judged);)
            must(++n < NEXTS);
        step = k->nexts[n].next;
    }
    must(step == STEP_END_granted);
    return true;
}

#define WIDER(word, R1, S1, W1)                                                                    \
    (((word) & 3) + (word) / PAWL_SPIN16_W * (W1) +                                                \
     (word) % PAWL_SPIN16_W / PAWL_SPIN16_S * (S1) +                                               \
     (word) % PAWL_SPIN16_S / PAWL_SPIN16_R * (R1))

struct game {
    struct walk *k;
    uint16_t word; /* the table's */
    unsigned int l32;
    unsigned long l64;
    int held[HOLDERS];
    unsigned done[NAME_COUNT];
};

enum { WAITS_TO_JOIN = 99 };

static void copy_word(struct game *g)
{
    g->l32 = WIDER(g->word, PAWL_SPIN32_R, PAWL_SPIN32_S, PAWL_SPIN32_W);
    if (sizeof g->l64 == 8)
        g->l64 = (unsigned long)WIDER(g->word, PAWL_SPIN64_R, PAWL_SPIN64_S, PAWL_SPIN64_W);
}

/* One who joins before the last reader does waits inside the call, which one thread cannot play:
 * its claim is put into the words by hand, and it is granted when the table says so. */
static void claim_by_hand(struct game *g, int *holder)
{
    g->word = exchanged(g->k, STEP_read_to_join_claim, g->word);
    copy_word(g);
    *holder = WAITS_TO_JOIN;
}

static void play_one(struct game *g, uint64_t *random)
{
    int *holder = &g->held[test_random_below(random, HOLDERS)];
    const unsigned number = test_random_below(random, NAME_COUNT);
    const struct op_row *row = &all_ops[names[number].op];
    uint16_t left = g->word;
    if (*holder == WAITS_TO_JOIN && word_passes(TEST_MAY_JOIN, g->word))
        *holder = PAWL_STATE_J;
    if (row->from != *holder)
        return;
    if (follow_rows(g->k, names[number].op, &left)) {
        names[number].run32(&g->l32);
        if (sizeof g->l64 == 8)
            names[number].run64(&g->l64);
        g->word = left;
        *holder = row->to;
        g->done[number]++;
    } else if (names[number].op == OP_read_to_join) {
        claim_by_hand(g, holder);
    }
}

TEST_CASE(random_sequences_follow_the_table)
{
    static struct game g;
    uint64_t random = test_seed();
    unsigned most = 0;
    memset(&g, 0, sizeof g);
    g.k = walk_new(0);
    for (unsigned i = 0; i < STEPS; i++) {
        play_one(&g, &random);
        assert_true(g.l32 == WIDER(g.word, PAWL_SPIN32_R, PAWL_SPIN32_S, PAWL_SPIN32_W));
        if (sizeof g.l64 == 8)
            assert_true(g.l64 == WIDER(g.word, PAWL_SPIN64_R, PAWL_SPIN64_S, PAWL_SPIN64_W));
        if (g.word / PAWL_SPIN16_W > most)
            most = g.word / PAWL_SPIN16_W;
        if (test_random_below(&random, 40) == 0) {
            g.word = (uint16_t)((g.word & ~3u) | test_random_below(&random, 4));
            copy_word(&g);
        }
    }
    for (unsigned i = 0; i < NAME_COUNT; i++)
        if (g.done[i] == 0)
            fail_msg("%s was never played", all_ops[names[i].op].name);
    assert_true(most >= 3); /* several were in together */
    walk_free(g.k);
}

TEST_MAIN()
