/* SPDX-License-Identifier: MIT */
/* Priority-sifting locks: the paths of a reader that did not enter at once. */
#include <pawl/sift.h>

#include "sift_check.h"
#include "sift_parts.h"

/* ---- The second attempt: readers are in, but no writer --------------------------------------- */

/* The word with one more reader. The reader clears WAITED when no slow writer is left to clear
 * it, because WAITED is stale then. A sleeper that is no slow writer waits for WRITER. The drop
 * that cleared WRITER found WAITED set and woke that sleeper. */
static uint64_t sift_with(uint64_t word, enum pawl_sift_context c)
{
    word += PAWL_SIFT_UNIT_(c);
    return (word & SIFT_SLOW_FIELD) == 0 ? word & ~PAWL_SIFT_WAITED_ : word;
}

/* Counts a reader in while none of the `against` bits is set; never counts before it looks (I3). */
static bool sift_enter(pawl_sift *l, enum pawl_sift_context c, uint64_t against, uint64_t *word)
{
    *word = pawl_load_relaxed64(&l->word);
    while ((*word & against) == 0 && !sift_is_full(*word, c)) {
        const uint64_t made = sift_with(*word, c);
        /* [SIFT_R_TAKE] acquire: the reader's reads come after the stores of writers that have
         * left. */
        if (pawl_cas_acquire64(&l->word, word, made, PAWL_SIFT_R_TAKE))
            return true;
    }
    return false;
}

static bool sift_second(pawl_sift *l, enum pawl_sift_context c)
{
    uint64_t word;
    return sift_enter(l, c, SIFT_ANY_WRITER, &word);
}

/* ---- Through the context --------------------------------------------------------------------- */

/* Counts the reader in, by one step that finds no subscription. The step clears a handler's
 * WAITED, which has served its purpose, and wakes the sleepers to look again. */
static bool sift_count_in(pawl_sift *l, enum pawl_sift_context c)
{
    uint32_t *const word = &l->contexts[c];
    uint32_t found = pawl_load_relaxed32(word);
    while ((found & SIFT_C_WRITERS) == 0 && (found & SIFT_C_READERS) != SIFT_C_READERS) {
        const uint32_t made = (found & ~SIFT_C_WAITED) + SIFT_C_READER;
        /* [SIFT_R_COUNT] acquire: the reader's reads come after the stores of writers that kept
         * it out. */
        if (pawl_cas_acquire32(word, &found, made, PAWL_SIFT_R_COUNT)) {
            sift_context_changed(l, c, found);
            return true;
        }
    }
    return false;
}

static void sift_count_out(pawl_sift *l, enum pawl_sift_context c)
{
    /* [SIFT_R_COUNTED] release: the lock's word counts the reader before a writer sees it leave
     * the context. */
    const uint32_t found =
        pawl_fetch_sub_release32(&l->contexts[c], SIFT_C_READER, PAWL_SIFT_R_COUNTED);
    sift_context_changed(l, c, found);
}

/* Tells the next slow writer that a handler waits, so that the writer lets it go first. */
static void sift_tell_context(pawl_sift *l, enum pawl_sift_context c)
{
    uint32_t found = pawl_load_relaxed32(&l->contexts[c]);
    if ((found & SIFT_C_WRITERS) != 0 && (found & SIFT_C_WAITED) == 0)
        (void)pawl_cas_relaxed32(&l->contexts[c], &found, found | SIFT_C_WAITED);
}

/* The same for the word: a writer on the fast path cannot follow another one at once. It takes
 * the slow path instead, which waits for the reader. */
static void sift_tell_word(pawl_sift *l, uint64_t word)
{
    if ((word & PAWL_SIFT_WRITER_) != 0 && (word & PAWL_SIFT_WAITED_) == 0)
        (void)pawl_cas_relaxed64(&l->word, &word, word | PAWL_SIFT_WAITED_);
}

static bool sift_read_context(pawl_sift *l, enum pawl_sift_context c, struct sift_patience *p)
{
    while (!sift_count_in(l, c)) {
        if (sift_is_late(p))
            return false;
        if (sift_is_handler(c)) {
            sift_tell_context(l, c);
            backoff_pause_once(&p->pauses, p);
        } else if (!sift_await_context(l, c, SIFT_C_WRITERS, p)) {
            return false;
        }
    }
    return true;
}

/* The reader is counted in the context. Slow writers wait for it, so only a writer on the fast
 * path can be in. */
static bool sift_read_word(pawl_sift *l, enum pawl_sift_context c, struct sift_patience *p)
{
    uint64_t word;
    while (!sift_enter(l, c, PAWL_SIFT_WRITER_, &word)) {
        if (sift_is_late(p))
            return false;
        if (sift_is_handler(c) || (word & PAWL_SIFT_WRITER_) == 0) {
            sift_tell_word(l, word);
            backoff_pause_once(&p->pauses, p);
        } else if (!sift_await_word(l, PAWL_SIFT_WRITER_, p)) {
            return false;
        }
    }
    return true;
}

