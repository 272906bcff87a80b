/* SPDX-License-Identifier: MIT */
/*
 * How long a thread keeps signals blocked, and its preemption priority raised. The linker sends the
 * C library's calls that do either through watch.cpp. That holds for the library's lock and for the
 * others alike, so one instrument measures all rows.
 */
#pragma once

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

/* The time from the beginning of a state to just before its end, in cycles, for the threads in
 * it. */
struct spell {
    series lengths;
    std::uint64_t since = 0;
    bool lasts = false;
};

/* The watched thread changes it, and so do handlers that interrupt it. */
struct watch {
    spell deferred, interrupt; /* the signal is blocked */
    spell raised;              /* the thread is above the scheduling class it started with */
    std::uint64_t from = 0;    /* a spell that ends before does not count */
    int usual = 0;             /* the rank of that class */
};

/* Notes the calling thread's calls in `w`; null: stops. The thread must have both signals
 * unblocked and its final scheduling class. */
void watch_this_thread(watch *w, const cycle_gauge *gauge, std::uint64_t from);

/* While it is true for the calling thread, those calls return at once as if they had been made.
 * So only the lock's own part of the cost is left. Returns the number of calls skipped since the
 * last call of this. */
unsigned skip_calls(bool yes);

} // namespace bench::latency
