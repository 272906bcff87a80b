/* SPDX-License-Identifier: MIT */
/*
 * Reports progress of a program to pawl-watchdogd, by a small shared file. The daemon's check
 * beat:FILE:SECONDS refreshes the device only while the program calls pawl_watch_beat() often
 * enough, and as long as it has reported no stall.
 *
 *   pawl_watch_open("/run/my-program.beat");
 *   for (;;) { ...; pawl_watch_beat(); }
 *
 * Stalls of RCU and of locks stop the refresh too:
 *   pawl_rcu_domain_stall(domain, ns, pawl_watch_on_rcu_stall, NULL);
 *   pawl_watch_lock(&lock, ns)     now and then, in a thread that holds no lock
 *
 * All functions may be called by any thread. pawl_watch_beat and pawl_watch_stalled may be called
 * by signal handlers, and do nothing before pawl_watch_open.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define PAWL_WATCH_MAGIC UINT32_C(0x6c776170)

struct pawl_watch_record {
    uint32_t magic;
    uint32_t stalls;  /* reported so far */
    uint64_t beat_ns; /* CLOCK_MONOTONIC at the last beat */
};

/* Makes or takes over the file, and beats once: false if it cannot (errno says why). */
bool pawl_watch_open(const char *path);
void pawl_watch_beat(void);
void pawl_watch_stalled(void);

struct pawl_rcu_stall;
void pawl_watch_on_rcu_stall(const struct pawl_rcu_stall *stall, void *argument);

/* Whether the lock can be read within `ns` nanoseconds; it is given back at once. If not, that is
 * reported as a stall. For all locks with a deadline: pawl_lock32/64 (include <pawl/lock.h>) and
 * pawl_pshared_lock32/64 (<pawl/pshared.h>). Not for signal handlers. */
#define pawl_watch_lock(lock, ns)                                                                  \
    (pawl_take_read_until((lock), pawl_now() + (ns)) ? (pawl_drop_read(lock), true)                \
                                                     : (pawl_watch_stalled(), false))
