/* SPDX-License-Identifier: MIT */
/*
 * An interpreter of join.def, with the rows of R and A of transitions.def, that goes through every
 * state that three threads and one 16-bit word can reach. A step is one access to the word; a look
 * and the addition after it are two. Breadth first; the first mistake ends the walk.
 */
#pragma once

#include <pawl/spin.h>

#include "test.h"

/* ---- The two tables as one ------------------------------------------------------------------- */

enum { PAWL_STATE_J = PAWL_STATE_A + 1, PAWL_STATE_C };

enum test_name {
#define PAWL_TEST(name, condition) TEST_##name,
#include <pawl/detail/transitions.def>
#define PAWL_TEST(name, condition) TEST_##name,
#include <pawl/detail/join.def>
};

enum op_name {
#define PAWL_OP(result, name, kind, from, to, cost) OP_##name,
#include <pawl/detail/transitions.def>
#define PAWL_OP(result, name, kind, from, to, cost) OP_##name,
#include <pawl/detail/join.def>
    OP_COUNT
};

enum step_name {
    STEP_NONE, /* idle */
#define PAWL_STEP(op, step, how, gate, w, s, r, order, tag) STEP_##op##_##step,
#include <pawl/detail/transitions.def>
#define PAWL_STEP(op, step, how, gate, w, s, r, order, tag) STEP_##op##_##step,
#include <pawl/detail/join.def>
    STEP_COUNT,
    STEP_END_granted,
    STEP_END_failed
};

/* clang-format off */
enum how { HOW_ADD, HOW_WAIT_ADD, HOW_LOOK_ADD, HOW_LOOK_CAS, HOW_WAIT,
           HOW_EXCHANGE, HOW_LOOK_EXCHANGE, HOW_WAIT_EXCHANGE };
enum kind { KIND_take, KIND_try, KIND_claim, KIND_drop, KIND_move, KIND_tells };
enum mark_of { OF_FOUND, OF_LEFT };

struct op_row { const char *name; int kind, from, to; };
struct step_row { int op, how, gate, w, s, r; };
struct mark_row { int step, of, test, clear, set; };
struct next_row { int step, test, next; };
/* clang-format on */

