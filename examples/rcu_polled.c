/* SPDX-License-Identifier: MIT */
/*
 * Polled grace periods: a writer that neither waits nor has callbacks, with a fixed number of
 * buffers. When it takes a buffer out, it asks for a cookie. When it wants the buffer again, the
 * cookie tells whether all readers have left it. There are enough buffers for the usual reader, so
 * they nearly always have. Only behind a slow reader does the writer wait.
 */
#include <pawl/rcu.h>

#include <sched.h>
#include <stdatomic.h>

#include "example.h"

enum { BUFFERS = 8, WORDS = 16 };

struct buffer {
    unsigned long frame;
    unsigned long words[WORDS]; /* each is frame times its place */
    uint64_t cookie;            /* the writer's: names the grace period after it was taken out */
};

static struct buffer buffers[BUFFERS];
static struct buffer *current;
static unsigned long waits;

static void fill(struct buffer *b, unsigned long frame)
{
    b->frame = frame;
    for (unsigned long i = 0; i < WORDS; i++)
        b->words[i] = frame * i;
}

/* [quote begin] */
/* The one writer. */
void show_frame(unsigned long frame)
{
    struct buffer *b = &buffers[frame % BUFFERS], *old;

    if (!pawl_rcu_poll(b->cookie)) { /* taken out long ago, and a reader still looks at it */
        pawl_rcu_synchronize_cond(b->cookie);
        waits++;
    }
    fill(b, frame);
    old = pawl_rcu_xchg_pointer(&current, b);
    old->cookie = pawl_rcu_start_poll();
}
/* [quote end] */

unsigned long look_at_frame(void)
{
    unsigned long frame;

    pawl_rcu_read_lock();
    const struct buffer *b = pawl_rcu_dereference(current);
    frame = b->frame;
    for (unsigned long i = 0; i < WORDS; i++)
        CHECK(b->words[i] == frame * i);
    CHECK(b->frame == frame);
    pawl_rcu_read_unlock();
    return frame;
}

/* ---- It runs --------------------------------------------------------------------------------- */

enum { FRAMES = 100000 / EXAMPLE_LESS, LOOKERS = 3 };

static atomic_bool over;
static atomic_ulong looks;
static int times;

static void *show(void *arg)
{
    const unsigned long end = (unsigned long)FRAMES * (unsigned long)times;

    (void)arg;
    for (unsigned long frame = 1; frame <= end; frame++) {
        show_frame(frame);
        while (atomic_load(&looks) < frame / 8)
            sched_yield(); /* so that readers look at some */
    }
    atomic_store(&over, true);
    return NULL;
}

static void *look(void *arg)
{
    unsigned long last = 0;

    (void)arg;
    while (!atomic_load(&over)) {
        const unsigned long frame = look_at_frame();
        CHECK(frame >= last);
        last = frame;
        atomic_fetch_add_explicit(&looks, 1, memory_order_relaxed);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    static void *(*const work[])(void *) = {show, look, look, look};

    times = example_times(argc, argv);
    for (int i = 0; i < BUFFERS; i++)
        buffers[i].cookie = pawl_rcu_start_poll(); /* never shown: this one is soon over */
    current = &buffers[0];
    run_threads(1 + LOOKERS, work);
    CHECK(look_at_frame() == (unsigned long)FRAMES * (unsigned long)times);
    printf("%lu frames in %d buffers; the writer waited %lu times\n", look_at_frame(), BUFFERS,
           waits);
    return 0;
}
