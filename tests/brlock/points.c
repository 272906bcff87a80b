/* SPDX-License-Identifier: MIT */
/*
 * Big-reader locks with a second thread that acts at each single point of an operation: whatever
 * that point is, nobody is in beside whom it excludes, and nobody sleeps whom nobody would wake.
 *
 * One real thread plays both. The first runs the operation under test; at its access number `when`
 * (and at last when it wants to sleep) the second one's act is carried out whole.
 */
#include "test.h"

#include <pawl/brlock.h>
#include <pawl/detail/hook.h>
#include <pawl/thread.h>

#include "base/base.h"

static struct pawl_thread_line *slots[2];
static unsigned self; /* who is running: 0 or 1 */
static pawl_brlock lock;

static unsigned accesses, when, sleeps;
static bool acted;
static void (*act)(void);
static const uint32_t *woken; /* the address of the last wake */

static struct pawl_operation record[64];
static unsigned recorded;

static void let_the_other_act(void)
{
    if (acted || self != 0)
        return;
    acted = true;
    self = 1;
    act();
    self = 0;
}

uint64_t pawl_hook_atomic(const struct pawl_operation *o)
{
    uint64_t found = 0, made;
    if (self == 0 && accesses++ == when)
        let_the_other_act();
    if (recorded < 64)
        record[recorded++] = *o;
    if (o->kind == PAWL_HOOK_FENCE)
        return 0;
    must(o->width == 4 || o->width == 8);
    memcpy(&found, o->address, o->width);
    switch (o->kind) {
    case PAWL_HOOK_STORE:
    case PAWL_HOOK_EXCHANGE: made = o->operand; break;
    case PAWL_HOOK_ADD: made = found + o->operand; break;
    case PAWL_HOOK_SUB: made = found - o->operand; break;
    case PAWL_HOOK_COMPARE_EXCHANGE: made = found == o->expected ? o->operand : found; break;
    default: made = found; break;
    }
    memcpy(o->address, &made, o->width);
    return found;
}

/* clang-format off */
void pawl_hook_relax(void) {}
void pawl_hook_yield(void) {}
uint64_t pawl_hook_now(void) { return 1; }
uint32_t pawl_hook_thread_id(void) { return self + 1; }
struct pawl_thread_line **pawl_hook_thread_slot(void) { return &slots[self]; }
/* clang-format on */

unsigned pawl_hook_wake(const uint32_t *address, unsigned count)
{
    woken = address;
    return 0;
}

bool pawl_hook_wait(const uint32_t *address, uint32_t expected, uint64_t deadline)
{
    must(self == 0); /* what the other one does never waits */
    if (*address != expected)
        return true;
    sleeps++;
    woken = NULL;
    let_the_other_act(); /* while we sleep */
    if (woken == address)
        return true;
    must(deadline != UINT64_MAX); /* else it sleeps for ever */
    return false;
}

/* Begins with a new lock, in which the second thread holds what `before` takes. */
static void begin(unsigned point, void (*before)(pawl_brlock *), void (*the_act)(void))
{
    must(pawl_brlock_init(&lock, 4) == 0);
    acted = true;
    self = 1;
    if (before != NULL)
        before(&lock);
    self = 0;
    (void)ipawl_thread_line_(); /* registered, so that points are the lock's */
    acted = false;
    act = the_act;
    when = point;
    accesses = 0;
}

/* The operation under test is over: from here on the second thread does nothing more. True when it
 * has come to its point; when not, all points have been. */
static bool over(void)
{
    const bool reached = acted;
    acted = true;
    return reached;
}

static void end(void)
{
    must(pawl_brlock_try_write(&lock));
    pawl_brlock_drop_write(&lock);
    pawl_brlock_destroy(&lock);
}

/* clang-format off */
static void drop_read(void) { pawl_brlock_drop_read(&lock); }
static void drop_seek(void) { pawl_brlock_drop_seek(&lock); }
static void drop_write(void) { pawl_brlock_drop_write(&lock); }
/* clang-format on */

TEST_CASE(a_writer_that_waits_for_a_reader_is_woken_wherever_the_reader_leaves)
{
    unsigned point = 0;
    bool reached;
    sleeps = 0;
    do {
        begin(point++, pawl_brlock_take_read, drop_read);
        pawl_brlock_take_write(&lock);
        reached = accesses > when;
        assert_true(over());
        pawl_brlock_drop_write(&lock);
        end();
    } while (reached);
    assert_true(point > 15);
    assert_true(sleeps > 0);
}

TEST_CASE(a_reader_that_waits_for_a_writer_is_woken_wherever_the_writer_leaves)
{
    unsigned point = 0;
    bool reached;
    sleeps = 0;
    do {
        begin(point++, pawl_brlock_take_write, drop_write);
        pawl_brlock_take_read(&lock);
        reached = accesses > when;
        assert_true(over());
        pawl_brlock_drop_read(&lock);
        end();
    } while (reached);
    assert_true(point > 5);
    assert_true(sleeps > 0);
}

