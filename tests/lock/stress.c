/* SPDX-License-Identifier: MIT */
/*
 * The progressive locks that sleep, a third of the steps with deadlines of all sizes: what times
 * out must leave nothing behind, and nobody may sleep on (the test would not end).
 */
#include <pawl/lock.h>

#define KIND_COUNT 2
#define KINDS(X) X(0, lock32) X(1, lock64)
#define START_BITS 0u
#define TIMED(type, w, l) (test_random_below(&(w)->random, 3) == 0 && timed_##type(w, l))

struct worker;
static bool timed_lock32(struct worker *w, pawl_lock32 *l);
static bool timed_lock64(struct worker *w, pawl_lock64 *l);

#include "support/progressive.h"

static uint64_t some_deadline(struct worker *w)
{
    return pawl_now() + (UINT64_C(1) << test_random_below(&w->random, 22));
}

#define TIMED_STEP(i, T)                                                                           \
    static bool timed_##T(struct worker *w, pawl_##T *l)                                           \
    {                                                                                              \
        const uint64_t deadline = some_deadline(w);                                                \
        switch (test_random_below(&w->random, 9)) {                                                \
        case 0:                                                                                    \
            if (pawl_##T##_take_read_until(l, deadline))                                           \
                read_##T(w, l);                                                                    \
            break;                                                                                 \
        case 1:                                                                                    \
            if (!pawl_##T##_take_seek_until(l, deadline))                                          \
                break;                                                                             \
            (void)seek(w);                                                                         \
            if (pawl_##T##_seek_to_write_until(l, deadline))                                       \
                write_##T(w, l);                                                                   \
            else                                                                                   \
                seek_##T(w, l);                                                                    \
            break;                                                                                 \
        case 2:                                                                                    \
            if (pawl_##T##_take_write_until(l, deadline))                                          \
                write_##T(w, l);                                                                   \
            break;                                                                                 \
        case 3:                                                                                    \
            if (!pawl_##T##_take_atomic_until(l, deadline))                                        \
                break;                                                                             \
            (void)add(w);                                                                          \
            if (pawl_##T##_atomic_to_read_until(l, deadline) != PAWL_REGAIN_TIMED_OUT)             \
                read_##T(w, l);                                                                    \
            break;                                                                                 \
        case 4:                                                                                    \
            pawl_##T##_take_read(l);                                                               \
            if (pawl_##T##_read_claim_write_until(l, deadline))                                    \
                write_##T(w, l);                                                                   \
            else                                                                                   \
                read_##T(w, l);                                                                    \
            break;                                                                                 \
        case 5: /* handed over while it is held; the drop, or another move, comes later */         \
            pawl_##T##_take_read(l);                                                               \
            pawl_##T##_hand_off(l);                                                                \
            read_##T(w, l);                                                                        \
            break;                                                                                 \
        case 6:                                                                                    \
            pawl_##T##_take_write(l);                                                              \
            pawl_##T##_hand_off(l);                                                                \
            write_##T(w, l);                                                                       \
            break;                                                                                 \
        case 7:                                                                                    \
            pawl_##T##_take_seek(l);                                                               \
            pawl_##T##_hand_off(l);                                                                \
            seek_##T(w, l);                                                                        \
            break;                                                                                 \
        default:                                                                                   \
            if (pawl_##T##_claim_write_until(l, deadline)) {                                       \
                write_##T(w, l);                                                                   \
                break;                                                                             \
            }                                                                                      \
            pawl_##T##_take_read(l);                                                               \
            if (pawl_##T##_read_claim_atomic_until(l, deadline))                                   \
                atomic_##T(w, l);                                                                  \
            else                                                                                   \
                read_##T(w, l);                                                                    \
        }                                                                                          \
        return true;                                                                               \
    }
KINDS(TIMED_STEP)
