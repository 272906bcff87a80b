/* SPDX-License-Identifier: MIT */
/*
 * The blocks of threads (detail/own.h). Each copy of the library has 8 bytes for a thread, a
 * pointer to its block, because loaders have little room for the thread data of plug-ins. A handler
 * may make the block, so malloc cannot.
 *
 * Blocks lie in chunks, each four times as large as the one before, and are reserved when the last
 * one is crowded. A block has the number of the thread that claimed it. A thread never gives its
 * block back: the last function that runs in it may use the library. Instead a search takes a block
 * whose owner is dead. Claims need no order: the kernel has ended the owner.
 *
 * A signal handler may run between any two instructions of this, and fork:
 *
 *   - The thread has its block when its pointer changes, by compare-exchange. Where a handler was
 *     first, the block that the thread has claimed is left for a later search.
 *   - In the child the thread has another number, and its block must not look like a dead one's.
 *     pawl_os_own_after_fork writes the number. Around it the library's handler of fork makes a
 *     block where the thread has none yet, so an interrupted claim finds that it comes second.
 *   - A child that ran no handlers (_Fork) finds another process number. It does not know which
 *     block its first thread has, and keeps all.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <pawl/detail/own.h>

#include "os.h"

#if !PAWL_HOOKS && !PAWL_OWN_IS_POINTER_

PAWL_API __thread struct pawl_own ipawl_thread_own_ __attribute__((__tls_model__("initial-exec")));

#elif !PAWL_HOOKS

#include <string.h>

/* Blocks for programs to which the system gives no memory. */
#define OWN_AT_HAND 8u
/* So many are looked at before the next chunk. */
#define OWN_LOOKED_AT 16u
#define OWN_CHUNKS 7u
/* In place of an owner: never again. */
#define OWN_KEPT UINT32_MAX

struct own_blocks {
    struct pawl_own at_hand[OWN_AT_HAND];
    ipawl_address_ chunks[OWN_CHUNKS];
    uint32_t process; /* number of the process that has claimed blocks */
};

#define own_nothing PAWL_SYMBOL_(pawl_own_nothing)
PAWL_HIDDEN_ extern const struct pawl_own own_nothing;
__attribute__((used)) const struct pawl_own own_nothing = {.owner = 0};

PAWL_THREAD_SHARED_DEFINE_AS(struct pawl_own *, thread_own, own_nothing);
PAWL_SHARED_DEFINE_ITSELF(struct own_blocks, thread_blocks);

static uint32_t own_size_of(unsigned chunk)
{
    return UINT32_C(1024) << 2 * chunk;
}

static struct pawl_own *own_chunk(struct own_blocks *all, unsigned chunk)
{
    return (struct pawl_own *)pawl_os_shared_or_none(&all->chunks[chunk],
                                                     own_size_of(chunk) * sizeof(struct pawl_own));
}

static void own_keep(struct pawl_own *blocks, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (pawl_load_relaxed32(&blocks[i].owner) != 0)
            pawl_store_relaxed32(&blocks[i].owner, OWN_KEPT);
}

/* Before a search for the dead: the owners of a forked process's blocks are dead in it. */
static void own_meet_fork(struct own_blocks *all)
{
    const uint32_t process = pawl_os_process_id();
    if (PAWL_LIKELY(pawl_load_relaxed32(&all->process) == process))
        return;
    own_keep(all->at_hand, OWN_AT_HAND);
    for (unsigned chunk = 0; chunk < OWN_CHUNKS; chunk++)
        if (PAWL_ADDRESS_(pawl_load_relaxed)(&all->chunks[chunk]) != 0)
            own_keep(own_chunk(all, chunk), own_size_of(chunk));
    pawl_store_relaxed32(&all->process, process);
}

static bool own_is_dead(struct own_blocks *all, const struct pawl_own *block)
{
    uint32_t owner;
    if (PAWL_TSAN_) /* it would see the stores of both owners */
        return false;
    own_meet_fork(all);
    owner = pawl_load_relaxed32(&block->owner);
    return owner != OWN_KEPT && !pawl_os_thread_lives(owner);
}

