/* SPDX-License-Identifier: MIT */
/*
 * Hash tables that many threads share, and that grow and shrink while they are used. The node is
 * part of the program's object, so nothing is allocated for an element. Look-ups take no lock and
 * write nothing. For maps and caches that are asked for exact keys.
 *
 * Not for keys in order or ranges of them (tree.h), nor for memory that processes share.
 *
 *   table    array --> buckets | level | other --> the array that replaces it | chunks moved
 *   bucket   head --> node --> node --> end     and the lock of its updaters
 *   node     next | order                        in the program's object
 *
 *   order    64 mixed bits of the key. The upper `level` bits are the bucket, and chains are
 *            sorted by all of them: so the chains, one behind the other, are one sorted list.
 *   end      the last link of a chain: the level at which the keys behind it were cut off.
 *
 *   Growing: each chain is cut in two, and no node moves.   Shrinking: two chains are joined.
 *
 *     bucket 1 of 2    --> a --> b --> c --> d --> end 1
 *     buckets 2 and 3  --> a --> b --> end 2     --> c --> d --> end 1
 *
 * Modes
 *   get, from, step    nothing, in an RCU read section of the default domain
 *   insert, remove     the bucket's spinlock, in W, while they go along one chain
 *   growth             one update begins it; each one then moves 8 buckets, under their locks
 *
 * Cost: a look-up reads two words of the table, the bucket, and 1.5 nodes or fewer. An update takes
 * one lock, and counts in one of 16 cases. 16 bytes a node, and 16 a bucket (8 on 32-bit targets);
 * there are one to two buckets for each node. Nodes of one key share a chain: n of them take n
 * steps. So do keys of equal order. An enemy who knows the mix can choose such keys:
 * pawl_table_hashed with a secret in the hash keeps them apart.
 *
 * Invariants
 *   I1  the order of the nodes in the list never changes. So a look-up that stands in any node, or
 *       in one that has been removed, goes on to all that is in and behind it, up to a cut.
 *   I2  a cut at a level that is not above that of the look-up's array lies behind its key. At any
 *       other end it begins again, in `other`, where the two halves were ready before the cut.
 *   I3  an array is freed a grace period after the last of its buckets has moved.
 *   I4  a removed node keeps its link. It is inserted again, or freed, only a grace period later.
 *
 * No call waits for another thread's growth, and get waits for none at all. Insertion never fails:
 * without memory for a larger array the chains become longer. Zero bytes are a table of numbers,
 * and a node that is not in a table. After fork the child has the table, unless another thread was
 * changing it. Not in signal handlers.
 */
#ifndef PAWL_TABLE_H
#define PAWL_TABLE_H

#include <pawl/lock.h>
#include <pawl/rcu.h>
#include <pawl/spin.h>

#include <string.h>

/* Buckets of an empty table, as a power of two. */
#define PAWL_TABLE_FIRST 1

typedef struct pawl_table_node {
    struct pawl_table_node *next;
    uint64_t order; /* of its key; constant while it is in */
#if PAWL_CHECKED
    const void *site; /* of the last call that inserted or removed it */
#endif
} pawl_table_node;

/* Made by the functions below. */
typedef struct pawl_table_key {
    uint64_t order;
    const void *key; /* the program's, for `same` */
} pawl_table_key;

/* Whether the node has that key; called for nodes of equal order. An insertion calls it under the
 * lock of a bucket: it calls nothing of the table. */
typedef bool pawl_table_same(const pawl_table_node *n, const void *key);

/* Zero bytes are the defaults. */
typedef struct pawl_table_options {
    pawl_table_same *same;             /* NULL: keys are numbers, known by their order alone */
    void *(*allocate)(size_t, void *); /* of arrays, aligned as by malloc; NULL: no memory */
    void (*release)(void *, size_t, void *); /* any update may call it; NULL both: malloc, free */
    void *arg;
} pawl_table_options;

struct ipawl_table_bucket_ {
    pawl_table_node *head;
    pawl_spin32 lock;
};

struct ipawl_table_array_ {
    struct ipawl_table_bucket_ *buckets;
    struct ipawl_table_array_ *other; /* that replaces it; NULL: none does */
    uint32_t level;
    char apart[PAWL_CACHE_LINE];       /* what look-ups read, and what moves write */
    uint32_t begun;                    /* chunks that a thread moves, or has moved */
    uint32_t left;                     /* chunks that are not yet moved */
    struct ipawl_table_array_ *behind; /* the next of the replaced arrays */
    uint64_t cookie;                   /* of the grace period that it waits for */
};

typedef struct pawl_table {
    struct ipawl_table_array_ *array; /* NULL: nothing has been inserted yet */
    pawl_table_options options;
    char apart[PAWL_CACHE_LINE];
    pawl_lock32 lock;                  /* of `moving` and `old` */
    uint32_t sampled;                  /* nodes that are in, of one order in 16 */
    struct ipawl_table_array_ *moving; /* is being replaced, or has just been */
    struct ipawl_table_array_ *old;    /* those that have been, and may have readers */
    struct ipawl_table_array_ first;
    struct ipawl_table_bucket_ few[1 << PAWL_TABLE_FIRST];
} pawl_table;

PAWL_C_BEGIN

/* ---- Look-ups, in an RCU read section of the default domain ---------------------------------- */

/* The first node of that key, in order of insertion; NULL: none. It may be removed at any moment;
 * the section keeps its memory, if that is freed a grace period after the removal. Acquire: of the
 * node, all that came before its insertion is seen. Never waits. */
