/* SPDX-License-Identifier: MIT */
/* The checking variant: the locks that each thread holds, and the operations that it may call on
 * them. */
#include "check.h"

#if PAWL_CHECKED

#include <pawl/lock.h>

#include <string.h>

#include "../base/base.h"

PAWL_SHARED_DEFINE(struct pawl_check, check_object);

/* ---- A thread's entries ---------------------------------------------------------------------- */

/* The caller's line; NULL for a thread that has none; its locks are unknown. So are those of a
 * handler that interrupts the thread while it claims its line: it drops them before it returns. */
static struct pawl_check_line *check_own_line(void)
{
    struct pawl_check_line *line = check_line();
    if (line == NULL && *pawl_os_thread_slot() != THREAD_BETWEEN)
        ipawl_report_warn_(PAWL_WARN_NO_LINE);
    return line;
}

/* A lock is about to be taken that no entry shows. */
static void check_unbooked(void)
{
    if (pawl_load_relaxed32(&check_here()->unbooked) == 0)
        pawl_store_relaxed32(&check_here()->unbooked, 1);
}

static struct pawl_check_line *check_line_with(const struct pawl_held *held)
{
    const uintptr_t offset = (uintptr_t)held - (uintptr_t)check_here()->lines;
    return &check_here()->lines[offset / sizeof(struct pawl_check_line)];
}

/* Atomic, because a handler may change an entry in between. */
static void check_moved(struct pawl_held *held, ipawl_address_ lock)
{
    (void)pawl_fetch_add_relaxed32(check_turn(check_line_with(held), lock), 1);
}

static void check_set_what(struct pawl_held *held, uint32_t what)
{
    pawl_store_relaxed32(&held->what, what);
    check_moved(held, check_lock_of(held));
}

/* A free entry for the lock; NULL when all are in use. A signal handler may interrupt and take
 * entries too. Hence the compare-exchange, and entries that never move. */
static struct pawl_held *check_take_entry(struct pawl_check_line *line, ipawl_address_ lock)
{
    uint32_t used;
    for (uint32_t i = 0; i < PAWL_HELD_LOCKS; i++) {
        ipawl_address_ found = 0;
        if (check_lock_of(&line->held[i]) != 0 ||
            !PAWL_ADDRESS_(pawl_cas_relaxed)(&line->held[i].lock, &found, lock))
            continue;
        used = check_used_of(line);
        while (used <= i && !pawl_cas_relaxed32(&line->held_used, &used, i + 1))
            continue;
        return &line->held[i];
    }
    return NULL;
}

static void check_free_entry(struct pawl_held *held)
{
    const ipawl_address_ lock = check_lock_of(held);
    pawl_store_relaxed32(&held->what, 0);
    PAWL_ADDRESS_(pawl_store_relaxed)(&held->lock, 0);
    if (lock != 0)
        check_moved(held, lock);
}

/* The caller's entry for the lock in that state; any entry when the state is PAWL_STATE_U. The
 * thread is just claiming or freeing an entry whose `what` is 0: it has no unit in the word. */
static struct pawl_held *check_own_entry(struct pawl_check_line *line, ipawl_address_ lock,
                                         unsigned state, const struct pawl_held *but)
{
    const uint32_t used = check_used_of(line);
    for (uint32_t i = 0; i < used; i++) {
        struct pawl_held *held = &line->held[i];
        const uint32_t what = check_what_of(held);
        if (held != but && check_lock_of(held) == lock && what != 0 &&
            (what & CHECK_LEAVING) == 0 && (state == PAWL_STATE_U || check_state(what) == state))
            return held;
    }
    return NULL;
}

/* ---- Around an operation --------------------------------------------------------------------- */

static void check_report_held(const char *what, const struct pawl_check_call *call)
{
    struct pawl_check_view view;
    ipawl_check_view_(call, call->site != 0, &view);
    ipawl_report_begin_(what, call);
    ipawl_report_holders_(call, &view);
    ipawl_report_end_(PAWL_REPORT_FAULT);
}

/* Notes where the caller of the operation stands. */
static void check_note_stack(struct pawl_check_line *line, struct pawl_held *held,
                             ipawl_address_ site)
{
    struct pawl_check_stack stack;
    ipawl_stack_take_(site, line, &stack);
    ipawl_stack_copy_(&held->stack, &stack);
}

