/* SPDX-License-Identifier: MIT */
/* What readers, pointers and grace periods of RCU promise, one fact at a time. */
#include "test.h"

#include <pawl/rcu.h>

/* ---- A thread that reads when it is told to -------------------------------------------------- */

struct reader {
    pawl_rcu_domain *domain;
    pthread_barrier_t step; /* entered, and: leave now */
    uint32_t left;          /* set in the section, as the last thing */
    pthread_t id;
};

static void *read_once(void *opaque)
{
    struct reader *r = (struct reader *)opaque;
    pawl_rcu_domain_read_lock(r->domain);
    pthread_barrier_wait(&r->step);
    pthread_barrier_wait(&r->step);
    pawl_store_relaxed32(&r->left, 1);
    pawl_rcu_domain_read_unlock(r->domain);
    return NULL;
}

/* Returns when it is in its section. */
static void start_reader(struct reader *r, pawl_rcu_domain *domain)
{
    r->domain = domain;
    r->left = 0;
    must(pthread_barrier_init(&r->step, NULL, 2) == 0);
    r->id = test_start(read_once, r);
    pthread_barrier_wait(&r->step);
}

static void let_leave(struct reader *r)
{
    pthread_barrier_wait(&r->step);
}

static void join_reader(struct reader *r)
{
    test_join(r->id);
    pthread_barrier_destroy(&r->step);
}

/* ---- Sections -------------------------------------------------------------------------------- */

TEST_CASE(sections_nest)
{
    assert_false(pawl_rcu_read_held());
    pawl_rcu_read_lock();
    assert_true(pawl_rcu_read_held());
    pawl_rcu_read_lock();
    pawl_rcu_read_unlock();
    assert_true(pawl_rcu_read_held());
    pawl_rcu_read_unlock();
    assert_false(pawl_rcu_read_held());
}

TEST_CASE(sections_of_different_domains_may_overlap)
{
    pawl_rcu_domain d;
    assert_int_equal(pawl_rcu_domain_init(&d, "other"), 0);
    pawl_rcu_read_lock();
    pawl_rcu_domain_read_lock(&d);
    pawl_rcu_read_unlock();
    assert_false(pawl_rcu_read_held());
    assert_true(pawl_rcu_domain_read_held(&d));
    pawl_rcu_domain_read_unlock(&d);
    assert_false(pawl_rcu_domain_read_held(&d));
    pawl_rcu_domain_destroy(&d);
}

TEST_CASE(an_unlock_too_many_does_nothing)
{
    pawl_rcu_read_lock();
    pawl_rcu_read_unlock();
    pawl_rcu_read_unlock();
    assert_false(pawl_rcu_read_held());
    pawl_rcu_read_lock();
    assert_true(pawl_rcu_read_held());
    pawl_rcu_read_unlock();
    pawl_rcu_synchronize();
}

TEST_CASE(sections_may_be_many)
{
    for (unsigned i = 0; i < 200000; i++) { /* the count of a word wraps */
        pawl_rcu_read_lock();
        pawl_rcu_read_unlock();
    }
    pawl_rcu_synchronize();
    for (unsigned i = 0; i < 65535; i++)
        pawl_rcu_read_lock();
    for (unsigned i = 0; i < 65535; i++) {
        assert_true(pawl_rcu_read_held());
        pawl_rcu_read_unlock();
    }
    assert_false(pawl_rcu_read_held());
}

/* ---- Pointers -------------------------------------------------------------------------------- */

struct node {
    struct node *next;
    int value;
};

static int twice(int n)
{
    return 2 * n;
}

TEST_CASE(pointers_are_published_and_followed)
{
    struct node a = {NULL, 1}, b = {NULL, 2};
    struct node *head = NULL;
    const struct node *constant = &a;
    int (*function)(int) = NULL;
    pawl_rcu_assign_pointer(head, &a);
    pawl_rcu_read_lock();
    assert_ptr_equal(pawl_rcu_dereference(head), &a);
    assert_null(pawl_rcu_dereference(constant->next));
    pawl_rcu_assign_pointer(function, twice);
    assert_int_equal(pawl_rcu_dereference(function)(21), 42);
    assert_ptr_equal(pawl_rcu_domain_dereference(pawl_rcu_default(), constant), &a);
    pawl_rcu_read_unlock();
    assert_ptr_equal(pawl_rcu_dereference_protected(head), &a);
    assert_ptr_equal(pawl_rcu_xchg_pointer(&head, &b), &a);
    assert_ptr_equal(head, &b);
    assert_ptr_equal(pawl_rcu_cmpxchg_pointer(&head, &a, NULL), &b); /* not made */
    assert_ptr_equal(head, &b);
    assert_ptr_equal(pawl_rcu_cmpxchg_pointer(&head, &b, NULL), &b);
    assert_null(head);
    pawl_rcu_assign_pointer(function, NULL);
    assert_true(function == NULL);
}

/* ---- Grace periods --------------------------------------------------------------------------- */

