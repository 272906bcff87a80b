/* SPDX-License-Identifier: MIT */
/*
 * A bounded queue: producers wait while it is full, consumers while it is empty. A watcher only
 * reads: it waits under R, beside other readers, until half of the work is done.
 */
#include <pawl/cond.h>

#include "example.h"

enum { ROOM = 8 };

struct queue {
    pawl_lock32 lock;
    pawl_cond filled, emptied, half_done;
    unsigned first, used;
    unsigned long taken;
    int items[ROOM];
};

/* [quote begin] */
void queue_put(struct queue *q, int item)
{
    pawl_take_write(&q->lock);
    while (q->used == ROOM)
        pawl_cond_wait_write(&q->emptied, &q->lock); /* drops W, sleeps, takes W */
    q->items[(q->first + q->used++) % ROOM] = item;
    pawl_drop_write(&q->lock);
    pawl_cond_signal(&q->filled);
}
/* [quote end] */

int queue_take(struct queue *q, unsigned long half)
{
    pawl_take_write(&q->lock);
    while (q->used == 0)
        pawl_cond_wait_write(&q->filled, &q->lock);
    int item = q->items[q->first];
    q->first = (q->first + 1) % ROOM;
    q->used--;
    bool reached = ++q->taken == half;
    pawl_drop_write(&q->lock);
    pawl_cond_signal(&q->emptied);
    if (reached)
        pawl_cond_broadcast(&q->half_done);
    return item;
}

/* ---- It runs --------------------------------------------------------------------------------- */

enum { TURNS = 50000 / EXAMPLE_LESS, HALF = TURNS };

static struct queue queue;
static unsigned long put_sum[2], taken_sum[2];

static void *produce(void *arg)
{
    const int me = (int)(intptr_t)arg;
    for (int i = 0; i < TURNS; i++) {
        queue_put(&queue, i);
        put_sum[me] += (unsigned long)i;
    }
    return NULL;
}

static void *consume(void *arg)
{
    const int me = (int)(intptr_t)arg - 2;
    for (int i = 0; i < TURNS; i++)
        taken_sum[me] += (unsigned long)queue_take(&queue, HALF);
    return NULL;
}

static void *watch(void *unused)
{
    (void)unused;
    pawl_take_read(&queue.lock);
    while (queue.taken < HALF)
        pawl_cond_wait_read(&queue.half_done, &queue.lock);
    CHECK(queue.taken >= HALF);
    pawl_drop_read(&queue.lock);
    return NULL;
}

int main(void)
{
    static void *(*const all[])(void *) = {produce, produce, consume, consume, watch, watch};
    run_threads(6, all);
    CHECK(queue.used == 0 && queue.taken == 2ul * TURNS);
    CHECK(put_sum[0] + put_sum[1] == taken_sum[0] + taken_sum[1]);
    CHECK(pawl_lock32_is_free(&queue.lock));
    printf("%lu items went through a queue of %d\n", queue.taken, ROOM);
    return 0;
}
