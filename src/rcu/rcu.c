/* SPDX-License-Identifier: MIT */
/*
 * RCU: the domains, and the readers' functions that are not inline in rcu.h.
 *
 * A thread's fast path is open when pawl_rcu_mine.line is set: the thread has a line, and light
 * fences cost nothing. Otherwise each section calls the functions below. Where the system has no
 * such fences, the thread uses its line with full fences. A thread for which the registry has no
 * line gets an extra one (rcu_extra.c).
 *
 * Without memory for that, and in a handler of a thread that claims a line or gives it back, a
 * reader is counted in the domain (`apart`), on one of two sides. So a grace period can direct new
 * readers away from the side that it waits for.
 *
 * A signal handler may run between any two steps, and leaves everything as it found it. `open` is
 * not 0 while a section apart is entered or held. Meanwhile neither the thread nor a handler
 * changes over to a line that has become free.
 */
#include "rcu.h"

#include "../base/base.h"

/* Sections that a thread without a line enters before it asks for one again: asking takes long. */
#define SECTIONS_BEFORE_ANOTHER_TRY 1000u

#define SIDE UINT32_C(0x80000000) /* in pawl_rcu_mine.apart: the side that counts the thread */

/* How often a thread that ends in a section waits for its other destructors. */
#define FAREWELLS 2u

PAWL_SHARED_DEFINE(struct pawl_rcu, rcu_object);

/* Whether the thread may read by the inline functions. */
#if PAWL_HOOKS
static bool rcu_reads_fast(void)
{
    return true;
}
#elif PAWL_CHECKED
static bool rcu_reads_fast(void)
{
    return false;
}
#else
static bool rcu_reads_fast(void)
{
    return pawl_load_relaxed32(&ipawl_fence_light_free_) != 0;
}
#endif

/* The caller's line if it has one or gets one; otherwise NULL. */
static struct pawl_rcu_line *rcu_own_line(struct pawl_rcu_mine *mine)
{
    struct pawl_rcu_line *line = rcu_line_of_caller(mine);
    if (line == NULL && mine->wait > 0) {
        mine->wait--;
        return NULL;
    }
    if (line == NULL)
        line = rcu_line_of(ipawl_thread_line_());
    if (line == NULL)
        line = rcu_extra_claim(mine);
    if (line == NULL)
        mine->wait = SECTIONS_BEFORE_ANOTHER_TRY;
    else if (rcu_reads_fast())
        rcu_have_line(mine, line);
    return line;
}

/* ---- Threads without a line ------------------------------------------------------------------ */

static uint32_t rcu_apart_nesting(const struct pawl_rcu_mine *mine, uint32_t index)
{
    return mine->apart[index] & ~SIDE;
}

/* Counts the caller on the side that counts readers now; returns SIDE or 0. */
static uint32_t rcu_count_in(uint32_t index)
{
    struct pawl_rcu_state *state = rcu_state(index);
    const uint32_t side = pawl_load_relaxed32(&state->side);
    (void)pawl_fetch_add_relaxed32(&state->apart[side], 1);
    /* [RCU_ENTER] full: the reader is counted before it looks at anything. */
    pawl_fence_full(PAWL_RCU_ENTER);
    return side != 0 ? SIDE : 0;
}

static void rcu_count_out(uint32_t index, uint32_t side)
{
    struct pawl_rcu_state *state = rcu_state(index);
    RCU_TOLD_LEFT(index);
    /* [RCU_LEAVE] release: the reader's reads are done before the grace period sees it gone. */
    (void)pawl_fetch_sub_release32(&state->apart[side != 0], 1, PAWL_RCU_LEAVE);
    /* [RCU_LEFT] full: the count has fallen before the reader looks whether a driver waits for
     * it. */
    pawl_fence_full(PAWL_RCU_LEFT);
    if (pawl_load_relaxed32(&state->apart_waited) != 0)
        ipawl_rcu_tell_(index);
}

static void rcu_enter_apart(struct pawl_rcu_mine *mine, uint32_t index)
{
    if (rcu_apart_nesting(mine, index) != 0)
        mine->apart[index]++;
    else
        mine->apart[index] = rcu_count_in(index) | 1; /* from here on a handler may rely on it */
}

static void rcu_leave_apart(struct pawl_rcu_mine *mine, uint32_t index)
{
    const uint32_t held = mine->apart[index];
    if ((held & ~SIDE) > 1) {
        mine->apart[index] = held - 1;
        mine->open--;
        return;
    }
    mine->apart[index] = 0; /* first: a handler must not rely on a count that is about to fall */
    rcu_count_out(index, held & SIDE);
    mine->open--; /* last: until here a handler stays apart, too */
}

