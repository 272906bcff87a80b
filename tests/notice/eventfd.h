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

static inline bool is_readable(int descriptor)
{
    struct pollfd look = {descriptor, POLLIN, 0};
    return poll(&look, 1, 0) == 1;
}

/* Waits until it is readable, and reads it. */
static inline void hear(void)
{
    struct pollfd look = {event, POLLIN, 0};
    uint64_t count;
    while (poll(&look, 1, -1) != 1)
        must(errno == EINTR);
    must(read(event, &count, sizeof count) == sizeof count || errno == EAGAIN);
}

static inline int make_event(void **state)
{
    (void)state;
    event = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    return event == -1;
}

static inline int close_event(void **state)
{
    (void)state;
    return close(event);
}

#define EVENT_CASE(name) TEST_CASE_WITH(name, make_event, close_event)

#endif