TEST_CASE(a_seeker_that_waits_for_another_is_woken_wherever_that_one_leaves)
{
    unsigned point = 0;
    bool reached;
    sleeps = 0;
    do {
        begin(point++, pawl_brlock_take_seek, drop_seek);
        pawl_brlock_take_seek(&lock);
        reached = accesses > when;
        assert_true(over());
        pawl_brlock_drop_seek(&lock);
        end();
    } while (reached);
    assert_true(sleeps > 0);
}

static bool reads;

static void try_read_and_stay(void)
{
    reads = pawl_brlock_try_read(&lock);
}

TEST_CASE(a_reader_that_comes_at_any_point_of_a_try_write_excludes_it_or_fails)
{
    unsigned point = 0, both[2] = {0, 0};
    bool reached;
    do {
        reads = false;
        begin(point++, NULL, try_read_and_stay);
        bool writes = pawl_brlock_try_write(&lock);
        reached = over();
        assert_false(writes && reads);
        both[0] += writes;
        both[1] += reads;
        if (writes)
            pawl_brlock_drop_write(&lock);
        self = 1;
        if (reads)
            pawl_brlock_drop_read(&lock);
        self = 0;
        end();
    } while (reached);
    assert_true(both[0] > 0 && both[1] > 0);
}

static bool writes_too;

static void try_write_and_stay(void)
{
    writes_too = pawl_brlock_try_write(&lock);
}

TEST_CASE(a_writer_that_comes_at_any_point_of_a_try_read_excludes_it_or_fails)
{
    unsigned point = 0, both[2] = {0, 0};
    bool reached;
    do {
        writes_too = false;
        begin(point++, NULL, try_write_and_stay);
        bool got = pawl_brlock_try_read(&lock);
        reached = over();
        assert_false(got && writes_too);
        both[0] += got;
        both[1] += writes_too;
        if (got)
            pawl_brlock_drop_read(&lock);
        self = 1;
        if (writes_too)
            pawl_brlock_drop_write(&lock);
        self = 0;
        end();
    } while (reached);
    assert_true(both[0] > 0 && both[1] > 0);
}

static void nothing(void)
{
}

TEST_CASE(a_writer_whose_deadline_passes_lets_readers_in_again)
{
    begin(UINT32_MAX, pawl_brlock_take_read, nothing);
    assert_false(pawl_brlock_take_write_until(&lock, 5));
    assert_true(pawl_brlock_try_read(&lock));
    pawl_brlock_drop_read(&lock);
    assert_true(pawl_brlock_try_seek(&lock)); /* and the gate is free */
    pawl_brlock_drop_seek(&lock);
    self = 1;
    pawl_brlock_drop_read(&lock);
    self = 0;
    end();
}

/* ---- Accesses -------------------------------------------------------------------------------- */

struct expected {
    enum pawl_kind kind;
    enum pawl_order order;
    enum pawl_tag tag;
};

static void assert_accesses(const struct expected *expected, unsigned count)
{
    assert_int_equal(recorded, count);
    for (unsigned i = 0; i < count; i++) {
        assert_int_equal(record[i].kind, expected[i].kind);
        assert_int_equal(record[i].order, expected[i].order);
        assert_int_equal(record[i].tag, expected[i].tag);
    }
}

/* In models a light fence is a full one. */
TEST_CASE(a_reader_stores_to_its_own_line_only_and_fences_before_it_looks)
{
    static const struct expected take[] = {
        {PAWL_HOOK_LOAD, PAWL_ORDER_RELAXED, PAWL_TAG_NONE_}, /* closed? */
        {PAWL_HOOK_LOAD, PAWL_ORDER_RELAXED, PAWL_TAG_NONE_}, /* own line */
        {PAWL_HOOK_STORE, PAWL_ORDER_RELAXED, PAWL_TAG_NONE_},
        {PAWL_HOOK_FENCE, PAWL_ORDER_SEQ_CST, PAWL_BRLOCK_R_ENTER},
        {PAWL_HOOK_LOAD, PAWL_ORDER_ACQUIRE, PAWL_BRLOCK_R_TAKE}, /* closed? */
    };
    static const struct expected drop[] = {
        {PAWL_HOOK_LOAD, PAWL_ORDER_RELAXED, PAWL_TAG_NONE_}, /* own line */
        {PAWL_HOOK_STORE, PAWL_ORDER_RELEASE, PAWL_BRLOCK_R_DROP},
        {PAWL_HOOK_FENCE, PAWL_ORDER_SEQ_CST, PAWL_BRLOCK_R_LEFT},
        {PAWL_HOOK_LOAD, PAWL_ORDER_RELAXED, PAWL_TAG_NONE_}, /* does a writer sleep? */
    };
    begin(UINT32_MAX, NULL, nothing);
    recorded = 0;
    pawl_brlock_take_read(&lock);
    assert_accesses(take, 5);
    assert_int_equal((uintptr_t)record[2].address % PAWL_CACHE_LINE, 0);
    recorded = 0;
    pawl_brlock_drop_read(&lock);
    assert_accesses(drop, 4);
    /* I5: behind the store, nothing of the lock. */
    assert_true((char *)record[3].address >= (char *)drains_here() &&
                (char *)record[3].address < (char *)(drains_here() + 1));
    end();
}

TEST_MAIN()
