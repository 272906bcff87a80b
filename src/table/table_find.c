/* SPDX-License-Identifier: MIT */
/* Hash tables: look-ups and walks. */
#include "table_parts.h"

/* ---- Look-ups -------------------------------------------------------------------------------- */

static inline pawl_table_node *hash_head(const struct ipawl_table_array_ *array, uint64_t order)
{
    PLAIN_READ(*array);
    PLAIN_READ(*hash_bucket(array, order));
    return PAWL_RCU_DEREFERENCE_(hash_bucket(array, order)->head);
}

/* The first node from there on that is not before `order`, or the end. */
static inline pawl_table_node *hash_along(pawl_table_node *word, uint64_t order)
{
    while (!hash_is_end(word)) {
        word = hash_node(word);
        PLAIN_READ(word->order);
        if (word->order >= order)
            break;
        word = PAWL_RCU_DEREFERENCE_(word->next);
    }
    return word;
}

pawl_table_node *pawl_table_get(const pawl_table *t, pawl_table_key key)
{
    const struct ipawl_table_array_ *array = pawl_rcu_dereference(t->array);
    pawl_table_same *const same = t->options.same;
    while (array != NULL) {
        pawl_table_node *word = hash_head(array, key.order);
        for (;;) {
            word = hash_along(word, key.order);
            if (hash_is_end(word))
                break;
            if (word->order != key.order)
                return NULL;
            if (same == NULL || same(word, key.key))
                return word;
            word = PAWL_RCU_DEREFERENCE_(word->next);
        }
        if (hash_level(word) <= array->level)
            return NULL;
        array = PAWL_RCU_DEREFERENCE_(array->other);
    }
    return NULL;
}

/* The first order behind the bucket of that level; 0: there is none. */
static inline uint64_t hash_behind(uint64_t order, uint32_t level)
{
    return ((order >> (64 - level)) + 1) << (64 - level);
}

pawl_table_node *pawl_table_from(const pawl_table *t, uint64_t order)
{
    const struct ipawl_table_array_ *array = pawl_rcu_dereference(t->array);
    while (array != NULL) {
        pawl_table_node *const word = hash_along(hash_head(array, order), order);
        if (!hash_is_end(word))
            return word;
        if (hash_level(word) > array->level) {
            array = PAWL_RCU_DEREFERENCE_(array->other);
            continue;
        }
        order = hash_behind(order, array->level);
        if (order == 0)
            break;
        array = PAWL_RCU_DEREFERENCE_(t->array); /* the next bucket may not have moved yet */
    }
    return NULL;
}

pawl_table_node *pawl_table_step(const pawl_table *t, const pawl_table_node *n)
{
    pawl_table_node *const word = pawl_rcu_dereference(n->next);
    uint64_t order;
    if (!hash_is_end(word))
        return hash_node(word);
    order = hash_behind(n->order, hash_level(word));
    return order == 0 ? NULL : pawl_table_from(t, order);
}
