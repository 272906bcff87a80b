/* SPDX-License-Identifier: MIT */
/*
 * Read-copy-update. Readers of linked data use no lock, no fence and no locked instruction. An
 * updater unlinks an object first, then waits until every reader that may have seen it has left (a
 * grace period), then frees it. For structures that are read far more often than changed.
 *
 * Not for: data that must never be seen a little late (lock.h; doc/rcu.md has templates that help);
 * a small value that can be copied (seq.h); read sections of seconds (brlock.h, or their own
 * domain).
 *
 *   reader                                      updater, under the lock of the updaters
 *   pawl_rcu_read_lock()                        old = pawl_rcu_dereference_protected(head)
 *   p = pawl_rcu_dereference(head)              pawl_rcu_assign_pointer(head, new)
 *   ... reads *p ...                            pawl_rcu_synchronize()
 *   pawl_rcu_read_unlock()                      free(old)
 *
 * Each thread has a line, and in it one word for each domain:
 *
 *   31 ....................... 16   15 ................................................. 0
 *   sections that the thread left   sections that it is in, one inside the other (nesting)
 *
 *   Only its thread writes it, by a load and a store: + 1 on entry to a section, - 1 on exit from
 *   an inner one, + 2^16 - 1 on exit from the outermost. It may wrap: a waiter then looks again.
 *   A thread's first section registers it (no call, no allocation); its end removes it. A grace
 *   period notes the words that are in a section. It ends when each has left or counted on.
 *
 * Domains are independent: a grace period of one does not wait for the readers of another. There is
 * a default domain. In the quiescent-state domain (pawl_rcu_qs_*), for event loops, a thread reads
 * all the time from `online` on. Sections cost it nothing; now and then it announces that it holds
 * no reference (`quiescent`).
 *
 * Cost of lock and unlock: a load and a store each of the thread's own word; unlock also loads its
 * line. Where the system cannot make all threads pass a fence, a call and a fence each (Linux
 * without membarrier; PAWL_NO_MEMBARRIER=1 in the environment). Threads beyond the
 * PAWL_THREAD_LINES of a process get lines in pages that are mapped for them. Without memory for
 * these, an atomic operation and a fence each, on a line that they share.
 * synchronize: one membarrier and a look at each line; if sections are long, a sleep and one more
 * membarrier.
 *
 * Invariants
 *   I1  A section that has seen the structure as it was before a removal wrote its word before its
 *       first look, with a light fence between. The grace period passes a heavy fence and then
 *       looks at the words: it sees that word.
 *   I2  So the grace period notes the section, and ends only after an acquire load sees it gone.
 *   I3  A cookie names the first grace period that begins after the request for the cookie. Grace
 *       periods of a domain are numbered; one is under way at a time; a waiter drives it.
 *   I4  A reader that leaves writes its word and then looks whether a grace period waits for it
 *       (fences as in I1). So no wake is lost.
 *   I5  After the store that ends a section the reader does not touch the domain.
 *
 * Signal handlers may read (a section ends before the handler returns), start_poll and poll. A
 * thread's first section may be in a handler. After fork the child has the forking thread's
 * sections only; a grace period that was under way goes on. A thread's open sections end with the
 * thread. Destructors of threads and exit handlers may read.
 */
#ifndef PAWL_RCU_H
#define PAWL_RCU_H

#include <pawl/rcu_pointer.h>
#include <pawl/detail/rcu_inline.h>

/* A subsystem's own grace periods. Made by init; the fields are the library's. Zero bytes are the
 * default domain. */
typedef struct pawl_rcu_domain {
    uint32_t index; /* its word in each line; 0: the default domain, 1: quiescent states */
    const char *name;
} pawl_rcu_domain;

/* A report of the stall detector about one reader. */
typedef struct pawl_rcu_stall {
    const char *domain;  /* its name */
    uint32_t thread;     /* number of the thread, as the system's tools show it; 0: not known */
    const char *name;    /* of the thread, "" where the system does not tell */
    uint64_t age;        /* ns since the grace period noted it: it is at least as old */
    const char *entered; /* checking variant: where it entered; else "" */
} pawl_rcu_stall;

PAWL_C_BEGIN

/* ---- Domains --------------------------------------------------------------------------------- */

/* Returns 0, EINVAL for NULL, or EAGAIN if PAWL_RCU_DOMAINS - 2 others exist. The name stays the
 * caller's and must live as long (NULL: none). */
