/* SPDX-License-Identifier: MIT */
/* The sleepers of one lock: a list for each class, in the order of rank and age, and who comes
 * first. The bucket is locked. No step goes through all waiters; one with a rank passes those of
 * other ranks. */
#include "lock_parts.h"

static struct lock_list *lock_list_of(struct lock_place *here, const struct wait *wait)
{
    const uint32_t class = wait->self.claim == WAIT_NOTHING ? wait->waiter.kind : 0;
    return &here->queue->lists[__builtin_ctz(class | 1u << LOCK_LIST_CLAIM)];
}

static void lock_count_urgent(struct lock_place *here, const struct wait *wait, uint32_t change)
{
    if (!lock_is_urgent(wait))
        return;
    here->queue->queue.urgent += change;
    pawl_store_relaxed32(&here->bucket->urgent,
                         pawl_load_relaxed32(&here->bucket->urgent) + change);
}

/* Whether sleeper `w` comes first: by rank, and within a rank by age. */
static bool lock_comes_first(const struct wait *w, const struct wait *wait)
{
    return w->rank != wait->rank ? w->rank > wait->rank : w->since <= wait->since;
}

/* The sleeper that comes right before the waiter, in the order of rank and age. Search from the
 * front for a waiter that sleeps again, from the back for a new one, among those with a rank or
 * those without, so the search is short. */
static struct wait *lock_before(const struct lock_list *list, const struct wait *wait)
{
    struct wait *before, *next;
    if (wait->slept) {
        before = wait->rank != 0 ? NULL : list->last_ranked;
        next = before != NULL ? before->after : list->first;
        for (; next != NULL && lock_comes_first(next, wait); next = next->after) {
            TABLE_STEP();
            before = next;
        }
        return before;
    }
    before = wait->rank != 0 ? list->last_ranked : list->last;
    for (; before != NULL && !lock_comes_first(before, wait); before = before->before)
        TABLE_STEP();
    return before;
}

PAWL_INTERNAL void lock_enlist(struct lock_place *here, struct wait *wait)
{
    struct lock_list *list = lock_list_of(here, wait);
    struct wait *before = lock_before(list, wait);

    wait->slept = true;
    wait->before = before;
    wait->after = before != NULL ? before->after : list->first;
    *(wait->before != NULL ? &wait->before->after : &list->first) = wait;
    *(wait->after != NULL ? &wait->after->before : &list->last) = wait;
    if (wait->rank != 0 && list->last_ranked == before)
        list->last_ranked = wait;
    lock_count_urgent(here, wait, 1);
}

PAWL_INTERNAL void lock_delist(struct lock_place *here, struct wait *wait)
{
    struct lock_list *list = lock_list_of(here, wait);
    if (list->last_ranked == wait)
        list->last_ranked = wait->before;
    *(wait->before != NULL ? &wait->before->after : &list->first) = wait->after;
    *(wait->after != NULL ? &wait->after->before : &list->last) = wait->before;
    lock_count_urgent(here, wait, (uint32_t)-1);
}

PAWL_INTERNAL unsigned lock_oldest_ready(const struct lock_place *here, unsigned ready)
{
    const struct wait *oldest = NULL;
    unsigned found = LOCK_LISTS;
    for (unsigned list = 0; list < LOCK_LIST_GONE; list++) {
        const struct wait *first = here->queue->lists[list].first;
        if (first != NULL && (ready & 1u << list) &&
            (oldest == NULL || !lock_comes_first(oldest, first))) {
            oldest = first;
            found = list;
        }
    }
    return found;
}

/* Whether a sleeper of a higher rank waits. */
static bool lock_is_outranked(const struct lock_queue *queue, const struct wait *wait)
{
    for (unsigned list = 0; list < LOCK_LISTS; list++) {
        const struct wait *first = queue->lists[list].first;
        if (first != NULL && first->rank > wait->rank)
            return true;
    }
    return false;
}

PAWL_INTERNAL bool lock_turn_has_come(const struct lock_place *here,
                                      const struct pawl_waiter *oldest)
{
    const struct lock_queue *queue = here->queue;
    const struct wait *const wait = (const struct wait *)(const void *)oldest;
    uint64_t now;
    if (queue->queue.oldest != oldest || queue->keeper != NULL)
        return false;
    now = pawl_os_now();
    return now - wait->since >= LOCK_HANDOFF_NS && now - queue->last_handoff >= LOCK_HANDOFF_NS &&
           !lock_is_outranked(queue, wait);
}
