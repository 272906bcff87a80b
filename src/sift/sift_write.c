/* SPDX-License-Identifier: MIT */
/*
 * Priority-sifting locks: writers. The changes that a writer makes to its own thread come first,
 * then the stages of the slow path, then the operations.
 */
#include <pawl/sift.h>

#include "sift_check.h"
#include "sift_parts.h"

/* ---- The writer's own thread: raised before a context is shut, lowered after it is open (I6) - */

/* The context at whose stage the writer raises its scheduling class: the lowest above threads
 * that reads. */
static enum pawl_sift_context sift_raised_at(const pawl_sift *l)
{
    enum pawl_sift_context c = PAWL_SIFT_REALTIME;
    while (c < PAWL_SIFT_INTERRUPT && !sift_reads(l, c))
        c = (enum pawl_sift_context)(c + 1);
    return c;
}

static void sift_raise_class(const pawl_sift *l, struct ipawl_sift_before_ *before)
{
    TEST_POINT("sift: raised");
    before->raised = pawl_os_raise(l->ceiling, &before->policy, &before->priority);
    SIFT_RAISED(l, before->raised);
}

static void sift_lower_class(struct ipawl_sift_before_ *before)
{
    if (before->raised)
        pawl_os_lower(before->policy, before->priority);
    before->raised = 0;
    TEST_POINT("sift: lowered");
}

/* Bits of `contexts`. */
#define SIFT_DEFERRED 1u
#define SIFT_INTERRUPT 2u

static void sift_block(const pawl_sift *l, struct ipawl_sift_before_ *before, unsigned contexts)
{
    const uint64_t deferred = contexts & SIFT_DEFERRED ? l->signals[0] : 0;
    const uint64_t interrupt = contexts & SIFT_INTERRUPT ? l->signals[1] : 0;
    uint64_t already;
    TEST_POINT("sift: signals are blocked");
    already = pawl_os_block(deferred | interrupt);
    before->blocked[0] |= deferred & ~already;
    before->blocked[1] |= interrupt & ~already;
}

static void sift_unblock(struct ipawl_sift_before_ *before, unsigned contexts)
{
    const uint64_t deferred = contexts & SIFT_DEFERRED ? before->blocked[0] : 0;
    const uint64_t interrupt = contexts & SIFT_INTERRUPT ? before->blocked[1] : 0;
    before->blocked[0] &= ~deferred;
    before->blocked[1] &= ~interrupt;
    if ((deferred | interrupt) != 0)
        pawl_os_unblock(deferred | interrupt);
    TEST_POINT("sift: signals are back");
}

static unsigned sift_handlers_of(enum pawl_sift_context c)
{
    return c == PAWL_SIFT_DEFERRED ? SIFT_DEFERRED : SIFT_INTERRUPT;
}

/* Raises the writer to the context, from the context below it that reads. */
static void sift_raise(const pawl_sift *l, enum pawl_sift_context c,
                       struct ipawl_sift_before_ *before)
{
    if ((l->mode & PAWL_SIFT_MODE_RAISE_) && c == sift_raised_at(l))
        sift_raise_class(l, before);
    if (sift_is_handler(c))
        sift_block(l, before, sift_handlers_of(c));
}

static void sift_lower(const pawl_sift *l, enum pawl_sift_context c,
                       struct ipawl_sift_before_ *before)
{
    if (sift_is_handler(c))
        sift_unblock(before, sift_handlers_of(c));
    if ((l->mode & PAWL_SIFT_MODE_RAISE_) && c == sift_raised_at(l))
        sift_lower_class(before);
}

/* Raises through all contexts at once, for the fast path. */
static void sift_raise_all(const pawl_sift *l, struct ipawl_sift_before_ *before)
{
    if (l->mode & PAWL_SIFT_MODE_RAISE_)
        sift_raise_class(l, before);
    if (l->mode & PAWL_SIFT_MODE_BLOCK_)
        sift_block(l, before, SIFT_DEFERRED | SIFT_INTERRUPT);
}

/* The lock may be gone. */
static void sift_lower_all(uint32_t mode, struct ipawl_sift_before_ *before)
{
    if (mode & PAWL_SIFT_MODE_BLOCK_)
        sift_unblock(before, SIFT_DEFERRED | SIFT_INTERRUPT);
    if (mode & PAWL_SIFT_MODE_RAISE_)
        sift_lower_class(before);
}

