/* SPDX-License-Identifier: MIT */
/*
 * A lock's holders and its word at one instant.
 *
 * An observer looks at the entries, then at the word, then at the entries again. If no entry for
 * the lock has changed in between, the entries are those of the instant at which it read the word.
 * A thread publishes its entry before it touches the lock, and changes it again only afterwards. So
 * at that instant the entries cover all units in the word. Units beyond that have no holder: the
 * memory was never a lock, or was overwritten, or a thread ended without dropping.
 *
 * The fences make this so. Let a thread have units in the word that the observer reads. It added
 * them before the second heavy fence in its own order, so that the second look finds the entry. It
 * had not yet dropped at the first heavy fence, so that the first look does not find its entry
 * freed. If both find the same turns of all lines, both find the entry.
 *
 * Reads that any thread may drop have no entry, only two counts for the process: of those that
 * began, and of those that ended. The observer reads the second before the first fence and the
 * first after the second. So their difference is at least the number that was in the word. One of
 * them may wait in its turn: then it keeps W+S in the word, without R (lock.h, I3).
 */
#include "check.h"

#if PAWL_CHECKED

#include <string.h>

/* Looks before the observer gives up, because threads keep taking and dropping. */
#define VIEW_LOOKS 32

/* ---- What an entry has in the word ----------------------------------------------------------- */

struct pawl_check_units ipawl_units_of_(uint32_t what, bool atomics)
{
    static const struct pawl_check_units held[] = {{0, 0}, {0, 1}, {1, 1}, {5, 1}, {4, 0}};
    static const struct pawl_check_units asked[] = {{0, 0}, {0, 1}, {1, 1}, {5, 1}, {5, 0}};
    const unsigned wants = check_wants(what);
    const unsigned kind = check_kind(what);
    struct pawl_check_units most = held[check_state(what)];
    struct pawl_check_units claim = asked[wants];

    if (atomics && (wants == PAWL_STATE_R || wants == PAWL_STATE_S) &&
        (kind == CHECK_take || kind == CHECK_tells))
        claim.sw = 5;
    /* A try for W or A adds nothing until it is granted (LOOK_CAS in transitions.def). */
    if (wants == PAWL_STATE_U ||
        (kind == CHECK_try && (wants == PAWL_STATE_W || wants == PAWL_STATE_A)))
        return most;
    most.sw = most.sw > claim.sw ? most.sw : claim.sw;
    most.r = most.r > claim.r ? most.r : claim.r;
    return most;
}

/* A try may have been granted already, and any waiter may have escalated. */
struct pawl_check_units ipawl_units_most_(uint32_t what)
{
    const struct pawl_check_units held =
        ipawl_units_of_(check_what(check_state(what), PAWL_STATE_U, 0, 0), true);
    const struct pawl_check_units asked =
        ipawl_units_of_(check_what(PAWL_STATE_U, check_wants(what), CHECK_take, 0), true);
    struct pawl_check_units most = {0, 0};
    most.sw = held.sw > asked.sw ? held.sw : asked.sw;
    most.r = held.r > asked.r ? held.r : asked.r;
    return most;
}

/* ---- The look at all entries ----------------------------------------------------------------- */

static uint64_t view_mix(uint64_t hash, uint64_t value)
{
    return (hash ^ value) * UINT64_C(0x100000001b3);
}

/* Adds one line's entries for the lock to the view, and returns what names their condition. The
 * mode that the caller asks for is not in the word yet. */
static uint64_t view_line(struct pawl_check_line *line, ipawl_address_ lock, bool self,
                          struct pawl_check_view *view)
{
    const uint32_t owner = check_owner(line);
    const uint32_t used = owner == 0 ? 0 : check_used_of(line);
    uint64_t hash = view_mix(owner, pawl_load_relaxed32(check_turn(line, lock)));
    struct pawl_check_units most;
    for (uint32_t i = 0; i < used; i++) {
        const struct pawl_held *held = &line->held[i];
        const uint32_t what = check_what_of(held);
        if (check_lock_of(held) != lock || what == 0)
            continue;
        hash = view_mix(view_mix(hash, i), what);
        if (view->count < PAWL_VIEW_HOLDERS) {
            struct pawl_check_holder *holder = &view->holders[view->count];
            holder->thread = owner;
            holder->what = what;
            holder->self = self;
            holder->gone = false;
            ipawl_stack_copy_(&holder->stack, &held->stack);
        }
        view->own = view->own || self;
        view->count++;
        most = ipawl_units_most_(self ? check_what(check_state(what), PAWL_STATE_U, 0, 0) : what);
        view->sw += most.sw;
        view->r += most.r;
    }
    return hash;
}

