/* SPDX-License-Identifier: MIT */
/*
 * Big reference count, for an object whose references many threads take and drop all the time, and
 * that ends once, rarely. Until then each thread counts for itself. kill announces the end; from
 * then on one shared count finds the drop of the last reference.
 *
 * Not for: objects that come and go (each kill is a membarrier; an atomic word is better); counts
 * that must notice zero without a kill; signal handlers.
 *
 *   alone    one thread has used it     global + own
 *   shared   several have               global + a cell in each thread's block (counter_cells.h)
 *   global   no cells were free         global, by atomic instructions, with the bias in it
 *   killed                              global, by atomic instructions; 0 releases
 *
 * The struct
 *
 *   global   the global part of the count, with PAWL_BIGREF_BIAS in it until killed. Atomic.
 *   own      the owner's part while alone; 0 to 2 * PAWL_BIGREF_TARGET
 *   owner    the block of the thread that was the first user; 0: none yet
 *   release  called with the object and arg by the thread that makes a killed count 0
 *   place    of the cells, 0 to 2 * PAWL_BIGREF_TARGET in each thread; 0: alone, 1: none was free
 *   gate     state in the lowest three bits, 0: local counts are in use (alone or shared); above
 *            them a number that is new each time the gate opens
 *
 *   I1  count = global (less the bias, until killed) + own + cells, at any instant when no
 *       operation is under way.
 *   I2  the bias is larger than any count. So global is not 0 before the bias is removed, whatever
 *       parts the threads hold. After that it becomes 0 once, and stays 0.
 *   I3  a thread changes own and its cells in a section that finds the gate unchanged since it
 *       looked up the place. All other changes are made under the latch, with the threads shut out.
 *   I4  a local part that would leave its range moves PAWL_BIGREF_TARGET to or from global. So a
 *       thread that only drops changes the global part once in that many times.
 *   I5  an operation touches nothing after the step that gives up the caller's reference.
 *
 * Cost: get and drop are one section each (no locked instruction) until killed, one atomic
 * instruction afterwards; kill is one membarrier. No memory beside the struct while alone.
 *
 * Order: everything done before a drop happens before release is called. get orders nothing.
 *
 * Sharing begins with the first get or drop by a second thread; that costs one membarrier and takes
 * cells. The parts of threads that have ended stay in their cells until kill.
 *
 * After fork the child has the same count and must drop what it will not use. Not for memory
 * shared by processes, real-time threads or signal handlers (slow paths take a lock).
 */
#ifndef PAWL_BIGREF_H
#define PAWL_BIGREF_H

#include <pawl/detail/counter_cells.h>

#if PAWL_TOLD_
#include <pawl/detail/told.h>
#endif

#define PAWL_BIGREF_BIAS (UINT64_C(1) << 62)
#define PAWL_BIGREF_TARGET (UINT64_C(1) << 16)

struct pawl_bigref;
typedef void pawl_bigref_release(struct pawl_bigref *r, void *arg);

typedef struct pawl_bigref {
    uint64_t global __attribute__((__aligned__(8)));
    uint64_t own __attribute__((__aligned__(8)));
    ipawl_address_ owner;
    pawl_bigref_release *release;
    void *arg;
    uint32_t place;
    uint32_t gate;
} pawl_bigref;

/* A count of 1, the creator's. release may be NULL. */
#define PAWL_BIGREF_INIT(release, arg) {PAWL_BIGREF_BIAS + 1, 0, 0, (release), (arg), 0, 0}

#define PAWL_BIGREF_STATE_ 7u
#define PAWL_BIGREF_OPEN_ 0u
#define PAWL_BIGREF_GLOBAL_ 1u
#define PAWL_BIGREF_KILLED_ 2u
#define PAWL_BIGREF_RELEASED_ 3u
#define PAWL_BIGREF_CLOSED_ 4u /* a thread is at work under the latch */

PAWL_C_BEGIN

/* Returns whether the count is in local mode afterwards: true after a revival, and if no thread has
 * killed it; false once it has become 0. The caller holds a reference, or knows by other means that
 * the object exists. */
PAWL_API bool PAWL_SYMBOL_(pawl_bigref_revive)(pawl_bigref *r);

/* The count, while others change it: for display and tests. 0 once released. */
PAWL_API int64_t PAWL_SYMBOL_(pawl_bigref_read)(const pawl_bigref *r);

/* Gives the cells back without a release, for an object that ends otherwise. No thread may be using
 * it. Not needed after kill. */
PAWL_API void PAWL_SYMBOL_(pawl_bigref_destroy)(pawl_bigref *r);

PAWL_API bool PAWL_SYMBOL_(pawl_bigref_get_slow)(pawl_bigref *r, bool try_only);
/* True: the caller dropped the last reference. */
PAWL_API bool PAWL_SYMBOL_(pawl_bigref_drop_slow)(pawl_bigref *r);
PAWL_API bool PAWL_SYMBOL_(pawl_bigref_kill_slow)(pawl_bigref *r, bool *last);

PAWL_C_END

#define pawl_bigref_revive PAWL_SYMBOL_(pawl_bigref_revive)
#define pawl_bigref_read PAWL_SYMBOL_(pawl_bigref_read)
#define pawl_bigref_destroy PAWL_SYMBOL_(pawl_bigref_destroy)
#define ipawl_bigref_get_slow_ PAWL_SYMBOL_(pawl_bigref_get_slow)
#define ipawl_bigref_drop_slow_ PAWL_SYMBOL_(pawl_bigref_drop_slow)
#define ipawl_bigref_kill_slow_ PAWL_SYMBOL_(pawl_bigref_kill_slow)

