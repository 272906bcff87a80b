/* SPDX-License-Identifier: MIT */
/*
 * liburcu's flavours, with everything inlined that its licence lets any program inline. In C++ its
 * headers declare the readers' words thread_local. Each access then checks whether they need
 * initialising; as C has it they never do. The interface: pawl_rcu.hpp.
 */
#pragma once

#include <cstddef>

#define _LGPL_SOURCE
#include <urcu/tls-compat.h>
#undef URCU_TLS_STORAGE_CLASS
#define URCU_TLS_STORAGE_CLASS __thread

#include <urcu/urcu-bp.h>
#include <urcu/urcu-memb.h>
#include <urcu/urcu-qsbr.h>

/* Its header of callbacks can be included only once, and declares those of one flavour. */
extern "C" {
#define PAWL_BENCH_URCU_CALLBACKS(flavour)                                                         \
    void urcu_##flavour##_call_rcu(struct rcu_head *, void (*)(struct rcu_head *));                \
    void urcu_##flavour##_barrier(void)
PAWL_BENCH_URCU_CALLBACKS(memb);
PAWL_BENCH_URCU_CALLBACKS(qsbr);
PAWL_BENCH_URCU_CALLBACKS(bp);
#undef PAWL_BENCH_URCU_CALLBACKS
}

namespace adapter {

/* bp registers a thread at its first reader, and needs no notice when the thread leaves. */
#define PAWL_BENCH_FLAVOUR(flavour, arrive, leave)                                                 \
    struct urcu_##flavour {                                                                        \
        static constexpr const char *name = "urcu_" #flavour;                                      \
        using head = ::rcu_head;                                                                   \
        struct thread {                                                                            \
            thread() { arrive; }                                                                   \
            ~thread() { leave; }                                                                   \
            thread(const thread &) = delete;                                                       \
            thread &operator=(const thread &) = delete;                                            \
            void read_lock() { urcu_##flavour##_read_lock(); }                                     \
            void read_unlock() { urcu_##flavour##_read_unlock(); }                                 \
            void quiescent() { urcu_##flavour##_quiescent_state(); }                               \
            void rest() { urcu_##flavour##_thread_offline(); }                                     \
            void resume() { urcu_##flavour##_thread_online(); }                                    \
        };                                                                                         \
        template <class T> static T *dereference(T *&place) { return rcu_dereference(place); }     \
        template <class T> static void assign(T *&place, T *value)                                 \
        {                                                                                          \
            rcu_assign_pointer(place, value);                                                      \
        }                                                                                          \
        static void synchronize() { urcu_##flavour##_synchronize_rcu(); }                          \
        static void barrier() { urcu_##flavour##_barrier(); }                                      \
        template <void (*function)(head *)> static void call(head *h, std::size_t)                 \
        {                                                                                          \
            urcu_##flavour##_call_rcu(h, function);                                                \
        }                                                                                          \
    }

PAWL_BENCH_FLAVOUR(memb, urcu_memb_register_thread(), urcu_memb_unregister_thread());
PAWL_BENCH_FLAVOUR(qsbr, urcu_qsbr_register_thread(), urcu_qsbr_unregister_thread());
PAWL_BENCH_FLAVOUR(bp, , );
#undef PAWL_BENCH_FLAVOUR

} // namespace adapter
