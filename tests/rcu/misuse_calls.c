/* SPDX-License-Identifier: MIT */
/* RCU callbacks that cannot be right: what is reported, and what ends the program. */
#include "support/misuse.h"

#include <pawl/rcu_call.h>

static pawl_rcu_head head;
static pawl_rcu_domain domain;

static void run(pawl_rcu_head *called)
{
}

static void call_twice(void *nothing)
{
    pawl_rcu_read_lock();
    must(pawl_rcu_call(&head, run, 1) == 0);
    (void)pawl_rcu_call(&head, run, 1);
}

static void try_twice(void *nothing)
{
    static pawl_rcu_head first;
    must(pawl_rcu_call(&first, run, 1) == 0); /* there is a worker */
    pawl_rcu_read_lock();
    must(pawl_rcu_try_call(&head, run, 1) == 0);
    (void)!pawl_rcu_try_call(&head, run, 1);
}

static void free_twice(void *nothing)
{
    pawl_rcu_head *object = (pawl_rcu_head *)calloc(1, sizeof *object);
    must(object != NULL);
    pawl_rcu_read_lock();
    must(pawl_rcu_domain_free(pawl_rcu_default(), object, 0, sizeof *object) == 0);
    (void)pawl_rcu_domain_free(pawl_rcu_default(), object, 0, sizeof *object);
}

TEST_CASE(a_head_that_is_called_while_it_is_queued_is_reported)
{
    assert_reports(call_twice, NULL, "called while it is still queued: rcu head at",
                   "by pawl_rcu_domain_call in thread", NULL);
    assert_reports(try_twice, NULL, "called while it is still queued: rcu head at",
                   "by pawl_rcu_domain_try_call in thread", NULL);
    assert_reports(free_twice, NULL, "called while it is still queued: rcu head at",
                   "by pawl_rcu_domain_free in thread", NULL);
}

static void end_domain(pawl_rcu_head *called)
{
    pawl_rcu_domain_destroy(&domain);
}

REPORTED_CASE(a_domain_that_is_destroyed_in_a_callback_of_its_own_ends_the_program,
              "pawl_rcu_domain_destroy")
{
    must(pawl_rcu_domain_init(&domain, "ended from within") == 0);
    must(pawl_rcu_domain_call(&domain, &head, end_domain, 1) == 0);
    (void)pawl_rcu_domain_barrier(&domain);
    must(!"the worker has ended the program");
}

/* One worker calls the callbacks of all domains. So the end of a domain that has had some would
 * wait for it. */
REPORTED_CASE(a_domain_that_is_destroyed_in_a_callback_of_another_ends_the_program,
              "pawl_rcu_domain_destroy")
{
    static pawl_rcu_head earlier;
    must(pawl_rcu_domain_init(&domain, "ended from elsewhere") == 0);
    must(pawl_rcu_domain_call(&domain, &earlier, run, 1) == 0);
    must(pawl_rcu_domain_barrier(&domain) == 0);
    must(pawl_rcu_call(&head, end_domain, 1) == 0);
    (void)pawl_rcu_barrier();
    must(!"the worker has ended the program");
}

static void call_again(pawl_rcu_head *called)
{
    static unsigned times;
    if (++times < 5)
        must(pawl_rcu_call(called, call_again, 1) == 0);
}

SILENT_CASE(correct_use_is_silent)
{
    memset(&head, 0xff, sizeof head); /* whatever it held before */
    for (unsigned i = 0; i < 10; i++) {
        must(pawl_rcu_call(&head, run, 1) == 0);
        must(pawl_rcu_barrier() == 0);
    }
    must(pawl_rcu_call(&head, call_again, 1) == 0);
    for (unsigned i = 0; i < 6; i++)
        must(pawl_rcu_barrier() == 0);
    pawl_rcu_read_lock();
    must(pawl_rcu_barrier() == EDEADLK);
    pawl_rcu_read_unlock();
}

TEST_MAIN(misuse_without_lines())
