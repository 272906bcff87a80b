/* SPDX-License-Identifier: MIT */
/* The lock for shared memory among signals, cancellation, fork, mappings that go, and bad input.
 * Other programs are in programs.c. */
#include "pshared/waiter.h"

#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

/* ---- Signals, cancellation, fork ------------------------------------------------------------- */

static void on_signal(int number)
{
}

static void interrupted(const struct width *x)
{
    struct sigaction action;
    struct task t;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal; /* without SA_RESTART */
    must(sigaction(SIGUSR1, &action, NULL) == 0);
    assert_true(x->tries[W](&lock));
    pthread_t id = start(&t, x, W, UINT64_MAX);
    until_parked(x);
    for (unsigned i = 0; i < 20; i++) {
        must(pthread_kill(id, SIGUSR1) == 0);
        usleep(200);
    }
    assert_int_equal(sem_trywait(&t.done), -1);
    x->drop[W](&lock);
    test_join(id);
    x->drop[W](&lock);
}

TEST_CASE(signals_do_not_end_a_wait)
{
    FOR_EACH_WIDTH(interrupted);
}

static void cancelled(const struct width *x)
{
    struct task t;
    void *result;
    assert_true(x->tries[W](&lock));
    pthread_t id = start(&t, x, R, UINT64_MAX);
    until_parked(x);
    must(pthread_cancel(id) == 0);
    usleep(2000);
    assert_int_equal(sem_trywait(&t.done), -1); /* still waits: no point of cancellation */
    x->drop[W](&lock);
    must(pthread_join(id, &result) == 0);
    assert_true(t.got);
    x->drop[R](&lock);
}

TEST_CASE(a_wait_is_no_cancellation_point)
{
    FOR_EACH_WIDTH(cancelled);
}

static void forked(const struct width *x)
{
    void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    uint32_t *tried; /* in the page too */
    struct task sleeper;
    must(page != MAP_FAILED);
    tried = (uint32_t *)page + 1000;
    assert_true(x->tries[W](&lock));
    pthread_t id = start(&sleeper, x, W, UINT64_MAX); /* fork while somebody is parked */
    until_parked(x);
    assert_true(x->tries[W](page));
    pid_t child = fork();
    must(child >= 0);
    if (child == 0) { /* `lock` is our own now, with nobody waiting; the page is the parent's */
        alarm(TEST_HANGS);
        x->drop[W](&lock);
        bool good = x->free(&lock) && x->tries[W](&lock) && !x->tries[R](page);
        pawl_store_relaxed32(tried, 1);
        if (!good)
            _exit(1);
        if (!x->take[S](page, UINT64_MAX))
            _exit(2);
        x->drop[S](page);
        _exit(0);
    }
    while (pawl_load_relaxed32(tried) == 0)
        sched_yield();
    usleep(10000); /* by now it sleeps, most often */
    x->drop[W](page);
    assert_int_equal(test_wait(child), 0);
    assert_true(x->free(page));
    x->drop[W](&lock);
    test_join(id);
    assert_true(sleeper.got);
    x->drop[W](&lock);
    munmap(page, 4096);
}

TEST_CASE(a_child_uses_unlocked_locks_and_waits_for_its_parents)
{
    FOR_EACH_WIDTH(forked);
}

/* The count of the parent's sleeper is in the child's copy. One drop wakes it in vain, and the next
 * one finds that nobody sleeps; from then on no operation makes a system call. */
static void forget_the_sleeper(void *argument)
{
    const struct width *x = (const struct width *)argument;
    x->drop[W](&lock);
    must(x->tries[W](&lock));
    x->drop[W](&lock);
    must(x->free(&lock) && !is_parked(x));
    if (!TEST_SANITIZED) /* they make their own calls */
        must(prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) == 0);
    for (unsigned i = 0; i < 4; i++) {
        x->take[i](&lock, UINT64_MAX);
        x->drop[i](&lock);
    }
    if (!TEST_SANITIZED)
        syscall(SYS_exit, 0); /* as strict mode allows it */
}

static void forked_beside_each(const struct width *x)
{
    static char said[4096];
    struct task sleeper;
    pthread_t id;
    for (unsigned as = 0; as < 4; as++) {
        assert_true(x->tries[W](&lock));
        id = start(&sleeper, x, as, UINT64_MAX);
        until_parked(x);
        assert_int_equal(test_in_child(forget_the_sleeper, (void *)x, said, sizeof said), 0);
        x->drop[W](&lock);
        test_join(id);
        assert_true(sleeper.got);
        x->drop[as](&lock);
    }
}

