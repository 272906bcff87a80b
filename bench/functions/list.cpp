/* SPDX-License-Identifier: MIT */
/* The functions of rcu_list.h and idtable.h. */
#include "functions/functions.hpp"

namespace bench::functions {
namespace {

constexpr unsigned elements = 8;

struct element {
    long value = 0;
    pawl_list link = {nullptr, nullptr};
    pawl_hlist_node node = {nullptr, nullptr};
};

/* A list and a chain of eight, and further nodes that are in neither. */
struct lists {
    pawl_list head;
    pawl_hlist chain = PAWL_HLIST_INIT;
    pawl_rcu_domain *domain = pawl_rcu_default();
    element in[elements];
    pawl_list link = {nullptr, nullptr}, fresh = {nullptr, nullptr};
    pawl_hlist_node node = {nullptr, nullptr}, other = {nullptr, nullptr};
    lists()
    {
        pawl_list_init(&head);
        for (element &e : in) {
            pawl_list_add_rcu(&e.link, &head);
            pawl_hlist_add_rcu(&e.node, &chain);
        }
    }
    lists(const lists &) = delete;
    lists &operator=(const lists &) = delete;
};

/* A walk that looks at each element. */
#define PAWL_WALK(walk, ...)                                                                       \
    long walk##_of(const lists &l)                                                                 \
    {                                                                                              \
        const element *e;                                                                          \
        long sum = 0;                                                                              \
        walk(__VA_ARGS__) sum += e->value;                                                         \
        return sum;                                                                                \
    }
PAWL_WALK(pawl_list_for_each_rcu, e, &l.head, link)
PAWL_WALK(pawl_list_for_each_domain_rcu, l.domain, e, &l.head, link)
PAWL_WALK(pawl_list_for_each, e, &l.head, link)
PAWL_WALK(pawl_hlist_for_each_rcu, e, &l.chain, node)
PAWL_WALK(pawl_hlist_for_each_domain_rcu, l.domain, e, &l.chain, node)
PAWL_WALK(pawl_hlist_for_each, e, &l.chain, node)

void released(pawl_rcu_head *)
{
}

/* One table for all objects. Removed ones are released before the next batch. */
struct object {
    pawl_idtable_entry entry = {};
    pawl_id id = PAWL_ID_NONE;
    static pawl_idtable table;
    static void rest() { pawl_rcu_barrier(); }
};
pawl_idtable object::table = PAWL_IDTABLE_INIT(released);

/* Objects that are in the table all the time. */
struct present : object {
    present() { expect(pawl_idtable_insert(&table, &entry, &id) == 0, "the table is full"); }
    ~present()
    {
        pawl_idtable_remove(&table, &entry);
        pawl_idtable_retire(&table, &entry, sizeof *this);
        pawl_rcu_barrier();
    }
    present(const present &) = delete;
    present &operator=(const present &) = delete;
    static void rest() {}
};

#define PAWL_LIST(verb, before, call, after)                                                       \
    PAWL_ROW(all, lists, pawl_##verb, before, PAWL_DO(pawl_##verb call), after)
#define PAWL_READ_LOCK PAWL_DO(pawl_rcu_read_lock())
#define PAWL_READ_UNLOCK PAWL_DO(pawl_rcu_read_unlock())
#define PAWL_EACH(walk)                                                                            \
    PAWL_ROW(all, lists, walk, PAWL_READ_LOCK, PAWL_DO(walk##_of(o)), PAWL_READ_UNLOCK)

} // namespace

void add_list(rows &all)
{
    all.group("list");
    PAWL_ROW(all, pawl_list, pawl_list_init, PAWL_NOTHING, PAWL_DO(pawl_list_init(&o)),
             PAWL_NOTHING);
    PAWL_LIST(list_add_rcu, PAWL_NOTHING, (&o.link, &o.head), PAWL_DO(pawl_list_del_rcu(&o.link)));
    PAWL_LIST(list_add_tail_rcu, PAWL_NOTHING, (&o.link, &o.head),
              PAWL_DO(pawl_list_del_rcu(&o.link)));
    PAWL_LIST(list_del_rcu, PAWL_DO(pawl_list_add_rcu(&o.link, &o.head)), (&o.link), PAWL_NOTHING);
    PAWL_LIST(list_replace_rcu, PAWL_DO(pawl_list_add_rcu(&o.link, &o.head)), (&o.link, &o.fresh),
              PAWL_DO(pawl_list_del_rcu(&o.fresh)));
    PAWL_ROW(all, lists, pawl_list_is_empty, PAWL_NOTHING, PAWL_DO(!pawl_list_is_empty(&o.head)),
             PAWL_NOTHING);
    PAWL_LIST(list_first, PAWL_NOTHING, (element, &o.head, link), PAWL_NOTHING);
    PAWL_EACH(pawl_list_for_each_rcu);
    PAWL_EACH(pawl_list_for_each_domain_rcu);
    PAWL_EACH(pawl_list_for_each);
    PAWL_LIST(hlist_add_rcu, PAWL_NOTHING, (&o.node, &o.chain),
              PAWL_DO(pawl_hlist_del_rcu(&o.node)));
    PAWL_LIST(hlist_add_behind_rcu, PAWL_NOTHING, (&o.node, &o.in[3].node),
              PAWL_DO(pawl_hlist_del_rcu(&o.node)));
    PAWL_LIST(hlist_add_before_rcu, PAWL_NOTHING, (&o.node, &o.in[3].node),
              PAWL_DO(pawl_hlist_del_rcu(&o.node)));
    PAWL_LIST(hlist_del_rcu, PAWL_DO(pawl_hlist_add_rcu(&o.node, &o.chain)), (&o.node),
              PAWL_NOTHING);
    PAWL_LIST(hlist_replace_rcu, PAWL_DO(pawl_hlist_add_rcu(&o.node, &o.chain)),
              (&o.node, &o.other), PAWL_DO(pawl_hlist_del_rcu(&o.other)));
    PAWL_ROW(all, lists, pawl_hlist_is_empty, PAWL_NOTHING, PAWL_DO(!pawl_hlist_is_empty(&o.chain)),
             PAWL_NOTHING);
    PAWL_LIST(hlist_first, PAWL_NOTHING, (element, &o.chain, node), PAWL_NOTHING);
    PAWL_EACH(pawl_hlist_for_each_rcu);
    PAWL_EACH(pawl_hlist_for_each_domain_rcu);
    PAWL_EACH(pawl_hlist_for_each);
}

#define PAWL_INSERT PAWL_DO(pawl_idtable_insert(&o.table, &o.entry, &o.id))
#define PAWL_REMOVE PAWL_DO(pawl_idtable_remove(&o.table, &o.entry))
#define PAWL_RETIRE PAWL_DO(pawl_idtable_retire(&o.table, &o.entry, sizeof o))
#define PAWL_TABLE(verb, call)                                                                     \
    PAWL_ROW(all, present, pawl_idtable_##verb, PAWL_READ_LOCK, PAWL_DO(pawl_idtable_##verb call), \
             PAWL_READ_UNLOCK)

void add_idtable(rows &all)
{
    all.group("idtable");
    PAWL_ROW(all, pawl_idtable, pawl_idtable_init, PAWL_NOTHING,
             PAWL_DO(pawl_idtable_init(&o, nullptr) == 0), PAWL_DO(pawl_idtable_destroy(&o)));
    PAWL_ROW(all, pawl_idtable, pawl_idtable_destroy, PAWL_DO(pawl_idtable_init(&o, nullptr)),
             PAWL_DO(pawl_idtable_destroy(&o)), PAWL_NOTHING);
    PAWL_ROW(all, object, pawl_idtable_insert, PAWL_NOTHING,
             PAWL_DO(pawl_idtable_insert(&o.table, &o.entry, &o.id) == 0),
             PAWL_DO(pawl_idtable_remove(&o.table, &o.entry),
                     pawl_idtable_retire(&o.table, &o.entry, sizeof o)));
    PAWL_ROW(all, object, pawl_idtable_remove, PAWL_INSERT, PAWL_REMOVE, PAWL_RETIRE);
    PAWL_ROW(all, object, pawl_idtable_retire,
             PAWL_DO(pawl_idtable_insert(&o.table, &o.entry, &o.id),
                     pawl_idtable_remove(&o.table, &o.entry)),
             PAWL_RETIRE, PAWL_NOTHING);
    PAWL_ROW(all, present, pawl_idtable_reserve, PAWL_NOTHING,
             PAWL_DO(pawl_idtable_reserve(&o.table, 2) == 0), PAWL_NOTHING);
    PAWL_TABLE(next, (&o.table, &o.id));
    PAWL_TABLE(peek, (&o.table, o.id));
    PAWL_TABLE(count, (&o.table));
    PAWL_TABLE(parked, (&o.table));
    PAWL_ROW(all, present, pawl_idtable_is_removed, PAWL_READ_LOCK,
             PAWL_DO(!pawl_idtable_is_removed(&o.entry)), PAWL_READ_UNLOCK);
    PAWL_ROW(all, present, pawl_idtable_read_lock, PAWL_NOTHING,
             PAWL_DO(pawl_idtable_read_lock(&o.table)),
             PAWL_DO(pawl_idtable_read_unlock(&o.table)));
    PAWL_ROW(all, present, pawl_idtable_read_unlock, PAWL_DO(pawl_idtable_read_lock(&o.table)),
             PAWL_DO(pawl_idtable_read_unlock(&o.table)), PAWL_NOTHING);
}

} // namespace bench::functions
