/* SPDX-License-Identifier: MIT */
/* The counters that pawl-bench-counters adds to and reads, the library's and others', in one
 * form. */
#pragma once

#include <pawl/counter.h>

#if PAWL_BENCH_TBB
#include <tbb/combinable.h>
#include <tbb/enumerable_thread_specific.h>
#endif

#include "counters/counters.hpp"
#include "counters/ck.h"
#include "core/membarrier.hpp"

namespace bench::counters {

struct thread_counter {
    static constexpr const char *name = "pawl_counter";
    placed<pawl_counter> object{PAWL_COUNTER_INIT};
    ~thread_counter() { pawl_counter_destroy(&object.object); }
    void add() { pawl_counter_inc(&object.object); }
    std::int64_t read() { return pawl_counter_read(&object.object); }
};

struct handler_counter : thread_counter {
    static constexpr const char *name = "pawl_counter, the form for handlers";
    void add() { pawl_counter_add_in_handler(&object.object, 1); }
};

struct cpu_counter {
    static constexpr const char *name = "pawl_cpu_counter";
    placed<pawl_cpu_counter> object{PAWL_CPU_COUNTER_INIT};
    ~cpu_counter() { pawl_cpu_counter_destroy(&object.object); }
    void add() { pawl_cpu_counter_inc(&object.object); }
    std::int64_t read() { return pawl_cpu_counter_read(&object.object); }
};

template <enum pawl_exact_mode mode> struct exact_counter {
    static constexpr const char *name = "pawl_counter_exact";
    placed<pawl_counter_exact> object;
    exact_counter() { pawl_counter_exact_init(&object.object, mode); }
    ~exact_counter() { pawl_counter_exact_destroy(&object.object); }
    void add() { pawl_counter_exact_add(&object.object, 1); }
    std::int64_t read() { return pawl_counter_exact_read(&object.object); }
};

/* Far from its limit, as limit counters mostly are. */
struct limit_counter {
    static constexpr const char *name = "pawl_counter_limit";
    placed<pawl_counter_limit> object;
    limit_counter() { pawl_counter_limit_init(&object.object, INT64_MAX / 2); }
    ~limit_counter() { pawl_counter_limit_destroy(&object.object); }
    void add()
    {
        if (!pawl_counter_limit_try_add(&object.object, 1))
            throw std::runtime_error("pawl_counter_limit refused far from its limit.");
    }
    std::int64_t read() { return pawl_counter_limit_read(&object.object); }
};

struct atomic_word {
    static constexpr const char *name = "std::atomic";
    placed<std::atomic<std::int64_t>> word;
    void add() { word.object.fetch_add(1); }
    std::int64_t read() { return word.object.load(); }
};

#if PAWL_BENCH_TBB
/* A cell for each thread; reading adds them up. */
template <class Cells> struct tbb_cells {
    Cells cells;
    template <class First> explicit tbb_cells(First first) : cells(first) {}
    void add() { cells.local()++; }
    std::int64_t read()
    {
        return cells.combine([](std::int64_t a, std::int64_t b) { return a + b; });
    }
};

struct tbb_specific : tbb_cells<tbb::enumerable_thread_specific<std::int64_t>> {
    static constexpr const char *name = "enumerable_thread_specific";
    tbb_specific() : tbb_cells(0) {}
};

struct tbb_combinable : tbb_cells<tbb::combinable<std::int64_t>> {
    static constexpr const char *name = "combinable";
    tbb_combinable() : tbb_cells([] { return std::int64_t{0}; }) {}
};
#endif

} // namespace bench::counters
