/* SPDX-License-Identifier: MIT */
/*
 * A hash table of counters with a lock in every chain, without memory for the locks. Nodes are
 * aligned, so the lowest bit of a chain's first pointer is always zero. It is the chain's lock.
 */
#include <pawl/bitlock.h>

#include "example.h"

struct node {
    struct node *next;
    uint32_t key;
    unsigned long count;
};

enum { CHAINS = 16, LOCK = 0 /* the bit */ };

/* A pointer as an integer; the bit lock is as wide. */
#if UINTPTR_MAX > UINT32_MAX
typedef uint64_t chain;
#define chain_lock(c) pawl_bitlock64_take(c, LOCK)
#define chain_unlock(c) pawl_bitlock64_drop(c, LOCK)
#else
typedef uint32_t chain;
#define chain_lock(c) pawl_bitlock32_take(c, LOCK)
#define chain_unlock(c) pawl_bitlock32_drop(c, LOCK)
#endif

static chain table[CHAINS];

void count_key(uint32_t key)
{
    /* [quote begin] */
    chain *c = &table[key % CHAINS];

    chain_lock(c); /* sets bit 0 of the pointer; waiters sleep */
    struct node *n = (struct node *)(uintptr_t)(__atomic_load_n(c, __ATOMIC_RELAXED) & ~(chain)1);
    while (n && n->key != key)
        n = n->next;
    if (!n) {
        n = (struct node *)malloc(sizeof *n);
        CHECK(n);
        n->key = key;
        n->count = 0;
        n->next = (struct node *)(uintptr_t)(__atomic_load_n(c, __ATOMIC_RELAXED) & ~(chain)1);
        /* The bit stays set, and others only try to set it: so an addition suffices. */
        __atomic_fetch_add(c, (chain)(uintptr_t)n - (chain)(uintptr_t)n->next, __ATOMIC_RELAXED);
    }
    n->count++;
    chain_unlock(c);
    /* [quote end] */
}

/* ---- It runs --------------------------------------------------------------------------------- */

enum { KEYS = 64, TURNS = 200000 / EXAMPLE_LESS };

static void *work(void *arg)
{
    uint32_t random = (uint32_t)(uintptr_t)arg + 1;
    for (int i = 0; i < TURNS; i++)
        count_key(example_random(&random) % KEYS);
    return NULL;
}

int main(void)
{
    static void *(*const all[])(void *) = {work, work, work};
    unsigned long sum = 0;
    unsigned nodes = 0, i;

    run_threads(3, all);
    for (i = 0; i < CHAINS; i++) {
        struct node *n = (struct node *)(uintptr_t)table[i];
        CHECK((table[i] & 1) == 0); /* no lock is left */
        while (n) {
            struct node *next = n->next;
            sum += n->count;
            nodes++;
            free(n);
            n = next;
        }
    }
    CHECK(nodes == KEYS);
    CHECK(sum == 3ul * TURNS);
    printf("%lu counts of %u keys\n", sum, nodes);
    return 0;
}
