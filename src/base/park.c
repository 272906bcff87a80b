/* SPDX-License-Identifier: MIT */
/* Parkers over the system's wait on a 32-bit word: Linux's futex and its like, and the hooks. */
#include "park.h"

#define ASLEEP UINT32_MAX

struct pawl_parker *pawl_parker_make(struct pawl_parker *room)
{
    pawl_os_told_plain(room, sizeof *room);
    pawl_store_relaxed32(&room->count, 0);
    room->descriptor = -1;
    return room;
}

bool pawl_park(struct pawl_parker *parker, uint64_t deadline)
{
    uint32_t count;
    /* [PARK] acquire: the thread sees all accesses before the unpark that had already come. */
    if (pawl_fetch_sub_acquire32(&parker->count, 1, PAWL_PARK) != 0)
        return true;
    /* [PARK] acquire: the thread sees all accesses before the unpark. */
    while ((count = pawl_load_acquire32(&parker->count, PAWL_PARK)) == ASLEEP) {
        /* An unpark that came at the last moment counts: the thread looks again. */
        if (!pawl_os_wait(&parker->count, ASLEEP, deadline) &&
            pawl_cas_relaxed32(&parker->count, &count, 0))
            return false;
    }
    return true;
}

void pawl_unpark(struct pawl_parker *parker)
{
    if (PAWL_UNLIKELY(parker->descriptor >= 0))
        pawl_os_tell(parker->descriptor);
    /* [PARK_WAKE] release: the woken thread sees the waker's accesses. From here on its stack may
     * be gone. A wake by address alone does not touch the memory. Another thread that sleeps
     * there now sees a spurious wake. */
    if (pawl_fetch_add_release32(&parker->count, 1, PAWL_PARK_WAKE) == ASLEEP)
        (void)pawl_os_wake(&parker->count, 1);
}

void pawl_parkers_after_fork(struct pawl_parker *own)
{
    uint32_t seen = ASLEEP;
    if (own != NULL && !pawl_cas_relaxed32(&own->count, &seen, 0))
        pawl_store_relaxed32(&own->count, 1);
}

#undef ASLEEP
