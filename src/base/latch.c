/* SPDX-License-Identifier: MIT */
/* The slow way into a latch (latch.h). */
#include "base.h"

#if PAWL_HOOKS
#define LATCH_LOOKS 0
#else
#define LATCH_LOOKS 100
#endif

PAWL_COLD void ipawl_latch_wait_(struct pawl_latch *latch)
{
    for (int looks = 0; looks < LATCH_LOOKS; looks++) {
        pawl_cpu_relax();
        if (pawl_load_relaxed32(&latch->word) == LATCH_FREE && latch_try(latch))
            return;
    }
    /* [LATCH_TAKE] acquire: the holder sees the last holder's accesses. */
    while (pawl_exchange_acquire32(&latch->word, LATCH_SLEPT_FOR, PAWL_LATCH_TAKE) != LATCH_FREE)
        (void)pawl_os_wait(&latch->word, LATCH_SLEPT_FOR, PAWL_NO_DEADLINE);
}
