/* SPDX-License-Identifier: MIT */
/*
 * Every C test includes this: cmocka with what it needs, and a few helpers. Most programs are built
 * as C11 and again as C++17 (all but the C_ONLY ones of tests.cmake), so this has to be both.
 *
 *   TEST_CASE(a_sentence_that_states_one_fact)
 *   {
 *       assert_...;
 *   }
 *   TEST_MAIN()
 *
 * TEST_CASE_WITH(name, set_up, tear_down) has these run before and after; NULL for none. Where one
 * case stands for several rows, a list of them is given to test_run.
 * A test program takes --seed=N (or PAWL_SEED) and the name of one test, with * as a wildcard.
 * Only the thread that cmocka called may use assert_*; the others use must().
 */
#pragma once

/* cmocka defines fail, skip and more as macros, so the headers of C and C++ come first. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifdef __cplusplus
extern "C" {
#endif
#include <cmocka.h>
#ifdef __cplusplus
}
#endif

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TEST_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define TEST_SANITIZED 1
#endif
#endif
#ifndef TEST_SANITIZED
#define TEST_SANITIZED 0
#endif

/* Sanitizers slow a test down and widen its races: loops shrink by this. */
#define TEST_SCALE(n) (TEST_SANITIZED ? ((n) + 9) / 10 : (n))

/* The ThreadSanitizer of clang 14 fails itself in destructors of keys that come after its own.
 * After a handler of fork it reports a race that gcc's does not; nobody has found why. */
#define TEST_TSAN_OF_CLANG 0
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#undef TEST_TSAN_OF_CLANG
#define TEST_TSAN_OF_CLANG 1
#endif
#endif

/* Seconds after which an alarm ends what hangs: far longer than anything takes that goes on, also
 * beside other work; ctest's time-out comes later (tests/CMakeLists.txt). */
enum { TEST_HANGS = TEST_SANITIZED ? 560 : 280 };

/* For any thread, and for what must hold before cmocka runs: says where, and ends the program. */
#define must(condition)                                                                            \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s: must(%s)\n", __FILE__, __LINE__, __func__, #condition);    \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

/* What main() returns where this build or system cannot do the test; ctest counts it as skipped. */
static inline int test_skipped(const char *why)
{
    printf("skipped: %s\n", why);
    return 77;
}
#define TEST_SKIPPED(why)                                                                          \
    int main(void)                                                                                 \
    {                                                                                              \
        return test_skipped(why);                                                                  \
    }

/* ---- Seeds ----------------------------------------------------------------------------------- */

static inline uint64_t *test_seed_place(void)
{
    static uint64_t seed;
    return &seed;
}

/* The seed of this run; test_run prints it, and --seed=N brings it back. */
static inline uint64_t test_seed(void)
{
    return *test_seed_place();
}