/* ---- Waiting writers by priority (PAWL_SIFT_PRIORITY) ---------------------------------------- */

static void sift_rank_in(pawl_sift *l, struct ipawl_sift_before_ *before)
{
    if (!(l->mode & PAWL_SIFT_MODE_RANK_))
        return;
    before->rank = sift_priority();
    if (before->rank != 0)
        (void)pawl_fetch_add_relaxed16(&l->ranks[before->rank], 1);
}

static void sift_rank_out(pawl_sift *l, struct ipawl_sift_before_ *before)
{
    uint32_t found;
    if (before->rank == 0)
        return;
    (void)pawl_fetch_sub_relaxed16(&l->ranks[before->rank], 1);
    before->rank = 0;
    /* [SIFT_UNSUBSCRIBE] release: a reader that sets WAITED and then reads the ranks sees this
     * writer gone. */
    found = pawl_fetch_and_release32(&l->contexts[PAWL_SIFT_REALTIME], ~SIFT_C_WAITED,
                                     PAWL_SIFT_UNSUBSCRIBE);
    sift_context_changed(l, PAWL_SIFT_REALTIME, found);
}

/* ---- The mark and the count of slow writers -------------------------------------------------- */

/* One addition changes the mark and the count; the published algorithm needs a mutex for that.
 * Waits while the field counts as many slow writers as it can. */
static bool sift_join(pawl_sift *l, struct sift_patience *p)
{
    uint64_t found = pawl_load_relaxed64(&l->word);
    for (;;) {
        if ((found & SIFT_SLOW_FIELD) == SIFT_SLOW_FIELD) {
            if (sift_is_late(p))
                return false;
            backoff_pause_once(&p->pauses, p);
            found = pawl_load_relaxed64(&l->word);
        } else if (pawl_cas_relaxed64(&l->word, &found, found + PAWL_SIFT_SLOW_)) {
            return true;
        }
    }
}

/* I5: the last access to the lock, unless there is a gate. The last slow writer clears WAITED. */
static void sift_leave(pawl_sift *l)
{
    uint64_t found = pawl_load_relaxed64(&l->word);
    uint64_t made;
    do {
        made = found - PAWL_SIFT_SLOW_;
        if ((made & SIFT_SLOW_FIELD) == 0)
            made &= ~PAWL_SIFT_WAITED_;
        /* [SIFT_LEAVE] release: the writer's stores, and its last change of the lock, are done. */
    } while (!pawl_cas_release64(&l->word, &found, made, PAWL_SIFT_LEAVE));
    if (found & ~made & PAWL_SIFT_WAITED_)
        sift_wake(l);
}

/* ---- The stages ------------------------------------------------------------------------------ */

static bool sift_has_stage(const pawl_sift *l, enum pawl_sift_context c)
{
    return sift_reads(l, c) && (uint32_t)c >= l->writers;
}

/* Lets handlers that wait for another writer to leave go first, so that they wait for one writer
 * only. They are running, or will be soon. The wait is bounded, so a handler that is not running
 * cannot block the writer. */
static void sift_let_handlers_in(pawl_sift *l, enum pawl_sift_context c)
{
    struct backoff pauses = BACKOFF_INIT;
    for (int i = 0; i < SIFT_COURTESY; i++) {
        if (!(pawl_load_relaxed32(&l->contexts[c]) & SIFT_C_WAITED))
            return;
        backoff_pause_once(&pauses, &pauses);
    }
}

/* Clears a WAITED that the writer set to sleep, which would pass for a handler's. A handler sets
 * its own WAITED again. */
static void sift_take_back_waited(pawl_sift *l, enum pawl_sift_context c,
                                  const struct sift_patience *p)
{
    if (sift_is_handler(c) && p->slept)
        sift_context_changed(l, c, pawl_fetch_and_relaxed32(&l->contexts[c], ~SIFT_C_WAITED));
}

/* Opens the context again: first the subscription ends, then the signals are unblocked. A
 * handler that was held back runs at once, and would otherwise spin for this writer. */
