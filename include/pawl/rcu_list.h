/* SPDX-License-Identifier: MIT */
/*
 * Lists and hash chains. Readers walk them under RCU while one writer at a time changes them.
 * Intrusive: the program's element contains the node, and nothing is allocated.
 *
 * Not for: concurrent writers without a lock (examples/rcu_nonblocking_writers.c has a chain for
 * that); walks backwards; a fixed order of elements. A reader may or may not see an element that
 * is added or deleted during its walk.
 *
 *   pawl_list        head and nodes; a ring, in order of insertion     two pointers a head
 *   pawl_hlist       head of a chain that ends with NULL               one pointer a head
 *   pawl_hlist_node
 *
 *   next      readers follow it; every store is a release. It stays when the node is deleted, so
 *             that readers on the node find their way back.
 *   previous  writers only. Not NULL exactly while the node is in a list.
 *   where     the same in a chain; it points to the pointer that leads to the node.
 *
 * Zero bytes are an empty chain, and a node in no list; a list's head needs PAWL_LIST_INIT.
 *
 * Cost: a reader's step is one load. Writers: four stores to add, three to delete.
 *
 * Invariants
 *   I1  from any node that a reader can be on, `next` leads in finitely many steps to the head (of
 *       a chain: to NULL), if no element is added meanwhile.
 *   I2  a reader that sees a pointer to a node sees the stores of its writer to the element.
 *   I3  a reader sees an element exactly once if it was in the list during the whole walk.
 *
 * Free a deleted element after a grace period (pawl_rcu_defer_free), and add it nowhere before:
 * readers on it would walk into another list and never meet its head. One exception: an element
 * may move at once from one chain to another, where the walk ends. Its readers miss the rest of
 * the old chain, and must notice that themselves (examples/rcu_rename.c).
 *
 *   struct user { long id; pawl_list link; struct pawl_rcu_head rcu; };
 *   static pawl_list users = PAWL_LIST_INIT(users);
 *
 *   pawl_rcu_read_lock();
 *   pawl_list_for_each_rcu(u, &users, link)
 *       if (u->id == wanted)
 *           break;                                 u is NULL after a loop that met no break
 *   pawl_rcu_read_unlock();
 */
#ifndef PAWL_RCU_LIST_H
#define PAWL_RCU_LIST_H

#include <pawl/rcu.h>
#include <pawl/thread.h>

typedef struct pawl_list {
    struct pawl_list *next;
    struct pawl_list *previous;
} pawl_list;

typedef struct pawl_hlist_node {
    struct pawl_hlist_node *next;
    struct pawl_hlist_node **where;
} pawl_hlist_node;

typedef struct pawl_hlist {
    pawl_hlist_node *first;
} pawl_hlist;

/* For the head called `name`. */
#define PAWL_LIST_INIT(name) {&(name), &(name)}
#define PAWL_HLIST_INIT {NULL}

PAWL_INLINE_BEGIN

/* ---- Lists: writers, one at a time ----------------------------------------------------------- */

PAWL_INLINE void pawl_list_init(pawl_list *head)
{
    head->next = head;
    head->previous = head;
}

PAWL_INLINE void ipawl_list_add_between_(pawl_list *node, pawl_list *before, pawl_list *after)
{
    node->previous = before;
    pawl_rcu_assign_pointer(node->next, after);
    after->previous = node;
    pawl_rcu_assign_pointer(before->next, node); /* from now on readers find it */
}

/* Adds behind `at`: the head, or an element of the list. The node is in no list. */
PAWL_INLINE void pawl_list_add_rcu(pawl_list *node, pawl_list *at)
{
    ipawl_list_add_between_(node, at, at->next);
}

/* Adds before `at`; before the head means at the end. */
PAWL_INLINE void pawl_list_add_tail_rcu(pawl_list *node, pawl_list *at)
{
    ipawl_list_add_between_(node, at->previous, at);
}

/* Returns false, without effect, if the node is in no list. */
PAWL_INLINE bool pawl_list_del_rcu(pawl_list *node)
{
    pawl_list *const before = node->previous, *const after = node->next;
    if (before == NULL)
        return false;
    after->previous = before;
    /* Release here too: a reader that follows this store may see `after` for the first time, and
     * its writer was perhaps another thread. */
    pawl_rcu_assign_pointer(before->next, after);
    node->previous = NULL;
    return true;
}