/* Leaves the sections, for as many new ones. The thread is counted twice meanwhile, so that a
 * handler may rely on one of the two. */
static void rcu_rest_apart(struct pawl_rcu_mine *mine, uint32_t index)
{
    const uint32_t held = mine->apart[index];
    mine->apart[index] = rcu_count_in(index) | (held & ~SIDE);
    rcu_count_out(index, held & SIDE);
}

/* The library watches the end of such a thread, too. */
static void rcu_watch_apart(struct pawl_rcu_mine *mine)
{
    if (thread_registered() == NULL)
        ipawl_thread_watch_(mine);
}

/* ---- Sections -------------------------------------------------------------------------------- */

PAWL_INTERNAL void rcu_enter(uint32_t index)
{
    struct pawl_rcu_mine *mine = ipawl_rcu_mine_();
    struct pawl_rcu_line *line = mine->line;
    if (line == NULL) {
        mine->reads = 1;
        mine->open++;
        line = mine->open == 1 ? rcu_own_line(mine) : NULL;
        if (line == NULL) {
            if (mine->open == 1)
                rcu_watch_apart(mine);
            rcu_enter_apart(mine, index);
            return;
        }
        mine->open--;
    }
    /* [RCU_AGAIN] release: a driver that waits for the last section of this thread, or of the
     * line's last owner, may see only the next section. */
    pawl_store_release32(&line->read[index], rcu_load_word(line, index) + 1, PAWL_RCU_AGAIN);
    /* [RCU_ENTER] light: the reader's word is written before it looks at anything. */
    pawl_fence_light(PAWL_RCU_ENTER);
}

/* False: the caller is in no section of the domain. */
PAWL_INTERNAL bool rcu_leave(uint32_t index)
{
    struct pawl_rcu_mine *mine = ipawl_rcu_mine_();
    struct pawl_rcu_line *line;
    uint32_t word;
    if (rcu_apart_nesting(mine, index) != 0) {
        rcu_leave_apart(mine, index);
        return true;
    }
    line = rcu_line_of_caller(mine);
    word = line == NULL ? 0 : rcu_load_word(line, index);
    if (rcu_nesting(word) == 0)
        return false;
    if (rcu_nesting(word) > 1)
        pawl_store_relaxed32(&line->read[index], word - 1);
    else
        rcu_leave_line(line, index, 0);
    return true;
}

PAWL_INTERNAL void rcu_rest(void)
{
    struct pawl_rcu_mine *mine = ipawl_rcu_mine_();
    struct pawl_rcu_line *line = rcu_line_of_caller(mine);
    const uint32_t nesting = line == NULL ? 0 : rcu_nesting(rcu_load_word(line, PAWL_RCU_QS_));
    if (rcu_apart_nesting(mine, PAWL_RCU_QS_) != 0)
        rcu_rest_apart(mine, PAWL_RCU_QS_);
    else if (nesting != 0)
        rcu_leave_line(line, PAWL_RCU_QS_, nesting);
}

/* The number of nested sections of the domain that the caller is in. */
PAWL_INTERNAL uint32_t rcu_depth(uint32_t index)
{
    const struct pawl_rcu_mine *mine = ipawl_rcu_mine_();
    const struct pawl_rcu_line *line = rcu_line_of_caller(mine);
    return rcu_apart_nesting(mine, index) +
           (line == NULL ? 0 : rcu_nesting(rcu_load_word(line, index)));
}

PAWL_INTERNAL bool rcu_inside(uint32_t index)
{
    return rcu_depth(index) != 0;
}

/* Whether the caller is in a section of a domain other than that one. Each thread's end asks this,
 * so it is one walk along the words. Without `open` nothing is held apart. */
static bool rcu_inside_but(uint32_t exception)
{
    const struct pawl_rcu_mine *mine = ipawl_rcu_mine_();
    const struct pawl_rcu_line *line = rcu_line_of_caller(mine);
    uint32_t inside = 0;
    for (uint32_t index = 0; line != NULL && index < PAWL_RCU_DOMAINS; index++)
        if (index != exception)
            inside |= rcu_nesting(rcu_load_word(line, index));
    for (uint32_t index = 0; mine->open != 0 && index < PAWL_RCU_DOMAINS; index++)
        if (index != exception)
            inside |= rcu_apart_nesting(mine, index);
    return inside != 0;
}

PAWL_INTERNAL bool rcu_inside_any(void)
{
    return rcu_inside_but(PAWL_RCU_QS_);
}

