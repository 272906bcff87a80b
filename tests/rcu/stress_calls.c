/* SPDX-License-Identifier: MIT */
/*
 * RCU callbacks under everything at once: threads that come and go read, replace and call, with
 * limits that change, barriers, forks of children that finish what they have, callbacks that call
 * again, and domains that end. Each callback must run once, with no reader left that can reach its
 * object, and the limit must hold. Rounds get longer until the time is over (PAWL_STRESS_SECONDS);
 * what a thread does follows from the seed (--seed=N).
 */
#include "test.h"

#include <pawl/rcu_call.h>

enum { THREADS = 8, SLOTS = 16, FIRST_STEPS = 200, LIMIT = 500, ALIVE = 0x600d, DEAD = 0xdead };

struct object {
    uint32_t life;
    uint32_t again; /* times that the callback calls once more */
    pawl_rcu_head head;
    pawl_rcu_domain *domain;
    uint64_t *freed;
};

struct shared {
    pawl_rcu_domain domain;
    struct object *slots[SLOTS];
    uint64_t made, freed;
    unsigned steps;
    uint64_t seed;
};

static void bury(pawl_rcu_head *head)
{
    struct object *o = (struct object *)(void *)((char *)head - offsetof(struct object, head));
    must(pawl_load_relaxed32(&o->life) == ALIVE);
    if (o->again > 0) {
        o->again--;
        if (pawl_rcu_domain_call(o->domain, head, bury, sizeof *o) == 0)
            return; /* it may be gone by now */
    }
    pawl_store_relaxed32(&o->life, DEAD);
    (void)pawl_fetch_add_relaxed64(o->freed, 1);
    free(o);
}

static struct object *make(struct shared *s, uint64_t *random)
{
    struct object *o = (struct object *)calloc(1, sizeof *o);
    must(o != NULL);
    o->life = ALIVE;
    o->again = test_random_below(random, 16) == 0;
    o->domain = &s->domain;
    o->freed = &s->freed;
    (void)pawl_fetch_add_relaxed64(&s->made, 1);
    return o;
}

static void read_some(struct shared *s, uint64_t *random)
{
    unsigned looks = 1 + test_random_below(random, 20);
    pawl_rcu_domain_read_lock(&s->domain);
    while (looks-- > 0) {
        struct object *o =
            pawl_rcu_domain_dereference(&s->domain, s->slots[test_random_below(random, SLOTS)]);
        if (test_random_below(random, 50) == 0)
            sched_yield();
        if (o != NULL)
            must(pawl_load_relaxed32(&o->life) == ALIVE);
    }
    pawl_rcu_domain_read_unlock(&s->domain);
}

/* In a section a full domain refuses, and the object waits outside. */
static void replace_some(struct shared *s, uint64_t *random, bool inside)
{
    if (inside)
        pawl_rcu_domain_read_lock(&s->domain);
    struct object *old =
        pawl_rcu_xchg_pointer(&s->slots[test_random_below(random, SLOTS)], make(s, random));
    int error = old == NULL ? 0 : pawl_rcu_domain_call(&s->domain, &old->head, bury, sizeof *old);
    if (inside)
        pawl_rcu_domain_read_unlock(&s->domain);
    if (error != 0) {
        must(error == EAGAIN || (inside && error == EDEADLK));
        pawl_rcu_domain_synchronize(&s->domain);
        bury(&old->head);
    }
}

static void change_limit(struct shared *s, uint64_t *random)
{
    const pawl_rcu_policy policy = (pawl_rcu_policy)test_random_below(random, 3);
    must(pawl_rcu_domain_limit(&s->domain, 1 + test_random_below(random, LIMIT), PAWL_RCU_NO_LIMIT,
                               policy) == 0);
}

static void check_bound(struct shared *s)
{
    pawl_rcu_statistics statistics;
    pawl_rcu_domain_statistics(&s->domain, &statistics);
    /* Each thread may have been between two looks at a limit that changes. */
    must(statistics.queued <= LIMIT + THREADS);
}

static void fork_and_finish(struct shared *s)
{
    const pid_t child = fork();
    must(child >= 0);
    if (child == 0) {
        pawl_rcu_statistics statistics;
        alarm(TEST_HANGS);
        do { /* callbacks that call again */
            must(pawl_rcu_domain_barrier(&s->domain) == 0);
            pawl_rcu_domain_statistics(&s->domain, &statistics);
        } while (statistics.queued != 0);
        _exit(0);
    }
    must(test_wait(child) == 0);
}

static void body(void *argument, unsigned index)
{
    struct shared *s = (struct shared *)argument;
    uint64_t random = s->seed + index * UINT64_C(0x9e3779b97f4a7c15);
    for (unsigned i = 0; i < s->steps; i++) {
        switch (test_random_below(&random, 400)) {
        case 0: must(pawl_rcu_domain_barrier(&s->domain) == 0); break;
        case 1: change_limit(s, &random); break;
        case 2: check_bound(s); break;
        case 3:
            if (index == 0 && !TEST_SANITIZED && test_random_below(&random, 10) == 0)
                fork_and_finish(s);
            break;
        default:
            if (test_random_below(&random, 3) == 0)
                replace_some(s, &random, test_random_below(&random, 8) == 0);
            else
                read_some(s, &random);
        }
    }
}

static void round_of(unsigned steps, uint64_t seed)
{
    static struct shared s;
    memset(&s, 0, sizeof s);
    s.steps = steps;
    s.seed = seed;
    must(pawl_rcu_domain_init(&s.domain, "stress") == 0);
    must(pawl_rcu_domain_limit(&s.domain, LIMIT, PAWL_RCU_NO_LIMIT, PAWL_RCU_HELP) == 0);
    test_threads(THREADS, body, &s);
    for (unsigned i = 0; i < SLOTS; i++)
        if (s.slots[i] != NULL)
            while (pawl_rcu_domain_call(&s.domain, &s.slots[i]->head, bury, 1) == EAGAIN)
                must(pawl_rcu_domain_barrier(&s.domain) == 0);
    pawl_rcu_domain_destroy(&s.domain);
    must(s.made == s.freed);
}

TEST_CASE(every_callback_runs_once_and_never_too_early)
{
    const double end = test_now() + test_seconds(3);
    uint64_t seed = test_seed();
    unsigned steps = FIRST_STEPS;
    unsigned rounds = 0;
    do {
        round_of(steps, test_random(&seed));
        rounds++;
        if (steps < 20000)
            steps *= 2;
    } while (test_now() < end);
    print_message("%u rounds\n", rounds);
}

TEST_MAIN()
