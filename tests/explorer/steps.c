/* SPDX-License-Identifier: MIT */
/* Threads that the test moves one access at a time (steps.h). */
#include "explorer/internal.h"

struct sim_thread sim_all[SIM_THREADS];
unsigned sim_count;
struct sim_record sim_records[SIM_RECORDS];
unsigned sim_recorded;
bool sim_shares;
bool sim_no_locks;

static bool on;
static struct pawl_thread_line *own_line;
static _Thread_local struct sim_thread *self;

bool sim_is_on(void)
{
    return on;
}

/* ---- The threads' side ----------------------------------------------------------------------- */

/* ThreadSanitizer ignores the accesses inside a lock operation, but must see the explorer's
 * hand-over there. An operation of something that is no lock has no such inside. */
static void outside_lock(bool outside)
{
#if PAWL_TSAN_
    if (sim_no_locks)
        return;
    if (outside)
        __tsan_mutex_pre_divert(NULL, 0);
    else
        __tsan_mutex_post_divert(NULL, 0);
#else
#endif
}

static void wait_for(sem_t *semaphore)
{
    while (sem_wait(semaphore) != 0)
        must(errno == EINTR);
}

/* Stands still until the test lets the thread make the access. */
static void stand(const struct pawl_operation *operation)
{
    outside_lock(true);
    self->next = *operation;
    must(sem_post(&self->stands) == 0);
    wait_for(&self->go);
    outside_lock(false);
}

uint64_t sim_access(const struct pawl_operation *operation)
{
    if (self)
        stand(operation);
    uint64_t found = sched_make(operation);
    must(sim_recorded < SIM_RECORDS);
    sim_records[sim_recorded].thread = self ? (unsigned)(self - sim_all) : sim_test_itself;
    sim_records[sim_recorded].operation = *operation;
    sim_records[sim_recorded++].found = found;
    return found;
}

void sim_relaxed(void)
{
}

bool sim_may_not_sleep(void)
{
    return true;
}

uint32_t sim_thread_id(void)
{
    return self ? (uint32_t)(self - sim_all) + 2 : 1;
}

struct pawl_thread_line **sim_thread_slot(void)
{
    return self ? &self->line : &own_line;
}

/* ---- The test's side ------------------------------------------------------------------------- */

void sim_begin(void)
{
    on = true;
    for (; sim_count > 0; sim_count--)
        must(sim_all[sim_count - 1].ended); /* otherwise a test has failed and the run is void */
    sim_recorded = 0;
}

static void *thread_main(void *thread)
{
    self = (struct sim_thread *)thread;
    self->body(self->argument);
    self->ended = true;
    must(sem_post(&self->stands) == 0);
    return NULL;
}

unsigned sim_start(void (*body)(void *), void *argument)
{
    struct sim_thread *t = &sim_all[sim_count];
    must(sim_count < SIM_THREADS);
    t->body = body;
    t->argument = argument;
    t->ended = false;
    must(sem_init(&t->go, 0, 0) == 0 && sem_init(&t->stands, 0, 0) == 0);
    t->id = test_start(thread_main, t);
    wait_for(&t->stands);
    return sim_count++;
}

void sim_step(unsigned thread)
{
    struct sim_thread *t = &sim_all[thread];
    must(!t->ended);
    must(sem_post(&t->go) == 0);
    wait_for(&t->stands);
}

void sim_until(unsigned thread, enum pawl_tag tag)
{
    for (unsigned i = 0; sim_all[thread].next.tag != tag; i++) {
        must(i < SIM_PATIENCE);
        sim_step(thread);
    }
}

bool sim_ends(unsigned thread)
{
    for (unsigned i = 0; i < SIM_PATIENCE && !sim_all[thread].ended; i++)
        sim_step(thread);
    return sim_all[thread].ended;
}

bool sim_only_reads(unsigned thread, unsigned count)
{
    for (; count > 0; count--) {
        if (sim_all[thread].ended || sim_all[thread].next.kind != PAWL_HOOK_LOAD)
            return false;
        sim_step(thread);
    }
    return !sim_all[thread].ended;
}

void sim_end(void)
{
    for (unsigned i = 0; i < sim_count; i++) {
        must(sim_all[i].ended);
        test_join(sim_all[i].id);
        sem_destroy(&sim_all[i].go);
        sem_destroy(&sim_all[i].stands);
    }
}
