/* SPDX-License-Identifier: MIT */
/*
 * RCU and its callbacks where programs come to their edges: before main and after it, in the last
 * destructors of a thread, in threads that vanish, are cancelled or fork while others read. Nothing
 * is called early, nothing is forgotten, nobody waits for who is gone.
 */
#include "test.h"

#include <spawn.h>
#include <sys/syscall.h>

#include <pawl/rcu_call.h>

/* The children end with threads about, some of them vanished; what is not freed then is no leak. */
#if TEST_SANITIZED
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "detect_leaks=0";
}
#endif

enum { MANY = 100 };

struct object {
    pawl_rcu_head head;
    uint32_t called;
};

static struct object objects[MANY];

static void call_it(pawl_rcu_head *head)
{
    struct object *o = (struct object *)(void *)head; /* its first member */
    (void)pawl_fetch_add_relaxed32(&o->called, 1);
}

static uint32_t called(unsigned i)
{
    return pawl_load_relaxed32(&objects[i].called);
}

static void queue(unsigned i)
{
    pawl_store_relaxed32(&objects[i].called, 0);
    must(pawl_rcu_call(&objects[i].head, call_it, sizeof objects[i]) == 0);
}

static void read_some(void)
{
    pawl_rcu_read_lock();
    pawl_rcu_read_lock();
    must(pawl_rcu_read_held());
    pawl_rcu_read_unlock();
    pawl_rcu_read_unlock();
    must(!pawl_rcu_read_held());
}

/* All there is to RCU in one go. */
static void use_it(unsigned i)
{
    read_some();
    queue(i);
    pawl_rcu_synchronize();
    must(pawl_rcu_barrier() == 0);
    must(called(i) == 1);
    must(pawl_rcu_poll(pawl_rcu_start_poll()));
}

static void run(void *(*body)(void *), void *argument)
{
    test_elsewhere(body, argument);
}

static void say(const char *text)
{
    must(write(STDERR_FILENO, text, strlen(text)) == (ssize_t)strlen(text));
}

static void __attribute__((unused)) assert_child_exits(void (*body)(void *), int expected,
                                                       const char *text)
{
    static char said[4096];
    const int status = test_in_child(body, NULL, said, sizeof said);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != expected)
        fail_msg("ended with %#x: %s", (unsigned)status, said);
    if (strstr(said, text) == NULL)
        fail_msg("did not say \"%s\" but: %s", text, said);
}

/* ---- Before main and after it ---------------------------------------------------------------- */

static unsigned used_early;

/* No constructor of the library's need have run, nor that of ThreadSanitizer. */
#if !PAWL_TSAN_
__attribute__((constructor(101))) static void before_all_others(void)
{
    read_some();
    pawl_rcu_synchronize();
    used_early++;
}
#endif

__attribute__((constructor)) static void before_main(void)
{
    use_it(0);
    used_early++;
}

static bool ends_loudly; /* in the child that tests it */

__attribute__((destructor(101))) static void after_all_others(void)
{
    if (!ends_loudly)
        return;
    use_it(3);
    say("last destructor");
}

TEST_CASE(constructors_may_read_call_and_wait)
{
    assert_int_equal(used_early, PAWL_TSAN_ ? 1 : 2);
}

static void exit_handler(void)
{
    use_it(1);
    say("exit handler, ");
}

static void __attribute__((unused)) end_by_exit(void *unused)
{
    ends_loudly = true;
    must(atexit(exit_handler) == 0);
    read_some();
    exit(3);
}

TEST_CASE(exit_handlers_and_destructors_may_read_call_and_wait)
{
#if PAWL_TSAN_
    skip(); /* it lets no child of a process with threads start one: the callbacks' worker */
#else
    assert_child_exits(end_by_exit, 3, "exit handler, last destructor");
#endif
}

#if defined(__GLIBC__)
static void quick_handler(void)
{
    use_it(2);
    say("quick exit handler");
}

static void __attribute__((unused)) end_by_quick_exit(void *unused)
{
    must(at_quick_exit(quick_handler) == 0);
    quick_exit(4);
}
#endif

TEST_CASE(quick_exit_handlers_may_read_call_and_wait)
{
#if defined(__GLIBC__) && !PAWL_TSAN_
    assert_child_exits(end_by_quick_exit, 4, "quick exit handler");
#else
    skip();
#endif
}

static void __attribute__((unused)) end_with_callbacks_queued(void *unused)
{
    for (unsigned i = 0; i < MANY; i++)
        queue(i);
    pawl_rcu_read_lock(); /* left open, too */
    for (unsigned i = 0; i < MANY; i++)
        queue(i);
    say("over");
    exit(5);
}

TEST_CASE(a_program_may_end_in_a_section_with_callbacks_queued)
{
#if PAWL_TSAN_ || PAWL_CHECKED
    skip();
#else
    assert_child_exits(end_with_callbacks_queued, 5, "over");
#endif
}

static void *outlive_main(void *main_thread)
{
    must(pthread_join(*(pthread_t *)main_thread, NULL) == 0);
    use_it(6); /* the section of the main thread has ended with it */
    say("outlived");
    exit(6);
}

