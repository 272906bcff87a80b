/* SPDX-License-Identifier: MIT */
/* Priority-sifting locks: init and destroy. Readers are in sift_read.c, writers in sift_write.c. */
#include <pawl/sift.h>

#include "sift_check.h"
#include "sift_parts.h"

#define SIFT_ALL_READERS ((1u << PAWL_SIFT_CONTEXTS) - 1)
#define SIFT_ALL_FLAGS (PAWL_SIFT_RAISE | PAWL_SIFT_REALTIME_HANDLERS | PAWL_SIFT_PRIORITY)

static bool sift_use_reads(const pawl_sift_use *use, enum pawl_sift_context c)
{
    return (use->readers & PAWL_SIFT_READS(c)) != 0;
}

static bool sift_is_raised(const pawl_sift_use *use)
{
    return (use->flags & (PAWL_SIFT_RAISE | PAWL_SIFT_REALTIME_HANDLERS)) != 0;
}

/* Handlers' contexts, and no others, have signals; so has the context of a handler that writes. */
static bool sift_signals_fit(const pawl_sift_use *use, enum pawl_sift_context c, uint64_t signals)
{
    const bool wanted = sift_use_reads(use, c) || use->writers == (uint32_t)c;
    return (signals != 0) == wanted && (signals & pawl_os_unblockable()) == 0;
}

static int sift_refusal(const pawl_sift_use *use)
{
    const uint32_t below = (1u << (use->writers % 32)) - 1;
    if ((use->readers & ~SIFT_ALL_READERS) != 0 || (use->flags & ~SIFT_ALL_FLAGS) != 0 ||
        use->writers >= PAWL_SIFT_CONTEXTS || use->readers == 0 || (use->readers & below) != 0)
        return EINVAL;
    if (pawl_os_unblockable() == UINT64_MAX && (use->deferred | use->interrupt) != 0)
        return ENOTSUP;
    if (!sift_signals_fit(use, PAWL_SIFT_DEFERRED, use->deferred) ||
        !sift_signals_fit(use, PAWL_SIFT_INTERRUPT, use->interrupt) ||
        (use->deferred & use->interrupt) != 0)
        return EINVAL;
    if (!sift_is_raised(use))
        return use->ceiling != 0 ? EINVAL : 0;
    if (use->ceiling == 0 || use->ceiling >= PAWL_SIFT_RANKS_)
        return EINVAL;
    return pawl_os_may_raise(use->ceiling);
}

/* Raising is for contexts above threads. Without it real-time readers lend their priority. */
static uint32_t sift_mode(const pawl_sift_use *use)
{
    const bool realtime = sift_use_reads(use, PAWL_SIFT_REALTIME);
    const bool above = (use->readers & ~PAWL_SIFT_READS(PAWL_SIFT_THREAD)) != 0;
    return ((use->deferred | use->interrupt) != 0 ? PAWL_SIFT_MODE_BLOCK_ : 0) |
           (sift_is_raised(use) && above ? PAWL_SIFT_MODE_RAISE_ : 0) |
           (!sift_is_raised(use) && realtime ? PAWL_SIFT_MODE_LEND_ : 0) |
           ((use->flags & PAWL_SIFT_PRIORITY) && realtime ? PAWL_SIFT_MODE_RANK_ : 0) |
           (use->writers >= PAWL_SIFT_DEFERRED ? PAWL_SIFT_MODE_SPIN_ : 0);
}

int pawl_sift_init(pawl_sift *l, const pawl_sift_use *use)
{
    pawl_sift_use threads;
    int refusal;
    if (l == NULL)
        return EINVAL;
    if (use != NULL)
        threads = *use;
    else
        memset(&threads, 0, sizeof threads);
    if (threads.readers == 0)
        threads.readers = PAWL_SIFT_READS(PAWL_SIFT_THREAD);
    refusal = sift_refusal(&threads);
    if (refusal != 0)
        return refusal;
    if ((sift_mode(&threads) & PAWL_SIFT_MODE_LEND_) && !pawl_os_lends())
        return ENOTSUP;
    memset(l, 0, sizeof *l);
    l->mode = sift_mode(&threads);
    l->readers = threads.readers;
    l->writers = threads.writers;
    l->ceiling = threads.ceiling;
    l->signals[0] = threads.deferred;
    l->signals[1] = threads.interrupt;
    return 0;
}

void pawl_sift_destroy(pawl_sift *l)
{
    struct sift_patience p = sift_patience(false, PAWL_NO_DEADLINE);
    if (l == NULL)
        return;
    SIFT_UNUSED(l, "pawl_sift_destroy");
    /* I5: waits for a slow writer's last access to the word, and for its later access to the
     * gate. */
    (void)sift_await_word(l, ~PAWL_SIFT_WAITED_, &p);
    if (l->mode & PAWL_SIFT_MODE_LEND_) {
        (void)sift_gate_take(l, PAWL_NO_DEADLINE);
        sift_gate_drop(l);
    }
}
