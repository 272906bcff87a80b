/* SPDX-License-Identifier: MIT */
/*
 * Each primitive of the library as a section that threads enter and leave, and its counterpart
 * among the pthread locks. A section of one of the first two groups keeps all others out.
 */
#pragma once

#include "test.h"

#include <pawl/atomic.h>
#include <pawl/bigref.h>
#include <pawl/bitlock.h>
#include <pawl/brlock.h>
#include <pawl/cond.h>
#include <pawl/counter.h>
#include <pawl/counter_exact.h>
#include <pawl/counter_limit.h>
#include <pawl/lock.h>
#include <pawl/pshared.h>
#include <pawl/rcu.h>
#include <pawl/rcu_call.h>
#include <pawl/robust.h>
#include <pawl/seq.h>
#include <pawl/sift.h>
#include <pawl/spin.h>
#include <pawl/wait.h>

struct primitive {
    const char *name;
    const struct primitive *twin; /* its counterpart; NULL: it is one */
    size_t size;
    unsigned most;              /* of such objects at once */
    void (*init)(void *object); /* NULL: zero bytes are one */
    void (*destroy)(void *object);
    void (*take)(void *object);
    void (*drop)(void *object);
    /* Its sleepers share one of 16 words with those of other objects (src/base/drain.h), so a wake
     * of one object may wake others' sleepers. */
    bool shares_words;
    unsigned waiters; /* at most that sleep, by its page; further ones spin. 0: any number */
};

/* Such a function of one statement, about an object o. */
#define ON(name, type, statement)                                                                  \
    static inline void name(void *object)                                                          \
    {                                                                                              \
        type *o = (type *)object;                                                                  \
        statement;                                                                                 \
    }

/* ---- Counterparts ---------------------------------------------------------------------------- */

ON(mutex_init, pthread_mutex_t, must(pthread_mutex_init(o, NULL) == 0))
static inline void mutex_init_shared(void *object)
{
    pthread_mutexattr_t shared;
    must(pthread_mutexattr_init(&shared) == 0);
    must(pthread_mutexattr_setpshared(&shared, PTHREAD_PROCESS_SHARED) == 0);
    must(pthread_mutex_init((pthread_mutex_t *)object, &shared) == 0);
    pthread_mutexattr_destroy(&shared);
}
ON(mutex_destroy, pthread_mutex_t, must(pthread_mutex_destroy(o) == 0))
ON(mutex_take, pthread_mutex_t, must(pthread_mutex_lock(o) == 0))
ON(mutex_drop, pthread_mutex_t, must(pthread_mutex_unlock(o) == 0))

ON(rwlock_init, pthread_rwlock_t, must(pthread_rwlock_init(o, NULL) == 0))
ON(rwlock_destroy, pthread_rwlock_t, must(pthread_rwlock_destroy(o) == 0))
ON(rwlock_take_read, pthread_rwlock_t, must(pthread_rwlock_rdlock(o) == 0))
ON(rwlock_take_write, pthread_rwlock_t, must(pthread_rwlock_wrlock(o) == 0))
ON(rwlock_drop, pthread_rwlock_t, must(pthread_rwlock_unlock(o) == 0))

/* A section made of a mutex and a condition variable. */
struct pthread_room {
    pthread_mutex_t mutex;
    pthread_cond_t left;
    bool taken;
};

static inline void pthread_room_init(void *object)
{
    struct pthread_room *room = (struct pthread_room *)object;
    mutex_init(&room->mutex);
    must(pthread_cond_init(&room->left, NULL) == 0);
    room->taken = false;
}
static inline void pthread_room_take(void *object)
{
    struct pthread_room *room = (struct pthread_room *)object;
    mutex_take(&room->mutex);
    while (room->taken)
        must(pthread_cond_wait(&room->left, &room->mutex) == 0);
    room->taken = true;
    mutex_drop(&room->mutex);
}
static inline void pthread_room_drop(void *object)
{
    struct pthread_room *room = (struct pthread_room *)object;
    mutex_take(&room->mutex);
    room->taken = false;
    must(pthread_cond_signal(&room->left) == 0);
    mutex_drop(&room->mutex);
}

enum { MOST = 100000 };

/* clang-format off */
static const struct primitive twin_mutex = {
    "pthread_mutex", NULL, sizeof(pthread_mutex_t), MOST,
    mutex_init, mutex_destroy, mutex_take, mutex_drop, false, 0};
static const struct primitive twin_mutex_shared = {
    "pthread_mutex, shared", NULL, sizeof(pthread_mutex_t), MOST,
    mutex_init_shared, mutex_destroy, mutex_take, mutex_drop, false, 0};
