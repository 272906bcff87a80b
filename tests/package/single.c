/* SPDX-License-Identifier: MIT */
/* Uses each primitive once, through the one header of the two files; C11 and C++17. */
#include "pawl.h"

static pawl_spin16 spin16;
static pawl_spin64 spin64;
static pawl_lock32 lock32;
static pawl_lock64 lock64;
static pawl_pshared_lock32 shared;
static pawl_robust_lock robust;
static pawl_sift sift;
static pawl_seq seq;
static pawl_seq_latch latch;
static uint32_t bits, waited;
static pawl_cond cond;
static pawl_eventcount event;

static int uses_locks(void)
{
    pawl_take_write(&spin16);
    pawl_drop_write(&spin16);
    pawl_take_seek(&spin64);
    pawl_seek_to_write(&spin64);
    pawl_drop_write(&spin64);
    pawl_take_read(&lock32);
    pawl_drop_read(&lock32);
    pawl_take_atomic(&lock64);
    pawl_drop_atomic(&lock64);
    pawl_take_write(&shared);
    pawl_drop_write(&shared);
    pawl_bitlock32_take(&bits, 5);
    pawl_bitlock32_drop(&bits, 5);
    return bits == 0 && spin64.word == 0 && lock64.word == 0;
}

static int uses_locks_with_a_start(void)
{
    pawl_brlock br;
    const enum pawl_robust made = pawl_robust_lock_init(&robust);
    if (pawl_sift_init(&sift, NULL) != 0 || pawl_brlock_init(&br, PAWL_BRLOCK_LINES) != 0)
        return 0;
    pawl_sift_take_write(&sift);
    pawl_sift_drop_write(&sift);
    pawl_sift_take_read(&sift, PAWL_SIFT_THREAD);
    pawl_sift_drop_read(&sift, PAWL_SIFT_THREAD);
    pawl_sift_destroy(&sift);
    pawl_brlock_take_read(&br);
    pawl_brlock_drop_read(&br);
    pawl_brlock_take_write(&br);
    pawl_brlock_drop_write(&br);
    pawl_brlock_destroy(&br);
    return made == PAWL_ROBUST_OK && pawl_robust_lock_take_seek(&robust) == PAWL_ROBUST_OK &&
           pawl_robust_lock_seek_to_write(&robust) == PAWL_ROBUST_OK &&
           pawl_robust_lock_drop_write(&robust) == PAWL_ROBUST_OK;
}

static void released(pawl_bigref *r, void *arg)
{
    (void)r;
    *(int *)arg += 1;
}

static int uses_counters(void)
{
    int releases = 0;
    pawl_counter counter;
    pawl_counter_exact exact;
    pawl_counter_limit limit;
    pawl_bigref reference;
    pawl_counter_init(&counter);
    pawl_counter_inc(&counter);
    if (pawl_counter_read(&counter) != 1 || pawl_counter_destroy(&counter) != 1)
        return 0;
    pawl_counter_exact_init(&exact, PAWL_EXACT_FOLD);
    pawl_counter_exact_add(&exact, 2);
    if (pawl_counter_exact_read(&exact) != 2 || pawl_counter_exact_destroy(&exact) != 2)
        return 0;
    pawl_counter_limit_init(&limit, 3);
    if (!pawl_counter_limit_try_add(&limit, 3) || pawl_counter_limit_try_add(&limit, 1) ||
        pawl_counter_limit_destroy(&limit) != 3)
        return 0;
    pawl_bigref_init(&reference, released, &releases);
    pawl_bigref_get(&reference);
    pawl_bigref_drop(&reference);
    if (!pawl_bigref_kill(&reference) || releases != 0)
        return 0;
    pawl_bigref_drop(&reference); /* the creator's */
    if (releases != 1)
        return 0;
    pawl_bigref_destroy(&reference);
    return 1;
}

struct account {
    pawl_idtable_entry entry;
    pawl_lock32 lock;
    int freed;
};
PAWL_IDTABLE_TYPE(accounts, struct account, entry, lock);
static struct account account;

static void account_free(pawl_rcu_head *head)
{
    accounts_of_head(head)->freed++;
}

static int uses_rcu(void)
{
    pawl_idtable table = PAWL_IDTABLE_INIT(account_free);
    pawl_id id;
    pawl_rcu_read_lock();
    pawl_rcu_read_unlock();
    pawl_rcu_synchronize();
    if (accounts_insert(&table, &account, &id) != 0)
        return 0;
    struct account *found = accounts_take_write(&table, id);
    if (found != &account)
        return 0;
    accounts_drop_write(found);
    if (!accounts_remove_id(&table, id) || accounts_take_write(&table, id) != NULL)
        return 0;
    pawl_idtable_destroy(&table); /* the callback that frees the object has run */
    return pawl_rcu_barrier() == 0 && account.freed == 1;
}

static int uses_the_rest(void)
{
    pawl_seq_word n;
    pawl_seq_begin_write(&seq);
    pawl_seq_end_write(&seq);
    do
        n = pawl_seq_begin(&seq);
    while (pawl_seq_retry(&seq, n));
    do
        n = pawl_seq_latch_begin(&latch);
    while (pawl_seq_latch_retry(&latch, n));
    pawl_cond_signal(&cond);
    uint32_t key = pawl_eventcount_prepare(&event);
    pawl_eventcount_notify_all(&event);
    pawl_eventcount_commit(&event, key);
    pawl_name_lock(&lock64, "single.lock");
    return pawl_wait32_until(&waited, 1, pawl_now()) == PAWL_WAIT_DIFFERS;
}

int main(void)
{
    return uses_locks() && uses_locks_with_a_start() && uses_counters() && uses_rcu() &&
                   uses_the_rest()
               ? 0
               : 1;
}
