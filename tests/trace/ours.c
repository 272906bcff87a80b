/* SPDX-License-Identifier: MIT */
/*
 * What tests/tool/test_trace_ours.py records of Pawl's own locks: a word for each thing to be seen.
 * It is built with PAWL_TRACED, and without it over the shared library.
 */
#include <pawl/pawl.h>

#include <pawl/name.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../support/program.h"

static pawl_spin16 spin16;
static pawl_spin32 spin32;
static pawl_spin64 spin64;
static pawl_lock32 lock32;
static pawl_lock64 lock64;
static pawl_pshared_lock32 pshared32;
static pawl_pshared_lock64 pshared64;
static pawl_brlock brlock;
static pawl_sift sift;
static uint32_t ready;

/* Every state, and each transition between two of them. */
#define EVERY_STATE(type, l)                                                                       \
    static NOINLINE void states_of_##l(void)                                                       \
    {                                                                                              \
        type##_take_read(&l);                                                                      \
        must(!type##_try_write(&l));                                                               \
        must(type##_try_read_to_seek(&l));                                                         \
        type##_seek_to_write(&l);                                                                  \
        type##_write_to_seek(&l);                                                                  \
        type##_seek_to_read(&l);                                                                   \
        must(type##_try_read_to_write(&l));                                                        \
        type##_write_to_read(&l);                                                                  \
        type##_drop_read(&l);                                                                      \
        must(type##_claim_atomic(&l));                                                             \
        must(type##_atomic_to_read(&l) == PAWL_REGAIN_KEPT);                                       \
        type##_drop_read(&l);                                                                      \
    }

EVERY_STATE(pawl_spin16, spin16)
EVERY_STATE(pawl_spin32, spin32)
EVERY_STATE(pawl_spin64, spin64)
EVERY_STATE(pawl_lock32, lock32)
EVERY_STATE(pawl_lock64, lock64)
EVERY_STATE(pawl_pshared_lock32, pshared32)
EVERY_STATE(pawl_pshared_lock64, pshared64)

static NOINLINE void states_of_brlock(void)
{
    pawl_brlock_take_read(&brlock);
    must(pawl_brlock_try_read_to_seek(&brlock));
    pawl_brlock_seek_to_write(&brlock);
    pawl_brlock_write_to_seek(&brlock);
    pawl_brlock_drop_seek(&brlock);
    pawl_brlock_take_write(&brlock);
    must(!pawl_brlock_try_read(&brlock));
    pawl_brlock_drop_write(&brlock);
}

static NOINLINE void states_of_sift(void)
{
    pawl_sift_take_read(&sift, PAWL_SIFT_THREAD);
    pawl_sift_drop_read(&sift, PAWL_SIFT_THREAD);
    pawl_sift_take_write(&sift);
    must(!pawl_sift_try_read(&sift, PAWL_SIFT_THREAD));
    pawl_sift_drop_write(&sift);
}

static void states(void)
{
    states_of_spin16();
    states_of_spin32();
    states_of_spin64();
    states_of_lock32();
    states_of_lock64();
    states_of_pshared32();
    states_of_pshared64();
    states_of_brlock();
    states_of_sift();
}

/* ---- Two threads ----------------------------------------------------------------------------- */

static void wait_until_ready(void)
{
    while (!__atomic_load_n(&ready, __ATOMIC_ACQUIRE))
        (void)usleep(100);
}

/* The main thread holds the lock while the other one asks for it, and sleeps until it waits. */
static NOINLINE void hold(void *(*other)(void *), void (*drop)(void))
{
    pthread_t id;
    must(pthread_create(&id, NULL, other, NULL) == 0);
    wait_until_ready();
    (void)usleep(30000);
    drop();
    must(pthread_join(id, NULL) == 0);
}

static void now_ready(void)
{
    __atomic_store_n(&ready, 1, __ATOMIC_RELEASE);
}

static void *upgrader(void *unused)
{
    pawl_lock64_take_seek(&lock64);
    now_ready();
    pawl_lock64_seek_to_write(&lock64);
    pawl_lock64_drop_write(&lock64);
    return NULL;
}

static void drop_read(void)
{
    pawl_lock64_drop_read(&lock64);
}

static NOINLINE void read_beside_an_upgrade(void)
{
    pawl_lock64_take_read(&lock64);
    hold(upgrader, drop_read);
}

static void *late(void *unused)
{
    must(!pawl_lock64_take_write_until(&lock64, pawl_now() + 1000000));
    pawl_lock64_take_seek(&lock64);
    must(!pawl_lock64_seek_to_write_until(&lock64, pawl_now() + 1000000));
    pawl_lock64_drop_seek(&lock64);
    now_ready();
    return NULL;
}

static NOINLINE void read_until_late(void)
{
    pawl_lock64_take_read(&lock64);
    hold(late, drop_read);
}

/* A writer of each type, and another thread that waits for it. */
#define WAITING(l, take, drop)                                                                     \
    static void *waiter_of_##l(void *unused)                                                       \
    {                                                                                              \
        (void)unused;                                                                              \
        now_ready();                                                                               \
        take;                                                                                      \
        drop;                                                                                      \
        return NULL;                                                                               \
    }                                                                                              \
    static void drop_##l(void)                                                                     \
    {                                                                                              \
        drop;                                                                                      \
    }                                                                                              \
    static NOINLINE void wait_for_##l(void)                                                        \
    {                                                                                              \
        ready = 0;                                                                                 \
        take;                                                                                      \
        hold(waiter_of_##l, drop_##l);                                                             \
    }

WAITING(spin16, pawl_spin16_take_write(&spin16), pawl_spin16_drop_write(&spin16))
WAITING(spin64, pawl_spin64_take_write(&spin64), pawl_spin64_drop_write(&spin64))
WAITING(lock32, pawl_lock32_take_write(&lock32), pawl_lock32_drop_write(&lock32))
WAITING(lock64, pawl_lock64_take_write(&lock64), pawl_lock64_drop_write(&lock64))
WAITING(pshared32, pawl_pshared_lock32_take_write(&pshared32),
        pawl_pshared_lock32_drop_write(&pshared32))
WAITING(brlock, pawl_brlock_take_write(&brlock), pawl_brlock_drop_write(&brlock))
WAITING(sift, pawl_sift_take_write(&sift), pawl_sift_drop_write(&sift))

static void waits(void)
{
    wait_for_spin16();
    wait_for_spin64();
    wait_for_lock32();
    wait_for_lock64();
    wait_for_pshared32();
    wait_for_brlock();
    wait_for_sift();
}

static NOINLINE void read_then_write(int n)
{
    for (int i = 0; i < n; i++) {
        pawl_lock64_take_read(&lock64);
        pawl_lock64_drop_read(&lock64);
        pawl_lock64_take_write(&lock64);
        pawl_lock64_drop_write(&lock64);
    }
}

/* Upgrades in place are no reads before writes. */
static NOINLINE void upgrade(int n)
{
    for (int i = 0; i < n; i++) {
        pawl_lock32_take_read(&lock32);
        must(pawl_lock32_try_read_to_write(&lock32));
        pawl_lock32_drop_write(&lock32);
    }
}

static NOINLINE pawl_lock64 *made(void)
{
    pawl_lock64 *const l = malloc(sizeof *l * 3);
    must(l != NULL);
    pawl_init(&l[2]);
    return l;
}

static void dynamic(void)
{
    pawl_lock64 *const l = made();
    pawl_take_write(&l[2]);
    pawl_drop_write(&l[2]);
    free(l);
}

int main(int count, char **word)
{
    must(count > 1 && pawl_brlock_init(&brlock, 4) == 0 && pawl_sift_init(&sift, NULL) == 0);
    if (strcmp(word[1], "states") == 0) {
        states();
    } else if (strcmp(word[1], "upgrade") == 0) {
        read_beside_an_upgrade();
    } else if (strcmp(word[1], "late") == 0) {
        read_until_late();
    } else if (strcmp(word[1], "waits") == 0) {
        waits();
    } else if (strcmp(word[1], "pairs") == 0) {
        read_then_write(100);
        upgrade(100);
    } else if (strcmp(word[1], "dynamic") == 0) {
        dynamic();
    } else if (strcmp(word[1], "named") == 0) {
        pawl_name_lock(&lock64, "cache.map");
        read_then_write(1);
    } else {
        return 97;
    }
    return 0;
}
