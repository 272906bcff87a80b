/* SPDX-License-Identifier: MIT */
/*
 * How many threads sleep in the wait lists at an address, as the lists themselves say. The kernel
 * cannot say it: a thread that it calls asleep may wait inside an emulator, and then for no lock.
 */
#pragma once

#include "support/table_again.h"

static uint32_t asleep_at(const void *address)
{
    struct pawl_bucket *bucket = table_lock(address);
    uint32_t count = 0;
    for (const struct pawl_queue *queue = bucket->queues; queue != NULL; queue = queue->next)
        for (const struct pawl_waiter *w = queue->oldest; w != NULL; w = w->younger)
            count += w->address == address && w->asleep != 0;
    table_unlock(bucket);
    return count;
}

/* Until `count` threads sleep there. */
static void until_asleep_at(const void *address, uint32_t count)
{
    while (asleep_at(address) < count)
        usleep(100);
}
