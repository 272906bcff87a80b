/* SPDX-License-Identifier: MIT */
/* Sleeps of the program: inside sections, and between looks at something; and processors that it
 * gives away. The calls that the C library makes itself do not come here. */
#include "record.h"

#define EXPORTED __attribute__((visibility("default"))) int

/* A sleep has no address; each site is a row. */
static uint64_t begins(uint64_t site, uint64_t *begun)
{
    const uint64_t key = key_of(NULL, TRACE_SLEEP);
    *begun = trace_ticks();
    if (enter()) {
        if (trace_self.lane->depth != 0)
            trace_order(key, site);
        leave();
    }
    return key;
}

EXPORTED nanosleep(trace_time time, struct timespec *left)
{
    const uint64_t site = TRACE_HERE();
    uint64_t begun;
    const uint64_t key = begins(site, &begun);
    const int error = next()->nanosleep(time, left);
    trace_waited(key, site, begun, true, 0);
    return error;
}

EXPORTED clock_nanosleep(clockid_t clock, int flags, trace_time time, struct timespec *left)
{
    const uint64_t site = TRACE_HERE();
    uint64_t begun;
    const uint64_t key = begins(site, &begun);
    const int error = next()->clock_nanosleep(clock, flags, time, left);
    trace_waited(key, site, begun, true, 0);
    return error;
}

EXPORTED usleep(useconds_t us)
{
    const uint64_t site = TRACE_HERE();
    uint64_t begun;
    const uint64_t key = begins(site, &begun);
    const int error = next()->usleep(us);
    trace_waited(key, site, begun, true, 0);
    return error;
}

EXPORTED sched_yield(void)
{
    const uint64_t site = TRACE_HERE();
    uint64_t begun;
    const uint64_t key = begins(site, &begun);
    const int error = next()->sched_yield();
    trace_waited(key, site, begun, true, 0);
    return error;
}
