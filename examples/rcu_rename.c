/* SPDX-License-Identifier: MIT */
/*
 * Global version number: a sequence lock beside RCU. Names are found by hash chains under RCU,
 * which takes care of removed entries. A rename moves an entry to another chain at once, and takes
 * along the readers on it: they miss the rest of their own chain. So a search that found nothing is
 * repeated if a rename came between. A search that found an entry need not ask.
 *
 * Renames are rare, so nearly every search costs two loads more. No rename waits for a search.
 *
 * A number in each entry does for many what a mark does for one. Entries are valid while they have
 * the directory's number; one store makes all that are there invalid, and a scan may remove them
 * later.
 */
#define _POSIX_C_SOURCE 200809L
#include <pawl/rcu_call.h>
#include <pawl/rcu_list.h>
#include <pawl/seq.h>

#include <stdatomic.h>

#include "example.h"

struct entry {
    atomic_long name; /* changes under the readers' eyes */
    unsigned number;  /* of the directory, when it was added */
    pawl_hlist_node chain;
    pawl_rcu_head rcu;
};

enum { CHAINS = 4 };

struct directory {
    pawl_seq renames; /* its lock is the one between writers */
    atomic_uint number;
    pawl_hlist chains[CHAINS];
};

static pawl_hlist *chain_of(struct directory *d, long name)
{
    return &d->chains[name % CHAINS];
}

/* [quote begin] */
static struct entry *find_once(struct directory *d, long name)
{
    struct entry *e;

    pawl_hlist_for_each_rcu(e, chain_of(d, name), chain)
        if (atomic_load_explicit(&e->name, memory_order_relaxed) == name &&
            e->number == atomic_load_explicit(&d->number, memory_order_relaxed))
            break;
    return e;
}

/* All entries that are in now are invalid at once, however many they are. */
void directory_invalidate(struct directory *d)
{
    pawl_seq_take_write(&d->renames);
    atomic_fetch_add_explicit(&d->number, 1, memory_order_relaxed);
    pawl_seq_drop_write(&d->renames);
}

/* In a read section. */
struct entry *directory_find(struct directory *d, long name)
{
    struct entry *e;
    pawl_seq_word begun;

    do {
        begun = pawl_seq_begin(&d->renames);
        e = find_once(d, name);
    } while (!e && pawl_seq_retry(&d->renames, begun)); /* an entry found is valid */
    return e;
}

bool directory_rename(struct directory *d, long from, long to)
{
    struct entry *e;

    pawl_seq_take_write(&d->renames);
    pawl_hlist_for_each(e, chain_of(d, from), chain)
        if (atomic_load_explicit(&e->name, memory_order_relaxed) == from)
            break;
    if (e) {
        pawl_seq_begin_write(&d->renames);
        pawl_hlist_del_rcu(&e->chain);
        atomic_store_explicit(&e->name, to, memory_order_relaxed);
        pawl_hlist_add_rcu(&e->chain, chain_of(d, to)); /* no grace period: readers move along */
        pawl_seq_end_write(&d->renames);
    }
    pawl_seq_drop_write(&d->renames);
    return e != NULL;
}
/* [quote end] */

void directory_add(struct directory *d, long name)
{
    struct entry *e = (struct entry *)calloc(1, sizeof *e);

    CHECK(e);
    atomic_init(&e->name, name);
    pawl_seq_take_write(&d->renames);
    e->number = atomic_load_explicit(&d->number, memory_order_relaxed);
    pawl_hlist_add_rcu(&e->chain, chain_of(d, name));
    pawl_seq_drop_write(&d->renames);
}

/* Without the version number: a reader on the entry finds its way on. */
bool directory_remove(struct directory *d, long name)
{
    struct entry *e;

    pawl_seq_take_write(&d->renames);
    pawl_hlist_for_each(e, chain_of(d, name), chain)
        if (atomic_load_explicit(&e->name, memory_order_relaxed) == name)
            break;
    if (e)
        pawl_hlist_del_rcu(&e->chain);
    pawl_seq_drop_write(&d->renames);
    if (e)
        pawl_rcu_defer_free(e, rcu);
    return e != NULL;
}

/* ---- It runs --------------------------------------------------------------------------------- */

/* Names below STAY are never renamed; those from OLD are renamed to NEW in even rounds, and back in
 * odd ones; those from PASSING come and go. */
enum { EACH = 16, STAY = 0, OLD = 100, NEW = 201, PASSING = 300 };
enum { ROUNDS = 800 / EXAMPLE_LESS, THREADS = 4 };

static struct directory directory;
static pthread_barrier_t barrier;
static atomic_int renaming;
static int rounds;

static bool there(long name)
{
    pawl_rcu_read_lock();
    bool found = directory_find(&directory, name) != NULL;
    pawl_rcu_read_unlock();
    return found;
}

static void rename_all(long from, long to)
{
    for (long i = 0; i < EACH; i++) {
        CHECK(directory_rename(&directory, from + i, to + i));
        CHECK(!directory_rename(&directory, from + i, to + i));
    }
    atomic_store(&renaming, 0);
}

static void watch(long from, long to, uint32_t *random)
{
    const long i = (long)(example_random(random) % EACH);

    CHECK(there(STAY + i)); /* a search led into another chain must come back for it */
    switch (example_random(random) % 3) {
    case 0:
        if (!there(from + i))
            CHECK(there(to + i));
        break;
    case 1:
        if (there(to + i))
            CHECK(!there(from + i));
        break;
    default: CHECK(!there(PASSING + EACH));
    }
}

static void pass(long i)
{
    directory_add(&directory, PASSING + i);
    CHECK(there(PASSING + i));
    CHECK(directory_remove(&directory, PASSING + i));
    CHECK(!there(PASSING + i));
}

static void *run(void *arg)
{
    const int me = (int)(intptr_t)arg;
    uint32_t random = (uint32_t)me + 1;

    for (int round = 0; round < rounds; round++) {
        const long from = round % 2 ? NEW : OLD, to = round % 2 ? OLD : NEW;

        pthread_barrier_wait(&barrier);
        if (me == 0)
            rename_all(from, to);
        else
            do {
                if (me == 1)
                    pass((long)(example_random(&random) % EACH));
                else
                    watch(from, to, &random);
            } while (atomic_load(&renaming));
        if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD)
            atomic_store(&renaming, 1);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    static void *(*const work[])(void *) = {run, run, run, run};

    rounds = ROUNDS * example_times(argc, argv) / 2 * 2;
    atomic_init(&renaming, 1);
    CHECK(pthread_barrier_init(&barrier, NULL, THREADS) == 0);
    for (long i = 0; i < EACH; i++) {
        directory_add(&directory, STAY + i);
        directory_add(&directory, OLD + i);
    }
    run_threads(THREADS, work);
    directory_invalidate(&directory);
    for (long i = 0; i < EACH; i++) {
        CHECK(!there(STAY + i)); /* before the scan that removes it */
        directory_add(&directory, STAY + i);
        CHECK(there(STAY + i));
        CHECK(directory_remove(&directory, STAY + i));
    }
    for (long i = 0; i < EACH; i++)
        CHECK(directory_remove(&directory, STAY + i) && directory_remove(&directory, OLD + i));
    for (long i = 0; i < CHAINS; i++)
        CHECK(pawl_hlist_is_empty(&directory.chains[i]));
    pthread_barrier_destroy(&barrier);
    pawl_rcu_barrier();
    printf("%d renames, and no search missed what was there\n", rounds * EACH);
    return 0;
}
