/* SPDX-License-Identifier: MIT */
/*
 * Accounts in shared memory, moved by processes that are killed without warning. A transfer first
 * notes its aim. The next holder that is told of a death finishes the transfer, and marks the data
 * consistent. No money is lost.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <pawl/robust.h>

#include "example.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ACCOUNTS = 8, START = 1000, KILLS = 100 };

struct bank {
    pawl_robust_lock lock;
    volatile int64_t balance[ACCOUNTS]; /* volatile: a repair must find them in the order written */
    volatile struct {
        int32_t pending, from, to;
        int64_t from_after, to_after;
    } note;
};

/* Repeated, it gives the same result: the note holds the balances, not the amount. */
static void finish(struct bank *b)
{
    b->balance[b->note.from] = b->note.from_after;
    b->balance[b->note.to] = b->note.to_after;
    b->note.pending = 0;
}

static void take(struct bank *b)
{
    /* [quote begin] */
    const enum pawl_robust how = pawl_robust_lock_take_write(&b->lock);
    CHECK(pawl_robust_held(how));
    if (how == PAWL_ROBUST_OWNER_DIED) {
        if (b->note.pending)
            finish(b);
        CHECK(pawl_robust_lock_consistent(&b->lock) == PAWL_ROBUST_OK);
    }
    /* [quote end] */
}

static void transfer(struct bank *b, int from, int to, int64_t amount)
{
    take(b);
    b->note.from = from;
    b->note.to = to;
    b->note.from_after = b->balance[from] - amount;
    b->note.to_after = b->balance[to] + amount;
    b->note.pending = 1;
    finish(b);
    CHECK(pawl_robust_lock_drop_write(&b->lock) == PAWL_ROBUST_OK);
}

/* ---- It runs --------------------------------------------------------------------------------- */

static void work(struct bank *b, uint32_t seed)
{
    for (;;) {
        const int from = (int)(example_random(&seed) % ACCOUNTS);
        const int step = (int)(1 + example_random(&seed) % (ACCOUNTS - 1));
        transfer(b, from, (from + step) % ACCOUNTS, (int64_t)(example_random(&seed) % 100));
    }
}

int main(void)
{
    struct bank *b = (struct bank *)mmap(NULL, sizeof *b, PROT_READ | PROT_WRITE,
                                         MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    uint32_t seed = 1;
    int64_t sum = 0;

    CHECK(b != MAP_FAILED);
    CHECK(pawl_robust_lock_init(&b->lock) == PAWL_ROBUST_OK);
    for (int i = 0; i < ACCOUNTS; i++)
        b->balance[i] = START;
    for (int i = 1; i <= KILLS; i++) {
        const pid_t child = fork();
        if (child == 0)
            work(b, (uint32_t)i);
        usleep(example_random(&seed) % 2000);
        CHECK(kill(child, SIGKILL) == 0 && waitpid(child, NULL, 0) == child);
    }
    take(b);
    for (int i = 0; i < ACCOUNTS; i++)
        sum += b->balance[i];
    CHECK(pawl_robust_lock_drop_write(&b->lock) == PAWL_ROBUST_OK);
    CHECK(sum == ACCOUNTS * START);
    printf("%d processes killed, %d accounts still hold %ld\n", KILLS, ACCOUNTS, (long)sum);
    return 0;
}