static const struct primitive twin_read = {
    "pthread_rwlock, R", NULL, sizeof(pthread_rwlock_t), MOST,
    rwlock_init, rwlock_destroy, rwlock_take_read, rwlock_drop, false, 0};
static const struct primitive twin_write = {
    "pthread_rwlock, W", NULL, sizeof(pthread_rwlock_t), MOST,
    rwlock_init, rwlock_destroy, rwlock_take_write, rwlock_drop, false, 0};
static const struct primitive twin_cond = {
    "pthread_cond", NULL, sizeof(struct pthread_room), MOST,
    pthread_room_init, NULL, pthread_room_take, pthread_room_drop, false, 0};
/* clang-format on */

/* ---- What keeps others out ------------------------------------------------------------------- */

ON(lock64_take_write, pawl_lock64, pawl_lock64_take_write(o))
ON(lock64_drop_write, pawl_lock64, pawl_lock64_drop_write(o))

/* As a real-time thread of the preload library takes it. Every other thread has a rank, and comes
 * before all that have none; newcomers went past these, one by one. */
static inline void lock64_take_write_ranked(void *object)
{
    static uint32_t threads;
    static __thread uint32_t rank; /* and one; 0: not given yet */
    if (rank == 0)
        rank = (__atomic_fetch_add(&threads, 1, __ATOMIC_RELAXED) & 1) + 1;
    must(pawl_lock64_try_write((pawl_lock64 *)object) ||
         PAWL_SYMBOL_(pawl_lock64_take_write_ranked)((pawl_lock64 *)object, UINT64_MAX, rank - 1));
}

/* A word under wait.h: 0 free, 1 taken. A thread that leaves wakes one. The kernel may keep the
 * sleepers of 32 bits; those of 64 are in the library's lists. */
#define WORD(N)                                                                                    \
    static inline void word##N##_take(void *object)                                                \
    {                                                                                              \
        uint##N##_t *word = (uint##N##_t *)object;                                                 \
        while (__atomic_exchange_n(word, 1, __ATOMIC_ACQUIRE) != 0)                                \
            pawl_wait##N(word, 1);                                                                 \
    }                                                                                              \
    static inline void word##N##_drop(void *object)                                                \
    {                                                                                              \
        uint##N##_t *word = (uint##N##_t *)object;                                                 \
        __atomic_store_n(word, 0, __ATOMIC_SEQ_CST);                                               \
        pawl_wake_one(word);                                                                       \
    }
WORD(32)
WORD(64)
#undef WORD

struct pawl_room {
    pawl_lock64 lock;
    pawl_cond left;
    bool taken;
};

static inline void pawl_room_take(void *object)
{
    struct pawl_room *room = (struct pawl_room *)object;
    pawl_lock64_take_write(&room->lock);
    while (room->taken)
        pawl_lock64_cond_wait_write(&room->left, &room->lock);
    room->taken = true;
    pawl_lock64_drop_write(&room->lock);
}
static inline void pawl_room_drop(void *object)
{
    struct pawl_room *room = (struct pawl_room *)object;
    pawl_lock64_take_write(&room->lock);
    room->taken = false;
    pawl_cond_signal(&room->left);
    pawl_lock64_drop_write(&room->lock);
}

ON(bitlock_take, uint32_t, pawl_bitlock32_take(o, 3))
ON(bitlock_drop, uint32_t, pawl_bitlock32_drop(o, 3))

ON(pshared_init, pawl_pshared_lock64, must(pawl_pshared_lock64_init(o)))
ON(pshared_destroy, pawl_pshared_lock64, pawl_pshared_lock64_destroy(o))
ON(pshared_take, pawl_pshared_lock64, pawl_pshared_lock64_take_write(o))
ON(pshared_drop, pawl_pshared_lock64, pawl_pshared_lock64_drop_write(o))

ON(sift_take_write, pawl_sift, pawl_sift_take_write(o))
ON(sift_drop_write, pawl_sift, pawl_sift_drop_write(o))

ON(brlock_init, pawl_brlock, must(pawl_brlock_init(o, PAWL_BRLOCK_LINES) == 0))
ON(brlock_destroy, pawl_brlock, pawl_brlock_destroy(o))
ON(brlock_take_write, pawl_brlock, pawl_brlock_take_write(o))
ON(brlock_drop_write, pawl_brlock, pawl_brlock_drop_write(o))

ON(robust_init, pawl_robust_lock, must(pawl_robust_lock_init(o) == PAWL_ROBUST_OK))
ON(robust_take_write, pawl_robust_lock, must(pawl_robust_lock_take_write(o) == PAWL_ROBUST_OK))
ON(robust_drop_write, pawl_robust_lock, must(pawl_robust_lock_drop_write(o) == PAWL_ROBUST_OK))