static struct pawl_own *own_claim_in(struct own_blocks *all, struct pawl_own *blocks,
                                     uint32_t count, uint32_t looked_at, uint32_t id)
{
    for (uint32_t i = 0; i < looked_at; i++) {
        struct pawl_own *const block = &blocks[(id + i) % count];
        uint32_t owner = pawl_load_relaxed32(&block->owner);
        if ((owner == 0 || own_is_dead(all, block)) &&
            pawl_cas_relaxed32(&block->owner, &owner, id))
            return block;
    }
    return NULL;
}

/* In the chunks that there are, and one more where these are crowded. */
static struct pawl_own *own_claim_soon(struct own_blocks *all, uint32_t id)
{
    struct pawl_own *block = NULL;
    for (unsigned chunk = 0; chunk < OWN_CHUNKS && block == NULL; chunk++) {
        struct pawl_own *const blocks = own_chunk(all, chunk);
        if (blocks == NULL)
            break;
        block = own_claim_in(all, blocks, own_size_of(chunk), OWN_LOOKED_AT, id);
    }
    return block;
}

/* The system refuses memory: one at hand, or any whose owner is dead. */
static struct pawl_own *own_claim_any(struct own_blocks *all, uint32_t id)
{
    struct pawl_own *block = own_claim_in(all, all->at_hand, OWN_AT_HAND, OWN_AT_HAND, id);
    for (unsigned chunk = 0; chunk < OWN_CHUNKS && block == NULL; chunk++) {
        const uint32_t count = own_size_of(chunk);
        /* Without memory this ends the program. */
        struct pawl_own *const blocks =
            (struct pawl_own *)pawl_os_shared(&all->chunks[chunk], count * sizeof *blocks);
        block = own_claim_in(all, blocks, count, count, id);
    }
    return block;
}

static struct pawl_own *own_claim(struct own_blocks *all, uint32_t id)
{
    struct pawl_own *block;
    if (pawl_load_relaxed32(&all->process) == 0)
        pawl_store_relaxed32(&all->process, pawl_os_process_id());
    do {
        block = own_claim_soon(all, id);
        if (PAWL_UNLIKELY(block == NULL))
            block = own_claim_any(all, id);
    } while (block == NULL);
    pawl_os_told_own(block, sizeof *block);
    memset(&block->entries, 0, offsetof(struct pawl_own, owner));
    memset(&block->ticket, 0, sizeof *block - offsetof(struct pawl_own, ticket));
    return block;
}

PAWL_COLD struct pawl_own *pawl_os_own_make(void)
{
    struct own_blocks *const all = PAWL_SHARED_PLACE(struct own_blocks, thread_blocks);
    ipawl_address_ *const variable =
        (ipawl_address_ *)(void *)PAWL_SHARED_PLACE(struct pawl_own *, thread_own);
    ipawl_address_ found = PAWL_ADDRESS_(pawl_load_relaxed)(variable);
    struct pawl_own *block = (struct pawl_own *)(uintptr_t)found;
    if (block->owner != 0) /* a handler was first */
        return block;
    block = own_claim(all, pawl_os_thread_id());
    __asm__ __volatile__("" ::: "memory"); /* a handler finds it complete */
    return PAWL_ADDRESS_(pawl_cas_relaxed)(variable, &found, (ipawl_address_)(uintptr_t)block)
               ? block
               : (struct pawl_own *)(uintptr_t)found;
}

void pawl_os_own_after_fork(void)
{
    struct own_blocks *const all = PAWL_SHARED_PLACE(struct own_blocks, thread_blocks);
    struct pawl_own *const own = *PAWL_SHARED_PLACE(struct pawl_own *, thread_own);
    if (own->owner != 0)
        pawl_store_relaxed32(&own->owner, pawl_os_thread_id());
    /* A thread that an earlier handler of fork has begun keeps all blocks until this store. */
    __asm__ __volatile__("" ::: "memory");
    pawl_store_relaxed32(&all->process, pawl_os_process_id());
}

#endif

#if !PAWL_HOOKS && !defined(_WIN32) && !defined(__APPLE__)
struct pawl_thread_line **pawl_os_thread_slot(void)
{
    return &pawl_os_own()->slot;
}
#endif
