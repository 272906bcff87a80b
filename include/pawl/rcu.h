/* SPDX-License-Identifier: MIT */
/*
 * Read-copy-update: readers of linked data pass without a lock, a fence or a locked instruction;
 * who removes something unlinks it first, waits until every reader that may have seen it has left
 * (a grace period), and frees it then. For structures that are read far more often than changed.
 *
 * Not for: data that must never be seen a little late (lock.h; doc/rcu.md has the templates that
 * help), a small value that can be copied (seq.h), readers that stay in for seconds (brlock.h, or a
 * domain of their own).
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
 *   Written by its thread alone, by a load and a store: + 1 when a section is entered, - 1 when an
 *   inner one is left, + 2^16 - 1 when the outermost is. May wrap: who waits for it looks
 *   again. A thread's first section registers it (no call, no allocation) and its end removes it.
 *   A grace period notes the words that are in a section, and ends when each has left or counted.
 *
 * Domains are independent: a grace period of one does not wait for the readers of another. There is
 * one by default. In the quiescent-state domain (pawl_rcu_qs_*) a thread is a reader from `online`
 * on; what others have as sections costs it nothing at all, and now and then it says that it holds
 * no reference (`quiescent`): for event loops.
 *
 * Cost of lock and unlock: a load and a store each of the thread's own word, and a load of its line
 * more on leaving. Where the system cannot make all threads pass a fence (Linux without membarrier;
 * PAWL_NO_MEMBARRIER=1 in the environment) a call and a fence each; for threads beyond the
 * PAWL_THREAD_LINES of a process an atomic operation and a fence each, on a line that they share.
 * synchronize: one membarrier and a look at each line; if readers are long, a sleep and one more
 * membarrier.
 *
 * Invariants
 *   I1  A section that has seen the structure as it was before a removal has written its word when
 *       the grace period, after a heavy fence, looks at the words; for the reader's fence, which is
 *       light, stands between its word and its first look.
 *   I2  So the grace period notes it, and ends only after an acquire load has seen it gone.
 *   I3  A cookie names the first grace period that begins after the cookie was asked for. Grace
 *       periods of a domain are numbered, and one is under way at a time; whoever waits drives it.
 *   I4  A reader that leaves looks whether it is waited for, after its word (fences as in I1): no
 *       wake is lost.
 *   I5  After the store that ends a section the reader touches the domain no more.
 *
 * Signal handlers may read (and leave again before they return), start_poll and poll; the first
 * read of a thread may be one in a handler. After fork the child has the forking thread's sections
 * and nobody else's, and a grace period that was under way goes on. Sections that a thread leaves
 * open end with it. Destructors of threads and exit handlers may read.
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

/* What the stall detector reports of one reader. */
typedef struct pawl_rcu_stall {
    const char *domain;   /* its name */
    uint32_t thread;      /* number of the thread, as the system's tools show it; 0: not known */
    const char *name;     /* of the thread, "" where the system does not tell */
    uint64_t age;         /* ns since the grace period noted it: it is at least as old */
    const char *entered;  /* checking variant: where it entered; else "" */
} pawl_rcu_stall;

PAWL_C_BEGIN

/* ---- Domains --------------------------------------------------------------------------------- */

/* 0, EINVAL for NULL, or EAGAIN: PAWL_RCU_DOMAINS - 2 others exist. The name stays the caller's and
 * must live as long (NULL: none). */
PAWL_API int PAWL_SYMBOL_(pawl_rcu_domain_init)(pawl_rcu_domain *d, const char *name);
/* Waits for its grace periods and callbacks. Nobody reads any more, or is about to; not inside a
 * callback of the domain. The two built-in domains stay as they are. */
PAWL_API void PAWL_SYMBOL_(pawl_rcu_domain_destroy)(pawl_rcu_domain *d);
/* The two that are always there. */
PAWL_API pawl_rcu_domain *PAWL_SYMBOL_(pawl_rcu_default)(void);
PAWL_API pawl_rcu_domain *PAWL_SYMBOL_(pawl_rcu_qs)(void);

/* Whether the caller is in a section of the domain (of pawl_rcu_qs(): online). */
PAWL_API bool PAWL_SYMBOL_(pawl_rcu_domain_read_held)(const pawl_rcu_domain *d);

/* ---- Grace periods --------------------------------------------------------------------------- */