/* `fresh` takes the place of `old` in one step: each reader sees one of them. `fresh` is in no
 * list; it may be a copy of the whole element. Returns false, without effect, if `old` is in no
 * list. */
PAWL_INLINE bool pawl_list_replace_rcu(pawl_list *old, pawl_list *fresh)
{
    if (old->previous == NULL)
        return false;
    ipawl_list_add_between_(fresh, old->previous, old->next);
    old->previous = NULL;
    return true;
}

/* ---- Chains: writers, one at a time for each chain ------------------------------------------- */

PAWL_INLINE void ipawl_hlist_add_at_(pawl_hlist_node *node, pawl_hlist_node **where)
{
    pawl_hlist_node *const after = *where;
    node->where = where;
    /* A release although the node is not in yet: readers may still be on a moved node. */
    pawl_rcu_assign_pointer(node->next, after);
    if (after != NULL)
        after->where = &node->next;
    pawl_rcu_assign_pointer(*where, node); /* from now on readers find it */
}

/* Adds at the front. The node is in no chain. */
PAWL_INLINE void pawl_hlist_add_rcu(pawl_hlist_node *node, pawl_hlist *chain)
{
    ipawl_hlist_add_at_(node, &chain->first);
}

/* Add behind, and before, a node of the chain. */
PAWL_INLINE void pawl_hlist_add_behind_rcu(pawl_hlist_node *node, pawl_hlist_node *at)
{
    ipawl_hlist_add_at_(node, &at->next);
}

PAWL_INLINE void pawl_hlist_add_before_rcu(pawl_hlist_node *node, pawl_hlist_node *at)
{
    ipawl_hlist_add_at_(node, at->where);
}

/* Returns false, without effect, if the node is in no chain. */
PAWL_INLINE bool pawl_hlist_del_rcu(pawl_hlist_node *node)
{
    pawl_hlist_node *const after = node->next;
    if (node->where == NULL)
        return false;
    if (after != NULL)
        after->where = node->where;
    pawl_rcu_assign_pointer(*node->where, after);
    node->where = NULL;
    return true;
}

/* As pawl_list_replace_rcu. */
PAWL_INLINE bool pawl_hlist_replace_rcu(pawl_hlist_node *old, pawl_hlist_node *fresh)
{
    pawl_hlist_node *const after = old->next;
    if (old->where == NULL)
        return false;
    fresh->where = old->where;
    pawl_rcu_assign_pointer(fresh->next, after);
    if (after != NULL)
        after->where = &fresh->next;
    pawl_rcu_assign_pointer(*old->where, fresh);
    old->where = NULL;
    return true;
}

/* ---- Any thread: the answer is true now, or was a moment ago --------------------------------- */

PAWL_INLINE bool pawl_list_is_empty(const pawl_list *head)
{
    return PAWL_ADDRESS_(pawl_load_relaxed)((const ipawl_address_ *)&head->next) ==
           (ipawl_address_)(uintptr_t)head;
}

PAWL_INLINE bool pawl_hlist_is_empty(const pawl_hlist *chain)
{
    return PAWL_ADDRESS_(pawl_load_relaxed)((const ipawl_address_ *)&chain->first) == 0;
}

/* ---- One step of the walks below ------------------------------------------------------------- */

PAWL_INLINE PAWL_ALWAYS_INLINE_ pawl_list *ipawl_list_next_rcu_(const pawl_list *node)
{
    pawl_list *const at = (pawl_list *)(uintptr_t)node;
    return pawl_rcu_dereference(at->next);
}

PAWL_INLINE PAWL_ALWAYS_INLINE_ pawl_list *ipawl_list_next_domain_rcu_(pawl_rcu_domain *domain,
                                                                       const pawl_list *node)
{
    pawl_list *const at = (pawl_list *)(uintptr_t)node;
    return pawl_rcu_domain_dereference(domain, at->next);
}

PAWL_INLINE PAWL_ALWAYS_INLINE_ pawl_hlist_node *
ipawl_hlist_next_rcu_(pawl_hlist_node *const *where)
{
    pawl_hlist_node **const at = (pawl_hlist_node **)(uintptr_t)where;
    return pawl_rcu_dereference(*at);
}

