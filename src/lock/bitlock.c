/* SPDX-License-Identifier: MIT */
/* The waiting half of the bit locks. */
#include <pawl/bitlock.h>

#include "wait_parts.h"

#if PAWL_CHECKED

static PAWL_COLD void bitlock_check_bit(const void *word, unsigned width, unsigned bit,
                                        const char *call, const void *site)
{
    if (PAWL_UNLIKELY(bit >= width))
        ipawl_report_misuse_("bit beyond the word", "bit lock", word, call, site);
    if (PAWL_UNLIKELY(((uintptr_t)word & (width / 8 - 1)) != 0))
        ipawl_report_misuse_("misaligned word", "bit lock", word, call, site);
}

#define CHECKS(N)                                                                                  \
    void PAWL_SYMBOL_(pawl_bitlock##N##_check)(const uint##N##_t *word, unsigned bit,              \
                                               const char *call)                                   \
    {                                                                                              \
        bitlock_check_bit(word, N, bit, call, __builtin_return_address(0));                        \
    }                                                                                              \
    void PAWL_SYMBOL_(pawl_bitlock##N##_not_held)(const uint##N##_t *word, const char *call)       \
    {                                                                                              \
        ipawl_report_misuse_("drop of what is not held", "bit lock", word, call,                   \
                             __builtin_return_address(0));                                         \
    }
CHECKS(8)
CHECKS(16)
CHECKS(32)
CHECKS(64)
#undef CHECKS

#define BITLOCK_WAITS(word, deadline)                                                              \
    do {                                                                                           \
        if ((deadline) == PAWL_NO_DEADLINE)                                                        \
            ipawl_wait_begins_("bit lock", word, "take", 0, __builtin_return_address(0));          \
    } while (0)
#define BITLOCK_WAITED() ipawl_wait_ends_()
#else
#define BITLOCK_WAITS(word, deadline) ((void)(word))
#define BITLOCK_WAITED() ((void)0)
#endif

/* Sleeps while the bit is set. A woken waiter may find that another thread was faster; the drop of
 * that thread then wakes again, since the waiter has taken its mark back (wait.c). */
#define TAKE_SLOW(N)                                                                               \
    bool PAWL_SYMBOL_(pawl_bitlock##N##_take_slow)(uint##N##_t * word, unsigned bit,               \
                                                   uint64_t deadline)                              \
    {                                                                                              \
        const uint##N##_t mask = (uint##N##_t)((uint##N##_t)1 << bit);                             \
        enum pawl_waited how;                                                                      \
        bool taken;                                                                                \
        PAWL_PROBE2(bitlock_contended, word, bit);                                                 \
        BITLOCK_WAITS(word, deadline);                                                             \
        do {                                                                                       \
            how = wait_for_bit(word, N, mask, deadline);                                           \
            /* [BITLOCK_TAKE] acquire: the holder sees the last holder's accesses. */              \
            taken = how != PAWL_WAIT_EXPIRED &&                                                    \
                    (pawl_fetch_or_acquire##N(word, mask, PAWL_BITLOCK_TAKE) & mask) == 0;         \
        } while (!taken && how != PAWL_WAIT_EXPIRED);                                              \
        BITLOCK_WAITED();                                                                          \
        return taken;                                                                              \
    }
TAKE_SLOW(8)
TAKE_SLOW(16)
TAKE_SLOW(32)
TAKE_SLOW(64)
#undef TAKE_SLOW
