/* SPDX-License-Identifier: MIT */
/* What a table of states says (fork.c), and the states of locks. */
#pragma once

#include "test.h"

#include <pawl/bitlock.h>
#include <pawl/brlock.h>
#include <pawl/compat/plock.h>
#include <pawl/lock.h>
#include <pawl/pshared.h>
#include <pawl/robust.h>
#include <pawl/seq.h>
#include <pawl/seq_latch.h>
#include <pawl/sift.h>
#include <pawl/spin.h>

#include <sched.h>

/* ---- What a table says ----------------------------------------------------------------------- */

/* A state of a thread. */
struct state {
    const char *name;
    bool (*enter_at_once)(void); /* false: not now */
    void (*enter)(void);         /* waits until it can; in a wait state, until `wake` */
    void (*leave)(void);
    void (*wake)(void); /* a wait state: other threads end it so; NULL: none */
};

/* When the child makes the primitive anew before it uses it. */
enum anew {
    ANEW_NEVER,
    ANEW_IF_HELD,   /* if another thread was in a state that is no wait */
    ANEW_IF_WANTED, /* also if another thread waited */
    ANEW_IF_USED    /* also if the forking thread held it: the child does not */
};

struct primitive {
    const char *name;
    void (*make)(void);
    void (*check)(void); /* nobody is in any state; NULL: each state can be entered at once */
    enum anew anew;
    const struct state *states;
    unsigned count;
};

#define STATES(array) (array), sizeof(array) / sizeof((array)[0])

/* Functions of a state, from a try, a take and a drop. */
#define STATE(id, try_it, take_it, drop_it)                                                        \
    static bool id##_at_once(void)                                                                 \
    {                                                                                              \
        return try_it;                                                                             \
    }                                                                                              \
    static void id##_enter(void)                                                                   \
    {                                                                                              \
        take_it;                                                                                   \
    }                                                                                              \
    static void id##_leave(void)                                                                   \
    {                                                                                              \
        drop_it;                                                                                   \
    }