PAWL_INLINE PAWL_ALWAYS_INLINE_ pawl_hlist_node *
ipawl_hlist_next_domain_rcu_(pawl_rcu_domain *domain, pawl_hlist_node *const *where)
{
    pawl_hlist_node **const at = (pawl_hlist_node **)(uintptr_t)where;
    return pawl_rcu_domain_dereference(domain, *at);
}

/* Returns the element whose node lies at this offset; NULL if the node is `end`. */
PAWL_INLINE PAWL_ALWAYS_INLINE_ void *ipawl_list_element_(const void *node, const void *end,
                                                          size_t offset)
{
    return node == end ? NULL : (void *)((uintptr_t)node - offset);
}

PAWL_INLINE_END

#define PAWL_LIST_ELEMENT_(pos, node, end, member)                                                 \
    ((__typeof__(pos))ipawl_list_element_((node), (end), offsetof(__typeof__(*(pos)), member)))

/* ---- Walks ----------------------------------------------------------------------------------- */
/* `pos` is a pointer (to const, if you like) to elements that have a node called `member`. It is
 * NULL after a walk that met no break. Head, chain and domain are evaluated at each step. */

/* For readers of the default domain; of another one (pawl_rcu_qs() too); and for writers, whose
 * lock keeps the list unchanged. A writer may delete `pos` during its walk, but not free it at
 * once. */
#define pawl_list_for_each_rcu(pos, head, member)                                                  \
    for ((pos) = PAWL_LIST_ELEMENT_(pos, ipawl_list_next_rcu_(head), head, member); (pos) != NULL; \
         (pos) = PAWL_LIST_ELEMENT_(pos, ipawl_list_next_rcu_(&(pos)->member), head, member))

#define pawl_list_for_each_domain_rcu(domain, pos, head, member)                                   \
    for ((pos) = PAWL_LIST_ELEMENT_(pos, ipawl_list_next_domain_rcu_(domain, head), head, member); \
         (pos) != NULL;                                                                            \
         (pos) = PAWL_LIST_ELEMENT_(pos, ipawl_list_next_domain_rcu_(domain, &(pos)->member),      \
                                    head, member))

#define pawl_list_for_each(pos, head, member)                                                      \
    for ((pos) = PAWL_LIST_ELEMENT_(pos, (head)->next, head, member); (pos) != NULL;               \
         (pos) = PAWL_LIST_ELEMENT_(pos, (pos)->member.next, head, member))

/* The same for chains. */
#define pawl_hlist_for_each_rcu(pos, chain, member)                                                \
    for ((pos) = PAWL_LIST_ELEMENT_(pos, ipawl_hlist_next_rcu_(&(chain)->first), NULL, member);    \
         (pos) != NULL; (pos) = PAWL_LIST_ELEMENT_(                                                \
                            pos, ipawl_hlist_next_rcu_(&(pos)->member.next), NULL, member))

#define pawl_hlist_for_each_domain_rcu(domain, pos, chain, member)                                 \
    for ((pos) = PAWL_LIST_ELEMENT_(pos, ipawl_hlist_next_domain_rcu_(domain, &(chain)->first),    \
                                    NULL, member);                                                 \
         (pos) != NULL;                                                                            \
         (pos) = PAWL_LIST_ELEMENT_(                                                               \
             pos, ipawl_hlist_next_domain_rcu_(domain, &(pos)->member.next), NULL, member))

#define pawl_hlist_for_each(pos, chain, member)                                                    \
    for ((pos) = PAWL_LIST_ELEMENT_(pos, (chain)->first, NULL, member); (pos) != NULL;             \
         (pos) = PAWL_LIST_ELEMENT_(pos, (pos)->member.next, NULL, member))

/* For writers: the first element or NULL. To empty a list, delete the first one until
 * it is NULL. */
#define pawl_list_first(type, head, member)                                                        \
    ((type *)ipawl_list_element_((head)->next, (head), offsetof(type, member)))
#define pawl_hlist_first(type, chain, member)                                                      \
    ((type *)ipawl_list_element_((chain)->first, NULL, offsetof(type, member)))

#endif