static void __attribute__((unused)) end_main_first(void *unused)
{
    static pthread_t self;
    self = pthread_self();
    pawl_rcu_read_lock();
    (void)test_start(outlive_main, &self);
    pthread_exit(NULL);
}

TEST_CASE(the_main_thread_may_end_first_in_a_section)
{
#if PAWL_TSAN_ || PAWL_CHECKED
    skip();
#else
    assert_child_exits(end_main_first, 6, "outlived");
#endif
}

/* ---- The ends of threads --------------------------------------------------------------------- */

static pthread_key_t key;
static uint32_t rounds, handled;

static void read_in_handler(int number)
{
    read_some();
    (void)pawl_rcu_poll(pawl_rcu_start_poll());
    (void)pawl_fetch_add_relaxed32(&handled, 1);
}

/* Sets its key anew, so that it comes again after the library's own destructor. But that is after
 * ThreadSanitizer's too, which then bears neither signals nor code that it looks at. */
static void use_it_again_and_again(void *opaque)
{
    const unsigned i = (unsigned)(uintptr_t)opaque;
    read_some();
    queue(i);
    if (!PAWL_TSAN_)
        must(pthread_kill(pthread_self(), SIGUSR1) == 0);
    pawl_rcu_synchronize();
    (void)pawl_fetch_add_relaxed32(&rounds, 1);
    if (i % 4 != 0 && !PAWL_TSAN_)
        must(pthread_setspecific(key, (void *)(uintptr_t)(i - 1)) == 0);
}

static void *end_with_key(void *opaque)
{
    if ((uintptr_t)opaque % 8 < 4)
        read_some(); /* the library's key is armed before ours, or only at the end */
    must(pthread_setspecific(key, opaque) == 0);
    return NULL;
}

TEST_CASE(the_last_destructors_of_a_thread_may_read_call_and_wait)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = read_in_handler;
    must(sigaction(SIGUSR1, &action, NULL) == 0);
    must(pthread_key_create(&key, use_it_again_and_again) == 0);
    rounds = 0;
    handled = 0;
    for (unsigned i = 7; i < MANY; i += 4)
        run(end_with_key, (void *)(uintptr_t)i);
    must(pthread_key_delete(key) == 0);
    assert_int_equal(pawl_rcu_barrier(), 0);
    assert_true(rounds >= (PAWL_TSAN_ ? 24 : 24 * 3)); /* four each where the system does */
    assert_int_equal(handled, PAWL_TSAN_ ? 0 : rounds);
    for (unsigned i = 7; i < MANY; i += 4)
        assert_int_equal(called(i), 1);
}

#define READ_LOCK() pawl_rcu_read_lock()
#define READ_UNLOCK() pawl_rcu_read_unlock()
#include "support/reader.h"

/* How a thread goes: it returns, it is cancelled, or it tells nobody. */
enum ending { RETURNS, IS_CANCELLED, VANISHES, ENDINGS };

struct leaving {
    enum ending ending;
    unsigned object;
    bool in_section;
    pthread_barrier_t step;
};

static void *leave_somehow(void *opaque)
{
    struct leaving *l = (struct leaving *)opaque;
    read_some();
    queue(l->object);
    if (l->in_section)
        pawl_rcu_read_lock();
    pthread_barrier_wait(&l->step);
    if (l->ending == IS_CANCELLED)
        for (;;)
            pause();
#if defined(__linux__)
    if (l->ending == VANISHES)
        syscall(SYS_exit, 0);
#endif
    return NULL;
}

static void leave(struct leaving *l)
{
    must(pthread_barrier_init(&l->step, NULL, 2) == 0);
    const pthread_t thread = test_start(leave_somehow, l);
    pthread_barrier_wait(&l->step);
    if (l->ending == IS_CANCELLED)
        must(pthread_cancel(thread) == 0);
    test_join(thread);
    pthread_barrier_destroy(&l->step);
}

static bool can_be_tested(enum ending ending, bool in_section)
{
#if TEST_SANITIZED || PAWL_TSAN_ || !defined(__linux__)
    if (ending == VANISHES) /* the sanitizers want to be told */
        return false;
#endif
#if PAWL_CHECKED
    if (in_section) /* is reported */
        return false;
#endif
    return true;
}

static void leave_in_each_way(bool in_section)
{
    struct leaving l;
    unsigned i, n = 0;
    for (i = 0; i < 24; i++) {
        struct reader r;
        l.ending = (enum ending)(i % ENDINGS);
        l.object = n;
        l.in_section = in_section;
        if (!can_be_tested(l.ending, in_section))
            continue;
        n++;
        reader_begins(&r);
        leave(&l);
        assert_int_equal(called(l.object), 0); /* another one still reads */
        reader_ends(&r);
        if (i % 2 == 0) {
            assert_int_equal(pawl_rcu_barrier(), 0);
            assert_int_equal(called(l.object), 1);
        }
    }
    pawl_rcu_synchronize();
    assert_int_equal(pawl_rcu_barrier(), 0);
    for (i = 0; i < n; i++)
        assert_int_equal(called(i), 1);
}

