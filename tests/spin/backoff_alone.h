/* SPDX-License-Identifier: MIT */
/* The library's back-off with a virtual clock, and with hints and yields that are only counted. */
#pragma once

#include <pawl/spin.h>

#include "os/os.h"

static unsigned hints_given;
static unsigned yields_made;
static unsigned clock_reads;
static uint64_t clock_now;

static void count_hint(void)
{
    hints_given++;
}

static void count_yield(void)
{
    yields_made++;
}

static uint64_t virtual_now(void)
{
    clock_reads++;
    return clock_now;
}

#define pawl_cpu_relax count_hint
#undef pawl_os_now
#define pawl_os_now virtual_now
#undef pawl_os_yield
#define pawl_os_yield count_yield
#include "base/backoff.h"
#undef pawl_cpu_relax
#undef pawl_os_now
#undef pawl_os_yield

/* Hints of the next pause. */
static unsigned pause_length(struct backoff *b, const void *seed)
{
    const unsigned before = hints_given;
    backoff_pause_once(b, seed);
    return hints_given - before;
}
