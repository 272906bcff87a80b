/* SPDX-License-Identifier: MIT */
/*
 * Ordered trees that many threads share: elastic binary trees, with a progressive lock. The node is
 * part of the program's object, so nothing is allocated. Nodes of equal keys stay in the order of
 * their insertion. For maps, caches and logs that are searched much more than changed.
 *
 * Not for look-ups by exact key alone where a hash table fits, nor for memory that processes share.
 * Keys with many long common beginnings make searches long: one step for each bit that differs.
 *
 *   pawl_tree  root | kind | lock | sequence | walks
 *   node       branch[2] | key | length | depth | inner_up | leaf_up
 *              the inner part: where keys part      the leaf: where this key is
 *
 *   Inserting 3 into 1, 2, 4, 5 (three bits each). (n) is the inner part of n, and n its leaf.
 *
 *            (4) bit 0                          (4) bit 0
 *           /       \                          /       \
 *     (2) bit 1    (5) bit 2      -->    (2) bit 1    (5) bit 2        one word below (2) is
 *     /    \        /    \               /    \        /    \          stored, and the word
 *    1      2      4      5             1  (3) bit 2  4      5         above leaf 2
 *                                           /    \
 *                                          2      3
 *
 *   branch    of the inner part. The lowest bit says that the leaf of the node is meant.
 *   depth     of the inner part: its keys agree in so many bits and part there. Nodes of one key
 *             have depths near 2^32, and hang together as a counter of ones does.
 *   *_up      the inner part above, with the side; 0: not in the tree.
 *
 * An inner part lies above the leaf of its own node. n keys have n - 1 inner parts. A removal
 * frees the part above the leaf. If the node's own part is in use elsewhere, the freed one takes
 * its place: at most one part moves, so removal takes constant time, and nothing is rebalanced.
 *
 * Modes
 *   look-ups      R, taken by the caller, and kept while it uses the result
 *   insert        S beside the readers while it searches, then W for the stores
 *   remove        S, then W
 *   batch         A, taken by the caller: batches exclude readers, not each other; each change
 *                 in one takes the sequence's own lock
 *   get           nothing, in an RCU read section. RCU keeps the memory. The sequence, looked at
 *                 behind each step, finds that a part has moved; it begins again at most
 *                 PAWL_TREE_TRIES times, then takes R.
 *   walk          R for each step. A removal moves the walks that stand on its node.
 *
 * Cost: a search passes at most one part for each bit in which keys part, log2(n) for keys at
 * random. find and get of a number end at the node's own part, one to two steps earlier, if no two
 * nodes had one key. insert: a search, and two words and the new node stored. remove: no search.
 * get: five loads a step, and no store. A node has 48 bytes (32 on 32-bit targets).
 *
 * Invariants
 *   I1  what get follows was above the key at one moment after its begin: an insertion is one store
 *       for it, and so is a removal that moves no part; any other changes the sequence.
 *   I2  a removed node keeps its branches, so a get that stands in it goes on. For that it is
 *       inserted again, or freed, only a grace period later, if some thread calls get.
 *   I3  a walk returns each node once that is in all the time.
 *
 * Zero bytes are a tree of numbers, and a node that is not in a tree. After fork the child has the
 * tree and the forking thread's holds, unless another thread was changing it. Not in signal
 * handlers.
 */
#ifndef PAWL_TREE_H
#define PAWL_TREE_H

#include <pawl/lock.h>
#include <pawl/rcu.h>
#include <pawl/seq.h>

/* How often a look-up without a lock begins before it takes R. */
#define PAWL_TREE_TRIES 4

/* Kinds of keys: how many bits may end a key. Numbers of 32 or 64 bits; prefixes of addresses in
 * network order; blocks of memory and strings, ordered as by memcmp, the shorter first. */
enum pawl_tree_kind { PAWL_TREE_NUMBERS = 0, PAWL_TREE_PREFIXES = 1, PAWL_TREE_BYTES = 8 };

/* At most so many bytes, or bits of a prefix. Longer keys count up to there. */
#define PAWL_TREE_LENGTH (UINT32_MAX / 16)

union pawl_tree_value {
    uint64_t number;
    const void *bytes; /* the program's: constant until the node is out, and get has left it */
};

/* Made by the functions below. */
typedef struct pawl_tree_key {
    union pawl_tree_value value;
    uint32_t length; /* of bytes, or bits of a prefix */
} pawl_tree_key;