TEST_CASE(callbacks_of_a_thread_run_however_it_went)
{
    leave_in_each_way(false);
}

TEST_CASE(a_section_ends_with_its_thread_however_that_went)
{
    leave_in_each_way(true);
}

/* ---- Fork and other processes ---------------------------------------------------------------- */

static uint32_t child_status;

static void in_child_of_readers(void)
{
    alarm(TEST_HANGS);
    must(pawl_rcu_read_held());
    must(pawl_rcu_barrier() == EDEADLK);
    for (unsigned i = 0; i < MANY; i++)
        must(called(i) == 0);
    pawl_rcu_read_unlock();
    must(pawl_rcu_read_held());
    pawl_rcu_read_unlock();
    pawl_rcu_synchronize(); /* the other readers are not here */
    must(pawl_rcu_barrier() == 0);
    for (unsigned i = 0; i < MANY; i++)
        must(called(i) == 1);
    use_it(0);
    _exit(0);
}

static void wait_for(pid_t child)
{
    const int status = test_wait(child);
    pawl_store_relaxed32(&child_status, (uint32_t)status);
}

TEST_CASE(a_fork_among_readers_leaves_each_process_its_own)
{
    struct reader r[3];
    unsigned i;
    pid_t child;
#if PAWL_TSAN_
    skip();
#endif
    for (i = 0; i < 3; i++)
        reader_begins(&r[i]);
    pawl_rcu_read_lock();
    pawl_rcu_read_lock();
    for (i = 0; i < MANY; i++)
        queue(i);
    fflush(NULL);
    child = fork();
    must(child >= 0);
    if (child == 0)
        in_child_of_readers();
    wait_for(child);
    assert_int_equal(child_status, 0);
    pawl_rcu_read_unlock();
    pawl_rcu_read_unlock();
    for (i = 0; i < MANY; i++)
        assert_int_equal(called(i), 0); /* the readers here are here still */
    for (i = 0; i < 3; i++)
        reader_ends(&r[i]);
    assert_int_equal(pawl_rcu_barrier(), 0);
    for (i = 0; i < MANY; i++)
        assert_int_equal(called(i), 1);
}

static void fork_in_handler(int number)
{
    const pid_t child = fork();
    must(child >= 0);
    if (child == 0) {
        alarm(TEST_HANGS);
        must(pawl_rcu_read_held());
        pawl_rcu_read_lock();
        pawl_rcu_read_unlock();
        pawl_rcu_read_unlock(); /* the section that was interrupted */
        must(!pawl_rcu_read_held());
        pawl_rcu_synchronize();
        _exit(0);
    }
    wait_for(child);
}

TEST_CASE(a_handler_that_interrupted_a_reader_may_fork)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = fork_in_handler;
    must(sigaction(SIGUSR2, &action, NULL) == 0);
    fflush(NULL);
    child_status = 1;
    pawl_rcu_read_lock();
    raise(SIGUSR2);
    must(pawl_rcu_read_held());
    pawl_rcu_read_unlock();
    assert_int_equal(child_status, 0);
    pawl_rcu_synchronize();
}

/* Without handlers of pthread_atfork, and in our memory until the program is there. */
TEST_CASE(a_program_may_be_started_in_a_section)
{
    static char name[] = "true";
    static char *arguments[] = {name, NULL};
    extern char **environ;
    pid_t child;
    pawl_rcu_read_lock();
    queue(0);
    must(posix_spawnp(&child, name, NULL, NULL, arguments, environ) == 0);
    wait_for(child);
    assert_int_equal(child_status, 0);
    must(pawl_rcu_read_held());
    assert_int_equal(called(0), 0);
    pawl_rcu_read_unlock();
    assert_int_equal(pawl_rcu_barrier(), 0);
    assert_int_equal(called(0), 1);
}

/* ---- Callbacks ------------------------------------------------------------------------------- */

static uint32_t stop, again;

static void call_for_ever(pawl_rcu_head *head)
{
    (void)pawl_fetch_add_relaxed32(&again, 1);
    if (pawl_load_relaxed32(&stop) == 0)
        must(pawl_rcu_call(head, call_for_ever, 0) == 0);
}

/* A barrier waits for what was called before it, not for what that calls. */
TEST_CASE(callbacks_that_call_for_ever_let_barriers_and_others_pass)
{
    static pawl_rcu_head endless[4];
    stop = 0;
    again = 0;
    for (unsigned i = 0; i < 4; i++)
        must(pawl_rcu_call(&endless[i], call_for_ever, 0) == 0);
    for (unsigned i = 0; i < 10; i++) {
        queue(i);
        assert_int_equal(pawl_rcu_barrier(), 0);
        assert_int_equal(called(i), 1);
    }
    assert_true(pawl_load_relaxed32(&again) >= 4);
    pawl_store_relaxed32(&stop, 1);
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(pawl_rcu_barrier(), 0); /* what they had called before they saw it */
}

TEST_MAIN()
