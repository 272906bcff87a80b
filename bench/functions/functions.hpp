/* SPDX-License-Identifier: MIT */
/*
 * What the files of pawl-bench-functions share. A row is one public function. The library's
 * objects stand in a row of 64. In a batch, a first call brings each of them to the state in which
 * the function is called, then the function is called on all of them, then a last call brings them
 * back. Only the middle part is timed. The median batch stands for the sample.
 *
 *   PAWL_ROW(all, Object, function, before, call, after)
 *
 * `before`, `call` and `after` are PAWL_DO(expression), in which `o` is the object. A call that
 * gives a bool has to give true, or the driver ends: a row that fails its try measures a failure.
 */
#pragma once

#include <memory>

#include <pawl/pawl.h>

#include "core/candidate.hpp"
#include "core/placed.hpp"

namespace bench::functions {

/* A deadline that never comes, one that has passed, and a bit or some bytes for those that ask. */
constexpr std::uint64_t never = UINT64_MAX, past = 1;
constexpr unsigned bit = 3;

struct timing {
    double warmup = 0, seconds = 0;
};

/* So many calls took so long in the median batch. */
struct measured {
    unsigned calls = 0;
    double seconds = 0;
};

using row = candidate<measured (*)(const timing &)>;

/* The rows, each with the group of its header. */
class rows {
  public:
    void group(const char *name) { group_ = name; }
    void add(const char *function, measured (*run)(const timing &))
    {
        row one;
        one.strategy = group_;
        one.lock = function;
        one.design = run;
        one.name = std::string(group_) + "/" + function + "@1";
        all.push_back(one);
    }
    std::vector<row> all;

  private:
    const char *group_ = "";
};

/* ---- Measuring ------------------------------------------------------------------------------- */

inline double now()
{
    return seconds_of(CLOCK_MONOTONIC);
}

inline double median(std::vector<double> &values)
{
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

/* The number of objects: Object::at_once, where the type names it. */
template <class Object, class = void> constexpr unsigned count_of = 64;
template <class Object>
constexpr unsigned count_of<Object, std::void_t<decltype(Object::at_once)>> = Object::at_once;

/* What follows each batch: Object::rest(), where the type has it. */
template <class Object, class = void> struct rest_of {
    static void run() {}
};
template <class Object> struct rest_of<Object, std::void_t<decltype(Object::rest())>> {
    static void run() { Object::rest(); }
};

/* The compiler may neither drop the call nor move it past the next one. */
template <class Call, class Object> inline void once(Call call, Object &o)
{
    if constexpr (std::is_void_v<decltype(call(o))>) {
        call(o);
        __asm__ __volatile__("" : : : "memory");
    } else {
        const auto result = call(o);
        if constexpr (std::is_class_v<decltype(call(o))>)
            __asm__ __volatile__("" : : "m"(result) : "memory");
        else
            __asm__ __volatile__("" : : "r"(result) : "memory");
    }
}

template <class Call, class Object> inline bool agrees(Call call, Object &o)
{
    if constexpr (std::is_same_v<decltype(call(o)), bool>)
        return call(o);
    once(call, o);
    return true;
}

template <class Object, class Before, class Call, class After>
measured measure(const timing &t, Before before, Call call, After after)
{
    constexpr unsigned count = count_of<Object>;
    const auto all = std::make_unique<placed<Object>[]>(count);
    /* What a reading of the clock costs, just before, is no part of the function. */
    const auto batch = [&] {
        for (unsigned i = 0; i < count; i++)
            once(before, all[i].object);
        const double clock = now(), start = now();
        for (unsigned i = 0; i < count; i++)
            once(call, all[i].object);
        const double took = (now() - start) - (start - clock);
        for (unsigned i = 0; i < count; i++)
            once(after, all[i].object);
        rest_of<Object>::run();
        return took;
    };
    for (unsigned i = 0; i < count; i++) {
        once(before, all[i].object);
        expect(agrees(call, all[i].object), "the function did not do what its row says");
        once(after, all[i].object);
    }
    rest_of<Object>::run();
    for (const double end = now() + t.warmup; now() < end && !interrupted;)
        batch();
    std::vector<double> times;
    const double end = now() + t.seconds;
    do
        times.push_back(batch());
    while ((now() < end || times.size() < 5) && !interrupted);
    return {count, std::max(1e-12, median(times))};
}

#define PAWL_DO(...) []([[maybe_unused]] auto &o) { return (__VA_ARGS__); }
#define PAWL_NOTHING PAWL_DO(void())
/* A macro that calls this one gives it the name as text: as an argument of two macros a name
 * becomes that of its symbol. */
#define PAWL_NAMED(all, Object, name, before, call, after)                                         \
    (all).add(name, [](const timing &t) { return measure<Object>(t, before, call, after); })
#define PAWL_ROW(all, Object, function, before, call, after)                                       \
    PAWL_NAMED(all, Object, #function, before, call, after)

void add_spin(rows &all);
void add_lock(rows &all);
void add_pshared(rows &all);
void add_robust(rows &all);
void add_brlock(rows &all);
void add_seq(rows &all);
void add_counter(rows &all);
void add_bigref(rows &all);
void add_bitlock(rows &all);
void add_wait(rows &all);
void add_cond(rows &all);
void add_rcu(rows &all);
void add_rcu_call(rows &all);
void add_list(rows &all);
void add_idtable(rows &all);
void add_sift(rows &all);

} // namespace bench::functions
