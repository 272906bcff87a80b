/* SPDX-License-Identifier: MIT */
/*
 * Goes through every state that some threads and one word can reach, each thread free to start at
 * any moment whatever the state that it holds allows (walk_moves.h).
 *
 * States are kept up to the order of the threads. The walk is breadth-first: the trace of a mistake
 * is a shortest one.
 */
#pragma once

#include "spin/walk_moves.h"

/* ---- States ---------------------------------------------------------------------------------- */

static inline unsigned walk_thread(uint64_t key, unsigned thread)
{
    return (unsigned)(key >> (8 * thread)) & 255u;
}

static inline uint64_t walk_key_with(const struct walk *k, uint64_t key, unsigned thread,
                                     unsigned position)
{
    unsigned at[WALK_MAX_THREADS];
    uint64_t made = 0;
    for (unsigned i = 0; i < k->threads; i++)
        at[i] = i == thread ? position : walk_thread(key, i);
    for (unsigned i = 1; i < k->threads; i++) /* sorted: threads are alike */
        for (unsigned j = i; j > 0 && at[j - 1] > at[j]; j--) {
            const unsigned swap = at[j];
            at[j] = at[j - 1];
            at[j - 1] = swap;
        }
    for (unsigned i = 0; i < k->threads; i++)
        made |= (uint64_t)at[i] << (8 * i);
    return made;
}

static inline size_t walk_slot(const struct walk *k, uint64_t key)
{
    size_t at = (size_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 20) & (k->index_size - 1);
    while (k->index[at] && k->states[k->index[at] - 1].key != key)
        at = (at + 1) & (k->index_size - 1);
    return at;
}

static inline void walk_index_room(struct walk *k)
{
    if (k->state_count * 2 < k->index_size)
        return;
    k->index_size = k->index_size ? k->index_size * 2 : 1u << 16;
    free(k->index);
    k->index = (uint32_t *)calloc(k->index_size, sizeof *k->index);
    if (!k->index)
        abort();
    for (size_t i = 0; i < k->state_count; i++)
        k->index[walk_slot(k, k->states[i].key)] = (uint32_t)(i + 1);
}

/* The number of the state, entered if it is new. The threads' positions determine the word. */
static inline uint32_t walk_state_number(struct walk *k, uint64_t key, uint64_t word, uint32_t from)
{
    walk_index_room(k);
    size_t slot = walk_slot(k, key);
    if (!k->index[slot]) {
        if (k->state_count == k->state_room) {
            k->state_room = k->state_room ? k->state_room * 2 : 1u << 16;
            k->states =
                (struct walk_state *)walk_grow(k->states, k->state_room * sizeof *k->states);
        }
        k->states[k->state_count].key = key;
        k->states[k->state_count].word = word;
        k->states[k->state_count].from = from;
        k->index[slot] = (uint32_t)++k->state_count;
    }
    return k->index[slot] - 1;
}

static inline void walk_keep_edge(struct walk *k, size_t from, uint32_t to)
{
    if (k->edge_count == k->edge_room) {
        k->edge_room = k->edge_room ? k->edge_room * 2 : 1u << 18;
        k->edges = (uint32_t *)walk_grow(k->edges, k->edge_room * 2 * sizeof *k->edges);
    }
    k->edges[2 * k->edge_count] = (uint32_t)from;
    k->edges[2 * k->edge_count + 1] = to;
    k->edge_count++;
}

/* ---- What must hold in every state ----------------------------------------------------------- */

static inline bool walk_waits_for_readers(const struct walk *k, const struct walk_position *p)
{
    if (p->step == STEP_COUNT || k->table.steps[p->step].how != HOW_WAIT)
        return false;
    switch (k->table.steps[p->step].gate) {
    case TEST_LONE_R:
    case TEST_NO_R:
    case TEST_ONE_W_NO_R: return true;
    default: return false;
    }
}

