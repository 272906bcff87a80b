/* SPDX-License-Identifier: MIT */
/* Hash tables: updates, growth and ends. */
#include "table_parts.h"

#include <stdio.h>
#include <stdlib.h>

#include "../check/check.h"

/* So many buckets move at once; tables do not shrink to fewer than 2^HASH_LEAST (fewer of both for
 * the models); and arrays have at most 2^HASH_MOST. */
#define HASH_CHUNK (PAWL_HOOKS ? 2u : 8u)
#define HASH_LEAST (PAWL_HOOKS ? 1u : 6u)
#define HASH_MOST (sizeof(void *) == 8 ? 34u : 27u)

/* ---- Buckets --------------------------------------------------------------------------------- */

static inline uint32_t hash_chunks(const struct ipawl_table_array_ *array)
{
    return hash_size(array) < HASH_CHUNK ? 1 : (uint32_t)(hash_size(array) / HASH_CHUNK);
}

static void hash_put(struct ipawl_table_array_ *array, size_t i, pawl_table_node *word)
{
    const pawl_spin32 free = PAWL_SPIN32_INIT;
    PLAIN_WRITE(array->buckets[i]);
    array->buckets[i].lock = free;
    pawl_rcu_assign_pointer(array->buckets[i].head, word);
}

/* The head of a bucket that is the caller's now, or NULL: it has moved. */
static pawl_table_node **hash_take(struct ipawl_table_bucket_ *bucket)
{
    PLAIN_READ(*bucket);
    pawl_spin32_take_write(&bucket->lock);
    if (hash_read(&bucket->head) != hash_end(HASH_MOVED))
        return &bucket->head;
    pawl_spin32_drop_write(&bucket->lock);
    return NULL;
}

static void hash_leave(struct ipawl_table_bucket_ *bucket, bool moved)
{
    if (moved)
        pawl_rcu_assign_pointer(bucket->head, hash_end(HASH_MOVED));
    pawl_spin32_drop_write(&bucket->lock);
}

/* ---- Arrays ---------------------------------------------------------------------------------- */

static size_t hash_bytes(uint32_t level)
{
    return sizeof(struct ipawl_table_array_) + (sizeof(struct ipawl_table_bucket_) << level);
}

/* Its buckets are not touched before they are moved into: a large one costs nothing at once. */
static struct ipawl_table_array_ *hash_make(const pawl_table *t, uint32_t level)
{
    const pawl_table_options *const o = &t->options;
    const size_t bytes = hash_bytes(level);
    struct ipawl_table_array_ *const array =
        (struct ipawl_table_array_ *)(o->allocate == NULL ? malloc(bytes)
                                                          : o->allocate(bytes, o->arg));
    if (array == NULL)
        return NULL;
    PLAIN_WRITE(*array);
    memset(array, 0, sizeof *array);
    array->buckets = (struct ipawl_table_bucket_ *)(void *)(array + 1);
    array->level = level;
    return array;
}

static void hash_free(pawl_table *t, struct ipawl_table_array_ *array)
{
    if (array == NULL || array == &t->first)
        return;
    PLAIN_WRITE(*array);
    if (t->options.release == NULL)
        free(array);
    else
        t->options.release(array, hash_bytes(array->level), t->options.arg);
}

static PAWL_COLD void hash_begin(pawl_table *t)
{
    size_t i;
    pawl_lock32_take_write(&t->lock);
    if (pawl_rcu_dereference_protected(t->array) == NULL) {
        t->first.buckets = t->few;
        t->first.level = PAWL_TABLE_FIRST;
        for (i = 0; i < hash_size(&t->first); i++)
            hash_put(&t->first, i, hash_end(PAWL_TABLE_FIRST));
        pawl_rcu_assign_pointer(t->array, &t->first);
    }
    pawl_lock32_drop_write(&t->lock);
}

/* ---- Growing and shrinking ------------------------------------------------------------------- */

/* The last link before that order. */
static pawl_table_node **hash_last(pawl_table_node **link, uint64_t order, bool all)
{
    pawl_table_node *word;
    while (!hash_is_end(word = hash_read(link)) && (all || word->order < order))
        link = &word->next;
    return link;
}