TEST_CASE(a_child_forgets_the_sleepers_of_its_parent_after_two_drops)
{
    FOR_EACH_WIDTH(forked_beside_each);
}

/* The parent's sleeper had been woken when the thread forked, and had not looked: as the head of
 * pshared.h draws `waits`. In the child it never looks. */
static void mark_as_roused(const struct width *x, unsigned as)
{
    uint32_t *waits = x->size == sizeof lock.l32 ? &lock.l32.waits : &lock.l64.waits;
    pawl_store_relaxed32(waits, (pawl_load_relaxed32(waits) & 63) | 64 | (as == W ? 16 : 32));
}

static void rely_on_the_roused(void *argument)
{
    const struct width *x = (const struct width *)argument;
    mark_as_roused(x, W);
    x->drop[W](&lock);
    if (!TEST_SANITIZED) /* they make their own calls */
        must(prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) == 0);
    for (unsigned i = 0; i < 4000; i++) {
        must(x->tries[W](&lock));
        x->drop[W](&lock);
    }
    must(is_parked(x));
    if (!TEST_SANITIZED)
        syscall(SYS_exit, 0); /* as strict mode allows it */
}

static void forget_the_roused(void *argument)
{
    const struct width *x = (const struct width *)argument;
    mark_as_roused(x, W);
    mark_as_roused(x, S);
    for (unsigned i = 0; is_parked(x); i++) {
        must(i < 5000);
        x->drop[W](&lock);
        must(x->tries[W](&lock));
    }
}

/* Nobody is left who clears the mark: the next sleeper does not rely on it. */
static void slept_beside_a_mark(const struct width *x)
{
    struct task sleeper;
    assert_true(x->tries[W](&lock));
    mark_as_roused(x, W);
    pthread_t id = start(&sleeper, x, W, UINT64_MAX);
    until_parked(x);
    x->drop[W](&lock);
    test_join(id);
    assert_true(sleeper.got);
    x->drop[W](&lock);
}

static void forked_beside_a_roused(const struct width *x, void (*does)(void *))
{
    static char said[4096];
    struct task sleeper;
    assert_true(x->tries[W](&lock));
    pthread_t id = start(&sleeper, x, W, UINT64_MAX);
    until_parked(x);
    assert_int_equal(test_in_child(does, (void *)x, said, sizeof said), 0);
    x->drop[W](&lock);
    test_join(id);
    assert_true(sleeper.got);
    x->drop[W](&lock);
}

#define BESIDE_A_ROUSED(does)                                                                      \
    static void beside_##does(const struct width *x)                                               \
    {                                                                                              \
        forked_beside_a_roused(x, does);                                                           \
    }
BESIDE_A_ROUSED(rely_on_the_roused)
BESIDE_A_ROUSED(forget_the_roused)

TEST_CASE(drops_beside_a_roused_writer_make_no_system_call)
{
    FOR_EACH_WIDTH(beside_rely_on_the_roused);
}

TEST_CASE(a_roused_writer_that_never_looks_is_relied_on_for_a_while_only)
{
    FOR_EACH_WIDTH(beside_forget_the_roused);
}

TEST_CASE(a_sleeper_does_not_rely_on_a_mark_that_nobody_clears)
{
    FOR_EACH_WIDTH(slept_beside_a_mark);
}

static void mapped_twice(const struct width *x)
{
    const int file = memfd_create("pawl", 0);
    struct task t;
    void *a, *b;
    must(file >= 0 && ftruncate(file, 4096) == 0);
    a = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    b = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    must(a != MAP_FAILED && b != MAP_FAILED && a != b);
    assert_true(x->tries[W](a));
    assert_false(x->tries[R](b));
    t.x = x, t.lock = b, t.as = R, t.deadline = UINT64_MAX, t.got = false;
    must(sem_init(&t.done, 0, 0) == 0);
    const pthread_t id = test_start(take_for, &t);
    usleep(10000);
    x->drop[W](a);
    test_join(id);
    x->drop[R](a);
    assert_true(x->free(b));
    munmap(a, 4096), munmap(b, 4096), close(file);
}

TEST_CASE(one_lock_at_two_addresses_is_one_lock)
{
    FOR_EACH_WIDTH(mapped_twice);
}

/* ---- Lifetime and system calls --------------------------------------------------------------- */

static void *take_and_unmap(void *argument)
{
    struct task *t = (struct task *)argument;
    must(t->x->take[t->as](t->lock, UINT64_MAX));
    must(munmap(t->lock, 4096) == 0); /* alone with it: nobody else will use it */
    return NULL;
}