PAWL_INLINE_BEGIN

/* A count of 1, the creator's. That reference is not special: drop it like any other. */
PAWL_INLINE void pawl_bigref_init(pawl_bigref *r, pawl_bigref_release *release, void *arg)
{
    const pawl_bigref fresh = PAWL_BIGREF_INIT(release, arg);
    *r = fresh;
}

/* One local step of n (1, or all ones for -1); false: the compiled function must do it. */
#if PAWL_CHECKED || PAWL_HOOKS
PAWL_INLINE PAWL_ALWAYS_INLINE_ bool ipawl_bigref_step_(pawl_bigref *r, uint64_t n)
{
    (void)r, (void)n;
    return false;
}
#else
PAWL_INLINE PAWL_ALWAYS_INLINE_ bool ipawl_bigref_step_(pawl_bigref *r, uint64_t n)
{
    /* [CELLS_OPEN] acquire: we see the place that belongs to this opening of the gate. */
    const uint32_t gate = pawl_load_acquire32(&r->gate, PAWL_CELLS_OPEN);
    const uint32_t place = pawl_load_relaxed32(&r->place);
    char *rseq = PAWL_MINE_.rseq;
    char *block = PAWL_MINE_.block;
    uint64_t *cell;
    if (PAWL_UNLIKELY(rseq == NULL || (gate & PAWL_BIGREF_STATE_) != 0))
        return false;
    if (PAWL_LIKELY(place >= PAWL_PLACE_FIRST_))
        cell = ipawl_cell_(block, place);
    else if (PAWL_ADDRESS_(pawl_load_relaxed)(&r->owner) == (ipawl_address_)(uintptr_t)block)
        cell = &r->own;
    else
        return false;
    return ipawl_rseq_add_if_(rseq, cell, n, 2 * PAWL_BIGREF_TARGET, &r->gate, gate);
}
#endif

/* An operation is hidden from a checker of races. A drop tells it beforehand that the caller has
 * finished with the object, and another thread may then free it. */
#if PAWL_TOLD_
#define PAWL_BIGREF_HIDE_(r) (ipawl_told_plain_(r, sizeof *(r)), ipawl_told_hide_(r))
#define PAWL_BIGREF_SHOW_(r) ipawl_told_show_(r)
#define PAWL_BIGREF_GIVE_(r) ipawl_told_give_(r)
#define PAWL_BIGREF_GET_(r) ipawl_told_get_(r)
#else
#define PAWL_BIGREF_HIDE_(r) ((void)(r))
#define PAWL_BIGREF_SHOW_(r) ((void)(r))
#define PAWL_BIGREF_GIVE_(r) ((void)(r))
#define PAWL_BIGREF_GET_(r) ((void)(r))
#endif

PAWL_INLINE PAWL_ALWAYS_INLINE_ bool ipawl_bigref_get_one_(pawl_bigref *r, bool try_only)
{
    bool got;
    PAWL_BIGREF_HIDE_(r);
    got = PAWL_LIKELY(ipawl_bigref_step_(r, 1)) || ipawl_bigref_get_slow_(r, try_only);
    PAWL_BIGREF_SHOW_(r);
    return got;
}

PAWL_INLINE void ipawl_bigref_last_(pawl_bigref *r)
{
    PAWL_BIGREF_GET_(r);
    if (r->release != NULL)
        r->release(r, r->arg);
}

/* One more reference. The caller holds one already, or another thread holds one for it. A get after
 * the release is a mistake: it does nothing, if the object still exists, and the checking variant
 * reports it. */
PAWL_INLINE PAWL_ALWAYS_INLINE_ void pawl_bigref_get(pawl_bigref *r)
{
    (void)ipawl_bigref_get_one_(r, false);
}

/* One more reference, and true; false if the count has become 0 after a kill. The memory must
 * exist: the object is static, or a lock or RCU keeps it. Always true before kill. */
PAWL_TRYING PAWL_ALWAYS_INLINE_ bool pawl_bigref_try_get(pawl_bigref *r)
{
    return ipawl_bigref_get_one_(r, true);
}

/* Drops one reference; any thread may have got it. After kill, the last drop calls release, in this
 * thread, exactly once, before it returns. A surplus drop before kill makes the count wrong; one
 * after the release does nothing, if the object still exists. */
PAWL_INLINE PAWL_ALWAYS_INLINE_ void pawl_bigref_drop(pawl_bigref *r)
{
    bool last;
    PAWL_BIGREF_GIVE_(r);
    PAWL_BIGREF_HIDE_(r);
    last = PAWL_UNLIKELY(!ipawl_bigref_step_(r, ~UINT64_C(0))) && ipawl_bigref_drop_slow_(r);
    PAWL_BIGREF_SHOW_(r);
    if (last)
        ipawl_bigref_last_(r);
}

/* Removes the bias: from now on the last drop releases. If all references have been dropped
 * already, this call releases. The caller holds a reference, or knows by other means that the
 * object exists until kill returns. False, without effect: it was killed before. One membarrier. */
PAWL_INLINE bool pawl_bigref_kill(pawl_bigref *r)
{
    bool last = false;
    bool killed;
    PAWL_BIGREF_HIDE_(r);
    killed = ipawl_bigref_kill_slow_(r, &last);
    PAWL_BIGREF_SHOW_(r);
    if (last)
        ipawl_bigref_last_(r);
    return killed;
}

PAWL_INLINE_END

#endif
