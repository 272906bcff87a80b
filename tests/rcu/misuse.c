/* SPDX-License-Identifier: MIT */
/* What the checking variant says of RCU: who did it, and where. */
#include "support/misuse.h"

#include <pawl/rcu.h>

static int *pointer;
static volatile int returned; /* the last call of a function is then no jump */

static void dereference_outside(void *unused)
{
    (void)pawl_rcu_dereference(pointer);
    returned = 1;
}

static void dereference_in_another_domain(void *domain)
{
    pawl_rcu_read_lock();
    (void)pawl_rcu_domain_dereference((pawl_rcu_domain *)domain, pointer);
    returned = 1;
}

TEST_CASE(a_dereference_outside_a_section_is_reported)
{
    static pawl_rcu_domain d;
    assert_int_equal(pawl_rcu_domain_init(&d, "files"), 0);
    assert_reports(dereference_outside, NULL, "read outside a section: rcu domain default at ",
                   "by pawl_rcu_dereference in thread", "dereference_outside", NULL);
    assert_reports(dereference_in_another_domain, &d,
                   "read outside a section: rcu domain files at ", "dereference_in_another_domain",
                   NULL);
    assert_reports(dereference_in_another_domain, pawl_rcu_qs(),
                   "read outside a section: rcu domain quiescent states at ", NULL);
    pawl_rcu_domain_destroy(&d);
}

static void unlock_too_often(void *unused)
{
    pawl_rcu_read_lock();
    pawl_rcu_read_lock();
    pawl_rcu_read_unlock();
    pawl_rcu_read_unlock();
    pawl_rcu_read_unlock();
    returned = 1;
}

static void unlock_another_domain(void *domain)
{
    pawl_rcu_read_lock();
    pawl_rcu_domain_read_unlock((pawl_rcu_domain *)domain);
    returned = 1;
}

TEST_CASE(an_unbalanced_unlock_is_reported)
{
    static pawl_rcu_domain d;
    assert_int_equal(pawl_rcu_domain_init(&d, NULL), 0);
    assert_reports(unlock_too_often, NULL, "section left that was not entered: rcu domain default",
                   "by pawl_rcu_read_unlock in thread", "unlock_too_often", NULL);
    assert_reports(unlock_another_domain, &d, "section left that was not entered: rcu domain",
                   "by pawl_rcu_read_unlock", "unlock_another_domain", NULL);
    pawl_rcu_domain_destroy(&d);
}

static void synchronize_in_a_section(void *unused)
{
    pawl_rcu_read_lock();
    pawl_rcu_synchronize();
    returned = 1;
}

static void expedite_in_a_section(void *unused)
{
    pawl_rcu_read_lock();
    pawl_rcu_synchronize_expedited();
    returned = 1;
}

static void wait_for_a_cookie_in_a_section(void *unused)
{
    pawl_rcu_read_lock();
    pawl_rcu_synchronize_cond(pawl_rcu_start_poll());
    returned = 1;
}

TEST_CASE(a_synchronize_in_a_section_is_reported)
{
    assert_reports(synchronize_in_a_section, NULL, "waits for itself: rcu domain default",
                   "by pawl_rcu_synchronize in thread", "synchronize_in_a_section", NULL);
    assert_reports(expedite_in_a_section, NULL, "waits for itself: rcu domain default",
                   "by pawl_rcu_synchronize_expedited", "expedite_in_a_section", NULL);
    assert_reports(wait_for_a_cookie_in_a_section, NULL, "waits for itself: rcu domain default",
                   "by pawl_rcu_synchronize_cond", "wait_for_a_cookie_in_a_section", NULL);
    /* Going on would be an early free or a wait for ever. */
    must(setenv("PAWL_CHECK", "report", 1) == 0);
    assert_reports(synchronize_in_a_section, NULL, "waits for itself", "in a section of its domain",
                   NULL);
    must(unsetenv("PAWL_CHECK") == 0);
}

static void enter_and_end(void *unused)
{
    pawl_rcu_read_lock();
    returned = 1;
}

REPORTED_CASE(a_section_left_open_by_a_thread_is_reported_with_where_it_was_entered,
              "section left open at the end of its thread: rcu domain default",
              "by pawl_rcu_read_lock in thread", "enter_and_end")
{
    in_another_thread(enter_and_end, NULL);
}

static void synchronize_quiescent_states_in_a_section(void *unused)
{
    pawl_rcu_qs_online();
    pawl_rcu_qs_read_lock();
    pawl_rcu_domain_synchronize(pawl_rcu_qs());
    returned = 1;
}

static void quiescent_while_offline(void *unused)
{
    pawl_rcu_qs_quiescent();
    returned = 1;
}

static void quiescent_in_a_section(void *unused)
{
    pawl_rcu_qs_online();
    pawl_rcu_qs_read_lock();
    pawl_rcu_qs_quiescent();
    returned = 1;
}

static void offline_in_a_section(void *unused)
{
    pawl_rcu_qs_online();
    pawl_rcu_qs_read_lock();
    pawl_rcu_qs_offline();
    returned = 1;
}

static void offline_twice(void *unused)
{
    pawl_rcu_qs_online();
    pawl_rcu_qs_offline();
    pawl_rcu_qs_offline();
    returned = 1;
}

static void section_while_offline(void *unused)
{
    pawl_rcu_qs_read_lock();
    returned = 1;
}

static void section_left_twice(void *unused)
{
    pawl_rcu_qs_online();
    pawl_rcu_qs_read_lock();
    pawl_rcu_qs_read_unlock();
    pawl_rcu_qs_read_unlock();
    returned = 1;
}

