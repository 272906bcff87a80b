/* SPDX-License-Identifier: MIT */
/* Whole caches, which choose their own index, eviction and locks: ours and those of others. */
#include <list>
#include <mutex>
#include <unordered_map>

#include <pawl/cache.h>

#include "adapters/absent.hpp"
#include "lru/candidates.hpp"

#if PAWL_BENCH_ROCKSDB
#include <rocksdb/cache.h>
#endif
#if PAWL_BENCH_TBB
#define TBB_PREVIEW_CONCURRENT_LRU_CACHE 1
#include <oneapi/tbb/concurrent_lru_cache.h>
#endif

namespace bench {

namespace {

/* ---- Ours ------------------------------------------------------------------------------------ */

/* By reference: a hit keeps its entry, as a program does that uses it for long. Otherwise a hit is
 * used in its read section. */
template <bool ByReference> class pawl_entries {
    struct item {
        pawl_cache_entry entry;
        answer value;
    };
    struct miss {
        unsigned cost;
        bool loaded;
    };
    static void release(pawl_rcu_head *e) { delete PAWL_CACHE_OBJECT(item, entry, e); }
    static pawl_cache_entry *load(pawl_cache_key key, void *argument)
    {
        auto &m = *static_cast<miss *>(argument);
        auto *i = new item;
        m.loaded = true;
        i->value = compute(static_cast<std::uint32_t>(key.value.number), m.cost);
        pawl_cache_entry_init(&i->entry, key, 1, 0);
        return &i->entry;
    }

  public:
    pawl_entries(std::size_t size, std::size_t) : size_(size)
    {
        pawl_cache_options options = {};
        options.limit = size;
        options.release = release;
        if (pawl_cache_init(&cache_, &options) != 0)
            throw std::bad_alloc();
    }
    ~pawl_entries() { pawl_cache_destroy(&cache_); }
    pawl_entries(const pawl_entries &) = delete;
    pawl_entries &operator=(const pawl_entries &) = delete;

    bool look_up(std::uint32_t key, unsigned cost, answer &found)
    {
        if (!ByReference && get(key, found))
            return true;
        miss m = {cost, false};
        pawl_cache_entry *e = pawl_cache_load(&cache_, pawl_cache_number(key), load, &m);
        found = PAWL_CACHE_OBJECT(item, entry, e)->value;
        pawl_cache_drop(&cache_, e);
        return ByReference && !m.loaded;
    }
    std::size_t capacity() const { return size_; }
    bool is_sound() const
    {
        pawl_cache_statistics s;
        pawl_cache_read(&cache_, &s);
        return s.entries <= size_ && s.failed == 0;
    }

  private:
    bool get(std::uint32_t key, answer &found)
    {
        pawl_rcu_read_lock();
        pawl_cache_entry *e = pawl_cache_get(&cache_, pawl_cache_number(key));
        if (e)
            found = PAWL_CACHE_OBJECT(item, entry, e)->value;
        pawl_rcu_read_unlock();
        return e != nullptr;
    }

    mutable pawl_cache cache_;
    const std::size_t size_;
};

/* ---- What programs write themselves ---------------------------------------------------------- */

/* True LRU: a hit moves its entry to the front. */
class list_and_map {
    using entries = std::list<std::pair<std::uint32_t, answer>>;

  public:
    list_and_map(std::size_t size, std::size_t) : size_(size) { index_.reserve(size + 1); }

    bool look_up(std::uint32_t key, unsigned cost, answer &found)
    {
        {
            const std::lock_guard hold(lock_);
            if (const auto at = index_.find(key); at != index_.end()) {
                order_.splice(order_.begin(), order_, at->second);
                found = at->second->second;
                return true;
            }
        }
        found = compute(key, cost);
        const std::lock_guard hold(lock_);
        if (index_.find(key) != index_.end())
            return false;
        order_.emplace_front(key, found);
        index_.emplace(key, order_.begin());
        if (order_.size() > size_) {
            index_.erase(order_.back().first);
            order_.pop_back();
        }
        return false;
    }
    std::size_t capacity() const { return size_; }
    bool is_sound() const { return index_.size() == order_.size() && order_.size() <= size_; }

