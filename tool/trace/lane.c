/* SPDX-License-Identifier: MIT */
/* Lanes: how a thread comes to its own, and moves to a larger one. */
#include "file.h"

#include <errno.h>
#include <pthread.h>
#include <unistd.h>

enum { AHEAD_SMALL = 64, AHEAD_LARGE = 4 };

/* Set by who holds the lock, cleared by the owner without it: a thread that ends waits for nobody,
 * and its lane is not lost. */
static uint8_t taken[TRACE_SMALL_LANES + TRACE_LARGE_LANES];
static pthread_key_t at_end;
static bool has_key;

_Static_assert(TRACE_MODES == 16, "as in tool/pawl/trace/raw.py");

/* ---- The parts of a lane --------------------------------------------------------------------- */

struct parts {
    uint32_t sets, edges, blames, ring;
};

static const struct parts small_parts = {TRACE_SMALL_SETS, TRACE_SMALL_TABLE, TRACE_SMALL_TABLE,
                                         TRACE_SMALL_RING};
static const struct parts large_parts = {TRACE_LARGE_SETS, TRACE_LARGE_EDGES, TRACE_LARGE_TABLE,
                                         TRACE_LARGE_RING};

#define BYTES_OF(sets, edges, blames, ring)                                                        \
    (sizeof(struct trace_lane) +                                                                   \
     (sets) * TRACE_WAYS * (sizeof(struct trace_key) + sizeof(struct trace_record)) +              \
     (edges) * sizeof(struct trace_edge) + (blames) * sizeof(struct trace_blame) +                 \
     3 * (ring) * sizeof(struct trace_event))
_Static_assert(BYTES_OF(TRACE_SMALL_SETS, TRACE_SMALL_TABLE, TRACE_SMALL_TABLE, TRACE_SMALL_RING) <=
                   TRACE_SMALL_BYTES,
               "a small lane has room for its tables");
_Static_assert(BYTES_OF(TRACE_LARGE_SETS, TRACE_LARGE_EDGES, TRACE_LARGE_TABLE, TRACE_LARGE_RING) <=
                   TRACE_LARGE_BYTES,
               "a large lane has room for its tables");

/* All parts are multiples of eight bytes. */
static void point_into(struct trace_lane *lane)
{
    char *at = (char *)lane + sizeof *lane;
    const size_t records = (size_t)lane->sets * TRACE_WAYS;
    trace_self.keys = (struct trace_key *)(void *)at;
    at += records * sizeof(struct trace_key);
    trace_self.records = (struct trace_record *)(void *)at;
    at += records * sizeof(struct trace_record);
    trace_self.edges = (struct trace_edge *)(void *)at;
    at += lane->edges * sizeof(struct trace_edge);
    trace_self.blames = (struct trace_blame *)(void *)at;
    at += lane->blames * sizeof(struct trace_blame);
    trace_self.events = (struct trace_event *)(void *)at;
    trace_self.windows[0] = trace_self.events + lane->ring;
    trace_self.windows[1] = trace_self.windows[0] + lane->ring;
}

static struct trace_lane *make(uint32_t index)
{
    const struct parts *const parts = index < TRACE_SMALL_LANES ? &small_parts : &large_parts;
    struct trace_lane *const lane = trace_file_lane(index);
    if (lane == NULL)
        return NULL;
    lane->sets = parts->sets;
    lane->edges = parts->edges;
    lane->blames = parts->blames;
    lane->random = UINT64_C(0x2545f4914f6cdd1d) + index;
    lane->ring = parts->ring; /* last: until then the reader sees no lane */
    return lane;
}

/* Under the lock of the tables: one that is free, or the next one of the file. */
static struct trace_lane *find(uint32_t first, uint32_t limit, uint32_t *allocated)
{
    uint32_t i;
    for (i = 0; i < *allocated; i++) {
        /* Acquire: the last owner's stores into the lane are done. */
        if (__atomic_load_n(&taken[first + i], __ATOMIC_ACQUIRE) == 0) {
            taken[first + i] = 1;
            return trace_file_at(first + i);
        }
    }
    if (i < limit && trace_may_call()) {
        struct trace_lane *const lane = make(first + i);
        trace_has_called();
        if (lane == NULL)
            return NULL;
        *allocated = i + 1;
        taken[first + i] = 1;
        return lane;
    }
    return NULL;
}

