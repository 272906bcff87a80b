/* SPDX-License-Identifier: MIT */
/* Counters and references after their end, under the checking variant. */
#include "support/misuse.h"

#include <pawl/bigref.h>
#include <pawl/counter.h>

static pawl_counter thread_counter;
static pawl_cpu_counter cpu_counter;
static pawl_counter_exact exact;
static pawl_counter_limit limited = PAWL_COUNTER_LIMIT_INIT(10);
static pawl_bigref ref = PAWL_BIGREF_INIT(NULL, NULL);

#define MISUSE(name, ...)                                                                          \
    static void name(void *unused)                                                                 \
    {                                                                                              \
        (void)unused;                                                                              \
        misuse_without_lines();                                                                    \
        __VA_ARGS__                                                                                \
    }

MISUSE(add_late, pawl_counter_inc(&thread_counter); pawl_counter_destroy(&thread_counter);
       pawl_counter_inc(&thread_counter);)
MISUSE(add_late_in_handler, pawl_counter_destroy(&thread_counter);
       pawl_counter_add_in_handler(&thread_counter, 1);)
MISUSE(destroy_twice, pawl_counter_destroy(&thread_counter); pawl_counter_destroy(&thread_counter);)
MISUSE(cpu_add_late, pawl_cpu_counter_destroy(&cpu_counter); pawl_cpu_counter_inc(&cpu_counter);)
MISUSE(cpu_destroy_twice, pawl_cpu_counter_destroy(&cpu_counter);
       pawl_cpu_counter_destroy(&cpu_counter);)
MISUSE(exact_add_late, pawl_counter_exact_destroy(&exact); pawl_counter_exact_sub(&exact, 1);)
MISUSE(exact_destroy_twice, pawl_counter_exact_destroy(&exact); pawl_counter_exact_destroy(&exact);)
MISUSE(limit_add_late, pawl_counter_limit_destroy(&limited);
       (void)!pawl_counter_limit_try_add(&limited, 1);)
MISUSE(limit_sub_late, pawl_counter_limit_destroy(&limited); pawl_counter_limit_sub(&limited, 1);)
MISUSE(limit_destroy_twice, pawl_counter_limit_destroy(&limited);
       pawl_counter_limit_destroy(&limited);)
MISUSE(get_late, pawl_bigref_kill(&ref); pawl_bigref_drop(&ref); pawl_bigref_get(&ref);)
MISUSE(drop_late, pawl_bigref_kill(&ref); pawl_bigref_drop(&ref); pawl_bigref_drop(&ref);)
MISUSE(drop_too_often, pawl_bigref_drop(&ref); pawl_bigref_drop(&ref); pawl_bigref_kill(&ref);)

/* Another thread stands in the middle of an operation on the object when it is destroyed. */
struct stuck {
    const void *object;
    pthread_barrier_t inside;
};

static void *stand_inside(void *opaque)
{
    struct stuck *s = (struct stuck *)opaque;
    pawl_counter own = PAWL_COUNTER_INIT;
    pawl_counter_inc(&own);
    must(ipawl_counter_mine_()->block != NULL);
    pawl_store_relaxed64(ipawl_cell_(ipawl_counter_mine_()->block, 24), (uintptr_t)s->object);
    pthread_barrier_wait(&s->inside);
    for (;;)
        pause();
    return NULL;
}

static void while_another_is_inside(const void *object)
{
    static struct stuck s;
    misuse_without_lines();
    s.object = object;
    must(pthread_barrier_init(&s.inside, NULL, 2) == 0);
    (void)test_start(stand_inside, &s);
    pthread_barrier_wait(&s.inside);
}

#define BESIDE(name, object, destroy)                                                              \
    static void name(void *unused)                                                                 \
    {                                                                                              \
        (void)unused;                                                                              \
        while_another_is_inside(&object);                                                          \
        (void)destroy(&object);                                                                    \
    }

BESIDE(destroy_beside, thread_counter, pawl_counter_destroy)
BESIDE(cpu_destroy_beside, cpu_counter, pawl_cpu_counter_destroy)
BESIDE(exact_destroy_beside, exact, pawl_counter_exact_destroy)
BESIDE(limit_destroy_beside, limited, pawl_counter_limit_destroy)

