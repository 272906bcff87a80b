/* SPDX-License-Identifier: MIT */
/*
 * The library's RCU: its default domain, a domain of the program's own, and the domain of quiescent
 * states.
 *
 * All RCU adapters of this folder have this interface:
 *   head                      what an object needs to be freed later; zero bytes will do
 *   thread                    exists from before a thread's first reader until after its last
 *   read_lock, read_unlock    of the thread
 *   quiescent                 of the thread, between readers: it holds no pointer now
 *   rest, resume              of the thread, around a sleep between readers
 *   dereference, assign       reading and publishing a pointer
 *   synchronize, barrier      wait for readers; wait for all that was called
 *   call<function>            `function(head *)` after a grace period; `bytes`: the size to free
 */
#pragma once

#include <cstddef>

#include <pawl/rcu.h>
#include <pawl/rcu_call.h>

namespace adapter {

/* The common part of the three; `Domain` gives the domain. */
template <class Domain> struct pawl_rcu_in {
    using head = ::pawl_rcu_head;

    template <class T> static T *dereference(T *&place) { return pawl_rcu_dereference(place); }
    template <class T> static void assign(T *&place, T *value)
    {
        pawl_rcu_assign_pointer(place, value);
    }
    static pawl_rcu_domain *domain() { return Domain::get(); }
    static void synchronize() { pawl_rcu_domain_synchronize(Domain::get()); }
    static void barrier() { pawl_rcu_domain_barrier(Domain::get()); }

    template <void (*function)(head *)> static void call(head *h, std::size_t bytes)
    {
        if (pawl_rcu_domain_call(Domain::get(), h, function, bytes) == 0)
            return;
        /* The call was refused: does what a program would do. */
        synchronize();
        function(h);
    }
};

struct pawl_rcu_default_domain {
    static pawl_rcu_domain *get() { return ::pawl_rcu_default(); }
};

struct pawl_rcu_quiescent_domain {
    static pawl_rcu_domain *get() { return ::pawl_rcu_qs(); }
};

/* One domain for the process, as a program would have it: made at first use, never destroyed. */
struct pawl_rcu_own_domain {
    static pawl_rcu_domain *get()
    {
        static pawl_rcu_domain domain;
        static const int failure = pawl_rcu_domain_init(&domain, "bench");
        return failure ? ::pawl_rcu_default() : &domain;
    }
};

struct pawl_rcu : pawl_rcu_in<pawl_rcu_default_domain> {
    static constexpr const char *name = "pawl_rcu";
    struct thread {
        void read_lock() { pawl_rcu_read_lock(); }
        void read_unlock() { pawl_rcu_read_unlock(); }
        void quiescent() {}
        void rest() {}
        void resume() {}
    };
};

struct pawl_rcu_of_domain : pawl_rcu_in<pawl_rcu_own_domain> {
    static constexpr const char *name = "pawl_rcu_domain";
    struct thread {
        ::pawl_rcu_domain *domain = pawl_rcu_own_domain::get();
        void read_lock() { pawl_rcu_domain_read_lock(domain); }
        void read_unlock() { pawl_rcu_domain_read_unlock(domain); }
        void quiescent() {}
        void rest() {}
        void resume() {}
    };
};

struct pawl_rcu_quiescent : pawl_rcu_in<pawl_rcu_quiescent_domain> {
    static constexpr const char *name = "pawl_rcu_qs";
    struct thread {
        thread() { pawl_rcu_qs_online(); }
        ~thread() { pawl_rcu_qs_offline(); }
        thread(const thread &) = delete;
        thread &operator=(const thread &) = delete;
        void read_lock() { pawl_rcu_qs_read_lock(); }
        void read_unlock() { pawl_rcu_qs_read_unlock(); }
        void quiescent() { pawl_rcu_qs_quiescent(); }
        void rest() { pawl_rcu_qs_offline(); }
        void resume() { pawl_rcu_qs_online(); }
    };
};

} // namespace adapter
