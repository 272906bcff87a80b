/* SPDX-License-Identifier: MIT */
/* Hazard pointers: what they keep and for how long, how much waits, what a process can have, and
 * what a fork and the end of a thread leave. */
#include "test.h"

#include <pawl/hazard.h>

#include <sys/resource.h>

struct thing {
    int before; /* the head need not come first */
    pawl_hazard_head head;
    struct thing *next;
    bool freed;
};

static uint32_t freed;

static void forget(void *object)
{
    ((struct thing *)object)->freed = true;
    freed++;
}

static void retire(struct thing *o)
{
    pawl_hazard_retire(&o->head, o, forget);
}

static struct thing one, other;
static struct thing *place;

static int begin(void **state)
{
    memset(&one, 0, sizeof one);
    memset(&other, 0, sizeof other);
    place = &one;
    freed = 0;
    return 0;
}

static void make_without_memory(void *unused)
{
    const struct rlimit none = {0, 0};
    must(setrlimit(RLIMIT_AS, &none) == 0);
    must(pawl_hazard_make() == NULL);
}

/* First: later the process has the memory. */
TEST_CASE(without_memory_there_is_none)
{
    char said[4096];
    if (TEST_SANITIZED)
        skip();
    assert_int_equal(test_in_child(make_without_memory, NULL, said, sizeof said), 0);
}

TEST_CASE_WITH(what_is_named_stays_until_it_is_named_no_more, begin, NULL)
{
    pawl_hazard *const h = pawl_hazard_make();
    assert_non_null(h);
    assert_ptr_equal(pawl_hazard_protect(h, &place), &one);
    place = &other;
    retire(&one);
    pawl_hazard_clean_up();
    assert_false(one.freed);
    assert_ptr_equal(pawl_hazard_protect(h, &place), &other);
    pawl_hazard_clean_up();
    assert_true(one.freed);
    retire(&other);
    pawl_hazard_reset(h, NULL);
    pawl_hazard_clean_up();
    assert_true(other.freed);
    pawl_hazard_drop(h);
}

TEST_CASE_WITH(a_null_pointer_names_nothing, begin, NULL)
{
    pawl_hazard *const h = pawl_hazard_make();
    place = NULL;
    assert_null(pawl_hazard_protect(h, &place));
    pawl_hazard_drop(h);
}

TEST_CASE_WITH(of_two_that_name_an_object_the_last_keeps_it, begin, NULL)
{
    pawl_hazard *const h = pawl_hazard_make(), *const second = pawl_hazard_make();
    assert_ptr_not_equal(h, second);
    (void)pawl_hazard_protect(h, &place);
    pawl_hazard_reset(second, &one);
    retire(&one);
    pawl_hazard_drop(h);
    pawl_hazard_clean_up();
    assert_false(one.freed);
    pawl_hazard_drop(second);
    pawl_hazard_clean_up();
    assert_true(one.freed);
}

static void retire_the_next(void *object)
{
    struct thing *const o = (struct thing *)object;
    forget(o);
    pawl_hazard_clean_up(); /* nothing, here */
    if (o->next != NULL)
        pawl_hazard_retire(&o->next->head, o->next, retire_the_next);
}

TEST_CASE_WITH(a_function_may_retire_and_its_stack_does_not_grow, begin, NULL)
{
    enum { LENGTH = 100000 };
    struct thing *const all = (struct thing *)calloc(LENGTH, sizeof *all);
    assert_non_null(all);
    for (unsigned i = 0; i + 1 < LENGTH; i++)
        all[i].next = &all[i + 1];
    pawl_hazard_retire(&all->head, all, retire_the_next);
    pawl_hazard_clean_up();
    assert_int_equal(freed, LENGTH);
    free(all);
}

TEST_CASE_WITH(a_reader_that_stays_delays_its_object_alone, begin, NULL)
{
    enum { MANY = 10000 };
    struct thing *const all = (struct thing *)calloc(MANY, sizeof *all);
    pawl_hazard *const h = pawl_hazard_make();
    const unsigned words = PAWL_HAZARD_WORDS / PAWL_HAZARD_LINES_;
    assert_non_null(all);
    (void)pawl_hazard_protect(h, &place);
    retire(&one);
    for (unsigned i = 0; i < MANY; i++) {
        retire(&all[i]);
        assert_in_range(i - freed + 1, 0, PAWL_HAZARD_BATCH + 4 * words + 1);
    }
    assert_false(one.freed);
    pawl_hazard_drop(h);
    pawl_hazard_clean_up();
    assert_int_equal(freed, MANY + 1);
    free(all);
}

static void *protect_and_end(void *h)
{
    must(pawl_hazard_protect((pawl_hazard *)h, &place) == &one);
    return NULL;
}

