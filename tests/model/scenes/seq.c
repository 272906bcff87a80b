/* SPDX-License-Identifier: MIT */
/* Sequence locks and latches: a reader sees the two halves of one write, and the newest write that
 * it has been told of. */
#include <pawl/seq.h>

#include "scenes.h"

#include <stddef.h>

struct pair {
    pawl_seq_word one, two;
};
PAWL_SEQ_TYPE(pair_seq, struct pair);
PAWL_SEQ_LATCH_TYPE(pair_latch, struct pair);

struct stage {
    pair_seq seq;
    pair_latch latch;
};
#define STAGE M_SCENE(struct stage)

static void whole(struct pair p)
{
    m_demand(p.one == p.two, M_VISIBILITY, "half of one write and half of another");
}

static void write_value(pawl_seq_word value)
{
    const struct pair p = {value, value};
    M_STEP(pair_seq_write(&STAGE->seq, &p));
}

static void one_write(void)
{
    write_value(1);
}

static void two_writes(void)
{
    write_value(1);
    write_value(2);
}

static void reads(void)
{
    struct pair p;
    M_STEP(pair_seq_read(&STAGE->seq, &p));
    whole(p);
}

static void tries(void)
{
    struct pair p;
    M_DO(bool good = pair_seq_try_read(&STAGE->seq, &p));
    if (good)
        whole(p);
}

static void reads_or_locks(void)
{
    struct pair p;
    M_STEP(pair_seq_read_or_lock(&STAGE->seq, &p, 0));
    whole(p);
}

/* What the writer did before its write is seen by who sees the write. */
static void announces(void)
{
    m_write(0, 7);
    write_value(1);
}

static void hears(void)
{
    struct pair p;
    M_STEP(pair_seq_read(&STAGE->seq, &p));
    if (p.one == 1)
        m_demand(m_read(0) == 7, M_VISIBILITY, "the write is seen, what came before it is not");
}

/* Two writers: each sees the other's value, in one step or in two. */
static void counts(void)
{
    struct pair p;
    m_begin("pair_seq_take_write");
    pair_seq_take_write(&STAGE->seq, &p);
    p.one++;
    p.two++;
    pair_seq_drop_write(&STAGE->seq, &p);
    m_end();
}

static void both_counted(void)
{
    struct pair p;
    pair_seq_read(&STAGE->seq, &p);
    m_demand(p.one == 2 && p.two == 2, M_EXCLUSION, "a writer has not seen the other one's value");
}

static void write_latch(pawl_seq_word value)
{
    const struct pair p = {value, value};
    M_STEP(pair_latch_write_alone(&STAGE->latch, &p));
}

static void one_latch_write(void)
{
    write_latch(1);
}

static void two_latch_writes(void)
{
    write_latch(1);
    write_latch(2);
}

static void reads_latch(void)
{
    struct pair p;
    M_STEP(pair_latch_read(&STAGE->latch, &p));
    whole(p);
}

/* When all have ended the number says that both copies are whole. */
static void latch_is_whole(void)
{
    struct pair p;
    m_demand(STAGE->latch.seq.sequence % 4 == 0, M_RESTORED, "a write seems to be under way");
    pair_latch_read(&STAGE->latch, &p);
    whole(p);
}

static void announces_latch(void)
{
    m_write(0, 7);
    write_latch(1);
}

static void hears_latch(void)
{
    struct pair p;
    M_STEP(pair_latch_read(&STAGE->latch, &p));
    if (p.one == 1)
        m_demand(m_read(0) == 7, M_VISIBILITY, "the write is seen, what came before it is not");
}

extern const struct m_scene m_seq_scenes[];
/* clang-format off */
const struct m_scene m_seq_scenes[] = {
    {"seq_read_beside_a_write", NULL, {one_write, reads}, NULL, ""},
    {"seq_read_beside_two_writes", NULL, {two_writes, reads}, NULL, "preempt=3"},
    {"seq_two_readers_beside_a_write", NULL, {one_write, reads, tries}, NULL, "preempt=2"},
    {"seq_try_read_beside_two_writes", NULL, {two_writes, tries}, NULL, "preempt=3"},
    {"seq_reader_that_locks_beside_a_write", NULL, {one_write, reads_or_locks}, NULL, "preempt=3"},
    {"seq_write_announces", NULL, {announces, hears}, NULL, ""},
    {"seq_two_writers", NULL, {counts, counts}, both_counted, "preempt=3"},
    {"latch_read_beside_a_write", NULL, {one_latch_write, reads_latch}, latch_is_whole,
     "preempt=3"},
    {"latch_read_beside_two_writes", NULL, {two_latch_writes, reads_latch}, latch_is_whole,
     "preempt=1"},
    {"latch_write_announces", NULL, {announces_latch, hears_latch}, latch_is_whole,
     "preempt=3"},
    {NULL, NULL, {NULL}, NULL, NULL},
};
/* clang-format on */