/* ---- Real-time readers ----------------------------------------------------------------------- */

/* PAWL_SIFT_PRIORITY: whether a writer of this priority or a higher one waits. */
static bool sift_is_outranked(const pawl_sift *l, uint32_t priority)
{
    for (uint32_t rank = priority; rank < PAWL_SIFT_RANKS_; rank++)
        if (pawl_load_relaxed16(&l->ranks[rank]) != 0)
            return true;
    return false;
}

/* A writer that stops waiting clears WAITED; that changes the word and so ends this sleep in any
 * case. */
static bool sift_await_rank(pawl_sift *l, struct sift_patience *p)
{
    uint32_t *const word = &l->contexts[PAWL_SIFT_REALTIME];
    const uint32_t priority = sift_priority();
    while (sift_is_outranked(l, priority)) {
        uint32_t found;
        if (sift_is_late(p))
            return false;
        if (!sift_pause(p))
            continue;
        /* [SIFT_R_COUNT] acquire: the ranks that the reader looks at are as new as the word. */
        found = pawl_fetch_or_acquire32(word, SIFT_C_WAITED, PAWL_SIFT_R_COUNT) | SIFT_C_WAITED;
        if (sift_is_outranked(l, priority))
            (void)pawl_os_wait(word, found, p->until);
    }
    return true;
}

/* Reads through the gate. The gate's holder has the reader's priority until it leaves. While the
 * reader holds the gate, no writer is in or about to enter. So only a full field can refuse the
 * reader. */
static bool sift_read_lending(pawl_sift *l, struct sift_patience *p)
{
    bool in;
    if (!sift_gate_take(l, p->until))
        return false;
    while (!(in = sift_second(l, PAWL_SIFT_REALTIME)) && !sift_is_late(p))
        backoff_pause_once(&p->pauses, p);
    sift_gate_drop(l);
    return in;
}

/* ---- The whole path -------------------------------------------------------------------------- */

/* Enters through the context without waiting. */
static bool sift_pass_context(pawl_sift *l, enum pawl_sift_context c)
{
    uint64_t word;
    bool in;
    if (!sift_count_in(l, c))
        return false;
    in = sift_enter(l, c, PAWL_SIFT_WRITER_, &word);
    sift_count_out(l, c);
    return in;
}

static bool sift_take_read(pawl_sift *l, enum pawl_sift_context c, uint64_t until)
{
    struct sift_patience p = sift_patience(!sift_is_handler(c), until);
    bool in;
    if (sift_second(l, c))
        return true;
    if (c == PAWL_SIFT_REALTIME && (l->mode & PAWL_SIFT_MODE_RANK_) && !sift_await_rank(l, &p))
        return false;
    if (c == PAWL_SIFT_REALTIME && (l->mode & PAWL_SIFT_MODE_LEND_))
        return sift_pass_context(l, c) || sift_read_lending(l, &p);
    if (!sift_read_context(l, c, &p))
        return false;
    TEST_POINT("sift: reader is counted in its context");
    in = sift_read_word(l, c, &p);
    sift_count_out(l, c);
    return in;
}

bool ipawl_sift_take_read_slow_(pawl_sift *l, enum pawl_sift_context context, uint64_t until)
{
    SIFT_BEFORE_READ(l, context, "pawl_sift_take_read");
    PAWL_PROBE2(sift_read_slow, l, context);
    return sift_take_read(l, context, until);
}

bool ipawl_sift_try_read_slow_(pawl_sift *l, enum pawl_sift_context context)
{
    SIFT_BEFORE_READ(l, context, "pawl_sift_try_read");
    if (sift_second(l, context))
        return true;
    if (context == PAWL_SIFT_REALTIME && (l->mode & PAWL_SIFT_MODE_RANK_) &&
        sift_is_outranked(l, sift_priority()))
        return false;
    return sift_pass_context(l, context);
}

/* Threads that sleep for the word wait for the last reader of a context, or for a writer. */
void ipawl_sift_drop_read_waited_(pawl_sift *l, uint64_t word, enum pawl_sift_context context)
{
    if ((word & sift_field(context)) == PAWL_SIFT_UNIT_(context))
        sift_wake(l);
}

#if PAWL_CHECKED
void ipawl_sift_drop_read_checked_(pawl_sift *l, enum pawl_sift_context context)
{
    SIFT_READS(l, context, "pawl_sift_drop_read");
    ipawl_sift_count_down_(l, context);
}
#endif
