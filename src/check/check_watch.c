/* SPDX-License-Identifier: MIT */
/*
 * The watch: a thread that looks from time to time which threads still wait for what they waited
 * for at its last look. It runs only where PAWL_CHECK_WAIT says how many seconds a wait may take.
 * So waits have no time-outs, and operations read no clock. The first wait of a process starts it;
 * in the child of a fork, the first wait there.
 */
#include "check.h"

#if PAWL_CHECKED

#include <stdlib.h>

/* Between two looks: a quarter of the limit, within these bounds. */
#define WATCH_SHORTEST UINT64_C(1000000)
#define WATCH_LONGEST UINT64_C(1000000000)

/* Of pawl_held.since, beside instants. */
#define WATCH_NOT_WAITING UINT64_C(0)
#define WATCH_REPORTED UINT64_MAX      /* as a long one; its holder may still go */
#define WATCH_SETTLED (UINT64_MAX - 1) /* nothing is left to say */

#define WATCH_UNASKED UINT64_MAX

/* ns; 0: no watch; WATCH_UNASKED: the environment has not been asked. Threads that ask at the same
 * time learn the same. The watch itself begins afterwards. */
static uint64_t watch_limit = WATCH_UNASKED;

/* Seconds, with a fraction if the user likes; 0 for anything else. */
static uint64_t watch_parse(const char *text)
{
    uint64_t limit = 0;
    uint64_t digit = UINT64_C(1000000000);
    for (; *text >= '0' && *text <= '9' && limit < UINT64_MAX / 1000; text++)
        limit = limit * 10 + (uint64_t)(*text - '0') * digit;
    if (*text == '.')
        for (text++; *text >= '0' && *text <= '9'; text++)
            limit += (uint64_t)(*text - '0') * (digit /= 10);
    return *text == 0 ? limit : 0;
}

/* ---- Reports --------------------------------------------------------------------------------- */

static void watch_report(const char *what, const struct pawl_check_call *call,
                         const struct pawl_check_view *view, uint64_t waited)
{
    ipawl_report_begin_(what, call);
    ipawl_report_say_("  the threads that hold it or wait for it, after %llu.%03llu s\n",
                      (unsigned long long)(waited / 1000000000u),
                      (unsigned long long)(waited / 1000000u % 1000u));
    ipawl_report_holders_(call, view);
}

static bool watch_has_lost_holder(const struct pawl_check_view *view)
{
    for (uint32_t i = 0; i < view->count && i < PAWL_VIEW_HOLDERS; i++)
        if (view->holders[i].gone && check_state(view->holders[i].what) != PAWL_STATE_U)
            return true;
    return false;
}

/* The entry's thread waits, for `waited` ns at least. */
static void watch_judge(struct pawl_held *held, uint64_t waited)
{
    /* The lock's memory may go as soon as its waiters have left: no site, the word is not read. */
    const struct pawl_check_call call = {
        check_lock_of(held), 0,           NULL, 0, check_bits(check_what_of(held)), CHECK_try,
        PAWL_STATE_U,        PAWL_STATE_U};
    struct pawl_check_view view;
    ipawl_check_view_(&call, false, &view);
    if (view.sound && watch_has_lost_holder(&view)) {
        watch_report("waits for a holder whose thread is gone", &call, &view, waited);
        held->since = WATCH_SETTLED;
        ipawl_report_end_(PAWL_REPORT_FAULT);
    } else if (waited >= pawl_load_relaxed64(&watch_limit) && held->since != WATCH_REPORTED) {
        watch_report("waits for long", &call, &view, waited);
        held->since = WATCH_REPORTED;
        ipawl_report_end_(PAWL_REPORT_NOTICE);
        (void)pawl_fetch_add_relaxed32(&check_here()->long_waits, 1);
    }
}

/* ---- Looks ----------------------------------------------------------------------------------- */

static bool watch_waits(uint32_t what)
{
    return check_wants(what) != PAWL_STATE_U && check_kind(what) != CHECK_try &&
           check_kind(what) != CHECK_drop;
}

static void watch_entry(struct pawl_check_line *line, struct pawl_held *held, uint64_t now)
{
    const ipawl_address_ lock = check_lock_of(held);
    const uint32_t turn = pawl_load_relaxed32(check_turn(line, lock));
    if (lock == 0 || !watch_waits(check_what_of(held))) {
        held->since = WATCH_NOT_WAITING;
    } else if (held->since == WATCH_NOT_WAITING || held->watched != turn) {
        held->watched = turn;
        held->since = now;
    } else if (held->since != WATCH_SETTLED) {
        watch_judge(held, held->since == WATCH_REPORTED ? pawl_load_relaxed64(&watch_limit)
                                                        : now - held->since);
    }
}

/* The number of the thread that holds such a lock, or 0. `holder`: its check_self, or number. */
static uint32_t watch_thread_of(uint32_t holder)
{
    const uint32_t lines = check_lines_used();
    for (uint32_t i = 0; i < lines; i++) {
        const struct pawl_check_line *const line = &check_here()->lines[i];
        if (check_owner(line) != 0 &&
            (check_owner(line) == holder || pawl_load_relaxed32(&line->self) == holder))
            return check_owner(line);
    }
    return 0;
}