static void make_ahead(uint32_t first, uint32_t most, uint32_t *allocated)
{
    while (*allocated < most && make(first + *allocated) != NULL)
        ++*allocated;
}

static void make_all_ahead(void)
{
    struct trace_control *const c = trace_control;
    if (!trace_tables_try())
        return;
    make_ahead(0,
               c->small_lanes + AHEAD_SMALL < TRACE_SMALL_LANES ? c->small_lanes + AHEAD_SMALL
                                                                : TRACE_SMALL_LANES,
               &c->small_lanes);
    make_ahead(TRACE_SMALL_LANES,
               c->large_lanes + AHEAD_LARGE < TRACE_LARGE_LANES ? c->large_lanes + AHEAD_LARGE
                                                                : TRACE_LARGE_LANES,
               &c->large_lanes);
    trace_tables_done();
}

void trace_sandbox_comes(void)
{
    const int saved = errno;
    /* A child of vfork has its parent's memory, and a filter of its own. */
    if (trace_calls_are_over() ||
        (trace_control != NULL && (uint32_t)getpid() != trace_control->pid))
        return;
    if (trace_self.inside == 0 && (trace_control != NULL || trace_file_open())) {
        trace_self.inside = 1;
        TRACE_HANDLERS_SEE_THIS_ORDER();
        make_all_ahead();
        (void)trace_file_stacks();
        leave();
    }
    trace_calls_end();
    if (trace_control != NULL)
        pawl_store_relaxed32(&trace_control->sandboxed, 1);
    errno = saved;
}

bool trace_begins(void)
{
    if (!trace_file_open())
        return false;
    if (trace_file_came_sandboxed())
        trace_sandbox_comes();
    return true;
}

/* The thread's number in the kernel, without a call: who takes a mutex leaves it there. */
static uint32_t own_number(void)
{
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    (void)next()->pthread_mutex_trylock(&mutex);
    uint32_t number = (uint32_t)mutex.__data.__owner;
    (void)next()->pthread_mutex_unlock(&mutex);
    return number;
}

static void settle(struct trace_lane *lane, uint64_t begun)
{
    lane->cpu_begun = lane->cpu_seen = 0;
    lane->begun = begun;
    lane->last = begun;
    lane->depth = 0;
    lane->threads++;
    for (uint32_t i = 0; i < 2; i++) /* a full one stays the other thread's */
        lane->windows[i].mixed |= lane->windows[i].count % lane->ring != 0;
    for (uint32_t i = 0; i < TRACE_CHAINS; i++)
        lane->chains[i].depth = 0; /* another thread's */
    lane->kernel = own_number();
    lane->thread = lane->latest = trace_self.number;
}

static void give_back(struct trace_lane *lane)
{
    /* The first call's time is from before the thread had the lane. It may have been the last. */
    if (lane->last > lane->begun)
        lane->alive += lane->last - lane->begun;
    lane->ran += lane->cpu_seen - lane->cpu_begun;
    lane->cpu_seen = lane->cpu_begun;
    lane->thread = 0;
    lane->depth = 0;
    /* Release: the next owner finds these stores. */
    __atomic_store_n(&taken[trace_file_index(lane)], 0, __ATOMIC_RELEASE);
}

void trace_lane_is_free(void)
{
    give_back(trace_self.lane);
    trace_self.lane = NULL;
    trace_self.timed = NULL;
    trace_self.price.record = NULL;
}

void trace_lanes_forget(void)
{
    memset(taken, 0, sizeof taken);
}

void trace_lane_ends_by(void (*thread_ends)(void *))
{
    has_key = pthread_key_create(&at_end, thread_ends) == 0;
}