TEST_CASE(synchronize_without_readers_returns)
{
    pawl_rcu_synchronize();
    pawl_rcu_synchronize_expedited();
}

static void *synchronize(void *opaque)
{
    struct reader *r = (struct reader *)opaque;
    pawl_rcu_domain_synchronize(r->domain);
    must(pawl_load_relaxed32(&r->left) == 1);
    return NULL;
}

static void *synchronize_soon(void *opaque)
{
    struct reader *r = (struct reader *)opaque;
    pawl_rcu_domain_synchronize_expedited(r->domain);
    must(pawl_load_relaxed32(&r->left) == 1);
    return NULL;
}

TEST_CASE(synchronize_returns_after_a_reader_that_was_in)
{
    static struct reader r;
    pthread_t waiters[4];
    for (unsigned round = 0; round < 50; round++) {
        start_reader(&r, pawl_rcu_default());
        for (unsigned i = 0; i < 4; i++)
            waiters[i] = test_start(i % 2 ? synchronize_soon : synchronize, &r);
        if (round % 2 != 0)
            usleep(300); /* some sleep by now */
        let_leave(&r);
        test_join_all(waiters, 4);
        join_reader(&r);
    }
}

TEST_CASE(a_poll_is_false_until_the_old_readers_have_left_and_drives_by_itself)
{
    static struct reader r;
    start_reader(&r, pawl_rcu_default());
    uint64_t cookie = pawl_rcu_start_poll();
    for (unsigned i = 0; i < 10; i++)
        assert_false(pawl_rcu_poll(cookie));
    let_leave(&r);
    join_reader(&r);
    assert_true(pawl_rcu_poll(cookie));
    assert_true(pawl_rcu_poll(cookie)); /* and stays so */
    pawl_rcu_synchronize_cond(cookie);
}

TEST_CASE(a_poll_without_readers_is_true_at_once)
{
    assert_true(pawl_rcu_poll(pawl_rcu_start_poll()));
}

TEST_CASE(a_reader_may_poll_but_is_waited_for)
{
    pawl_rcu_read_lock();
    uint64_t cookie = pawl_rcu_start_poll();
    assert_false(pawl_rcu_poll(cookie));
    pawl_rcu_read_unlock();
    assert_true(pawl_rcu_poll(cookie));
}

TEST_CASE(a_cookie_asked_for_during_a_grace_period_names_the_next_one)
{
    static struct reader first, second;
    start_reader(&first, pawl_rcu_default());
    uint64_t early = pawl_rcu_start_poll();
    assert_false(pawl_rcu_poll(early)); /* under way: it waits for the first reader */
    start_reader(&second, pawl_rcu_default());
    uint64_t late = pawl_rcu_start_poll();
    assert_true(late > early);
    let_leave(&first);
    join_reader(&first);
    assert_false(pawl_rcu_poll(late)); /* that one waits for the second */
    assert_true(pawl_rcu_poll(early));
    let_leave(&second);
    join_reader(&second);
    assert_true(pawl_rcu_poll(late));
}

TEST_CASE(a_conditional_synchronize_of_what_is_over_is_allowed_in_a_section)
{
    uint64_t cookie = pawl_rcu_start_poll();
    pawl_rcu_synchronize();
    pawl_rcu_read_lock();
    pawl_rcu_synchronize_cond(cookie);
    pawl_rcu_read_unlock();
    cookie = pawl_rcu_start_poll();
    pawl_rcu_synchronize_cond(cookie);
    assert_true(pawl_rcu_poll(cookie));
}

static void some_synchronizes(void *unused, unsigned index)
{
    for (unsigned i = 0; i < (unsigned)TEST_SCALE(300); i++) {
        pawl_rcu_synchronize();
        if (i % 8 == index) {
            pawl_rcu_read_lock();
            pawl_rcu_read_unlock();
        }
    }
}

TEST_CASE(many_may_synchronize_at_once)
{
    test_threads(8, some_synchronizes, NULL);
}

TEST_CASE(what_a_reader_read_comes_before_what_follows_the_grace_period)
{
    /* Plain accesses: ThreadSanitizer reports them if nothing orders them. */
    static struct node *head;
    static struct reader r;
    struct node a = {NULL, 1};
    pawl_rcu_assign_pointer(head, &a);
    start_reader(&r, pawl_rcu_default());
    assert_ptr_equal(pawl_rcu_xchg_pointer(&head, NULL), &a);
    uint64_t cookie = pawl_rcu_start_poll();
    let_leave(&r);
    test_await(pawl_rcu_poll(cookie));
    assert_int_equal(r.left, 1);
    join_reader(&r);
}

/* ---- Domains --------------------------------------------------------------------------------- */

