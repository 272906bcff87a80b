/* SPDX-License-Identifier: MIT */
/*
 * ID tables of objects with locks of every kind: each lookup holds the lock that the object has,
 * and who waited for it while the object was removed gets nothing.
 */
#include "test.h"

#include <pawl/bitlock.h>
#include <pawl/brlock.h>
#include <pawl/idtable.h>
#include <pawl/seq.h>

/* What the tests below know of a kind. */
struct kind {
    const char *name;
    pawl_idtable *table;
    pawl_id (*insert)(int value);
    int *(*take)(pawl_id id); /* the value of the object, which is locked; NULL: none */
    int *(*try_)(pawl_id id, bool *busy);
    void (*drop)(int *value);
    bool (*remove)(int *value); /* of a locked object; drops the lock */
};

/* A type with its functions. make(o) and unmake(o) are the life of its lock. */
#define KIND(name, lock_type, make, unmake)                                                        \
    struct name {                                                                                  \
        lock_type lock;                                                                            \
        pawl_idtable_entry entry;                                                                  \
        int value;                                                                                 \
    };                                                                                             \
    static void name##_release(pawl_rcu_head *head);                                               \
    static pawl_idtable name##_table = PAWL_IDTABLE_INIT(name##_release);                          \
    static pawl_id name##_new(int value)                                                           \
    {                                                                                              \
        struct name *o = (struct name *)calloc(1, sizeof *o);                                      \
        pawl_id id;                                                                                \
        must(o != NULL);                                                                           \
        make(o);                                                                                   \
        o->value = value;                                                                          \
        must(pawl_idtable_insert(&name##_table, &o->entry, &id) == 0);                             \
        return id;                                                                                 \
    }                                                                                              \
    static void name##_release(pawl_rcu_head *head)                                                \
    {                                                                                              \
        struct name *o = PAWL_IDTABLE_OBJECT_(struct name, entry.head, head);                      \
        unmake(o);                                                                                 \
        free(o);                                                                                   \
    }                                                                                              \
    static struct name *name##_of_value(int *value)                                                \
    {                                                                                              \
        return PAWL_IDTABLE_OBJECT_(struct name, value, value);                                    \
    }

#define NOTHING(o) ((void)(o))

/* The five that have a family of functions. */
#define PROGRESSIVE(N)                                                                             \
    KIND(with_##N, pawl_##N, NOTHING, NOTHING)                                                     \
    PAWL_IDTABLE_TYPE(with_##N, struct with_##N, entry, lock);                                     \
    static int *with_##N##_write(pawl_id id)                                                       \
    {                                                                                              \
        struct with_##N *o = with_##N##_take_write(&with_##N##_table, id);                         \
        return o == NULL ? NULL : &o->value;                                                       \
    }                                                                                              \
    static int *with_##N##_attempt(pawl_id id, bool *busy)                                         \
    {                                                                                              \
        struct with_##N *o = with_##N##_try_write(&with_##N##_table, id, busy);                    \
        return o == NULL ? NULL : &o->value;                                                       \
    }                                                                                              \
    static void with_##N##_leave(int *value)                                                       \
    {                                                                                              \
        with_##N##_drop_write(with_##N##_of_value(value));                                         \
    }                                                                                              \
    static bool with_##N##_end(int *value)                                                         \
    {                                                                                              \
        return with_##N##_remove(&with_##N##_table, with_##N##_of_value(value));                   \
    }

PROGRESSIVE(spin16)
PROGRESSIVE(spin32)
PROGRESSIVE(spin64)
PROGRESSIVE(lock32)
PROGRESSIVE(lock64)

/* Any other: by three functions or macros that take a pointer to the object. */
#define OTHER(name, lock_type, make, unmake, take, try_, drop)                                     \
    KIND(name, lock_type, make, unmake)                                                            \
    PAWL_IDTABLE_TAKE(name##_find, struct name, entry, take, drop);                                \
    PAWL_IDTABLE_TRY(name##_try_find, struct name, entry, try_, drop);                             \
    static int *name##_write(pawl_id id)                                                           \
    {                                                                                              \
        struct name *o = name##_find(&name##_table, id);                                           \
        return o == NULL ? NULL : &o->value;                                                       \
    }                                                                                              \
    static int *name##_attempt(pawl_id id, bool *busy)                                             \
    {                                                                                              \
        struct name *o = name##_try_find(&name##_table, id, busy);                                 \
        return o == NULL ? NULL : &o->value;                                                       \
    }                                                                                              \
    static void name##_leave(int *value)                                                           \
    {                                                                                              \
        drop(name##_of_value(value));                                                              \
    }                                                                                              \
    static bool name##_end(int *value)                                                             \
    {                                                                                              \
        struct name *o = name##_of_value(value);                                                   \
        const bool removed = pawl_idtable_remove(&name##_table, &o->entry);                        \
        drop(o);                                                                                   \
        pawl_idtable_retire(&name##_table, &o->entry, sizeof *o);                                  \
        return removed;                                                                            \
    }

#define MUTEX_MAKE(o) must(pthread_mutex_init(&(o)->lock, NULL) == 0)
#define MUTEX_UNMAKE(o) must(pthread_mutex_destroy(&(o)->lock) == 0)
#define MUTEX_TAKE(o) must(pthread_mutex_lock(&(o)->lock) == 0)
#define MUTEX_TRY(o) (pthread_mutex_trylock(&(o)->lock) == 0)
#define MUTEX_DROP(o) must(pthread_mutex_unlock(&(o)->lock) == 0)
OTHER(with_mutex, pthread_mutex_t, MUTEX_MAKE, MUTEX_UNMAKE, MUTEX_TAKE, MUTEX_TRY, MUTEX_DROP)

#define BRLOCK_MAKE(o) must(pawl_brlock_init(&(o)->lock, 8) == 0)
#define BRLOCK_UNMAKE(o) pawl_brlock_destroy(&(o)->lock)
#define BRLOCK_TAKE(o) pawl_brlock_take_write(&(o)->lock)
#define BRLOCK_TRY(o) pawl_brlock_try_write(&(o)->lock)
#define BRLOCK_DROP(o) pawl_brlock_drop_write(&(o)->lock)
OTHER(with_brlock, pawl_brlock, BRLOCK_MAKE, BRLOCK_UNMAKE, BRLOCK_TAKE, BRLOCK_TRY, BRLOCK_DROP)

/* One bit of a byte that the object has to spare. */
#define BIT_TAKE(o) pawl_bitlock8_take(&(o)->lock, 5)
#define BIT_TRY(o) pawl_bitlock8_try(&(o)->lock, 5)
#define BIT_DROP(o) pawl_bitlock8_drop(&(o)->lock, 5)
OTHER(with_bit, uint8_t, NOTHING, NOTHING, BIT_TAKE, BIT_TRY, BIT_DROP)

/* A lock that is not in the object: a few of them serve all. */
static pawl_lock32 few[4];
#define FEW(o) (&few[(o)->lock % 4])
#define FEW_TAKE(o) pawl_lock32_take_write(FEW(o))
#define FEW_TRY(o) pawl_lock32_try_write(FEW(o))
#define FEW_DROP(o) pawl_lock32_drop_write(FEW(o))
OTHER(with_few, unsigned, NOTHING, NOTHING, FEW_TAKE, FEW_TRY, FEW_DROP)

/* The own lock of a sequence lock; its readers are further down. */
struct pair {
    uint64_t a, b;
};
PAWL_SEQ_TYPE(pair_seq, struct pair);
#define SEQ_TAKE(o) pawl_seq_take_write(&(o)->lock.seq)
#define SEQ_TRY(o) pawl_seq_try_write(&(o)->lock.seq)
#define SEQ_DROP(o) pawl_seq_drop_write(&(o)->lock.seq)
OTHER(with_seq, pair_seq, NOTHING, NOTHING, SEQ_TAKE, SEQ_TRY, SEQ_DROP)

#define ROW(name)                                                                                  \
    {#name, &name##_table, name##_new, name##_write, name##_attempt, name##_leave, name##_end}
static const struct kind kinds[] = {
    ROW(with_spin16), ROW(with_spin32), ROW(with_spin64), ROW(with_lock32), ROW(with_lock64),
    ROW(with_mutex),  ROW(with_brlock), ROW(with_bit),    ROW(with_few),    ROW(with_seq),
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

/* ---- Each kind ------------------------------------------------------------------------------- */

struct visit {
    const struct kind *kind;
    pawl_id id;
    bool found, busy;
};

static void *try_it(void *opaque)
{
    struct visit *v = (struct visit *)opaque;
    int *value = v->kind->try_(v->id, &v->busy);
    v->found = value != NULL;
    if (value != NULL)
        v->kind->drop(value);
    return NULL;
}

static void elsewhere(struct visit *v)
{
    test_elsewhere(try_it, v);
}

TEST_CASE(what_is_found_is_locked_and_what_is_removed_is_not_found)
{
    for (unsigned i = 0; i < KINDS; i++) {
        const struct kind *k = &kinds[i];
        struct visit v;
        v.kind = k;
        v.id = k->insert(7);
        int *value = k->take(v.id);
        assert_non_null(value);
        assert_int_equal(*value, 7);
        elsewhere(&v);
        assert_false(v.found);
        assert_true(v.busy);
        k->drop(value);
        elsewhere(&v);
        assert_true(v.found);
        assert_false(v.busy);
        value = k->take(v.id);
        assert_true(k->remove(value));
        assert_null(k->take(v.id));
        elsewhere(&v);
        assert_false(v.found);
        assert_false(v.busy);
        assert_int_equal(pawl_idtable_count(k->table), 0);
    }
}

static void *take_it(void *opaque)
{
    struct visit *v = (struct visit *)opaque;
    int *value = v->kind->take(v->id);
    v->found = value != NULL;
    if (value != NULL)
        v->kind->drop(value);
    return NULL;
}

TEST_CASE(who_waited_for_a_removed_object_gets_nothing)
{
    const struct timespec nap = {0, 2000000};
    for (unsigned i = 0; i < KINDS; i++) {
        struct visit v;
        v.kind = &kinds[i];
        v.id = v.kind->insert(1);
        v.found = true;
        int *value = v.kind->take(v.id);
        const pthread_t waiter = test_start(take_it, &v);
        nanosleep(&nap, NULL); /* time to come as far as the lock; true in any case */
        assert_true(v.kind->remove(value));
        test_join(waiter);
        assert_false(v.found);
    }
}

struct crowd {
    const struct kind *kind;
    pawl_id ids[4];
    uint64_t seed;
};

/* The values are plain: they add up only if the lookups exclude each other. */
static void add_here_and_there(void *opaque, unsigned index)
{
    const struct crowd *c = (const struct crowd *)opaque;
    uint64_t random = c->seed + index;
    for (unsigned i = 0; i < TEST_SCALE(2000); i++) {
        int *value = c->kind->take(c->ids[test_random_below(&random, 4)]);
        must(value != NULL);
        ++*value;
        c->kind->drop(value);
    }
}

TEST_CASE(lookups_of_one_object_exclude_each_other)
{
    for (unsigned i = 0; i < KINDS; i++) {
        struct crowd c;
        int sum = 0;
        c.kind = &kinds[i];
        c.seed = test_seed();
        for (unsigned k = 0; k < 4; k++)
            c.ids[k] = c.kind->insert(0);
        test_threads(3, add_here_and_there, &c);
        for (unsigned k = 0; k < 4; k++) {
            int *value = c.kind->take(c.ids[k]);
            sum += *value;
            must(c.kind->remove(value));
        }
        if (sum != 3 * TEST_SCALE(2000))
            fail_msg("%s: %d", c.kind->name, sum);
    }
}

/* ---- Readers of a sequence lock -------------------------------------------------------------- */

/* They hold nothing: the value is copied whole, and was that of an object that was in the table
 * when it had been copied. */
static bool read_pair(pawl_id id, struct pair *to)
{
    bool found = false;
    pawl_idtable_read_lock(&with_seq_table);
    pawl_idtable_entry *e = pawl_idtable_peek(&with_seq_table, id);
    if (e != NULL) {
        const struct with_seq *o = PAWL_IDTABLE_OBJECT_(struct with_seq, entry, e);
        pair_seq_read(&o->lock, to);
        found = !pawl_idtable_is_removed(e);
    }
    pawl_idtable_read_unlock(&with_seq_table);
    return found;
}

static void write_pairs(const struct crowd *c)
{
    for (uint64_t n = 1; n <= TEST_SCALE(5000); n++) {
        struct with_seq *o = with_seq_find(&with_seq_table, c->ids[n % 4]);
        struct pair p;
        must(o != NULL);
        p.a = n;
        p.b = ~n;
        pair_seq_write_alone(&o->lock, &p); /* the lookup holds the own lock */
        pawl_seq_drop_write(&o->lock.seq);
    }
}

static void read_pairs(const struct crowd *c)
{
    for (unsigned i = 0; i < TEST_SCALE(20000); i++) {
        struct pair p;
        must(read_pair(c->ids[i % 4], &p));
        must(p.b == ~p.a || (p.a == 0 && p.b == 0));
    }
}

static void write_or_read(void *opaque, unsigned index)
{
    const struct crowd *c = (const struct crowd *)opaque;
    if (index == 0)
        write_pairs(c);
    else
        read_pairs(c);
}

static int end_all(void **state)
{
    for (unsigned i = 0; i < KINDS; i++)
        pawl_idtable_destroy(kinds[i].table);
    return 0;
}

TEST_CASE_WITH(readers_of_a_sequence_lock_copy_and_hold_nothing, NULL, end_all)
{
    struct crowd c;
    struct pair p;
    for (unsigned k = 0; k < 4; k++)
        c.ids[k] = with_seq_new(0);
    test_threads(3, write_or_read, &c);
    for (unsigned k = 0; k < 4; k++) {
        struct with_seq *o = with_seq_find(&with_seq_table, c.ids[k]);
        assert_true(with_seq_end(&o->value));
        assert_false(read_pair(c.ids[k], &p));
    }
}

TEST_MAIN()