/* The upper half begins in the middle of the chain. Both are ready before the cut (I2). */
static void hash_split(struct ipawl_table_array_ *array, struct ipawl_table_array_ *other, size_t i)
{
    pawl_table_node **const head = hash_take(&array->buckets[i]), **cut;
    const uint64_t middle = (uint64_t)(2 * i + 1) << (64 - other->level);
    cut = hash_last(head, middle, false);
    hash_put(other, 2 * i + 1, hash_read(cut));
    hash_put(other, 2 * i, cut == head ? hash_end(other->level) : hash_read(head));
    if (cut != head)
        pawl_rcu_assign_pointer(*cut, hash_end(other->level));
    hash_leave(&array->buckets[i], true);
}

/* A look-up of the lower half may go on into the upper, whose orders tell it that it is over. */
static void hash_join(struct ipawl_table_array_ *array, struct ipawl_table_array_ *other, size_t i)
{
    struct ipawl_table_bucket_ *const lower = &array->buckets[i], *const upper = lower + 1;
    pawl_table_node **const head = hash_take(lower), **const behind = hash_take(upper), **last;
    last = hash_last(behind, 0, true);
    pawl_rcu_assign_pointer(*last, hash_end(other->level));
    last = hash_last(head, 0, true);
    pawl_rcu_assign_pointer(*last, hash_read(behind));
    hash_put(other, i / 2, hash_read(head));
    hash_leave(upper, true);
    hash_leave(lower, true);
}

/* Moves a chunk, if there is one left. The thread that has moved the last one publishes. */
static PAWL_COLD void hash_help(pawl_table *t, struct ipawl_table_array_ *array,
                                struct ipawl_table_array_ *other)
{
    const bool grows = other->level > array->level;
    const uint32_t chunks = hash_chunks(array);
    const size_t chunk = hash_size(array) / chunks;
    size_t i;
    uint32_t mine;
    if (pawl_load_relaxed32(&array->begun) >= chunks)
        return;
    mine = pawl_fetch_add_relaxed32(&array->begun, 1);
    if (mine >= chunks)
        return;
    for (i = 0; i < chunk; i++) /* the nodes come at once, not one behind the other */
        __builtin_prefetch(pawl_rcu_dereference_protected(array->buckets[mine * chunk + i].head));
    for (i = 0; i < chunk; i += grows ? 1 : 2) {
        if (grows)
            hash_split(array, other, mine * chunk + i);
        else
            hash_join(array, other, mine * chunk + i);
    }
    /* [HASH_MOVED] acq_rel: the other array is published with what all threads have moved. */
    if (pawl_fetch_sub_acq_rel32(&array->left, 1, PAWL_HASH_MOVED) == 1)
        pawl_rcu_assign_pointer(t->array, other);
}

/* A removal may be counted before the insertion of its node: then there are less than none. */
static uint64_t hash_about(const pawl_table *t)
{
    const int32_t sampled = (int32_t)pawl_load_relaxed32(&t->sampled);
    return sampled < 0 ? 0 : (uint64_t)sampled * 16;
}

/* The level to which the table should change. */
static uint32_t hash_wanted(const pawl_table *t, const struct ipawl_table_array_ *array)
{
    const uint64_t about = hash_about(t);
    if (about > hash_size(array))
        return array->level < HASH_MOST ? array->level + 1 : array->level;
    return about < hash_size(array) / 4 && array->level > HASH_LEAST ? array->level - 1
                                                                     : array->level;
}

/* Frees the replaced arrays that no reader can be in. */
static void hash_sweep(pawl_table *t)
{
    struct ipawl_table_array_ *kept = NULL, *array, *next;
    for (array = t->old; array != NULL; array = next) {
        next = array->behind;
        if (pawl_rcu_poll(array->cookie)) {
            hash_free(t, array);
        } else {
            array->behind = kept;
            kept = array;
        }
    }
    pawl_rcu_assign_pointer(t->old, kept);
}