/* From U: the operation starts from no held state. */
static struct pawl_held *check_before_taking(struct pawl_check_line *line,
                                             const struct pawl_check_call *call)
{
    const struct pawl_held *own = check_own_entry(line, call->lock, PAWL_STATE_U, NULL);
    const uint32_t what = check_what(PAWL_STATE_U, call->to, call->kind, call->bits);
    struct pawl_held *held;

    /* A try that fails at once does no harm, and is the one way for signal handlers. A try that
     * drains would wait for the caller's own R. */
    if (own != NULL && call->kind == CHECK_take)
        check_report_held("taken again by its holder", call);
    else if (own != NULL && call->kind == CHECK_claim &&
             check_state(check_what_of(own)) == PAWL_STATE_R)
        check_report_held("taken again by its holder", call);
    if (call->kind != CHECK_try)
        ipawl_order_check_(line, call, call->kind == CHECK_claim);

    held = check_take_entry(line, call->lock);
    if (held == NULL) {
        ipawl_report_warn_(PAWL_WARN_HELD);
        check_unbooked();
        return NULL;
    }
    check_note_stack(line, held, call->site);
    check_set_what(held, what);
    if (ipawl_claims_fit_(call, what)) {
        ipawl_claims_count_(line, call);
        ipawl_check_awaits_(call);
    }
    return held;
}

/* The caller's entry for the lock in exactly that condition, which becomes `next`. A handler that
 * interrupts may drop by that entry and leave another one, even at an index already passed. Hence
 * two passes. */
static struct pawl_held *check_change_entry(struct pawl_check_line *line, ipawl_address_ lock,
                                            uint32_t what, uint32_t next)
{
    const uint32_t used = check_used_of(line);
    for (uint32_t i = 0; i < 2 * used; i++) {
        struct pawl_held *held = &line->held[i % used];
        uint32_t found = what;
        if (check_lock_of(held) == lock && check_what_of(held) == what &&
            pawl_cas_relaxed32(&held->what, &found, next)) {
            check_moved(held, lock);
            return held;
        }
    }
    return NULL;
}

/* From a state that the caller must hold: its entry, which becomes `next`; or a report. */
static struct pawl_held *check_entry_to_leave(struct pawl_check_line *line,
                                              const struct pawl_check_call *call, uint32_t next)
{
    const uint32_t what = check_what(call->from, PAWL_STATE_U, 0, call->bits);
    const bool drop = call->kind == CHECK_drop;
    struct pawl_held *held = check_change_entry(line, call->lock, what, next);

    if (held != NULL)
        return held;
    if (line->untracked > 0) {
        line->untracked -= drop;
        return NULL;
    }
    if (check_own_entry(line, call->lock, PAWL_STATE_U, NULL) != NULL)
        check_report_held(drop ? "drop of the wrong mode" : "transition from the wrong mode", call);
    else
        check_report_held(drop ? "drop of what is not held" : "transition of what is not held",
                          call);
    return NULL;
}

/* Whether a transition may wait for others. */
static bool check_move_waits(const struct pawl_check_call *call)
{
    return call->kind == CHECK_claim || call->kind == CHECK_tells ||
           (call->kind == CHECK_move && call->from == PAWL_STATE_S && call->to == PAWL_STATE_W);
}

/* Whether the calling thread is inside an operation, which then is one that a handler interrupted.
 * `bits`: the operation's lock has one of these. */
static bool check_interrupts(const struct pawl_check_line *line, uint32_t bits)
{
    const uint32_t used = check_used_of(line);
    for (uint32_t i = 0; i < used; i++) {
        const uint32_t what = check_what_of(&line->held[i]);
        if (check_lock_of(&line->held[i]) != 0 && (check_bits(what) & bits) != 0 &&
            (check_wants(what) != PAWL_STATE_U || (what & CHECK_LEAVING) != 0))
            return true;
    }
    return false;
}

/* Of locks that sleep. An operation that gives something up needs the wait list if PARKED is set,
 * and the interrupted thread may have locked that list. */