PAWL_INTERNAL uint32_t rcu_rest_begin(void)
{
    uint32_t was = 0;
    while (rcu_leave(PAWL_RCU_QS_))
        was++;
    return was;
}

PAWL_INTERNAL void rcu_rest_end(uint32_t was)
{
    while (was-- > 0)
        rcu_enter(PAWL_RCU_QS_);
}

#if !PAWL_CHECKED /* else rcu_check.c */

PAWL_COLD void ipawl_rcu_enter_slow_(uint32_t index)
{
    rcu_enter(index);
}

PAWL_COLD void ipawl_rcu_leave_slow_(uint32_t index)
{
    (void)rcu_leave(index);
}

PAWL_COLD void ipawl_rcu_rest_slow_(void)
{
    rcu_rest();
}

#endif

/* ---- The life of a thread -------------------------------------------------------------------- */

/* The thread has claimed a line, whose last owner may have died in a section. */
static void rcu_line_claimed(uint32_t number, bool left_behind)
{
    if (!PAWL_SHARED_IS_THERE(rcu_object))
        return; /* no thread has read */
    if (left_behind && number < PAWL_RCU_LINES)
        rcu_line_left_behind(&rcu_here()->lines[number]);
    if (rcu_extra_lines() != 0)
        rcu_extra_settle(pawl_os_thread_id());
}

/* A thread may end online, but not in a section: the destructor of another key may yet leave
 * that section. */
static bool rcu_thread_stays(struct pawl_thread_line *own)
{
    struct pawl_rcu_mine *mine = ipawl_rcu_mine_();
    (void)own;
    return mine->reads != 0 && rcu_inside_any() && mine->farewells++ < FAREWELLS;
}

static void rcu_leave_all(void)
{
    for (uint32_t index = 0; index < PAWL_RCU_DOMAINS; index++) {
        if (PAWL_CHECKED && index != PAWL_RCU_QS_ && rcu_inside(index))
            RCU_LEFT_OPEN(index);
        while (rcu_leave(index))
            continue;
    }
}

/* Ends the thread's sections before it gives its line back. rcu_thread_left runs after that,
 * with the pointer that this returns. A handler that runs before the line is given back must not
 * use the line again: it stays apart. */
static void *rcu_thread_leaves(void)
{
    struct pawl_rcu_mine *mine = ipawl_rcu_mine_();
    const bool inside = mine->reads != 0 && rcu_inside_but(PAWL_RCU_DOMAINS);
    mine->open++;
    rcu_have_line(mine, NULL);
    if (inside)
        rcu_leave_all();
    if (mine->reads == 0)
        return mine;
    rcu_extra_give_back(mine);
    mine->reads = 0;
    mine->farewells = 0;
    return mine;
}

static void rcu_thread_left(void *left)
{
    struct pawl_rcu_mine *mine = (struct pawl_rcu_mine *)left;
    mine->open--;
}

/* The child of a fork keeps the sections of the forking thread only; it has no driver. */
static void rcu_after_fork_in_child(void)
{
    struct pawl_rcu_mine *mine = ipawl_rcu_mine_();
    const uint32_t lines = rcu_lines(pawl_load_relaxed32(&process_here()->lines_used));
    const struct pawl_rcu_line *own;
    if (!PAWL_SHARED_IS_THERE(rcu_object))
        return;
    own = rcu_line_of_caller(mine);
    for (uint32_t i = 0; i < lines; i++) {
        struct pawl_rcu_line *line = rcu_line(i);
        pawl_store_relaxed32(&line->waited, 0);
        if (line != own)
            rcu_line_left_behind(line);
    }
    rcu_extra_after_fork(mine);
    for (uint32_t index = 0; index < PAWL_RCU_DOMAINS; index++) {
        struct pawl_rcu_state *state = rcu_state(index);
        const uint32_t held = mine->apart[index];
        const uint32_t side = (held & SIDE) != 0;
        pawl_store_relaxed32(&state->apart[side], (held & ~SIDE) != 0);
        pawl_store_relaxed32(&state->apart[1 - side], 0);
        rcu_grace_after_fork(state, mine);
    }
    pawl_store_relaxed32(&rcu_here()->stalls.word, LATCH_FREE);
}

static const struct pawl_subsystem rcu_subsystem = {
    rcu_line_claimed, rcu_thread_stays,        rcu_thread_leaves, NULL,
    rcu_thread_left,  rcu_after_fork_in_child,
};

PAWL_SUBSYSTEM(PAWL_FLOOR_RCU, rcu_subsystem);
