/* SPDX-License-Identifier: MIT */
/*
 * Processes of several threads each, many more than cores, do everything at once with a lock of
 * each width, half of it with deadlines that often pass, and check what they hold by plain data in
 * the shared memory. Rounds get longer until the time is over (PAWL_STRESS_SECONDS); what a thread
 * does follows from the seed (--seed=N). A round that hangs is ended by the alarm.
 */
#include "test.h"

#include <pawl/pshared.h>

#include <sys/mman.h>

enum { PROCESSES = 3, THREADS = 5, FIRST_STEPS = 64 };

#define WORKER_ALSO_HAS uint64_t timed_out, granted;
#define LINGER_ALSO(w, kind)                                                                       \
    (kind) == 62 && test_random_below(&(w)->random, 8) == 0 ? (void)usleep(50) : (void)0
#include "support/protected.h"

struct shared {
    pawl_pshared_lock32 lock32;
    pawl_pshared_lock64 lock64;
    struct protected_data data[2];
    uint64_t writes[2], additions[2]; /* what all together have done */
    uint64_t timed_out, granted;
    unsigned steps;
    uint64_t seed;
};

static struct shared *shared;

static uint64_t some_deadline(struct worker *w)
{
    const unsigned kind = test_random_below(&w->random, 8);
    if (kind < 4)
        return UINT64_MAX;
    return (uint64_t)(test_now() * 1e9) + (kind == 4 ? 0 : test_random_below(&w->random, 200000));
}

static bool granted(struct worker *w, bool ok)
{
    if (ok)
        w->granted++;
    else
        w->timed_out++;
    return ok;
}

