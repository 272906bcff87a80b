/* SPDX-License-Identifier: MIT */
/* The accesses that RCU makes when nobody is in the way: which, in what order, and where. */
#include "test.h"

#include <pawl/detail/hook.h>
#include <pawl/rcu.h>

#include "rcu/rcu.h"

static struct pawl_thread_line *slot;

static struct pawl_operation record[256];
static unsigned recorded;

uint64_t pawl_hook_atomic(const struct pawl_operation *o)
{
    uint64_t found = 0, made;
    must(recorded < 256);
    record[recorded++] = *o;
    if (o->kind == PAWL_HOOK_FENCE)
        return 0;
    memcpy(&found, o->address, o->width);
    switch (o->kind) {
    case PAWL_HOOK_STORE:
    case PAWL_HOOK_EXCHANGE: made = o->operand; break;
    case PAWL_HOOK_ADD: made = found + o->operand; break;
    case PAWL_HOOK_SUB: made = found - o->operand; break;
    case PAWL_HOOK_AND: made = found & o->operand; break;
    case PAWL_HOOK_OR: made = found | o->operand; break;
    case PAWL_HOOK_COMPARE_EXCHANGE: made = found == o->expected ? o->operand : found; break;
    default: made = found; break;
    }
    memcpy(o->address, &made, o->width);
    return found;
}

/* clang-format off */
void pawl_hook_relax(void) { must(!"nobody is in the way"); }
void pawl_hook_yield(void) { must(!"nobody is in the way"); }
uint64_t pawl_hook_now(void) { return 1; }
uint32_t pawl_hook_thread_id(void) { return 1; }
struct pawl_thread_line **pawl_hook_thread_slot(void) { return &slot; }
/* clang-format on */

unsigned pawl_hook_wake(const uint32_t *address, unsigned count)
{
    (void)address, (void)count;
    must(!"nobody sleeps");
    return 0;
}

bool pawl_hook_wait(const uint32_t *address, uint32_t expected, uint64_t deadline)
{
    (void)address, (void)expected, (void)deadline;
    must(!"nobody is in the way");
    return false;
}

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

static const struct pawl_rcu_line *own_line(void)
{
    return &rcu_here()->lines[thread_number(slot)];
}

/* Every access but fences is to the thread's own line. */
static void assert_own_line_only(void)
{
    for (unsigned i = 0; i < recorded; i++)
        assert_true(record[i].kind == PAWL_HOOK_FENCE ||
                    ((const char *)record[i].address >= (const char *)own_line() &&
                     (const char *)record[i].address < (const char *)(own_line() + 1)));
}

static const struct expected enter[] = {
    {PAWL_HOOK_LOAD, PAWL_ORDER_RELAXED, PAWL_TAG_NONE_},
    {PAWL_HOOK_STORE, PAWL_ORDER_RELEASE, PAWL_RCU_AGAIN}, /* behind the last section's reads */
    {PAWL_HOOK_FENCE, PAWL_ORDER_SEQ_CST, PAWL_RCU_ENTER}, /* in models light fences are full */
};

TEST_CASE(a_reader_stores_to_its_own_line_and_fences_before_it_looks)
{
    static const struct expected leave[] = {
        {PAWL_HOOK_LOAD, PAWL_ORDER_RELAXED, PAWL_TAG_NONE_},
        {PAWL_HOOK_STORE, PAWL_ORDER_RELEASE, PAWL_RCU_LEAVE},
        {PAWL_HOOK_FENCE, PAWL_ORDER_SEQ_CST, PAWL_RCU_LEFT},
        {PAWL_HOOK_LOAD, PAWL_ORDER_RELAXED, PAWL_TAG_NONE_}, /* is it waited for? */
    };
    recorded = 0;
    pawl_rcu_read_lock();
    assert_accesses(enter, 3);
    assert_own_line_only();
    recorded = 0;
    pawl_rcu_read_unlock();
    assert_accesses(leave, 4);
    assert_own_line_only(); /* I5: behind the store nothing of the domain */
}

TEST_CASE(an_inner_section_costs_a_load_and_a_store_on_leaving)
{
    pawl_rcu_read_lock();
    recorded = 0;
    pawl_rcu_read_lock();
    assert_accesses(enter, 3);
    recorded = 0;
    pawl_rcu_read_unlock();
    assert_int_equal(recorded, 2);
    assert_own_line_only();
    pawl_rcu_read_unlock();
}

TEST_CASE(a_quiescent_state_leaves_and_enters_by_one_store)
{
    static const struct expected quiescent[] = {
        {PAWL_HOOK_LOAD, PAWL_ORDER_RELAXED, PAWL_TAG_NONE_},
        {PAWL_HOOK_STORE, PAWL_ORDER_RELEASE, PAWL_RCU_LEAVE},
        {PAWL_HOOK_FENCE, PAWL_ORDER_SEQ_CST, PAWL_RCU_LEFT},
        {PAWL_HOOK_LOAD, PAWL_ORDER_RELAXED, PAWL_TAG_NONE_}, /* is it waited for? */
    };
    pawl_rcu_qs_online();
    recorded = 0;
    pawl_rcu_qs_read_lock();
    pawl_rcu_qs_read_unlock();
    assert_int_equal(recorded, 0);
    pawl_rcu_qs_quiescent();
    assert_accesses(quiescent, 4);
    assert_own_line_only();
    pawl_rcu_qs_offline();
}

static unsigned count_tag(enum pawl_tag tag)
{
    unsigned i, count = 0;
    for (i = 0; i < recorded; i++)
        count += record[i].tag == tag;
    return count;
}

TEST_CASE(a_synchronize_without_readers_has_one_heavy_fence)
{
    recorded = 0;
    pawl_rcu_synchronize();
    assert_int_equal(count_tag(PAWL_RCU_BEGIN), 1);
    assert_int_equal(count_tag(PAWL_RCU_SLEEP), 0);
    assert_int_equal(count_tag(PAWL_RCU_END), 1);
}

TEST_CASE(a_word_is_its_own_and_lines_share_no_cache_line)
{
    assert_int_equal(sizeof(struct pawl_rcu_line) % PAWL_CACHE_LINE, 0);
    assert_int_equal((uintptr_t)own_line() % PAWL_CACHE_LINE, 0);
    assert_true(PAWL_RCU_DOMAINS <= 32); /* bits of `waited` */
}

int main(int argc, char **argv)
{
    pawl_rcu_read_lock(); /* registers the thread */
    pawl_rcu_read_unlock();
    pawl_rcu_qs_online();
    pawl_rcu_qs_offline();
    return test_main(argc, argv);
}
