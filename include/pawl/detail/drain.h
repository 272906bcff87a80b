/* SPDX-License-Identifier: MIT */
/*
 * The part of a drain (src/base/drain.h) that inline functions read: a leaving user of a lock looks
 * here whether a writer sleeps. Internal.
 */
#ifndef PAWL_DETAIL_DRAIN_H
#define PAWL_DETAIL_DRAIN_H

#include <pawl/thread.h>

struct pawl_drain {
    ipawl_address_ whose; /* the lock whose users wake; 0: none */
    uint32_t turn;        /* increases with every wake */
} __attribute__((__aligned__(PAWL_CACHE_LINE)));

#endif
