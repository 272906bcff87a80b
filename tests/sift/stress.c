/* SPDX-License-Identifier: MIT */
/*
 * Priority-sifting locks at random, with real handlers: a timer of the process and one thread that
 * sends signals interrupt threads that read, write, try and give up, wherever they are. The data is
 * plain, so that ThreadSanitizer sees what the lock orders. More threads than cores, and real-time
 * readers where the process may have them.
 */
#include "test.h"

#include <pawl/sift.h>

#include <sys/time.h>

enum { FIRST_STEPS = 1000, THREADS = 8 };

/* Handlers know no argument. */
static struct shared {
    pawl_sift lock;
    uint64_t number, complement; /* written under W */
    unsigned steps, threads;
    uint64_t seed;
    uint64_t writes[THREADS];
    uint32_t handled, stop;
    bool realtime;
} shared;

struct worker {
    uint64_t *writes;
    uint64_t random;
};

static void must_be_whole(void)
{
    must(shared.complement == ~shared.number);
}

static void on_signal(int number)
{
    const int saved = errno;
    const enum pawl_sift_context c = number == SIGUSR1 ? PAWL_SIFT_DEFERRED : PAWL_SIFT_INTERRUPT;
    if (number == SIGALRM ? pawl_sift_try_read(&shared.lock, c)
                          : (pawl_sift_take_read(&shared.lock, c), true)) {
        must_be_whole();
        pawl_sift_drop_read(&shared.lock, c);
        (void)pawl_fetch_add_relaxed32(&shared.handled, 1);
    }
    errno = saved;
}

static void linger(struct worker *w)
{
    const struct timespec nap = {0, 50000};
    switch (test_random_below(&w->random, 64)) {
    case 0:
        nanosleep(&nap, NULL); /* long enough for others to fall asleep */
        break;
    case 1:
    case 2:
    case 3: sched_yield(); break;
    default: break;
    }
}

static uint64_t shortly(void)
{
    return (uint64_t)(test_now() * 1e9) + 30000;
}

static void under_read(struct worker *w, enum pawl_sift_context c)
{
    const uint64_t seen = shared.number;
    linger(w);
    must(shared.number == seen);
    must_be_whole();
    if (test_random_below(&w->random, 4) == 0 && pawl_sift_try_read(&shared.lock, c)) {
        must(shared.number == seen);
        pawl_sift_drop_read(&shared.lock, c);
    }
    pawl_sift_drop_read(&shared.lock, c);
}

static void under_write(struct worker *w)
{
    must_be_whole();
    shared.number++;
    linger(w);
    shared.complement = ~shared.number;
    ++*w->writes;
    pawl_sift_drop_write(&shared.lock);
}

static void step(struct worker *w)
{
    pawl_sift *const l = &shared.lock;
    const enum pawl_sift_context c = shared.realtime && test_random_below(&w->random, 3) == 0
                                         ? PAWL_SIFT_REALTIME
                                         : PAWL_SIFT_THREAD;
    switch (test_random_below(&w->random, 12)) {
    case 0:
    case 1:
        pawl_sift_take_write(l);
        under_write(w);
        break;
    case 2:
        if (pawl_sift_try_write(l))
            under_write(w);
        break;
    case 3:
        if (pawl_sift_take_write_until(l, shortly()))
            under_write(w);
        break;
    case 4:
        if (pawl_sift_take_read_until(l, c, shortly()))
            under_read(w, c);
        break;
    case 5:
        if (pawl_sift_try_read(l, c))
            under_read(w, c);
        break;
    default: pawl_sift_take_read(l, c); under_read(w, c);
    }
    linger(w);
}

static void work(void *unused, unsigned index)
{
    struct worker w;
    w.writes = &shared.writes[index];
    w.random = shared.seed + index * UINT64_C(0x632be59bd9b4e019);
    for (unsigned i = 0; i < shared.steps; i++)
        step(&w);
}

/* ---- Interruptions --------------------------------------------------------------------------- */

