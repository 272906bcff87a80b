/* SPDX-License-Identifier: MIT */
/* Checks of the checking variant around the operations of sift_read.c and sift_write.c; the
 * other variants check nothing. It uses the lock's own records: the writer, and the number of
 * readers in each context. */
#ifndef PAWL_SIFT_CHECK_H
#define PAWL_SIFT_CHECK_H

#include <pawl/sift.h>

#include "../check/check.h"
#include "sift_parts.h"

#if PAWL_CHECKED

PAWL_STATIC bool sift_is_mine(const pawl_sift *l)
{
    return pawl_load_relaxed32(&l->holder) == check_self();
}

/* Whether the caller is a handler of that context, or has raised itself there. The handlers of
 * its class and of the class below then cannot interrupt it. */
PAWL_STATIC bool sift_stands_at(const pawl_sift *l, enum pawl_sift_context c)
{
    const uint64_t set = l->signals[0] | (c == PAWL_SIFT_INTERRUPT ? l->signals[1] : 0);
    if (c == PAWL_SIFT_REALTIME)
        return pawl_os_priority() != 0;
    return !sift_is_handler(c) || (set & ~pawl_os_block(0)) == 0;
}

/* Init stores these for good; other bytes are no lock. Zero bytes are one. */
PAWL_STATIC void sift_is_lock(const pawl_sift *l, const char *call, const void *site)
{
    const uint32_t modes = PAWL_SIFT_MODE_BLOCK_ | PAWL_SIFT_MODE_RAISE_ | PAWL_SIFT_MODE_LEND_ |
                           PAWL_SIFT_MODE_RANK_ | PAWL_SIFT_MODE_SPIN_;
    if ((l->mode & ~modes) != 0 || l->readers >> PAWL_SIFT_CONTEXTS != 0 ||
        l->writers >= PAWL_SIFT_CONTEXTS || l->ceiling >= PAWL_SIFT_RANKS_)
        ipawl_report_misuse_("never initialised", "pawl_sift", l, call, site);
}

PAWL_STATIC void sift_before_read(const pawl_sift *l, enum pawl_sift_context c, const char *call,
                                  const void *site)
{
    sift_is_lock(l, call, site);
    if ((unsigned)c >= PAWL_SIFT_CONTEXTS || !sift_reads(l, c))
        ipawl_report_misuse_("read in an undeclared context", "pawl_sift", l, call, site);
    if (sift_is_mine(l))
        ipawl_report_misuse_("read by the thread that writes", "pawl_sift", l, call, site);
    if (sift_is_handler(c) && !sift_stands_at(l, c))
        ipawl_report_misuse_("read below the context, whose signals are not all blocked",
                             "pawl_sift", l, call, site);
}

PAWL_STATIC void sift_holds_r(const pawl_sift *l, enum pawl_sift_context c, const char *call,
                              const void *site)
{
    if ((unsigned)c >= PAWL_SIFT_CONTEXTS || (pawl_load_relaxed64(&l->word) & sift_field(c)) == 0)
        ipawl_report_misuse_("R is not held in this context", "pawl_sift", l, call, site);
}

PAWL_STATIC void sift_before_write(const pawl_sift *l, const char *call, const void *site)
{
    sift_is_lock(l, call, site);
    if (sift_is_mine(l))
        ipawl_report_misuse_("taken again by its holder", "pawl_sift", l, call, site);
    if (!sift_stands_at(l, (enum pawl_sift_context)l->writers))
        ipawl_report_misuse_("written below the declared context", "pawl_sift", l, call, site);
}

PAWL_STATIC void sift_holds_w(const pawl_sift *l, const char *call, const void *site)
{
    if (!sift_is_mine(l))
        ipawl_report_misuse_("W is not held by this thread", "pawl_sift", l, call, site);
}

/* The process had the right to raise threads when the lock was made. */
PAWL_STATIC void sift_was_raised(const pawl_sift *l, bool raised, const void *site)
{
    if (!raised && pawl_os_priority() < l->ceiling)
        ipawl_report_misuse_("the writer may not be raised any more", "pawl_sift", l, "a writer",
                             site);
}

#define SIFT_SITE __builtin_return_address(0)
#define SIFT_BEFORE_READ(l, c, call) sift_before_read(l, c, call, SIFT_SITE)
#define SIFT_READS(l, c, call) sift_holds_r(l, c, call, SIFT_SITE)
#define SIFT_BEFORE_WRITE(l, call) sift_before_write(l, call, SIFT_SITE)
#define SIFT_WRITES(l, call) sift_holds_w(l, call, SIFT_SITE)
#define SIFT_RAISED(l, raised) sift_was_raised(l, raised, SIFT_SITE)
/* Around what may wait, but in handlers; the holder is the writer, if it is known. */
#define SIFT_WAITS(l, c, call)                                                                     \
    do {                                                                                           \
        if (!sift_is_handler((enum pawl_sift_context)(c)))                                         \
            ipawl_wait_begins_("pawl_sift", l, call, pawl_load_relaxed32(&(l)->holder),            \
                               SIFT_SITE);                                                         \
    } while (0)
#define SIFT_WAITED() ipawl_wait_ends_()
#define SIFT_HAVE(l) pawl_store_relaxed32(&(l)->holder, check_holder())
#define SIFT_LET_GO(l) pawl_store_relaxed32(&(l)->holder, 0)
#define SIFT_UNUSED(l, call)                                                                       \
    do {                                                                                           \
        if ((pawl_load_relaxed64(&(l)->word) & ~(SIFT_SLOW_FIELD | PAWL_SIFT_WAITED_)) != 0 ||     \
            pawl_load_relaxed32(&(l)->mutex) != 0)                                                 \
            ipawl_report_misuse_("destroyed while in use", "pawl_sift", l, call, SIFT_SITE);       \
    } while (0)

#else

#define SIFT_BEFORE_READ(l, c, call) ((void)(c))
#define SIFT_BEFORE_WRITE(l, call) ((void)(l))
#define SIFT_WRITES(l, call) ((void)(l))
#define SIFT_RAISED(l, raised) ((void)(raised))
#define SIFT_WAITS(l, c, call) ((void)(c))
#define SIFT_WAITED() ((void)0)
#define SIFT_HAVE(l) ((void)(l))
#define SIFT_LET_GO(l) ((void)(l))
#define SIFT_UNUSED(l, call) ((void)(l))

#endif
#endif