typedef struct pawl_tree_node {
    struct pawl_tree_node *branch[2];
    union pawl_tree_value value;
    uint32_t length;
    uint32_t depth;
    uintptr_t inner_up;
    uintptr_t leaf_up;
#if PAWL_CHECKED
    const void *site; /* of the last call that inserted or removed it */
#endif
} pawl_tree_node;

/* A walk. `at` is the node to return next; a holder of R may set it to where it shall begin. */
typedef struct pawl_tree_walk {
    pawl_tree_node *at;
    struct pawl_tree_walk *next;
} pawl_tree_walk;

typedef struct pawl_tree {
    pawl_tree_node *root[1];
    uint32_t kind; /* enum pawl_tree_kind; and the highest bit once two nodes had one key */
    pawl_lock64 lock;
    pawl_seq sequence;
    pawl_tree_walk *walks;
} pawl_tree;

/* Of a tree without nodes, for static storage: enum pawl_tree_kind. */
#define PAWL_TREE_INIT(kind) {{NULL}, (kind), PAWL_LOCK64_INIT, PAWL_SEQ_INIT, NULL}

PAWL_C_BEGIN

/* ---- Look-ups under a lock: the caller holds R, S or W as long as it uses the result --------- */

/* The first node of that key, in order of insertion; NULL: none. */
PAWL_API pawl_tree_node *PAWL_SYMBOL_(pawl_tree_find)(const pawl_tree *t, pawl_tree_key key);

/* The longest key that begins `key`: of the prefixes that have an address, the longest. Not for
 * numbers: NULL. */
PAWL_API pawl_tree_node *PAWL_SYMBOL_(pawl_tree_match)(const pawl_tree *t, pawl_tree_key key);

/* Towards 0: the first node whose key is at least `key`. 1: the last whose key is at most that. */
PAWL_API pawl_tree_node *PAWL_SYMBOL_(pawl_tree_near)(const pawl_tree *t, pawl_tree_key key,
                                                      unsigned towards);

/* The first (0) or last (1) node of all; the node behind (0) or before (1) one. NULL: none. */
PAWL_API pawl_tree_node *PAWL_SYMBOL_(pawl_tree_end)(const pawl_tree *t, unsigned towards);
PAWL_API pawl_tree_node *PAWL_SYMBOL_(pawl_tree_step)(const pawl_tree_node *n, unsigned towards);

/* ---- Look-ups without a lock ----------------------------------------------------------------- */

/* As find, in an RCU read section of the default domain, which keeps the node's memory if it is
 * freed a grace period after its removal. The node may be removed at any moment. May wait for R:
 * no holder of the tree's lock may wait for a grace period, and none of A may call this. Acquire:
 * of the node, all that came before its insertion is seen. */
PAWL_API pawl_tree_node *PAWL_SYMBOL_SEEN_(pawl_tree_get)(pawl_tree *t, pawl_tree_key key);

/* ---- Changes --------------------------------------------------------------------------------- */

/* The lock that the caller holds, and whether the key may be there already. */
enum pawl_tree_how {
    PAWL_TREE_TAKES = 0,
    PAWL_TREE_HAS_WRITE = 1,
    PAWL_TREE_HAS_ATOMIC = 2,
    PAWL_TREE_UNIQUE = 4
};

/* Puts the node in, behind those of the same key. UNIQUE: only if there is none; else it returns
 * the first of them, which the caller may use if something keeps it: a lock, or a read section.
 * Returns NULL when the node is in. In a tree already (a mistake, which the checking variant
 * reports): returns the node itself. */
PAWL_API pawl_tree_node *PAWL_SYMBOL_SEEN_(pawl_tree_insert_as)(pawl_tree *t, pawl_tree_node *n,
                                                                pawl_tree_key key, unsigned how);

/* Takes the node out. False, without effect: it was not in (a mistake, which the checking variant
 * reports). Where threads may race for it, find it under S, go to W, and remove it there. */
PAWL_API bool PAWL_SYMBOL_SEEN_(pawl_tree_remove_as)(pawl_tree *t, pawl_tree_node *n, unsigned how);

/* ---- Walks and ends -------------------------------------------------------------------------- */

/* Begins a walk at the first node. It takes S, and so does its end. Between steps the caller may
 * drop the lock, and any thread may insert and remove. */
PAWL_API void PAWL_SYMBOL_SEEN_(pawl_tree_walk_begin)(pawl_tree *t, pawl_tree_walk *w);
PAWL_API void PAWL_SYMBOL_SEEN_(pawl_tree_walk_end)(pawl_tree *t, pawl_tree_walk *w);

/* The tree, or the node, is not used after this. The checking variant reports a tree with walks,
 * and a node that is still in. */