/* A claim by `thread` that had nothing in the word is granted while another waits with W and S. */
static inline bool walk_bypasses(const struct walk *k, uint64_t key, unsigned thread,
                                 const struct walk_position *to)
{
    const struct walk_position *p = &k->positions[walk_thread(key, thread)];
    if (p->step == STEP_COUNT || p->units.w || p->units.s || p->units.r || to->rights == RIGHT_U)
        return false;
    for (unsigned i = 0; i < k->threads; i++) {
        const struct walk_position *other = &k->positions[walk_thread(key, i)];
        if (i != thread && walk_waits_for_readers(k, other) && other->units.w && other->units.s)
            return true;
    }
    return false;
}

static inline enum walk_verdict walk_check(const struct walk *k, const struct walk_state *s)
{
    uint64_t sum = k->application;
    unsigned writers = 0;
    unsigned atomics = 0;
    for (unsigned i = 0; i < k->threads; i++) {
        const struct walk_position *p = &k->positions[walk_thread(s->key, i)];
        sum = (sum + table_operand(k->bits, p->units)) & table_mask(k->bits);
        for (unsigned j = 0; j < i; j++)
            if (!walk_may_share(p->rights, k->positions[walk_thread(s->key, j)].rights))
                return WALK_TOGETHER;
        if (walk_waits_for_readers(k, p)) {
            if (p->units.w > 0 && p->units.s == 0 && !k->unseen[WALK_UNMARKED])
                return WALK_UNMARKED;
            if (p->units.w > 0 && p->units.r == 0)
                *(k->table.steps[p->step].gate == TEST_NO_R ? &atomics : &writers) += 1;
        }
    }
    if ((writers > 1 || atomics > 1) && !k->unseen[WALK_TWO_KEEP])
        return WALK_TWO_KEEP;
    return s->word == sum ? WALK_GOOD : WALK_WORD;
}

/* ---- The walk -------------------------------------------------------------------------------- */

/* From every state, all threads must be able to get out of the lock by the steps that are under way
 * and the drops of holders alone. Marks backwards from the state where nobody is in. */
static inline void walk_check_ends(struct walk *k)
{
    uint32_t *first = (uint32_t *)calloc(k->state_count + 2, sizeof *first);
    uint32_t *before = (uint32_t *)walk_grow(NULL, (k->edge_count + 1) * sizeof *before);
    uint32_t *queue = (uint32_t *)walk_grow(NULL, (k->state_count + 1) * sizeof *queue);
    bool *ends = (bool *)calloc(k->state_count + 1, sizeof *ends);
    size_t i, head, tail = 0;
    if (!first || !ends)
        abort();
    for (i = 0; i < k->edge_count; i++)
        first[k->edges[2 * i + 1] + 2]++;
    for (i = 2; i < k->state_count + 2; i++)
        first[i] += first[i - 1];
    for (i = 0; i < k->edge_count; i++)
        before[first[k->edges[2 * i + 1] + 1]++] = k->edges[2 * i];
    queue[tail++] = 0; /* the first state of the walk: all idle, nothing held */
    ends[0] = true;
    for (head = 0; head < tail; head++)
        for (i = first[queue[head]]; i < first[queue[head] + 1]; i++)
            if (!ends[before[i]]) {
                ends[before[i]] = true;
                queue[tail++] = before[i];
            }
    for (i = 0; i < k->state_count && ends[i]; i++)
        continue;
    if (i < k->state_count) {
        k->verdict = WALK_STUCK;
        k->bad = i;
    }
    free(first);
    free(before);
    free(queue);
    free(ends);
}

