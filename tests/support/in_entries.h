/* SPDX-License-Identifier: MIT */
#ifndef IN_ENTRIES_H
#define IN_ENTRIES_H

#include <pawl/lock.h>

#include "lock/entries.h"

/* The entries of all threads that have this lock. */
static unsigned in_entries(const pawl_lock32 *l)
{
    unsigned count = 0;
    for (unsigned i = 0; i < ENTRIES_LINES * PAWL_ENTRIES; i++)
        count += PAWL_ADDRESS_(pawl_load_relaxed)(
                     &entries_all()->lines[i / PAWL_ENTRIES].locks[i % PAWL_ENTRIES]) ==
                 (pawl_address_)(uintptr_t)l;
    return count;
}

#endif
