/* SPDX-License-Identifier: MIT */
/* Locks in shared memory: whoever gets one as its last user may free it. (Their operations beside
 * each other are models of scripts, shared32/...) */
#include <pawl/shared.h>

#include "scenes.h"

#include <stddef.h>

#define LOCK M_SCENE(pawl_shared_lock32)

static void held_for_reading(void)
{
    (void)pawl_shared_lock32_try_read(LOCK);
}

static void held_for_seeking(void)
{
    (void)pawl_shared_lock32_try_seek(LOCK);
}

static void held_for_writing(void)
{
    (void)pawl_shared_lock32_try_write(LOCK);
}

static void held_for_updates(void)
{
    (void)pawl_shared_lock32_try_atomic(LOCK);
}

static void drops_read(void)
{
    (void)m_read(0);
    M_STEP(pawl_shared_lock32_drop_read(LOCK));
}

static void drops_seek(void)
{
    (void)m_read(0);
    M_STEP(pawl_shared_lock32_drop_seek(LOCK));
}

static void drops_write(void)
{
    m_write(0, 1);
    M_STEP(pawl_shared_lock32_drop_write(LOCK));
}

static void drops_atomic(void)
{
    (void)m_read(0);
    M_STEP(pawl_shared_lock32_drop_atomic(LOCK));
}

/* What was the lock is somebody else's memory then, in which nobody writes. */
static void takes_and_frees(void)
{
    M_STEP(pawl_shared_lock32_take_write(LOCK));
    m_write(0, 2);
    m_begin("the memory is used anew");
    pawl_store_relaxed32(&LOCK->word, 7);
    pawl_store_relaxed32(&LOCK->waits, 7);
    m_demand(pawl_load_relaxed32(&LOCK->word) == 7 && pawl_load_relaxed32(&LOCK->waits) == 7,
             M_EXCLUSION, "a drop has written where the lock was");
    m_end();
}

static void nobody_has_written(void)
{
    m_demand(pawl_load_relaxed32(&LOCK->word) == 7 && pawl_load_relaxed32(&LOCK->waits) == 7,
             M_EXCLUSION, "a drop has written where the lock was");
}

#define FREED(state, held, drops)                                                                  \
    {"shared_freed_after_" #state, held, {drops, takes_and_frees}, nobody_has_written, "preempt=3"}

extern const struct m_scene m_shared_scenes[];
const struct m_scene m_shared_scenes[] = {
    FREED(read, held_for_reading, drops_read),
    FREED(seek, held_for_seeking, drops_seek),
    FREED(write, held_for_writing, drops_write),
    FREED(atomic, held_for_updates, drops_atomic),
    {NULL, NULL, {NULL}, NULL, NULL},
};
