/* SPDX-License-Identifier: MIT */
/* The functions of counter.h, counter_exact.h, counter_limit.h and bigref.h. */
#include "functions/functions.hpp"

namespace bench::functions {
namespace {

/* Counters give their cells back at the end. */
template <class C, std::int64_t (*destroy)(C *)> struct counting {
    C counter = {};
    counting() = default;
    ~counting() { destroy(&counter); }
    counting(const counting &) = delete;
    counting &operator=(const counting &) = delete;
};

std::int64_t end_of(pawl_counter *c)
{
    return pawl_counter_destroy(c);
}
std::int64_t end_of_cpu(pawl_cpu_counter *c)
{
    return pawl_cpu_counter_destroy(c);
}
std::int64_t end_of_exact(pawl_counter_exact *c)
{
    return pawl_counter_exact_destroy(c);
}
std::int64_t end_of_limit(pawl_counter_limit *c)
{
    return pawl_counter_limit_destroy(c);
}

using counter = counting<pawl_counter, end_of>;
using cpu_counter = counting<pawl_cpu_counter, end_of_cpu>;
using exact = counting<pawl_counter_exact, end_of_exact>;

constexpr std::uint64_t limit = INT64_MAX;

struct limited : counting<pawl_counter_limit, end_of_limit> {
    limited() { pawl_counter_limit_init(&counter, limit); }
};

struct bigref {
    pawl_bigref counter = PAWL_BIGREF_INIT(nullptr, nullptr);
    bigref() { pawl_bigref_get(&counter); }
    ~bigref() { pawl_bigref_destroy(&counter); }
    bigref(const bigref &) = delete;
    bigref &operator=(const bigref &) = delete;
};

#define PAWL_COUNTER(Object, function, before, call, after)                                        \
    PAWL_NAMED(all, Object, #function, before, PAWL_DO(function call), after)

void add_statistical(rows &all)
{
#define PAWL_COUNTER_ROWS(C, Object)                                                               \
    PAWL_COUNTER(Object, C##_add, PAWL_NOTHING, (&o.counter, 5), PAWL_NOTHING);                    \
    PAWL_COUNTER(Object, C##_sub, PAWL_NOTHING, (&o.counter, 5), PAWL_NOTHING);                    \
    PAWL_COUNTER(Object, C##_inc, PAWL_NOTHING, (&o.counter), PAWL_NOTHING);                       \
    PAWL_COUNTER(Object, C##_dec, PAWL_NOTHING, (&o.counter), PAWL_NOTHING);                       \
    PAWL_COUNTER(Object, C##_read, PAWL_NOTHING, (&o.counter), PAWL_NOTHING);                      \
    PAWL_COUNTER(C, C##_init, PAWL_NOTHING, (&o), PAWL_NOTHING);                                   \
    PAWL_COUNTER(C, C##_destroy, PAWL_DO(C##_init(&o), C##_add(&o, 5)), (&o), PAWL_NOTHING)
    PAWL_COUNTER_ROWS(pawl_counter, counter);
    PAWL_COUNTER_ROWS(pawl_cpu_counter, cpu_counter);
    PAWL_COUNTER(counter, pawl_counter_add_in_handler, PAWL_NOTHING, (&o.counter, 5), PAWL_NOTHING);
    PAWL_COUNTER(pawl_atomic_counter, pawl_atomic_counter_init, PAWL_NOTHING, (&o, 7),
                 PAWL_NOTHING);
    PAWL_COUNTER(pawl_atomic_counter, pawl_atomic_counter_add, PAWL_NOTHING, (&o, 5), PAWL_NOTHING);
    PAWL_COUNTER(pawl_atomic_counter, pawl_atomic_counter_sub, PAWL_NOTHING, (&o, 5), PAWL_NOTHING);
    PAWL_COUNTER(pawl_atomic_counter, pawl_atomic_counter_read, PAWL_NOTHING, (&o), PAWL_NOTHING);
}

void add_exact_and_limit(rows &all)
{
    PAWL_COUNTER(pawl_counter_exact, pawl_counter_exact_init, PAWL_NOTHING, (&o, PAWL_EXACT_FOLD),
                 PAWL_NOTHING);
    PAWL_COUNTER(exact, pawl_counter_exact_add, PAWL_NOTHING, (&o.counter, 5), PAWL_NOTHING);
    PAWL_COUNTER(exact, pawl_counter_exact_sub, PAWL_NOTHING, (&o.counter, 5), PAWL_NOTHING);
    PAWL_COUNTER(exact, pawl_counter_exact_read, PAWL_NOTHING, (&o.counter), PAWL_NOTHING);
    PAWL_COUNTER(
        pawl_counter_exact, pawl_counter_exact_destroy,
        PAWL_DO(pawl_counter_exact_init(&o, PAWL_EXACT_FOLD), pawl_counter_exact_add(&o, 5)), (&o),
        PAWL_NOTHING);
    PAWL_COUNTER(pawl_counter_limit, pawl_counter_limit_init, PAWL_NOTHING, (&o, limit),
                 PAWL_NOTHING);
    PAWL_COUNTER(limited, pawl_counter_limit_try_add, PAWL_NOTHING, (&o.counter, 5),
                 PAWL_DO(pawl_counter_limit_sub(&o.counter, 5)));
    PAWL_COUNTER(limited, pawl_counter_limit_sub,
                 PAWL_DO(pawl_counter_limit_try_add(&o.counter, 5)), (&o.counter, 5), PAWL_NOTHING);
    PAWL_COUNTER(limited, pawl_counter_limit_set_limit, PAWL_NOTHING, (&o.counter, limit),
                 PAWL_NOTHING);
    PAWL_COUNTER(limited, pawl_counter_limit_read, PAWL_NOTHING, (&o.counter), PAWL_NOTHING);
    PAWL_COUNTER(pawl_counter_limit, pawl_counter_limit_destroy,
                 PAWL_DO(pawl_counter_limit_init(&o, limit), pawl_counter_limit_try_add(&o, 5)),
                 (&o), PAWL_NOTHING);
}

} // namespace

void add_counter(rows &all)
{
    all.group("counter");
    add_statistical(all);
    add_exact_and_limit(all);
}

#define PAWL_REF_DO(verb) PAWL_DO(pawl_bigref_##verb(&o.counter))

void add_bigref(rows &all)
{
    all.group("bigref");
    PAWL_COUNTER(pawl_bigref, pawl_bigref_init, PAWL_NOTHING, (&o, nullptr, nullptr), PAWL_NOTHING);
    PAWL_COUNTER(bigref, pawl_bigref_get, PAWL_NOTHING, (&o.counter), PAWL_REF_DO(drop));
    PAWL_COUNTER(bigref, pawl_bigref_try_get, PAWL_NOTHING, (&o.counter), PAWL_REF_DO(drop));
    PAWL_COUNTER(bigref, pawl_bigref_drop, PAWL_REF_DO(get), (&o.counter), PAWL_NOTHING);
    PAWL_COUNTER(bigref, pawl_bigref_read, PAWL_NOTHING, (&o.counter), PAWL_NOTHING);
    PAWL_COUNTER(bigref, pawl_bigref_kill, PAWL_NOTHING, (&o.counter), PAWL_REF_DO(revive));
    PAWL_COUNTER(bigref, pawl_bigref_revive, PAWL_REF_DO(kill), (&o.counter), PAWL_NOTHING);
    PAWL_COUNTER(pawl_bigref, pawl_bigref_destroy,
                 PAWL_DO(pawl_bigref_init(&o, nullptr, nullptr), pawl_bigref_get(&o)), (&o),
                 PAWL_NOTHING);
}

} // namespace bench::functions
