/* SPDX-License-Identifier: MIT */
/*
 * A lock from wait and wake. The first form is the shortest: it looks like a spinlock, but sleeps
 * instead of spinning. The second form makes no wake call without sleepers, because a third value
 * of the word marks them. Both count something that must not be torn.
 */
#include <pawl/wait.h>

#include "example.h"

/* [quote begin] */
void acquire(uint32_t *lock)
{
    while (__atomic_exchange_n(lock, 1, __ATOMIC_ACQUIRE) != 0)
        pawl_wait32(lock, 1); /* sleeps while it is still taken */
}

void release(uint32_t *lock)
{
    __atomic_store_n(lock, 0, __ATOMIC_RELEASE);
    pawl_wake_one(lock);
}
/* [quote end] */

/* ---- The same in one byte, that says whether a thread sleeps --------------------------------- */

enum { FREE, TAKEN, TAKEN_AND_AWAITED };

void byte_acquire(uint8_t *lock)
{
    uint8_t found = FREE;
    if (__atomic_compare_exchange_n(lock, &found, TAKEN, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
        return;
    /* A thread that has slept does not know whether others sleep, so it keeps the mark. */
    while (__atomic_exchange_n(lock, TAKEN_AND_AWAITED, __ATOMIC_ACQUIRE) != FREE)
        pawl_wait8(lock, TAKEN_AND_AWAITED);
}

bool byte_acquire_until(uint8_t *lock, uint64_t deadline)
{
    uint8_t found = FREE;
    if (__atomic_compare_exchange_n(lock, &found, TAKEN, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
        return true;
    while (__atomic_exchange_n(lock, TAKEN_AND_AWAITED, __ATOMIC_ACQUIRE) != FREE)
        if (pawl_wait8_until(lock, TAKEN_AND_AWAITED, deadline) == PAWL_WAIT_EXPIRED)
            return false;
    return true;
}

void byte_release(uint8_t *lock)
{
    if (__atomic_exchange_n(lock, FREE, __ATOMIC_RELEASE) == TAKEN_AND_AWAITED)
        pawl_wake_one(lock);
}

/* ---- It runs --------------------------------------------------------------------------------- */

enum { THREADS = 4, TURNS = 100000 / EXAMPLE_LESS };

static uint32_t lock;
static uint8_t byte_lock;
static unsigned long count, byte_count;

static void *work(void *unused)
{
    (void)unused;
    for (int i = 0; i < TURNS; i++) {
        acquire(&lock);
        count++;
        release(&lock);
        if (i % 2)
            byte_acquire(&byte_lock);
        else
            while (!byte_acquire_until(&byte_lock, pawl_now() + 1000000))
                continue;
        byte_count++;
        byte_release(&byte_lock);
    }
    return NULL;
}

int main(void)
{
    static void *(*const all[])(void *) = {work, work, work, work};
    run_threads(THREADS, all);
    CHECK(count == (unsigned long)THREADS * TURNS);
    CHECK(byte_count == (unsigned long)THREADS * TURNS);
    printf("counted to %lu twice\n", count);
    return 0;
}
