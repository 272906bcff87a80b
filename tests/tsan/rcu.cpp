// SPDX-License-Identifier: MIT
// RCU under checkers of data races. `rcu right` runs correct programs, on which a checker must stay
// silent; `rcu CASE` one wrong program, which it must report, `rcu each` all of them; `rcu` lists
// these.
//
// In the wrong ones the threads go in step by relaxed atomics, which order nothing in the
// checker's eyes: so the order of events is the same in each run, nothing is freed while it is
// looked at, and yet only a grace period could make the accesses ordered.
//
// PLAIN_LIBRARY: the library was built without the sanitizer. It has no callbacks then, because the
// sanitizer could not follow the worker; with -DCALLBACKS this file does not link.
#include <pawl/rcu.h>
#include <pawl/rcu_call.h>
#include <pawl/rcu_list.h>
#include <pawl/spin.h>

#include "cases.hpp"

struct object {
    long value = 0, twice = 0; // plain
    pawl_list link = {nullptr, nullptr};
    pawl_hlist_node chain = {nullptr, nullptr};
    pawl_rcu_head head = {};
};

namespace {

object *new_object(long value)
{
    object *o = new object;
    o->value = value;
    o->twice = 2 * value;
    return o;
}

// Plain stores that no reader may see or have under its eyes. Valgrind would not see those that the
// compiler leaves out because the object ends.
void bury(object *o)
{
    o->value = -1;
    o->twice = 0;
    __asm__ volatile("" ::"r"(o) : "memory");
    delete o;
}

#if !defined(PLAIN_LIBRARY) || defined(CALLBACKS)
void bury_head(pawl_rcu_head *head)
{
    bury(reinterpret_cast<object *>(reinterpret_cast<char *>(head) - offsetof(object, head)));
}

void bury_later(pawl_rcu_domain *domain, object *o)
{
    check(pawl_rcu_domain_call(domain, &o->head, bury_head, sizeof *o) == 0, "a call");
}
#else
void bury_later(pawl_rcu_domain *domain, object *o)
{
    pawl_rcu_domain_synchronize(domain);
    bury(o);
}
#endif

void look(const object *o)
{
    check(o->twice == 2 * o->value, "a reader saw what was buried");
}

// ---- Right programs ----------------------------------------------------------------------------

constexpr int threads = 4;
constexpr int rounds = PAWL_VALGRIND ? 80 : 600;

object *published = nullptr;
pawl_spin32 updating = PAWL_SPIN32_INIT;
pawl_rcu_domain own;

void read_published()
{
    pawl_rcu_read_lock();
    look(pawl_rcu_dereference(published));
    pawl_rcu_read_lock(); // sections nest
    look(pawl_rcu_dereference(published));
    pawl_rcu_read_unlock();
    look(pawl_rcu_dereference(published));
    pawl_rcu_read_unlock();
}

object *replace(int round)
{
    return pawl_rcu_xchg_pointer(&published, new_object(round));
}

// Each way to wait for a grace period, with several updaters at once.
void waits_of_all_kinds()
{
    published = new_object(0);
    together<threads, rounds>([](int thread, int round) {
        if (thread != round % threads) {
            read_published();
            return;
        }
        object *old = replace(round);
        std::uint64_t cookie;
        switch (round % 5) {
        case 0:
            pawl_rcu_synchronize();
            bury(old);
            break;
        case 1:
            pawl_rcu_synchronize_expedited();
            bury(old);
            break;
        case 2:
            cookie = pawl_rcu_start_poll();
            while (!pawl_rcu_poll(cookie))
                sched_yield();
            bury(old);
            break;
        case 3:
            cookie = pawl_rcu_start_poll();
            pawl_rcu_synchronize_cond(cookie);
            bury(old);
            break;
        default: bury_later(pawl_rcu_default(), old);
        }
    });
    check(pawl_rcu_barrier() == 0, "the barrier");
    bury(published);
}

void domains()
{
    check(pawl_rcu_domain_init(&own, "own") == 0, "a domain");
    published = new_object(0);
    together<threads, rounds>([](int thread, int round) {
        if (thread == 0) {
            object *old = replace(round);
            if (round % 2) {
                pawl_rcu_domain_synchronize(&own);
                bury(old);
            } else {
                bury_later(&own, old);
            }
        } else {
            pawl_rcu_domain_read_lock(&own);
            look(pawl_rcu_domain_dereference(&own, published));
            pawl_rcu_domain_read_unlock(&own);
        }
    });
    pawl_rcu_domain_destroy(&own);
    bury(published);
}

void quiescent_states()
{
    published = new_object(0);
    together<threads, rounds>([](int thread, int round) {
        if (thread == 0) {
            object *old = replace(round);
            pawl_rcu_domain_synchronize(pawl_rcu_qs());
            bury(old);
            return;
        }
        pawl_rcu_qs_online();
        for (int i = 0; i < 4; i++) {
            pawl_rcu_qs_read_lock();
            look(pawl_rcu_domain_dereference(pawl_rcu_qs(), published));
            pawl_rcu_qs_read_unlock();
            pawl_rcu_qs_quiescent();
        }
        pawl_rcu_qs_offline();
    });
    bury(published);
}

void lists_and_chains()
{
    static pawl_list list = PAWL_LIST_INIT(list);
    static pawl_hlist chain = PAWL_HLIST_INIT;
    together<threads, rounds>([](int thread, int round) {
        if (thread < 2) {
            object *fresh = new_object(round), *old = nullptr;
            pawl_spin32_take_write(&updating);
            if (round < 8) {
                pawl_list_add_rcu(&fresh->link, &list);
                pawl_hlist_add_rcu(&fresh->chain, &chain);
            } else if (round % 2) {
                old = pawl_list_first(object, &list, link);
                pawl_list_replace_rcu(&old->link, &fresh->link);
                pawl_hlist_replace_rcu(&old->chain, &fresh->chain);
            } else {
                old = pawl_hlist_first(object, &chain, chain);
                pawl_list_del_rcu(&old->link);
                pawl_hlist_del_rcu(&old->chain);
                pawl_list_add_tail_rcu(&fresh->link, &list);
                pawl_hlist_add_rcu(&fresh->chain, &chain);
            }
            pawl_spin32_drop_write(&updating);
            if (old)
                bury_later(pawl_rcu_default(), old);
            return;
        }
        const object *o;
        pawl_rcu_read_lock();
        pawl_list_for_each_rcu(o, &list, link)
            look(o);
        pawl_hlist_for_each_rcu(o, &chain, chain)
            look(o);
        pawl_rcu_read_unlock();
    });
    check(pawl_rcu_barrier() == 0, "the barrier");
    while (object *o = pawl_list_first(object, &list, link)) {
        pawl_list_del_rcu(&o->link);
        bury(o);
    }
}

void right()
{
    waits_of_all_kinds();
    domains();
    quiescent_states();
    lists_and_chains();
    std::puts("all correct programs ran");
}

// ---- Wrong programs ----------------------------------------------------------------------------

object *found = nullptr; // the reader's

void read_data(const object *o)
{
    sink.store(o->value);
}

template <class Reader, class Updater> void two_threads(Reader reader, Updater updater)
{
    published = new_object(1);
    std::thread one(reader);
    std::thread two(updater);
    one.join();
    two.join();
}

// The updater comes when the reader is in, or has just left: nobody waited for it.
void read_and_leave()
{
    pawl_rcu_read_lock();
    read_data(pawl_rcu_dereference(published));
    pawl_rcu_read_unlock();
    reach(1);
}

void freed_without_a_grace_period()
{
    two_threads(read_and_leave, [] {
        await(1);
        bury(replace(2));
    });
}

void changed_where_readers_can_see_it()
{
    two_threads(read_and_leave, [] {
        await(1);
        pawl_rcu_dereference_protected(published)->value = 2;
    });
}

void a_grace_period_before_the_removal()
{
    two_threads(
        [] {
            await(1);
            read_and_leave();
            reach(2);
        },
        [] {
            pawl_rcu_synchronize();
            reach(1);
            await(2);
            bury(replace(2));
        });
}

void a_grace_period_of_another_domain()
{
    check(pawl_rcu_domain_init(&own, "own") == 0, "a domain");
    two_threads(read_and_leave, [] {
        await(1);
        object *old = replace(2);
        pawl_rcu_domain_synchronize(&own);
        bury(old);
    });
}

void a_cookie_that_was_not_polled()
{
    two_threads(read_and_leave, [] {
        await(1);
        object *old = replace(2);
        sink.store((long)pawl_rcu_start_poll());
        bury(old);
    });
}

void read_after_the_section()
{
    two_threads(
        [] {
            pawl_rcu_read_lock();
            found = pawl_rcu_dereference(published);
            pawl_rcu_read_unlock();
            read_data(found);
            reach(1);
        },
        [] {
            await(1);
            object *old = replace(2);
            pawl_rcu_synchronize();
            bury(old);
        });
}

void read_after_going_offline()
{
    two_threads(
        [] {
            pawl_rcu_qs_online();
            found = pawl_rcu_domain_dereference(pawl_rcu_qs(), published);
            pawl_rcu_qs_offline();
            read_data(found);
            reach(1);
        },
        [] {
            await(1);
            object *old = replace(2);
            pawl_rcu_domain_synchronize(pawl_rcu_qs());
            bury(old);
        });
}

// The grace period has begun before the quiescent state, and ends by it.
void read_after_a_quiescent_state()
{
    two_threads(
        [] {
            pawl_rcu_qs_online();
            found = pawl_rcu_domain_dereference(pawl_rcu_qs(), published);
            reach(1);
            await(2);
            pawl_rcu_qs_quiescent();
            read_data(found);
            reach(3);
            await(4);
            pawl_rcu_qs_offline();
        },
        [] {
            await(1);
            object *old = replace(2);
            const std::uint64_t cookie = pawl_rcu_domain_start_poll(pawl_rcu_qs());
            check(!pawl_rcu_domain_poll(pawl_rcu_qs(), cookie), "the reader is online");
            reach(2);
            await(3);
            while (!pawl_rcu_domain_poll(pawl_rcu_qs(), cookie))
                sched_yield();
            bury(old);
            reach(4);
        });
}

void published_before_it_was_ready()
{
    two_threads(
        [] {
            await(1);
            pawl_rcu_read_lock();
            read_data(pawl_rcu_dereference(published));
            pawl_rcu_read_unlock();
        },
        [] {
            object *fresh = new object;
            (void)pawl_rcu_xchg_pointer(&published, fresh);
            fresh->value = 2;
            reach(1);
        });
}

#define CASE(name) {#name, name}
const wrong_case cases[] = {
    CASE(freed_without_a_grace_period),      CASE(changed_where_readers_can_see_it),
    CASE(a_grace_period_before_the_removal), CASE(a_grace_period_of_another_domain),
    CASE(a_cookie_that_was_not_polled),      CASE(read_after_the_section),
    CASE(read_after_going_offline),          CASE(read_after_a_quiescent_state),
    CASE(published_before_it_was_ready),
};

} // namespace

int main(int argc, char **argv)
{
    return run_cases(argc, argv, right, cases);
}
