/* SPDX-License-Identifier: MIT */
/*
 * One schedule that the test writes down: it names the thread that makes the next access, so no
 * interleaving depends on chance. Each simulated thread is a real one. It stands still before each
 * of its accesses until the test lets it continue. The test's own calls go through at once. A
 * record keeps every access.
 *
 *   sim_begin();
 *   unsigned reader = sim_start(take_read, &lock);   stands before its first access
 *   sim_step(reader);                                 makes one access, stands before the next
 *   sim_until(reader, PAWL_SPIN_R_TAKE);              ... before the access with this tag
 *   assert_true(sim_ends(reader));                    ... until it ends; false: it only waits
 *   sim_end();                                        all must have ended
 *
 * From sim_begin on the explorer (explorer.h) belongs to these threads.
 */
#pragma once

#include "test.h"

#include <pawl/detail/hook.h>
#include <pawl/spin.h>
#include <pawl/thread.h>

#include <semaphore.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { SIM_THREADS = 64, SIM_RECORDS = 65536, SIM_PATIENCE = 2000 };

struct sim_thread {
    pthread_t id;
    sem_t go, stands;
    void (*body)(void *);
    void *argument;
    bool ended;
    struct pawl_operation next; /* the access that it stands before */
    struct pawl_thread_line *line;
};

struct sim_record {
    unsigned thread;
    struct pawl_operation operation;
    uint64_t found;
};

static const unsigned sim_test_itself = SIM_THREADS; /* its number in the record */
extern struct sim_thread sim_all[SIM_THREADS];
extern unsigned sim_count;
extern struct sim_record sim_records[SIM_RECORDS];
extern unsigned sim_recorded;

/* The kind of object that the threads use, set before sim_begin. With neither flag it is a
 * spinlock, which never sleeps and uses no process-wide objects. */
extern bool sim_shares;   /* it may use the process-wide objects */
extern bool sim_no_locks; /* ThreadSanitizer sees no lock in it (steps.c) */

void sim_begin(void);

/* Starts body(argument); returns when the thread stands before its first access. */
unsigned sim_start(void (*body)(void *), void *argument);
void sim_step(unsigned thread);

/* Lets the thread run until it stands before an access with this tag. */
void sim_until(unsigned thread, enum pawl_tag tag);

/* Lets the thread run until it ends. False: it has made so many accesses that it only waits. */
bool sim_ends(unsigned thread);

/* Lets the thread make `count` accesses, none of which may write or end it: it waits. */
bool sim_only_reads(unsigned thread, unsigned count);

void sim_end(void);

uint32_t sim_thread_id(void);
struct pawl_thread_line **sim_thread_slot(void);

#ifdef __cplusplus
}
#endif

/* ---- Bodies that most tests need ------------------------------------------------------------- */

/* One call by a simulated thread, and what it returned. */
struct sim_call {
    pawl_spin32 *lock;
    bool result;
};

#define SIM_RETURN_void(call) ((call), true)
#define SIM_RETURN_bool(call) (call)
#define SIM_RETURN_pawl_regained(call) ((call) == PAWL_REGAIN_KEPT)
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