static void watch_report_wait(const struct pawl_check_wait *wait, uint32_t thread, uint64_t waited)
{
    struct pawl_check_stack stack;
    uint32_t holder;
    ipawl_stack_copy_(&stack, &wait->stack);
    ipawl_report_open_("waits for long", wait->type,
                       PAWL_ADDRESS_(pawl_load_relaxed)(&wait->object));
    ipawl_report_say_("  for %llu.%03llu s\n    thread %u waits in %s, called at ",
                      (unsigned long long)(waited / 1000000000u),
                      (unsigned long long)(waited / 1000000u % 1000u), thread, wait->call);
    ipawl_report_stack_(&stack);
    holder = watch_thread_of(wait->holder);
    if (holder != 0)
        ipawl_report_say_("    thread %u%s had it when that wait began\n", holder,
                          pawl_os_thread_lives(holder) ? "" : ", which is gone,");
    else if (wait->holder != 0)
        ipawl_report_say_("    a thread that is gone had it when that wait began\n");
    ipawl_report_end_(PAWL_REPORT_NOTICE);
    (void)pawl_fetch_add_relaxed32(&check_here()->long_waits, 1);
}

static void watch_wait(struct pawl_check_wait *wait, uint32_t thread, uint64_t now)
{
    const uint32_t turn = pawl_load_relaxed32(&wait->turn);
    if (PAWL_ADDRESS_(pawl_load_relaxed)(&wait->object) == 0) {
        wait->since = WATCH_NOT_WAITING;
    } else if (wait->since == WATCH_NOT_WAITING || wait->watched != turn) {
        wait->watched = turn;
        wait->since = now;
    } else if (wait->since != WATCH_REPORTED &&
               now - wait->since >= pawl_load_relaxed64(&watch_limit)) {
        watch_report_wait(wait, thread, now - wait->since);
        wait->since = WATCH_REPORTED;
    }
}

static void watch_look(void)
{
    const uint64_t now = pawl_os_now();
    const uint32_t lines = check_lines_used();
    for (uint32_t i = 0; i < lines; i++) {
        struct pawl_check_line *const line = &check_here()->lines[i];
        if (check_owner(line) != 0)
            watch_wait(&line->wait, check_owner(line), now);
        for (uint32_t k = 0; check_owner(line) != 0 && k < check_used_of(line); k++)
            watch_entry(line, &line->held[k], now);
    }
}

static void watch_run(void *unused)
{
    static const uint32_t never = 0; /* no thread wakes the watch */
    uint64_t rest = pawl_load_relaxed64(&watch_limit) / 4;
    (void)unused;
    rest = rest < WATCH_SHORTEST ? WATCH_SHORTEST : rest > WATCH_LONGEST ? WATCH_LONGEST : rest;
    for (;;) {
        const uint64_t until = pawl_os_now() + rest;
        while (pawl_os_now() < until)
            (void)pawl_os_wait(&never, 0, until);
        watch_look();
    }
}

void ipawl_check_watch_(void)
{
    static struct pawl_own_thread thread = {watch_run, NULL, "pawl-watch"};
    const char *limit;
    uint32_t none = 0;
    if (pawl_load_relaxed32(&check_here()->watch) != 0)
        return;
    if (pawl_load_relaxed64(&watch_limit) == WATCH_UNASKED) {
        limit = getenv("PAWL_CHECK_WAIT");
        pawl_store_relaxed64(&watch_limit, limit == NULL ? 0 : watch_parse(limit));
    }
    if (pawl_load_relaxed64(&watch_limit) != 0 &&
        pawl_cas_relaxed32(&check_here()->watch, &none, 1) && !pawl_os_start_thread(&thread))
        pawl_store_relaxed32(&check_here()->watch, 0);
}

void ipawl_wait_begins_(const char *type, const void *object, const char *call, uint32_t holder,
                        const void *site)
{
    struct pawl_check_line *const line = check_line();
    struct pawl_check_stack stack;
    ipawl_check_watch_();
    if (line == NULL || pawl_load_relaxed32(&check_here()->watch) == 0)
        return;
    ipawl_stack_take_((ipawl_address_)(uintptr_t)site, line, &stack);
    ipawl_stack_copy_(&line->wait.stack, &stack);
    line->wait.type = type;
    line->wait.call = call;
    line->wait.holder = holder;
    (void)pawl_fetch_add_relaxed32(&line->wait.turn, 1);
    PAWL_ADDRESS_(pawl_store_relaxed)(&line->wait.object, (ipawl_address_)(uintptr_t)object);
}

void ipawl_wait_ends_(void)
{
    struct pawl_check_line *const line = check_line();
    if (line != NULL)
        PAWL_ADDRESS_(pawl_store_relaxed)(&line->wait.object, 0);
}

/* The parent's watch is not in the child. */
void ipawl_check_watch_after_fork_(void)
{
    pawl_store_relaxed32(&check_here()->watch, 0);
    pawl_store_relaxed64(&watch_limit, WATCH_UNASKED);
}

#endif
