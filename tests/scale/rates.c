/* SPDX-License-Identifier: MIT */
/*
 * Sections a second of each primitive beside its pthread counterpart, over the number of threads
 * and over the number of locks. Sections whose waiters sleep begin with all threads waiting, so
 * that the crowd is there from the start. Rates are printed and not judged; the test fails if a
 * section that keeps all others out did not. PAWL_SCALE_ONLY=NAME: of this primitive only.
 * PAWL_SCALE_SLOTS=N: with so many slots for the process's sleepers in the kernel (Linux 6.16).
 */
#include "scale/crowd.h"

#include "scale/primitives.h"

#ifdef __linux__
#include <sys/prctl.h>
#ifndef PR_FUTEX_HASH
#define PR_FUTEX_HASH 78
#define PR_FUTEX_HASH_SET_SLOTS 1
#endif
#endif

static struct crowd crowd;

/* What a section of the primitive does. */
enum kind {
    OPEN,  /* lets others in */
    ALONE, /* keeps all others out, so it may count in `inside`; waiters sleep */
    SPINS  /* the same, but waiters do not sleep: nobody waits before the start */
};

struct work {
    struct objects objects;
    enum kind kind;
    uint32_t stop;
    uint64_t *inside; /* one for each object */
    uint64_t sections, in_time;
};

static void work(struct crowd_thread *self, void *argument)
{
    struct work *w = (struct work *)argument;
    uint64_t random = test_seed() + self->index, sections = 0, in_time = 0;
    crowd_enters(self);
    while (!__atomic_load_n(&w->stop, __ATOMIC_RELAXED)) {
        const unsigned at =
            w->objects.count == 1 ? 0 : test_random_below(&random, w->objects.count);
        void *const object = object_at(&w->objects, at);
        w->objects.of->take(object);
        if (w->kind != OPEN)
            w->inside[at]++;
        w->objects.of->drop(object);
        sections++;
        in_time += !__atomic_load_n(&w->stop, __ATOMIC_RELAXED);
    }
    __atomic_fetch_add(&w->sections, sections, __ATOMIC_RELAXED);
    __atomic_fetch_add(&w->in_time, in_time, __ATOMIC_RELAXED);
}

static double rate(const struct primitive *of, enum kind kind, unsigned *threads, unsigned objects)
{
    struct work w = {objects_make(of, objects), kind, 0, NULL, 0, 0};
    const double seconds = full_size() ? 0.4 : 0.03;
    double end;
    uint64_t inside = 0;
    must((w.inside = (uint64_t *)calloc(objects, sizeof w.inside[0])) != NULL);
    *threads = crowd_start(&crowd, *threads, work, &w);
    for (unsigned i = 0; kind == ALONE && i < objects; i++)
        of->take(object_at(&w.objects, i));
    crowd_go(&crowd);
    if (kind == ALONE)
        crowd_wait_until_all_sleep(&crowd);
    double begin = test_now();
    for (unsigned i = 0; kind == ALONE && i < objects; i++)
        of->drop(object_at(&w.objects, i));
    while ((end = test_now()) < begin + seconds)
        usleep((useconds_t)((begin + seconds - end) * 1e6) + 1);
    __atomic_store_n(&w.stop, 1, __ATOMIC_RELAXED);
    crowd_end(&crowd);
    for (unsigned i = 0; i < objects; i++)
        inside += w.inside[i];
    assert_true(kind == OPEN || inside == w.sections);
    free(w.inside);
    objects_destroy(&w.objects);
    return (double)w.in_time / (end - begin);
}

static void report(const struct primitive *of, enum kind kind, unsigned threads, unsigned objects)
{
    const enum kind its = of->twin == &twin_read ? OPEN : kind;
    const double ours = rate(of, kind, &threads, objects);
    const double theirs = rate(of->twin, its, &threads, objects);
    printf("   %-12s %6u threads, %6u objects: %9.3f million sections a second, %s %9.3f, %.2fx\n",
           of->name, threads, objects, ours / 1e6, of->twin->name, theirs / 1e6,
           ours / (theirs > 0 ? theirs : 1));
    fflush(stdout);
}

static bool is_wanted(const struct primitive *of)
{
    const char *only = getenv("PAWL_SCALE_ONLY");
    return only == NULL || strcmp(only, of->name) == 0;
}

static void over_threads(const struct primitive *of, unsigned count, enum kind kind)
{
    for (unsigned i = 0; i < count; i++)
        for (unsigned threads = 1;
             is_wanted(&of[i]) && threads <= (full_size() ? MOST_THREADS : 1000); threads *= 10)
            report(&of[i], kind, at_most(threads, of[i].waiters), 1);
}

TEST_CASE(sections_over_the_number_of_threads)
{
    over_threads(exclusive, EXCLUSIVE, ALONE);
    over_threads(spinning, SPINNING, SPINS);
    over_threads(open_to_all, OPEN_TO_ALL, OPEN);
}

TEST_CASE(sections_over_the_number_of_locks)
{
    for (unsigned i = 0; i < EXCLUSIVE; i++)
        for (unsigned objects = 1; is_wanted(&exclusive[i]) && objects <= exclusive[i].most;
             objects *= full_size() ? 10 : 1000)
            report(&exclusive[i], ALONE, 64, objects);
    for (unsigned i = 0; i < SPINNING; i++)
        for (unsigned objects = 1; is_wanted(&spinning[i]) && objects <= spinning[i].most;
             objects *= full_size() ? 10 : 1000)
            report(&spinning[i], SPINS, 64, objects);
}

static void set_slots(const char *slots)
{
#ifdef __linux__
    if (slots != NULL && prctl(PR_FUTEX_HASH, PR_FUTEX_HASH_SET_SLOTS, atol(slots), 0, 0) != 0)
        fprintf(stderr, "PAWL_SCALE_SLOTS=%s: %s\n", slots, strerror(errno));
#else
#endif
}

TEST_MAIN(set_slots(getenv("PAWL_SCALE_SLOTS")))
