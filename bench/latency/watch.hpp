/* SPDX-License-Identifier: MIT */
/*
 * How long a thread keeps signals blocked, and its preemption priority raised. The linker sends the
 * calls of the C library that do either through watch.cpp, those of our lock and those
 * around the others alike, so that one instrument measures all rows.
 */
#ifndef PAWL_BENCH_LATENCY_WATCH_HPP
#define PAWL_BENCH_LATENCY_WATCH_HPP

#include <signal.h>

#include "core/cycles.hpp"

namespace bench::latency {

/* The signals whose handlers read, of the lower class and of the higher one. */
inline int deferred_signal()
{
    return SIGRTMIN + 2;
}
inline int interrupt_signal()
{
    return SIGRTMIN + 3;
}

/* From when something begins to before it ends, as cycles of the threads that it happens to. */
struct spell {
    series lengths;
    std::uint64_t since = 0;
    bool lasts = false;
};

/* Changed by the thread that is watched, and by handlers that interrupt it. */
struct watch {
    spell deferred, interrupt; /* the signal is blocked */
    spell raised;              /* the thread is above the scheduling class it started with */
    std::uint64_t from = 0;    /* what ends before does not count */
    int usual = 0;             /* the rank of that class */
};

/* Notes the calling thread's calls in `w`; null: no more. The thread must have both signals
 * unblocked and the scheduling class that it is to have. */
void watch_this_thread(watch *w, const cycle_gauge *gauge, std::uint64_t from);

/* While it is true for the calling thread, those calls return at once as if they had been made, so
 * that a lock's own part of the cost is left. How many did so since this was last called. */
unsigned skip_calls(bool yes);

} // namespace bench::latency

#endif