static const struct primitive exclusive[] = {
    {"lock64, W", &twin_mutex, sizeof(pawl_lock64), MOST, NULL, NULL, lock64_take_write,
     lock64_drop_write, false, 0},
    {"lock64, ranks", &twin_mutex, sizeof(pawl_lock64), MOST, NULL, NULL, lock64_take_write_ranked,
     lock64_drop_write, false, 0},
    {"wait.h, 32", &twin_cond, sizeof(uint32_t), MOST, NULL, NULL, word32_take, word32_drop, false,
     0},
    {"wait.h, 64", &twin_cond, sizeof(uint64_t), MOST, NULL, NULL, word64_take, word64_drop, false,
     0},
    {"cond", &twin_cond, sizeof(struct pawl_room), MOST, NULL, NULL, pawl_room_take, pawl_room_drop,
     false, 0},
    {"bitlock", &twin_mutex, sizeof(uint32_t), MOST, NULL, NULL, bitlock_take, bitlock_drop, false,
     0},
    {"pshared, W", &twin_mutex_shared, sizeof(pawl_pshared_lock64), MOST, pshared_init,
     pshared_destroy, pshared_take, pshared_drop, false, 0},
    {"sift, W", &twin_write, sizeof(pawl_sift), 10000, NULL, NULL, sift_take_write, sift_drop_write,
     true, 4000},
    {"brlock, W", &twin_write, sizeof(pawl_brlock), 100, brlock_init, brlock_destroy,
     brlock_take_write, brlock_drop_write, true, 0},
    {"robust, W", &twin_mutex_shared, sizeof(pawl_robust_lock), 1, robust_init, NULL,
     robust_take_write, robust_drop_write, false, 0},
};

/* ---- What keeps others out, and does not sleep ----------------------------------------------- */

ON(spin64_take_write, pawl_spin64, pawl_spin64_take_write(o))
ON(spin64_drop_write, pawl_spin64, pawl_spin64_drop_write(o))
ON(spin32_take_write, pawl_spin32, pawl_spin32_take_write(o))
ON(spin32_drop_write, pawl_spin32, pawl_spin32_drop_write(o))
ON(spin64_take_seek, pawl_spin64, pawl_spin64_take_seek(o))
ON(spin64_drop_seek, pawl_spin64, pawl_spin64_drop_seek(o))

static const struct primitive spinning[] = {
    {"spin64, W", &twin_mutex, sizeof(pawl_spin64), MOST, NULL, NULL, spin64_take_write,
     spin64_drop_write, false, 0},
    {"spin32, W", &twin_mutex, sizeof(pawl_spin32), MOST, NULL, NULL, spin32_take_write,
     spin32_drop_write, false, 0},
    {"spin64, S", &twin_mutex, sizeof(pawl_spin64), MOST, NULL, NULL, spin64_take_seek,
     spin64_drop_seek, false, 0},
};

/* ---- What lets others in --------------------------------------------------------------------- */

ON(lock64_take_read, pawl_lock64, pawl_lock64_take_read(o))
ON(lock64_drop_read, pawl_lock64, pawl_lock64_drop_read(o))
ON(sift_take_read, pawl_sift, pawl_sift_take_read(o, PAWL_SIFT_THREAD))
ON(sift_drop_read, pawl_sift, pawl_sift_drop_read(o, PAWL_SIFT_THREAD))
ON(brlock_take_read, pawl_brlock, pawl_brlock_take_read(o))
ON(brlock_drop_read, pawl_brlock, pawl_brlock_drop_read(o))
ON(robust_take_read, pawl_robust_lock, must(pawl_robust_lock_take_read(o) == PAWL_ROBUST_OK))
ON(robust_drop_read, pawl_robust_lock, must(pawl_robust_lock_drop_read(o) == PAWL_ROBUST_OK))
ON(rcu_enter, void, (void)o; pawl_rcu_read_lock())
ON(rcu_leave, void, (void)o; pawl_rcu_read_unlock())
ON(counter_up, pawl_counter, pawl_counter_inc(o))
ON(counter_down, pawl_counter, pawl_counter_dec(o))
ON(counter_destroy, pawl_counter, must(pawl_counter_destroy(o) == 0))