/* Returns after all sections of the domain that may have begun before the call have ended; what was
 * read in them comes before what the caller does next. Calls at the same time share grace periods.
 * In a section of the domain, or in a signal handler that interrupted a call of the same, it could
 * never return, and ends the program with a message. In pawl_rcu_qs() the caller is offline during
 * the call: it holds no reference of that domain. */
PAWL_API void PAWL_SYMBOL_(pawl_rcu_domain_synchronize)(pawl_rcu_domain *d);
/* The same, but looks for the readers' end for up to a millisecond before it sleeps: sooner back,
 * for CPU time. */
PAWL_API void PAWL_SYMBOL_(pawl_rcu_domain_synchronize_expedited)(pawl_rcu_domain *d);

/* A cookie of the grace period that what the caller has removed must wait for. Costs a fence. */
PAWL_API uint64_t PAWL_SYMBOL_(pawl_rcu_domain_start_poll)(pawl_rcu_domain *d);
/* Whether it is over (and with true, as after synchronize). Never waits, but drives the grace
 * period: nobody else has to. Allowed anywhere. */
PAWL_API bool PAWL_SYMBOL_(pawl_rcu_domain_poll)(pawl_rcu_domain *d, uint64_t cookie);
/* Waits for it: nothing if it is over, else as synchronize. */
PAWL_API void PAWL_SYMBOL_(pawl_rcu_domain_synchronize_cond)(pawl_rcu_domain *d, uint64_t cookie);

/* ---- Stalls ---------------------------------------------------------------------------------- */

/* From now on a reader that holds a grace period up for `ns` is reported, and again each time that
 * its age has doubled; 0, as at first: none is. `report` is called by the thread that waits for the
 * grace period, which goes on waiting; it may call nothing of the domain but to read. NULL: a line
 * on standard error. Other domains are not held up. */
typedef void pawl_rcu_report(const pawl_rcu_stall *stall, void *argument);
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
#define pawl_rcu_domain_destroy PAWL_SYMBOL_(pawl_rcu_domain_destroy)
#define pawl_rcu_default PAWL_SYMBOL_(pawl_rcu_default)
#define pawl_rcu_qs PAWL_SYMBOL_(pawl_rcu_qs)
#define pawl_rcu_domain_read_held PAWL_SYMBOL_(pawl_rcu_domain_read_held)
#define pawl_rcu_domain_synchronize PAWL_SYMBOL_(pawl_rcu_domain_synchronize)
#define pawl_rcu_domain_synchronize_expedited PAWL_SYMBOL_(pawl_rcu_domain_synchronize_expedited)
#define pawl_rcu_domain_start_poll PAWL_SYMBOL_(pawl_rcu_domain_start_poll)
#define pawl_rcu_domain_poll PAWL_SYMBOL_(pawl_rcu_domain_poll)
#define pawl_rcu_domain_synchronize_cond PAWL_SYMBOL_(pawl_rcu_domain_synchronize_cond)
#define pawl_rcu_domain_stall PAWL_SYMBOL_(pawl_rcu_domain_stall)
#define pawl_rcu_enter_slow_ PAWL_SYMBOL_(pawl_rcu_enter_slow)
#define pawl_rcu_leave_slow_ PAWL_SYMBOL_(pawl_rcu_leave_slow)
#define pawl_rcu_rest_slow_ PAWL_SYMBOL_(pawl_rcu_rest_slow)
#define pawl_rcu_tell_ PAWL_SYMBOL_(pawl_rcu_tell)
#define pawl_rcu_qs_section_ PAWL_SYMBOL_(pawl_rcu_qs_section)

PAWL_INLINE_BEGIN

/* ---- Readers --------------------------------------------------------------------------------- */

/* The checking variant looks at each of these, in the compiled half. */
PAWL_INLINE PAWL_ALWAYS_INLINE_ void pawl_rcu_enter_(uint32_t index)
{
#if PAWL_CHECKED
    pawl_rcu_enter_slow_(index);
#else
    struct pawl_rcu_line *const line = PAWL_RCU_MINE_.line;
    if (PAWL_UNLIKELY(line == NULL)) {
        pawl_rcu_enter_slow_(index);
        return;
    }
    /* [RCU_AGAIN] release: who waits for our last section may see only that we are in the next. */
    pawl_store_release32(&line->read[index], pawl_load_relaxed32(&line->read[index]) + 1,
                         PAWL_RCU_AGAIN);
    /* [RCU_ENTER] light: our word is written before we look at anything. */
    pawl_fence_light_known(PAWL_RCU_ENTER);
#endif
}

