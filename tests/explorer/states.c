/* SPDX-License-Identifier: MIT */
/*
 * The states of a walk (sched_walk): a number for each, where it was first found, and which states
 * follow. A state is the memory that the scene names, the stack of each thread as far as it is in
 * use, with the registers of its callers on it, and who sleeps for what. Two states count as one if
 * the sums over all that are the same, of 64 bits.
 */
#include "explorer/internal.h"

enum { END, NEVER }; /* states: all threads have ended; before the first one */

struct state {
    uint64_t sum;
    uint32_t from; /* the state before it, and the choice there */
    uint32_t choice;
};

static struct {
    bool on;
    const struct sched_memory *memory;
    struct state *all;
    uint32_t count, room;
    uint32_t *index, index_size;            /* by sum: number, 0: none */
    uint32_t *edges, edge_count, edge_room; /* pairs of states */
    uint32_t *path, path_room;              /* the states of this run, by depth */
} states;

/* ---- The sum over a state -------------------------------------------------------------------- */

static uint64_t add_number(uint64_t sum, uint64_t number)
{
    sum = (sum ^ number) * UINT64_C(0x9e3779b97f4a7c15);
    return sum ^ (sum >> 31);
}

static uint64_t add_memory(uint64_t sum, const void *from, size_t bytes)
{
    const char *at = (const char *)from;
    uint64_t part;
    for (; bytes >= sizeof part; at += sizeof part, bytes -= sizeof part) {
        memcpy(&part, at, sizeof part);
        sum = add_number(sum, part);
    }
    part = 0;
    memcpy(&part, at, bytes);
    return add_number(sum, part);
}

static unsigned sleepers_before(unsigned i)
{
    unsigned k, count = 0;
    for (k = 0; k < sched.count; k++)
        count += sched_threads[k].state == SCHED_SLEEPS &&
                 sched_threads[k].asleep_since < sched_threads[i].asleep_since;
    return count;
}

static uint64_t add_thread(uint64_t sum, unsigned i)
{
    const struct sched_thread *t = &sched_threads[i];
    const char *from, *to;
    sum = add_number(sum, (unsigned)t->state + (t->dropping ? 16u : 0) + (t->gave ? 32u : 0) +
                              (t->timed_out ? 64u : 0));
    if (t->state == SCHED_SLEEPS) {
        sum = add_number(sum, (uintptr_t)t->address);
        sum = add_number(sum, (uint64_t)t->classes << 32 | sleepers_before(i));
        sum = add_number(sum, t->deadline);
    }
    if (t->state == SCHED_ENDED)
        return sum;
    sched_stack_in_use(i, &from, &to);
    return add_memory(sum, from, (size_t)(to - from));
}

static uint64_t sum_of_all(void)
{
    uint64_t sum = sched.clock;
    for (const struct sched_memory *m = states.memory; m->bytes != 0; m++)
        sum = add_memory(sum, m->from, m->bytes);
    for (unsigned i = 0; i < sched.count; i++)
        sum = add_thread(sum, i);
    return sum;
}

/* ---- Numbers --------------------------------------------------------------------------------- */

static void *grown(void *old, size_t bytes)
{
    void *const memory = realloc(old, bytes);
    must(memory != NULL);
    return memory;
}

static uint32_t *slot_of(uint64_t sum)
{
    uint32_t at = (uint32_t)(sum >> 20) & (states.index_size - 1);
    while (states.index[at] != 0 && states.all[states.index[at]].sum != sum)
        at = (at + 1) & (states.index_size - 1);
    return &states.index[at];
}

static void make_room(void)
{
    if (states.count >= states.room) {
        states.room = states.room ? 2 * states.room : 1u << 12;
        states.all = (struct state *)grown(states.all, states.room * sizeof *states.all);
    }
    if (2 * states.count < states.index_size)
        return;
    states.index_size = states.index_size ? 2 * states.index_size : 1u << 13;
    states.index = (uint32_t *)grown(states.index, states.index_size * sizeof *states.index);
    memset(states.index, 0, states.index_size * sizeof *states.index);
    for (uint32_t i = NEVER + 1; i < states.count; i++)
        *slot_of(states.all[i].sum) = i;
}

static void note_edge(uint32_t from, uint32_t to)
{
    if (from == NEVER)
        return;
    if (states.edge_count == states.edge_room) {
        states.edge_room = states.edge_room ? 2 * states.edge_room : 1u << 13;
        states.edges =
            (uint32_t *)grown(states.edges, 2 * (size_t)states.edge_room * sizeof *states.edges);
    }
    states.edges[2 * states.edge_count] = from;
    states.edges[2 * states.edge_count + 1] = to;
    states.edge_count++;
}

/* ---- What the explorer calls ----------------------------------------------------------------- */

void states_begin(const struct sched_memory *memory)
{
    states.on = true;
    states.memory = memory;
    states.count = NEVER + 1;
    states.edge_count = 0;
    free(states.index);
    states.index = NULL;
    states.index_size = 0;
}

bool states_are_kept(void)
{
    return states.on;
}

static uint32_t state_before(unsigned depth)
{
    return depth == 0 ? NEVER : states.path[depth - 1];
}

bool states_visit(unsigned depth, unsigned last_choice)
{
    const uint64_t sum = sum_of_all();
    const uint32_t before = state_before(depth);
    make_room();
    uint32_t *slot = slot_of(sum);
    bool seen = *slot != 0;
    if (!seen) {
        states.all[states.count].sum = sum;
        states.all[states.count].from = before;
        states.all[states.count].choice = last_choice;
        *slot = states.count++;
    }
    note_edge(before, *slot);
    if (depth >= states.path_room) {
        states.path_room = 2 * depth + 64;
        states.path = (uint32_t *)grown(states.path, states.path_room * sizeof *states.path);
    }
    states.path[depth] = *slot;
    return !seen;
}

void states_ended(unsigned depth)
{
    note_edge(state_before(depth), END);
}

static void print_way(uint32_t state)
{
    if (states.all[state].from != NEVER) {
        print_way(states.all[state].from);
        fprintf(stderr, "%c%u", states.all[states.all[state].from].from == NEVER ? ':' : '.',
                states.all[state].choice);
    }
}

/* Marks backwards from the end. An edge is looked at again as long as it marks a state. */
static uint32_t first_without_end(void)
{
    bool *const ends = (bool *)calloc(states.count, sizeof *ends);
    uint32_t i, found = END;
    bool changed = true;
    must(ends != NULL);
    ends[END] = true;
    while (changed) {
        changed = false;
        for (i = states.edge_count; i > 0; i--) {
            const uint32_t *const edge = &states.edges[2 * (i - 1)];
            if (ends[edge[1]] && !ends[edge[0]])
                changed = ends[edge[0]] = true;
        }
    }
    for (i = NEVER + 1; i < states.count && found == END; i++)
        if (!ends[i])
            found = i;
    free(ends);
    return found;
}

bool states_finish(unsigned scene, bool stuck, unsigned *count)
{
    const uint32_t bad = stuck ? END : first_without_end();
    states.on = false;
    *count = states.count - NEVER - 1;
    if (bad == END)
        return !stuck;
    fprintf(stderr, "explorer: from this state on the threads never all end:\n  PAWL_SCHEDULE=%u",
            scene);
    print_way(bad);
    fprintf(stderr, "\n");
    return false;
}
