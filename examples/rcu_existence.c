/* SPDX-License-Identifier: MIT */
/*
 * Existence locks. Each host has a lock and counters of its own. A thread finds it without a global
 * lock and without a reference count: the read section keeps it in existence until the thread has
 * locked it and counted. A remover unlinks the host and waits for a grace period. Then it reads the
 * final counters without any lock: every thread that had found the host has left.
 *
 * To count on a host that has just been unlinked does no harm here, since the count comes before
 * the end. Where that would be wrong, mark obsolete objects: examples/rcu_deleted_flag.c.
 */
#include <pawl/rcu_list.h>
#include <pawl/spin.h>

#include <sched.h>
#include <stdatomic.h>

#include "example.h"

struct host {
    pawl_list link;
    long address;
    pawl_spin32 lock; /* data locking: one for each host */
    unsigned long packets, bytes;
};

struct hosts {
    pawl_spin32 lock; /* between the threads that add and remove */
    pawl_list list;
};

/* [quote begin] */
bool host_count(struct hosts *t, long address, unsigned long bytes)
{
    struct host *h;

    pawl_rcu_read_lock(); /* the host that we find exists until we leave */
    pawl_list_for_each_rcu(h, &t->list, link)
        if (h->address == address) {
            pawl_take_write(&h->lock);
            h->packets++;
            h->bytes += bytes;
            pawl_drop_write(&h->lock);
            break;
        }
    pawl_rcu_read_unlock();
    return h != NULL;
}

/* Returns the host with its final counters; its memory is the caller's again. */
struct host *host_remove(struct hosts *t, long address)
{
    struct host *h;

    pawl_take_write(&t->lock);
    pawl_list_for_each(h, &t->list, link)
        if (h->address == address) {
            pawl_list_del_rcu(&h->link);
            break;
        }
    pawl_drop_write(&t->lock);
    if (h)
        pawl_rcu_synchronize(); /* no thread holds its lock or will ask for it */
    return h;
}
/* [quote end] */

void host_add(struct hosts *t, long address)
{
    struct host *h = (struct host *)calloc(1, sizeof *h);

    CHECK(h);
    h->address = address;
    pawl_take_write(&t->lock);
    pawl_list_add_rcu(&h->link, &t->list);
    pawl_drop_write(&t->lock);
}

/* ---- It runs --------------------------------------------------------------------------------- */

enum { HOSTS = 6, ROUNDS = 6000 / EXAMPLE_LESS, COUNTERS = 3 };

static struct hosts hosts = {PAWL_SPIN32_INIT, PAWL_LIST_INIT(hosts.list)};
static atomic_ulong counted_packets, counted_bytes, tries;
static unsigned long removed_packets, removed_bytes;
static atomic_bool over;
static int times;

static void take_away(long address)
{
    struct host *h = host_remove(&hosts, address);

    CHECK(h && !host_remove(&hosts, address));
    removed_packets += h->packets; /* plain reads: no other thread uses it */
    removed_bytes += h->bytes;
    free(h);
}

static void *remove_and_add(void *arg)
{
    uint32_t random = 1 + (uint32_t)(intptr_t)arg;

    for (unsigned long i = 0; i < (unsigned long)ROUNDS * (unsigned long)times; i++) {
        const long address = (long)(example_random(&random) % HOSTS);
        take_away(address);
        host_add(&hosts, address);
        while (atomic_load(&tries) < i)
            sched_yield(); /* so that there are packets in between */
    }
    atomic_store(&over, true);
    return NULL;
}

static void *count(void *arg)
{
    uint32_t random = 100 + (uint32_t)(intptr_t)arg;
    unsigned long packets = 0, bytes = 0;

    while (!atomic_load(&over)) {
        const unsigned long size = example_random(&random) % 1500;
        if (host_count(&hosts, (long)(example_random(&random) % HOSTS), size)) {
            packets++;
            bytes += size;
        }
        CHECK(!host_count(&hosts, HOSTS, size));
        atomic_fetch_add_explicit(&tries, 1, memory_order_relaxed);
    }
    atomic_fetch_add(&counted_packets, packets);
    atomic_fetch_add(&counted_bytes, bytes);
    return NULL;
}

int main(int argc, char **argv)
{
    static void *(*const work[])(void *) = {remove_and_add, count, count, count};

    times = example_times(argc, argv);
    for (long i = 0; i < HOSTS; i++)
        host_add(&hosts, i);
    run_threads(1 + COUNTERS, work);
    for (long i = 0; i < HOSTS; i++)
        take_away(i);
    CHECK(pawl_list_is_empty(&hosts.list));
    CHECK(removed_packets == atomic_load(&counted_packets));
    CHECK(removed_bytes == atomic_load(&counted_bytes));
    printf("%lu packets counted on hosts that came and went, none lost\n", removed_packets);
    return 0;
}
