/* SPDX-License-Identifier: MIT */
/*
 * A consumer beside a structure that no lock protects: a stack. Producers push with one
 * compare-exchange, and the consumer takes the whole stack at once. An event count lets the
 * consumer sleep while the stack is empty. While the consumer is awake, a push costs one atomic
 * operation more.
 */
#include <pawl/cond.h>

#include "example.h"

struct item {
    struct item *next;
    int value;
};

static struct item *stack;
static pawl_eventcount pushed;

void push(struct item *i)
{
    i->next = __atomic_load_n(&stack, __ATOMIC_RELAXED);
    while (
        !__atomic_compare_exchange_n(&stack, &i->next, i, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
        continue;
    pawl_eventcount_notify_one(&pushed);
}

struct item *take_all(void)
{
    /* [quote begin] */
    struct item *all = __atomic_exchange_n(&stack, NULL, __ATOMIC_ACQUIRE);
    while (!all) {
        const uint32_t key = pawl_eventcount_prepare(&pushed);
        all = __atomic_exchange_n(&stack, NULL, __ATOMIC_ACQUIRE);
        if (all)
            pawl_eventcount_cancel(&pushed); /* an item came in between */
        else
            pawl_eventcount_commit(&pushed, key); /* sleeps, unless an item comes in between */
        if (!all)
            all = __atomic_exchange_n(&stack, NULL, __ATOMIC_ACQUIRE);
    }
    return all;
    /* [quote end] */
}

/* ---- It runs --------------------------------------------------------------------------------- */

enum { TURNS = 100000 / EXAMPLE_LESS };

static struct item items[2][TURNS];
static long long sum;

static void *produce(void *arg)
{
    const int me = (int)(intptr_t)arg;
    for (int i = 0; i < TURNS; i++) {
        items[me][i].value = i;
        push(&items[me][i]);
    }
    return NULL;
}

static void *consume(void *unused)
{
    int left = 2 * TURNS;
    (void)unused;
    while (left > 0) {
        for (struct item *i = take_all(); i; i = i->next) {
            sum += i->value;
            left--;
        }
    }
    return NULL;
}

int main(void)
{
    static void *(*const all[])(void *) = {produce, produce, consume};
    run_threads(3, all);
    CHECK(sum == (long long)TURNS * (TURNS - 1));
    printf("%d items came, one by one\n", 2 * TURNS);
    return 0;
}