TEST_CASE_WITH(the_end_of_a_thread_drops_nothing, begin, NULL)
{
    pawl_hazard *const h = pawl_hazard_make();
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, protect_and_end, h), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    retire(&one);
    pawl_hazard_clean_up();
    assert_false(one.freed);
    pawl_hazard_drop(h);
    pawl_hazard_clean_up();
    assert_true(one.freed);
}

/* ---- Fork ------------------------------------------------------------------------------------ */

static pthread_barrier_t step;

static void *protect_for_long(void *unused)
{
    pawl_hazard *const h = pawl_hazard_make();
    (void)pawl_hazard_protect(h, &place);
    (void)pthread_barrier_wait(&step);
    (void)pthread_barrier_wait(&step);
    must(!one.freed);
    pawl_hazard_drop(h);
    return NULL;
}

static void free_in_the_child(void *h)
{
    retire(&other);
    pawl_hazard_clean_up();
    must(!one.freed && !other.freed);
    pawl_hazard_drop((pawl_hazard *)h);
    pawl_hazard_clean_up();
    must(!one.freed && other.freed); /* a thread of the parent names the first */
    h = pawl_hazard_make();
    must(h != NULL && pawl_hazard_protect((pawl_hazard *)h, &place) == &one);
}

TEST_CASE_WITH(a_child_has_its_hazard_pointers_and_keeps_what_others_named, begin, NULL)
{
    struct thing *second = &other;
    char said[4096];
    pthread_t thread;
    pawl_hazard *const h = pawl_hazard_make();
    (void)pawl_hazard_protect(h, &second);
    assert_int_equal(pthread_barrier_init(&step, NULL, 2), 0);
    assert_int_equal(pthread_create(&thread, NULL, protect_for_long, NULL), 0);
    (void)pthread_barrier_wait(&step);
    retire(&one);
    assert_int_equal(test_in_child(free_in_the_child, h, said, sizeof said), 0);
    pawl_hazard_clean_up();
    (void)pthread_barrier_wait(&step);
    assert_int_equal(pthread_join(thread, NULL), 0);
    pawl_hazard_drop(h);
    pawl_hazard_clean_up();
    assert_true(one.freed);
    (void)pthread_barrier_destroy(&step);
}

static pid_t child;

static void fork_inside(void *object)
{
    forget(object);
    child = fork();
}

/* Both free the objects that the function's own call took. */
TEST_CASE_WITH(a_function_that_forks_goes_on_in_both, begin, NULL)
{
    pawl_hazard_retire(&one.head, &one, fork_inside);
    retire(&other);
    pawl_hazard_clean_up();
    if (child == 0) {
        struct thing third = other;
        retire(&third);
        pawl_hazard_clean_up();
        _exit(freed == 3 && third.freed ? 0 : 1);
    }
    assert_int_equal(test_wait(child), 0);
    assert_int_equal(freed, 2);
}

/* ---- Handlers -------------------------------------------------------------------------------- */

static pawl_hazard *of_handler;
static volatile sig_atomic_t seen;

static void look(int number)
{
    seen = pawl_hazard_protect(of_handler, &place) == &one;
}

TEST_CASE_WITH(a_signal_handler_may_protect, begin, NULL)
{
    of_handler = pawl_hazard_make();
    (void)signal(SIGUSR1, look);
    assert_int_equal(raise(SIGUSR1), 0);
    assert_true(seen);
    retire(&one);
    pawl_hazard_clean_up();
    assert_false(one.freed);
    pawl_hazard_drop(of_handler);
    pawl_hazard_clean_up();
    assert_true(one.freed);
}

/* ---- All of them ----------------------------------------------------------------------------- */

/* Last, in a child: from then on more objects may wait. */
static void make_all(void *unused)
{
    pawl_hazard **const all = (pawl_hazard **)calloc(PAWL_HAZARD_WORDS, sizeof *all);
    unsigned i;
    must(all != NULL);
    for (i = 0; i < PAWL_HAZARD_WORDS; i++) {
        all[i] = pawl_hazard_make();
        must(all[i] != NULL);
    }
    must(pawl_hazard_make() == NULL);
    pawl_hazard_reset(all[i / 2], &one);
    retire(&one);
    pawl_hazard_clean_up();
    must(!one.freed);
    pawl_hazard_drop(all[i / 2]);
    pawl_hazard_clean_up();
    must(one.freed);
    must(pawl_hazard_make() == all[i / 2]);
    free(all);
}

TEST_CASE_WITH(where_all_are_made_there_is_none, begin, NULL)
{
    char said[4096];
    if (TEST_SANITIZED)
        skip();
    assert_int_equal(test_in_child(make_all, NULL, said, sizeof said), 0);
}

int main(int argc, char **argv)
{
    return test_main(argc, argv);
}
