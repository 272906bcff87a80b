/* SPDX-License-Identifier: MIT */
/*
 * RCU lists and chains with readers beside writers, more threads than cores. Some places are always
 * in, though whoever stands there is replaced all the time; guests come and go between them. Each
 * walk meets each place exactly once and in order, and nobody that was freed: what is freed is
 * overwritten first, by the callback or by whoever waited for the grace period.
 */
#include "test.h"

#include <pawl/rcu_call.h>
#include <pawl/rcu_list.h>
#include <pawl/spin.h>

enum { PLACES = 6, GUESTS = 4, THREADS = 12, FIRST_STEPS = 2000, GUEST = -1 };

#define ALIVE UINT64_C(0x600d600d600d600d)

struct element {
    uint64_t alive;
    int place;
    uint64_t number, twice; /* plain: written before it is added, and by the freer */
    pawl_list link;
    pawl_hlist_node chain;
    pawl_rcu_head head;
};

struct shared {
    pawl_spin32 lock;
    pawl_list list;
    pawl_hlist chain;
    struct element *in[PLACES], *guests[GUESTS];
    uint64_t number;
    uint64_t made, freed; /* freed: atomic */
    unsigned steps;
    uint64_t seed;
};

static struct shared s;

static struct element *new_element(int place)
{
    struct element *e = (struct element *)malloc(sizeof *e);
    must(e != NULL);
    memset(e, 0, sizeof *e);
    e->alive = ALIVE;
    e->place = place;
    e->number = ++s.number;
    e->twice = 2 * e->number;
    s.made++;
    return e;
}

static void free_now(struct element *e)
{
    must(e->alive == ALIVE);
    memset(e, 0xdd, sizeof *e);
    free(e);
    pawl_fetch_add_relaxed64(&s.freed, 1);
}

static void free_later(pawl_rcu_head *head)
{
    free_now((struct element *)((char *)head - offsetof(struct element, head)));
}

/* One of the ways to wait for a grace period. */
static void dispose(struct element *e, unsigned how)
{
    uint64_t cookie;
    switch (how) {
    case 0:
        pawl_rcu_synchronize();
        free_now(e);
        return;
    case 1:
        cookie = pawl_rcu_start_poll();
        test_await(pawl_rcu_poll(cookie));
        free_now(e);
        return;
    default: must(pawl_rcu_call(&e->head, free_later, sizeof *e) == 0);
    }
}

static struct element *replace_place(unsigned place)
{
    struct element *old = s.in[place], *fresh = new_element((int)place);
    must(pawl_list_replace_rcu(&old->link, &fresh->link));
    must(pawl_hlist_replace_rcu(&old->chain, &fresh->chain));
    s.in[place] = fresh;
    return old;
}

/* The guest comes, behind a place or in front, or goes. Who went, or NULL. */
static struct element *turn_guest(unsigned guest, unsigned place)
{
    struct element *e = s.guests[guest];
    if (e != NULL) {
        must(pawl_list_del_rcu(&e->link));
        must(pawl_hlist_del_rcu(&e->chain));
        s.guests[guest] = NULL;
        return e;
    }
    e = s.guests[guest] = new_element(GUEST);
    if (place == PLACES) {
        pawl_list_add_rcu(&e->link, &s.list);
        pawl_hlist_add_rcu(&e->chain, &s.chain);
    } else {
        pawl_list_add_tail_rcu(&e->link, &s.in[place]->link);
        pawl_hlist_add_before_rcu(&e->chain, &s.in[place]->chain);
    }
    return NULL;
}

static void write_once(uint64_t *random)
{
    struct element *gone;
    pawl_spin32_take_write(&s.lock);
    if (test_random_below(random, 2))
        gone = replace_place(test_random_below(random, PLACES));
    else
        gone = turn_guest(test_random_below(random, GUESTS), test_random_below(random, PLACES + 1));
    pawl_spin32_drop_write(&s.lock);
    if (gone != NULL)
        dispose(gone, test_random_below(random, 16));
}

static void meet(const struct element *e, int *place)
{
    must(e->alive == ALIVE && e->twice == 2 * e->number);
    if (e->place != GUEST)
        must(e->place == (*place)++);
}

static void read_once(uint64_t *random)
{
    const struct element *e;
    int place = 0;
    const unsigned rest = test_random_below(random, 64); /* where to let others run */
    pawl_rcu_read_lock();
    if (test_random_below(random, 2))
        pawl_list_for_each_rcu(e, &s.list, link) {
            meet(e, &place);
            if ((unsigned)place == rest)
                sched_yield();
        }
    else
        pawl_hlist_for_each_rcu(e, &s.chain, chain) {
            meet(e, &place);
            if ((unsigned)place == rest)
                sched_yield();
        }
    must(place == PLACES);
    pawl_rcu_read_unlock();
}

static void work(void *unused, unsigned index)
{
    uint64_t random = s.seed + index * UINT64_C(0x632be59bd9b4e019);
    for (unsigned i = 0; i < s.steps; i++)
        if (test_random_below(&random, index < 2 ? 2 : 32) == 0)
            write_once(&random);
        else
            read_once(&random);
}

static void begin(unsigned steps, uint64_t seed)
{
    memset(&s, 0, sizeof s);
    s.steps = steps;
    s.seed = seed;
    pawl_list_init(&s.list);
    for (int i = PLACES - 1; i >= 0; i--) {
        s.in[i] = new_element(i);
        pawl_list_add_rcu(&s.in[i]->link, &s.list);
        pawl_hlist_add_rcu(&s.in[i]->chain, &s.chain);
    }
}

/* Takes apart what is left; then all that was made has been freed. */
static void end(void)
{
    struct element *e;
    while ((e = pawl_list_first(struct element, &s.list, link)) != NULL) {
        must(pawl_list_del_rcu(&e->link) && pawl_hlist_del_rcu(&e->chain));
        dispose(e, 0);
    }
    assert_true(pawl_hlist_is_empty(&s.chain));
    assert_int_equal(pawl_rcu_barrier(), 0);
    assert_true(pawl_load_relaxed64(&s.freed) == s.made);
}

TEST_CASE(a_walk_meets_what_stays_exactly_once_and_nobody_who_was_freed)
{
    const double over = test_now() + test_seconds(3);
    unsigned steps = TEST_SCALE(FIRST_STEPS), rounds = 0;
    uint64_t seed = test_seed();
    do {
        static const unsigned crowds[] = {2, 3, THREADS};
        const unsigned threads = crowds[rounds % 3];
        print_message("%u threads, %u steps each, seed %" PRIu64 "\n", threads, steps, seed);
        begin(steps, seed++);
        test_threads(threads, work, NULL);
        end();
        if (++rounds % 3 == 0)
            steps *= 2;
    } while (test_now() < over);
}

TEST_MAIN()