TEST_CASE(destroying_what_another_thread_is_using_is_reported)
{
    assert_reports(destroy_beside, NULL, "pawl: destroyed while in use: pawl_counter at ",
                   "by pawl_counter_destroy in thread ", NULL);
    assert_reports(cpu_destroy_beside, NULL, "destroyed while in use: pawl_cpu_counter", NULL);
    assert_reports(exact_destroy_beside, NULL, "destroyed while in use: pawl_counter_exact", NULL);
    assert_reports(limit_destroy_beside, NULL, "destroyed while in use: pawl_counter_limit", NULL);
}

TEST_CASE(every_use_after_the_end_is_reported_with_what_and_by_which_call)
{
    static const struct {
        void (*body)(void *);
        const char *what, *call;
    } cases[] = {
        {add_late, "pawl: use after destroy: pawl_counter at ", "by pawl_counter_add in thread "},
        {add_late_in_handler, "pawl: use after destroy: pawl_counter at ", "by pawl_counter_add"},
        {destroy_twice, "pawl: destroyed twice: pawl_counter at ", "by pawl_counter_destroy"},
        {cpu_add_late, "pawl: use after destroy: pawl_cpu_counter at ", "by pawl_cpu_counter_add"},
        {cpu_destroy_twice, "destroyed twice: pawl_cpu_counter", "by pawl_cpu_counter_destroy"},
        {exact_add_late, "use after destroy: pawl_counter_exact", "by pawl_counter_exact_add"},
        {exact_destroy_twice, "destroyed twice: pawl_counter_exact",
         "by pawl_counter_exact_destroy"},
        {limit_add_late, "use after destroy: pawl_counter_limit", "by pawl_counter_limit_try_add"},
        {limit_sub_late, "use after destroy: pawl_counter_limit", "by pawl_counter_limit_sub"},
        {limit_destroy_twice, "destroyed twice: pawl_counter_limit",
         "by pawl_counter_limit_destroy"},
        {get_late, "pawl: get after release: pawl_bigref at ", "by pawl_bigref_get in thread "},
        {drop_late, "pawl: drop after release: pawl_bigref at ", "by pawl_bigref_drop in thread "},
        {drop_too_often, "pawl: more drops than gets: pawl_bigref at ", "by pawl_bigref_kill"},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_reports(cases[i].body, NULL, cases[i].what, cases[i].call, NULL);
}

static void use_all_rightly(void *opaque, unsigned index)
{
    (void)opaque, (void)index;
    for (int i = 0; i < 100; i++) {
        pawl_counter_inc(&thread_counter);
        pawl_cpu_counter_inc(&cpu_counter);
        pawl_counter_exact_add(&exact, 1);
        if (pawl_counter_limit_try_add(&limited, 1))
            pawl_counter_limit_sub(&limited, 1);
        pawl_bigref_get(&ref);
        pawl_bigref_drop(&ref);
    }
}

SILENT_CASE(right_use_is_silent)
{
    test_threads(4, use_all_rightly, NULL);
    must(pawl_counter_destroy(&thread_counter) == 400);
    must(pawl_cpu_counter_destroy(&cpu_counter) == 400);
    must(pawl_counter_exact_read(&exact) == 400);
    must(pawl_counter_exact_destroy(&exact) == 400);
    must(pawl_counter_limit_destroy(&limited) == 0);
    must(pawl_bigref_kill(&ref));
    must(pawl_bigref_try_get(&ref));
    pawl_bigref_drop(&ref);
    pawl_bigref_drop(&ref);
    must(!pawl_bigref_try_get(&ref)); /* asks, and is no mistake */
}

static void go_on(void *unused)
{
    must(setenv("PAWL_CHECK", "report", 1) == 0);
    add_late(unused);
    must(pawl_counter_read(&thread_counter) == 2);
    fprintf(stderr, "went on");
}

TEST_CASE(with_report_only_the_program_goes_on_and_the_count_is_kept)
{
    static char said[65536];
    assert_int_equal(test_in_child(go_on, NULL, said, sizeof said), 0);
    assert_non_null(strstr(said, "use after destroy"));
    assert_non_null(strstr(said, "went on"));
}

TEST_MAIN()
