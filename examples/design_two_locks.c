/* SPDX-License-Identifier: MIT */
/*
 * Two locks at once, in order: each account has a lock, and a transfer holds both. A thread that
 * needs several locks takes them by rising address, in any mode, so no circle of waiters can form.
 * The auditor needs all of them and takes them in the same order.
 */
#include <pawl/spin.h>

#include <unistd.h>

#include "example.h"

struct account {
    pawl_spin32 lock;
    long balance;
};

bool transfer(struct account *from, struct account *to, long amount)
{
    /* [quote begin] */
    pawl_take_two_write(&from->lock, &to->lock); /* the lower address first; once if they are one */
    bool enough = from->balance >= amount;
    if (enough) {
        from->balance -= amount;
        to->balance += amount;
    }
    pawl_drop_two_write(&from->lock, &to->lock);
    /* [quote end] */
    return enough;
}

long audit(struct account *accounts, int number)
{
    long sum = 0;

    for (int i = 0; i < number; i++) /* rising indices are rising addresses */
        pawl_take_read(&accounts[i].lock);
    for (int i = 0; i < number; i++)
        sum += accounts[i].balance;
    for (int i = 0; i < number; i++)
        pawl_drop_read(&accounts[i].lock);
    return sum;
}

/* ---- It runs --------------------------------------------------------------------------------- */

enum { ACCOUNTS = 4, START = 100, TURNS = 1000000 / EXAMPLE_LESS, STUCK_SECONDS = 100 };

static struct account accounts[ACCOUNTS];

static void *pay(void *arg)
{
    uint32_t random = (uint32_t)(intptr_t)arg + 1;

    for (int i = 0; i < TURNS; i++) {
        const uint32_t r = example_random(&random) >> 4;
        transfer(&accounts[r % ACCOUNTS], &accounts[r / 16 % ACCOUNTS], (long)(r >> 20) % START);
    }
    return NULL;
}

static void *check(void *arg)
{
    (void)arg;
    for (int i = 0; i < TURNS / 10; i++)
        CHECK(audit(accounts, ACCOUNTS) == ACCOUNTS * START);
    return NULL;
}

int main(void)
{
    static void *(*const work[])(void *) = {pay, pay, pay, check};

    alarm(STUCK_SECONDS); /* a deadlock ends here, by a signal without a handler */
    for (int i = 0; i < ACCOUNTS; i++)
        accounts[i].balance = START;
    run_threads(4, work);
    CHECK(audit(accounts, ACCOUNTS) == ACCOUNTS * START);
    for (int i = 0; i < ACCOUNTS; i++)
        CHECK(accounts[i].balance >= 0 && pawl_spin32_is_free(&accounts[i].lock));
    printf("%d transfers, no deadlock, no money lost\n", 3 * TURNS);
    return 0;
}
