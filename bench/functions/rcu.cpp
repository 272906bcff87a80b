/* SPDX-License-Identifier: MIT */
/* The functions of rcu.h, rcu_pointer.h and rcu_call.h, while no other thread reads. */
#include "functions/functions.hpp"

#include <cstdlib>

namespace bench::functions {
namespace {

/* One domain of the program's own. */
pawl_rcu_domain *own()
{
    static pawl_rcu_domain domain;
    static const int made = pawl_rcu_domain_init(&domain, "own");
    expect(made == 0, "no domain was made");
    return &domain;
}

/* A few at once: there are no more than 12. */
struct domain {
    static constexpr unsigned at_once = 4;
    pawl_rcu_domain domain;
};

/* Domains that have had no callback yet. */
struct fresh_domain : domain {
    fresh_domain() { expect(pawl_rcu_domain_init(&domain, "fresh") == 0, "no domain was made"); }
    ~fresh_domain() { pawl_rcu_domain_destroy(&domain); }
    fresh_domain(const fresh_domain &) = delete;
    fresh_domain &operator=(const fresh_domain &) = delete;
};

struct reader {
    pawl_rcu_domain *there = own();
};

struct published {
    long one = 1, other = 2;
    long *pointer = &one;
    pawl_rcu_domain *there = own();
    published() = default;
    published(const published &) = delete;
    published &operator=(const published &) = delete;
};

/* Grace periods are long: fewer of them. */
struct waiter {
    static constexpr unsigned at_once = 4;
    std::uint64_t cookie = 0;
    pawl_rcu_domain *there = own();
};

void nothing(pawl_rcu_head *)
{
}

struct called {
    pawl_rcu_head head;
    static void rest() { pawl_rcu_barrier(); }
};

struct called_there {
    pawl_rcu_head head;
    pawl_rcu_domain *there = own();
    static void rest() { pawl_rcu_domain_barrier(own()); }
};

struct node {
    long value;
    pawl_rcu_head head;
};

struct freed {
    node *object;
    static void rest() { pawl_rcu_barrier(); }
};

struct freed_there {
    node *object;
    pawl_rcu_domain *there = own();
    static void rest() { pawl_rcu_domain_barrier(own()); }
};

struct counted {
    pawl_rcu_statistics found = {};
    pawl_rcu_domain *there = own();
};

node *allocate()
{
    void *const memory = std::malloc(sizeof(node));
    expect(memory != nullptr, "no memory");
    return static_cast<node *>(memory);
}

#define PAWL_RCU(Object, function, before, call, after)                                            \
    PAWL_NAMED(all, Object, #function, before, PAWL_DO(function call), after)

void add_readers(rows &all)
{
    PAWL_RCU(reader, pawl_rcu_default, PAWL_NOTHING, (), PAWL_NOTHING);
    PAWL_RCU(reader, pawl_rcu_qs, PAWL_NOTHING, (), PAWL_NOTHING);
    PAWL_RCU(reader, pawl_rcu_read_lock, PAWL_NOTHING, (), PAWL_DO(pawl_rcu_read_unlock()));
    PAWL_RCU(reader, pawl_rcu_read_unlock, PAWL_DO(pawl_rcu_read_lock()), (), PAWL_NOTHING);
    PAWL_RCU(reader, pawl_rcu_read_held, PAWL_DO(pawl_rcu_read_lock()), (),
             PAWL_DO(pawl_rcu_read_unlock()));
    PAWL_RCU(reader, pawl_rcu_domain_read_lock, PAWL_NOTHING, (o.there),
             PAWL_DO(pawl_rcu_domain_read_unlock(o.there)));
    PAWL_RCU(reader, pawl_rcu_domain_read_unlock, PAWL_DO(pawl_rcu_domain_read_lock(o.there)),
             (o.there), PAWL_NOTHING);
    PAWL_RCU(reader, pawl_rcu_domain_read_held, PAWL_DO(pawl_rcu_domain_read_lock(o.there)),
             (o.there), PAWL_DO(pawl_rcu_domain_read_unlock(o.there)));
    PAWL_RCU(reader, pawl_rcu_qs_online, PAWL_NOTHING, (), PAWL_DO(pawl_rcu_qs_offline()));
    PAWL_RCU(reader, pawl_rcu_qs_offline, PAWL_DO(pawl_rcu_qs_online()), (), PAWL_NOTHING);
    PAWL_RCU(reader, pawl_rcu_qs_quiescent, PAWL_DO(pawl_rcu_qs_online()), (),
             PAWL_DO(pawl_rcu_qs_offline()));
}

void add_pointers(rows &all)
{
    PAWL_RCU(published, pawl_rcu_dereference, PAWL_DO(pawl_rcu_read_lock()), (o.pointer),
             PAWL_DO(pawl_rcu_read_unlock()));
    PAWL_RCU(published, pawl_rcu_domain_dereference, PAWL_DO(pawl_rcu_domain_read_lock(o.there)),
             (o.there, o.pointer), PAWL_DO(pawl_rcu_domain_read_unlock(o.there)));
    PAWL_RCU(published, pawl_rcu_dereference_protected, PAWL_NOTHING, (o.pointer), PAWL_NOTHING);
    PAWL_RCU(published, pawl_rcu_assign_pointer, PAWL_NOTHING, (o.pointer, &o.other), PAWL_NOTHING);
    PAWL_RCU(published, pawl_rcu_xchg_pointer, PAWL_NOTHING, (&o.pointer, &o.other), PAWL_NOTHING);
    PAWL_RCU(published, pawl_rcu_cmpxchg_pointer, PAWL_DO(o.pointer = &o.one),
             (&o.pointer, &o.one, &o.other), PAWL_NOTHING);
}

#define PAWL_OVER PAWL_DO(o.cookie = pawl_rcu_start_poll(), pawl_rcu_synchronize())
#define PAWL_OVER_THERE                                                                            \
    PAWL_DO(o.cookie = pawl_rcu_domain_start_poll(o.there), pawl_rcu_domain_synchronize(o.there))

void add_grace_periods(rows &all)
{
    PAWL_ROW(all, domain, pawl_rcu_domain_init, PAWL_NOTHING,
             PAWL_DO(pawl_rcu_domain_init(&o.domain, "row") == 0),
             PAWL_DO(pawl_rcu_domain_destroy(&o.domain)));
    PAWL_RCU(domain, pawl_rcu_domain_destroy, PAWL_DO(pawl_rcu_domain_init(&o.domain, "row")),
             (&o.domain), PAWL_NOTHING);
    PAWL_RCU(waiter, pawl_rcu_synchronize, PAWL_NOTHING, (), PAWL_NOTHING);
    PAWL_RCU(waiter, pawl_rcu_synchronize_expedited, PAWL_NOTHING, (), PAWL_NOTHING);
    PAWL_RCU(waiter, pawl_rcu_start_poll, PAWL_NOTHING, (), PAWL_NOTHING);
    PAWL_RCU(waiter, pawl_rcu_poll, PAWL_OVER, (o.cookie), PAWL_NOTHING);
    PAWL_RCU(waiter, pawl_rcu_synchronize_cond, PAWL_OVER, (o.cookie), PAWL_NOTHING);
    PAWL_RCU(waiter, pawl_rcu_domain_synchronize, PAWL_NOTHING, (o.there), PAWL_NOTHING);
    PAWL_RCU(waiter, pawl_rcu_domain_synchronize_expedited, PAWL_NOTHING, (o.there), PAWL_NOTHING);
    PAWL_RCU(waiter, pawl_rcu_domain_start_poll, PAWL_NOTHING, (o.there), PAWL_NOTHING);
    PAWL_RCU(waiter, pawl_rcu_domain_poll, PAWL_OVER_THERE, (o.there, o.cookie), PAWL_NOTHING);
    PAWL_RCU(waiter, pawl_rcu_domain_synchronize_cond, PAWL_OVER_THERE, (o.there, o.cookie),
             PAWL_NOTHING);
    PAWL_RCU(waiter, pawl_rcu_domain_stall, PAWL_NOTHING, (o.there, 0, nullptr, nullptr),
             PAWL_NOTHING);
}

} // namespace

void add_rcu(rows &all)
{
    all.group("rcu");
    add_readers(all);
    add_pointers(all);
    add_grace_periods(all);
}

void add_rcu_call(rows &all)
{
    all.group("rcu_call");
    PAWL_ROW(all, called, pawl_rcu_call, PAWL_NOTHING,
             PAWL_DO(pawl_rcu_call(&o.head, nothing, sizeof o) == 0), PAWL_NOTHING);
    PAWL_ROW(all, called, pawl_rcu_try_call, PAWL_NOTHING,
             PAWL_DO(pawl_rcu_try_call(&o.head, nothing, sizeof o) == 0), PAWL_NOTHING);
    PAWL_ROW(all, called_there, pawl_rcu_domain_call, PAWL_NOTHING,
             PAWL_DO(pawl_rcu_domain_call(o.there, &o.head, nothing, sizeof o) == 0), PAWL_NOTHING);
    PAWL_ROW(all, called_there, pawl_rcu_domain_try_call, PAWL_NOTHING,
             PAWL_DO(pawl_rcu_domain_try_call(o.there, &o.head, nothing, sizeof o) == 0),
             PAWL_NOTHING);
    PAWL_ROW(
        all, freed_there, pawl_rcu_domain_free, PAWL_DO(o.object = allocate()),
        PAWL_DO(pawl_rcu_domain_free(o.there, o.object, offsetof(node, head), sizeof(node)) == 0),
        PAWL_NOTHING);
    PAWL_ROW(all, freed_there, pawl_rcu_domain_defer_free, PAWL_DO(o.object = allocate()),
             PAWL_DO(pawl_rcu_domain_defer_free(o.there, o.object, head) == 0), PAWL_NOTHING);
    PAWL_ROW(all, freed, pawl_rcu_defer_free, PAWL_DO(o.object = allocate()),
             PAWL_DO(pawl_rcu_defer_free(o.object, head) == 0), PAWL_NOTHING);
    PAWL_ROW(all, waiter, pawl_rcu_barrier, PAWL_NOTHING, PAWL_DO(pawl_rcu_barrier() == 0),
             PAWL_NOTHING);
    PAWL_ROW(all, waiter, pawl_rcu_domain_barrier, PAWL_NOTHING,
             PAWL_DO(pawl_rcu_domain_barrier(o.there) == 0), PAWL_NOTHING);
    PAWL_ROW(
        all, waiter, pawl_rcu_domain_limit, PAWL_NOTHING,
        PAWL_DO(pawl_rcu_domain_limit(o.there, PAWL_RCU_CALLS, PAWL_RCU_BYTES, PAWL_RCU_HELP) == 0),
        PAWL_NOTHING);
    PAWL_ROW(all, fresh_domain, pawl_rcu_domain_worker, PAWL_NOTHING,
             PAWL_DO(pawl_rcu_domain_worker(&o.domain, nullptr, nullptr) == 0), PAWL_NOTHING);
    PAWL_ROW(all, counted, pawl_rcu_domain_statistics, PAWL_NOTHING,
             PAWL_DO(pawl_rcu_domain_statistics(o.there, &o.found)), PAWL_NOTHING);
}

} // namespace bench::functions
