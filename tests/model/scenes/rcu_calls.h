/* SPDX-License-Identifier: MIT */
/* What the scenes of RCU's callbacks share: the stage, and what most of their threads do. */
#pragma once

#include <pawl/detail/hook.h>
#include <pawl/rcu_call.h>

#include "../../../src/rcu/rcu_call.h"
#include "scenes.h"

#include <stddef.h>

#define OBJECTS 2
#define RETRY_NS 10000000 /* of the library: before another try to start a worker */

struct object {
    pawl_rcu_head head;
    uint32_t number;
};

struct stage {
    pawl_rcu_domain domain;
    struct object objects[OBJECTS];
    pawl_rcu_head fillers[3]; /* heads that are of no interest */
    struct object *shown;     /* the first one, while readers may find it */
    struct object *made;      /* not NULL: the first call has been made */
    uint32_t callers;         /* threads that are not the worker; 0: not told */
    uint32_t done;            /* callbacks that have run, for those who sleep until then */
    uint32_t called;          /* the same for a call that had to wait, and for a barrier */
    uint32_t again;           /* the same for a callback that has called */
    uint32_t inside;          /* and for a reader that has come in */
    uint32_t steps[2];        /* of a callback that takes two */
};
#define STAGE M_SCENE(struct stage)

/* Cells: the contents of each object (5, or 0 when it has been freed), and its story. */
#define CONTENTS(number) (number)
#define STORY(number) (OBJECTS + (number))
enum { UNCALLED, CALLED, HAS_RUN };

/* Sleeping until something in the scene has happened so often. */
static inline void tell(uint32_t *count)
{
    (void)pawl_fetch_add_relaxed32(count, 1);
    (void)pawl_hook_wake(count, UINT32_MAX);
}

static inline void sleep_until(const uint32_t *count, uint32_t wanted)
{
    uint32_t found;
    while ((found = pawl_load_relaxed32(count)) < wanted)
        (void)pawl_hook_wait(count, found, UINT64_MAX);
}

/* ---- Setting up ------------------------------------------------------------------------------ */

static inline void set_up(uint32_t lines)
{
    m_register_threads(lines);
    m_demand(pawl_rcu_domain_init(&STAGE->domain, "scene") == 0, M_PROGRESS, "no domain");
    for (uint32_t i = 0; i < OBJECTS; i++) {
        STAGE->objects[i].number = i;
        m_write(CONTENTS(i), 5);
        m_write(STORY(i), UNCALLED);
    }
    STAGE->shown = &STAGE->objects[0];
}

static inline void with_worker(void)
{
    set_up(2);
}

static inline void with_worker_and_one_caller(void)
{
    set_up(1);
    STAGE->callers = 1;
}

/* The callers are beyond the lines, and queue on the shard of all: fewer shards to look at. */
static inline void with_worker_and_one_shard(void)
{
    set_up(0);
    for (uint32_t i = 0; i < 2; i++) {
        m_become(i);
        *pawl_hook_thread_slot() = &process_here()->lines[PAWL_RCU_LINES + i];
    }
    m_become(0);
}

static inline void without_worker_and_one_shard(void)
{
    with_worker_and_one_shard();
    m_refuse_threads();
}

static inline void without_worker(void)
{
    set_up(2);
    m_refuse_threads();
}

/* The same where one head and one byte may be queued: a second call helps. */
static inline void limit_to_one(void)
{
    m_demand(pawl_rcu_domain_limit(&STAGE->domain, 1, 1, PAWL_RCU_HELP) == 0, M_PROGRESS,
             "no limit");
}

static inline void with_worker_at_one(void)
{
    with_worker();
    limit_to_one();
}

static inline void with_worker_and_one_caller_at_one(void)
{
    with_worker_and_one_caller();
    limit_to_one();
}

static inline void with_worker_and_one_shard_at_one(void)
{
    with_worker_and_one_shard();
    limit_to_one();
}

static inline void without_worker_and_one_shard_at_one(void)
{
    without_worker_and_one_shard();
    limit_to_one();
}

static inline void without_worker_at_one(void)
{
    without_worker();
    limit_to_one();
}

/* ---- Callbacks ------------------------------------------------------------------------------- */

static inline struct pawl_rcu_calls *calls_of_scene(void)
{
    return &calls_here()->calls[STAGE->domain.index];
}

/* In a callback: the child of a fork would know the worker, and who rings would not wake it. */
static inline void worker_is_known(void)
{
    const struct pawl_rcu_calls *calls = calls_of_scene();
    const bool is_worker = calls->worker == (ipawl_address_)(uintptr_t)pawl_hook_thread_slot();
    m_demand(is_worker || m_me() < STAGE->callers || STAGE->callers == 0, M_RESTORED,
             "the worker is not known");
    m_demand(!is_worker || calls->bell == 0, M_RESTORED, "the worker seems to sleep");
}

/* The callback: the object is freed. */
static inline void reclaim(pawl_rcu_head *head)
{
    const uint32_t number = ((struct object *)(void *)head)->number;
    m_demand(m_read(STORY(number)) == CALLED, M_VISIBILITY,
             "a callback ran twice, or without what was stored before its call");
    m_write(STORY(number), HAS_RUN);
    m_write(CONTENTS(number), 0);
    worker_is_known();
    tell(&STAGE->done);
}

static inline void counts(pawl_rcu_head *head)
{
    tell(&STAGE->done);
}

/* ---- Calls ----------------------------------------------------------------------------------- */

static inline int call(uint32_t number)
{
    m_write(STORY(number), CALLED);
    M_DO(int error =
             pawl_rcu_domain_call(&STAGE->domain, &STAGE->objects[number].head, reclaim, 1));
    return error;
}

static inline void must_call(uint32_t number)
{
    m_demand(call(number) == 0, M_PROGRESS, "a call is refused");
}

static inline void fill(uint32_t number, size_t bytes)
{
    M_STEP(pawl_rcu_domain_call(&STAGE->domain, &STAGE->fillers[number], counts, bytes));
}

static inline void hide(void)
{
    M_STEP(pawl_rcu_assign_pointer(STAGE->shown, NULL));
}

static inline void calls_first(void)
{
    hide();
    must_call(0);
}

static inline void calls_second(void)
{
    must_call(1);
}

static inline void calls_both(void)
{
    calls_first();
    calls_second();
}

/* Nobody but the caller can wake the worker. */
static inline void sleeps_until_done(uint32_t count)
{
    sleep_until(&STAGE->done, count);
}

static inline void calls_and_sleeps(void)
{
    must_call(0);
    sleeps_until_done(1);
}

static inline void calls_both_and_sleeps(void)
{
    calls_both();
    sleeps_until_done(2);
}

static inline void waits_for_all(void)
{
    M_STEP(pawl_rcu_domain_barrier(&STAGE->domain));
}

/* ---- The end --------------------------------------------------------------------------------- */

static inline void destroy(void)
{
    M_STEP(pawl_rcu_domain_destroy(&STAGE->domain));
}

static inline void all_have_run(void)
{
    destroy();
    for (uint32_t i = 0; i < OBJECTS; i++)
        m_demand(m_read(STORY(i)) != CALLED, M_PROGRESS, "a callback did not run");
}
