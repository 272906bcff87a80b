/* SPDX-License-Identifier: MIT */
/*
 * Threads that move one access at a time, for the hook variant: the test says who makes the next
 * access, so that an interleaving is written down and not hoped for. Each simulated thread is a
 * real one that stands still before each of its accesses until the test lets it make it. The test's
 * own calls go through at once. Every access is kept in a record.
 *
 *   sim_begin();
 *   unsigned reader = sim_start(take_read, &lock);   stands before its first access
 *   sim_step(reader);                                 makes one access, stands before the next
 *   sim_until(reader, PAWL_SPIN_R_TAKE);              ... before the access with this tag
 *   assert_true(sim_ends(reader));                    ... until it ends; false: it only waits
 *   sim_end();                                        all must have ended
 *
 * Include it in one file of a program.
 */
#ifndef PAWL_TESTS_SIMULATION_H
#define PAWL_TESTS_SIMULATION_H

#include "test.h"

#include <pawl/detail/hook.h>
#include <pawl/spin.h>

#include <semaphore.h>

enum { SIM_THREADS = 64, SIM_RECORDS = 65536, SIM_PATIENCE = 2000 };

struct sim_thread {
    pthread_t id;
    sem_t go, stands;
    void (*body)(void *);
    void *argument;
    bool ended;
    struct pawl_operation next; /* the access that it stands before */
};

struct sim_record {
    unsigned thread;
    struct pawl_operation operation;
    uint64_t found;
};

static struct sim_thread sim_all[SIM_THREADS];
static const unsigned sim_test_itself = SIM_THREADS; /* its number in the record */
static unsigned sim_count;
static struct sim_record sim_records[SIM_RECORDS];
static unsigned sim_recorded;
static unsigned sim_relaxes;
static uint64_t sim_clock;
#ifdef __cplusplus
static thread_local struct sim_thread *sim_self;
#else
static _Thread_local struct sim_thread *sim_self;
#endif

/* ---- The hooks ------------------------------------------------------------------------------- */

/* For a hook that a spinlock has no business to call. */
static void never(const char *what)
{
    fprintf(stderr, "%s\n", what);
    abort();
}

static uint64_t sim_load(const void *p, unsigned width)
{
    switch (width) {
    case 1: return *(const uint8_t *)p;
    case 2: return *(const uint16_t *)p;
    case 4: return *(const uint32_t *)p;
    default: return *(const uint64_t *)p;
    }
}

static void sim_store(void *p, unsigned width, uint64_t value)
{
    switch (width) {
    case 1: *(uint8_t *)p = (uint8_t)value; break;
    case 2: *(uint16_t *)p = (uint16_t)value; break;
    case 4: *(uint32_t *)p = (uint32_t)value; break;
    default: *(uint64_t *)p = value; break;
    }
}

static uint64_t sim_make(const struct pawl_operation *o)
{
    const uint64_t found = sim_load(o->address, o->width);
    uint64_t made = found;
    switch (o->kind) {
    case PAWL_STORE:
    case PAWL_EXCHANGE: made = o->operand; break;
    case PAWL_ADD: made = found + o->operand; break;
    case PAWL_SUB: made = found - o->operand; break;
    case PAWL_AND: made = found & o->operand; break;
    case PAWL_OR: made = found | o->operand; break;
    case PAWL_XOR: made = found ^ o->operand; break;
    case PAWL_COMPARE_EXCHANGE: made = found == o->expected ? o->operand : found; break;
    default: break;
    }
    if (made != found)
        sim_store(o->address, o->width, made);
    return found;
}

/* ThreadSanitizer ignores all that a lock operation does inside; not so our own hand-over there.
 * What is not a lock (SIM_NO_LOCKS, defined before this file) has no inside. */
#if PAWL_TSAN_ && !defined(SIM_NO_LOCKS)
#define SIM_OUTSIDE_LOCK() __tsan_mutex_pre_divert(NULL, 0)
#define SIM_INSIDE_LOCK() __tsan_mutex_post_divert(NULL, 0)
#else
#define SIM_OUTSIDE_LOCK() ((void)0)
#define SIM_INSIDE_LOCK() ((void)0)
#endif

/* Stands still until the test lets us make the access. */
static void sim_stand(const struct pawl_operation *operation)
{
    SIM_OUTSIDE_LOCK();
    sim_self->next = *operation;
    must(sem_post(&sim_self->stands) == 0);
    while (sem_wait(&sim_self->go) != 0)
        must(errno == EINTR);
    SIM_INSIDE_LOCK();
}

uint64_t pawl_hook_atomic(const struct pawl_operation *operation)
{
    uint64_t found;
    if (sim_self)
        sim_stand(operation);
    found = operation->kind == PAWL_FENCE ? 0 : sim_make(operation);
    must(sim_recorded < SIM_RECORDS);
    sim_records[sim_recorded].thread = sim_self ? (unsigned)(sim_self - sim_all) : sim_test_itself;
    sim_records[sim_recorded].operation = *operation;
    sim_records[sim_recorded++].found = found;
    return found;
}

