/* SPDX-License-Identifier: MIT */
/*
 * The analogy between a reader-writer lock and RCU: one table twice, with search, insert and delete
 * of both forms side by side. Under RCU readers no longer write shared memory. The lock between
 * writers stays. Deleted elements are freed later, and keep no reader out. The consequences: a
 * search may still find an element during its deletion, and nothing can keep readers away.
 */
#include <pawl/lock.h>
#include <pawl/rcu_call.h>
#include <pawl/rcu_list.h>

#include <sched.h>
#include <stdatomic.h>

#include "example.h"

struct element {
    long key, data;
    pawl_list link;
    pawl_rcu_head rcu;
};

struct table {
    pawl_lock64 lock;
    pawl_list list;
};

/* [quote begin] */
bool search_locked(struct table *t, long key, long *result)
{
    const struct element *p;

    pawl_take_read(&t->lock);
    pawl_list_for_each(p, &t->list, link)
        if (p->key == key) {
            *result = p->data;
            pawl_drop_read(&t->lock);
            return true;
        }
    pawl_drop_read(&t->lock);
    return false;
}

bool search_rcu(struct table *t, long key, long *result)
{
    const struct element *p;

    pawl_rcu_read_lock();
    pawl_list_for_each_rcu(p, &t->list, link)
        if (p->key == key) {
            *result = p->data;
            pawl_rcu_read_unlock();
            return true;
        }
    pawl_rcu_read_unlock();
    return false;
}

bool delete_locked(struct table *t, long key)
{
    struct element *p;

    pawl_take_write(&t->lock);
    pawl_list_for_each(p, &t->list, link)
        if (p->key == key) {
            pawl_list_del_rcu(&p->link);
            pawl_drop_write(&t->lock);
            free(p);
            return true;
        }
    pawl_drop_write(&t->lock);
    return false;
}

bool delete_rcu(struct table *t, long key)
{
    struct element *p;

    pawl_take_write(&t->lock); /* keeps other writers out, and no reader */
    pawl_list_for_each(p, &t->list, link)
        if (p->key == key) {
            pawl_list_del_rcu(&p->link);
            pawl_drop_write(&t->lock);
            pawl_rcu_defer_free(p, rcu);
            return true;
        }
    pawl_drop_write(&t->lock);
    return false;
}

void insert_locked(struct table *t, struct element *p)
{
    pawl_take_write(&t->lock);
    pawl_list_add_rcu(&p->link, &t->list);
    pawl_drop_write(&t->lock);
}

void insert_rcu(struct table *t, struct element *p)
{
    pawl_take_write(&t->lock);
    pawl_list_add_rcu(&p->link, &t->list);
    pawl_drop_write(&t->lock);
}
/* [quote end] */

/* ---- It runs --------------------------------------------------------------------------------- */

enum { KEYS = 32, ROUNDS = 100000 / EXAMPLE_LESS, WRITERS = 2 };

static struct table locked = {PAWL_LOCK64_INIT, PAWL_LIST_INIT(locked.list)};
static struct table rcu = {PAWL_LOCK64_INIT, PAWL_LIST_INIT(rcu.list)};
static atomic_int writing = WRITERS;
static atomic_long searches;
static int times;

static struct element *new_element(long key)
{
    struct element *p = (struct element *)malloc(sizeof *p);

    CHECK(p);
    p->key = key;
    p->data = key * key;
    return p;
}

/* Does the same to both tables, with keys that no other writer has. */
static void *change(void *arg)
{
    const int me = (int)(intptr_t)arg;
    uint32_t random = (uint32_t)me + 1;
    bool in[KEYS] = {false};

    for (int i = 0; i < ROUNDS * times; i++) {
        const int k = (int)(example_random(&random) % (KEYS / WRITERS));
        const long key = (long)k * WRITERS + me;
        if (in[k]) {
            CHECK(delete_locked(&locked, key) && delete_rcu(&rcu, key));
        } else {
            CHECK(!delete_locked(&locked, key) && !delete_rcu(&rcu, key));
            insert_locked(&locked, new_element(key));
            insert_rcu(&rcu, new_element(key));
        }
        in[k] = !in[k];
        while (atomic_load(&searches) < i)
            sched_yield(); /* so that there are searches in between */
    }
    atomic_fetch_sub(&writing, 1);
    return NULL;
}

static void *look(void *arg)
{
    uint32_t random = 100 + (uint32_t)(intptr_t)arg;

    while (atomic_load(&writing) > 0) {
        const long key = (long)(example_random(&random) % KEYS);
        long data;
        if (search_locked(&locked, key, &data))
            CHECK(data == key * key);
        if (search_rcu(&rcu, key, &data))
            CHECK(data == key * key);
        atomic_fetch_add_explicit(&searches, 1, memory_order_relaxed);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    static void *(*const work[])(void *) = {change, change, look, look};

    times = example_times(argc, argv);
    run_threads(4, work);
    for (long key = 0; key < KEYS; key++) {
        long of_locked = 0, of_rcu = 0;
        CHECK(search_locked(&locked, key, &of_locked) == search_rcu(&rcu, key, &of_rcu));
        CHECK(of_locked == of_rcu);
        CHECK(delete_locked(&locked, key) == delete_rcu(&rcu, key));
    }
    CHECK(pawl_list_is_empty(&locked.list) && pawl_list_is_empty(&rcu.list));
    pawl_rcu_barrier(); /* all is freed now */
    printf("%d changes to both tables, and both answered alike\n", WRITERS * ROUNDS * times);
    return 0;
}
