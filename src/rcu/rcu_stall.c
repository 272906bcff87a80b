/* SPDX-License-Identifier: MIT */
/* RCU: reports of readers that keep a grace period waiting. A program that does not ask for them
 * does not contain them: the driver calls them by a pointer. */
#include "rcu.h"

#include <stdio.h>
#include <string.h>

#include "../check/check.h"
#include "../base/base.h"

/* The settings of a domain; its fields change under a latch, one call after the other. */
struct wish {
    uint64_t ns;
    pawl_rcu_report *report;
    void *argument;
};

static struct wish stall_wish_of(struct pawl_rcu_state *state)
{
    struct pawl_latch *latch = &rcu_here()->stalls;
    struct wish wish;
    latch_take(latch);
    wish.ns = pawl_load_relaxed64(&state->stall_ns);
    wish.report = state->stall_report;
    wish.argument = state->stall_argument;
    latch_drop(latch);
    return wish;
}

static void stall_look(uint32_t index);

void pawl_rcu_domain_stall(pawl_rcu_domain *d, uint64_t ns, pawl_rcu_report *report, void *argument)
{
    struct pawl_rcu_state *state = rcu_state(d->index);
    struct pawl_latch *latch = &rcu_here()->stalls;
    (void)pawl_os_pin(); /* a driver in any copy of the library calls stall_look */
    latch_take(latch);
    PAWL_ADDRESS_(pawl_store_relaxed)(&state->stall_look, (ipawl_address_)(uintptr_t)stall_look);
    pawl_store_relaxed64(&state->stall_ns, 0); /* in a fork's child, until all are set */
    rcu_for_handlers();
    state->stall_report = report;
    state->stall_argument = argument;
    rcu_for_handlers();
    pawl_store_relaxed64(&state->stall_ns, ns);
    latch_drop(latch);
    /* A driver that sleeps without a deadline must learn the new time.
     * [RCU_TELL] release: a driver that reads the new turn sees the new time. */
    (void)pawl_fetch_add_release32(&state->turn, 1, PAWL_RCU_TELL);
    (void)pawl_os_wake(&state->turn, UINT32_MAX);
}

/* ---- The driver's side ----------------------------------------------------------------------- */

static void stall_say(const pawl_rcu_stall *stall, void *unused)
{
    char text[512];
    (void)unused;
    (void)snprintf(text, sizeof text,
                   "pawl: rcu domain %s: thread %lu %s%s%s has been reading for %llu ms%s%s\n",
                   stall->domain, (unsigned long)stall->thread, stall->name[0] != 0 ? "(" : "",
                   stall->name, stall->name[0] != 0 ? ")" : "",
                   (unsigned long long)(stall->age / 1000000u),
                   stall->entered[0] != 0 ? ", since " : "", stall->entered);
    pawl_os_complain(text, strlen(text));
}

static void stall_report_line(uint32_t index, uint32_t number, uint64_t age,
                              const struct wish *wish)
{
    char name[32], entered[1024];
    pawl_rcu_stall stall;
    stall.domain = rcu_name(index);
    stall.thread = pawl_load_relaxed32(rcu_line_owner(number));
    stall.age = age;
    stall.name = name;
    stall.entered = entered;
    pawl_os_thread_name(stall.thread, name, sizeof name);
    entered[0] = 0;
#if PAWL_CHECKED
    ipawl_report_name_(PAWL_ADDRESS_(pawl_load_relaxed)(&rcu_line(number)->entered[index]), entered,
                       sizeof entered);
#endif
    PAWL_PROBE3(rcu_stall, stall.domain, stall.thread, age);
    (wish->report != NULL ? wish->report : stall_say)(&stall, wish->argument);
}

/* For readers that are counted apart the report says only that there are some. */
static void stall_report_apart(uint32_t index, uint64_t age, const struct wish *wish)
{
    const pawl_rcu_stall stall = {rcu_name(index), 0, "", age, ""};
    PAWL_PROBE3(rcu_stall, stall.domain, stall.thread, age);
    (wish->report != NULL ? wish->report : stall_say)(&stall, wish->argument);
}

/* Reports the old readers if a report is due. Only the driver calls it. */
static void stall_look(uint32_t index)
{
    struct pawl_rcu_state *state = rcu_state(index);
    const uint64_t due = rcu_stall_next_age(state);
    struct wish wish;
    uint64_t age;
    if (due == 0)
        return;
    age = pawl_os_now() - state->stall_since;
    if (age < due)
        return;
    state->stall_age = age;
    wish = stall_wish_of(state);
    for (uint32_t i = 0; i < state->lines; i++)
        if (*rcu_line_old(state, i) != 0)
            stall_report_line(index, i, age, &wish);
    if (state->apart_old != 0)
        stall_report_apart(index, age, &wish);
}
