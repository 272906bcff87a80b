/* SPDX-License-Identifier: MIT */
/*
 * A program's own domain, with a bound on the memory that waits in it. The thumbnails of a viewer
 * have slow readers: they draw for as long as they like. With grace periods of their own they delay
 * only each other. Memory must still not pile up behind them. So the domain refuses callbacks
 * beyond its limit, and the caller then keeps the old thumbnail a little longer.
 */
#include <pawl/rcu_call.h>
#include <pawl/spin.h>

#include <errno.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

#include "example.h"

struct thumbnail {
    pawl_rcu_head rcu;
    unsigned picture;
    unsigned char pixels[4096];
};

enum { PICTURES = 8, MOST_WAITING = 200 };

static pawl_rcu_domain thumbnails;
static pawl_spin32 changing;
static struct thumbnail *cache[PICTURES];
static struct thumbnail *replaced[PICTURES]; /* not yet handed to the domain */

static void draw_slowly(const struct thumbnail *t, unsigned picture);

static struct thumbnail *paint(unsigned picture)
{
    struct thumbnail *t = (struct thumbnail *)malloc(sizeof *t);

    CHECK(t);
    t->picture = picture;
    memset(t->pixels, (int)picture + 1, sizeof t->pixels);
    return t;
}

/* [quote begin] */
int begin_thumbnails(void)
{
    const int error = pawl_rcu_domain_init(&thumbnails, "thumbnails");

    if (error)
        return error;
    return pawl_rcu_domain_limit(&thumbnails, MOST_WAITING, MOST_WAITING * sizeof(struct thumbnail),
                                 PAWL_RCU_REFUSE);
}

static void forget(pawl_rcu_head *head)
{
    struct thumbnail *t = (struct thumbnail *)((char *)head - offsetof(struct thumbnail, rcu));

    memset(t->pixels, 0, sizeof t->pixels);
    free(t);
}

/* 0, or EAGAIN: too many old ones are still being drawn; the thumbnail stays as it is. */
int renew(unsigned picture)
{
    int error = 0;

    pawl_take_write(&changing);
    struct thumbnail *old = replaced[picture];
    if (old)
        error = pawl_rcu_domain_call(&thumbnails, &old->rcu, forget, sizeof *old);
    if (!error)
        replaced[picture] = pawl_rcu_xchg_pointer(&cache[picture], paint(picture));
    pawl_drop_write(&changing);
    return error;
}

/* Takes as long as it needs. */
static void draw(unsigned picture)
{
    pawl_rcu_domain_read_lock(&thumbnails);
    const struct thumbnail *t = pawl_rcu_domain_dereference(&thumbnails, cache[picture]);
    draw_slowly(t, picture);
    pawl_rcu_domain_read_unlock(&thumbnails);
}
/* [quote end] */

/* ---- It runs --------------------------------------------------------------------------------- */

enum { ROUNDS = 100 / (EXAMPLE_LESS > 5 ? 5 : 1), THREADS = 3 };

static atomic_int drawing, full;
static atomic_long renewals, refusals;
static int times;

/* Keeps the picture until the domain has refused. */
static void draw_slowly(const struct thumbnail *t, unsigned picture)
{
    CHECK(t->picture == picture);
    atomic_fetch_add(&drawing, 1);
    while (!atomic_load(&full))
        sched_yield();
    for (size_t i = 0; i < sizeof t->pixels; i++)
        CHECK(t->pixels[i] == picture + 1);
    atomic_fetch_sub(&drawing, 1);
}

static void *draw_all(void *arg)
{
    unsigned picture = (unsigned)(intptr_t)arg;

    for (int i = 0; i < ROUNDS * times; i++) {
        draw(picture++ % PICTURES);
        while (atomic_load(&full))
            sched_yield();
    }
    return NULL;
}

static void flood_and_be_refused(void)
{
    pawl_rcu_statistics now;
    unsigned picture = 0;

    while (atomic_load(&drawing) < THREADS - 1)
        sched_yield();
    for (; renew(picture) == 0; picture = (picture + 1) % PICTURES)
        atomic_fetch_add(&renewals, 1);
    atomic_fetch_add(&refusals, 1);
    pawl_rcu_domain_statistics(&thumbnails, &now);
    CHECK(now.queued <= MOST_WAITING && now.bytes <= MOST_WAITING * sizeof(struct thumbnail));
    pawl_rcu_synchronize(); /* all readers are still drawing, and the call still returns */
    CHECK(atomic_load(&drawing) == THREADS - 1);
}

static void *renew_all(void *arg)
{
    (void)arg;
    for (int i = 0; i < ROUNDS * times; i++) {
        flood_and_be_refused();
        atomic_store(&full, 1);
        while (atomic_load(&drawing) > 0)
            sched_yield();
        CHECK(pawl_rcu_domain_barrier(&thumbnails) == 0);
        CHECK(renew((unsigned)i % PICTURES) == 0); /* there is room again */
        atomic_store(&full, 0);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    static void *(*const work[])(void *) = {renew_all, draw_all, draw_all};

    times = example_times(argc, argv);
    CHECK(begin_thumbnails() == 0);
    for (unsigned i = 0; i < PICTURES; i++)
        cache[i] = paint(i);
    run_threads(THREADS, work);
    pawl_rcu_domain_destroy(&thumbnails);
    for (unsigned i = 0; i < PICTURES; i++) {
        free(cache[i]);
        free(replaced[i]);
    }
    printf("%ld renewals, %ld refusals, and other grace periods went on\n", atomic_load(&renewals),
           atomic_load(&refusals));
    return 0;
}
