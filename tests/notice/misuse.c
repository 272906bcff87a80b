/* SPDX-License-Identifier: MIT */
/* Requests that cannot be, as the checking variant reports them. */
#include "support/misuse.h"

#include "notice/eventfd.h"

static uint64_t word = 1;
static const struct pawl_watch watch = {&word, 1, UINT64_MAX, 64};

REPORTED_CASE(a_request_that_was_never_made_is_reported, "pawl: used before its init: notice",
              "by pawl_notice_watch")
{
    static pawl_notice n;
    (void)pawl_notice_watch(&n, &watch);
}

REPORTED_CASE(a_second_request_is_reported, "pawl: used while pending: notice",
              "by pawl_notice_watch")
{
    pawl_notice n;
    (void)make_event(NULL);
    must(pawl_notice_init(&n, event) == 0);
    must(pawl_notice_watch(&n, &watch) == PAWL_NOTICE_PENDING);
    (void)pawl_notice_watch(&n, &watch);
}

REPORTED_CASE(an_unsound_watch_is_reported, "pawl: wait at no, too many or unsound addresses",
              "by pawl_notice_watch")
{
    pawl_notice n;
    (void)make_event(NULL);
    must(pawl_notice_init(&n, event) == 0);
    (void)pawl_notice_watch(&n, NULL);
}

TEST_MAIN()
