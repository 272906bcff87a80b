/* SPDX-License-Identifier: MIT */
/*
 * Many more threads than cores do everything at once with one progressive lock of each kind in
 * KINDS, and check what they hold by plain data: it would come out wrong, or ThreadSanitizer would
 * speak, if two were in that exclude each other. Rounds get longer until the time is over
 * (PAWL_STRESS_SECONDS); what a thread does follows from the seed (--seed=N).
 *
 * The includer defines KINDS(X) as X(index, type) ..., KIND_COUNT and TIMED(type, w, l), which
 * returns true when it has done something of its own instead of the step.
 */
#pragma once

#include "test.h"

enum { THREADS = 24, FIRST_STEPS = 64 };

#define WORKER_ALSO_HAS struct shared *shared;
#include "support/protected.h"

struct shared {
#define FIELD(i, type) pawl_##type lock_##type;
    KINDS(FIELD)
#undef FIELD
    struct protected_data data[KIND_COUNT];
    unsigned steps;
    uint64_t seed;
    uint64_t writes[THREADS][KIND_COUNT], additions[THREADS][KIND_COUNT];
};

/* ---- What one does with the lock of a kind --------------------------------------------------- */

#define STRESS(i, T)                                                                               \
    static void read_##T(struct worker *w, pawl_##T *l)                                            \
    {                                                                                              \
        const uint64_t seen = read_all(w);                                                         \
        switch (test_random_below(&w->random, 8)) {                                                \
        case 0:                                                                                    \
            if (pawl_##T##_try_read_to_seek(l)) {                                                  \
                must(seek(w) == seen);                                                             \
                pawl_##T##_seek_to_read(l);                                                        \
            }                                                                                      \
            break;                                                                                 \
        case 1:                                                                                    \
        case 2:                                                                                    \
            if (test_random_below(&w->random, 2) ? pawl_##T##_try_read_to_write(l)                 \
                                                 : pawl_##T##_read_claim_write(l)) {               \
                must(look(w) == seen);                                                             \
                write_all(w);                                                                      \
                pawl_##T##_write_to_read(l);                                                       \
                must(read_all(w) == seen + 1);                                                     \
            }                                                                                      \
            break;                                                                                 \
        case 3:                                                                                    \
            if (test_random_below(&w->random, 2) ? pawl_##T##_try_read_to_atomic(l)                \
                                                 : pawl_##T##_read_claim_atomic(l)) {              \
                must(add(w) == seen);                                                              \
                if (pawl_##T##_atomic_to_read(l) == PAWL_REGAIN_KEPT)                              \
                    must(w->data->number == seen); /* never let go */                              \
            }                                                                                      \
            break;                                                                                 \
        default: break;                                                                            \
        }                                                                                          \
        (void)read_all(w);                                                                         \
        pawl_##T##_drop_read(l);                                                                   \
    }                                                                                              \
                                                                                                   \
    static void seek_##T(struct worker *w, pawl_##T *l)                                            \
    {                                                                                              \
        const uint64_t seen = seek(w);                                                             \
        if (test_random_below(&w->random, 2)) {                                                    \
            if (test_random_below(&w->random, 2))                                                  \
                pawl_##T##_seek_to_write(l);                                                       \
            else if (!pawl_##T##_try_seek_to_write(l)) {                                           \
                pawl_##T##_drop_seek(l);                                                           \
                return;                                                                            \
            }                                                                                      \
            must(look(w) == seen);                                                                 \
            write_all(w);                                                                          \
            pawl_##T##_write_to_seek(l);                                                           \
            must(seek(w) == seen + 1);                                                             \
        }                                                                                          \
        if (test_random_below(&w->random, 4) == 0) {                                               \
            pawl_##T##_seek_to_read(l);                                                            \
            read_##T(w, l);                                                                        \
            return;                                                                                \
        }                                                                                          \
        pawl_##T##_drop_seek(l);                                                                   \
    }                                                                                              \
                                                                                                   \
    static void atomic_##T(struct worker *w, pawl_##T *l)                                          \
    {                                                                                              \
        const uint64_t seen = add(w);                                                              \
        if (test_random_below(&w->random, 3) == 0) {                                               \
            if (pawl_##T##_atomic_to_read(l) == PAWL_REGAIN_KEPT)                                  \
                must(w->data->number == seen);                                                     \
            read_##T(w, l);                                                                        \
            return;                                                                                \
        }                                                                                          \
        pawl_##T##_drop_atomic(l);                                                                 \
    }                                                                                              \
                                                                                                   \
    static void write_##T(struct worker *w, pawl_##T *l)                                           \
    {                                                                                              \
        (void)look(w);                                                                             \
        write_all(w);                                                                              \
        if (test_random_below(&w->random, 8) == 0) {                                               \
            pawl_##T##_write_to_seek(l);                                                           \
            seek_##T(w, l);                                                                        \
            return;                                                                                \
        }                                                                                          \
        pawl_##T##_drop_write(l);                                                                  \
    }                                                                                              \
                                                                                                   \
    static void step_##T(struct worker *w, pawl_##T *l)                                            \
    {                                                                                              \
        if (TIMED(T, w, l))                                                                        \
            return;                                                                                \
        switch (test_random_below(&w->random, 16)) {                                               \
        case 0:                                                                                    \
            pawl_##T##_take_write(l);                                                              \
            write_##T(w, l);                                                                       \
            break;                                                                                 \
        case 1:                                                                                    \
            if (pawl_##T##_try_write(l) || pawl_##T##_claim_write(l))                              \
                write_##T(w, l);                                                                   \
            break;                                                                                 \
        case 2:                                                                                    \
            pawl_##T##_take_seek(l);                                                               \
            seek_##T(w, l);                                                                        \
            break;                                                                                 \
        case 3:                                                                                    \
            if (pawl_##T##_try_seek(l))                                                            \
                seek_##T(w, l);                                                                    \
            break;                                                                                 \
        case 4:                                                                                    \
        case 5:                                                                                    \
            pawl_##T##_take_atomic(l);                                                             \
            atomic_##T(w, l);                                                                      \
            break;                                                                                 \
        case 6:                                                                                    \
            if (pawl_##T##_try_atomic(l) || pawl_##T##_claim_atomic(l))                            \
                atomic_##T(w, l);                                                                  \
            break;                                                                                 \
        case 7:                                                                                    \
            if (pawl_##T##_try_read(l))                                                            \
                read_##T(w, l);                                                                    \
            break;                                                                                 \
        default: pawl_##T##_take_read(l); read_##T(w, l);                                          \
        }                                                                                          \
    }

KINDS(STRESS)

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
        const unsigned kind = test_random_below(&w.random, KIND_COUNT);
        w.data = &s->data[kind];
        w.writes = &s->writes[index][kind];
        w.additions = &s->additions[index][kind];
        switch (kind) {
#define CASE(i, T)                                                                                 \
    case i: step_##T(&w, &s->lock_##T); break;
            KINDS(CASE)
#undef CASE
        }
        linger(&w);
    }
}

static void run_round(unsigned threads, unsigned steps, uint64_t seed, unsigned application)
{
    static struct shared s;
    unsigned kind, i;
    memset(&s, 0, sizeof s);
#define START(i, T) s.lock_##T.word = application & START_BITS;
    KINDS(START)
#undef START
    for (kind = 0; kind < KIND_COUNT; kind++)
        s.data[kind].complement = ~UINT64_C(0);
    s.steps = steps;
    s.seed = seed;
    test_threads(threads, work, &s);
    for (kind = 0; kind < KIND_COUNT; kind++) {
        uint64_t writes = 0;
        uint64_t additions = 0;
        for (i = 0; i < threads; i++) {
            writes += s.writes[i][kind];
            additions += s.additions[i][kind];
        }
        assert_true(s.data[kind].number == writes);
        assert_true(s.data[kind].complement == ~writes);
        assert_true(s.data[kind].sum == additions);
    }
/* PAWL_BIAS=on leaves BIASED in words without application bits. */
#define END(i, T)                                                                                  \
    assert_true(s.lock_##T.word == (application & START_BITS) ||                                   \
                (START_BITS == 0 && s.lock_##T.word == 2u));
    KINDS(END)
#undef END
}

TEST_CASE(nobody_is_in_beside_whom_it_excludes)
{
    const double end = test_now() + test_seconds(6);
    unsigned steps = TEST_SCALE(FIRST_STEPS);
    uint64_t seed = test_seed();
    unsigned rounds = 0;
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

TEST_MAIN()
