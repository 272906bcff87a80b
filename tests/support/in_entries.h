/* SPDX-License-Identifier: MIT */
#pragma once

#include <pawl/lock.h>

#include "lock/entries.h"

/* The entries of all threads that have this lock. */
static unsigned in_entries(const pawl_lock32 *l)
{
    unsigned count = 0;
    for (unsigned i = 0; i < ENTRIES_LINES && entries_exist(); i++) {
        const struct pawl_entries *const line = entries_line(entries_all(), i);
        for (unsigned k = 0; k < PAWL_ENTRIES && line != NULL; k++)
            count +=
                PAWL_ADDRESS_(pawl_load_relaxed)(&line->locks[k]) == (ipawl_address_)(uintptr_t)l;
    }
    return count;
}
