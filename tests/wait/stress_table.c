/* SPDX-License-Identifier: MIT */
/*
 * The wait lists under threads that come, go, give up and are moved, many more than cores: whoever
 * is picked learns it, nobody else does, and nobody is forgotten. Deadlines are short, so that
 * wakers meet sleepers who are giving up.
 */
#define PAWL_ONE_FILE_ /* with table.c, below */
#include "test.h"

#define ipawl_table_steps_ steps_of_the_test /* a library with test points has its own */
#include "lock/table.h"
#undef PAWL_SHARED_DEFINE /* the library has it */
#define PAWL_SHARED_DEFINE(type, name) PAWL_SHARED_DECLARE(type, name)
#undef PAWL_THREAD_SHARED_DEFINE
#define PAWL_THREAD_SHARED_DEFINE(type, name) struct pawl_parker
#include "lock/table.c"

/* With MOST threads, there are more queues at a time than buckets at first. */
enum { MOST = 128, FEW_PLACES = 8, PLACES = 512 };

struct shared {
    uint32_t places[PLACES * 64];
    uint32_t home; /* sleepers that have */
    uint32_t sleepers;
    uint32_t used; /* places */
    uint64_t picked, woken, expired, moved;
    uint64_t seed;
    unsigned rounds;
};

static void *place(struct shared *s, uint64_t *random)
{
    return &s->places[test_random_below(random, s->used) * 64];
}

static void sleep_often(struct shared *s, uint64_t *random)
{
    struct pawl_parker room;
    struct pawl_waiter waiter;
    struct pawl_queue queue;
    struct pawl_bucket *bucket;
    uint64_t woken = 0, expired = 0;

    memset(&waiter, 0, sizeof waiter);
    for (unsigned i = 0; i < s->rounds; i++) {
        const unsigned kind = test_random_below(random, 4);
        waiter.address = place(s, random);
        waiter.parker = pawl_parker_make(&room);
        waiter.room = table_room(&queue, TABLE_OF_WAIT, sizeof queue);
        bucket = table_lock(waiter.address);
        (void)table_append(bucket, &waiter);
        if (table_sleep(&bucket, &waiter, NULL,
                        kind == 0 ? PAWL_NO_DEADLINE
                                  : pawl_os_now() + test_random_below(random, 200000)))
            woken++;
        else
            expired++;
        table_remove(bucket, &waiter);
        table_unlock(bucket);
    }
    __atomic_fetch_add(&s->woken, woken, __ATOMIC_RELAXED);
    __atomic_fetch_add(&s->expired, expired, __ATOMIC_RELAXED);
    __atomic_fetch_add(&s->home, 1, __ATOMIC_RELAXED);
}

static struct pawl_waiter *oldest(struct pawl_bucket *bucket, const void *address)
{
    const struct pawl_queue *queue = table_find(bucket, address, TABLE_OF_WAIT);
    return queue != NULL ? queue->oldest : NULL;
}

/* At most `most` sleepers of the address. */
static unsigned wake_some(const void *address, unsigned most)
{
    struct wake_list list = WAKE_LIST_EMPTY;
    struct pawl_bucket *bucket = table_lock(address);
    unsigned count;
    for (struct pawl_waiter *w = oldest(bucket, address); w != NULL && list.count < most;
         w = w->younger)
        if (w->asleep)
            table_wake(&list, w);
    table_unlock(bucket);
    count = list.count;
    table_unpark(&list);
    return count;
}

static unsigned move_one(const void *a, const void *b)
{
    struct pawl_bucket *from, *to;
    unsigned moved = 0;
    table_lock_two(a, b, &from, &to);
    struct pawl_waiter *w = oldest(from, a);
    if (a != b && w != NULL && w->asleep) {
        table_move(from, to, w, b);
        moved = 1;
    }
    table_unlock_two(from, to);
    return moved;
}

static void wake_until_all_are_home(struct shared *s, uint64_t *random)
{
    uint64_t picked = 0, moved = 0;
    while (__atomic_load_n(&s->home, __ATOMIC_RELAXED) < s->sleepers) {
        picked += wake_some(place(s, random), 1 + test_random_below(random, 3));
        moved += move_one(place(s, random), place(s, random));
        if (test_random_below(random, 16) == 0)
            sched_yield();
    }
    __atomic_fetch_add(&s->picked, picked, __ATOMIC_RELAXED);
    __atomic_fetch_add(&s->moved, moved, __ATOMIC_RELAXED);
}

static void work(void *opaque, unsigned index)
{
    struct shared *s = (struct shared *)opaque;
    uint64_t random = s->seed + index * UINT64_C(0x632be59bd9b4e019);
    if (index < s->sleepers)
        sleep_often(s, &random);
    else
        wake_until_all_are_home(s, &random);
}

TEST_CASE(who_is_picked_wakes_and_nobody_is_forgotten)
{
    static struct shared s;
    const double end = test_now() + test_seconds(4);
    uint64_t seed = test_seed();
    unsigned rounds = 0;
    do {
        static const unsigned crowds[] = {3, 12, 48, MOST};
        const unsigned threads = crowds[rounds % 4];
        const unsigned wakers = threads / 8 > 0 ? threads / 8 : 1;
        memset(&s, 0, sizeof s);
        s.sleepers = threads - wakers;
        s.used = threads == MOST ? PLACES : FEW_PLACES;
        s.rounds = TEST_SCALE(400);
        s.seed = seed++;
        test_threads(threads, work, &s);
        print_message("%u threads: %" PRIu64 " woken, %" PRIu64 " gave up, %" PRIu64
                      " moved, lists doubled %u times\n",
                      threads, s.woken, s.expired, s.moved, (unsigned)table_here()->doublings);
        assert_true(s.picked == s.woken);
        assert_int_equal(table_here()->queues, 0);
        rounds++;
    } while (test_now() < end || rounds < 4);
}

TEST_MAIN()
