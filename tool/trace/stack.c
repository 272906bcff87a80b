/* SPDX-License-Identifier: MIT */
/*
 * Stacks of calls: of each wait, and of one in some takes that did not wait. All threads share the
 * tables. An entry is found by a hash, and whoever finds a free one takes it by storing the hash;
 * so nobody waits, and what a killed thread had begun is left out by the reader.
 *
 * A thread that waits at one place again and again has the same stack. So it remembers where the
 * return addresses of its last stacks lie, and looks whether they are still there. The words are
 * read from the call outwards. As long as they are the same, the functions and thus the places of
 * their frames are the same, so the next word is one of this stack, too.
 */
#include "file.h"
#include "record.h"
#include "unwind.h"

#include <errno.h>

enum { OWN_FRAMES = 12, PROBES = 16, MOST_GAP = 1 << 30 };

static uint64_t hash_of(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

static void lose(void)
{
    (void)pawl_fetch_add_relaxed32(&trace_control->lost_stacks, 1);
}

/* True: the hash has this entry, which is new. A CAS that fails says whose it is. */
static bool is_mine(uint64_t *entry, uint64_t hash, bool *is_new)
{
    uint64_t found = pawl_load_relaxed64(entry);
    *is_new = found == 0 && pawl_cas_relaxed64(entry, &found, hash);
    return *is_new || found == hash;
}

/* ---- The table of stacks --------------------------------------------------------------------- */

struct found {
    uint64_t frame[TRACE_FRAMES], at[TRACE_FRAMES];
    uint32_t depth;
    bool cut;
};

/* Code that the program has made itself is in no file. */
static void know(const struct found *found)
{
    struct unwind_object unused;
    for (uint32_t i = 0; i < found->depth; i++)
        if (trace_unwind_object(found->frame[i], &unused))
            trace_know(found->frame[i], found->frame[i]);
}

static uint32_t enter_stack(struct trace_stacks *stacks, const struct found *found)
{
    uint64_t hash = 1 + found->cut;
    bool is_new;
    for (uint32_t i = 0; i < found->depth; i++)
        hash = hash_of(hash, found->frame[i]);
    hash += hash == 0;
    for (uint32_t i = 0; i < PROBES; i++) {
        const uint32_t number = (uint32_t)((hash >> 16) + i) % TRACE_STACKS;
        struct trace_stack *const s = &stacks->stack[number];
        if (!is_mine(&s->hash, hash, &is_new))
            continue;
        if (is_new) {
            for (uint32_t j = 0; j < found->depth; j++)
                pawl_store_relaxed64(&s->frame[j], found->frame[j]);
            s->cut = found->cut;
            TRACE_HANDLERS_SEE_THIS_ORDER();
            pawl_store_relaxed32(&s->depth, found->depth);
            know(found);
        }
        return number + 1;
    }
    lose();
    return 0;
}

/* ---- Looking --------------------------------------------------------------------------------- */

/* The site must be found behind the recorder's own frames. */
static bool unwind(uint64_t site, struct found *found)
{
    struct unwind u;
    uint32_t i;
    memset(u.value, 0, sizeof u.value);
    u.thread = trace_self.lane->kernel; /* the first thread may have ended */
    u.from = u.count = u.return_at = 0;
    u.interrupted = false;
    TRACE_UNWIND_HERE(&u);
    for (i = 0; i < OWN_FRAMES && u.value[UNWIND_PC] != site; i++)
        if (!trace_unwind_step(&u))
            return false;
    if (u.value[UNWIND_PC] != site)
        return false;
    for (i = 0; i < TRACE_FRAMES; i++) {
        found->frame[i] = u.value[UNWIND_PC];
        found->at[i] = u.return_at;
        if (!trace_unwind_step(&u))
            break;
    }
    found->cut = i == TRACE_FRAMES;
    found->depth = i + !found->cut;
    return true;
}

static __attribute__((noinline)) uint32_t look(struct trace_stacks *stacks, uint64_t site,
                                               uint64_t frame, struct trace_chain *chain)
{
    struct found found;
    const int saved = errno;
    uint32_t stack = 0;
    chain->depth = 0;
    if (unwind(site, &found))
        stack = enter_stack(stacks, &found);
    else
        lose();
    errno = saved;
    if (stack != 0) {
        chain->site = site;
        chain->frame = frame;
        chain->stack = stack;
        memcpy(chain->at, found.at, found.depth * sizeof found.at[0]);
        chain->depth = found.depth;
    }
    return stack;
}

/* Is it the stack that was there last? */
static bool is_same(const struct trace_stacks *stacks, const struct trace_chain *c, uint64_t site,
                    uint64_t frame)
{
    const struct trace_stack *const s = &stacks->stack[c->stack - 1];
    if (c->site != site || c->frame != frame || pawl_load_relaxed32(&s->depth) != c->depth)
        return false;
    for (uint32_t i = 0; i < c->depth; i++)
        if (trace_unwind_without_signature(*(const volatile uint64_t *)(uintptr_t)c->at[i]) !=
            pawl_load_relaxed64(&s->frame[i]))
            return false;
    return true;
}

uint32_t trace_stack(uint64_t site)
{
    const uint64_t frame = (uint64_t)(uintptr_t)__builtin_frame_address(0);
    struct trace_stacks *const stacks = trace_file_stacks();
    struct trace_chain *const c =
        &trace_self.lane->chains[hash_of(frame, site) >> 32 & (TRACE_CHAINS - 1)];
    if (stacks == NULL) {
        if (pawl_load_relaxed32(&trace_control->stacks) == TRACE_STACKS_COME)
            lose();
        return 0;
    }
    if (c->depth != 0 && is_same(stacks, c, site, frame))
        return c->stack;
    return look(stacks, site, frame, c);
}

void trace_callers(uint64_t site, uint64_t callers[TRACE_CALLERS])
{
    const uint32_t stacks = pawl_load_relaxed32(&trace_control->stacks);
    const int saved = errno;
    struct found found;
    memset(callers, 0, TRACE_CALLERS * sizeof callers[0]);
    if (stacks == TRACE_STACKS_NO_LIBRARY || stacks == TRACE_STACKS_UNWANTED)
        return;
    if (unwind(site, &found) && found.depth > TRACE_CALLERS)
        memcpy(callers, &found.frame[1], TRACE_CALLERS * sizeof callers[0]);
    errno = saved;
}

/* ---- Waits and takes by lock and stack ------------------------------------------------------- */

static void raise_to(uint64_t *most, uint64_t value)
{
    uint64_t found = pawl_load_relaxed64(most);
    while (found < value && !pawl_cas_relaxed64(most, &found, value))
        continue;
}

static struct trace_waited *entry_of(uint64_t key, uint32_t stack)
{
    struct trace_stacks *const stacks = trace_file_stacks();
    uint64_t hash = hash_of(hash_of(stack, key), 1);
    bool is_new;
    if (stacks == NULL || stack == 0)
        return NULL;
    hash += hash == 0;
    for (uint32_t i = 0; i < PROBES; i++) {
        struct trace_waited *const w = &stacks->waited[((hash >> 16) + i) % TRACE_WAITED];
        if (!is_mine(&w->hash, hash, &is_new))
            continue;
        if (is_new) {
            pawl_store_relaxed64(&w->stack, stack);
            pawl_store_relaxed64(&w->lock, key);
        }
        return w;
    }
    lose();
    return NULL;
}

void trace_stack_waited(uint64_t key, uint32_t stack, uint64_t ticks)
{
    struct trace_waited *const w = entry_of(key, stack);
    if (w == NULL)
        return;
    (void)pawl_fetch_add_relaxed64(&w->count, 1);
    (void)pawl_fetch_add_relaxed64(&w->wait_sum, ticks);
    raise_to(&w->wait_max, ticks);
}

void trace_stack_taken(void)
{
    const struct trace_hold *const h = &trace_self.lane->holds[trace_self.lane->depth - 1];
    trace_self.stack_in = trace_control->stack_every;
    if (trace_self.stack_in == 0) { /* ever more seldom: some hundred looks in all */
        trace_self.stack_gap += trace_self.stack_gap < MOST_GAP ? trace_self.stack_gap / 4 : 0;
        trace_self.stack_in = trace_self.stack_gap;
        if (pawl_load_relaxed32(&trace_control->stacks) != TRACE_STACKS_THERE)
            return;
    }
    struct trace_waited *w = entry_of(h->lock, trace_stack(h->take));
    if (w != NULL)
        (void)pawl_fetch_add_relaxed64(&w->taken, 1);
}
