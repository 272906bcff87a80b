/* SPDX-License-Identifier: MIT */
/*
 * Mark obsolete objects. A thread finds an account under RCU and then takes the account's own lock.
 * Between the two another thread may close it. The account still exists, because we are in a read
 * section, but a later deposit would be lost. So the closer marks the account, under its lock, and
 * a thread that has locked it looks for the mark.
 *
 * The read section may end as soon as the account is locked and found unmarked: closing it needs
 * the lock, and freeing it comes after closing. The kernel's semaphores search in this way;
 * idtable.h has the general and complete form.
 */
#include <pawl/rcu_call.h>
#include <pawl/rcu_list.h>
#include <pawl/spin.h>

#include <sched.h>
#include <stdatomic.h>

#include "example.h"

struct account {
    pawl_spin32 lock;
    bool closed;  /* under its lock; never becomes false again */
    long balance; /* under its lock */
    long number;
    pawl_hlist_node chain;
    pawl_rcu_head rcu;
};

enum { CHAINS = 16 };

struct bank {
    pawl_spin32 lock; /* between the threads that add to the chains and delete */
    pawl_hlist chains[CHAINS];
};

static pawl_hlist *chain_of(struct bank *b, long number)
{
    return &b->chains[number % CHAINS];
}

/* [quote begin] */
/* The account, locked, which stays until it is unlocked; or NULL. */
struct account *account_lock(struct bank *b, long number)
{
    struct account *a;

    pawl_rcu_read_lock();
    pawl_hlist_for_each_rcu(a, chain_of(b, number), chain)
        if (a->number == number)
            break;
    if (a) {
        pawl_take_write(&a->lock); /* another thread may close it before we have the lock */
        if (a->closed) {
            pawl_drop_write(&a->lock);
            a = NULL;
        }
    }
    pawl_rcu_read_unlock();
    return a;
}

/* Closes it and returns its balance; -1: there is no such account. */
long account_close(struct bank *b, long number)
{
    struct account *a = account_lock(b, number);
    long balance;

    if (!a)
        return -1;
    a->closed = true;
    balance = a->balance;
    pawl_drop_write(&a->lock);

    pawl_take_write(&b->lock);
    pawl_hlist_del_rcu(&a->chain); /* only the thread that set the mark comes here */
    pawl_drop_write(&b->lock);
    pawl_rcu_defer_free(a, rcu);
    return balance;
}
/* [quote end] */

bool account_deposit(struct bank *b, long number, long amount)
{
    struct account *a = account_lock(b, number);

    if (!a)
        return false;
    a->balance += amount;
    pawl_drop_write(&a->lock);
    return true;
}

/* The number must be new: this example leaves out the search for another one. */
void account_open(struct bank *b, long number)
{
    struct account *a = (struct account *)calloc(1, sizeof *a);

    CHECK(a);
    a->number = number;
    pawl_take_write(&b->lock);
    pawl_hlist_add_rcu(&a->chain, chain_of(b, number));
    pawl_drop_write(&b->lock);
}

/* ---- It runs --------------------------------------------------------------------------------- */

enum { OPEN = 8, ROUNDS = 60000 / EXAMPLE_LESS, CLOSERS = 1 };

static struct bank bank;
static atomic_long deposited, paid_out, first_open, deposits, refusals;
static atomic_int closing = CLOSERS;
static int times;

/* Closes the oldest account and opens a new one, again and again; no other thread does either. */
static void *close_and_open(void *arg)
{
    (void)arg;
    for (long i = 0; i < (long)ROUNDS * times; i++) {
        const long balance = account_close(&bank, i);
        CHECK(balance >= 0 && account_close(&bank, i) == -1);
        atomic_fetch_add(&paid_out, balance);
        account_open(&bank, i + OPEN);
        atomic_store(&first_open, i + 1);
        while (atomic_load(&deposits) < i)
            sched_yield(); /* so that there are deposits in between */
    }
    atomic_fetch_sub(&closing, 1);
    return NULL;
}

/* Deposits also to accounts that are just being closed. */
static void *deposit(void *arg)
{
    uint32_t random = 1 + (uint32_t)(intptr_t)arg;

    while (atomic_load(&closing) > 0) {
        const long number = atomic_load(&first_open) + (long)(example_random(&random) % 3);
        const long amount = (long)(example_random(&random) % 100);
        if (account_deposit(&bank, number, amount)) {
            atomic_fetch_add(&deposited, amount);
            atomic_fetch_add(&deposits, 1);
        } else {
            atomic_fetch_add(&refusals, 1);
        }
    }
    return NULL;
}

int main(int argc, char **argv)
{
    static void *(*const work[])(void *) = {close_and_open, deposit, deposit, deposit};
    long i, rest = 0;

    times = example_times(argc, argv);
    for (i = 0; i < OPEN; i++)
        account_open(&bank, i);
    run_threads(4, work);
    for (i = 0; i < OPEN; i++)
        rest += account_close(&bank, atomic_load(&first_open) + i);
    CHECK(atomic_load(&deposited) == atomic_load(&paid_out) + rest); /* nothing was lost */
    for (i = 0; i < CHAINS; i++)
        CHECK(pawl_hlist_is_empty(&bank.chains[i]));
    pawl_rcu_barrier();
    printf("%ld deposited, all of it paid out again; %ld times the account was gone\n",
           atomic_load(&deposited), atomic_load(&refusals));
    return 0;
}