PAWL_INLINE PAWL_ALWAYS_INLINE_ void pawl_rcu_leave_(uint32_t index)
{
#if PAWL_CHECKED
    pawl_rcu_leave_slow_(index);
#else
    struct pawl_rcu_line *const line = PAWL_RCU_MINE_.line;
    uint32_t word;
    if (PAWL_UNLIKELY(line == NULL)) {
        pawl_rcu_leave_slow_(index);
        return;
    }
    word = pawl_load_relaxed32(&line->read[index]);
    if (PAWL_UNLIKELY((word & PAWL_RCU_NESTING_) != 1)) {
        if ((word & PAWL_RCU_NESTING_) != 0)
            pawl_store_relaxed32(&line->read[index], word - 1);
        return;
    }
    /* [RCU_LEAVE] release: our reads are done before the grace period sees us gone. */
    pawl_store_release32(&line->read[index], word + PAWL_RCU_LEFT_ - 1, PAWL_RCU_LEAVE);
    /* [RCU_LEFT] light: our word is written before we look whether it is waited for. */
    pawl_fence_light_known(PAWL_RCU_LEFT);
    if (PAWL_UNLIKELY((pawl_load_relaxed32(&line->waited) & UINT32_C(1) << index) != 0))
        pawl_rcu_tell_(index);
#endif
}

/* A section of the default domain. Sections nest, up to 65535 deep; one domain's sections may
 * overlap another's. Who reads may sleep, and take locks that nobody holds during a synchronize. */
PAWL_INLINE PAWL_ALWAYS_INLINE_ void pawl_rcu_read_lock(void)
{
    pawl_rcu_enter_(PAWL_RCU_DEFAULT_);
}

PAWL_INLINE PAWL_ALWAYS_INLINE_ void pawl_rcu_read_unlock(void)
{
    pawl_rcu_leave_(PAWL_RCU_DEFAULT_);
}

PAWL_INLINE PAWL_ALWAYS_INLINE_ void pawl_rcu_domain_read_lock(pawl_rcu_domain *d)
{
    pawl_rcu_enter_(d->index);
}

PAWL_INLINE PAWL_ALWAYS_INLINE_ void pawl_rcu_domain_read_unlock(pawl_rcu_domain *d)
{
    pawl_rcu_leave_(d->index);
}

/* ---- Readers that say when they do not read -------------------------------------------------- */

/* From here the thread counts as reading in pawl_rcu_qs(), until it goes offline: before it sleeps,
 * and at its end. */
PAWL_INLINE PAWL_ALWAYS_INLINE_ void pawl_rcu_qs_online(void)
{
    pawl_rcu_enter_(PAWL_RCU_QS_);
}

PAWL_INLINE PAWL_ALWAYS_INLINE_ void pawl_rcu_qs_offline(void)
{
    pawl_rcu_leave_(PAWL_RCU_QS_);
}

/* An online thread holds no reference at this moment. */
PAWL_INLINE PAWL_ALWAYS_INLINE_ void pawl_rcu_qs_quiescent(void)
{
#if PAWL_CHECKED
    pawl_rcu_rest_slow_();
#else
    struct pawl_rcu_line *const line = PAWL_RCU_MINE_.line;
    uint32_t *word;
    if (PAWL_UNLIKELY(line == NULL)) {
        pawl_rcu_rest_slow_();
        return;
    }
    word = &line->read[PAWL_RCU_QS_];
    /* [RCU_LEAVE] release: our reads are done before the grace period sees us gone. */
    pawl_store_release32(word, pawl_load_relaxed32(word) + PAWL_RCU_LEFT_, PAWL_RCU_LEAVE);
    /* [RCU_LEFT] light: our word is written before we look whether it is waited for, and before we
     * look at anything more. */
    pawl_fence_light_known(PAWL_RCU_LEFT);
    if (PAWL_UNLIKELY((pawl_load_relaxed32(&line->waited) & UINT32_C(1) << PAWL_RCU_QS_) != 0))
        pawl_rcu_tell_(PAWL_RCU_QS_);
#endif
}

/* Marks what an online thread reads: no instruction, but for the checking variant. */
PAWL_INLINE PAWL_ALWAYS_INLINE_ void pawl_rcu_qs_read_lock(void)
{
#if PAWL_CHECKED
    pawl_rcu_qs_section_(1);
#endif
}

PAWL_INLINE PAWL_ALWAYS_INLINE_ void pawl_rcu_qs_read_unlock(void)
{
#if PAWL_CHECKED
    pawl_rcu_qs_section_(0);
#endif
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