static void check_in_a_handler(const struct pawl_check_line *line,
                               const struct pawl_check_call *call)
{
    const bool waits = call->from == PAWL_STATE_U
                           ? call->kind == CHECK_take || call->kind == CHECK_claim
                           : check_move_waits(call);
    if ((call->bits & CHECK_SLEEPS) == 0)
        return;
    if (waits && check_interrupts(line, UINT32_MAX))
        check_report_held("waits in a signal handler", call);
    if (!waits && call->from != PAWL_STATE_U && call->kind != CHECK_try &&
        (call->word & PAWL_LOCK_PARKED) != 0 && check_interrupts(line, CHECK_SLEEPS))
        check_report_held("dropped in a signal handler beside waiters", call);
}

static struct pawl_held *check_before(const struct pawl_check_call *call)
{
    struct pawl_check_line *line = check_own_line();
    const uint32_t leaving = check_what(call->from, PAWL_STATE_U, 0, call->bits) | CHECK_LEAVING;
    const uint32_t moving = check_what(call->from, call->to, call->kind, call->bits);
    struct pawl_held *held;

    if (line == NULL) {
        check_unbooked();
        if (call->kind != CHECK_drop)
            (void)ipawl_claims_fit_(call, moving);
        return NULL;
    }
    check_in_a_handler(line, call);
    if (call->from == PAWL_STATE_U)
        return check_before_taking(line, call);
    held = check_entry_to_leave(line, call, call->kind == CHECK_drop ? leaving : moving);
    if (held == NULL || call->kind == CHECK_drop)
        return held;
    if (check_move_waits(call)) {
        if (check_own_entry(line, call->lock, PAWL_STATE_U, held) != NULL)
            check_report_held("waits for its own hold", call);
        /* A downgrade from A to R may end in an ordinary take of R. */
        ipawl_order_check_(line, call, call->kind != CHECK_tells);
    }
    if (ipawl_claims_fit_(call, moving)) {
        ipawl_claims_count_(line, call);
        ipawl_check_awaits_(call);
    }
    return held;
}

struct pawl_held *ipawl_check_before_(const struct pawl_check_call *call)
{
    struct pawl_held *const held = check_before(call);
    /* [CHECK_BOOK] light: the entry is there before the operation's units are in the word. */
    pawl_fence_light(PAWL_CHECK_BOOK);
    return held;
}

void ipawl_check_after_(const struct pawl_check_call *call, struct pawl_held *held, bool ok)
{
    const uint32_t what = check_what(ok ? call->to : call->from, PAWL_STATE_U, 0, call->bits);
    struct pawl_check_line *line;

    /* [CHECK_BOOK] light: the units have left the word before the entry is changed. */
    pawl_fence_light(PAWL_CHECK_BOOK);
    if (held == NULL) {
        line = check_line();
        if (line != NULL && call->from == PAWL_STATE_U && ok)
            line->untracked++;
        return;
    }
    if (check_state(what) == PAWL_STATE_U) {
        check_free_entry(held);
        return;
    }
    if (ok && call->from != PAWL_STATE_U)
        check_note_stack(check_line_with(held), held, call->site);
    check_set_what(held, what);
    if (ok && call->kind == CHECK_try && (call->to == PAWL_STATE_W || call->to == PAWL_STATE_A))
        ipawl_claims_count_(check_line(), call); /* not counted before (ipawl_units_of_) */
}

/* ---- The rest -------------------------------------------------------------------------------- */

/* Whether any thread holds or wants the lock. A thread that is about to return from a drop does
 * not. */
static bool check_anybody(ipawl_address_ lock)
{
    const uint32_t lines = check_lines_used();
    for (uint32_t i = 0; i < lines; i++) {
        struct pawl_check_line *line = &check_here()->lines[i];
        if (check_owner(line) != 0 && check_own_entry(line, lock, PAWL_STATE_U, NULL) != NULL)
            return true;
    }
    return false;
}

void ipawl_check_unused_(const struct pawl_check_call *call, const char *what, bool units)
{
    struct pawl_check_line *line = check_own_line();
    if (line == NULL)
        return;
    if (units || check_anybody(call->lock))
        check_report_held(what, call);
    ipawl_order_forget_(line, call->lock);
    ipawl_name_forget_(ipawl_report_object_(call->bits, call->lock));
    ipawl_check_forget_lost_(call->lock);
}

