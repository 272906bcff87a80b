/* SPDX-License-Identifier: MIT */
/*
 * Many more threads than cores do everything at once with one lock of each width, and check what
 * they hold by plain data: it would come out wrong, or ThreadSanitizer would speak, if two were in
 * that exclude each other. Rounds get longer until the time is over (PAWL_STRESS_SECONDS); what a
 * thread does follows from the seed (--seed=N).
 */
#include "test.h"

#include <pawl/spin.h>

enum { THREADS = 24, FIRST_STEPS = 64 };

/* What each width's lock protects. W changes all; A adds to `sum`; S owns `seeker`. */
struct protected_data {
    uint64_t number, complement; /* one is always the other's complement when nobody is in W */
    uint64_t sum;
    unsigned seeker;
};

struct shared {
    pawl_spin16 lock16;
    pawl_spin32 lock32;
    pawl_spin64 lock64;
    struct protected_data data[3];
    unsigned steps;
    uint64_t seed;
    uint64_t writes[THREADS][3], additions[THREADS][3];
};

struct worker {
    struct shared *shared;
    struct protected_data *data;
    uint64_t *writes, *additions;
    uint64_t random;
    unsigned index;
};

/* ---- What one does in each state ------------------------------------------------------------- */

/* A delay of any size, so that others come at every moment. */
static void linger(struct worker *w)
{
    const unsigned kind = test_random_below(&w->random, 64);
    unsigned hints = kind < 40 ? 0 : test_random_below(&w->random, 1u << (kind % 10));
    if (kind == 63)
        sched_yield();
    while (hints-- > 0)
        pawl_cpu_relax();
}

static uint64_t look(struct worker *w)
{
    const uint64_t number = w->data->number;
    must(w->data->complement == ~number);
    linger(w);
    must(w->data->number == number);
    return number;
}

static uint64_t read_all(struct worker *w)
{
    const uint64_t sum = w->data->sum;
    const uint64_t number = look(w);
    must(w->data->sum == sum); /* nobody adds beside a reader */
    return number;
}

static uint64_t seek(struct worker *w)
{
    w->data->seeker = w->index;
    const uint64_t number = read_all(w);
    must(w->data->seeker == w->index);
    return number;
}

static void write_all(struct worker *w)
{
    w->data->number++;
    linger(w);
    w->data->complement = ~w->data->number;
    w->data->sum++;
    w->writes[0]++;
    w->additions[0]++;
}

static uint64_t add(struct worker *w)
{
    __atomic_fetch_add(&w->data->sum, 1, __ATOMIC_RELAXED);
    w->additions[0]++;
    return look(w);
}

/* ---- What one does with the lock of a width -------------------------------------------------- */

