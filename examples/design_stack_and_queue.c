/* SPDX-License-Identifier: MIT */
/*
 * A stack and a queue that no thread can block. A push is one compare-exchange, and one exchange
 * takes all nodes at once. No thread pops a single node. So no node can be popped, freed and pushed
 * again between a thread's read and its exchange (the ABA problem). The stack needs no counters and
 * no deferred freeing. The nodes of one take, reversed, form a queue: first in, first out for
 * each producer. The price of this simplicity is that the queue has one consumer; several threads
 * may take from the stack.
 *
 * It is not wait-free: a push can fail again and again while others succeed. That rarely matters.
 */
#define _POSIX_C_SOURCE 200809L
#include <pawl/atomic.h>

#include <sched.h>
#include <stdatomic.h>

#include "example.h"

struct node {
    struct node *next;
    int producer, number;
};

/* [quote begin] */
struct stack {
    _Atomic(struct node *) top;
};

static void push(struct stack *s, struct node *n)
{
    n->next = atomic_load_explicit(&s->top, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(&s->top, &n->next, n, memory_order_release,
                                                  memory_order_relaxed))
        continue; /* it failed because another push or take succeeded */
}

static struct node *take_all(struct stack *s) /* the last pushed is the first */
{
    return atomic_exchange_explicit(&s->top, NULL, memory_order_acquire);
}

static struct node *take_all_in_order(struct stack *s) /* the first pushed is the first */
{
    struct node *n = take_all(s), *turned = NULL;

    while (n) {
        struct node *next = n->next;
        n->next = turned;
        turned = n;
        n = next;
    }
    return turned;
}
/* [quote end] */

/* ---- It runs --------------------------------------------------------------------------------- */

enum { PRODUCERS = 3, CONSUMERS = 2, NODES = 300000 / EXAMPLE_LESS };

static struct stack queue, stack;
static atomic_int producing = PRODUCERS;
static atomic_int seen[PRODUCERS][NODES]; /* how often each was taken from the stack */

static struct node *fresh(int producer, int number)
{
    struct node *n = (struct node *)malloc(sizeof *n);

    CHECK(n);
    n->producer = producer;
    n->number = number;
    return n;
}

static void *produce(void *arg)
{
    const int me = (int)(intptr_t)arg;

    for (int i = 0; i < NODES; i++) {
        push(&queue, fresh(me, i));
        push(&stack, fresh(me, i));
    }
    atomic_fetch_sub(&producing, 1);
    return NULL;
}

static void *consume_queue(void *arg)
{
    int expected[PRODUCERS] = {0};
    bool last;

    (void)arg;
    do {
        struct node *n, *next;
        last = atomic_load(&producing) == 0; /* before the take: then nothing comes after it */
        for (n = take_all_in_order(&queue); n; n = next) {
            next = n->next;
            CHECK(n->number == expected[n->producer]);
            expected[n->producer]++;
            free(n);
        }
        sched_yield();
    } while (!last);
    for (int i = 0; i < PRODUCERS; i++)
        CHECK(expected[i] == NODES);
    return NULL;
}

static void *consume_stack(void *arg)
{
    bool last;

    (void)arg;
    do {
        struct node *n, *next;
        last = atomic_load(&producing) == 0;
        for (n = take_all(&stack); n; n = next) {
            next = n->next;
            atomic_fetch_add(&seen[n->producer][n->number], 1);
            free(n);
        }
        sched_yield();
    } while (!last);
    return NULL;
}

int main(void)
{
    static void *(*const all[])(void *) = {produce,       produce,       produce,
                                           consume_queue, consume_stack, consume_stack};

    run_threads(PRODUCERS + 1 + CONSUMERS, all);
    for (int p = 0; p < PRODUCERS; p++)
        for (int i = 0; i < NODES; i++)
            CHECK(atomic_load(&seen[p][i]) == 1);
    printf("%d nodes through the queue in order, as many through the stack, each once\n",
           PRODUCERS * NODES);
    return 0;
}