/* One step of a change of size: sees to the arrays that have been replaced, or begins. */
static PAWL_COLD void hash_tend(pawl_table *t)
{
    struct ipawl_table_array_ *array, *other;
    uint32_t level;
    if (!pawl_lock32_try_write(&t->lock))
        return;
    array = pawl_rcu_dereference_protected(t->array);
    level = hash_wanted(t, array); /* once: other threads change the count meanwhile */
    if (t->moving != NULL && t->moving != array) {
        t->moving->cookie = pawl_rcu_start_poll();
        t->moving->behind = t->old;
        pawl_rcu_assign_pointer(t->old, t->moving);
        pawl_rcu_assign_pointer(t->moving, NULL);
    }
    hash_sweep(t);
    if (t->moving == NULL && level != array->level && (other = hash_make(t, level)) != NULL) {
        array->left = hash_chunks(array);
        pawl_rcu_assign_pointer(t->moving, array);
        pawl_rcu_assign_pointer(array->other, other);
    }
    pawl_lock32_drop_write(&t->lock);
}

/* ---- Updates --------------------------------------------------------------------------------- */

/* Where an update is at work: its bucket is locked, and *link is the place. */
struct hash_place {
    const struct ipawl_table_array_ *array;
    struct ipawl_table_bucket_ *bucket;
    pawl_table_node **link;
    unsigned passed; /* orders on the way: of a chain of n, about n / 2 */
};

/* Begins an update at the head of the chain. The read section keeps the arrays. */
static void hash_enter(pawl_table *t, uint64_t order, struct hash_place *p)
{
    struct ipawl_table_array_ *array, *other;
    if (PAWL_UNLIKELY(pawl_rcu_dereference_protected(t->array) == NULL))
        hash_begin(t);
    pawl_rcu_read_lock();
    array = pawl_rcu_dereference(t->array);
    other = PAWL_RCU_DEREFERENCE_(array->other);
    if (PAWL_UNLIKELY(other != NULL))
        hash_help(t, array, other);
    p->passed = 0;
    for (;; array = PAWL_RCU_DEREFERENCE_(array->other)) {
        p->array = array;
        p->bucket = hash_bucket(array, order);
        p->link = hash_take(p->bucket);
        if (p->link != NULL)
            break;
    }
}

/* Ends it; `change` of the number of nodes. One order in 16 is counted: that is exact enough for
 * the size of an array, and updates seldom meet there. */
static void hash_exit(pawl_table *t, const struct hash_place *p, uint64_t order, uint32_t change)
{
    const uint64_t size = hash_size(p->array);
    const bool sample = change != 0 && (order >> 8 & 15) == 0;
    bool tend;
    hash_leave(p->bucket, false);
    pawl_rcu_read_unlock();
    if (sample)
        (void)pawl_fetch_add_relaxed32(&t->sampled, change);
    tend = sample && (pawl_rcu_dereference_protected(t->moving) != NULL ||
                      pawl_rcu_dereference_protected(t->old) != NULL ||
                      (change != 1 && hash_about(t) < size / 4));
    if (PAWL_UNLIKELY(tend || (p->passed > 1 && hash_about(t) > size)))
        hash_tend(t);
}

#if PAWL_CHECKED
/* No section keeps the node, so no race for it can be right. */
#define HASH_ALONE (!pawl_rcu_read_held())
#define HASH_SITE(n) ((n)->site = __builtin_return_address(0))
#define HASH_MISUSE(what, n, call) hash_misuse(what, n, call, __builtin_return_address(0))

/* The second place: of the call that brought the node where it is. */
static void hash_misuse(const char *what, const pawl_table_node *n, const char *call,
                        const void *site)
{
    char text[256], place[160];
    ipawl_report_name_((ipawl_address_)(uintptr_t)n->site, place, sizeof place);
    (void)snprintf(text, sizeof text, n->site == NULL ? "%s" : "%s, last changed at %s", what,
                   place);
    ipawl_report_misuse_(text, "pawl_table_node", n, call, site);
}
#else
#define HASH_ALONE false
#define HASH_SITE(n) ((void)(n))
#define HASH_MISUSE(what, n, call) ((void)(n))
#endif

