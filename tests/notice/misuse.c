/* SPDX-License-Identifier: MIT */
/* Requests that cannot be, as the checking variant reports them. */
#include "support/misuse.h"

#include "notice/eventfd.h"

static pawl_lock64 lock;
static uint64_t word = 1;
static const struct pawl_watch watch = {&word, 1, UINT64_MAX, 64};

static void *drop_write(void *unused)
{
    pawl_notice_drop64(&lock, PAWL_STATE_W);
    return unused;
}

REPORTED_CASE(a_request_that_was_never_made_is_reported, "pawl: used before its init: notice",
              "by pawl_notice_watch")
{
    static pawl_notice never;
    (void)pawl_notice_watch(&never, &watch);
}

REPORTED_CASE(a_second_request_is_reported, "pawl: used while pending: notice",
              "by pawl_notice_watch")
{
    must(pawl_notice_watch(n, &watch) == PAWL_NOTICE_PENDING);
    (void)pawl_notice_watch(n, &watch);
}

REPORTED_CASE(an_unsound_watch_is_reported, "pawl: wait at no, too many or unsound addresses",
              "by pawl_notice_watch")
{
    (void)pawl_notice_watch(n, NULL);
}

REPORTED_CASE(a_request_for_no_state_is_reported, "pawl: no lock, or no state of one: notice",
              "by pawl_notice_lock64")
{
    (void)pawl_notice_lock64(n, &lock, PAWL_STATE_U);
}

REPORTED_CASE(a_second_drop_is_reported, "pawl: dropped, but not granted: pawl_lock64",
              "by pawl_notice_drop64")
{
    must(pawl_notice_lock64(n, &lock, PAWL_STATE_S) == PAWL_NOTICE_READY);
    pawl_notice_drop64(&lock, PAWL_STATE_S);
    pawl_notice_drop64(&lock, PAWL_STATE_S);
}

SILENT_CASE(a_grant_that_another_thread_drops_is_no_misuse)
{
    pawl_lock64_take_write(&lock);
    must(pawl_notice_lock64(n, &lock, PAWL_STATE_W) == PAWL_NOTICE_PENDING);
    pawl_lock64_drop_write(&lock);
    hear();
    must(pawl_notice_go_on(n) == PAWL_NOTICE_READY);
    test_elsewhere(drop_write, NULL);
    pawl_lock64_take_write(&lock);
    pawl_lock64_drop_write(&lock);
}

TEST_MAIN(must(make_event(NULL) == 0))
