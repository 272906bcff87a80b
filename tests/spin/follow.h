/* SPDX-License-Identifier: MIT */
/*
 * Follows the transition table beside an operation of the hook variant: chooses what each access
 * finds, and compares the access with the one that the table foretells. For code_follows_table.c,
 * which says how the choices are gone through.
 */
#pragma once

#include "test.h"
#include "support/table.h"

enum { MAX_ACCESSES = 512, MAX_VISITS = 3, STUBBORN_POLLS = PAWL_SPIN_PATIENCE + 4 };

/* ---- What the operations are called at ------------------------------------------------------ */

struct target {
    const char *name;
    unsigned bits;
    enum table_op op;
    bool (*run)(void *lock); /* true for the void operations */
};

#define RUN_void(call) ((call), true)
#define RUN_bool(call) (call)
#define RUN_pawl_regained(call) ((call) == PAWL_REGAIN_KEPT)
#define RUNNER(bits, convert, name)                                                                \
    static bool run_##name##_##bits(void *lock)                                                    \
    {                                                                                              \
        return convert(pawl_spin##bits##_##name((pawl_spin##bits *)lock));                         \
    }
#define PAWL_OP(result, name, kind, from, to, cost)                                                \
    RUNNER(16, RUN_##result, name)                                                                 \
    RUNNER(32, RUN_##result, name)                                                                 \
    RUNNER(64, RUN_##result, name)
#include <pawl/detail/transitions.def>

static const struct target targets[] = {
#define PAWL_OP(result, name, kind, from, to, cost)                                                \
    {#name, 16, OP_##name, run_##name##_16}, {#name, 32, OP_##name, run_##name##_32},              \
        {#name, 64, OP_##name, run_##name##_64},
#include <pawl/detail/transitions.def>
};
enum { TARGETS = sizeof targets / sizeof targets[0] };

/* ---- One run --------------------------------------------------------------------------------- */

static struct {
    /* the table's side */
    struct table table;
    const struct target *target;
    enum table_step step; /* next; or STEP_END_* */
    bool looked;
    uint64_t seen;      /* what the compare-exchange must expect */
    enum table_op then; /* an insisting waiter's next operation */
    bool insists;       /* it has begun: it is relaxed */
    bool left;          /* has gone on with another operation's rows */
    /* the waiter's side */
    unsigned polls;    /* reads of this visit that did not pass */
    unsigned atomics;  /* reads in a row that found only atomic users */
    unsigned unpaused; /* polls after which nobody paused */
    bool paused;
    uint64_t stubborn; /* the word that a stubborn harness repeats */
    /* the choices */
    uint64_t application;
    unsigned choice[MAX_ACCESSES], choices[MAX_ACCESSES];
    unsigned depth, scripted;
    unsigned visits[STEP_COUNT];
    bool hurry;
    uint16_t outcomes[STEP_COUNT][2][64]; /* of each word at each step, plus one; 0: unknown */
    /* the result */
    jmp_buf out;
    char mistake[256];
} run;

static union {
    pawl_spin16 l16;
    pawl_spin32 l32;
    pawl_spin64 l64;
} lock;

static void mistake(const char *what, uint64_t got, uint64_t wanted)
{
    snprintf(run.mistake, sizeof run.mistake,
             "%s %u: at %s: %s: %#" PRIx64 ", the table says %#" PRIx64, run.target->name,
             run.target->bits, run.step < STEP_COUNT ? run.table.steps[run.step].name : "the end",
             what, got, wanted);
    longjmp(run.out, 1);
}

static void same(const char *what, uint64_t got, uint64_t wanted)
{
    if (got != wanted)
        mistake(what, got, wanted);
}

/* ---- Choosing words -------------------------------------------------------------------------- */

enum { WORDS = 64 };

static uint64_t word_number(unsigned i)
{
    const unsigned bits = run.target->bits;
    const uint64_t most = table_unit_s(bits) / table_unit_r(bits) - 1;
    const uint64_t many[4] = {0, 1, 2, most};
    return many[i % 4] * table_unit_w(bits) + (uint64_t)(i / 4 % 4) * table_unit_s(bits) +
           many[i / 16] * table_unit_r(bits) + run.application;
}

static bool passes(enum table_test test, uint64_t word)
{
    return table_passes(test, table_fields_of(run.target->bits, word));
}

static bool at_read(void)
{
    return run.table.steps[run.step].how == HOW_WAIT || !run.looked;
}

/* What a word leads to here, as a number: the row that follows, or whether the gate is passed. */
static unsigned find_outcome(uint64_t word)
{
    const struct table_step_row *row = &run.table.steps[run.step];
    const struct table_insist_row *insist = table_insist(&run.table, run.step);
    const bool reads = row->how != HOW_ADD && at_read();
    if (reads && !passes(row->gate, word))
        return insist && passes(insist->test, word) ? 1002 : 1001;
    if (reads && row->how != HOW_WAIT)
        return 1000;
    return (unsigned)table_next(&run.table, run.step, table_fields_of(run.target->bits, word));
}

static unsigned outcome(unsigned i)
{
    uint16_t *known = &run.outcomes[run.step][run.looked][i];
    if (*known == 0)
        *known = (uint16_t)(find_outcome(word_number(i)) + 1);
    return *known - 1u;
}

/* A word with which the operation is soon over. */
static uint64_t shortest(void)
{
    for (unsigned i = 0; i < WORDS; i++)
        if (outcome(i) == STEP_END_granted || outcome(i) == 1000)
            return word_number(i);
    for (unsigned i = 0; i < WORDS; i++)
        if (outcome(i) < STEP_COUNT)
            return word_number(i);
    return word_number(0);
}

/* The next scripted choice below `count`; 0 where the script has ended. */
static unsigned choose(unsigned count)
{
    if (run.depth == MAX_ACCESSES)
        mistake("accesses without end", run.depth, 0);
    if (run.depth >= run.scripted)
        run.choice[run.depth] = 0;
    run.choices[run.depth] = count;
    return run.choice[run.depth++];
}

static uint64_t choose_word(void)
{
    const unsigned i = choose(WORDS);
    for (unsigned j = 0; j < i; j++)
        if (outcome(j) == outcome(i))
            run.hurry = true;
    return word_number(i);
}

/* What a read or addition finds. A wait that was refused once is refused for long, or let pass. */
static uint64_t answer(void)
{
    const bool polls = run.table.steps[run.step].how != HOW_ADD && at_read() && run.polls > 0;
    if (polls && run.stubborn != UINT64_MAX && run.polls < STUBBORN_POLLS)
        return run.stubborn;
    if (polls && run.polls == 1 && !run.hurry && choose(2) == 1)
        return run.stubborn = run.seen;
    if (polls || run.hurry)
        return shortest();
    return choose_word();
}

/* ---- Following the table --------------------------------------------------------------------- */

static void go(enum table_step step)
{
    if (step < STEP_COUNT && ++run.visits[step] >= MAX_VISITS)
        run.hurry = true;
    run.step = step;
    run.looked = false;
    run.polls = 0;
    run.stubborn = UINT64_MAX;
    if (step < STEP_COUNT && run.table.steps[step].op != run.target->op)
        run.left = true;
    if (step == STEP_END_granted && run.then != OP_NONE) {
        const enum table_op then = run.then;
        run.then = OP_NONE;
        go(table_first(&run.table, then));
        run.insists = true;
    }
}

static void after(uint64_t found)
{
    const enum table_step next =
        table_next(&run.table, run.step, table_fields_of(run.target->bits, found));
    if (next == STEP_COUNT)
        mistake("no row follows", found, 0);
    go(next);
}

static void expect_order(const struct pawl_operation *o, enum table_order order, enum table_tag tag)
{
    static const enum pawl_order orders[] = {PAWL_ORDER_RELAXED, PAWL_ORDER_ACQUIRE,
                                             PAWL_ORDER_RELEASE, PAWL_ORDER_ACQ_REL};
    same("order", (uint64_t)o->order, (uint64_t)orders[order]);
    same("tag", (uint64_t)o->tag, (uint64_t)tag);
}

static uint64_t addition(const struct pawl_operation *o)
{
    const struct table_step_row *row = &run.table.steps[run.step];
    const uint64_t found = answer();
    if (o->kind != PAWL_HOOK_ADD && o->kind != PAWL_HOOK_SUB)
        mistake("kind", (uint64_t)o->kind, PAWL_HOOK_ADD);
    same("operand",
         (o->kind == PAWL_HOOK_SUB ? 0 - o->operand : o->operand) & table_mask(run.target->bits),
         table_operand(run.target->bits, row->add));
    expect_order(o, run.insists ? ORDER_relaxed : row->order, run.insists ? TAG_NONE : row->tag);
    after(found);
    return found;
}

static uint64_t exchange(const struct pawl_operation *o)
{
    const struct table_step_row *row = &run.table.steps[run.step];
    const uint64_t wanted = run.seen;
    same("kind", (uint64_t)o->kind, PAWL_HOOK_COMPARE_EXCHANGE);
    same("expected", o->expected, wanted);
    same("operand", o->operand,
         (wanted + table_operand(run.target->bits, row->add)) & table_mask(run.target->bits));
    expect_order(o, row->order, row->tag);
    if (run.hurry || choose(2) == 0) {
        after(wanted);
        return wanted;
    }
    run.looked = false;
    uint64_t found = choose_word();
    if (found == wanted)
        found ^= PAWL_SPIN_APPLICATION_BITS; /* changed, but not in what the lock looks at */
    run.looked = passes(row->gate, found);
    run.seen = found;
    if (!run.looked)
        go(STEP_END_failed);
    else if (++run.visits[run.step] >= MAX_VISITS)
        run.hurry = true;
    return found;
}

/* A read that decides whether to go on. */
static uint64_t look(const struct pawl_operation *o)
{
    const struct table_step_row *row = &run.table.steps[run.step];
    const struct table_insist_row *insist = table_insist(&run.table, run.step);
    const bool waits = row->how == HOW_WAIT || row->how == HOW_WAIT_ADD;
    same("kind", (uint64_t)o->kind, PAWL_HOOK_LOAD);
    expect_order(o, row->how == HOW_WAIT ? row->order : ORDER_relaxed,
                 row->how == HOW_WAIT ? row->tag : TAG_NONE);
    if (run.polls > 0 && !run.paused && run.unpaused++ > 0)
        mistake("polls without a pause", run.polls, 1);
    uint64_t found = answer();
    run.paused = false;
    run.seen = found;
    if (passes(row->gate, found)) {
        run.looked = row->how != HOW_WAIT;
        if (!run.looked)
            after(found);
    } else if (waits) {
        run.polls++;
        run.atomics = insist && passes(insist->test, found) ? run.atomics + 1 : 0;
        if (run.atomics > PAWL_SPIN_PATIENCE + 1)
            mistake("patience", run.atomics, PAWL_SPIN_PATIENCE);
    } else
        go(STEP_END_failed);
    return found;
}

/* A waiter that may insist and writes instead of reading does so. */
static void maybe_insist(const struct pawl_operation *o)
{
    const struct table_insist_row *insist = table_insist(&run.table, run.step);
    if (!insist || o->kind == PAWL_HOOK_LOAD || run.atomics < PAWL_SPIN_PATIENCE)
        return;
    run.atomics = 0;
    run.then = insist->then;
    go(table_first(&run.table, insist->through));
}

static uint64_t follow(const struct pawl_operation *o)
{
    if (run.step >= STEP_COUNT)
        mistake("an access after the end", (uint64_t)o->kind, 0);
    same("address", (uint64_t)(uintptr_t)o->address, (uint64_t)(uintptr_t)&lock);
    same("width", o->width * 8, run.target->bits);
    if (run.table.steps[run.step].how == HOW_WAIT_ADD && !run.looked)
        maybe_insist(o);
    switch (run.table.steps[run.step].how) {
    case HOW_ADD: return addition(o);
    case HOW_WAIT_ADD:
    case HOW_LOOK_ADD: return run.looked ? addition(o) : look(o);
    case HOW_LOOK_CAS: return run.looked ? exchange(o) : look(o);
    default: return look(o);
    }
}