void ipawl_check_asserted_(const struct pawl_check_call *call)
{
    struct pawl_check_line *line = check_own_line();
    if (line == NULL || line->untracked > 0)
        return;
    for (unsigned state = call->to;
         state <= (call->to == PAWL_STATE_A ? PAWL_STATE_A : PAWL_STATE_W); state++)
        if (check_own_entry(line, call->lock, state, NULL) != NULL)
            return;
    check_report_held("not held as asserted", call);
}

bool ipawl_check_has_(const void *lock)
{
    struct pawl_check_line *line = check_own_line();
    return line == NULL || line->untracked > 0 ||
           pawl_load_relaxed32(&check_here()->counted_comes) ==
               pawl_load_relaxed32(&check_here()->counted_gone) ||
           check_own_entry(line, (ipawl_address_)(uintptr_t)lock, PAWL_STATE_U, NULL) != NULL;
}

void ipawl_check_counted_waits_(const struct pawl_check_call *call)
{
    struct pawl_check_line *line = check_own_line();
    if (line != NULL && (check_own_entry(line, call->lock, PAWL_STATE_W, NULL) != NULL ||
                         check_own_entry(line, call->lock, PAWL_STATE_A, NULL) != NULL))
        check_report_held("taken again by its holder", call);
    ipawl_check_awaits_(call);
}

/* glibc and POSIX run the destructors at least four times; two of these rounds are for the other
 * keys. */
#define LAST_FAREWELL 3

/* True when the line must live on, because the thread still holds locks and may yet drop them.
 * Another key's destructor may do so, so the other destructors run first. */
static bool check_thread_stays(struct pawl_thread_line *own)
{
    struct pawl_check_line *const line = check_line_of(own);
    uint32_t used;
    if (line == NULL)
        return false;
    used = check_used_of(line);
    for (uint32_t i = 0; i < used; i++) {
        const struct pawl_held *held = &line->held[i];
        const uint32_t what = check_what_of(held);
        struct pawl_check_call call = {0, 0, "the end of the thread", 0, 0, CHECK_drop, 0, 0};
        if (check_lock_of(held) == 0)
            continue;
        if (++line->farewells < LAST_FAREWELL)
            return true;
        call.lock = check_lock_of(held);
        call.bits = check_bits(what);
        check_report_held("still held at the end of its thread", &call);
        ipawl_check_lose_(held);
    }
    return false;
}

/* Other threads may be reading it. */
static void check_line_claimed(uint32_t number, bool left_behind)
{
    struct pawl_check_line *const line = check_line_of(&process_here()->lines[number]);
    if (line == NULL)
        return;
    for (uint32_t i = 0; i < PAWL_HELD_LOCKS; i++) {
        if (left_behind && check_lock_of(&line->held[i]) != 0)
            ipawl_check_lose_(&line->held[i]);
        check_free_entry(&line->held[i]);
    }
    memset(line->unwound, 0, sizeof line->unwound);
    pawl_store_relaxed32(&line->held_used, 0);
    line->busy = 0;
    line->untracked = 0;
    line->farewells = 0;
}

/* No thread of the child drops holds and claims of the parent's other threads. */
static void check_lose_parents(const struct pawl_check_line *own)
{
    const uint32_t lines = check_lines_used();
    for (uint32_t i = 0; i < lines; i++) {
        struct pawl_check_line *const line = &check_here()->lines[i];
        for (uint32_t k = 0; line != own && k < check_used_of(line); k++) {
            if (check_lock_of(&line->held[k]) != 0)
                ipawl_check_lose_(&line->held[k]);
            check_free_entry(&line->held[k]);
        }
    }
}

static void check_after_fork(void)
{
    const struct pawl_check_line *own = check_line_of(thread_registered());
    check_lose_parents(own);
    ipawl_check_watch_after_fork_();
    if (own != NULL && own->busy != 0)
        return; /* a signal handler forked inside the checker, which goes on here */
    pawl_store_relaxed32(&check_here()->report_lock.word, 0);
    ipawl_order_after_fork_();
    ipawl_name_after_fork_();
}

static const struct pawl_subsystem check_subsystem = {
    check_line_claimed, check_thread_stays, NULL, NULL, NULL, check_after_fork,
};

PAWL_SUBSYSTEM(PAWL_FLOOR_CHECK, check_subsystem);

#endif
