/* SPDX-License-Identifier: MIT */
/* The registry of threads: who gets a line, who gives it back, and what becomes of it. */
#include "test.h"

#include <pawl/thread.h>

#include "base/base.h"
#include "os/os.h"
#include "support/lines.h"

TEST_CASE(a_thread_keeps_its_line)
{
    struct pawl_thread_line *line = ipawl_thread_line_();
    assert_non_null(line);
    assert_ptr_equal(ipawl_thread_line_(), line);
    assert_int_equal(line->owner, pawl_os_thread_id());
    assert_in_range((uintptr_t)line, (uintptr_t)&process_here()->lines[0],
                    (uintptr_t)&process_here()->lines[PAWL_THREAD_LINES - 1]);
}

struct crew {
    struct pawl_thread_line *lines[16];
    uint32_t ids[16];
    pthread_barrier_t registered;
};

static void register_together(void *opaque, unsigned index)
{
    struct crew *crew = (struct crew *)opaque;
    crew->ids[index] = pawl_os_thread_id();
    crew->lines[index] = ipawl_thread_line_();
    pthread_barrier_wait(&crew->registered);
    must(crew->lines[index]->owner == crew->ids[index]);
    for (unsigned i = 0; i < index; i++)
        must(crew->lines[i] != crew->lines[index]);
    pthread_barrier_wait(&crew->registered);
}

TEST_CASE(threads_that_register_together_get_different_lines_and_give_them_back)
{
    static struct crew crew;
    (void)ipawl_thread_line_();
    must(pthread_barrier_init(&crew.registered, NULL, 16) == 0);
    for (unsigned round = 0; round < 5; round++) {
        test_threads(16, register_together, &crew);
        for (unsigned i = 0; i < 16; i++)
            assert_int_equal(pawl_load_relaxed32(&crew.lines[i]->owner), 0);
    }
    pthread_barrier_destroy(&crew.registered);
    assert_in_range(process_here()->lines_used, 2, 17); /* used again, not used up */
}

TEST_CASE(a_thread_may_give_its_line_back_and_get_one_again)
{
    struct pawl_thread_line *line = ipawl_thread_line_();
    ipawl_thread_exit_();
    assert_int_equal(pawl_load_relaxed32(&line->owner), 0);
    ipawl_thread_exit_(); /* nothing to give back: nothing happens */
    assert_ptr_equal(ipawl_thread_line_(), line);
}

/* ---- Fork ------------------------------------------------------------------------------------ */

static void check_the_child(void *parents_line)
{
    struct pawl_thread_line *line = (struct pawl_thread_line *)parents_line;
    const uint32_t used = process_here()->lines_used;
    must(ipawl_thread_line_() == line);
    must(line->owner == pawl_os_thread_id());
    for (uint32_t i = 0; i < used; i++)
        must(&process_here()->lines[i] == line || process_here()->lines[i].owner == 0);
    fprintf(stderr, "as it should be");
}

static void *stay(void *barrier)
{
    must(ipawl_thread_line_() != NULL);
    pthread_barrier_wait((pthread_barrier_t *)barrier);
    pthread_barrier_wait((pthread_barrier_t *)barrier);
    return NULL;
}

TEST_CASE(after_fork_the_child_keeps_its_line_and_the_others_lines_are_free)
{
    static pthread_barrier_t barrier; /* where forking is a skip, the other thread stays there */
    char said[4096];
    must(pthread_barrier_init(&barrier, NULL, 2) == 0);
    const pthread_t other = test_start(stay, &barrier);
    pthread_barrier_wait(&barrier);
    int status = test_in_child(check_the_child, ipawl_thread_line_(), said, sizeof said);
    pthread_barrier_wait(&barrier);
    test_join(other);
    pthread_barrier_destroy(&barrier);
    if (status != 0 || !strstr(said, "as it should be"))
        fail_msg("status %#x: %s", (unsigned)status, said);
    assert_int_equal(ipawl_thread_line_()->owner, pawl_os_thread_id()); /* the parent's stays */
}

/* ---- More threads than lines ----------------------------------------------------------------- */

static void *ask_for_a_line(void *place)
{
    *(struct pawl_thread_line **)place = ipawl_thread_line_();
    return NULL;
}

static struct pawl_thread_line *line_of_a_new_thread(void)
{
    struct pawl_thread_line *line = NULL;
    test_elsewhere(ask_for_a_line, &line);
    return line;
}

TEST_CASE(a_thread_beyond_the_lines_has_none)
{
    (void)ipawl_thread_line_();
    lines_park_all();
    assert_null(line_of_a_new_thread());
    lines_free_all();
    assert_non_null(line_of_a_new_thread());
}

TEST_CASE(a_line_whose_owner_is_dead_is_taken_back_where_none_is_free)
{
    struct pawl_thread_line *left = &process_here()->lines[500];
    struct pawl_thread_line *found = NULL;
    unsigned i;
    (void)ipawl_thread_line_();
    assert_ptr_not_equal(left, ipawl_thread_line_());
    left->owner = INT_MAX; /* no thread has this number */
    lines_park_all();
    for (i = 0; i < PAWL_THREAD_LINES && found == NULL; i++) /* each thread looks at some lines */
        found = line_of_a_new_thread();
    assert_ptr_equal(found, left);
    assert_in_range(i, 1, PAWL_THREAD_LINES / 16 + 1);
    assert_int_equal(left->owner, 0); /* and was given back at that thread's end */
    lines_free_all();
}

/* A line left behind under a number that the system gives out again is that thread's line. */
TEST_CASE(a_line_left_behind_under_the_same_number_is_used_again)
{
    struct pawl_thread_line *line = ipawl_thread_line_();
    *pawl_os_thread_slot() = NULL; /* as if this were a new thread of the same number */
    assert_ptr_equal(ipawl_thread_line_(), line);
    assert_int_equal(line->owner, pawl_os_thread_id());
}

TEST_MAIN()
