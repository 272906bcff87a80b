/* SPDX-License-Identifier: MIT */
/* What the tests of requests share: an eventfd, and looks at it. */
#ifndef PAWL_TESTS_EVENTFD_H
#define PAWL_TESTS_EVENTFD_H

#include "test.h"

#include <pawl/notice.h>

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>

static int event;
static pawl_notice n[2]; /* made anew for each EVENT_CASE */

static inline bool is_readable_within(int milliseconds)
{
    struct pollfd look = {event, POLLIN, 0};
    return poll(&look, 1, milliseconds) == 1;
}

/* Waits until it is readable, and reads it. */
static inline void hear(void)
{
    uint64_t count;
    while (!is_readable_within(-1))
        must(errno == EINTR);
    must(read(event, &count, sizeof count) == sizeof count || errno == EAGAIN);
}

static inline int make_event(void **state)
{
    event = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    return pawl_notice_init(&n[0], event) + pawl_notice_init(&n[1], event);
}

static inline int close_event(void **state)
{
    return close(event);
}

#define EVENT_CASE(name) TEST_CASE_WITH(name, make_event, close_event)

#endif