TEST_CASE(misuse_of_quiescent_states_is_reported)
{
    assert_reports(quiescent_while_offline, NULL, "quiescent while offline: rcu domain quiescent",
                   "quiescent_while_offline", NULL);
    assert_reports(quiescent_in_a_section, NULL, "quiescent in a section",
                   "by pawl_rcu_qs_quiescent", "quiescent_in_a_section", NULL);
    assert_reports(synchronize_quiescent_states_in_a_section, NULL, "waits for itself",
                   "by pawl_rcu_synchronize", "synchronize_quiescent_states_in_a_section", NULL);
    assert_reports(offline_in_a_section, NULL, "offline in a section", "by pawl_rcu_qs_offline",
                   "offline_in_a_section", NULL);
    assert_reports(offline_twice, NULL, "section left that was not entered",
                   "by pawl_rcu_qs_offline", "offline_twice", NULL);
    assert_reports(section_while_offline, NULL, "section while offline", "by pawl_rcu_qs_read_lock",
                   "section_while_offline", NULL);
    assert_reports(section_left_twice, NULL, "section left that was not entered",
                   "by pawl_rcu_qs_read_unlock", "section_left_twice", NULL);
}

static void enter_too_deep(void *unused)
{
    for (unsigned i = 0; i < 65536; i++)
        pawl_rcu_read_lock();
}

TEST_CASE(sections_that_are_too_deep_are_reported)
{
    assert_reports(enter_too_deep, NULL, "sections too deep: rcu domain default",
                   "by pawl_rcu_read_lock", "enter_too_deep", NULL);
}

static void destroy_while_reading(void *domain)
{
    pawl_rcu_domain_read_lock((pawl_rcu_domain *)domain);
    pawl_rcu_domain_destroy((pawl_rcu_domain *)domain);
    returned = 1;
}

static void read_after_destroy(void *domain)
{
    pawl_rcu_domain_destroy((pawl_rcu_domain *)domain);
    pawl_rcu_domain_read_lock((pawl_rcu_domain *)domain);
    returned = 1;
}

static void read_in_no_domain(void *unused)
{
    pawl_rcu_domain d;
    memset(&d, 0x5a, sizeof d);
    pawl_rcu_domain_read_lock(&d);
    returned = 1;
}

TEST_CASE(domains_that_are_not_there_or_in_use_are_reported)
{
    static pawl_rcu_domain d;
    assert_int_equal(pawl_rcu_domain_init(&d, "short"), 0);
    assert_reports(destroy_while_reading, &d, "destroyed while somebody reads: rcu domain short",
                   "by pawl_rcu_domain_destroy", "destroy_while_reading", NULL);
    assert_reports(read_after_destroy, &d, "the domain has been destroyed: rcu domain",
                   "by pawl_rcu_read_lock", "read_after_destroy", NULL);
    assert_reports(read_in_no_domain, NULL, "no domain, or one that was overwritten: rcu domain",
                   "by pawl_rcu_read_lock", "read_in_no_domain", NULL);
    pawl_rcu_domain_destroy(&d);
}

/* ---- Stalls ---------------------------------------------------------------------------------- */

static pthread_barrier_t step;
static uint32_t reported;

static void note(const pawl_rcu_stall *stall, void *unused)
{
    fprintf(stderr, "entered at %s\n", stall->entered);
    pawl_store_relaxed32(&reported, 1);
}

static void read_slowly(void *unused)
{
    pawl_rcu_read_lock();
    pthread_barrier_wait(&step);
    while (pawl_load_relaxed32(&reported) == 0)
        usleep(100);
    pawl_rcu_read_unlock();
}

static void *slow_reader(void *unused)
{
    read_slowly(unused);
    return NULL;
}

static void stall(void *unused)
{
    must(pthread_barrier_init(&step, NULL, 2) == 0);
    pawl_rcu_domain_stall(pawl_rcu_default(), 1000000, note, NULL);
    const pthread_t thread = test_start(slow_reader, NULL);
    pthread_barrier_wait(&step);
    pawl_rcu_synchronize();
    test_join(thread);
}

TEST_CASE(a_stall_is_reported_with_where_its_reader_entered)
{
    static char said[4096];
    assert_int_equal(test_in_child(stall, NULL, said, sizeof said), 0);
    if (strstr(said, "entered at read_slowly") == NULL)
        fail_msg("said: %s", said);
}

/* ---- What is right --------------------------------------------------------------------------- */

static void read_in_handler(int number)
{
    pawl_rcu_read_lock();
    (void)pawl_rcu_dereference(pointer);
    pawl_rcu_read_unlock();
}

SILENT_CASE(what_is_right_is_not_reported)
{
    static int object;
    pawl_rcu_domain d;
    must(pawl_rcu_domain_init(&d, "right") == 0);
    must(signal(SIGUSR1, read_in_handler) != SIG_ERR);
    pawl_rcu_assign_pointer(pointer, &object);
    pawl_rcu_read_lock();
    pawl_rcu_domain_read_lock(&d);
    raise(SIGUSR1);
    (void)pawl_rcu_dereference(pointer);
    (void)pawl_rcu_domain_dereference(&d, pointer);
    pawl_rcu_read_unlock();
    pawl_rcu_synchronize(); /* another domain's section */
    pawl_rcu_domain_read_unlock(&d);
    must(pawl_rcu_xchg_pointer(&pointer, NULL) == &object);
    pawl_rcu_domain_synchronize(&d);
    pawl_rcu_qs_online();
    pawl_rcu_qs_read_lock();
    (void)pawl_rcu_domain_dereference(pawl_rcu_qs(), pointer);
    pawl_rcu_qs_read_unlock();
    pawl_rcu_qs_quiescent();
    pawl_rcu_domain_synchronize(pawl_rcu_qs());
    pawl_rcu_domain_destroy(&d);
}

TEST_MAIN()