#define TABLE_OP(name, kind, from, to) {#name, KIND_##kind, PAWL_STATE_##from, PAWL_STATE_##to},
#define TABLE_STEP(op, how, gate, w, s, r) {OP_##op, HOW_##how, TEST_##gate, w, s, r},
#define TABLE_NEXT(op, step, test, op2, step2)                                                     \
    {STEP_##op##_##step, TEST_##test, STEP_##op2##_##step2},

static const struct op_row all_ops[] = {
#define PAWL_OP(result, name, kind, from, to, cost) TABLE_OP(name, kind, from, to)
#include <pawl/detail/transitions.def>
#define PAWL_OP(result, name, kind, from, to, cost) TABLE_OP(name, kind, from, to)
#include <pawl/detail/join.def>
};
static const struct step_row all_steps[] = {
    {0, 0, 0, 0, 0, 0},
#define PAWL_STEP(op, step, how, gate, w, s, r, order, tag) TABLE_STEP(op, how, gate, w, s, r)
#include <pawl/detail/transitions.def>
#define PAWL_STEP(op, step, how, gate, w, s, r, order, tag) TABLE_STEP(op, how, gate, w, s, r)
#include <pawl/detail/join.def>
};
static const struct mark_row all_marks[] = {
#define PAWL_MARK(op, step, of, test, clear, set)                                                  \
    {STEP_##op##_##step, OF_##of, TEST_##test, clear, set},
#include <pawl/detail/join.def>
};
/* let_go rows lead into take_read, so END has only these two. */
static const struct next_row all_nexts[] = {
#define PAWL_NEXT(op, step, test, op2, step2) TABLE_NEXT(op, step, test, op2, step2)
#include <pawl/detail/transitions.def>
#define PAWL_NEXT(op, step, test, op2, step2) TABLE_NEXT(op, step, test, op2, step2)
#include <pawl/detail/join.def>
};
enum {
    MARKS = sizeof all_marks / sizeof all_marks[0],
    NEXTS = sizeof all_nexts / sizeof all_nexts[0]
};

/* ---- Words ----------------------------------------------------------------------------------- */

static inline uint16_t with_units(uint16_t word, int w, int s, int r)
{
    return (uint16_t)(word + w * PAWL_SPIN16_W + s * PAWL_SPIN16_S + r * PAWL_SPIN16_R);
}

static inline bool word_passes(int test, uint16_t word)
{
    const unsigned W = word / PAWL_SPIN16_W;
    const unsigned S = word % PAWL_SPIN16_W / PAWL_SPIN16_S;
    const unsigned R = word % PAWL_SPIN16_S / PAWL_SPIN16_R;
    (void)W, (void)S, (void)R;
    switch (test) {
#define PAWL_TEST(name, condition)                                                                 \
    case TEST_##name: return (condition);
#include <pawl/detail/transitions.def>
#define PAWL_TEST(name, condition)                                                                 \
    case TEST_##name: return (condition);
#include <pawl/detail/join.def>
    default: abort();
    }
}

/* ---- Threads and states ---------------------------------------------------------------------- */

enum { THREADS = 3, MAX_STATES = 4000000 };

/* How a thread came to J and C: with the other readers, alone from U, or beside atomic users. */
enum lineage { FROM_R, FROM_U, FROM_A };

/* clang-format off */
struct thread { uint8_t op, step, looked, held, lineage; };
struct state { uint16_t word; struct thread threads[THREADS]; uint32_t from; };
/* clang-format on */

enum verdict { GOOD, TOGETHER, STUCK, LEFT_OVER, NO_NEXT, TOO_BIG };

struct walk {
    struct step_row steps[STEP_COUNT];
    struct mark_row marks[MARKS];
    struct next_row nexts[NEXTS];
    bool with[OP_COUNT]; /* operations that a thread may start */
    bool s_may_stay;     /* S is not looked at when nobody is in */
    uint16_t application;
    enum verdict verdict;
    uint32_t bad;
    bool taken[NEXTS];
    struct state *states;
    uint32_t state_count;
    uint32_t *index; /* hash table of state numbers plus one */
    uint32_t *edges; /* pairs from, to, without those of newcomers */
    size_t edge_count, edge_room;
};

enum { INDEX_SIZE = 1 << 23 };

static inline struct walk *walk_new(uint16_t application)
{
    struct walk *k = (struct walk *)calloc(1, sizeof *k);
    must(k != NULL);
    memcpy(k->steps, all_steps, sizeof all_steps);
    memcpy(k->marks, all_marks, sizeof all_marks);
    memcpy(k->nexts, all_nexts, sizeof all_nexts);
    k->application = application;
    k->states = (struct state *)malloc(MAX_STATES * sizeof *k->states);
    k->index = (uint32_t *)calloc(INDEX_SIZE, sizeof *k->index);
    must(k->states != NULL && k->index != NULL);
    return k;
}

static inline void walk_free(struct walk *k)
{
    free(k->states);
    free(k->index);
    free(k->edges);
    free(k);
}

static inline uint64_t state_hash(const struct state *s)
{
    uint64_t h = s->word;
    for (unsigned i = 0; i < THREADS; i++) {
        const struct thread *t = &s->threads[i];
        h = h * UINT64_C(0x9e3779b97f4a7c15) + t->op;
        h += (unsigned)t->step << 8 | (unsigned)t->looked << 16 | (unsigned)t->held << 17 |
             (unsigned)t->lineage << 20;
        h ^= h >> 29;
    }
    return h;
}

/* Threads are alike: the order of them does not matter. */
static inline void state_sort(struct state *s)
{
    for (unsigned i = 1; i < THREADS; i++)
        for (unsigned j = i;
             j > 0 && memcmp(&s->threads[j - 1], &s->threads[j], sizeof s->threads[0]) > 0; j--) {
            const struct thread swap = s->threads[j];
            s->threads[j] = s->threads[j - 1];
            s->threads[j - 1] = swap;
        }
}

static inline uint32_t state_number(struct walk *k, struct state *s)
{
    uint32_t at;
    state_sort(s);
    for (at = (uint32_t)state_hash(s) % INDEX_SIZE; k->index[at]; at = (at + 1) % INDEX_SIZE) {
        const struct state *old = &k->states[k->index[at] - 1];
        if (old->word == s->word && memcmp(old->threads, s->threads, sizeof s->threads) == 0)
            return k->index[at] - 1;
    }
    if (k->state_count == MAX_STATES) {
        k->verdict = TOO_BIG;
        return 0;
    }
    k->states[k->state_count] = *s;
    k->index[at] = ++k->state_count;
    return k->state_count - 1;
}

/* ---- What a thread may do to the data -------------------------------------------------------- */

/* JOINING waits to be granted J and reads no more; OPENING waits between C and A; TURNING, between
 * A and R, wants to find when it is a reader that nobody but atomic users was in. */
enum rights { NOTHING, READS, JOINING, JOINED, ALONE, BESIDE, OPENING, CHANGES, TURNING };

static inline enum rights thread_rights(const struct thread *t)
{
    if (t->step == STEP_read_to_join_wait)
        return JOINING;
    if (t->step == STEP_claim_to_atomic_open)
        return OPENING;
    if (t->step == STEP_atomic_to_read_wait)
        return TURNING;
    if (t->op == OP_atomic_to_read && t->step != STEP_NONE && t->step != STEP_atomic_to_read_turn)
        return NOTHING; /* has let go */
    if (t->step == STEP_take_atomic_drain || t->step == STEP_take_atomic_open)
        return NOTHING; /* R has been given up */
    switch (t->held) {
    case PAWL_STATE_R: return READS;
    case PAWL_STATE_J:
    case PAWL_STATE_C: return t->lineage == FROM_R ? JOINED : t->lineage == FROM_U ? ALONE : BESIDE;
    case PAWL_STATE_A: return CHANGES;
    default: return NOTHING;
    }
}

static inline bool may_share(enum rights a, enum rights b)
{
    static const unsigned share[] = {
        0x1ff,
        1u << NOTHING | 1u << READS | 1u << JOINING | 1u << TURNING,
        1u << NOTHING | 1u << READS | 1u << JOINING | 1u << JOINED | 1u << OPENING | 1u << TURNING,
        1u << NOTHING | 1u << JOINING | 1u << JOINED | 1u << OPENING,
        1u << NOTHING,
        1u << NOTHING | 1u << BESIDE | 1u << OPENING | 1u << CHANGES | 1u << TURNING,
        1u << NOTHING | 1u << JOINING | 1u << JOINED | 1u << BESIDE | 1u << OPENING |
            1u << CHANGES | 1u << TURNING,
        1u << NOTHING | 1u << BESIDE | 1u << OPENING | 1u << CHANGES | 1u << TURNING,
        1u << NOTHING | 1u << READS | 1u << JOINING | 1u << BESIDE | 1u << OPENING | 1u << CHANGES |
            1u << TURNING,
    };
    return share[a] >> b & 1u;
}

static inline bool state_idle(const struct state *s)
{
    for (unsigned i = 0; i < THREADS; i++)
        if (s->threads[i].step != STEP_NONE || s->threads[i].held != PAWL_STATE_U)
            return false;
    return true;
}

static inline enum verdict state_check(const struct walk *k, const struct state *s)
{
    const bool idle = state_idle(s);
    for (unsigned i = 0; i < THREADS; i++) {
        for (unsigned j = 0; j < i; j++)
            if (!may_share(thread_rights(&s->threads[i]), thread_rights(&s->threads[j])))
                return TOGETHER;
    }
    if (idle && k->s_may_stay)
        return word_passes(TEST_NO_W, s->word) && word_passes(TEST_NO_R, s->word) ? GOOD
                                                                                  : LEFT_OVER;
    return idle && s->word != k->application ? LEFT_OVER : GOOD;
}

/* ---- Moves ----------------------------------------------------------------------------------- */

static inline void move_to(struct walk *k, uint32_t at, unsigned i, struct thread t, uint16_t word,
                           bool comes)
{
    struct state s = k->states[at];
    s.threads[i] = t;
    s.word = word;
    s.from = at;
    uint32_t to = state_number(k, &s);
    if (comes)
        return;
    if (k->edge_count == k->edge_room) {
        k->edge_room = k->edge_room ? 2 * k->edge_room : 1u << 18;
        k->edges = (uint32_t *)realloc(k->edges, 2 * k->edge_room * sizeof *k->edges);
        must(k->edges != NULL);
    }
    k->edges[2 * k->edge_count] = at;
    k->edges[2 * k->edge_count++ + 1] = to;
}

static inline void end_op(struct walk *k, uint32_t at, unsigned i, struct thread t, uint16_t word,
                          bool granted)
{
    if (granted) {
        t.held = (uint8_t)all_ops[t.op].to;
        if (t.op == OP_take_join || t.op == OP_try_join)
            t.lineage = FROM_U;
        else if (t.op == OP_atomic_to_join)
            t.lineage = FROM_A;
        else if (t.held != PAWL_STATE_J && t.held != PAWL_STATE_C)
            t.lineage = FROM_R;
    }
    t.op = 0;
    t.step = STEP_NONE;
    t.looked = 0;
    move_to(k, at, i, t, word, false);
}

/* `judged` is the word that the tests are held against. */
static inline void follow(struct walk *k, uint32_t at, unsigned i, struct thread t, uint16_t judged,
                          uint16_t word)
{
    unsigned n;
    for (n = 0; n < NEXTS; n++)
        if (k->nexts[n].step == t.step && word_passes(k->nexts[n].test, judged))
            break;
    if (n == NEXTS) {
        k->verdict = NO_NEXT;
        k->bad = at;
        return;
    }
    k->taken[n] = true;
    if (k->nexts[n].next > STEP_COUNT) {
        end_op(k, at, i, t, word, k->nexts[n].next == STEP_END_granted);
        return;
    }
    t.step = (uint8_t)k->nexts[n].next;
    t.looked = 0;
    move_to(k, at, i, t, word, false);
}

static inline uint16_t exchanged(const struct walk *k, int step, uint16_t found)
{
    const struct step_row *row = &k->steps[step];
    uint16_t left = with_units(found, row->w, row->s, row->r);
    for (unsigned m = 0; m < MARKS; m++)
        if (k->marks[m].step == step &&
            word_passes(k->marks[m].test, k->marks[m].of == OF_FOUND ? found : left))
            left = (uint16_t)((left & ~(k->marks[m].clear * PAWL_SPIN16_S)) |
                              k->marks[m].set * PAWL_SPIN16_S);
    return left;
}

static inline void step_thread(struct walk *k, uint32_t at, unsigned i)
{
    struct thread t = k->states[at].threads[i];
    const uint16_t word = k->states[at].word;
    const struct step_row *row = &k->steps[t.step];
    const bool open = word_passes(row->gate, word);
    const int how = row->how;
    const uint16_t added = with_units(word, row->w, row->s, row->r);
    if (how == HOW_EXCHANGE || how == HOW_LOOK_EXCHANGE || how == HOW_WAIT_EXCHANGE) {
        const uint16_t left = exchanged(k, t.step, word);
        if (open)
            follow(k, at, i, t, left, left);
        else if (how == HOW_LOOK_EXCHANGE)
            end_op(k, at, i, t, word, false);
    } else if (how == HOW_WAIT) {
        if (open)
            follow(k, at, i, t, word, word);
    } else if (how == HOW_ADD || t.looked || (how == HOW_LOOK_CAS && open)) {
        follow(k, at, i, t, word, added);
    } else if (open) {
        t.looked = 1;
        move_to(k, at, i, t, word, false);
    } else if (how != HOW_WAIT_ADD) {
        end_op(k, at, i, t, word, false);
    }
}

static inline void step_idle(struct walk *k, uint32_t at, unsigned i)
{
    const struct thread idle = k->states[at].threads[i];
    unsigned step;
    for (unsigned op = 0; op < OP_COUNT; op++)
        if (k->with[op] && all_ops[op].from == idle.held) {
            struct thread t = idle;
            t.op = (uint8_t)op;
            for (step = 1; k->steps[step].op != (int)op; step++)
                continue;
            t.step = (uint8_t)step;
            move_to(k, at, i, t, k->states[at].word, all_ops[op].kind != KIND_drop);
        }
}

/* From every state all threads must be able to get out by what is under way and by drops. */
static inline void walk_check_ends(struct walk *k)
{
    bool *ends = (bool *)calloc(k->state_count, sizeof *ends);
    bool grown = true;
    must(ends != NULL);
    for (uint32_t i = 0; i < k->state_count; i++)
        ends[i] = state_idle(&k->states[i]);
    while (grown) { /* few rounds: edges lead to states with nearby numbers */
        grown = false;
        for (size_t e = k->edge_count; e-- > 0;)
            if (ends[k->edges[2 * e + 1]] && !ends[k->edges[2 * e]])
                ends[k->edges[2 * e]] = grown = true;
    }
    for (uint32_t i = 0; i < k->state_count; i++)
        if (!ends[i]) {
            k->verdict = STUCK;
            k->bad = i;
            break;
        }
    free(ends);
}

static inline enum verdict walk_all(struct walk *k)
{
    struct state first;
    memset(&first, 0, sizeof first);
    first.word = k->application;
    state_number(k, &first);
    for (uint32_t at = 0; at < k->state_count && k->verdict == GOOD; at++) {
        k->verdict = state_check(k, &k->states[at]);
        k->bad = at;
        for (unsigned i = 0; i < THREADS && k->verdict == GOOD; i++) {
            if (k->states[at].threads[i].step == STEP_NONE)
                step_idle(k, at, i);
            else
                step_thread(k, at, i);
        }
    }
    if (k->verdict == GOOD)
        walk_check_ends(k);
    return k->verdict;
}

/* The way to the mistake, from its end. */
static inline void walk_report(const struct walk *k)
{
    static const char *const verdicts[] = {"good",      "together",    "stuck",
                                           "left over", "no next row", "too big"};
    static const char *const states[] = {"U", "R", "S", "W", "A", "J", "C"};
    uint32_t at = k->bad;
    print_message("%s; %" PRIu32 " states\n", verdicts[k->verdict], k->state_count);
    if (k->verdict == GOOD)
        return;
    for (unsigned depth = 0; depth < 60; depth++, at = k->states[at].from) {
        const struct state *s = &k->states[at];
        print_message("  W %d S %d R %d ", s->word / PAWL_SPIN16_W,
                      s->word % PAWL_SPIN16_W / PAWL_SPIN16_S,
                      s->word % PAWL_SPIN16_S / PAWL_SPIN16_R);
        for (unsigned i = 0; i < THREADS; i++)
            print_message("| %s %s %d%s ", states[s->threads[i].held],
                          s->threads[i].step ? all_ops[s->threads[i].op].name : "",
                          s->threads[i].step, s->threads[i].looked ? "+" : "");
        print_message("\n");
        if (at == 0)
            break;
    }
}
