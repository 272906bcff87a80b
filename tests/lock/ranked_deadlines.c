/* SPDX-License-Identifier: MIT */
/* Waits with a rank, which the preload library uses, end at their deadlines. */
#include "test.h"

#include <pawl/lock.h>

#include "support/unused.h"

#define TAKE_WRITE PAWL_SYMBOL_(pawl_lock64_take_write_ranked)
#define TAKE_READ PAWL_SYMBOL_(pawl_lock64_take_read_counted_ranked)

static pawl_lock64 lock;

TEST_CASE(a_wait_with_a_rank_ends_at_its_deadline)
{
    pawl_lock64_take_write(&lock);
    assert_false(TAKE_WRITE(&lock, pawl_now() + 1000000, 9));
    assert_false(TAKE_READ(&lock, pawl_now() + 1000000, 9));
    pawl_lock64_drop_write(&lock);
    assert_true(LOCK_IS_UNUSED(lock));
    assert_true(TAKE_WRITE(&lock, 0, 9));
    pawl_lock64_drop_write(&lock);
}

TEST_MAIN()