/* Entries of a thread that does not exist have no units that anybody drops. */
static uint64_t view_all(ipawl_address_ lock, struct pawl_check_view *view)
{
    struct pawl_check_line *const own = check_line_of(thread_registered());
    const uint32_t lines = check_lines_used();
    uint64_t hash = 0;
    memset(view, 0, sizeof *view);
    if (own != NULL)
        hash = view_line(own, lock, true, view);
    for (uint32_t i = 0; i < lines; i++)
        if (&check_here()->lines[i] != own)
            hash = view_mix(hash, view_line(&check_here()->lines[i], lock, false, view));
    return hash;
}

void ipawl_check_counted_comes_(void)
{
    (void)pawl_fetch_add_relaxed32(&check_here()->counted_comes, 1);
    /* [CHECK_BOOK] light: the read is in the books before its unit is in the word. */
    pawl_fence_light(PAWL_CHECK_BOOK);
}

void ipawl_check_counted_goes_(void)
{
    /* [CHECK_BOOK] light: its unit has left the word before it leaves the books. */
    pawl_fence_light(PAWL_CHECK_BOOK);
    (void)pawl_fetch_add_relaxed32(&check_here()->counted_gone, 1);
}

static uint32_t view_counted_gone(void)
{
    return pawl_load_relaxed32(&check_here()->counted_gone);
}

static void view_add_counted(struct pawl_check_view *view, uint32_t gone)
{
    const uint32_t reads = pawl_load_relaxed32(&check_here()->counted_comes) - gone;
    view->r += reads;
    if (reads != 0)
        view->sw += ipawl_units_most_(check_what(PAWL_STATE_U, PAWL_STATE_R, CHECK_take, 0)).sw;
}

static uint64_t view_word(const struct pawl_check_call *call)
{
    const void *word = (const void *)(uintptr_t)call->lock;
    switch (check_width(call->bits)) {
    case 16: return pawl_load_relaxed16((const uint16_t *)word);
    case 32: return pawl_load_relaxed32((const uint32_t *)word);
    default: return pawl_load_relaxed64((const uint64_t *)word);
    }
}

/* The library knows only by asking the system. */
static void view_find_gone(struct pawl_check_view *view)
{
    for (uint32_t i = 0; i < view->count && i < PAWL_VIEW_HOLDERS; i++) {
        struct pawl_check_holder *holder = &view->holders[i];
        if (holder->self || pawl_os_thread_lives(holder->thread))
            continue;
        holder->gone = true;
        view->gone++;
        view->sw -= ipawl_units_most_(holder->what).sw;
        view->r -= ipawl_units_most_(holder->what).r;
    }
}

void ipawl_check_view_(const struct pawl_check_call *call, bool reads, struct pawl_check_view *view)
{
    struct pawl_check_view before;
    uint64_t first = view_all(call->lock, &before);
    uint64_t word = call->word;
    for (int looks = 0; looks < VIEW_LOOKS; looks++) {
        const uint32_t gone = view_counted_gone();
        uint64_t second;
        /* [CHECK_LOOK] heavy: an entry that is freed after this was seen by the first look. */
        pawl_fence_heavy(PAWL_CHECK_LOOK);
        if (reads)
            word = view_word(call);
        /* [CHECK_LOOK] heavy: the second look sees the entry of each unit in the word. */
        pawl_fence_heavy(PAWL_CHECK_LOOK);
        second = view_all(call->lock, view);
        view_add_counted(view, gone);
        view->word = word;
        view->sound = first == second;
        if (view->sound)
            break;
        first = second;
    }
    view_find_gone(view);
}

void ipawl_check_glance_(const struct pawl_check_call *call, struct pawl_check_view *view)
{
    (void)view_all(call->lock, view);
    view_add_counted(view, view_counted_gone());
    view->word = call->word;
    view_find_gone(view);
}

#endif