PAWL_API pawl_table_node *PAWL_SYMBOL_SEEN_(pawl_table_get)(const pawl_table *t,
                                                            pawl_table_key key);

/* A walk: the first node whose order is at least that; the one behind a node that this section has
 * found; NULL: none. A node that is in all the time is met once. A walk of several sections goes on
 * from the last node's order + 1, and passes over others of that order. */
PAWL_API pawl_table_node *PAWL_SYMBOL_SEEN_(pawl_table_from)(const pawl_table *t, uint64_t order);
PAWL_API pawl_table_node *PAWL_SYMBOL_SEEN_(pawl_table_step)(const pawl_table *t,
                                                             const pawl_table_node *n);

/* ---- Changes, in a read section or outside --------------------------------------------------- */

/* Puts the node in, behind those of the same key; with `unique` only if there is none, else it
 * returns the first of them, which the caller may use in a read section begun before. Returns NULL
 * when the node is in. In a table already (a mistake, which the checking variant reports): returns
 * the node itself. */
PAWL_API pawl_table_node *PAWL_SYMBOL_SEEN_(pawl_table_insert_as)(pawl_table *t, pawl_table_node *n,
                                                                  pawl_table_key key, bool unique);

/* Takes the node out. Of threads that race for it one gets true; the others, in a read section that
 * has found the node, false. False outside such a race is a mistake. */
PAWL_API bool PAWL_SYMBOL_SEEN_(pawl_table_remove)(pawl_table *t, pawl_table_node *n);

/* Puts `fresh` in the place of the node, under its key: each look-up finds one of them. False,
 * without effect: the node was not in, or `fresh` was. */
PAWL_API bool PAWL_SYMBOL_SEEN_(pawl_table_replace)(pawl_table *t, pawl_table_node *n,
                                                    pawl_table_node *fresh);

/* ---- Ends ------------------------------------------------------------------------------------ */

/* Frees the arrays at once. No thread uses the table, now or later. */
PAWL_API void PAWL_SYMBOL_(pawl_table_destroy)(pawl_table *t);
/* The node is not used after this. The checking variant reports one that is still in. */
PAWL_API void PAWL_SYMBOL_(pawl_table_node_destroy)(pawl_table_node *n);

PAWL_C_END

#define pawl_table_get PAWL_SYMBOL_SEEN_(pawl_table_get)
#define pawl_table_from PAWL_SYMBOL_SEEN_(pawl_table_from)
#define pawl_table_step PAWL_SYMBOL_SEEN_(pawl_table_step)
#define pawl_table_insert_as PAWL_SYMBOL_SEEN_(pawl_table_insert_as)
#define pawl_table_remove PAWL_SYMBOL_SEEN_(pawl_table_remove)
#define pawl_table_replace PAWL_SYMBOL_SEEN_(pawl_table_replace)
#define pawl_table_destroy PAWL_SYMBOL_(pawl_table_destroy)
#define pawl_table_node_destroy PAWL_SYMBOL_(pawl_table_node_destroy)

/* The object that has the node as its member. */
#define PAWL_TABLE_OBJECT(type, member, n) ((type *)(void *)((char *)(n) - offsetof(type, member)))

PAWL_INLINE_BEGIN

/* ---- Keys ------------------------------------------------------------------------------------ */

/* Numbers of 32 or 64 bits; of a table without `same`. Each has an order of its own. */
PAWL_INLINE pawl_table_key pawl_table_number(uint64_t number)
{
    pawl_table_key key;
    number = (number ^ number >> 32) * UINT64_C(0xd6e8feb86659fd93);
    key.order = (number ^ number >> 32) * UINT64_C(0xd6e8feb86659fd93);
    key.key = NULL;
    return key;
}

/* Any key with its hash, which need not be well mixed. */
PAWL_INLINE pawl_table_key pawl_table_hashed(uint64_t hash, const void *key)
{
    pawl_table_key mixed = pawl_table_number(hash);
    mixed.key = key;
    return mixed;
}

/* Bytes, with their hash (FNV-1a, 64 bits); `same` gets `bytes`. */
PAWL_INLINE pawl_table_key pawl_table_bytes(const void *bytes, size_t length)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    size_t i;
    for (i = 0; i < length; i++)
        hash = (hash ^ ((const unsigned char *)bytes)[i]) * UINT64_C(0x100000001b3);
    return pawl_table_hashed(hash, bytes);
}

/* ---- Names of the usual calls ---------------------------------------------------------------- */

PAWL_INLINE void pawl_table_init(pawl_table *t, const pawl_table_options *options)
{
    memset(t, 0, sizeof *t);
    if (options != NULL)
        t->options = *options;
}

#if PAWL_CHECKED
#define PAWL_TABLE_STAY_() __asm__ __volatile__("") /* the call stays one: it returns to the site */
#else
#define PAWL_TABLE_STAY_() ((void)0)
#endif

PAWL_INLINE PAWL_ALWAYS_INLINE_ void pawl_table_insert(pawl_table *t, pawl_table_node *n,
                                                       pawl_table_key key)
{
    (void)pawl_table_insert_as(t, n, key, false);
    PAWL_TABLE_STAY_();
}

/* NULL: the node is in. Else the node that has the key. */
PAWL_INLINE PAWL_ALWAYS_INLINE_ pawl_table_node *
pawl_table_insert_unique(pawl_table *t, pawl_table_node *n, pawl_table_key key)
{
    pawl_table_node *const there = pawl_table_insert_as(t, n, key, true);
    PAWL_TABLE_STAY_();
    return there;
}

PAWL_INLINE_END

#endif
