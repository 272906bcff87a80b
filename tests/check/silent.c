/* SPDX-License-Identifier: MIT */
/* Correct programs: the checking variant has nothing to say, and behaves as the release one. */
#include <malloc.h>

#include "support/misuse.h"
#include "support/unused.h"

#include "check/check.h" /* to make the last instant of a drop last */

static pawl_spin16 lock16;
static pawl_spin32 lock32, second, third;
static pawl_spin64 lock64;
static void *const locks[WIDTHS] = {&lock16, &lock32, &lock64};

/* ---- Every operation of transitions.def ------------------------------------------------------ */

SILENT_CASE(each_operation_from_the_state_it_needs_is_silent)
{
    for (unsigned width = 0; width < WIDTHS; width++)
        for (unsigned i = 0; i < OPERATIONS; i++) {
            const struct operation *o = &operations_of[width][i];
            reach(width, locks[width], o->from);
            must(o->run(locks[width])); /* alone, also the tries succeed */
            leave(width, locks[width], o->to);
        }
    must(lock16.word == 0 && lock32.word == 0 && lock64.word == 0);
}

static void fail_each_try(void *opaque)
{
    const unsigned width = *(const unsigned *)opaque;
    for (unsigned i = 0; i < OPERATIONS; i++) {
        const struct operation *o = &operations_of[width][i];
        if ((o->kind != KIND_try && o->kind != KIND_claim) || o->from != PAWL_STATE_U)
            continue;
        must(!o->run(locks[width]));
    }
}

SILENT_CASE(tries_that_fail_are_silent)
{
    for (unsigned width = 0; width < WIDTHS; width++) {
        reach(width, locks[width], PAWL_STATE_W);
        in_another_thread(fail_each_try, &width);
        leave(width, locks[width], PAWL_STATE_W);
    }
    must(lock16.word == 0 && lock32.word == 0 && lock64.word == 0);
}

/* ---- Reads that any thread may drop ---------------------------------------------------------- */

static pawl_lock64 counted64;
static pawl_lock32 counted32;

static void write_counted(void *dropped)
{
    pawl_take_write(&counted64);
    must(__atomic_load_n((int *)dropped, __ATOMIC_RELAXED) == 1);
    pawl_drop_write(&counted64);
}

static void drop_counted_once_a_writer_waits(void *opaque, unsigned index)
{
    if (index == 0) {
        write_counted(opaque);
        return;
    }
    /* The writer has claimed the lock, and looks or sleeps until the reader has left. */
    while (!pawl_lock64_is_write(&counted64) && pawl_try_read_counted(&counted64)) {
        pawl_drop_read_counted(&counted64);
        sched_yield();
    }
    __atomic_store_n((int *)opaque, 1, __ATOMIC_RELAXED);
    pawl_drop_read_counted(&counted64);
}

/* One thread reads, a second one waits to write, a third one drops the read. The reader has no
 * entry: the writer must not take its unit for a holder that does not exist. */
SILENT_CASE(a_read_that_another_thread_drops_is_silent)
{
    int dropped = 0;
    pawl_take_read_counted(&counted64);
    test_threads(2, drop_counted_once_a_writer_waits, &dropped);
    must(pawl_take_read_counted_until(&counted32, 0));
    must(pawl_try_read_counted(&counted32));
    pawl_take_seek(&counted32);
    must(!pawl_seek_to_write_until(&counted32, 1));
    pawl_drop_seek(&counted32);
    pawl_drop_read_counted(&counted32);
    pawl_drop_read_counted(&counted32);
    pawl_take_write(&counted32);
    must(!pawl_try_read_counted(&counted32) && !pawl_take_read_counted_until(&counted32, 1));
    pawl_drop_write(&counted32);
    must(LOCK_IS_UNUSED(counted32) && LOCK_IS_UNUSED(counted64));
}

/* 1. A counted read has waited for 0.6 ms behind writers. Its thread takes its turn: its W+S is in
 *    the word beside those of a writer, and it has no entry.
 * 2. Another writer asks for the lock. It found units of two writers and one holder, and took the
 *    reader's for those of a holder that does not exist.
 * The first writer drops and takes until a reader has its turn behind it, or for a while: under
 * ThreadSanitizer it may have none. It keeps the lock while the other writer asks. */
