/* SPDX-License-Identifier: MIT */
/*
 * Waits with a rank, which the preload library uses: sleepers are served by rank, then by age.
 *
 * The test once asked the kernel who sleeps:
 *
 *   1  A thread under an emulator waits for the emulator's own lock, before it takes ours.
 *   2  The kernel calls it asleep, and the writer drops the lock.
 *   3  Whoever comes first has the lock, whatever its rank.
 *
 * And once a waiter had its turn before others came, on a busy machine:
 *
 *   1  The first waiter joins the queue, and loses its processor for PAWL_LOCK_HANDOFF_NS.
 *   2  Its turn has come, as no other waits: it keeps a claim, and sleeps with it.
 *   3  Those of higher ranks come, and are behind it, as they have to be.
 */
#define PAWL_ONE_FILE_ /* with table.c, below */
#include "test.h"

#include <pawl/lock.h>

#include "support/asleep.h"
#include "support/unused.h"

#define TAKE_WRITE PAWL_SYMBOL_(pawl_lock64_take_write_ranked)
#define TAKE_READ PAWL_SYMBOL_(pawl_lock64_take_read_counted_ranked)

enum { MOST = 4 };

static pawl_lock64 lock;
static int order[MOST];
static unsigned granted;

struct waiter {
    pthread_t id;
    int rank; /* negative: a reader */
};

/* Atomic, for ThreadSanitizer learns of holders from the inline functions only. */
static void note(int rank)
{
    order[__atomic_fetch_add(&granted, 1, __ATOMIC_RELAXED)] = rank;
}

static void *take_and_note(void *opaque)
{
    struct waiter *const w = (struct waiter *)opaque;
    if (w->rank < 0) {
        must(TAKE_READ(&lock, UINT64_MAX, (uint32_t)-w->rank));
        note(w->rank);
        pawl_lock64_drop_read_counted(&lock);
    } else {
        must(TAKE_WRITE(&lock, UINT64_MAX, (uint32_t)w->rank));
        note(w->rank);
        pawl_lock64_drop_write(&lock);
    }
    return NULL;
}

/* They fall asleep in the order of `ranks`, beside a writer. False: one of them keeps a claim by
 * then. */
static bool all_asleep_without_a_claim(struct waiter *waiters, const int *ranks, unsigned count)
{
    const uint64_t held = __atomic_load_n(&lock.word, __ATOMIC_RELAXED);
    for (unsigned i = 0; i < count; i++) {
        waiters[i].rank = ranks[i];
        assert_int_equal(pthread_create(&waiters[i].id, NULL, take_and_note, &waiters[i]), 0);
        until_asleep_at(&lock, i + 1);
    }
    return __atomic_load_n(&lock.word, __ATOMIC_RELAXED) == (held | PAWL_LOCK_PARKED);
}

/* Those who fall asleep in the order of `ranks` are granted the lock in the order of `expected`. */
static void expect(const int *ranks, const int *expected, unsigned count)
{
    struct waiter waiters[MOST];
    bool comparable;
    do {
        granted = 0;
        pawl_lock64_take_write(&lock);
        comparable = all_asleep_without_a_claim(waiters, ranks, count);
        pawl_lock64_drop_write(&lock);
        for (unsigned i = 0; i < count; i++)
            assert_int_equal(pthread_join(waiters[i].id, NULL), 0);
        assert_int_equal(granted, count);
        assert_true(LOCK_IS_UNUSED(lock));
    } while (!comparable);
    for (unsigned i = 0; i < count; i++)
        assert_int_equal(order[i], expected[i]);
}

TEST_CASE(sleepers_of_a_higher_rank_come_first)
{
    static const int ranks[] = {0, 2, 6, 4}, expected[] = {6, 4, 2, 0};
    expect(ranks, expected, 4);
}

TEST_CASE(a_reader_does_not_enter_beside_another_before_a_writer_of_a_higher_rank)
{
    static const int ranks[] = {-4, 5, -6}, expected[] = {-6, 5, -4};
    expect(ranks, expected, 3);
}

TEST_MAIN()
