/* SPDX-License-Identifier: MIT */
/*
 * How a lock in shared memory behaves under signals, cancellation and fork. A handler may interrupt
 * the holder, so it only tries. A thread that is cancelled while it waits is cancelled later. There
 * it must hold nothing, or have a cleanup handler that drops the lock. A child of fork uses the
 * same lock; one of the two processes drops the lock held at the fork.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <pawl/pshared.h>

#include "example.h"

#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

struct statistics {
    pawl_pshared_lock32 lock;
    uint64_t ticks, missed;
};

static struct statistics *shared;
static volatile sig_atomic_t missed_here;

/* Never waits: the thread that it interrupts may be the holder. */
static void on_tick(int number)
{
    (void)number;
    if (pawl_pshared_lock32_try_write(&shared->lock)) {
        shared->ticks++;
        pawl_pshared_lock32_drop_write(&shared->lock);
    } else {
        missed_here = missed_here + 1;
    }
}

static void handler_and_holder(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_tick;
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
    CHECK(raise(SIGUSR1) == 0); /* no thread holds the lock */
    pawl_pshared_lock32_take_write(&shared->lock);
    CHECK(raise(SIGUSR1) == 0); /* we hold it */
    shared->missed += (uint64_t)missed_here;
    pawl_pshared_lock32_drop_write(&shared->lock);
    CHECK(shared->ticks == 1 && shared->missed == 1);
}

static void let_go(void *lock)
{
    pawl_pshared_lock32_drop_read((pawl_pshared_lock32 *)lock);
}

/* take_read is no cancellation point, pause is. So the read lock may be held there only with a
 * cleanup handler that drops it. */
static void *reader(void *unused)
{
    (void)unused;
    pawl_pshared_lock32_take_read(&shared->lock);
    pthread_cleanup_push(let_go, &shared->lock);
    pause();
    pthread_cleanup_pop(1);
    return NULL;
}

static void cancellation(void)
{
    pthread_t thread;
    void *result;
    pawl_pshared_lock32_take_write(&shared->lock);
    CHECK(pthread_create(&thread, NULL, reader, NULL) == 0);
    CHECK(pthread_cancel(thread) == 0); /* it waits on, and is cancelled in pause */
    pawl_pshared_lock32_drop_write(&shared->lock);
    CHECK(pthread_join(thread, &result) == 0);
    CHECK(result == PTHREAD_CANCELED);
    CHECK(pawl_pshared_lock32_is_free(&shared->lock));
}

static void one_of_two_drops(void)
{
    int status;
    pawl_pshared_lock32_take_write(&shared->lock);
    pid_t child = fork();
    if (child == 0) { /* the lock is the child's by agreement; the word does not know holders */
        shared->ticks++;
        pawl_pshared_lock32_drop_write(&shared->lock);
        _exit(0);
    }
    pawl_pshared_lock32_take_read(&shared->lock); /* so we wait for the child */
    CHECK(shared->ticks == 2);
    pawl_pshared_lock32_drop_read(&shared->lock);
    CHECK(waitpid(child, &status, 0) == child && status == 0);
}

int main(void)
{
    shared = (struct statistics *)mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE,
                                       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(shared != MAP_FAILED);
    handler_and_holder();
    cancellation();
    one_of_two_drops();
    printf("ticks %d, missed %d\n", (int)shared->ticks, (int)shared->missed);
    return 0;
}
