/* SPDX-License-Identifier: MIT */
/* What the explorer's own files share. */
#pragma once

#include "explorer/explorer.h"
#include "explorer/steps.h"

enum sched_state { SCHED_RUNS, SCHED_POLLS, SCHED_SLEEPS, SCHED_ENDED };

struct sched_thread {
    enum sched_state state;
    const uint32_t *address; /* the address of its sleep, and the kind */
    uint32_t classes;
    uint64_t deadline;
    unsigned asleep_since;
    bool timed_out;
    bool dropping, gave; /* for sched_drop_begins: it has released the lock */
};
extern struct sched_thread sched_threads[SCHED_THREADS];

/* Pollers may find another value now. */
void sched_somebody_wrote(void);
void sched_somebody_woke(void);

/* Whether the explorer prints each access. */
bool sched_prints(void);

/* Carries an access out. */
uint64_t sched_make(const struct pawl_operation *operation);

/* states.c: the states of a walk. states_visit is for the state before choice number `depth`, which
 * the choice before it led to; false: it was seen before. states_finish: whether all states lead to
 * the end; prints a way to one that does not. */
void states_begin(const struct sched_memory *memory);
bool states_are_kept(void);
bool states_visit(unsigned depth, unsigned last_choice);
void states_ended(unsigned depth);
bool states_finish(unsigned scene, bool stuck, unsigned *count);

/* The part of the stack that the thread uses; empty before its first step. In a walk only. */
void sched_stack_in_use(unsigned thread, const char **from, const char **to);

/* steps.c: whether the caller is one of its threads, or the test that moves them. */
bool sim_is_on(void);
uint64_t sim_access(const struct pawl_operation *operation);
void sim_relaxed(void);
bool sim_may_not_sleep(void);
