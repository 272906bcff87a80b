/* SPDX-License-Identifier: MIT */
/*
 * Stall updates. Most readers of a ledger want one balance, which may be a moment old: they read
 * under RCU. An audit wants all balances of one instant. RCU cannot give them, because it keeps no
 * writer away. So audits stall the updates: they take the writers' lock, for reading. Audits run
 * beside each other and beside all other readers. Only transfers wait, so they alone pay for the
 * need of few readers.
 *
 * (The source names this template and gives no code for it; this is our reading of it.)
 */
#include <pawl/lock.h>
#include <pawl/rcu_call.h>
#include <pawl/rcu_list.h>

#include <sched.h>
#include <stdatomic.h>

#include "example.h"

struct account {
    long number;
    atomic_long balance; /* changed under the lock for writing */
    pawl_list link;
    pawl_rcu_head rcu;
};

struct ledger {
    pawl_lock64 updates;
    pawl_list accounts;
};

static struct account *find_held(struct ledger *l, long number)
{
    struct account *a;

    pawl_list_for_each(a, &l->accounts, link)
        if (a->number == number)
            break;
    return a;
}

static long balance_of(const struct account *a)
{
    return atomic_load_explicit(&a->balance, memory_order_relaxed);
}

static void add_to(struct account *a, long amount)
{
    atomic_store_explicit(&a->balance, balance_of(a) + amount, memory_order_relaxed);
}

/* [quote begin] */
/* Beside all others. Two calls may find the same money on two accounts, or on none. */
bool ledger_balance(struct ledger *l, long number, long *balance)
{
    struct account *a;

    pawl_rcu_read_lock();
    pawl_list_for_each_rcu(a, &l->accounts, link)
        if (a->number == number) {
            *balance = balance_of(a);
            break;
        }
    pawl_rcu_read_unlock();
    return a != NULL;
}

/* Beside all other readers; no update is under way, and none begins. */
long ledger_audit(struct ledger *l)
{
    const struct account *a;
    long sum = 0;

    pawl_take_read(&l->updates);
    pawl_list_for_each(a, &l->accounts, link)
        sum += balance_of(a);
    pawl_drop_read(&l->updates);
    return sum;
}

bool ledger_transfer(struct ledger *l, long from, long to, long amount)
{
    struct account *payer, *payee;

    pawl_take_write(&l->updates); /* waits for audits, and for no other reader */
    payer = find_held(l, from);
    payee = find_held(l, to);
    if (payer && payee) {
        add_to(payer, -amount);
        add_to(payee, amount);
    }
    pawl_drop_write(&l->updates);
    return payer && payee;
}
/* [quote end] */

/* The successor takes over number `fresh` and the balance of the old account. */
static bool ledger_succeed(struct ledger *l, long old, long fresh)
{
    struct account *a, *b = (struct account *)calloc(1, sizeof *b);

    CHECK(b);
    b->number = fresh;
    pawl_take_write(&l->updates);
    a = find_held(l, old);
    if (a) {
        atomic_init(&b->balance, balance_of(a));
        pawl_list_add_tail_rcu(&b->link, &l->accounts);
        pawl_list_del_rcu(&a->link);
    }
    pawl_drop_write(&l->updates);
    if (a)
        pawl_rcu_defer_free(a, rcu);
    else
        free(b);
    return a != NULL;
}

/* ---- It runs --------------------------------------------------------------------------------- */

enum { ACCOUNTS = 12, EACH = 1000, ROUNDS = 60000 / EXAMPLE_LESS, CLERKS = 2 };

static struct ledger ledger = {PAWL_LOCK64_INIT, PAWL_LIST_INIT(ledger.accounts)};
static atomic_long oldest; /* accounts oldest ... oldest + ACCOUNTS - 1 exist, or are about to */
static atomic_long audits;
static atomic_int working = CLERKS;
static int times;

static void *transfer(void *arg)
{
    const int me = (int)(intptr_t)arg;
    uint32_t random = (uint32_t)me + 1;

    for (int i = 0; i < ROUNDS * times; i++) {
        const long at = atomic_load(&oldest);
        ledger_transfer(&ledger, at + (long)(example_random(&random) % ACCOUNTS),
                        at + (long)(example_random(&random) % ACCOUNTS),
                        (long)(example_random(&random) % 100));
        while (atomic_load(&audits) < i / 64)
            sched_yield(); /* so that there is an audit for every 64 transfers */
        if (me == 0 && i % 8 == 0) {
            CHECK(ledger_succeed(&ledger, at, at + ACCOUNTS));
            CHECK(!ledger_succeed(&ledger, at, at + ACCOUNTS));
            atomic_store(&oldest, at + 1);
        }
    }
    atomic_fetch_sub(&working, 1);
    return NULL;
}

static void *audit(void *arg)
{
    (void)arg;
    while (atomic_load(&working) > 0) {
        CHECK(ledger_audit(&ledger) == (long)ACCOUNTS * EACH);
        atomic_fetch_add(&audits, 1);
    }
    return NULL;
}

static void *look(void *arg)
{
    uint32_t random = 100 + (uint32_t)(intptr_t)arg;

    while (atomic_load(&working) > 0) {
        const long at = atomic_load(&oldest), number = at + (long)(example_random(&random) % 4);
        long balance;
        if (!ledger_balance(&ledger, number, &balance))
            CHECK(atomic_load(&oldest) >= number); /* it was closed since */
        CHECK(!ledger_balance(&ledger, -1, &balance));
    }
    return NULL;
}

int main(int argc, char **argv)
{
    static void *(*const work[])(void *) = {transfer, transfer, audit, audit, look};
    struct account *a;
    long sum = 0;

    times = example_times(argc, argv);
    for (sum = 0; sum < ACCOUNTS; sum++) {
        a = (struct account *)calloc(1, sizeof *a);
        CHECK(a);
        a->number = sum;
        atomic_init(&a->balance, EACH);
        pawl_list_add_tail_rcu(&a->link, &ledger.accounts);
    }
    run_threads(5, work);
    for (sum = 0; (a = pawl_list_first(struct account, &ledger.accounts, link)) != NULL; free(a)) {
        sum += balance_of(a);
        pawl_list_del_rcu(&a->link);
    }
    CHECK(sum == (long)ACCOUNTS * EACH);
    pawl_rcu_barrier();
    printf("%ld audits, and each found all the money\n", atomic_load(&audits));
    return 0;
}
