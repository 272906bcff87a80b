/* SPDX-License-Identifier: MIT */
/* Other libraries in the hash bench: their deferred freeing with this bench's chains, and
 * whole tables. */
#include "hash/rcu.hpp"

#if PAWL_BENCH_URCU
#include "adapters/urcu.hpp"
#endif
#if PAWL_BENCH_CK_EPOCH
#include "adapters/ck_epoch.hpp"

extern "C" {
#include <ck_ht.h>
}
#endif
#if PAWL_BENCH_TBB
#include <oneapi/tbb/concurrent_hash_map.h>
#endif
#if PAWL_BENCH_CUCKOO
#include <libcuckoo/cuckoohash_map.hh>
#endif
#if PAWL_BENCH_CDS
#include <cds/container/michael_list_hp.h>
#include <cds/container/split_list_map.h>
#include <cds/gc/hp.h>
#include <cds/init.h>
#endif

namespace bench {

namespace {

/* Whole tables that copy a number with its key. A Map has insert, erase, find and size; and attach,
 * which a thread holds. */
template <class Map> class table_of_values {
  public:
    static constexpr bool needs_parts = false;

    explicit table_of_values(hash_store &store) : keys_(store.keys()), map_(keys_)
    {
        const typename Map::attach own;
        for (std::uint32_t key = 0; key < keys_; key++)
            map_.insert(key, element::check_of(key));
    }
    void drain() {}
    bool is_sound() const { return map_.size() == keys_; }
    std::uint32_t keys() const { return keys_; }

    class thread {
      public:
        explicit thread(table_of_values &table) : map_(table.map_) {}

        void search(std::uint32_t key, hash_tally &t)
        {
            std::uint64_t check = 0;
            const bool there = map_.find(key, check);
            t.found += there;
            t.wrong += there && check != element::check_of(key);
        }
        void update(std::uint32_t key)
        {
            if (map_.erase(key))
                map_.insert(key, element::check_of(key));
        }
        void pause() {}

      private:
        Map &map_;
        typename Map::attach own_;
    };

  private:
    std::uint32_t keys_;
    Map map_;
};

struct attach_nothing {
    attach_nothing() {}
};

/* As pawl_table_number mixes; these tables take the lower bits. */
struct mixed_hash {
    std::size_t operator()(std::uint32_t key) const { return mix(key); }
};

#if PAWL_BENCH_TBB
/* oneTBB's, as dense as this bench's: key i in bucket i. An accessor holds the element's lock. */
class tbb_map {
    struct same {
        static std::size_t hash(std::uint32_t key) { return key; }
        static bool equal(std::uint32_t a, std::uint32_t b) { return a == b; }
    };
    using map = tbb::concurrent_hash_map<std::uint32_t, std::uint64_t, same>;

  public:
    using attach = attach_nothing;

    explicit tbb_map(std::uint32_t keys) : map_(keys) {}
    void insert(std::uint32_t key, std::uint64_t value) { map_.insert({key, value}); }
    bool erase(std::uint32_t key) { return map_.erase(key); }
    bool find(std::uint32_t key, std::uint64_t &value)
    {
        map::const_accessor hold;
        const bool there = map_.find(hold, key);
        if (there)
            value = hold->second;
        return there;
    }
    std::size_t size() const { return map_.size(); }

  private:
    map map_;
};
#endif

#if PAWL_BENCH_CUCKOO
/* A look-up holds the spinlocks of two buckets. */
class cuckoo_map {
  public:
    using attach = attach_nothing;

    explicit cuckoo_map(std::uint32_t keys) : map_(keys) {}
    void insert(std::uint32_t key, std::uint64_t value) { map_.insert(key, value); }
    bool erase(std::uint32_t key) { return map_.erase(key); }
    bool find(std::uint32_t key, std::uint64_t &value) { return map_.find(key, value); }
    std::size_t size() const { return map_.size(); }

  private:
    libcuckoo::cuckoohash_map<std::uint32_t, std::uint64_t, mixed_hash> map_;
};
#endif

#if PAWL_BENCH_CDS
/* Split-ordered lists under hazard pointers, which know the threads. */
class cds_map {
    struct traits : cds::container::split_list::traits {
        using ordered_list = cds::container::michael_list_tag;
        using hash = mixed_hash;
        using item_counter = cds::atomicity::item_counter;
        struct ordered_list_traits : cds::container::michael_list::traits {
            using less = std::less<std::uint32_t>;
        };
    };
    using map = cds::container::SplitListMap<cds::gc::HP, std::uint32_t, std::uint64_t, traits>;
    struct process {
        process() { cds::Initialize(); }
        ~process() { cds::Terminate(); }
        cds::gc::HP hazards;
    };
    static void begin() { static process once; }