static void read_behind_writers(void *opaque, unsigned index)
{
    const struct timespec while_it_asks = {0, 2000000};
    int *const asks = (int *)opaque;
    if (index == 0) {
        int rounds = 0;
        pawl_take_write(&counted64);
        while (__atomic_load_n(&counted64.word, __ATOMIC_RELAXED) >> 34 != 2 && rounds++ < 50000) {
            pawl_drop_write(&counted64);
            pawl_take_write(&counted64);
        }
        __atomic_store_n(asks, 1, __ATOMIC_RELAXED);
        (void)nanosleep(&while_it_asks, NULL);
        pawl_drop_write(&counted64);
        return;
    }
    while (__atomic_load_n(asks, __ATOMIC_RELAXED) == 0) {
        if (index == 1) {
            pawl_take_read_counted(&counted64);
            pawl_drop_read_counted(&counted64);
        }
        sched_yield();
    }
    if (index == 2)
        write_counted(asks);
}

SILENT_CASE(a_counted_read_that_waits_in_its_turn_is_silent)
{
    int asks = 0;
    test_threads(3, read_behind_writers, &asks);
    must(LOCK_IS_UNUSED(counted64));
}

/* ---- Random walks of several threads --------------------------------------------------------- */

struct walk {
    unsigned width;
    uint64_t seed;
};

static void walk_about(void *opaque, unsigned index)
{
    const struct walk *walk = (const struct walk *)opaque;
    uint64_t random = walk->seed + index * 1000u + walk->width;
    enum pawl_state held = PAWL_STATE_U;
    bool must_drop = false; /* a reader whose upgrade failed has to make way */
    unsigned steps = (unsigned)TEST_SCALE(20000);
    while (steps > 0 || held != PAWL_STATE_U) {
        const struct operation *o =
            &operations_of[walk->width][test_random_below(&random, OPERATIONS)];
        steps -= steps > 0;
        if (o->from != held || ((must_drop || steps == 0) && o->kind != KIND_drop))
            continue;
        if (o->run(locks[walk->width]) || o->kind == KIND_tells) {
            held = o->to;
            must_drop = false;
        } else {
            must_drop = held == PAWL_STATE_R;
        }
    }
}

static void walk_in_threads(void *opaque)
{
    struct walk *walk = (struct walk *)opaque;
    for (walk->width = 0; walk->width < WIDTHS; walk->width++)
        test_threads(4, walk_about, walk);
    must(lock16.word == 0 && lock32.word == 0 && lock64.word == 0);
}

TEST_CASE(threads_that_keep_to_the_rules_are_silent)
{
    struct walk walk = {0, test_seed()};
    assert_silent(walk_in_threads, &walk);
}

/* ---- The last one destroys ------------------------------------------------------------------- */

struct counted {
    pawl_spin32 lock;
    unsigned users;
};

static struct counted *offered[2];

static void use_and_free(void *opaque, unsigned index)
{
    pthread_barrier_t *both = (pthread_barrier_t *)opaque;
    unsigned rounds = (unsigned)TEST_SCALE(3000);
    while (rounds-- > 0) {
        struct counted *c;
        if (index == 0) {
            c = (struct counted *)calloc(1, sizeof *c);
            must(c != NULL);
            c->users = 2;
            offered[0] = offered[1] = c;
        }
        (void)pthread_barrier_wait(both);
        c = offered[index];
        pawl_take_write(&c->lock);
        bool last = --c->users == 0;
        pawl_drop_write(&c->lock);
        if (last) { /* the other may still be about to return from its drop */
            pawl_destroy(&c->lock);
            free(c);
        }
        (void)pthread_barrier_wait(both);
    }
}

static void destroy_it(void *unused)
{
    pawl_destroy(&second);
    pawl_init(&second);
}

SILENT_CASE(a_lock_may_be_destroyed_and_made_anew_between_a_drop_and_its_return)
{
    pawl_take_write(&second);
    struct pawl_check_line *line = check_line();
    must(check_lock_of(&line->held[0]) == (uintptr_t)&second);
    pawl_store_relaxed32(&line->held[0].what, check_what_of(&line->held[0]) | CHECK_LEAVING);
    pawl_store_relaxed32(&second.word, 0); /* now we have dropped, and have yet to return */
    in_another_thread(destroy_it, unused);
}

SILENT_CASE(the_last_user_may_destroy_while_another_returns_from_its_drop)
{
    pthread_barrier_t both;
    must(pthread_barrier_init(&both, NULL, 2) == 0);
    test_threads(2, use_and_free, &both);
}

/* T1 drops: its entry says LEAVING, the word falls, the entry's `what` becomes 0. T2, the next
 * owner, destroys the lock now. T1's entry still names the lock, but T1 has nothing of it. */
SILENT_CASE(a_lock_may_be_destroyed_while_the_last_entry_for_it_is_being_freed)
{
    struct pawl_held *held = &check_line()->held[3];
    PAWL_ADDRESS_(pawl_store_relaxed)(&held->lock, (ipawl_address_)(uintptr_t)&second);
    pawl_store_relaxed32(&held->what, 0);
    pawl_store_relaxed32(&check_line()->held_used, 4);
    pawl_spin32_destroy(&second);
}