#define STRESS(N)                                                                                  \
    static void read##N(struct worker *w, pawl_pshared_lock##N *l)                                 \
    {                                                                                              \
        const uint64_t seen = read_all(w);                                                         \
        switch (test_random_below(&w->random, 6)) {                                                \
        case 0:                                                                                    \
            if (pawl_pshared_lock##N##_try_read_to_seek(l)) {                                      \
                must(seek(w) == seen);                                                             \
                pawl_pshared_lock##N##_seek_to_read(l);                                            \
            }                                                                                      \
            break;                                                                                 \
        case 1:                                                                                    \
            if (pawl_pshared_lock##N##_read_claim_write_until(l, some_deadline(w))) {              \
                must(look(w) == seen);                                                             \
                write_all(w);                                                                      \
                pawl_pshared_lock##N##_write_to_read(l);                                           \
                must(read_all(w) == seen + 1);                                                     \
            }                                                                                      \
            break;                                                                                 \
        case 2:                                                                                    \
            if (pawl_pshared_lock##N##_read_claim_atomic_until(l, some_deadline(w))) {             \
                must(add(w) == seen);                                                              \
                pawl_pshared_lock##N##_drop_atomic(l);                                             \
                return;                                                                            \
            }                                                                                      \
            must(read_all(w) == seen);                                                             \
            break;                                                                                 \
        default: break;                                                                            \
        }                                                                                          \
        pawl_pshared_lock##N##_drop_read(l);                                                       \
    }                                                                                              \
    static void seek##N(struct worker *w, pawl_pshared_lock##N *l)                                 \
    {                                                                                              \
        const uint64_t seen = seek(w);                                                             \
        const unsigned then = test_random_below(&w->random, 4);                                    \
        if (then == 0 || !pawl_pshared_lock##N##_seek_to_write_until(l, some_deadline(w))) {       \
            must(seek(w) == seen);                                                                 \
            pawl_pshared_lock##N##_drop_seek(l);                                                   \
            return;                                                                                \
        }                                                                                          \
        must(look(w) == seen);                                                                     \
        write_all(w);                                                                              \
        if (then == 1) {                                                                           \
            pawl_pshared_lock##N##_drop_write(l);                                                  \
            return;                                                                                \
        }                                                                                          \
        if (then == 2) {                                                                           \
            pawl_pshared_lock##N##_write_to_seek(l);                                               \
            must(seek(w) == seen + 1);                                                             \
            pawl_pshared_lock##N##_seek_to_read(l);                                                \
        } else {                                                                                   \
            pawl_pshared_lock##N##_write_to_read(l);                                               \
        }                                                                                          \
        must(read_all(w) == seen + 1);                                                             \
        pawl_pshared_lock##N##_drop_read(l);                                                       \
    }                                                                                              \
    static void atomic##N(struct worker *w, pawl_pshared_lock##N *l)                               \
    {                                                                                              \
        const uint64_t seen = add(w);                                                              \
        pawl_regained how;                                                                         \
        if (test_random_below(&w->random, 2)) {                                                    \
            pawl_pshared_lock##N##_drop_atomic(l);                                                 \
            return;                                                                                \
        }                                                                                          \
        how = pawl_pshared_lock##N##_atomic_to_read_until(l, some_deadline(w));                    \
        if (how != PAWL_REGAIN_TIMED_OUT) {                                                        \
            must(read_all(w) == seen || how == PAWL_REGAIN_LET_GO);                                \
            pawl_pshared_lock##N##_drop_read(l);                                                   \
        }                                                                                          \
    }                                                                                              \
    static void step##N(struct worker *w, pawl_pshared_lock##N *l)                                 \
    {                                                                                              \
        switch (test_random_below(&w->random, 8)) {                                                \
        case 0:                                                                                    \
        case 1:                                                                                    \
        case 2:                                                                                    \
            if (granted(w, pawl_pshared_lock##N##_take_read_until(l, some_deadline(w))))           \
                read##N(w, l);                                                                     \
            break;                                                                                 \
        case 3:                                                                                    \
        case 4:                                                                                    \
            if (granted(w, pawl_pshared_lock##N##_take_seek_until(l, some_deadline(w))))           \
                seek##N(w, l);                                                                     \
            break;                                                                                 \
        case 5:                                                                                    \
            if (granted(w, pawl_pshared_lock##N##_take_write_until(l, some_deadline(w)))) {        \
                (void)look(w);                                                                     \
                write_all(w);                                                                      \
                pawl_pshared_lock##N##_drop_write(l);                                              \
            }                                                                                      \
            break;                                                                                 \
        case 6:                                                                                    \
            if (granted(w, pawl_pshared_lock##N##_take_atomic_until(l, some_deadline(w))))         \
                atomic##N(w, l);                                                                   \
            break;                                                                                 \
        default:                                                                                   \
            if (test_random_below(&w->random, 2)                                                   \
                    ? pawl_pshared_lock##N##_try_write(l)                                          \
                    : pawl_pshared_lock##N##_claim_write_until(l, some_deadline(w))) {             \
                (void)look(w);                                                                     \
                write_all(w);                                                                      \
                pawl_pshared_lock##N##_drop_write(l);                                              \
            }                                                                                      \
        }                                                                                          \
        linger(w);                                                                                 \
    }

STRESS(32)
STRESS(64)

static void work(void *argument, unsigned index)
{
    const uint64_t process = *(const uint64_t *)argument;
    uint64_t writes[2] = {0, 0}, additions[2] = {0, 0};
    struct worker w[2];
    memset(w, 0, sizeof w);
    for (unsigned i = 0; i < 2; i++) {
        w[i].data = &shared->data[i];
        w[i].writes = &writes[i];
        w[i].additions = &additions[i];
        w[i].index = (unsigned)process * 100 + index + 1;
        w[i].random = shared->seed + w[i].index * UINT64_C(2) + i;
    }
    for (unsigned i = 0; i < shared->steps; i++) {
        step32(&w[0], &shared->lock32);
        step64(&w[1], &shared->lock64);
    }
    for (unsigned i = 0; i < 2; i++) {
        __atomic_fetch_add(&shared->writes[i], writes[i], __ATOMIC_RELAXED);
        __atomic_fetch_add(&shared->additions[i], additions[i], __ATOMIC_RELAXED);
        __atomic_fetch_add(&shared->granted, w[i].granted, __ATOMIC_RELAXED);
        __atomic_fetch_add(&shared->timed_out, w[i].timed_out, __ATOMIC_RELAXED);
    }
}

static void run_round(unsigned steps, uint64_t seed)
{
    pid_t children[PROCESSES - 1];
    uint64_t i;
    memset((void *)shared, 0, sizeof *shared);
    shared->data[0].complement = shared->data[1].complement = ~UINT64_C(0);
    shared->steps = steps;
    shared->seed = seed;
    fflush(NULL);
    for (i = 0; i < PROCESSES - 1; i++) {
        children[i] = fork();
        must(children[i] >= 0);
        if (children[i] == 0) {
            alarm(TEST_HANGS);
            test_threads(THREADS, work, &i);
            _exit(0);
        }
    }
    test_threads(THREADS, work, &i);
    for (i = 0; i < PROCESSES - 1; i++) {
        assert_int_equal(test_wait(children[i]), 0);
    }
    for (i = 0; i < 2; i++) {
        assert_true(shared->data[i].number == shared->writes[i]);
        assert_true(shared->data[i].complement == ~shared->writes[i]);
        assert_true(shared->data[i].sum == shared->additions[i]);
    }
    assert_true(pawl_pshared_lock32_is_free(&shared->lock32));
    assert_true(pawl_pshared_lock64_is_free(&shared->lock64));
    assert_int_equal(shared->lock32.word & PAWL_PSHARED_LEAVING, 0);
    assert_true((shared->lock64.word & PAWL_PSHARED_LEAVING) == 0);
}

TEST_CASE(nobody_is_in_beside_whom_it_excludes_and_nobody_sleeps_for_ever)
{
    const double end = test_now() + test_seconds(4);
    unsigned steps = TEST_SCALE(FIRST_STEPS);
    uint64_t seed = test_seed();
    uint32_t waits = 0;
    shared = (struct shared *)mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE,
                                   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    must(shared != MAP_FAILED);
    do {
        print_message("%d processes of %d threads, %u steps each, seed %" PRIu64 "\n", PROCESSES,
                      THREADS, steps, seed);
        run_round(steps, seed);
        print_message("%" PRIu64 " grants, %" PRIu64 " time-outs, %u and %u rounds of waking\n",
                      shared->granted, shared->timed_out, shared->lock32.waits,
                      shared->lock64.waits);
        waits |= shared->lock32.waits;
        steps *= 2;
        seed++;
    } while (test_now() < end || waits == 0); /* 0: nobody has slept yet */
}

TEST_MAIN(alarm(TEST_HANGS))