  public:
    struct attach {
        attach() { cds::threading::Manager::attachThread(); }
        ~attach() { cds::threading::Manager::detachThread(); }
        attach(const attach &) = delete;
        attach &operator=(const attach &) = delete;
    };

    explicit cds_map(std::uint32_t keys)
    {
        begin();
        const attach own;
        map_ = std::make_unique<map>(keys, 1);
    }
    ~cds_map()
    {
        const attach own;
        map_.reset();
    }
    void insert(std::uint32_t key, std::uint64_t value) { map_->insert(key, value); }
    bool erase(std::uint32_t key) { return map_->erase(key); }
    bool find(std::uint32_t key, std::uint64_t &value)
    {
        return map_->find(key, [&](map::value_type &found) { value = found.second; });
    }
    std::size_t size() const { return map_->size(); }

  private:
    std::unique_ptr<map> map_;
};
#endif

#if PAWL_BENCH_CK_EPOCH
/* Many readers beside one writer: updates take a lock. It does not grow here. */
class ck_map {
    static void *give(std::size_t bytes) { return std::calloc(1, bytes); }
    static void take(void *memory, std::size_t, bool) { std::free(memory); }
    /* Sixteen bits of a value may be the table's own. */
    static std::uintptr_t short_of(std::uint32_t key) { return element::check_of(key) >> 17; }

  public:
    using attach = attach_nothing;

    explicit ck_map(std::uint32_t keys)
    {
        memory_.malloc = give;
        memory_.free = take;
        if (!ck_ht_init(&table_, CK_HT_MODE_DIRECT, nullptr, &memory_, 2UL * keys, 1))
            throw std::bad_alloc();
    }
    ~ck_map() { ck_ht_destroy(&table_); }
    ck_map(const ck_map &) = delete;
    ck_map &operator=(const ck_map &) = delete;
    void insert(std::uint32_t key, std::uint64_t)
    {
        ck_ht_hash_t hash;
        ck_ht_entry_t e = {};
        ck_ht_hash_direct(&hash, &table_, key + 1UL);
        ck_ht_entry_set_direct(&e, hash, key + 1UL, short_of(key));
        pawl_spin32_take_write(&lock_);
        ck_ht_put_spmc(&table_, hash, &e);
        pawl_spin32_drop_write(&lock_);
    }
    bool erase(std::uint32_t key)
    {
        ck_ht_hash_t hash;
        ck_ht_entry_t e = {};
        ck_ht_hash_direct(&hash, &table_, key + 1UL);
        ck_ht_entry_key_set_direct(&e, key + 1UL);
        pawl_spin32_take_write(&lock_);
        const bool was = ck_ht_remove_spmc(&table_, hash, &e);
        pawl_spin32_drop_write(&lock_);
        return was;
    }
    bool find(std::uint32_t key, std::uint64_t &value)
    {
        ck_ht_hash_t hash;
        ck_ht_entry_t e = {};
        ck_ht_hash_direct(&hash, &table_, key + 1UL);
        ck_ht_entry_key_set_direct(&e, key + 1UL);
        const bool there = ck_ht_get_spmc(&table_, hash, &e);
        if (there && ck_ht_entry_value_direct(&e) == short_of(key))
            value = element::check_of(key);
        return there;
    }
    std::size_t size() const { return ck_ht_count(const_cast<ck_ht_t *>(&table_)); }

  private:
    ck_malloc memory_ = {};
    ck_ht_t table_ = {};
    pawl_spin32 lock_ = PAWL_SPIN32_INIT;
};
#endif

template <class Map> void add_table(std::vector<hash_candidate> &all, const char *name)
{
    all.push_back(named({name, name, "", make_hash_design<table_of_values<Map>>}));
}

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
    add_table<ck_map>(all, "ck_ht");
#else
    for (const char *name : {"ck_epoch", "ck_ht"})
        all.push_back(missing_candidate(name, "libck-dev"));
#endif
#if PAWL_BENCH_TBB
    add_table<tbb_map>(all, "tbb_hash_map");
#else
    all.push_back(missing_candidate("tbb_hash_map", "libtbb-dev"));
#endif
#if PAWL_BENCH_CUCKOO
    add_table<cuckoo_map>(all, "libcuckoo");
#else
    all.push_back(missing_candidate("libcuckoo", "libcuckoo-dev"));
#endif
#if PAWL_BENCH_CDS
    add_table<cds_map>(all, "libcds_split");
#else
    all.push_back(missing_candidate("libcds_split", "libcds-dev"));
#endif
}

} // namespace bench