static void sift_open(pawl_sift *l, enum pawl_sift_context c, struct ipawl_sift_before_ *before)
{
    /* [SIFT_UNSUBSCRIBE] release: the writer's stores are done before readers of the context
     * enter. */
    const uint32_t found =
        pawl_fetch_sub_release32(&l->contexts[c], SIFT_C_WRITER, PAWL_SIFT_UNSUBSCRIBE);
    sift_context_changed(l, c, found);
    TEST_POINT("sift: a context is open");
    sift_lower(l, c, before);
}

/* Shuts one context and waits until it is empty. It waits for slow readers first: the word
 * counts each of them before it leaves the context. Then it waits for the readers in the word.
 * False: the deadline has passed, and the context is open. */
static bool sift_shut(pawl_sift *l, enum pawl_sift_context c, struct ipawl_sift_before_ *before,
                      struct sift_patience *p)
{
    if (sift_is_handler(c))
        sift_let_handlers_in(l, c);
    sift_raise(l, c, before);
    (void)pawl_fetch_add_relaxed32(&l->contexts[c], SIFT_C_WRITER);
    TEST_POINT("sift: a context is shut");
    sift_begin_anew(p);
    if (sift_await_context(l, c, SIFT_C_READERS, p)) {
        sift_take_back_waited(l, c, p);
        if (sift_await_word(l, sift_field(c) | PAWL_SIFT_WRITER_, p))
            return true;
    }
    sift_open(l, c, before);
    return false;
}

/* Opens the contexts from the highest down to `lowest`. */
static void sift_descend(pawl_sift *l, enum pawl_sift_context lowest,
                         struct ipawl_sift_before_ *before)
{
    for (unsigned c = PAWL_SIFT_CONTEXTS; c-- > (unsigned)lowest;)
        if (sift_has_stage(l, (enum pawl_sift_context)c))
            sift_open(l, (enum pawl_sift_context)c, before);
}

/* Shuts the contexts from `lowest` to the top. False: the deadline has passed, and all of them
 * are open. */
static bool sift_climb(pawl_sift *l, enum pawl_sift_context lowest,
                       struct ipawl_sift_before_ *before, struct sift_patience *p)
{
    for (unsigned c = (unsigned)lowest; c < PAWL_SIFT_CONTEXTS; c++) {
        if (!sift_has_stage(l, (enum pawl_sift_context)c) ||
            sift_shut(l, (enum pawl_sift_context)c, before, p))
            continue;
        while (c-- > (unsigned)lowest)
            if (sift_has_stage(l, (enum pawl_sift_context)c))
                sift_open(l, (enum pawl_sift_context)c, before);
        return false;
    }
    return true;
}

/* Readers up to real-time threads are out. The writer now needs the handlers' contexts and the
 * mutex. If it finds the mutex held, it opens the handlers' contexts again while it waits (I6). */
static bool sift_top(pawl_sift *l, struct ipawl_sift_before_ *before, struct sift_patience *p)
{
    const enum pawl_sift_context handlers = PAWL_SIFT_DEFERRED;
    for (;;) {
        sift_begin_anew(p);
        if (!sift_mutex_await(l, p) || !sift_await_word(l, PAWL_SIFT_WRITER_, p) ||
            !sift_climb(l, handlers, before, p))
            return false;
        if (sift_mutex_try(l))
            return true;
        sift_descend(l, handlers, before);
    }
}

static bool sift_write_by_stages(pawl_sift *l, struct ipawl_sift_before_ *before,
                                 struct sift_patience *p)
{
    unsigned c;
    if (!sift_join(l, p))
        return false;
    TEST_POINT("sift: slow writer has joined");
    for (c = 0; c < PAWL_SIFT_DEFERRED; c++) {
        if (!sift_has_stage(l, (enum pawl_sift_context)c) ||
            sift_shut(l, (enum pawl_sift_context)c, before, p))
            continue;
        break;
    }
    if (c == PAWL_SIFT_DEFERRED && sift_top(l, before, p))
        return true;
    while (c-- > 0)
        if (sift_has_stage(l, (enum pawl_sift_context)c))
            sift_open(l, (enum pawl_sift_context)c, before);
    sift_leave(l);
    return false;
}

/* ---- The operations -------------------------------------------------------------------------- */

/* The writer raises itself to the highest context. One compare-exchange takes the lock, and
 * succeeds only when it is free. With `waited` it also succeeds when WAITED alone is set: what
 * those waiters wait for has happened. */
