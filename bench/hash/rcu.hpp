/* SPDX-License-Identifier: MIT */
/*
 * The design of the hash bench whose searches take no lock, for any of the adapters' RCUs. Updaters
 * take the bucket's lock, and free a deleted element after a grace period.
 */
#pragma once

#include <cstddef>

#include "hash/table.hpp"

namespace bench {

template <class Rcu> struct under_rcu {
    static constexpr bool needs_parts = false;
    static_assert(sizeof(typename Rcu::head) <= head_room && alignof(typename Rcu::head) <= 8,
                  "an element has room for the head");

    static element *load(element *&place) { return Rcu::dereference(place); }
    static void store(element *&place, element *value) { Rcu::assign(place, value); }
    static void drain() { Rcu::barrier(); }

    /* The thread that runs callbacks starts here: the main thread makes it, so it is pinned
     * nowhere. */
    under_rcu()
    {
        {
            [[maybe_unused]] typename Rcu::thread own;
            later(new element(0));
        }
        Rcu::barrier();
    }

    class thread {
      public:
        explicit thread(under_rcu &) {}

        template <class Use> bool find(bucket &b, std::uint32_t key, Use use)
        {
            own_.read_lock();
            const element *e = find_in<under_rcu>(b, key);
            if (e)
                use(*e);
            own_.read_unlock();
            return e != nullptr;
        }
        element *remove(bucket &b, std::uint32_t key)
        {
            pawl_spin32_take_write(&b.lock);
            element *e = find_in<under_rcu>(b, key);
            if (e)
                unlink<under_rcu>(e);
            pawl_spin32_drop_write(&b.lock);
            return e;
        }
        void insert(bucket &b, element *e)
        {
            pawl_spin32_take_write(&b.lock);
            link<under_rcu>(b, e);
            pawl_spin32_drop_write(&b.lock);
        }
        void retire(element *e) { later(e); }
        void pause() { own_.quiescent(); }

      private:
        typename Rcu::thread own_;
    };

  private:
    static void free_element(typename Rcu::head *head)
    {
        delete reinterpret_cast<element *>(reinterpret_cast<char *>(head) -
                                           offsetof(element, head));
    }
    static void later(element *e)
    {
        Rcu::template call<free_element>(reinterpret_cast<typename Rcu::head *>(e->head),
                                         sizeof(element));
    }
};

template <class Rcu> hash_candidate rcu_candidate()
{
    return chained_candidate<under_rcu<Rcu>>(Rcu::name, Rcu::name);
}

} // namespace bench
