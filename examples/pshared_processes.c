/* SPDX-License-Identifier: MIT */
/*
 * A sorted table in memory that processes share: each process searches under S, beside the readers,
 * and upgrades to W only to move entries. Zeroed memory is an unlocked lock and an empty table, so
 * any process that maps it may start. A process that cannot wait for long gives a deadline.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <pawl/pshared.h>

#include "example.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ROOM = 512, PROCESSES = 4, INSERTS = 400 };

struct table {
    pawl_pshared_lock64 lock;
    uint32_t used;
    uint32_t keys[ROOM];
};

static uint32_t place_of(const struct table *t, uint32_t key)
{
    uint32_t i = 0;
    while (i < t->used && t->keys[i] < key)
        i++;
    return i;
}

static bool insert(struct table *t, uint32_t key)
{
    /* [quote begin] */
    pawl_pshared_lock64_take_seek(&t->lock); /* readers go on, other inserters wait asleep */
    uint32_t at = place_of(t, key);
    if ((at < t->used && t->keys[at] == key) || t->used == ROOM) {
        pawl_pshared_lock64_drop_seek(&t->lock);
        return false;
    }
    pawl_pshared_lock64_seek_to_write(&t->lock); /* waits for the readers that are in */
    memmove(&t->keys[at + 1], &t->keys[at], (t->used - at) * sizeof t->keys[0]);
    t->keys[at] = key;
    t->used++;
    pawl_pshared_lock64_drop_write(&t->lock);
    return true;
    /* [quote end] */
}

static uint64_t milliseconds_from_now(uint64_t ms)
{
    struct timespec now;
    CHECK(clock_gettime(CLOCK_MONOTONIC, &now) == 0);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec + ms * 1000000u;
}

/* True when the key was looked up in time. */
static bool find_in_time(struct table *t, uint32_t key, uint64_t ms, bool *there)
{
    if (!pawl_pshared_lock64_take_read_until(&t->lock, milliseconds_from_now(ms)))
        return false; /* the word is as before the call */
    uint32_t at = place_of(t, key);
    *there = at < t->used && t->keys[at] == key;
    pawl_pshared_lock64_drop_read(&t->lock);
    return true;
}

/* ---- It runs --------------------------------------------------------------------------------- */

static void work(struct table *t, uint32_t seed)
{
    bool there;
    for (int i = 0; i < INSERTS; i++) {
        const uint32_t key = example_random(&seed) % ROOM;
        (void)insert(t, key);
        if (find_in_time(t, key, 10000, &there))
            CHECK(there);
    }
}

int main(void)
{
    const int file = memfd_create("table", 0);
    struct table *t;
    int status;

    CHECK(file >= 0 && ftruncate(file, sizeof *t) == 0);
    t = (struct table *)mmap(NULL, sizeof *t, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    CHECK(t != MAP_FAILED);
    for (uint32_t i = 1; i <= PROCESSES; i++)
        if (fork() == 0) {
            work(t, i);
            _exit(0);
        }
    for (uint32_t i = 1; i <= PROCESSES; i++) {
        CHECK(wait(&status) > 0);
        CHECK(status == 0);
    }
    for (uint32_t i = 1; i < t->used; i++)
        CHECK(t->keys[i - 1] < t->keys[i]);
    CHECK(pawl_pshared_lock64_is_free(&t->lock));
    printf("%d processes, %u keys in order\n", PROCESSES, t->used);
    return 0;
}