TEST_CASE(a_reader_of_one_domain_holds_no_other_up)
{
    static struct reader r;
    pawl_rcu_domain d;
    assert_int_equal(pawl_rcu_domain_init(&d, "slow"), 0);
    start_reader(&r, &d);
    pawl_rcu_synchronize();
    pawl_rcu_domain_synchronize(pawl_rcu_qs());
    assert_int_equal(pawl_load_relaxed32(&r.left), 0);
    let_leave(&r);
    pawl_rcu_domain_synchronize(&d);
    assert_int_equal(pawl_load_relaxed32(&r.left), 1);
    join_reader(&r);
    pawl_rcu_domain_destroy(&d);
}

TEST_CASE(a_section_of_another_domain_may_synchronize)
{
    pawl_rcu_domain d;
    assert_int_equal(pawl_rcu_domain_init(&d, NULL), 0);
    pawl_rcu_domain_read_lock(&d);
    pawl_rcu_synchronize();
    pawl_rcu_domain_read_unlock(&d);
    pawl_rcu_domain_destroy(&d);
}

TEST_CASE(domains_are_as_many_as_the_header_says_and_can_be_made_again)
{
    pawl_rcu_domain all[PAWL_RCU_DOMAINS];
    pawl_rcu_domain more;
    unsigned i;
    for (unsigned round = 0; round < 3; round++) {
        for (i = 0; i < PAWL_RCU_DOMAINS - 2; i++)
            assert_int_equal(pawl_rcu_domain_init(&all[i], "one"), 0);
        assert_int_equal(pawl_rcu_domain_init(&more, "too many"), EAGAIN);
        pawl_rcu_domain_destroy(&all[i / 2]);
        assert_int_equal(pawl_rcu_domain_init(&all[i / 2], "again"), 0);
        for (i = 0; i < PAWL_RCU_DOMAINS - 2; i++)
            pawl_rcu_domain_destroy(&all[i]);
    }
    assert_int_equal(pawl_rcu_domain_init(NULL, "nothing"), EINVAL);
    pawl_rcu_domain_destroy(NULL);
    pawl_rcu_domain_destroy(pawl_rcu_default()); /* stays */
    pawl_rcu_synchronize();
}

/* ---- Quiescent states ------------------------------------------------------------------------ */

static void *loop_once(void *opaque)
{
    struct reader *r = (struct reader *)opaque;
    pawl_rcu_qs_online();
    pawl_rcu_qs_read_lock();
    pthread_barrier_wait(&r->step);
    pthread_barrier_wait(&r->step);
    pawl_store_relaxed32(&r->left, 1);
    pawl_rcu_qs_read_unlock();
    pawl_rcu_qs_quiescent();
    pthread_barrier_wait(&r->step); /* online all the time */
    pawl_rcu_qs_offline();
    return NULL;
}

TEST_CASE(an_online_thread_is_waited_for_until_it_is_quiescent)
{
    static struct reader r;
    uint64_t cookie;
    for (unsigned i = 0; i < 20; i++) {
        r.domain = pawl_rcu_qs();
        r.left = 0;
        must(pthread_barrier_init(&r.step, NULL, 2) == 0);
        r.id = test_start(loop_once, &r);
        pthread_barrier_wait(&r.step);
        cookie = pawl_rcu_domain_start_poll(pawl_rcu_qs());
        assert_false(pawl_rcu_domain_poll(pawl_rcu_qs(), cookie));
        let_leave(&r);
        if (i % 2 != 0)
            pawl_rcu_domain_synchronize_cond(pawl_rcu_qs(), cookie);
        test_await(pawl_rcu_domain_poll(pawl_rcu_qs(), cookie));
        assert_int_equal(pawl_load_relaxed32(&r.left), 1);
        pthread_barrier_wait(&r.step);
        join_reader(&r);
    }
}

TEST_CASE(an_online_thread_may_synchronize_and_is_online_afterwards)
{
    pawl_rcu_qs_online();
    assert_true(pawl_rcu_domain_read_held(pawl_rcu_qs()));
    pawl_rcu_domain_synchronize(pawl_rcu_qs());
    assert_true(pawl_rcu_domain_read_held(pawl_rcu_qs()));
    pawl_rcu_qs_quiescent();
    assert_true(pawl_rcu_domain_read_held(pawl_rcu_qs()));
    pawl_rcu_qs_offline();
    assert_false(pawl_rcu_domain_read_held(pawl_rcu_qs()));
    pawl_rcu_domain_synchronize(pawl_rcu_qs());
}

static void *end_online(void *unused)
{
    pawl_rcu_qs_online();
    return NULL;
}

TEST_CASE(a_thread_that_ends_online_holds_nobody_up)
{
    test_elsewhere(end_online, NULL);
    pawl_rcu_domain_synchronize(pawl_rcu_qs());
}

TEST_CASE(readers_pass_fences_where_the_environment_forbids_membarrier)
{
    if (getenv("PAWL_NO_MEMBARRIER") == NULL)
        return;
    assert_true(ipawl_fence_light_free_ == 0);
    pawl_rcu_read_lock();
    assert_null(PAWL_RCU_MINE_.line); /* the inline path stays closed */
    pawl_rcu_read_unlock();
}

TEST_MAIN()