PAWL_API int PAWL_SYMBOL_(pawl_rcu_domain_init)(pawl_rcu_domain *d, const char *name);
/* Waits for the domain's grace periods and callbacks. No thread may read in it now or later. In a
 * callback of any domain it aborts, if this domain has had callbacks. The two built-in domains stay
 * as they are. */
PAWL_API void PAWL_SYMBOL_(pawl_rcu_domain_destroy)(pawl_rcu_domain *d);
/* The two built-in domains. */
PAWL_API pawl_rcu_domain *PAWL_SYMBOL_(pawl_rcu_default)(void);
PAWL_API pawl_rcu_domain *PAWL_SYMBOL_(pawl_rcu_qs)(void);

/* True if the caller is in a section of the domain (of pawl_rcu_qs(): online). */
PAWL_API bool PAWL_SYMBOL_(pawl_rcu_domain_read_held)(const pawl_rcu_domain *d);

/* ---- Grace periods --------------------------------------------------------------------------- */

/* Returns when all sections of the domain that may have begun before the call have ended. Their
 * reads come before the caller's next accesses. Concurrent calls share grace periods. Inside a
 * section of the domain, or in a signal handler that interrupted such a call, it could never
 * return: it then ends the program with a message. In pawl_rcu_qs() the caller is offline during
 * the call: it holds no reference of that domain. */
PAWL_API void PAWL_SYMBOL_(pawl_rcu_domain_synchronize)(pawl_rcu_domain *d);
/* The same, but polls the readers for 1 to 5 ms, as the processor pauses, before it sleeps: while
 * CPUs are free it returns sooner, for CPU time. Once that has found nothing, or the caller has
 * lost its CPU meanwhile, the next calls poll no longer than synchronize does. */
PAWL_API void PAWL_SYMBOL_(pawl_rcu_domain_synchronize_expedited)(pawl_rcu_domain *d);

/* A cookie of the grace period that covers the caller's removals. Costs a fence. */
PAWL_API uint64_t PAWL_SYMBOL_(pawl_rcu_domain_start_poll)(pawl_rcu_domain *d);
/* True when that grace period is over; then as after synchronize. Never waits, but drives the grace
 * period: no other thread has to. Reports no stalls. Allowed anywhere. */
PAWL_API bool PAWL_SYMBOL_(pawl_rcu_domain_poll)(pawl_rcu_domain *d, uint64_t cookie);
/* Returns at once if that grace period is over; else waits as synchronize does. */
PAWL_API void PAWL_SYMBOL_(pawl_rcu_domain_synchronize_cond)(pawl_rcu_domain *d, uint64_t cookie);

/* ---- Stalls ---------------------------------------------------------------------------------- */

typedef void pawl_rcu_report(const pawl_rcu_stall *stall, void *argument);
/* Reports a reader that delays a grace period for `ns`, and again each time its age has doubled. 0,
 * the initial value: no reports. The thread that waits for the grace period calls `report`, and
 * then waits on. `report` may only read in the domain. NULL: a line on standard error. Other
 * domains are not delayed. */
PAWL_API void PAWL_SYMBOL_(pawl_rcu_domain_stall)(pawl_rcu_domain *d, uint64_t ns,
                                                  pawl_rcu_report *report, void *argument);

/* ---- Inside ---------------------------------------------------------------------------------- */

PAWL_API void PAWL_SYMBOL_(pawl_rcu_enter_slow)(uint32_t index);
PAWL_API void PAWL_SYMBOL_(pawl_rcu_leave_slow)(uint32_t index);
PAWL_API void PAWL_SYMBOL_(pawl_rcu_rest_slow)(void);
PAWL_API void PAWL_SYMBOL_(pawl_rcu_tell)(uint32_t index);
#if PAWL_CHECKED
PAWL_API void PAWL_SYMBOL_(pawl_rcu_qs_section)(uint32_t begins);
#endif

PAWL_C_END