/* ---- Signal handlers ------------------------------------------------------------------------- */

static uint32_t handled;
static uint32_t worker_is_done;

static void handle(int number)
{
    const int saved = errno;
    if (pawl_try_write(&third))
        pawl_drop_write(&third);
    if (pawl_try_read(&lock32)) /* perhaps inside the R of the interrupted thread */
        pawl_drop_read(&lock32);
    (void)pawl_fetch_add_relaxed32(&handled, 1);
    must(errno == saved);
}

static void *nest_under_signals(void *unused)
{
    while (pawl_load_relaxed32(&handled) < (unsigned)TEST_SCALE(1000)) {
        pawl_take_read(&lock32);
        pawl_take_seek(&second);
        pawl_seek_to_write(&second);
        pawl_drop_write(&second);
        pawl_drop_read(&lock32);
        pawl_take_write(&third);
        pawl_destroy(&second); /* nobody else uses it: forgets its order, under signals */
        pawl_drop_write(&third);
    }
    pawl_store_release32(&worker_is_done, 1, PAWL_TAG_NONE_);
    return unused;
}

SILENT_CASE(a_signal_handler_may_try)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handle;
    must(sigaction(SIGUSR1, &action, NULL) == 0);
    const pthread_t worker = test_start(nest_under_signals, NULL);
    while (!pawl_load_acquire32(&worker_is_done, PAWL_TAG_NONE_)) {
        must(pthread_kill(worker, SIGUSR1) == 0);
        sched_yield();
    }
    test_join(worker);
}

/* ---- fork ------------------------------------------------------------------------------------ */

static void wait_for_success(pid_t child)
{
    must(child >= 0);
    must(test_wait(child) == 0);
}

SILENT_CASE(a_forked_child_holds_what_the_forking_thread_held)
{
    pawl_take_seek(&lock32);
    pid_t child = fork();
    if (child == 0) {
        pawl_assert_held_seek(&lock32);
        pawl_seek_to_write(&lock32);
        pawl_drop_write(&lock32);
        pawl_destroy(&lock32);
        _exit(0);
    }
    wait_for_success(child);
    pawl_assert_held_seek(&lock32);
    pawl_drop_seek(&lock32);
}

static uint32_t stop;

static void *order_and_forget(void *opaque)
{
    pawl_spin32 inner = PAWL_SPIN32_INIT;
    pawl_spin16 *outer = (pawl_spin16 *)opaque;
    while (!pawl_load_relaxed32(&stop)) {
        pawl_take_write(outer);
        pawl_take_read(&inner);
        pawl_drop_read(&inner);
        pawl_drop_write(outer);
        pawl_destroy(&inner);
    }
    return NULL;
}

SILENT_CASE(a_child_forked_while_others_are_in_the_checker_goes_on)
{
    static pawl_spin16 outer;
    const pthread_t busy = test_start(order_and_forget, &outer);
    for (unsigned i = 0; i < (unsigned)TEST_SCALE(200); i++) {
        const pid_t child = fork();
        if (child == 0) {
            pawl_take_read(&second);
            pawl_take_read(&third);
            pawl_drop_read(&third);
            pawl_drop_read(&second);
            pawl_destroy(&third);
            _exit(0);
        }
        wait_for_success(child);
    }
    pawl_store_relaxed32(&stop, 1);
    test_join(busy);
}

/* ---- Early, and without memory --------------------------------------------------------------- */

static bool worked_before_main;

__attribute__((constructor)) static void before_main(void)
{
    pawl_take_write(&second);
    pawl_take_read(&third);
    pawl_drop_read(&third);
    worked_before_main = pawl_spin32_is_write(&second);
    pawl_drop_write(&second);
}

TEST_CASE(locks_are_checked_before_main)
{
    assert_true(worked_before_main);
}

static void first_use_in_a_thread(void *taken)
{
    const size_t before = mallinfo2().uordblks;
    pawl_take_seek(&lock32);
    pawl_take_write(&lock64);
    pawl_drop_write(&lock64);
    pawl_drop_seek(&lock32);
    pawl_destroy(&lock64);
    *(size_t *)taken = mallinfo2().uordblks - before;
}

TEST_CASE(no_operation_allocates_memory)
{
    size_t taken = 1;
    if (TEST_SANITIZED) /* its allocator is not the one that mallinfo2 tells about */
        skip();
    in_another_thread(first_use_in_a_thread, &taken);
    assert_int_equal(taken, 0);
}

TEST_MAIN()
