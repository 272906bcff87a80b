/* SPDX-License-Identifier: MIT */
/*
 * The cost of RCU: sections of each flavour, quiescent states, grace periods without readers, and
 * callbacks. Other threads of the process sleep. So a grace period is what the updater itself pays:
 * mostly one membarrier.
 */
#include "adapters/pawl_rcu.hpp"
#include "costs/rows.hpp"

namespace bench::costs {
namespace {

/* Callbacks of one batch; far below the limits of a domain. */
constexpr unsigned calls = 1000;

/* Enter and leave. */
template <class Rcu> std::function<measured(world &)> section_of()
{
    return [](world &w) {
        measured m;
        w.threads.alone(w.first, [&] {
            typename Rcu::thread self;
            m = repeat_op(w.seconds, 10000, [&] {
                self.read_lock();
                __asm__ __volatile__("" : : : "memory");
                self.read_unlock();
            });
        });
        return m;
    };
}

measured quiescent(world &w)
{
    measured m;
    w.threads.alone(w.first, [&] {
        adapter::pawl_rcu_quiescent::thread self;
        m = repeat_op(w.seconds, 10000, [&] { self.quiescent(); });
    });
    return m;
}

void nothing(pawl_rcu_head *)
{
}

/* By the time of the calls alone; all have run before the next batch. */
measured call(world &w)
{
    static pawl_rcu_head heads[calls];
    measured m;
    w.threads.alone(w.first, [&] {
        m = repeat(w.seconds, calls, [] {
            const double start = now();
            for (pawl_rcu_head &head : heads)
                adapter::pawl_rcu::call<nothing>(&head, sizeof head);
            const double took = now() - start;
            adapter::pawl_rcu::barrier();
            return took;
        });
    });
    return m;
}

} // namespace

void add_rcu(rows &all)
{
    using namespace adapter;
    add(all, "rcu_section", "rcu", "", section_of<pawl_rcu>());
    add(all, "rcu_domain_section", "rcu", "", section_of<pawl_rcu_of_domain>());
    add(all, "rcu_qs_section", "rcu", "", section_of<pawl_rcu_quiescent>());
    add(all, "rcu_quiescent", "rcu", "", quiescent);
    add(all, "rcu_synchronize", "rcu", "", on_first(10, [] { pawl_rcu::synchronize(); }));
    add(all, "rcu_domain_synchronize", "rcu", "",
        on_first(10, [] { pawl_rcu_of_domain::synchronize(); }));
    add(all, "rcu_qs_synchronize", "rcu", "",
        on_first(10, [] { pawl_rcu_quiescent::synchronize(); }));
    add(all, "rcu_call", "rcu", "", call);
}

} // namespace bench::costs