static inline void walk_expand(struct walk *k, size_t at)
{
    static struct walk_edges e;
    for (unsigned thread = 0; thread < k->threads && k->verdict == WALK_GOOD; thread++) {
        const struct walk_state s = k->states[at];
        const unsigned position = walk_thread(s.key, thread);
        if (thread && position == walk_thread(s.key, thread - 1))
            continue; /* the same moves again */
        walk_moves(k, &e, k->positions[position], s.word);
        if (e.verdict != WALK_GOOD) {
            k->verdict = e.verdict;
            k->bad = at;
            return;
        }
        for (unsigned i = 0; i < e.count; i++) {
            const unsigned to = walk_position_number(k, &e.at[i].to);
            const uint32_t next = walk_state_number(k, walk_key_with(k, s.key, thread, to),
                                                    e.at[i].word, (uint32_t)at);
            if (k->states[next].word != e.at[i].word) {
                k->verdict = WALK_WORD;
                k->bad = next;
            }
            if (walk_bypasses(k, s.key, thread, &e.at[i].to) && !k->unseen[WALK_BYPASSED]) {
                k->verdict = WALK_BYPASSED;
                k->bad = next;
            }
            if (!e.at[i].comes)
                walk_keep_edge(k, at, next);
        }
    }
}

/* Goes through all states, up to `limit` of them; stops at the first mistake. */
static inline enum walk_verdict walk_all(struct walk *k, size_t limit)
{
    const struct walk_position idle = walk_idle(PAWL_STATE_U);
    const unsigned u = walk_position_number(k, &idle);
    uint64_t key = 0;
    for (unsigned i = 0; i < k->threads; i++)
        key = walk_key_with(k, key, i, u);
    walk_state_number(k, key, k->application, 0);
    for (size_t at = 0; at < k->state_count && k->verdict == WALK_GOOD; at++) {
        k->verdict = walk_check(k, &k->states[at]);
        k->bad = at;
        if (k->verdict == WALK_GOOD)
            walk_expand(k, at);
        if (k->state_count > limit)
            k->verdict = WALK_TOO_BIG;
    }
    if (k->verdict == WALK_GOOD)
        walk_check_ends(k);
    return k->verdict;
}

static inline struct walk *walk_new(unsigned bits, unsigned threads, uint64_t application)
{
    struct walk *k = (struct walk *)calloc(1, sizeof *k);
    if (!k)
        abort();
    k->table = table_as_it_is();
    k->bits = bits;
    k->threads = threads;
    k->application = application;
    return k;
}

static inline void walk_free(struct walk *k)
{
    free(k->states);
    free(k->index);
    free(k->edges);
    free(k);
}

/* ---- Saying what happened -------------------------------------------------------------------- */

static inline const char *walk_verdict_name(enum walk_verdict verdict)
{
    static const char *const names[] = {"good",
                                        "holders that exclude each other",
                                        "waits for readers without S",
                                        "two claimants keep W+S",
                                        "a latecomer was let in first",
                                        "the word is not the sum of the threads' units",
                                        "an operation ended with the wrong units",
                                        "no row follows",
                                        "stuck",
                                        "too big"};
    return names[verdict];
}

static inline void walk_print_position(const struct walk *k, const struct walk_position *p)
{
    if (p->step == STEP_COUNT)
        printf("  %-36s", p->rights == RIGHT_U ? "-" : &"U\0R\0S\0W\0A\0"[2 * p->rights]);
    else
        printf("  %s>%s%s%-8s", k->table.ops[p->root].name, k->table.steps[p->step].name,
               p->looked ? " (looked)" : "", p->then == OP_NONE ? "" : " (insists)");
}

/* The states that led to `at`, the first one first. Threads may change places between lines. */
static inline void walk_print_trace(const struct walk *k, size_t at)
{
    const struct walk_state *s = &k->states[at];
    const struct table_fields f = table_fields_of(k->bits, s->word);
    if (at != 0)
        walk_print_trace(k, s->from);
    printf("%2u W %2u S %2u R |", (unsigned)f.W, (unsigned)f.S, (unsigned)f.R);
    for (unsigned i = 0; i < k->threads; i++)
        walk_print_position(k, &k->positions[walk_thread(s->key, i)]);
    printf("\n");
}

static inline void walk_report(const struct walk *k)
{
    printf("%u threads, %u bits: %s, %u positions, %zu states, %zu quiet moves\n", k->threads,
           k->bits, walk_verdict_name(k->verdict), k->position_count, k->state_count,
           k->edge_count);
    if (k->verdict != WALK_GOOD)
        walk_print_trace(k, k->bad);
}