static void install(int number)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    action.sa_flags = SA_RESTART;
    if (number != SIGUSR1) { /* handlers hold back those of their own class and below */
        sigaddset(&action.sa_mask, SIGUSR1);
        sigaddset(&action.sa_mask, SIGUSR2);
        sigaddset(&action.sa_mask, SIGALRM);
    }
    must(sigaction(number, &action, NULL) == 0);
}

static void *interrupt_all(void *unused)
{
    uint64_t random = shared.seed ^ 1;
    while (pawl_load_relaxed32(&shared.stop) == 0) {
        const struct timespec nap = {0, 20000 + (long)test_random_below(&random, 100000)};
        (void)kill(getpid(), test_random_below(&random, 2) ? SIGUSR1 : SIGUSR2);
        nanosleep(&nap, NULL);
    }
    return NULL;
}

static void set_timer(long us)
{
    struct itimerval every;
    memset(&every, 0, sizeof every);
    every.it_interval.tv_usec = us;
    every.it_value.tv_usec = us;
    must(setitimer(ITIMER_REAL, &every, NULL) == 0);
}

static int make(unsigned kind)
{
    pawl_sift_use use;
    memset(&use, 0, sizeof use);
    use.readers = PAWL_SIFT_READS(PAWL_SIFT_THREAD) | PAWL_SIFT_READS(PAWL_SIFT_DEFERRED) |
                  PAWL_SIFT_READS(PAWL_SIFT_INTERRUPT);
    use.deferred = PAWL_SIFT_SIGNAL(SIGUSR1);
    use.interrupt = PAWL_SIFT_SIGNAL(SIGUSR2) | PAWL_SIFT_SIGNAL(SIGALRM);
    shared.realtime = kind != 0;
    if (shared.realtime)
        use.readers |= PAWL_SIFT_READS(PAWL_SIFT_REALTIME);
    if (kind == 2) {
        use.flags = PAWL_SIFT_REALTIME_HANDLERS | PAWL_SIFT_PRIORITY;
        use.ceiling = 10;
    }
    return pawl_sift_init(&shared.lock, &use);
}

static void round_of(unsigned kind, unsigned threads, unsigned steps, uint64_t seed)
{
    uint64_t writes = 0;
    memset(&shared, 0, sizeof shared);
    shared.complement = ~UINT64_C(0);
    if (make(kind) != 0) /* no right, or no such system */
        must(make(0) == 0);
    shared.steps = steps;
    shared.seed = seed;
    const pthread_t interrupter = test_start(interrupt_all, NULL);
    set_timer(500);
    test_threads(threads, work, NULL);
    set_timer(0);
    pawl_store_relaxed32(&shared.stop, 1);
    test_join(interrupter);
    for (unsigned i = 0; i < threads; i++)
        writes += shared.writes[i];
    assert_true(shared.number == writes);
    assert_true(shared.complement == ~writes);
    assert_true(pawl_sift_try_write(&shared.lock)); /* nobody was left counted */
    pawl_sift_drop_write(&shared.lock);
    pawl_sift_destroy(&shared.lock);
}

TEST_CASE(nobody_is_in_beside_whom_it_excludes)
{
    static const unsigned crowds[] = {2, 3, THREADS};
    const double end = test_now() + test_seconds(4);
    unsigned steps = TEST_SCALE(FIRST_STEPS);
    uint64_t seed = test_seed();
    unsigned rounds = 0;
    uint64_t handled = 0;
    install(SIGUSR1);
    install(SIGUSR2);
    install(SIGALRM);
    do {
        const unsigned threads = crowds[rounds % 3];
        print_message("kind %u, %u threads, %u steps each, seed %" PRIu64 "\n", rounds / 3 % 3,
                      threads, steps, seed);
        round_of(rounds / 3 % 3, threads, steps, seed);
        handled += shared.handled;
        if (++rounds % 9 == 0)
            steps *= 2;
        seed++;
    } while (test_now() < end || handled == 0);
    print_message("%" PRIu64 " handlers read\n", handled);
}

TEST_MAIN()