void pawl_hook_relax(void)
{
    sim_relaxes++;
}

void pawl_hook_yield(void)
{
}

bool pawl_hook_wait(const uint32_t *address, uint32_t expected, uint64_t deadline)
{
    (void)address, (void)expected, (void)deadline;
    never("a spinlock never sleeps");
    return false;
}

unsigned pawl_hook_wake(const uint32_t *address, unsigned count)
{
    (void)address, (void)count;
    return 0;
}

uint64_t pawl_hook_now(void)
{
    return ++sim_clock;
}

uint32_t pawl_hook_thread_id(void)
{
    return sim_self ? (uint32_t)(sim_self - sim_all) + 2 : 1;
}

struct pawl_thread_line **pawl_hook_thread_slot(void)
{
    static struct pawl_thread_line *slots[SIM_THREADS + 1];
    return &slots[pawl_hook_thread_id() - 1];
}

#ifndef SIM_SHARES /* a test whose primitive has process-wide objects defines it before */
void *pawl_hook_shared(void *object)
{
    never("a spinlock needs nothing that is process-wide");
    return object;
}
#endif

/* ---- Moving the threads ---------------------------------------------------------------------- */

static inline void sim_begin(void)
{
    for (; sim_count > 0; sim_count--)
        must(sim_all[sim_count - 1].ended); /* else a test has failed, and all is lost */
    sim_recorded = 0;
}

static inline void *sim_main(void *self)
{
    sim_self = (struct sim_thread *)self;
    sim_self->body(sim_self->argument);
    sim_self->ended = true;
    must(sem_post(&sim_self->stands) == 0);
    return NULL;
}

static inline void sim_wait(struct sim_thread *t)
{
    while (sem_wait(&t->stands) != 0)
        must(errno == EINTR);
}

/* Starts body(argument); returns when it stands before its first access. */
static inline unsigned sim_start(void (*body)(void *), void *argument)
{
    struct sim_thread *t = &sim_all[sim_count];
    must(sim_count < SIM_THREADS);
    t->body = body;
    t->argument = argument;
    t->ended = false;
    must(sem_init(&t->go, 0, 0) == 0 && sem_init(&t->stands, 0, 0) == 0);
    must(pthread_create(&t->id, NULL, sim_main, t) == 0);
    sim_wait(t);
    return sim_count++;
}

static inline void sim_step(unsigned thread)
{
    struct sim_thread *t = &sim_all[thread];
    must(!t->ended);
    must(sem_post(&t->go) == 0);
    sim_wait(t);
}

/* Moves on until the thread stands before an access with this tag. */
static inline void sim_until(unsigned thread, enum pawl_tag tag)
{
    unsigned i;
    for (i = 0; sim_all[thread].next.tag != tag; i++) {
        must(i < SIM_PATIENCE);
        sim_step(thread);
    }
}

/* Moves on until the thread ends. False when it has made so many accesses that it only waits. */
static inline bool sim_ends(unsigned thread)
{
    unsigned i;
    for (i = 0; i < SIM_PATIENCE && !sim_all[thread].ended; i++)
        sim_step(thread);
    return sim_all[thread].ended;
}

/* Makes `count` accesses, none of which may write or end the thread: it waits. */
static inline bool sim_only_reads(unsigned thread, unsigned count)
{
    for (; count > 0; count--) {
        if (sim_all[thread].ended || sim_all[thread].next.kind != PAWL_LOAD)
            return false;
        sim_step(thread);
    }
    return !sim_all[thread].ended;
}

static inline void sim_end(void)
{
    unsigned i;
    for (i = 0; i < sim_count; i++) {
        must(sim_all[i].ended);
        must(pthread_join(sim_all[i].id, NULL) == 0);
        sem_destroy(&sim_all[i].go);
        sem_destroy(&sim_all[i].stands);
    }
}

/* ---- Bodies that most tests need ------------------------------------------------------------- */

/* One call by a simulated thread, and what it returned. */
struct sim_call {
    pawl_spin32 *lock;
    bool result;
};

#define SIM_RETURN_void(call) ((call), true)
#define SIM_RETURN_bool(call) (call)
#define PAWL_OP(result_, name, kind, from, to, cost)                                               \
    static inline void sim_##name(void *call)                                                      \
    {                                                                                              \
        struct sim_call *c = (struct sim_call *)call;                                              \
        c->result = SIM_RETURN_##result_(pawl_spin32_##name(c->lock));                             \
    }
#include <pawl/detail/transitions.def>

static inline unsigned sim_words_w(const pawl_spin32 *l)
{
    return l->word / PAWL_SPIN32_W;
}

static inline unsigned sim_words_s(const pawl_spin32 *l)
{
    return l->word % PAWL_SPIN32_W / PAWL_SPIN32_S;
}

static inline unsigned sim_words_r(const pawl_spin32 *l)
{
    return l->word % PAWL_SPIN32_S / PAWL_SPIN32_R;
}

#endif