ON(spin_take_read, pawl_spin64, pawl_spin64_take_read(o))
ON(spin_drop_read, pawl_spin64, pawl_spin64_drop_read(o))
ON(exact_up, pawl_counter_exact, pawl_counter_exact_add(o, 1))
ON(exact_down, pawl_counter_exact, pawl_counter_exact_add(o, -1))
ON(exact_destroy, pawl_counter_exact, must(pawl_counter_exact_destroy(o) == 0))
ON(limit_init, pawl_counter_limit, pawl_counter_limit_init(o, INT64_MAX / 4))
ON(limit_up, pawl_counter_limit, must(pawl_counter_limit_try_add(o, 1)))
ON(limit_down, pawl_counter_limit, pawl_counter_limit_sub(o, 1))
ON(limit_destroy, pawl_counter_limit, must(pawl_counter_limit_destroy(o) == 0))
ON(bigref_init, pawl_bigref, pawl_bigref_init(o, NULL, NULL))
ON(bigref_up, pawl_bigref, pawl_bigref_get(o))
ON(bigref_down, pawl_bigref, pawl_bigref_drop(o))
ON(bigref_destroy, pawl_bigref, pawl_bigref_destroy(o))
static inline void seq_look(void *object)
{
    pawl_seq_word begun;
    must(pawl_seq_try_begin((pawl_seq *)object, &begun) &&
         !pawl_seq_retry((pawl_seq *)object, begun));
}
ON(nothing_more, void, (void)o)
static inline void called(pawl_rcu_head *head)
{
    free(head);
}
static inline void rcu_calls(void *object)
{
    pawl_rcu_head *head = (pawl_rcu_head *)malloc(sizeof *head);
    must(head != NULL && pawl_rcu_call(head, called, sizeof *head) == 0);
}

static const struct primitive open_to_all[] = {
    {"lock64, R", &twin_read, sizeof(pawl_lock64), MOST, NULL, NULL, lock64_take_read,
     lock64_drop_read, false, 0},
    {"sift, R", &twin_read, sizeof(pawl_sift), 10000, NULL, NULL, sift_take_read, sift_drop_read,
     true, 0},
    {"brlock, R", &twin_read, sizeof(pawl_brlock), 100, brlock_init, brlock_destroy,
     brlock_take_read, brlock_drop_read, true, 0},
    {"robust, R", &twin_read, sizeof(pawl_robust_lock), 1, robust_init, NULL, robust_take_read,
     robust_drop_read, false, 0},
    {"rcu", &twin_read, 1, 1, NULL, NULL, rcu_enter, rcu_leave, false, 0},
    {"counter", &twin_mutex, sizeof(pawl_counter), 1, NULL, counter_destroy, counter_up,
     counter_down, false, 0},
    {"exact counter", &twin_mutex, sizeof(pawl_counter_exact), 1, NULL, exact_destroy, exact_up,
     exact_down, false, 0},
    {"limit counter", &twin_mutex, sizeof(pawl_counter_limit), 1, limit_init, limit_destroy,
     limit_up, limit_down, false, 0},
    {"bigref", &twin_mutex, sizeof(pawl_bigref), 1, bigref_init, bigref_destroy, bigref_up,
     bigref_down, false, 0},
    {"spin64, R", &twin_read, sizeof(pawl_spin64), MOST, NULL, NULL, spin_take_read, spin_drop_read,
     false, 0},
    {"seq, a look", &twin_read, sizeof(pawl_seq), MOST, NULL, NULL, seq_look, nothing_more, false,
     0},
    {"rcu_call", &twin_mutex, 1, 1, NULL, NULL, rcu_calls, nothing_more, false, 0},
};

enum {
    EXCLUSIVE = sizeof exclusive / sizeof exclusive[0],
    SPINNING = sizeof spinning / sizeof spinning[0],
    OPEN_TO_ALL = sizeof open_to_all / sizeof open_to_all[0]
};

/* ---- Many of one kind ------------------------------------------------------------------------ */

struct objects {
    const struct primitive *of;
    unsigned count;
    size_t apart;
    char *memory;
};

static inline struct objects objects_make(const struct primitive *of, unsigned count)
{
    struct objects made = {of, count, 0, NULL};
    made.apart = of->size < 64 ? (of->size + 7) / 8 * 8 : (of->size + 63) / 64 * 64;
    must((made.memory = (char *)aligned_alloc(256, (made.apart * count + 255) / 256 * 256)));
    memset(made.memory, 0, made.apart * count);
    for (unsigned i = 0; of->init && i < count; i++)
        of->init(made.memory + i * made.apart);
    return made;
}

static inline void *object_at(const struct objects *o, unsigned index)
{
    return o->memory + index % o->count * o->apart;
}

static inline void objects_destroy(struct objects *o)
{
    for (unsigned i = 0; o->of->destroy && i < o->count; i++)
        o->of->destroy(o->memory + i * o->apart);
    free(o->memory);
}
