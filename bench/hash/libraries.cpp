/* SPDX-License-Identifier: MIT */
/* Other libraries in the hash bench: their deferred freeing with this bench's chains, and a
 * whole table. */
#include "hash/rcu.hpp"

#if PAWL_BENCH_URCU
#include "adapters/urcu.hpp"
#endif
#if PAWL_BENCH_CK_EPOCH
#include "adapters/ck_epoch.hpp"
#endif
#if PAWL_BENCH_TBB
#include <oneapi/tbb/concurrent_hash_map.h>
#endif

namespace bench {

namespace {

#if PAWL_BENCH_TBB
/* oneTBB's table, as dense as this bench's: key i in bucket i. An accessor holds a lock of the
 * element. */
class tbb_table {
    struct same {
        static std::size_t hash(std::uint32_t key) { return key; }
        static bool equal(std::uint32_t a, std::uint32_t b) { return a == b; }
    };
    using map = tbb::concurrent_hash_map<std::uint32_t, std::uint64_t, same>;

  public:
    static constexpr bool needs_parts = false;

    explicit tbb_table(hash_store &store) : keys_(store.keys()), map_(keys_)
    {
        for (std::uint32_t key = 0; key < keys_; key++)
            map_.insert({key, element::check_of(key)});
    }
    void drain() {}
    bool is_sound() const { return map_.size() == keys_; }
    std::uint32_t keys() const { return keys_; }

    class thread {
      public:
        explicit thread(tbb_table &table) : map_(table.map_) {}

        void search(std::uint32_t key, hash_tally &t)
        {
            map::const_accessor hold;
            const bool there = map_.find(hold, key);
            t.found += there;
            t.absent += !there;
            t.wrong += there && hold->second != element::check_of(key);
        }
        void update(std::uint32_t key)
        {
            if (map_.erase(key))
                map_.insert({key, element::check_of(key)});
        }
        void pause() {}

      private:
        map &map_;
    };

  private:
    std::uint32_t keys_;
    map map_;
};
#endif

} // namespace

void add_hash_libraries(std::vector<hash_candidate> &all)
{
#if PAWL_BENCH_URCU
    all.push_back(rcu_candidate<adapter::urcu_memb>());
    all.push_back(rcu_candidate<adapter::urcu_qsbr>());
    all.push_back(rcu_candidate<adapter::urcu_bp>());
#else
    for (const char *name : {"urcu_memb", "urcu_qsbr", "urcu_bp"})
        all.push_back(missing_candidate(name, "liburcu-dev"));
#endif
#if PAWL_BENCH_CK_EPOCH
    all.push_back(rcu_candidate<adapter::ck_epoch>());
#else
    all.push_back(missing_candidate("ck_epoch", "libck-dev"));
#endif
#if PAWL_BENCH_TBB
    all.push_back(named({"tbb_hash_map", "tbb_hash_map", "", make_hash_design<tbb_table>}));
#else
    all.push_back(missing_candidate("tbb_hash_map", "libtbb-dev"));
#endif
}

} // namespace bench
