/* SPDX-License-Identifier: MIT */
/* Waits that cannot end, and waits that take long: what the checking variant says of them. */
#include <sys/syscall.h>

#include "support/misuse.h"

#include "check/check.h" /* the count of long waits, for which holders wait */

#include <pawl/bitlock.h>
#include <pawl/brlock.h>

pawl_lock32 sleeping; /* not static: C++ would mangle its name */
static pawl_spin32 spinning;

/* ---- Memory that was never a lock ------------------------------------------------------------ */

union any_lock {
    pawl_spin16 spin16;
    pawl_spin32 spin32;
    pawl_spin64 spin64;
    pawl_lock32 lock32;
    pawl_lock64 lock64;
};

struct garbage {
    unsigned type, state;
    int byte;
};

#define TAKE(member)                                                                               \
    do {                                                                                           \
        switch (g->state) {                                                                        \
        case 0: pawl_take_read(&never.member); break;                                              \
        case 1: pawl_take_seek(&never.member); break;                                              \
        case 2: pawl_take_write(&never.member); break;                                             \
        default: pawl_take_atomic(&never.member);                                                  \
        }                                                                                          \
    } while (0)

static void take_garbage(void *opaque)
{
    const struct garbage *g = (const struct garbage *)opaque;
    union any_lock never;
    misuse_without_lines();
    memset(&never, g->byte, sizeof never);
    switch (g->type) {
    case 0: TAKE(spin16); break;
    case 1: TAKE(spin32); break;
    case 2: TAKE(spin64); break;
    case 3: TAKE(lock32); break;
    default: TAKE(lock64);
    }
}

TEST_CASE(a_take_in_memory_that_was_never_zeroed_is_reported_instead_of_waiting)
{
    static const char *const types[] = {"pawl_spin16", "pawl_spin32", "pawl_spin64", "pawl_lock32",
                                        "pawl_lock64"};
    static const int bytes[] = {0xa5, 0x5a, 0x77};
    struct garbage g;
    for (g.type = 0; g.type < 5; g.type++)
        for (g.state = 0; g.state < 4; g.state++)
            for (unsigned i = 0; i < 3; i++) {
                char first[100];
                g.byte = bytes[i];
                snprintf(first, sizeof first,
                         "pawl: waits for a holder that does not exist: %s at ", types[g.type]);
                assert_reports(take_garbage, &g, first, "this thread asks for ", "the word was 0x",
                               "mend: zero the lock's memory", NULL);
            }
}

/* A read that any thread may drop has no entry, but waits for holders all the same. */
REPORTED_CASE(take_counted_in_garbage_is_reported,
              "pawl: waits for a holder that does not exist: pawl_lock64",
              "by pawl_lock64_take_read_counted", "the word was 0x")
{
    static pawl_lock64 never;
    memset(&never, 0xa5, sizeof never);
    pawl_take_read_counted(&never);
}

REPORTED_CASE(take_counted_under_its_own_write_is_reported,
              "pawl: taken again by its holder: pawl_lock32", "by pawl_lock32_take_read_counted",
              "holds W, taken at ")
{
    pawl_take_write(&sleeping);
    pawl_take_read_counted(&sleeping);
}

/* One reader that is none: a seeker is granted beside it, and would wait as a writer. */
REPORTED_CASE(a_transition_that_would_wait_for_nobody_is_reported,
              "pawl: waits for a holder that does not exist: pawl_spin32",
              "by pawl_spin32_seek_to_write", "goes from S to W", "S 1, R 2")
{
    static pawl_spin32 never = {4};
    pawl_take_seek(&never);
    pawl_seek_to_write(&never);
}

/* ---- Holders that are gone ------------------------------------------------------------------- */

static void *take_and_vanish(void *unused)
{
    pawl_take_write(&spinning);
    syscall(SYS_exit, 0); /* no destructor of thread data runs */
    return unused;
}

REPORTED_CASE(a_take_behind_a_thread_that_vanished_is_reported,
              "pawl: waits for a holder whose thread is gone: pawl_spin32 at ",
              "by pawl_spin32_take_read", ", which is gone, holds W, taken at ", "mend: drop ")
{
    uint32_t id = 0;
    (void)test_start(take_and_vanish, unused);
    while (id == 0)
        for (unsigned i = 0; i < check_lines_used(); i++)
            if (check_state(check_what_of(&check_here()->lines[i].held[0])) == PAWL_STATE_W)
                id = check_owner(&check_here()->lines[i]);
    test_await(!pawl_os_thread_lives(id));
    pawl_take_read(&spinning);
}