/* ---- Coming, moving -------------------------------------------------------------------------- */

static bool claim(void)
{
    const int saved = errno;
    struct trace_lane *lane = NULL;
    int cancel;
    trace_self.inside = 1;
    TRACE_HANDLERS_SEE_THIS_ORDER();
    (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    if (!has_key || pthread_setspecific(at_end, &trace_self) == 0) {
        if (trace_tables_try()) {
            lane = find(0, TRACE_SMALL_LANES, &trace_control->small_lanes);
            if (lane != NULL && trace_self.number == 0)
                trace_self.number = ++trace_control->threads;
            trace_file_look_at_clock();
            trace_tables_done();
            trace_self.refused = lane == NULL;
        }
    }
    if (lane != NULL) {
        point_into(lane);
        settle(lane, trace_ticks());
        trace_self.stack_gap = TRACE_FIRST_LOOK;
        trace_self.stack_in =
            trace_control->stack_every != 0 ? trace_control->stack_every : TRACE_FIRST_LOOK;
        trace_self.price_in = 1;
        if (trace_control->small_lanes > 1)
            (void)trace_file_stacks(); /* from now on threads may wait */
        trace_look_at_priority();
        trace_look_at_own_cost();
        trace_price_alone();
    }
    trace_self.lane = lane;
    if (lane != NULL) {
        trace_note_processor();
        lane->cpu_begun = lane->cpu_seen;
    }
    (void)pthread_setcancelstate(cancel, NULL);
    leave();
    errno = saved;
    return lane != NULL;
}

bool trace_enter_slow(void)
{
    if (trace_self.inside != 0) {
        if (trace_self.lane != NULL)
            trace_self.lane->reentered++;
        return false;
    }
    if (trace_control == NULL && !trace_begins())
        return false;
    if (pawl_load_relaxed32(&trace_control->enabled) == 0)
        return false;
    if (trace_self.lane == NULL && (trace_self.refused != 0 || !claim())) {
        (void)pawl_fetch_add_relaxed32(&trace_control->without_lane, 1);
        return false;
    }
    trace_self.inside = 1;
    TRACE_HANDLERS_SEE_THIS_ORDER();
    return true;
}

/* The thread takes the events of its windows along, where the new lane has none of that time. */
static void move_windows(struct trace_lane *old, struct trace_event *const from[2],
                         struct trace_lane *lane)
{
    if (lane->window_next > old->window_next || lane->windows[old->window & 1].count != 0)
        return;
    for (uint32_t i = 0; i < 2; i++) {
        if (lane->windows[i].count != 0)
            continue;
        memcpy(trace_self.windows[i], from[i], old->windows[i].count * sizeof *from[i]);
        lane->windows[i] = old->windows[i];
        old->windows[i].count = 0;
    }
    lane->window = old->window;
    lane->window_next = old->window_next;
}

/* Inside the lane. What it recorded stays there, and the next thread goes on in it. */
void trace_outgrow(void)
{
    const int saved = errno;
    struct trace_lane *const old = trace_self.lane, *lane;
    int cancel;
    if (!trace_tables_try())
        return;
    (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    lane = find(TRACE_SMALL_LANES, TRACE_LARGE_LANES, &trace_control->large_lanes);
    if (lane != NULL) {
        struct trace_event *const from[2] = {trace_self.windows[0], trace_self.windows[1]};
        point_into(lane);
        settle(lane, old->last);
        lane->cpu_begun = lane->cpu_seen = old->cpu_seen;
        memcpy(lane->name, old->name, sizeof lane->name);
        move_windows(old, from, lane);
        for (uint32_t i = 0; i < old->depth; i++)
            lane->holds[i] = old->holds[i];
        lane->depth = old->depth;
        trace_self.lane = lane;
        trace_self.price.record = NULL;
        trace_self.timed = NULL; /* it lies in the old lane, which another thread may have next */
        give_back(old);
    }
    trace_tables_done();
    (void)pthread_setcancelstate(cancel, NULL);
    errno = saved;
}
