/* SPDX-License-Identifier: MIT */
/* The designs of the hash bench that lock the whole table, or a bucket of it. */
#include "examples/lock_strategies.hpp"
#include "adapters/none.hpp"
#include "adapters/pawl_brlock.hpp"
#include "adapters/pawl_lock.hpp"
#include "adapters/pawl_spin.hpp"
#include "adapters/pthread.hpp"
#include "core/placed.hpp"
#include "hash/table.hpp"

namespace bench {

namespace {

using namespace pawl_example;

/* One lock over the whole table, on lines of its own. */
template <class Strategy> struct under_one_lock : plain_links {
    static constexpr bool needs_parts =
        std::is_same<typename Strategy::lock_type, adapter::none>::value;
    placed<typename Strategy::lock_type> lock;

    class thread {
      public:
        explicit thread(under_one_lock &table) : lock_(table.lock.object) {}

        template <class Use> bool find(bucket &b, std::uint32_t key, Use use)
        {
            typename Strategy::lookup hold(lock_);
            const element *e = find_in<plain_links>(b, key);
            if (e)
                use(*e);
            return e != nullptr;
        }
        element *remove(bucket &b, std::uint32_t key)
        {
            typename Strategy::insertion hold(lock_);
            element *e;
            do
                e = find_in<plain_links>(b, key);
            while (!hold.to_write());
            if (e)
                unlink<plain_links>(e);
            return e;
        }
        void insert(bucket &b, element *e)
        {
            typename Strategy::insertion hold(lock_);
            while (!hold.to_write())
                ;
            link<plain_links>(b, e);
        }
        void retire(element *e) { delete e; }
        void pause() {}

      private:
        typename Strategy::lock_type &lock_;
    };
    static void drain() {}
};

/* A lock in each bucket, for searching too. */
struct under_bucket_locks : plain_links {
    static constexpr bool needs_parts = false;

    struct thread {
        explicit thread(under_bucket_locks &) {}

        template <class Use> bool find(bucket &b, std::uint32_t key, Use use)
        {
            pawl_spin32_take_write(&b.lock);
            const element *e = find_in<plain_links>(b, key);
            if (e)
                use(*e);
            pawl_spin32_drop_write(&b.lock);
            return e != nullptr;
        }
        element *remove(bucket &b, std::uint32_t key)
        {
            pawl_spin32_take_write(&b.lock);
            element *e = find_in<plain_links>(b, key);
            if (e)
                unlink<plain_links>(e);
            pawl_spin32_drop_write(&b.lock);
            return e;
        }
        void insert(bucket &b, element *e)
        {
            pawl_spin32_take_write(&b.lock);
            link<plain_links>(b, e);
            pawl_spin32_drop_write(&b.lock);
        }
        void retire(element *e) { delete e; }
        void pause() {}
    };
    static void drain() {}
};

/* The bucket's lock covers only the search; a reference keeps the found element while it is
 * used. */
struct with_references : under_bucket_locks {
    struct thread : under_bucket_locks::thread {
        explicit thread(with_references &table) : under_bucket_locks::thread(table) {}

        template <class Use> bool find(bucket &b, std::uint32_t key, Use use)
        {
            pawl_spin32_take_write(&b.lock);
            element *e = find_in<plain_links>(b, key);
            if (e)
                e->references.fetch_add(1, std::memory_order_relaxed);
            pawl_spin32_drop_write(&b.lock);
            if (!e)
                return false;
            use(*e);
            retire(e);
            return true;
        }
        void retire(element *e)
        {
            if (e->references.fetch_sub(1, std::memory_order_acq_rel) == 1)
                delete e;
        }
    };
};

template <class Strategy> hash_candidate locked(const char *strategy, const char *lock)
{
    return chained_candidate<under_one_lock<Strategy>>(strategy, lock);
}

} // namespace

void add_hash_locks(std::vector<hash_candidate> &all)
{
    all.push_back(locked<read_write<adapter::none>>("ideal", "ideal"));
    all.back().baseline = true;
    all.push_back(locked<write_only<adapter::pthread_spin>>("spin", "spin"));
    all.push_back(locked<read_write<adapter::pthread_rwlock>>("pthread_rwlock", "pthread_rwlock"));
    all.push_back(chained_candidate<under_bucket_locks>("bucket_lock", "bucket_lock"));
    all.push_back(locked<read_seek_write<adapter::pawl_brlock>>("brlock", "brlock"));
    all.push_back(chained_candidate<with_references>("refcount", "refcount"));
    all.push_back(locked<read_seek_write<adapter::pawl_spin64>>("r+s>w", "pawl_spin64"));
    all.push_back(locked<read_seek_write<adapter::pawl_lock64>>("pawl_lock64", "pawl_lock64"));
}

} // namespace bench