static uint32_t held;     /* 1: the other thread holds */
static uint32_t released; /* 1: it may drop */

static void *hold_until_released(void *unused)
{
    pawl_take_write(&sleeping);
    pawl_store_release32(&held, 1, PAWL_TAG_NONE_);
    test_await(pawl_load_acquire32(&released, PAWL_TAG_NONE_) != 0);
    pawl_drop_write(&sleeping);
    return unused;
}

static pthread_t start_holder(void)
{
    const pthread_t thread = test_start(hold_until_released, NULL);
    test_await(pawl_load_acquire32(&held, PAWL_TAG_NONE_) != 0);
    return thread;
}

REPORTED_CASE(a_take_of_what_a_thread_of_the_parent_holds_is_reported,
              "pawl: waits for a holder whose thread is gone: pawl_lock32 at ",
              "a thread that is gone had it in W, taken at ")
{
    (void)start_holder();
    pid_t child = fork();
    must(child >= 0);
    if (child == 0) {
        pawl_take_read(&sleeping);
        _exit(0);
    }
    const int status = test_wait(child);
    must(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    abort();
}

/* ---- Long waits ------------------------------------------------------------------------------ */

static void watch(void)
{
    must(setenv("PAWL_CHECK_WAIT", "0.002", 1) == 0);
}

static void await_reports(uint32_t count)
{
    test_await(pawl_load_relaxed32(&check_here()->long_waits) >= count);
}

static void *release_after_a_report(void *unused)
{
    await_reports(1);
    pawl_store_release32(&released, 1, PAWL_TAG_NONE_);
    return unused;
}

static void wait_for_the_holder(void *unused)
{
    watch();
    pthread_t holder = start_holder();
    const pthread_t opener = test_start(release_after_a_report, unused);
    pawl_take_write(&sleeping); /* ends after the report */
    pawl_drop_write(&sleeping);
    must(pthread_join(holder, NULL) == 0 && pthread_join(opener, NULL) == 0);
    fprintf(stderr, "went on\n");
    abort();
}

TEST_CASE(a_long_wait_is_reported_with_waiter_and_holder_and_the_program_goes_on)
{
    assert_reports(wait_for_the_holder, NULL, "pawl: waits for long: pawl_lock32 at ", "(sleeping)",
                   "asks for W, asked at ", "page: doc/lock.md", "went on", NULL);
    assert_reports(wait_for_the_holder, NULL, "pawl: waits for long: pawl_lock32 at ",
                   "holds W, taken at ", NULL);
}

/* The parent's watch does not come along: the child's first such wait starts one. */
static void wait_in_a_child_of_one_that_waited(void *unused)
{
    int status;
    watch();
    pthread_t holder = start_holder();
    const pthread_t opener = test_start(release_after_a_report, unused);
    pawl_take_write(&sleeping);
    pawl_drop_write(&sleeping);
    must(pthread_join(holder, NULL) == 0 && pthread_join(opener, NULL) == 0);
    pid_t child = fork();
    must(child >= 0);
    if (child == 0) {
        alarm(TEST_HANGS);
        pawl_store_relaxed32(&held, 0);
        pawl_store_relaxed32(&released, 0);
        pawl_store_relaxed32(&check_here()->long_waits, 0);
        fprintf(stderr, "the child waits\n");
        wait_for_the_holder(unused);
    }
    must(waitpid(child, &status, 0) == child);
    abort();
}

TEST_CASE(a_child_of_fork_starts_a_watch_of_its_own)
{
    if (PAWL_TSAN_)
        skip(); /* it lets no child of a process with several threads start one */
    assert_reports(wait_in_a_child_of_one_that_waited, NULL, "the child waits",
                   "pawl: waits for long: pawl_lock32 at ", "went on", NULL);
}

pawl_spin64 beside; /* not static: C++ would mangle its name */

static void *wait_with_a_deadline(void *unused)
{
    must(pawl_take_write_until(&sleeping, UINT64_MAX - 1));
    pawl_drop_write(&sleeping);
    return unused;
}

static void *wait_without_one(void *unused)
{
    pawl_take_write(&beside);
    pawl_drop_write(&beside);
    return unused;
}

/* The second wait begins after the first. Once it is reported, the first has been passed over. */
static void wait_with_and_without_a_deadline(void *unused)
{
    watch();
    pthread_t holder = start_holder();
    pawl_take_write(&beside);
    const pthread_t first = test_start(wait_with_a_deadline, unused);
    test_await((pawl_load_relaxed32(&sleeping.word) & PAWL_LOCK_PARKED) != 0);
    const pthread_t second = test_start(wait_without_one, unused);
    await_reports(1);
    pawl_drop_write(&beside);
    pawl_store_release32(&released, 1, PAWL_TAG_NONE_);
    must(pthread_join(holder, NULL) == 0 && pthread_join(first, NULL) == 0);
    test_join(second);
    abort();
}

TEST_CASE(a_wait_with_a_deadline_is_not_reported)
{
    assert_reports(wait_with_and_without_a_deadline, NULL, "waits for long: pawl_spin64 at ",
                   "(beside)", NULL);
    if (strstr(misuse_said, "waits for long: pawl_lock32") != NULL)
        fail_msg("the wait with a deadline is reported:\n%s", misuse_said);
}

static pawl_brlock big;
static uint32_t bits;
static pawl_seq seq = PAWL_SEQ_INIT;

static void *hold_others(void *unused)
{
    must(pawl_brlock_init(&big, 8) == 0);
    pawl_brlock_take_write(&big);
    pawl_bitlock32_take(&bits, 7);
    pawl_seq_begin_write(&seq);
    pawl_store_release32(&held, 1, PAWL_TAG_NONE_);
    await_reports(3);
    pawl_seq_end_write(&seq);
    pawl_bitlock32_drop(&bits, 7);
    pawl_brlock_drop_write(&big);
    return unused;
}

static void *read_big(void *unused)
{
    pawl_brlock_take_read(&big);
    pawl_brlock_drop_read(&big);
    return unused;
}

static void *take_bit(void *unused)
{
    pawl_bitlock32_take(&bits, 7);
    pawl_bitlock32_drop(&bits, 7);
    return unused;
}

static void *read_seq(void *unused)
{
    (void)pawl_seq_begin(&seq);
    return unused;
}

static void wait_for_others(void *unused)
{
    static void *(*const bodies[])(void *) = {hold_others, read_big, take_bit, read_seq};
    pthread_t threads[4];
    watch();
    for (unsigned i = 0; i < 4; i++) {
        threads[i] = test_start(bodies[i], unused);
        test_await(pawl_load_acquire32(&held, PAWL_TAG_NONE_) != 0);
    }
    test_join_all(threads, 4);
    abort();
}

TEST_CASE(long_waits_for_other_primitives_are_reported_too)
{
    static const char *const texts[] = {
        "waits for long: pawl_brlock at ", "waits in pawl_brlock_take_read, called at ",
        "waits for long: bit lock at ",    "waits in take, called at ",
        "waits for long: pawl_seq at ",    "waits in pawl_seq_begin, called at ",
        " had it when that wait began"};
    for (unsigned i = 0; i < sizeof texts / sizeof texts[0]; i++)
        assert_reports(wait_for_others, NULL, texts[i], NULL);
}

static void *vanish_behind_a_waiter(void *unused)
{
    pawl_take_write(&sleeping);
    pawl_store_release32(&held, 1, PAWL_TAG_NONE_);
    test_await((pawl_load_relaxed32(&sleeping.word) & PAWL_LOCK_PARKED) != 0);
    syscall(SYS_exit, 0);
    return unused;
}

REPORTED_CASE(a_holder_that_vanishes_during_a_wait_is_reported,
              "waits for a holder whose thread is gone: pawl_lock32 at ",
              ", which is gone, holds W, taken at ")
{
    must(setenv("PAWL_CHECK_WAIT", "0.01", 1) == 0);
    (void)test_start(vanish_behind_a_waiter, unused);
    test_await(pawl_load_acquire32(&held, PAWL_TAG_NONE_) != 0);
    pawl_take_write(&sleeping);
}

TEST_MAIN()
