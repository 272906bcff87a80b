/* SPDX-License-Identifier: MIT */
/*
 * A program that links Pawl itself, as a static or as a shared library, with the preload library in
 * front, which carries another copy: both kinds of locks work side by side, also across a fork.
 */
#include "actors.h"

#include <pawl/lock.h>

#include "support/unused.h"

static pthread_rwlock_t theirs;
static pawl_lock64 ours;
static uint64_t a, b;

static void add(void *unused, unsigned index)
{
    for (int i = 0; i < TEST_SCALE(5000); i++) {
        if ((i + (int)index) % 3 == 0) {
            must(pthread_rwlock_wrlock(&theirs) == 0);
            pawl_take_write(&ours);
            a++;
            b++;
            pawl_drop_write(&ours);
        } else {
            must(pthread_rwlock_rdlock(&theirs) == 0);
            pawl_take_read(&ours);
            must(a == b);
            pawl_drop_read(&ours);
        }
        must(pthread_rwlock_unlock(&theirs) == 0);
    }
}

TEST_CASE(both_kinds_of_locks_work_side_by_side)
{
    a = b = 0;
    test_threads(4, add, NULL);
    assert_true(a == b && a != 0);
    assert_true(LOCK_IS_UNUSED(ours));
}

static void go_on_as_child(void *unused)
{
    must(pthread_rwlock_unlock(&theirs) == 0);
    pawl_drop_write(&ours);
    add(NULL, 0);
}

static int take_ours(pthread_rwlock_t *unused)
{
    pawl_take_write(&ours);
    pawl_drop_write(&ours);
    return 0;
}

TEST_CASE(a_child_goes_on_with_both)
{
    struct actor one, two;
    char said[1024];
    actor_start(&one);
    actor_start(&two);
    assert_int_equal(pthread_rwlock_rdlock(&theirs), 0);
    pawl_take_write(&ours);
    actor_begin(&one, pthread_rwlock_wrlock, &theirs);
    actor_begin(&two, take_ours, NULL);
    assert_true(actor_waits(&one) && actor_waits(&two));
    int status = test_in_child(go_on_as_child, NULL, said, sizeof said);
    if (status != 0)
        fail_msg("the child ended with %#x: %s", (unsigned)status, said);
    pawl_drop_write(&ours);
    assert_int_equal(pthread_rwlock_unlock(&theirs), 0);
    assert_int_equal(actor_result(&one), 0);
    assert_int_equal(actor_result(&two), 0);
    assert_int_equal(actor_do(&one, pthread_rwlock_unlock, &theirs), 0);
    actor_end(&one);
    actor_end(&two);
}

TEST_MAIN()