static void unmapped_by_the_next(const struct width *x)
{
    const double end = test_now() + 0.5;
    uint64_t seed = test_seed();
    do {
        const unsigned as = test_random_below(&seed, 4);
        struct task t;
        void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        must(page != MAP_FAILED);
        t.x = x, t.lock = page, t.as = W;
        must(x->tries[as](page));
        const pthread_t id = test_start(take_and_unmap, &t);
        usleep(test_random_below(&seed, 100));
        x->drop[as](page); /* faults if it touches the lock after it has given it up */
        test_join(id);
    } while (test_now() < end);
}

TEST_CASE(the_next_owner_may_unmap_the_lock_at_once)
{
    FOR_EACH_WIDTH(unmapped_by_the_next);
}

static void all_operations_undisturbed(void *argument)
{
    memset(&lock, 0, sizeof lock);
    must(prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) == 0); /* read, write, _exit; or death */
    for (unsigned i = 0; i < WIDTHS; i++) {
        const struct width *x = &widths[i];
        for (unsigned j = 0; j < 4; j++) {
            x->take[j](&lock, UINT64_MAX);
            x->drop[j](&lock);
            x->tries[j](&lock);
            x->drop[j](&lock);
        }
        x->take[S](&lock, UINT64_MAX);
        x->seek_to_write(&lock, UINT64_MAX);
        x->drop[W](&lock);
        x->take[A](&lock, UINT64_MAX);
        x->turn(&lock, UINT64_MAX);
        x->read_to_write(&lock, UINT64_MAX);
        x->drop[W](&lock);
    }
    syscall(SYS_exit, 0);
}

TEST_CASE(undisturbed_nothing_makes_a_system_call)
{
    char said[256];
    if (TEST_SANITIZED)
        skip(); /* they make their own */
    assert_int_equal(test_in_child(all_operations_undisturbed, NULL, said, sizeof said), 0);
}

/* ---- Bad input ------------------------------------------------------------------------------- */

static void init_refuses(const struct width *x)
{
    assert_false(x->init(NULL));
    assert_false(x->init((char *)&lock + 2));
    lock.l64.word = UINT64_MAX;
    assert_true(x->init(&lock));
    assert_true(x->free(&lock));
}

TEST_CASE(init_refuses_null_and_misaligned)
{
    FOR_EACH_WIDTH(init_refuses);
}

static void take_null(void *argument)
{
    pawl_pshared_lock32_take_write((pawl_pshared_lock32 *)argument);
}

TEST_CASE(null_and_unmapped_fault_at_once)
{
    char said[4096];
    void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (TEST_SANITIZED)
        skip(); /* they make a report of it, and another status */
    must(page != MAP_FAILED && munmap(page, 4096) == 0);
    int status = test_in_child(take_null, NULL, said, sizeof said);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
    status = test_in_child(take_null, page, said, sizeof said);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
}

static void scribbled(const struct width *x)
{
    uint64_t seed = test_seed();
    for (unsigned round = 0; round < 200; round++) {
        for (unsigned i = 0; i < sizeof lock; i++)
            ((unsigned char *)&lock)[i] = (unsigned char)test_random(&seed);
        for (unsigned i = 0; i < 4; i++) { /* each comes back, with the lock or without */
            if (x->take[i](&lock, now_and(100000)))
                x->drop[i](&lock);
            if (x->tries[i](&lock))
                x->drop[i](&lock);
        }
    }
    memset(&lock, 0xff, sizeof lock);
    for (unsigned i = 0; i < 4; i++) {
        assert_false(x->take[i](&lock, now_and(2 * ms)));
        assert_false(x->tries[i](&lock));
    }
    memset(&lock, 0, sizeof lock);
}

TEST_CASE(a_scribbled_word_keeps_deadlines)
{
    FOR_EACH_WIDTH(scribbled);
}

#if defined(__x86_64__) || defined(__i386__)
static char room[64] __attribute__((aligned(64)));

static void *take_askew(void *argument)
{
    pawl_pshared_lock32_take_write((pawl_pshared_lock32 *)argument);
    pawl_pshared_lock32_drop_write((pawl_pshared_lock32 *)argument);
    return NULL;
}

TEST_CASE(a_misaligned_lock_waits_by_yielding)
{
    void *askew = room + 2;
    if (TEST_SANITIZED)
        skip(); /* they complain, rightly */
    pawl_pshared_lock32_take_write((pawl_pshared_lock32 *)askew);
    const pthread_t id = test_start(take_askew, askew);
    usleep(5000);
    pawl_pshared_lock32_drop_write((pawl_pshared_lock32 *)askew);
    test_join(id);
    assert_true(pawl_pshared_lock32_is_free((pawl_pshared_lock32 *)askew));
}
#endif

TEST_MAIN(alarm(TEST_HANGS))
