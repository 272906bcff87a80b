/* SPDX-License-Identifier: MIT */
/* The operations of a sleeping lock as functions of one type: those of transitions.def, and more.
 * The program has them from its own copy of the library, and once more from another copy. */
#pragma once

#include <pawl/cond.h>

#include "fuzz/kinds.h"

enum {
    OP_take_read_counted = OP_COUNT,
    OP_try_read_counted,
    OP_drop_read_counted,
    OP_hand_off,
    OP_cond_wait_read,
    VERBS
};

struct verbs {
    struct kind kind;
    bool (*run[VERBS])(void *);
    bool (*until[VERBS])(void *, uint64_t); /* NULL: as in kind */
};

typedef void verbs_describe(unsigned bits, struct verbs *v);

#define VERBS_OF(T)                                                                                \
    static bool T##_more_take(void *l)                                                             \
    {                                                                                              \
        return (pawl_##T##_take_read_counted((pawl_##T *)l), true);                                \
    }                                                                                              \
    static bool T##_more_take_until(void *l, uint64_t deadline)                                    \
    {                                                                                              \
        return pawl_##T##_take_read_counted_until((pawl_##T *)l, deadline);                        \
    }                                                                                              \
    static bool T##_more_try(void *l)                                                              \
    {                                                                                              \
        return pawl_##T##_try_read_counted((pawl_##T *)l);                                         \
    }                                                                                              \
    static bool T##_more_drop(void *l)                                                             \
    {                                                                                              \
        return (pawl_##T##_drop_read_counted((pawl_##T *)l), true);                                \
    }                                                                                              \
    static bool T##_more_hand_off(void *l)                                                         \
    {                                                                                              \
        return (pawl_##T##_hand_off((pawl_##T *)l), true);                                         \
    }                                                                                              \
    static bool T##_more_wait(void *l) /* nobody signals */                                        \
    {                                                                                              \
        static pawl_cond cond;                                                                     \
        return !pawl_##T##_cond_wait_read_until(&cond, (pawl_##T *)l, pawl_now() + 100000);        \
    }                                                                                              \
    static bool T##_more_back(void *l) /* A -> R, whether or not a claimant was let in */          \
    {                                                                                              \
        (void)pawl_##T##_atomic_to_read((pawl_##T *)l);                                            \
        return true;                                                                               \
    }                                                                                              \
    static bool T##_more_back_until(void *l, uint64_t deadline)                                    \
    {                                                                                              \
        return pawl_##T##_atomic_to_read_until((pawl_##T *)l, deadline) != PAWL_REGAIN_TIMED_OUT;  \
    }                                                                                              \
    static void T##_verbs(struct verbs *v)                                                         \
    {                                                                                              \
        T##_describe(&v->kind);                                                                    \
        memcpy(v->run, v->kind.run, sizeof v->kind.run);                                           \
        memcpy(v->until, v->kind.until, sizeof v->kind.until);                                     \
        v->run[OP_take_read_counted] = T##_more_take;                                              \
        v->until[OP_take_read_counted] = T##_more_take_until;                                      \
        v->run[OP_try_read_counted] = T##_more_try;                                                \
        v->run[OP_drop_read_counted] = T##_more_drop;                                              \
        v->run[OP_hand_off] = T##_more_hand_off;                                                   \
        v->run[OP_cond_wait_read] = T##_more_wait;                                                 \
        v->run[OP_atomic_to_read] = T##_more_back;                                                 \
        v->until[OP_atomic_to_read] = T##_more_back_until;                                         \
    }
VERBS_OF(lock32)
VERBS_OF(lock64)

static void verbs_of_this_copy(unsigned bits, struct verbs *v)
{
    memset(v, 0, sizeof *v);
    (bits == 32 ? lock32_verbs : lock64_verbs)(v);
}
