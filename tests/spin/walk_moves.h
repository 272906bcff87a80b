/* SPDX-License-Identifier: MIT */
/*
 * What one thread can do next, by the transition table: positions, and the moves from each.
 *
 * One step of the table is one atomic access. LOOK_ADD and WAIT_ADD are two, the read and the
 * addition, so that others get in between; LOOK_CAS is one, since it adds only to the value that it
 * looked at. A word is one memory location, whose accesses all threads see in one order, so going
 * through the interleavings goes through all that the hardware may do to it.
 */
#pragma once

#include "support/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WALK_MAX_THREADS = 5, WALK_MAX_POSITIONS = 256, WALK_MAX_EDGES = 64 };

/* What a thread may do to the data. TURNS: it was an atomic user, does nothing any more, and wants
 * to find when it becomes a reader that nobody but atomic users was in meanwhile. */
enum walk_rights { RIGHT_U, RIGHT_R, RIGHT_S, RIGHT_W, RIGHT_A, RIGHT_TURNS };

/* Where one thread is. Idle: step is STEP_COUNT, and rights say what it holds. */
struct walk_position {
    enum table_op root; /* the operation that the program called */
    enum table_step step;
    bool looked;        /* the read of this step has passed, the addition is next */
    enum table_op then; /* an insisting waiter goes on with this; else OP_NONE */
    enum walk_rights rights;
    struct table_units units; /* what the thread has in the word */
};

enum walk_verdict {
    WALK_GOOD,
    WALK_TOGETHER, /* I1: two holders that exclude each other */
    WALK_UNMARKED, /* I2: waits for R to fall with W but without S in the word */
    WALK_TWO_KEEP, /* I3: two writers, or two atomic users, wait with W+S and without R */
    WALK_BYPASSED, /* somebody got in who claimed after a waiting writer or atomic user */
    WALK_WORD,     /* I5, or the word is not the sum of what the threads have in it */
    WALK_HELD,     /* I4: an operation ended, but not with the units of its state */
    WALK_NO_NEXT,  /* a step that no row follows */
    WALK_STUCK,    /* some thread cannot end although holders leave and nobody new comes */
    WALK_TOO_BIG
};

struct walk_state {
    uint64_t key; /* positions, eight bits each, sorted */
    uint64_t word;
    uint32_t from; /* index of the state that it was first reached from */
};

struct walk {
    /* asked for */
    struct table table;
    unsigned bits, threads;
    uint64_t application;
    bool without[OP_COUNT];    /* operations that nobody starts */
    bool patient;              /* nobody insists */
    bool unseen[WALK_TOO_BIG]; /* mistakes that are not looked for */
    /* found */
    enum walk_verdict verdict;
    size_t bad; /* the state of the verdict */
    bool taken[TABLE_NEXTS];
    bool insisted[TABLE_INSISTS];
    /* kept */
    struct walk_position positions[WALK_MAX_POSITIONS];
    unsigned position_count;
    struct walk_state *states;
    size_t state_count, state_room;
    uint32_t *index; /* hash table of state numbers, plus one */
    size_t index_size;
    uint32_t *edges; /* pairs from, to; only those without newcomers and insisting */
    size_t edge_count, edge_room;
};

static inline void *walk_grow(void *old, size_t bytes)
{
    void *grown = realloc(old, bytes);
    if (!grown)
        abort();
    return grown;
}

/* ---- Positions ------------------------------------------------------------------------------- */

static inline bool walk_may_share(enum walk_rights a, enum walk_rights b)
{
    static const bool share[6][6] = {
        /*            U      R      S      W      A     TURNS */
        /* U */ {true, true, true, true, true, true},
        /* R */ {true, true, true, false, false, true},
        /* S */ {true, true, false, false, false, true},
        /* W */ {true, false, false, false, false, false},
        /* A */ {true, false, false, false, true, true},
        /* TURNS */ {true, true, true, false, true, true},
    };
    return share[a][b];
}

/* The number of a position, entered if it is new; its units must be the same each time. */
static inline unsigned walk_position_number(struct walk *k, const struct walk_position *p)
{
    unsigned i;
    for (i = 0; i < k->position_count; i++) {
        const struct walk_position *q = &k->positions[i];
        if (q->step == p->step && q->root == p->root && q->looked == p->looked &&
            q->then == p->then && q->rights == p->rights && table_same_units(q->units, p->units))
            return i;
    }
    if (i == WALK_MAX_POSITIONS)
        abort();
    k->positions[i] = *p;
    k->position_count++;
    return i;
}

static inline struct walk_position walk_idle(enum pawl_state state)
{
    struct walk_position p;
    p.root = OP_NONE;
    p.step = STEP_COUNT;
    p.looked = false;
    p.then = OP_NONE;
    p.rights = (enum walk_rights)state;
    p.units = table_held(state);
    return p;
}

/* What a thread that has come to this step of `root` may do to the data. */
static inline enum walk_rights walk_rights_at(const struct walk *k, enum table_op root,
                                              enum table_step step)
{
    const enum table_op op = k->table.steps[step].op;
    if (op != root && k->table.ops[op].kind == KIND_move)
        return (enum walk_rights)k->table.ops[op].from; /* insisted, and was granted */
    if (k->table.ops[root].kind == KIND_tells) {
        if (op != root)
            return RIGHT_U; /* has let go */
        if (step != table_first(&k->table, root))
            return k->table.steps[step].add.r < 0 ? RIGHT_U : RIGHT_TURNS;
    }
    return (enum walk_rights)k->table.ops[root].from;
}