/* Goes behind the nodes of the key, or to the first of them where there may be only one. */
static pawl_table_node *hash_seek(const pawl_table *t, struct hash_place *p, pawl_table_key key,
                                  bool unique)
{
    pawl_table_node *word;
    uint64_t last = 0;
    while (!hash_is_end(word = hash_read(p->link)) && word->order <= key.order) {
        if (unique && word->order == key.order &&
            (t->options.same == NULL || t->options.same(word, key.key)))
            return word;
        p->passed += p->passed == 0 || word->order != last;
        last = word->order;
        p->link = &word->next;
    }
    return NULL;
}

pawl_table_node *pawl_table_insert_as(pawl_table *t, pawl_table_node *n, pawl_table_key key,
                                      bool unique)
{
    struct hash_place p;
    pawl_table_node *there;
    hash_enter(t, key.order, &p);
    there = hash_is_in(n) ? n : hash_seek(t, &p, key, unique);
    if (there == NULL) {
        PLAIN_WRITE(n->order);
        n->order = key.order;
        HASH_SITE(n);
        pawl_rcu_assign_pointer(n->next, hash_read(p.link));
        pawl_rcu_assign_pointer(*p.link, n);
    }
    hash_exit(t, &p, key.order, there == NULL);
    if (there == n)
        HASH_MISUSE("inserted twice", n, "pawl_table_insert");
    return there;
}

/* Goes to the node; false: it is not in. */
static bool hash_reach(struct hash_place *p, const pawl_table_node *n)
{
    const pawl_table_node *word;
    while ((word = hash_read(p->link)) != n) {
        if (hash_is_end(word) || word->order > n->order)
            return false;
        p->link = (pawl_table_node **)(uintptr_t)&word->next;
    }
    return true;
}

/* Look-ups that stand in the node find its link as it was. */
static void hash_mark(pawl_table_node *n)
{
    const uintptr_t word = (uintptr_t)hash_read(&n->next) | HASH_OUT;
    pawl_rcu_assign_pointer(n->next, (pawl_table_node *)word);
}

bool pawl_table_remove(pawl_table *t, pawl_table_node *n)
{
    struct hash_place p;
    bool in;
    hash_enter(t, n->order, &p);
    in = hash_reach(&p, n);
    if (in) {
        pawl_rcu_assign_pointer(*p.link, hash_read(&n->next));
        hash_mark(n);
        HASH_SITE(n);
    }
    hash_exit(t, &p, n->order, in ? UINT32_MAX : 0);
    if (!in && HASH_ALONE)
        HASH_MISUSE("removed what is not in", n, "pawl_table_remove");
    return in;
}

bool pawl_table_replace(pawl_table *t, pawl_table_node *n, pawl_table_node *fresh)
{
    struct hash_place p;
    bool done;
    hash_enter(t, n->order, &p);
    done = !hash_is_in(fresh) && hash_reach(&p, n);
    if (done) {
        PLAIN_WRITE(fresh->order);
        fresh->order = n->order;
        HASH_SITE(fresh);
        HASH_SITE(n);
        pawl_rcu_assign_pointer(fresh->next, hash_read(&n->next));
        pawl_rcu_assign_pointer(*p.link, fresh);
        hash_mark(n);
    }
    hash_exit(t, &p, n->order, 0);
    if (!done && hash_is_in(fresh))
        HASH_MISUSE("inserted twice", fresh, "pawl_table_replace");
    else if (!done && HASH_ALONE)
        HASH_MISUSE("removed what is not in", n, "pawl_table_replace");
    return done;
}

/* ---- Ends ------------------------------------------------------------------------------------ */

void pawl_table_node_destroy(pawl_table_node *n)
{
    if (hash_is_in(n))
        HASH_MISUSE("destroyed in the table", n, "pawl_table_node_destroy");
}

void pawl_table_destroy(pawl_table *t)
{
    struct ipawl_table_array_ *const array = pawl_rcu_dereference_protected(t->array);
    struct ipawl_table_array_ *old, *next;
    for (old = t->old; old != NULL; old = next) {
        next = old->behind;
        hash_free(t, old);
    }
    if (t->moving != array)
        hash_free(t, t->moving);
    if (array != NULL)
        hash_free(t, array->other);
    hash_free(t, array);
    pawl_lock32_destroy(&t->lock);
}
