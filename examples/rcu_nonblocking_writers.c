/* SPDX-License-Identifier: MIT */
/*
 * RCU readers beside writers that do not block: a hash table without a lock, as K42 has one. Chains
 * are ordered by key. A node is deleted in two steps. First its own link is marked: this is the
 * moment of deletion, and from now on no thread can link a node behind it. Then the next writer
 * that passes takes it out of the chain. Both steps are compare-exchanges, and so is an insertion;
 * one that fails does so because another one succeeded.
 *
 * RCU makes this simple in two ways. A node that a thread looks at is not freed, so the thread may
 * follow links without publishing its position. And the node's address is not used again meanwhile.
 * So a compare-exchange that succeeds has met the node read before, not a new one at the same
 * address. Readers store nothing.
 *
 * The table does not block. Freeing may, when the domain's limit is reached; PAWL_RCU_REFUSE lets
 * the program decide.
 */
#include <pawl/rcu_call.h>

#include <sched.h>
#include <stdatomic.h>

#include "example.h"

struct node {
    struct node *next; /* the lowest bit set: this node is deleted */
    long key;
    long value;
    struct node *gone; /* once it is out of the chain: the list of its remover */
    pawl_rcu_head rcu;
};

enum { CHAINS = 8 };

struct table {
    struct node *chains[CHAINS];
};

static struct node *marked(struct node *n)
{
    return (struct node *)((uintptr_t)n | 1);
}

static struct node *unmarked(struct node *n)
{
    return (struct node *)((uintptr_t)n & ~(uintptr_t)1);
}

static bool is_marked(const struct node *n)
{
    return ((uintptr_t)n & 1) != 0;
}

static struct node **chain_of(struct table *t, long key)
{
    return &t->chains[key % CHAINS];
}

/* Outside the read section: inside one, a full domain would refuse. */
static void free_gone(struct node *n)
{
    while (n) {
        struct node *next = n->gone;
        pawl_rcu_defer_free(n, rcu);
        n = next;
    }
}

/* [quote begin] */
/* Readers: one load a step, past deleted nodes. */
bool table_find(struct table *t, long key, long *value)
{
    struct node *n, *next = NULL;

    pawl_rcu_read_lock();
    for (n = pawl_rcu_dereference(*chain_of(t, key)); n; n = unmarked(next)) {
        next = pawl_rcu_dereference(n->next);
        if (n->key >= key)
            break;
    }
    if (n && (n->key != key || is_marked(next)))
        n = NULL;
    if (n)
        *value = n->value;
    pawl_rcu_read_unlock();
    return n != NULL;
}

/* For writers: the link that leads to the first node with this key or a greater one, which is
 * *found or NULL. Takes deleted nodes out on its way and adds them to `gone`. */
static struct node **find_link(struct table *t, long key, struct node **found, struct node **gone)
{
    struct node **link, *n, *next;

again:
    link = chain_of(t, key);
    for (n = pawl_rcu_dereference(*link); n; n = next) {
        next = pawl_rcu_dereference(n->next);
        if (is_marked(next)) {
            next = unmarked(next);
            if (pawl_rcu_cmpxchg_pointer(link, n, next) != n)
                goto again; /* the link changed, or its own node is deleted too */
            n->gone = *gone;
            *gone = n;
        } else if (n->key < key) {
            link = &n->next;
        } else {
            break;
        }
    }
    *found = n;
    return link;
}

/* False: the key was there. */
bool table_insert(struct table *t, struct node *fresh)
{
    struct node **link, *found, *gone = NULL;
    bool inserted = false, there = false;

    pawl_rcu_read_lock();
    while (!inserted && !there) {
        link = find_link(t, fresh->key, &found, &gone);
        there = found && found->key == fresh->key;
        if (!there) {
            fresh->next = found;
            inserted = pawl_rcu_cmpxchg_pointer(link, found, fresh) == found;
        }
    }
    pawl_rcu_read_unlock();
    free_gone(gone);
    return inserted;
}

/* False: the key was not there, or another thread has just deleted it. */
bool table_delete(struct table *t, long key)
{
    struct node *found, *next, *gone = NULL;
    bool deleted = false;

    pawl_rcu_read_lock();
    for (;;) {
        find_link(t, key, &found, &gone);
        if (!found || found->key != key)
            break;
        next = pawl_rcu_dereference(found->next);
        if (!is_marked(next) &&
            pawl_rcu_cmpxchg_pointer(&found->next, next, marked(next)) == next) {
            deleted = true;
            find_link(t, key, &found, &gone); /* takes it out, unless another thread has */
            break;
        }
    }
    pawl_rcu_read_unlock();
    free_gone(gone);
    return deleted;
}
/* [quote end] */

/* ---- It runs --------------------------------------------------------------------------------- */

enum { KEYS = 48, ROUNDS = 100000 / EXAMPLE_LESS, WRITERS = 3 };

static struct table table;
static atomic_long insertions[KEYS], deletions[KEYS];
static atomic_int writing = WRITERS;
static atomic_long looks;
static int times;

static struct node *new_node(long key)
{
    struct node *n = (struct node *)calloc(1, sizeof *n);

    CHECK(n);
    n->key = key;
    n->value = ~key;
    return n;
}

static void *write_some(void *arg)
{
    uint32_t random = 1 + (uint32_t)(intptr_t)arg;

    for (int i = 0; i < ROUNDS * times; i++) {
        const long key = (long)(example_random(&random) % KEYS);
        if (example_random(&random) % 2) {
            struct node *n = new_node(key);
            if (table_insert(&table, n))
                atomic_fetch_add_explicit(&insertions[key], 1, memory_order_relaxed);
            else
                free(n); /* no thread has seen it */
        } else if (table_delete(&table, key)) {
            atomic_fetch_add_explicit(&deletions[key], 1, memory_order_relaxed);
        }
        while (atomic_load(&looks) < i)
            sched_yield(); /* so that there are lookups in between */
    }
    atomic_fetch_sub(&writing, 1);
    return NULL;
}

static void *look(void *arg)
{
    uint32_t random = 100 + (uint32_t)(intptr_t)arg;

    while (atomic_load(&writing) > 0) {
        const long key = (long)(example_random(&random) % KEYS);
        long value;
        if (table_find(&table, key, &value))
            CHECK(value == ~key);
        CHECK(!table_find(&table, KEYS + key, &value));
        atomic_fetch_add_explicit(&looks, 1, memory_order_relaxed);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    static void *(*const work[])(void *) = {write_some, write_some, write_some, look};
    long key, all = 0;

    times = example_times(argc, argv);
    run_threads(WRITERS + 1, work);
    for (key = 0; key < KEYS; key++) {
        const long in = atomic_load(&insertions[key]) - atomic_load(&deletions[key]);
        long value;
        CHECK(in == 0 || in == 1); /* insertions and deletions of a key took turns */
        CHECK(table_find(&table, key, &value) == (in == 1));
        CHECK(table_delete(&table, key) == (in == 1));
        all += atomic_load(&insertions[key]);
    }
    for (key = 0; key < CHAINS; key++)
        CHECK(!table.chains[key]);
    pawl_rcu_barrier();
    printf("%ld insertions and as many deletions without a lock\n", all);
    return 0;
}