#define STRESS(N)                                                                                  \
    static void read##N(struct worker *w, pawl_spin##N *l)                                         \
    {                                                                                              \
        const uint64_t seen = read_all(w);                                                         \
        switch (test_random_below(&w->random, 8)) {                                                \
        case 0:                                                                                    \
            if (pawl_spin##N##_try_read_to_seek(l)) {                                              \
                must(seek(w) == seen);                                                             \
                pawl_spin##N##_seek_to_read(l);                                                    \
            }                                                                                      \
            break;                                                                                 \
        case 1:                                                                                    \
        case 2:                                                                                    \
            if (test_random_below(&w->random, 2) ? pawl_spin##N##_try_read_to_write(l)             \
                                                 : pawl_spin##N##_try_read_to_write_drain(l)) {    \
                must(look(w) == seen);                                                             \
                write_all(w);                                                                      \
                pawl_spin##N##_write_to_read(l);                                                   \
                must(read_all(w) == seen + 1);                                                     \
            }                                                                                      \
            break;                                                                                 \
        case 3:                                                                                    \
            if (test_random_below(&w->random, 2) ? pawl_spin##N##_try_read_to_atomic(l)            \
                                                 : pawl_spin##N##_try_read_to_atomic_drain(l)) {   \
                must(add(w) == seen);                                                              \
                if (pawl_spin##N##_atomic_to_read(l))                                              \
                    must(w->data->number == seen); /* never let go */                              \
            }                                                                                      \
            break;                                                                                 \
        default:                                                                                   \
            break;                                                                                 \
        }                                                                                          \
        (void)read_all(w);                                                                         \
        pawl_spin##N##_drop_read(l);                                                               \
    }                                                                                              \
                                                                                                   \
    static void seek##N(struct worker *w, pawl_spin##N *l)                                         \
    {                                                                                              \
        const uint64_t seen = seek(w);                                                             \
        if (test_random_below(&w->random, 2)) {                                                    \
            if (test_random_below(&w->random, 2))                                                  \
                pawl_spin##N##_seek_to_write(l);                                                   \
            else if (!pawl_spin##N##_try_seek_to_write(l)) {                                       \
                pawl_spin##N##_drop_seek(l);                                                       \
                return;                                                                            \
            }                                                                                      \
            must(look(w) == seen);                                                                 \
            write_all(w);                                                                          \
            pawl_spin##N##_write_to_seek(l);                                                       \
            must(seek(w) == seen + 1);                                                             \
        }                                                                                          \
        if (test_random_below(&w->random, 4) == 0) {                                               \
            pawl_spin##N##_seek_to_read(l);                                                        \
            read##N(w, l);                                                                         \
            return;                                                                                \
        }                                                                                          \
        pawl_spin##N##_drop_seek(l);                                                               \
    }                                                                                              \
                                                                                                   \
    static void atomic##N(struct worker *w, pawl_spin##N *l)                                       \
    {                                                                                              \
        const uint64_t seen = add(w);                                                              \
        if (test_random_below(&w->random, 3) == 0) {                                               \
            if (pawl_spin##N##_atomic_to_read(l))                                                  \
                must(w->data->number == seen);                                                     \
            read##N(w, l);                                                                         \
            return;                                                                                \
        }                                                                                          \
        pawl_spin##N##_drop_atomic(l);                                                             \
    }                                                                                              \
                                                                                                   \
    static void write##N(struct worker *w, pawl_spin##N *l)                                        \
    {                                                                                              \
        (void)look(w);                                                                             \
        write_all(w);                                                                              \
        if (test_random_below(&w->random, 8) == 0) {                                               \
            pawl_spin##N##_write_to_seek(l);                                                       \
            seek##N(w, l);                                                                         \
            return;                                                                                \
        }                                                                                          \
        pawl_spin##N##_drop_write(l);                                                              \
    }                                                                                              \
                                                                                                   \
    static void step##N(struct worker *w, pawl_spin##N *l)                                         \
    {                                                                                              \
        switch (test_random_below(&w->random, 16)) {                                               \
        case 0:                                                                                    \
            pawl_spin##N##_take_write(l);                                                          \
            write##N(w, l);                                                                        \
            break;                                                                                 \
        case 1:                                                                                    \
            if (pawl_spin##N##_try_write(l) || pawl_spin##N##_try_write_drain(l))                  \
                write##N(w, l);                                                                    \
            break;                                                                                 \
        case 2:                                                                                    \
            pawl_spin##N##_take_seek(l);                                                           \
            seek##N(w, l);                                                                         \
            break;                                                                                 \
        case 3:                                                                                    \
            if (pawl_spin##N##_try_seek(l))                                                        \
                seek##N(w, l);                                                                     \
            break;                                                                                 \
        case 4:                                                                                    \
        case 5:                                                                                    \
            pawl_spin##N##_take_atomic(l);                                                         \
            atomic##N(w, l);                                                                       \
            break;                                                                                 \
        case 6:                                                                                    \
            if (pawl_spin##N##_try_atomic(l) || pawl_spin##N##_try_atomic_drain(l))                \
                atomic##N(w, l);                                                                   \
            break;                                                                                 \
        case 7:                                                                                    \
            if (pawl_spin##N##_try_read(l))                                                        \
                read##N(w, l);                                                                     \
            break;                                                                                 \
        default:                                                                                   \
            pawl_spin##N##_take_read(l);                                                           \
            read##N(w, l);                                                                         \
        }                                                                                          \
    }

STRESS(16)
STRESS(32)
STRESS(64)

/* ---- Rounds ---------------------------------------------------------------------------------- */

static void work(void *opaque, unsigned index)
{
    struct shared *s = (struct shared *)opaque;
    struct worker w;
    unsigned i;
    w.shared = s;
    w.index = index;
    w.random = s->seed + index * UINT64_C(0x632be59bd9b4e019);
    for (i = 0; i < s->steps; i++) {
        const unsigned width = test_random_below(&w.random, 3);
        w.data = &s->data[width];
        w.writes = &s->writes[index][width];
        w.additions = &s->additions[index][width];
        if (width == 0)
            step16(&w, &s->lock16);
        else if (width == 1)
            step32(&w, &s->lock32);
        else
            step64(&w, &s->lock64);
        linger(&w);
    }
}

static void run_round(unsigned threads, unsigned steps, uint64_t seed, unsigned application)
{
    static struct shared s;
    unsigned width, i;
    memset(&s, 0, sizeof s);
    s.lock16.word = (uint16_t)application;
    s.lock32.word = application;
    s.lock64.word = application;
    for (width = 0; width < 3; width++)
        s.data[width].complement = ~UINT64_C(0);
    s.steps = steps;
    s.seed = seed;
    test_threads(threads, work, &s);
    for (width = 0; width < 3; width++) {
        uint64_t writes = 0;
        uint64_t additions = 0;
        for (i = 0; i < threads; i++) {
            writes += s.writes[i][width];
            additions += s.additions[i][width];
        }
        assert_true(s.data[width].number == writes);
        assert_true(s.data[width].complement == ~writes);
        assert_true(s.data[width].sum == additions);
    }
    assert_int_equal(s.lock16.word, application);
    assert_int_equal(s.lock32.word, application);
    assert_true(s.lock64.word == application);
}

static void nobody_is_in_beside_whom_it_excludes(void **state)
{
    const double end = test_now() + test_seconds(6);
    unsigned steps = TEST_SCALE(FIRST_STEPS);
    uint64_t seed = test_seed();
    unsigned rounds = 0;
    (void)state;
    do {
        static const unsigned crowds[] = {2, 3, 8, THREADS};
        const unsigned threads = crowds[rounds % 4];
        print_message("%u threads, %u steps each, seed %" PRIu64 "\n", threads, steps, seed);
        run_round(threads, steps, seed, rounds % 4);
        if (++rounds % 4 == 0)
            steps *= 2;
        seed++;
    } while (test_now() < end);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nobody_is_in_beside_whom_it_excludes),
    };
    return test_run(argc, argv, tests);
}
