/* SPDX-License-Identifier: MIT */
/* The lock and the three threads of each test of conformance. */
#pragma once

#include "actors.h"

static pthread_rwlock_t lock;
static struct actor one, two, three;

static inline void fresh(pthread_rwlock_t *l, int kind)
{
    pthread_rwlockattr_t attributes;
    must(pthread_rwlockattr_init(&attributes) == 0);
    must(pthread_rwlockattr_setkind_np(&attributes, kind) == 0);
    must(pthread_rwlock_init(l, &attributes) == 0);
    must(pthread_rwlockattr_destroy(&attributes) == 0);
}

/* Ways in which a lock ends, or begins. */
static inline int destroy(pthread_rwlock_t *l)
{
    return pthread_rwlock_destroy(l);
}

static inline int make_anew(pthread_rwlock_t *l)
{
    return pthread_rwlock_init(l, NULL);
}

static inline int make_zero(pthread_rwlock_t *l)
{
    memset(l, 0, sizeof *l);
    return 0;
}

static inline int start_actors(void **state)
{
    actor_start(&one);
    actor_start(&two);
    actor_start(&three);
    fresh(&lock, PTHREAD_RWLOCK_DEFAULT_NP);
    return 0;
}

static inline int end_actors(void **state)
{
    assert_int_equal(pthread_rwlock_trywrlock(&lock), 0); /* every test leaves it free */
    assert_int_equal(pthread_rwlock_unlock(&lock), 0);
    assert_int_equal(pthread_rwlock_destroy(&lock), 0);
    actor_end(&one);
    actor_end(&two);
    actor_end(&three);
    return 0;
}

/* Nobody holds it: a thread that holds nothing can write. */
static inline void assert_free(pthread_rwlock_t *l)
{
    assert_int_equal(pthread_rwlock_trywrlock(l), 0);
    assert_int_equal(pthread_rwlock_unlock(l), 0);
}

#define ACTOR_CASE(name) TEST_CASE_WITH(name, start_actors, end_actors)