/* ---- Steps ----------------------------------------------------------------------------------- */

/* One move of one thread: its new position and the new word. `comes` when it is a newcomer's, or an
 * insisting waiter's, without which all must be able to end. */
struct walk_edge {
    struct walk_position to;
    uint64_t word;
    bool comes;
};

struct walk_edges {
    struct walk_edge at[WALK_MAX_EDGES];
    unsigned count;
    enum walk_verdict verdict;
};

static inline void walk_go(struct walk_edges *e, struct walk_position to, uint64_t word, bool comes)
{
    e->at[e->count].to = to;
    e->at[e->count].word = word;
    e->at[e->count].comes = comes;
    e->count++;
}

static inline void walk_to_step(const struct walk *k, struct walk_edges *e, struct walk_position p,
                                enum table_step step, uint64_t word, bool comes)
{
    p.step = step;
    p.looked = false;
    p.rights = walk_rights_at(k, p.root, step);
    walk_go(e, p, word, comes);
}

static inline void walk_end(const struct walk *k, struct walk_edges *e, struct walk_position p,
                            enum table_step end, uint64_t word)
{
    const struct table_op_row *root = &k->table.ops[p.root];
    if (end == STEP_END_granted && p.then != OP_NONE) {
        const enum table_op then = p.then;
        p.then = OP_NONE;
        walk_to_step(k, e, p, table_first(&k->table, then), word, false);
        return;
    }
    struct walk_position idle = walk_idle(end == STEP_END_granted ? root->to : root->from);
    if (!table_same_units(idle.units, p.units))
        e->verdict = WALK_HELD;
    walk_go(e, idle, word, false);
}

static inline void walk_after(struct walk *k, struct walk_edges *e, struct walk_position p,
                              uint64_t found, uint64_t word)
{
    const struct table_fields fields = table_fields_of(k->bits, found);
    unsigned i;
    for (i = 0; i < TABLE_NEXTS; i++)
        if (k->table.nexts[i].step == p.step && table_passes(k->table.nexts[i].test, fields))
            break;
    if (i == TABLE_NEXTS) {
        e->verdict = WALK_NO_NEXT;
        return;
    }
    k->taken[i] = true;
    if (k->table.nexts[i].next > STEP_COUNT)
        walk_end(k, e, p, k->table.nexts[i].next, word);
    else
        walk_to_step(k, e, p, k->table.nexts[i].next, word, false);
}

static inline void walk_add(struct walk *k, struct walk_edges *e, struct walk_position p,
                            uint64_t word)
{
    const struct table_units add = k->table.steps[p.step].add;
    p.units = table_sum(p.units, add);
    walk_after(k, e, p, word, (word + table_operand(k->bits, add)) & table_mask(k->bits));
}

static inline void walk_insist(struct walk *k, struct walk_edges *e, struct walk_position p,
                               uint64_t word)
{
    const struct table_insist_row *row = table_insist(&k->table, p.step);
    if (!row || k->patient || !table_passes(row->test, table_fields_of(k->bits, word)))
        return;
    k->insisted[row - k->table.insists] = true;
    p.then = row->then;
    walk_to_step(k, e, p, table_first(&k->table, row->through), word, true);
}

static inline void walk_start(const struct walk *k, struct walk_edges *e, struct walk_position p,
                              uint64_t word)
{
    for (unsigned op = 0; op < OP_COUNT; op++)
        if ((unsigned)k->table.ops[op].from == (unsigned)p.rights && !k->without[op]) {
            struct walk_position q = p;
            q.root = (enum table_op)op;
            walk_to_step(k, e, q, table_first(&k->table, q.root), word,
                         k->table.ops[op].kind != KIND_drop);
        }
}

/* All moves of a thread at this position. */
static inline void walk_moves(struct walk *k, struct walk_edges *e, struct walk_position p,
                              uint64_t word)
{
    const struct table_step_row *row = &k->table.steps[p.step];
    e->count = 0;
    e->verdict = WALK_GOOD;
    if (p.step == STEP_COUNT) {
        walk_start(k, e, p, word);
        return;
    }
    bool open = table_passes(row->gate, table_fields_of(k->bits, word));
    switch (row->how) {
    case HOW_ADD: walk_add(k, e, p, word); break;
    case HOW_LOOK_CAS:
        if (open)
            walk_add(k, e, p, word);
        else
            walk_end(k, e, p, STEP_END_failed, word);
        break;
    case HOW_WAIT:
        if (open)
            walk_after(k, e, p, word, word);
        break;
    case HOW_LOOK_ADD:
    case HOW_WAIT_ADD:
        if (p.looked)
            walk_add(k, e, p, word);
        else if (open) {
            p.looked = true;
            walk_go(e, p, word, false);
        } else if (row->how == HOW_LOOK_ADD)
            walk_end(k, e, p, STEP_END_failed, word);
        else
            walk_insist(k, e, p, word);
        break;
    }
}