#define ROW(id) {#id, id##_at_once, id##_enter, id##_leave, NULL}
#define LOCK_STATE(id, type, object, state)                                                        \
    STATE(id, type##_try_##state(object), type##_take_##state(object), type##_drop_##state(object))

/* ---- Locks ----------------------------------------------------------------------------------- */

static pawl_spin32 spin;
static unsigned int named_as_plock;
static unsigned long low_overhead;
static pawl_lock32 narrow;
static pawl_lock64 wide;
static pawl_pshared_lock32 pshared;
static pawl_robust_lock robust;
static pawl_brlock brlock;
static pawl_sift sift;
static pawl_sift lending;
static pawl_seq seq;
static pawl_seq_latch latch;
static uint32_t bits;

LOCK_STATE(spin_read, pawl_spin32, &spin, read)
LOCK_STATE(spin_seek, pawl_spin32, &spin, seek)
LOCK_STATE(spin_write, pawl_spin32, &spin, write)
LOCK_STATE(spin_atomic, pawl_spin32, &spin, atomic)
STATE(plock_read, pl_try_r(&named_as_plock) != 0, pl_take_r(&named_as_plock),
      pl_drop_r(&named_as_plock))
STATE(plock_seek, pl_try_s(&named_as_plock) != 0, pl_take_s(&named_as_plock),
      pl_drop_s(&named_as_plock))
STATE(plock_write, pl_try_w_nowait(&named_as_plock) != 0, pl_take_w(&named_as_plock),
      pl_drop_w(&named_as_plock))
/* pl_try_a waits for readers. */
STATE(plock_atomic,
      !(pawl_load_relaxed32(&named_as_plock) & PLOCK32_RL_ANY) && pl_try_a(&named_as_plock) != 0,
      pl_take_a(&named_as_plock), pl_drop_a(&named_as_plock))
LOCK_STATE(lock_read, pawl_lock32, &narrow, read)
LOCK_STATE(lock_seek, pawl_lock32, &narrow, seek)
LOCK_STATE(lock_write, pawl_lock32, &narrow, write)
LOCK_STATE(lock_atomic, pawl_lock32, &narrow, atomic)
LOCK_STATE(wide_read, pawl_lock64, &wide, read)
LOCK_STATE(wide_seek, pawl_lock64, &wide, seek)
LOCK_STATE(wide_write, pawl_lock64, &wide, write)
LOCK_STATE(wide_atomic, pawl_lock64, &wide, atomic)

/* No try has a name there: the word says whether a take would wait. */
static bool lorw_lets_in(unsigned long mask)
{
    return (PAWL_LORW_(pawl_load_relaxed)((const ipawl_lorw_word_ *)&low_overhead) & mask) == 0;
}

static void lorw_read_enter(void)
{
    pl_lorw_rdlock(&low_overhead);
}

static bool lorw_read_at_once(void)
{
    if (!lorw_lets_in(PLOCK_LORW_EXC_MASK | PLOCK_LORW_WRQ_MASK))
        return false;
    lorw_read_enter();
    return true;
}

static void lorw_read_leave(void)
{
    pl_lorw_rdunlock(&low_overhead);
}

static void lorw_write_enter(void)
{
    pl_lorw_wrlock(&low_overhead);
}

static bool lorw_write_at_once(void)
{
    if (!lorw_lets_in(~0ul))
        return false;
    lorw_write_enter();
    return true;
}

static void lorw_write_leave(void)
{
    pl_lorw_wrunlock(&low_overhead);
}

/* Threads that wait between two states hold the first one. */
static bool upgrade_at_once(void)
{
    if (!pawl_lock64_try_seek(&wide))
        return false;
    if (pawl_lock64_try_seek_to_write(&wide))
        return true;
    pawl_lock64_drop_seek(&wide);
    return false;
}

static void upgrade_enter(void)
{
    pawl_lock64_take_seek(&wide);
    pawl_lock64_seek_to_write(&wide);
}

static void upgrade_leave(void)
{
    pawl_lock64_drop_write(&wide);
}

static bool join_at_once(void)
{
    if (!pawl_lock64_try_read(&wide))
        return false;
    if (pawl_lock64_try_read_to_atomic(&wide))
        return true;
    pawl_lock64_drop_read(&wide);
    return false;
}

/* A is refused beside W: the thread has let go then. */
static void join_enter(void)
{
    test_await(join_at_once());
}

static void join_leave(void)
{
    pawl_lock64_drop_atomic(&wide);
}

LOCK_STATE(pshared_read, pawl_pshared_lock32, &pshared, read)
LOCK_STATE(pshared_seek, pawl_pshared_lock32, &pshared, seek)
LOCK_STATE(pshared_write, pawl_pshared_lock32, &pshared, write)
LOCK_STATE(pshared_atomic, pawl_pshared_lock32, &pshared, atomic)

static uint32_t robust_process; /* of the last thread that entered */

static void robust_is_held(enum pawl_robust how)
{
    must(how == PAWL_ROBUST_OK);
    pawl_store_relaxed32(&robust_process, (uint32_t)getpid()); /* readers enter together */
}

/* The child does not hold what its parent held. */
static void robust_is_dropped(enum pawl_robust how)
{
    const bool own = pawl_load_relaxed32(&robust_process) == (uint32_t)getpid();
    must(how == (own ? PAWL_ROBUST_OK : PAWL_ROBUST_MISUSE));
}

static bool robust_tried(enum pawl_robust how)
{
    must(how == PAWL_ROBUST_OK || how == PAWL_ROBUST_BUSY);
    if (how == PAWL_ROBUST_OK)
        robust_is_held(how);
    return how == PAWL_ROBUST_OK;
}

#define ROBUST_STATE(state)                                                                        \
    STATE(robust_##state, robust_tried(pawl_robust_lock_try_##state(&robust)),                     \
          robust_is_held(pawl_robust_lock_take_##state(&robust)),                                  \
          robust_is_dropped(pawl_robust_lock_drop_##state(&robust)))
ROBUST_STATE(read)
ROBUST_STATE(seek)
ROBUST_STATE(write)
ROBUST_STATE(atomic)
LOCK_STATE(brlock_read, pawl_brlock, &brlock, read)
LOCK_STATE(brlock_read_any, pawl_brlock, &brlock, read_any)
LOCK_STATE(brlock_seek, pawl_brlock, &brlock, seek)
LOCK_STATE(brlock_write, pawl_brlock, &brlock, write)
STATE(sift_read, pawl_sift_try_read(&sift, PAWL_SIFT_THREAD),
      pawl_sift_take_read(&sift, PAWL_SIFT_THREAD), pawl_sift_drop_read(&sift, PAWL_SIFT_THREAD))
LOCK_STATE(sift_write, pawl_sift, &sift, write)
LOCK_STATE(lending_write, pawl_sift, &lending, write)
LOCK_STATE(seq_write, pawl_seq, &seq, write)
LOCK_STATE(latch_write, pawl_seq_latch, &latch, write)
STATE(bit_3, pawl_bitlock32_try(&bits, 3), pawl_bitlock32_take(&bits, 3),
      pawl_bitlock32_drop(&bits, 3))
STATE(bit_4, pawl_bitlock32_try(&bits, 4), pawl_bitlock32_take(&bits, 4),
      pawl_bitlock32_drop(&bits, 4))

static void spin_make(void)
{
    pawl_spin32_init(&spin);
}

static void plock_make(void)
{
    named_as_plock = 0;
}

static void lorw_make(void)
{
    low_overhead = 0;
}

static void lock_make(void)
{
    pawl_lock32_init(&narrow);
}

static void wide_make(void)
{
    pawl_lock64_init(&wide);
}

static void pshared_make(void)
{
    must(pawl_pshared_lock32_init(&pshared));
}

static void robust_make(void)
{
    must(pawl_robust_lock_init(&robust) == PAWL_ROBUST_OK);
}

static void brlock_make(void)
{
    must(pawl_brlock_init(&brlock, 8) == 0);
}

static void sift_make(void)
{
    must(pawl_sift_init(&sift, NULL) == 0);
}

/* Its writers lend priorities; without the right, or the kernel's help, it is an ordinary one. */
static void lending_make(void)
{
    pawl_sift_use use;
    memset(&use, 0, sizeof use);
    use.readers = PAWL_SIFT_READS(PAWL_SIFT_REALTIME);
    if (pawl_sift_init(&lending, &use) != 0)
        must(pawl_sift_init(&lending, NULL) == 0);
}

static void seq_make(void)
{
    pawl_seq_init(&seq);
}

static void seq_check(void)
{
    pawl_seq_word begun;
    must(pawl_seq_try_begin(&seq, &begun) && !pawl_seq_retry(&seq, begun));
}

static void latch_make(void)
{
    pawl_seq_latch_init(&latch);
}

static void bits_make(void)
{
    bits = 0;
}

static const struct state spin_states[] = {ROW(spin_read), ROW(spin_seek), ROW(spin_write),
                                           ROW(spin_atomic)};
static const struct state plock_states[] = {ROW(plock_read), ROW(plock_seek), ROW(plock_write),
                                            ROW(plock_atomic)};
static const struct state lorw_states[] = {ROW(lorw_read), ROW(lorw_write)};
static const struct state lock_states[] = {ROW(lock_read), ROW(lock_seek), ROW(lock_write),
                                           ROW(lock_atomic)};
static const struct state wide_states[] = {ROW(wide_read), ROW(wide_seek), ROW(wide_write),
                                           ROW(wide_atomic)};
static const struct state between_states[] = {ROW(wide_read), ROW(wide_seek), ROW(upgrade),
                                              ROW(join)};
static const struct state pshared_states[] = {ROW(pshared_read), ROW(pshared_seek),
                                              ROW(pshared_write), ROW(pshared_atomic)};
static const struct state robust_states[] = {ROW(robust_read), ROW(robust_seek), ROW(robust_write),
                                             ROW(robust_atomic)};
static const struct state brlock_states[] = {ROW(brlock_read), ROW(brlock_read_any),
                                             ROW(brlock_seek), ROW(brlock_write)};
static const struct state sift_states[] = {ROW(sift_read), ROW(sift_write)};
static const struct state lending_states[] = {ROW(lending_write)};
static const struct state seq_states[] = {ROW(seq_write)};
static const struct state latch_states[] = {ROW(latch_write)};
static const struct state bit_states[] = {ROW(bit_3), ROW(bit_4)};