#define pawl_rcu_domain_init PAWL_SYMBOL_(pawl_rcu_domain_init)
#define pawl_rcu_default PAWL_SYMBOL_(pawl_rcu_default)
#define pawl_rcu_qs PAWL_SYMBOL_(pawl_rcu_qs)
#define pawl_rcu_domain_read_held PAWL_SYMBOL_(pawl_rcu_domain_read_held)
#define pawl_rcu_domain_stall PAWL_SYMBOL_(pawl_rcu_domain_stall)
#define ipawl_rcu_enter_slow_ PAWL_SYMBOL_(pawl_rcu_enter_slow)
#define ipawl_rcu_leave_slow_ PAWL_SYMBOL_(pawl_rcu_leave_slow)
#define ipawl_rcu_rest_slow_ PAWL_SYMBOL_(pawl_rcu_rest_slow)
#define ipawl_rcu_tell_ PAWL_SYMBOL_(pawl_rcu_tell)
#define ipawl_rcu_qs_section_ PAWL_SYMBOL_(pawl_rcu_qs_section)
#if !PAWL_TOLD_AROUND_
#define pawl_rcu_domain_destroy PAWL_SYMBOL_(pawl_rcu_domain_destroy)
#define pawl_rcu_domain_synchronize PAWL_SYMBOL_(pawl_rcu_domain_synchronize)
#define pawl_rcu_domain_synchronize_expedited PAWL_SYMBOL_(pawl_rcu_domain_synchronize_expedited)
#define pawl_rcu_domain_start_poll PAWL_SYMBOL_(pawl_rcu_domain_start_poll)
#define pawl_rcu_domain_poll PAWL_SYMBOL_(pawl_rcu_domain_poll)
#define pawl_rcu_domain_synchronize_cond PAWL_SYMBOL_(pawl_rcu_domain_synchronize_cond)
#endif

PAWL_INLINE_BEGIN

/* ---- Readers --------------------------------------------------------------------------------- */

/* The checking variant checks each of these, in the compiled half. */
#if PAWL_CHECKED

#define PAWL_RCU_QS_SECTION_(begins) ipawl_rcu_qs_section_(begins)

PAWL_INLINE PAWL_ALWAYS_INLINE_ void ipawl_rcu_enter_(uint32_t index)
{
    ipawl_rcu_enter_slow_(index);
}

PAWL_INLINE PAWL_ALWAYS_INLINE_ void ipawl_rcu_leave_(uint32_t index)
{
    ipawl_rcu_leave_slow_(index);
}

PAWL_INLINE PAWL_ALWAYS_INLINE_ void ipawl_rcu_rest_(void)
{
    ipawl_rcu_rest_slow_();
}

#else

#define PAWL_RCU_QS_SECTION_(begins) ((void)0)

PAWL_INLINE PAWL_ALWAYS_INLINE_ void ipawl_rcu_enter_(uint32_t index)
{
    struct pawl_rcu_line *const line = PAWL_RCU_LINE_;
    if (PAWL_UNLIKELY(line == NULL)) {
        ipawl_rcu_enter_slow_(index);
        return;
    }
    /* [RCU_AGAIN] release: a waiter for our last section may see only that we are in the next. */
    pawl_store_release32(&line->read[index], pawl_load_relaxed32(&line->read[index]) + 1,
                         PAWL_RCU_AGAIN);
    /* [RCU_ENTER] light: our word is written before we look at the structure. */
    pawl_fence_light_known(PAWL_RCU_ENTER);
}

PAWL_INLINE PAWL_ALWAYS_INLINE_ void ipawl_rcu_leave_(uint32_t index)
{
    struct pawl_rcu_line *const line = PAWL_RCU_LINE_;
    uint32_t word;
    if (PAWL_UNLIKELY(line == NULL)) {
        ipawl_rcu_leave_slow_(index);
        return;
    }
    word = pawl_load_relaxed32(&line->read[index]);
    if (PAWL_UNLIKELY((word & PAWL_RCU_NESTING_) != 1)) {
        if ((word & PAWL_RCU_NESTING_) != 0)
            pawl_store_relaxed32(&line->read[index], word - 1);
        return;
    }
    /* [RCU_LEAVE] release: our reads complete before the grace period sees us gone. */
    pawl_store_release32(&line->read[index], word + PAWL_RCU_LEFT_ - 1, PAWL_RCU_LEAVE);
    /* [RCU_LEFT] light: our word is written before we look whether a thread waits for it. */
    pawl_fence_light_known(PAWL_RCU_LEFT);
    if (PAWL_UNLIKELY((pawl_load_relaxed32(&line->waited) & UINT32_C(1) << index) != 0))
        ipawl_rcu_tell_(index);
}

