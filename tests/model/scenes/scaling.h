/* SPDX-License-Identifier: MIT */
/* The stage of readers that scale: two locks with BIASED, and what threads do with one. */
#pragma once

#include <pawl/lock.h>

#include "../../../src/lock/entries.h"
#include "scenes.h"

struct stage {
    pawl_lock32 lock, other;
    uint64_t mark;
    uint32_t nothing; /* for which the reader sleeps that gives up after a while */
};
#define STAGE M_SCENE(struct stage)
#define LOCK (&STAGE->lock)
#define OTHER (&STAGE->other)

static inline void scaling(void)
{
    m_readers_scale(3, false);
    LOCK->word = OTHER->word = PAWL_LOCK_BIASED;
}

static inline void nobody_is_in(void)
{
    m_demand((LOCK->word & ~PAWL_LOCK_BIASED) == 0 && (OTHER->word & ~PAWL_LOCK_BIASED) == 0,
             M_RESTORED, "units, or PARKED, are left");
    m_demand(m_entries_are_free(), M_RESTORED, "an entry has a lock, or a line has a waiter");
}

static inline void reads_on_and_drops(void)
{
    (void)m_read(0);
    M_STEP(pawl_drop_read(LOCK));
}

static inline void reads(void)
{
    M_STEP(pawl_take_read(LOCK));
    reads_on_and_drops();
}

static inline void writes(void)
{
    M_STEP(pawl_take_write(LOCK));
    m_write(0, 1);
    M_STEP(pawl_drop_write(LOCK));
}