  private:
    std::mutex lock_;
    entries order_;
    std::unordered_map<std::uint32_t, entries::iterator> index_;
    const std::size_t size_;
};

/* ---- Other libraries ------------------------------------------------------------------------- */

#if PAWL_BENCH_ROCKSDB
/* A value is priced at what it takes, so the library chooses its shards as for memory. */
constexpr std::size_t rocks_charge = sizeof(answer);

template <bool Clock> class rocks_entries {
  public:
    rocks_entries(std::size_t size, std::size_t) : size_(size)
    {
        const std::size_t bytes = size * rocks_charge;
        if (Clock) {
            cache_ = rocksdb::HyperClockCacheOptions(bytes, rocks_charge, -1, false, nullptr,
                                                     rocksdb::kDontChargeCacheMetadata)
                         .MakeSharedCache();
        } else {
            cache_ = rocksdb::NewLRUCache(bytes, -1, false, 0.5, nullptr, false,
                                          rocksdb::kDontChargeCacheMetadata);
        }
    }

    bool look_up(std::uint32_t key, unsigned cost, answer &found)
    {
        const std::uint64_t words[2] = {check_of(key), key}; /* keys of 16 bytes alone */
        const rocksdb::Slice name(reinterpret_cast<const char *>(words), sizeof words);
        if (rocksdb::Cache::Handle *hit = cache_->Lookup(name)) {
            found = *static_cast<const answer *>(cache_->Value(hit));
            cache_->Release(hit);
            return true;
        }
        found = compute(key, cost);
        const auto s = cache_->Insert(
            name, new answer(found), rocks_charge,
            [](const rocksdb::Slice &, void *value) { delete static_cast<answer *>(value); });
        expect(s.ok(), "RocksDB's cache refused an entry: " + s.ToString());
        return false;
    }
    std::size_t capacity() const { return size_; }
    bool is_sound() const { return true; }

  private:
    std::shared_ptr<rocksdb::Cache> cache_;
    const std::size_t size_;
};
#endif

#if PAWL_BENCH_TBB
/* Its loader is given the key alone. */
class tbb_entries {
    static inline thread_local unsigned cost_ = 0;
    static inline thread_local bool loaded_ = false;
    static answer load(std::uint32_t key)
    {
        loaded_ = true;
        return compute(key, cost_);
    }

  public:
    tbb_entries(std::size_t size, std::size_t) : cache_(load, size), size_(size) {}

    bool look_up(std::uint32_t key, unsigned cost, answer &found)
    {
        cost_ = cost;
        loaded_ = false;
        auto hold = cache_[key];
        found = hold.value();
        return !loaded_;
    }
    std::size_t capacity() const { return size_; }
    bool is_sound() const { return true; }

  private:
    tbb::concurrent_lru_cache<std::uint32_t, answer> cache_;
    const std::size_t size_;
};
#endif

template <class Cache> lru_candidate whole(const char *name)
{
    return {"cache", name, "", [](std::size_t size, std::size_t chains) -> std::unique_ptr<cell> {
                return std::make_unique<cell_of<Cache>>(size, chains);
            }};
}

[[maybe_unused]] lru_candidate absent(const char *name, const char *package)
{
    return {"cache", name, adapter::to_install(package)};
}

} // namespace

void add_caches(std::vector<lru_candidate> &all)
{
    all.push_back(whole<pawl_entries<false>>("pawl_cache"));
    all.push_back(whole<pawl_entries<true>>("pawl_cache_hold"));
    all.push_back(whole<list_and_map>("std_list"));
#if PAWL_BENCH_ROCKSDB
    all.push_back(whole<rocks_entries<false>>("rocksdb_lru"));
    all.push_back(whole<rocks_entries<true>>("rocksdb_clock"));
#else
    all.push_back(absent("rocksdb_lru", "librocksdb-dev"));
    all.push_back(absent("rocksdb_clock", "librocksdb-dev"));
#endif
#if PAWL_BENCH_TBB
    all.push_back(whole<tbb_entries>("tbb_lru"));
#else
    all.push_back(absent("tbb_lru", "libtbb-dev"));
#endif
}

} // namespace bench