PAWL_API void PAWL_SYMBOL_(pawl_tree_destroy)(pawl_tree *t);
PAWL_API void PAWL_SYMBOL_(pawl_tree_node_destroy)(pawl_tree_node *n);

PAWL_C_END

#define pawl_tree_find PAWL_SYMBOL_(pawl_tree_find)
#define pawl_tree_match PAWL_SYMBOL_(pawl_tree_match)
#define pawl_tree_near PAWL_SYMBOL_(pawl_tree_near)
#define pawl_tree_end PAWL_SYMBOL_(pawl_tree_end)
#define pawl_tree_step PAWL_SYMBOL_(pawl_tree_step)
#define pawl_tree_get PAWL_SYMBOL_SEEN_(pawl_tree_get)
#define pawl_tree_insert_as PAWL_SYMBOL_SEEN_(pawl_tree_insert_as)
#define pawl_tree_remove_as PAWL_SYMBOL_SEEN_(pawl_tree_remove_as)
#define pawl_tree_walk_begin PAWL_SYMBOL_SEEN_(pawl_tree_walk_begin)
#define pawl_tree_walk_end PAWL_SYMBOL_SEEN_(pawl_tree_walk_end)
#define pawl_tree_destroy PAWL_SYMBOL_(pawl_tree_destroy)
#define pawl_tree_node_destroy PAWL_SYMBOL_(pawl_tree_node_destroy)

/* The object that has the node as its member. */
#define PAWL_TREE_OBJECT(type, member, n) ((type *)(void *)((char *)(n) - offsetof(type, member)))

PAWL_INLINE_BEGIN

/* ---- Keys ------------------------------------------------------------------------------------ */

PAWL_INLINE pawl_tree_key pawl_tree_number(uint64_t number)
{
    pawl_tree_key key;
    key.value.number = number;
    key.length = 0;
    return key;
}

PAWL_INLINE pawl_tree_key pawl_tree_bytes(const void *bytes, size_t length)
{
    pawl_tree_key key;
    key.value.bytes = bytes;
    key.length = length < PAWL_TREE_LENGTH ? (uint32_t)length : PAWL_TREE_LENGTH;
    return key;
}

PAWL_INLINE pawl_tree_key pawl_tree_string(const char *string)
{
    return pawl_tree_bytes(string, strlen(string));
}

/* So many bits of an address; for match, all bits of an address. */
PAWL_INLINE pawl_tree_key pawl_tree_prefix(const void *address, unsigned bits)
{
    return pawl_tree_bytes(address, bits);
}

/* ---- Names of the usual calls ---------------------------------------------------------------- */

PAWL_INLINE void pawl_tree_init(pawl_tree *t, enum pawl_tree_kind kind)
{
    const pawl_tree fresh = PAWL_TREE_INIT((uint32_t)kind);
    *t = fresh;
}

#if PAWL_CHECKED
#define PAWL_TREE_STAY_() __asm__ __volatile__("") /* the call stays one: it returns to the site */
#else
#define PAWL_TREE_STAY_() ((void)0)
#endif

/* The caller holds no lock of the tree. */
PAWL_INLINE PAWL_ALWAYS_INLINE_ void pawl_tree_insert(pawl_tree *t, pawl_tree_node *n,
                                                      pawl_tree_key key)
{
    (void)pawl_tree_insert_as(t, n, key, PAWL_TREE_TAKES);
    PAWL_TREE_STAY_();
}

/* NULL: the node is in. Else the node that has the key. */
PAWL_INLINE PAWL_ALWAYS_INLINE_ pawl_tree_node *
pawl_tree_insert_unique(pawl_tree *t, pawl_tree_node *n, pawl_tree_key key)
{
    pawl_tree_node *const there = pawl_tree_insert_as(t, n, key, PAWL_TREE_UNIQUE);
    PAWL_TREE_STAY_();
    return there;
}

PAWL_INLINE PAWL_ALWAYS_INLINE_ bool pawl_tree_remove(pawl_tree *t, pawl_tree_node *n)
{
    const bool was_in = pawl_tree_remove_as(t, n, PAWL_TREE_TAKES);
    PAWL_TREE_STAY_();
    return was_in;
}

/* The next node of the walk; NULL: it is over. The caller holds R as long as it uses the node. */
PAWL_INLINE pawl_tree_node *pawl_tree_walk_next(pawl_tree_walk *w)
{
    pawl_tree_node *const n = w->at;
    if (n != NULL)
        w->at = pawl_tree_step(n, 0);
    return n;
}

PAWL_INLINE_END

#endif
