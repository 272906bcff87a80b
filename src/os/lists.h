/* SPDX-License-Identifier: MIT */
/*
 * pawl_os_wait and pawl_os_wake for a system that cannot wait on an address: lists of sleepers,
 * hashed by the address. Included by darwin.c and windows_wait.c, which define before:
 *
 *   struct os_list_lock  usable from zero bytes
 *   struct os_bed        the sleep of one thread; lives on its stack
 *   struct os_bell       a waker fills it under the lock and rings it afterwards; has `count`
 *   os_list_enter(lock), os_list_leave(lock)
 *   os_bed_make(bed), os_bed_unmake(bed)       without the lock
 *   bool os_bed_sleep(bed, lock, deadline)     gives the lock up while it sleeps; may return at any
 *                                              time; false only when the deadline has passed
 *   bool os_bell_add(bell, bed)                under the lock. False: full, ring it first
 *   os_bell_ring(bell)                         without the lock; the beds may be gone by then
 *
 * The order of events is that of src/lock/table.h. The sleeper compares under the lock of the list.
 * The waker has changed the word before it takes that lock. So a waker that comes between the
 * compare and the sleep finds the sleeper, and no wake is lost. The sleeper does not look at the
 * word again; `woken` tells it of the wake. So a wake also ends the sleep when the word has changed
 * back.
 */
#ifndef PAWL_OS_LISTS_H
#define PAWL_OS_LISTS_H

#include <string.h>

#include "point.h"

/* Enough lists to keep them short for some thousands of sleepers. Untouched, they take no memory.
 * The lists of src/lock/table.c, which grow, are for locks; their waiters sleep by these lists. */
#define OS_LISTS 1024

struct os_sleeper {
    struct os_sleeper *next, *previous; /* in its list, oldest first */
    const uint32_t *address;
    uint32_t woken;
    struct os_bed bed;
};

struct os_list {
    struct os_list_lock lock;
    struct os_sleeper *first, *last;
} __attribute__((aligned(PAWL_CACHE_LINE)));

static struct os_list os_lists[OS_LISTS];

/* Fibonacci hashing: neighbouring words have lists far apart. */
static inline struct os_list *os_list_of(const uint32_t *address)
{
    const uint64_t key = (uint64_t)(uintptr_t)address >> 2;
    return &os_lists[(key * UINT64_C(0x9e3779b97f4a7c15)) >> 54 & (OS_LISTS - 1)];
}

static inline void os_list_append(struct os_list *list, struct os_sleeper *sleeper)
{
    sleeper->next = NULL;
    sleeper->previous = list->last;
    if (list->last != NULL)
        list->last->next = sleeper;
    else
        list->first = sleeper;
    list->last = sleeper;
}

static inline void os_list_remove(struct os_list *list, const struct os_sleeper *sleeper)
{
    if (sleeper->previous != NULL)
        sleeper->previous->next = sleeper->next;
    else
        list->first = sleeper->next;
    if (sleeper->next != NULL)
        sleeper->next->previous = sleeper->previous;
    else
        list->last = sleeper->previous;
}

static inline bool os_lists_wait(const uint32_t *address, uint32_t expected, uint64_t deadline)
{
    struct os_list *list = os_list_of(address);
    struct os_sleeper self;
    bool in_time = true;

    if (pawl_load_relaxed32(address) != expected)
        return true;
    memset(&self, 0, sizeof self);
    self.address = address;
    os_bed_make(&self.bed);
    os_list_enter(&list->lock);
    if (pawl_load_relaxed32(address) == expected) {
        TEST_POINT("looked");
        os_list_append(list, &self);
        while (!self.woken && in_time)
            in_time = os_bed_sleep(&self.bed, &list->lock, deadline);
        if (!self.woken)
            os_list_remove(list, &self);
        else
            in_time = true;
    }
    os_list_leave(&list->lock);
    os_bed_unmake(&self.bed);
    return in_time;
}

static inline unsigned os_lists_wake(const uint32_t *address, unsigned count)
{
    struct os_list *list = os_list_of(address);
    struct os_sleeper *sleeper, *next;
    struct os_bell bell;
    unsigned woken = 0;

    bell.count = 0;
    os_list_enter(&list->lock);
    for (sleeper = list->first; sleeper != NULL && woken < count; sleeper = next) {
        next = sleeper->next;
        if (sleeper->address != address)
            continue;
        if (!os_bell_add(&bell, &sleeper->bed)) {
            os_list_leave(&list->lock);
            os_bell_ring(&bell);
            os_list_enter(&list->lock);
            next = list->first; /* the next sleeper may have gone */
            continue;
        }
        os_list_remove(list, sleeper);
        sleeper->woken = 1;
        woken++;
    }
    os_list_leave(&list->lock);
    os_bell_ring(&bell);
    return woken;
}

#endif
