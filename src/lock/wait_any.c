/* SPDX-License-Identifier: MIT */
/* Waits for any of several addresses: the waiter is in a wait list for each. */
#include "wait_parts.h"

/* Removes the caller from those of the first `count` lists from which no waker has picked it.
 * Returns how many wakers picked it. The first of them is in *which, unless *which was set before.
 * The wakes of the other wakers go to the next waiters of their lists. */
static uint32_t wait_leave_lists(struct pawl_waiter *waiters, uint32_t count, uint32_t *which)
{
    const struct pawl_waiter *handed_on[PAWL_WAIT_WATCHES];
    uint32_t picks = 0, given = 0;

    for (uint32_t i = 0; i < count; i++) {
        if (wait_unlist_waiter(&waiters[i])) {
            picks++;
            if (*which == PAWL_WAIT_WATCHES)
                *which = i;
            else
                handed_on[given++] = &waiters[i];
        }
        wait_count_out(waiters[i].address, WAIT_LISTED);
    }
    for (uint32_t i = 0; i < given; i++)
        (void)PAWL_SYMBOL_(pawl_wake)(handed_on[i]->address, handed_on[i]->bits, 1);
    return picks;
}

static enum pawl_waited wait_many(const struct pawl_watch *watches, uint32_t count, uint32_t *which,
                                  uint64_t deadline)
{
    struct pawl_waiter waiters[PAWL_WAIT_WATCHES];
    struct pawl_queue queues[PAWL_WAIT_WATCHES];
    enum pawl_waited how = PAWL_WAIT_WOKEN;
    struct pawl_parker room;
    struct pawl_parker *parker = pawl_parker_make(&room);
    uint32_t listed, picks, unparks = 0;

    pawl_os_told_plain(waiters, sizeof waiters);
    pawl_os_told_plain(queues, sizeof queues);
    for (listed = 0; listed < count; listed++)
        if (!wait_list_waiter(&waiters[listed], &watches[listed], &queues[listed], parker,
                              WAIT_FOR_WORD))
            break;
    if (listed < count) {
        how = PAWL_WAIT_DIFFERS;
        *which = listed;
    } else {
        table_grow_if_crowded();
        TEST_POINT("listed");
        unparks = pawl_park(parker, deadline);
    }
    /* Each pick means an unpark, and none may come when this stack frame is gone. */
    picks = wait_leave_lists(waiters, listed, which);
    for (; unparks < picks; unparks++)
        (void)pawl_park(parker, PAWL_NO_DEADLINE);
    return how == PAWL_WAIT_WOKEN && picks == 0 ? PAWL_WAIT_EXPIRED : how;
}

enum pawl_waited PAWL_SYMBOL_(pawl_wait_any)(const struct pawl_watch *watches, uint32_t count,
                                             uint32_t *which, uint64_t deadline)
{
    uint32_t found = PAWL_WAIT_WATCHES;
    enum pawl_waited how = PAWL_WAIT_REFUSED;
    bool sound = watches != NULL && count > 0 && count <= PAWL_WAIT_WATCHES;

    for (uint32_t i = 0; sound && i < count; i++)
        sound = wait_watch_is_sound(&watches[i]);
    if (PAWL_LIKELY(sound))
        how = wait_many(watches, count, &found, deadline);
    else
        MISUSE("wait at no, too many or unsound addresses", "watches", watches, "pawl_wait_any");
    if (which != NULL)
        *which = found < PAWL_WAIT_WATCHES ? found : 0;
    return how;
}