PAWL_INLINE PAWL_ALWAYS_INLINE_ void ipawl_rcu_rest_(void)
{
    struct pawl_rcu_line *const line = PAWL_RCU_LINE_;
    uint32_t *word;
    if (PAWL_UNLIKELY(line == NULL)) {
        ipawl_rcu_rest_slow_();
        return;
    }
    word = &line->read[PAWL_RCU_QS_];
    /* [RCU_LEAVE] release: our reads complete before the grace period sees us gone. */
    pawl_store_release32(word, pawl_load_relaxed32(word) + PAWL_RCU_LEFT_, PAWL_RCU_LEAVE);
    /* [RCU_LEFT] light: our word is written before we look whether a thread waits for it, and
     * before we look at the structure again. */
    pawl_fence_light_known(PAWL_RCU_LEFT);
    if (PAWL_UNLIKELY((pawl_load_relaxed32(&line->waited) & UINT32_C(1) << PAWL_RCU_QS_) != 0))
        ipawl_rcu_tell_(PAWL_RCU_QS_);
}

#endif

PAWL_INLINE_END

#if PAWL_TOLD_
#include <pawl/detail/rcu_told.h>
#endif

PAWL_INLINE_BEGIN

/* A section of the default domain. Sections nest, up to 65535 deep; sections of two domains may
 * overlap. A reader may sleep, and take locks that no thread holds during a synchronize. */
PAWL_INLINE PAWL_ALWAYS_INLINE_ void pawl_rcu_read_lock(void)
{
    ipawl_rcu_enter_(PAWL_RCU_DEFAULT_);
}

PAWL_INLINE PAWL_ALWAYS_INLINE_ void pawl_rcu_read_unlock(void)
{
    ipawl_rcu_leave_(PAWL_RCU_DEFAULT_);
}

PAWL_INLINE PAWL_ALWAYS_INLINE_ void pawl_rcu_domain_read_lock(pawl_rcu_domain *d)
{
    ipawl_rcu_enter_(d->index);
}

PAWL_INLINE PAWL_ALWAYS_INLINE_ void pawl_rcu_domain_read_unlock(pawl_rcu_domain *d)
{
    ipawl_rcu_leave_(d->index);
}

/* ---- Readers that say when they do not read -------------------------------------------------- */

/* From here on the thread counts as a reader of pawl_rcu_qs(). It goes offline before it sleeps and
 * before it ends. */
PAWL_INLINE PAWL_ALWAYS_INLINE_ void pawl_rcu_qs_online(void)
{
    ipawl_rcu_enter_(PAWL_RCU_QS_);
}

PAWL_INLINE PAWL_ALWAYS_INLINE_ void pawl_rcu_qs_offline(void)
{
    ipawl_rcu_leave_(PAWL_RCU_QS_);
}

/* An online thread holds no reference at this moment. */
PAWL_INLINE PAWL_ALWAYS_INLINE_ void pawl_rcu_qs_quiescent(void)
{
    ipawl_rcu_rest_();
}

/* Marks a section of an online thread for the checking variant; no instruction in release. */
PAWL_INLINE PAWL_ALWAYS_INLINE_ void pawl_rcu_qs_read_lock(void)
{
    PAWL_RCU_QS_SECTION_(1);
}

PAWL_INLINE PAWL_ALWAYS_INLINE_ void pawl_rcu_qs_read_unlock(void)
{
    PAWL_RCU_QS_SECTION_(0);
}

/* ---- The default domain ---------------------------------------------------------------------- */

PAWL_INLINE PAWL_ALWAYS_INLINE_ bool pawl_rcu_read_held(void)
{
    return pawl_rcu_domain_read_held(pawl_rcu_default());
}

PAWL_INLINE PAWL_ALWAYS_INLINE_ void pawl_rcu_synchronize(void)
{
    pawl_rcu_domain_synchronize(pawl_rcu_default());
}

PAWL_INLINE PAWL_ALWAYS_INLINE_ void pawl_rcu_synchronize_expedited(void)
{
    pawl_rcu_domain_synchronize_expedited(pawl_rcu_default());
}

PAWL_INLINE PAWL_ALWAYS_INLINE_ uint64_t pawl_rcu_start_poll(void)
{
    return pawl_rcu_domain_start_poll(pawl_rcu_default());
}

PAWL_INLINE PAWL_ALWAYS_INLINE_ bool pawl_rcu_poll(uint64_t cookie)
{
    return pawl_rcu_domain_poll(pawl_rcu_default(), cookie);
}

PAWL_INLINE PAWL_ALWAYS_INLINE_ void pawl_rcu_synchronize_cond(uint64_t cookie)
{
    pawl_rcu_domain_synchronize_cond(pawl_rcu_default(), cookie);
}

PAWL_INLINE_END

#endif
