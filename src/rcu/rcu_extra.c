/* SPDX-License-Identifier: MIT */
/*
 * RCU: extra lines, for threads to which the registry has no line to give. They work as the others
 * do, and have an owner, so a driver can see that the owner is dead. A thread keeps its extra line
 * for its life. It claims one in a section of which nothing is counted yet (`open` is 1), so its
 * handlers are counted apart meanwhile.
 *
 * The blocks are never unmapped. All accesses to them are atomic, and they begin as zeroes of the
 * system, so relaxed loads of their addresses suffice.
 *
 * A thread that ends unseen leaves its line behind. The line goes to the next thread of the same
 * number: rcu_extra_settle. Before another block is mapped, some lines are looked at for such
 * owners.
 *
 * A handler may fork, or register the thread, between the claim and the store that makes the line
 * known. Both may free the line. So the thread looks at the owner once more afterwards.
 */
#include "rcu.h"

#include "../base/base.h"

#if !PAWL_HOOKS

/* Lines that one search looks at for dead owners: a system call each. */
#define EXTRA_LOOKED_AT 16u

static struct pawl_rcu_extra *extra_block(uint32_t number)
{
    return (struct pawl_rcu_extra *)(uintptr_t)PAWL_ADDRESS_(pawl_load_relaxed)(
        &rcu_here()->extra[number]);
}

PAWL_INTERNAL struct pawl_rcu_extra *rcu_extra(uint32_t number)
{
    return &extra_block(number / RCU_EXTRA_IN_BLOCK)[number % RCU_EXTRA_IN_BLOCK];
}

PAWL_INTERNAL uint32_t rcu_extra_lines(void)
{
    uint32_t blocks = 0;
    while (blocks < RCU_EXTRA_BLOCKS && extra_block(blocks) != NULL)
        blocks++;
    return blocks * RCU_EXTRA_IN_BLOCK;
}

/* Only if the line belongs to `owner` yet. The next owner comes after the last one's sections. */
static void extra_free(struct pawl_rcu_extra *extra, uint32_t owner)
{
    /* [THREAD_FREE] release: the owner has finished with the line before it is free. */
    (void)pawl_cas_release32(&extra->owner, &owner, 0, PAWL_THREAD_FREE);
}

/* Claims the line if `previous` owns it: 0, or a thread that is dead. */
static bool extra_claim(struct pawl_rcu_extra *extra, uint32_t previous, uint32_t id)
{
    uint32_t owner = previous;
    if (pawl_load_relaxed32(&extra->owner) != previous)
        return false;
    /* [THREAD_CLAIM] acquire: the last owner has finished with the line. */
    if (!pawl_cas_acquire32(&extra->owner, &owner, id, PAWL_THREAD_CLAIM))
        return false;
    if (previous != 0)
        rcu_line_left_behind(&extra->line);
    return true;
}

static struct pawl_rcu_extra *extra_claim_of_the_dead(uint32_t lines, uint32_t id)
{
    const uint32_t first = pawl_fetch_add_relaxed32(&rcu_here()->looked, EXTRA_LOOKED_AT);
    for (uint32_t i = 0; i < EXTRA_LOOKED_AT && i < lines; i++) {
        struct pawl_rcu_extra *const extra = rcu_extra((first + i) % lines);
        const uint32_t owner = pawl_load_relaxed32(&extra->owner);
        if (owner != 0 && !pawl_os_thread_lives(owner) && extra_claim(extra, owner, id))
            return extra;
    }
    return NULL;
}

/* One block more. The thread that comes second publishes its own behind it. */
static bool extra_map_block(uint32_t number)
{
    void *const made = number < RCU_EXTRA_BLOCKS
                           ? pawl_os_pages(RCU_EXTRA_IN_BLOCK * sizeof(struct pawl_rcu_extra))
                           : NULL;
    ipawl_address_ nobody = 0;
    if (made == NULL)
        return false;
    while (!PAWL_ADDRESS_(pawl_cas_relaxed)(&rcu_here()->extra[number], &nobody,
                                            (ipawl_address_)(uintptr_t)made)) {
        nobody = 0;
        if (++number == RCU_EXTRA_BLOCKS)
            break;
    }
    return true;
}

/* NULL: the system has no page for it. */
static struct pawl_rcu_extra *extra_find(uint32_t id)
{
    uint32_t i = 0;
    for (;;) {
        const uint32_t lines = rcu_extra_lines();
        struct pawl_rcu_extra *left;
        for (; i < lines; i++)
            if (extra_claim(rcu_extra(i), 0, id))
                return rcu_extra(i);
        left = extra_claim_of_the_dead(lines, id);
        if (left != NULL)
            return left;
        if (!extra_map_block(lines / RCU_EXTRA_IN_BLOCK))
            return NULL;
    }
}

PAWL_INTERNAL struct pawl_rcu_line *rcu_extra_claim(struct pawl_rcu_mine *mine)
{
    struct pawl_rcu_extra *extra;
    if (*pawl_os_thread_slot() != THREAD_NONE)
        return NULL; /* a handler of a thread that claims a line, or gives it back */
    do {
        const uint32_t id = pawl_os_thread_id();
        mine->extra = NULL;
        rcu_extra_settle(id);
        extra = extra_find(id);
        mine->extra = extra;
        rcu_for_handlers();
    } while (extra != NULL && pawl_load_relaxed32(&extra->owner) != pawl_os_thread_id());
    if (extra == NULL)
        return NULL;
    ipawl_thread_watch_(mine);
    return &extra->line;
}

PAWL_INTERNAL void rcu_extra_give_back(struct pawl_rcu_mine *mine)
{
    struct pawl_rcu_extra *const extra = mine->extra;
    if (extra == NULL)
        return;
    mine->extra = NULL;
    rcu_for_handlers(); /* the child of a handler's fork has a new number: it has freed the line */
    extra_free(extra, pawl_os_thread_id());
}

PAWL_INTERNAL void rcu_extra_settle(uint32_t id)
{
    const struct pawl_rcu_extra *const own = ipawl_rcu_mine_()->extra;
    const uint32_t lines = rcu_extra_lines();
    for (uint32_t i = 0; i < lines; i++) {
        struct pawl_rcu_extra *const extra = rcu_extra(i);
        if (extra != own && pawl_load_relaxed32(&extra->owner) == id) {
            rcu_line_left_behind(&extra->line);
            extra_free(extra, id);
        }
    }
}

PAWL_INTERNAL void rcu_extra_after_fork(const struct pawl_rcu_mine *mine)
{
    const uint32_t id = pawl_os_thread_id();
    const uint32_t lines = rcu_extra_lines();
    for (uint32_t i = 0; i < lines; i++)
        pawl_store_relaxed32(&rcu_extra(i)->owner, rcu_extra(i) == mine->extra ? id : 0);
}

#endif
