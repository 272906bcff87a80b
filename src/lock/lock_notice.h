/* SPDX-License-Identifier: MIT */
/* Requests for a lock (lock_notice.c), for notice.c. */
#ifndef PAWL_LOCK_NOTICE_H
#define PAWL_LOCK_NOTICE_H

#include "lock_parts.h"

/* A request for the lock: the operation without a sleep. True: granted. False: it is in the queue,
 * and is to go on when its descriptor is readable. */
PAWL_INTERNAL bool lock_notice_begin(struct notice *n, struct word word,
                                     bool (*operation)(struct claimant *c));
PAWL_INTERNAL bool lock_notice_go_on(struct notice *n);
/* Takes back what the request keeps. */
PAWL_INTERNAL void lock_notice_cancel(struct notice *n);

#endif
