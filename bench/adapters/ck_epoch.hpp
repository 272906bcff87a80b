/* SPDX-License-Identifier: MIT */
/*
 * Concurrency Kit's epochs. No thread of the library runs callbacks. Each thread runs its own when
 * it asks whether some are due; here it asks whenever it is quiescent. The interface: pawl_rcu.hpp.
 */
#pragma once

#include <cstddef>
#include <cstdlib>
#include <new>

#include <ck_pr.h>

/* Its stack is C, which converts a void pointer to any other without a cast. */
namespace adapter {
struct ck_any_pointer {
    void *value;
    template <class T> operator T *() const { return static_cast<T *>(value); }
};
} // namespace adapter
#define ck_pr_fas_ptr(place, value) (::adapter::ck_any_pointer{ck_pr_fas_ptr(place, value)})
extern "C" {
#include <ck_epoch.h>
}
#undef ck_pr_fas_ptr

namespace adapter {

struct ck_epoch {
    static constexpr const char *name = "ck_epoch";
    using head = ::ck_epoch_entry_t;

    static ::ck_epoch *epoch()
    {
        static ::ck_epoch object;
        static const bool ready = (ck_epoch_init(&object), true);
        return ready ? &object : nullptr;
    }

    /* Records cannot be destroyed; a new thread reuses the record of one that has left. */
    struct thread {
        ::ck_epoch_record *record;
        thread() : record(ck_epoch_recycle(epoch(), nullptr))
        {
            if (!record) {
                void *memory =
                    std::aligned_alloc(alignof(::ck_epoch_record), sizeof(::ck_epoch_record));
                if (!memory)
                    throw std::bad_alloc();
                record = static_cast<::ck_epoch_record *>(memory);
                ck_epoch_register(epoch(), record, nullptr);
            }
            own = record;
        }
        ~thread()
        {
            ck_epoch_barrier(record);
            own = nullptr;
            ck_epoch_unregister(record);
        }
        thread(const thread &) = delete;
        thread &operator=(const thread &) = delete;
        void read_lock() { ck_epoch_begin(record, nullptr); }
        void read_unlock() { ck_epoch_end(record, nullptr); }
        void quiescent()
        {
            if (record->n_pending)
                ck_epoch_poll(record);
        }
        void rest() {}
        void resume() {}
    };
    static inline thread_local ::ck_epoch_record *own = nullptr;

    template <class T> static T *dereference(T *&place)
    {
        return static_cast<T *>(ck_pr_load_ptr(&place));
    }
    template <class T> static void assign(T *&place, T *value)
    {
        ck_pr_fence_store();
        ck_pr_store_ptr(&place, value);
    }
    static void synchronize() { ck_epoch_synchronize_wait(epoch(), nullptr, nullptr); }
    static void barrier() {} /* each thread has run its callbacks before it left */
    template <void (*function)(head *)> static void call(head *h, std::size_t)
    {
        ck_epoch_call(own, h, function);
    }
};

} // namespace adapter