/* The next number of a sequence that any state, zero included, may start (SplitMix64). */
static inline uint64_t test_random(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* A number below `bound`. */
static inline unsigned test_random_below(uint64_t *state, unsigned bound)
{
    return (unsigned)((test_random(state) >> 32) * bound >> 32);
}

/* ---- Running --------------------------------------------------------------------------------- */

static inline int test_run_group(int argc, char **argv, const struct CMUnitTest *tests, size_t n)
{
    const char *text = getenv("PAWL_SEED");
    for (int i = 1; i < argc; i++) {
        if (strncmp(argv[i], "--seed=", 7) == 0)
            text = argv[i] + 7;
        else
            cmocka_set_test_filter(argv[i]);
    }
    struct timespec now;
    must(clock_gettime(CLOCK_REALTIME, &now) == 0);
    *test_seed_place() = (uint64_t)now.tv_sec * 1000003u + (uint64_t)now.tv_nsec;
    if (text)
        *test_seed_place() = strtoull(text, NULL, 0);
    printf("seed %" PRIu64 "\n", test_seed());
    fflush(stdout);
    return _cmocka_run_group_tests(argv[0], tests, n, NULL, NULL);
}
#define test_run(argc, argv, tests)                                                                \
    test_run_group((argc), (argv), (tests), sizeof(tests) / sizeof((tests)[0]))

struct test_list {
    struct CMUnitTest cases[64];
    unsigned places[64];
    size_t count;
};

static inline struct test_list *test_cases(void)
{
    static struct test_list all;
    return &all;
}

/* Constructors of a file may run in any order; its cases run in the order of their places. */
static inline void test_add(unsigned place, struct CMUnitTest test)
{
    struct test_list *all = test_cases();
    size_t i = all->count++;
    must(i < sizeof(all->cases) / sizeof(all->cases[0]));
    for (; i > 0 && all->places[i - 1] > place; i--) {
        all->places[i] = all->places[i - 1];
        all->cases[i] = all->cases[i - 1];
    }
    all->cases[i] = test;
    all->places[i] = place;
}

#define TEST_CASE_WITH(name, set_up, tear_down)                                                    \
    static void name(void **state);                                                                \
    __attribute__((constructor)) static void test_add_##name(void)                                 \
    {                                                                                              \
        const struct CMUnitTest test = {#name, name, set_up, tear_down, NULL};                     \
        test_add(__COUNTER__, test);                                                               \
    }                                                                                              \
    static void name(void **state __attribute__((unused)))
#define TEST_CASE(name) TEST_CASE_WITH(name, NULL, NULL)

/* Runs the cases of the file, in their order. */
static inline int test_main(int argc, char **argv)
{
    return test_run_group(argc, argv, test_cases()->cases, test_cases()->count);
}

/* The program: a statement that comes before all cases, or nothing, and they. */
#define TEST_MAIN(...)                                                                             \
    int main(int argc, char **argv)                                                                \
    {                                                                                              \
        __VA_ARGS__;                                                                               \
        return test_main(argc, argv);                                                              \
    }

/* ---- Time boxes ------------------------------------------------------------------------------ */

/* Seconds for which a stress test may run: PAWL_STRESS_SECONDS, else `usual`. */
static inline double test_seconds(double usual)
{
    const char *text = getenv("PAWL_STRESS_SECONDS");
    return text ? strtod(text, NULL) : usual;
}

static inline double test_now(void)
{
    struct timespec now;
    must(clock_gettime(CLOCK_MONOTONIC, &now) == 0);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* ---- Threads --------------------------------------------------------------------------------- */

static inline pthread_t test_start(void *(*body)(void *), void *argument)
{
    pthread_t thread;
    must(pthread_create(&thread, NULL, body, argument) == 0);
    return thread;
}

static inline void test_join(pthread_t thread)
{
    must(pthread_join(thread, NULL) == 0);
}

static inline void test_start_all(pthread_t *threads, unsigned count, void *(*body)(void *))
{
    for (unsigned i = 0; i < count; i++)
        threads[i] = test_start(body, NULL);
}

static inline void test_join_all(const pthread_t *threads, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        test_join(threads[i]);
}

/* In a thread of its own, to its end. */
static inline void test_elsewhere(void *(*body)(void *), void *argument)
{
    test_join(test_start(body, argument));
}

/* Until the condition holds, which another thread sees to. */
#define test_await(condition)                                                                      \
    do {                                                                                           \
        while (!(condition))                                                                       \
            sched_yield();                                                                         \
    } while (0)

enum { TEST_MAX_THREADS = 256 };

struct test_thread {
    void (*body)(void *argument, unsigned index);
    void *argument;
    unsigned index;
    pthread_barrier_t *start;
    pthread_t id;
};

static inline void *test_thread_main(void *opaque)
{
    struct test_thread *self = (struct test_thread *)opaque;
    pthread_barrier_wait(self->start);
    self->body(self->argument, self->index);
    return NULL;
}

/* Calls body(argument, 0 .. count-1) in `count` threads that start together; returns when all
 * have. */
static inline void test_threads(unsigned count, void (*body)(void *, unsigned), void *argument)
{
    static struct test_thread threads[TEST_MAX_THREADS];
    pthread_barrier_t start;
    must(count >= 1 && count <= TEST_MAX_THREADS);
    must(pthread_barrier_init(&start, NULL, count) == 0);
    for (unsigned i = 0; i < count; i++) {
        threads[i].body = body;
        threads[i].argument = argument;
        threads[i].index = i;
        threads[i].start = &start;
        threads[i].id = test_start(test_thread_main, &threads[i]);
    }
    for (unsigned i = 0; i < count; i++)
        test_join(threads[i].id);
    pthread_barrier_destroy(&start);
}

/* ---- Children -------------------------------------------------------------------------------- */

/* The status of a child that has ended, or that a tracer waits for. */
static inline int test_wait(pid_t child)
{
    int status = 0;
    while (waitpid(child, &status, 0) < 0)
        must(errno == EINTR);
    return status;
}

/* The status of a child that runs the body and exits with its result. */
static inline int test_fork(int (*body)(void))
{
    const pid_t child = fork();
    must(child >= 0);
    if (child == 0) {
        alarm(TEST_HANGS);
        _exit(body());
    }
    return test_wait(child);
}

/* Runs body(argument) in a child process and collects what it writes to standard error, with a
 * final zero byte. Returns the status that waitpid gives; a child that returns exits with 0. */
static inline int test_in_child(void (*body)(void *), void *argument, char *said, size_t size)
{
    int ends[2];
    must(pipe(ends) == 0);
    fflush(NULL);
    const pid_t child = fork();
    must(child >= 0);
    if (child == 0) {
        for (int number = 1; number < NSIG; number++) /* cmocka's handlers would hide the death */
            signal(number, SIG_DFL);
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        close(ends[1]);
        alarm(TEST_HANGS); /* a child that hangs ends by a signal that no test expects */
        void (*volatile run)(void *) = body; /* not inlined, so that reports name it */
        run(argument);
        _exit(0);
    }
    close(ends[1]);
    size_t length = 0;
    for (;;) {
        char spill[256];
        const bool room = length + 1 < size;
        const ssize_t got = room ? read(ends[0], said + length, size - 1 - length)
                                 : read(ends[0], spill, sizeof(spill));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        if (room)
            length += (size_t)got;
    }
    said[length] = 0;
    close(ends[0]);
    return test_wait(child);
}

/* body(argument) must abort, and what it wrote to standard error must hold `text`. */
static inline void assert_aborts_saying(void (*body)(void *), void *argument, const char *text)
{
    static char said[65536];
    const int status = test_in_child(body, argument, said, sizeof(said));
    if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGABRT)
        fail_msg("did not abort (status %#x); wrote:\n%s", (unsigned)status, said);
    if (!strstr(said, text))
        fail_msg("aborted without saying \"%s\"; wrote:\n%s", text, said);
}