static bool sift_write_at_once(pawl_sift *l, struct ipawl_sift_before_ *before, bool waited)
{
    uint64_t found = pawl_load_relaxed64(&l->word);
    if (found != 0 && !(waited && found == PAWL_SIFT_WAITED_))
        return false; /* returns before it blocks any signal for nothing */
    sift_raise_all(l, before);
    found = 0;
    /* [SIFT_FAST_TAKE] acquire: the writer comes after every thread that has left. */
    if (pawl_cas_acquire64(&l->word, &found, PAWL_SIFT_WRITER_, PAWL_SIFT_FAST_TAKE))
        return true;
    if (waited && found == PAWL_SIFT_WAITED_ &&
        /* [SIFT_FAST_TAKE] acquire: as above. */
        pawl_cas_acquire64(&l->word, &found, found | PAWL_SIFT_WRITER_, PAWL_SIFT_FAST_TAKE))
        return true;
    sift_lower_all(l->mode, before);
    return false;
}

static bool sift_write_or_not(pawl_sift *l)
{
    struct ipawl_sift_before_ before;
    memset(&before, 0, sizeof before);
    if ((l->mode & PAWL_SIFT_MODE_LEND_) && !sift_gate_try(l))
        return false;
    if (sift_write_at_once(l, &before, true)) {
        l->before = before;
        SIFT_HAVE(l);
        return true;
    }
    /* A failed try must wake the threads that waited for it. Only at the gate can a thread have
     * waited, because the word has not changed. (A reader's try does this in sift_count_out.) */
    if (l->mode & PAWL_SIFT_MODE_LEND_)
        sift_gate_drop(l);
    return false;
}

bool ipawl_sift_try_write_slow_(pawl_sift *l)
{
    SIFT_BEFORE_WRITE(l, "pawl_sift_try_write");
    return sift_write_or_not(l);
}

/* With a deadline in the past it raises no thread and blocks no signal for a stage. */
bool ipawl_sift_take_write_slow_(pawl_sift *l, uint64_t until)
{
    struct sift_patience p = sift_patience(!(l->mode & PAWL_SIFT_MODE_SPIN_), until);
    struct ipawl_sift_before_ before;
    bool in;
    PAWL_PROBE1(sift_write_slow, l);
    SIFT_BEFORE_WRITE(l, "pawl_sift_take_write");
    if (sift_is_late(&p))
        return sift_write_or_not(l);
    memset(&before, 0, sizeof before);
    SIFT_WAITS(l, l->writers, "pawl_sift_take_write");
    sift_rank_in(l, &before);
    in = !(l->mode & PAWL_SIFT_MODE_LEND_) || sift_gate_take(l, until);
    if (in && !sift_write_at_once(l, &before, false)) {
        in = sift_write_by_stages(l, &before, &p);
        if (!in && (l->mode & PAWL_SIFT_MODE_LEND_))
            sift_gate_drop(l);
    }
    SIFT_WAITED();
    if (!in) {
        sift_rank_out(l, &before);
        return false;
    }
    l->before = before;
    SIFT_HAVE(l);
    return true;
}

static void sift_drop_fast(pawl_sift *l, struct ipawl_sift_before_ *before, uint32_t mode)
{
    /* [SIFT_W_DROP] release: the writer's stores are done before another thread enters. WAITED
     * stays, so no other writer overtakes the waiters on the fast path. */
    if (pawl_fetch_sub_release64(&l->word, PAWL_SIFT_WRITER_, PAWL_SIFT_W_DROP) & PAWL_SIFT_WAITED_)
        sift_wake(l);
    sift_lower_all(mode, before);
}

void ipawl_sift_drop_write_slow_(pawl_sift *l)
{
    struct ipawl_sift_before_ before = l->before;
    const uint32_t mode = l->mode;
    SIFT_WRITES(l, "pawl_sift_drop_write");
    SIFT_LET_GO(l);
    sift_rank_out(l, &before);
    if (pawl_load_relaxed64(&l->word) & PAWL_SIFT_WRITER_) {
        sift_drop_fast(l, &before, mode);
    } else {
        sift_mutex_drop(l);
        sift_descend(l, (enum pawl_sift_context)0, &before);
        sift_leave(l);
    }
    if (mode & PAWL_SIFT_MODE_LEND_)
        sift_gate_drop(l);
}
