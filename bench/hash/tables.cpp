/* SPDX-License-Identifier: MIT */
/* Whole tables in the hash bench, whose searches take no lock: the library's, and liburcu's with
 * the flavour that is made as the library's RCU is. Both get the same hashes and the same elements,
 * one after the other: they have grown by themselves. */
#include <cstddef>

#include "adapters/pawl_rcu.hpp"
#include "hash/table.hpp"

#include <pawl/table.h>

#if PAWL_BENCH_URCU
#include "adapters/urcu.hpp"

#include <urcu/flavor.h>
#include <urcu/rculfhash.h>

extern "C" {
extern const rcu_flavor_struct urcu_memb_flavor;
}
#endif

namespace bench {

namespace {

std::uint64_t hash_of(std::uint32_t key)
{
    return pawl_table_number(key).order;
}

/* As large as an element of the chained designs. */
template <class Table> struct entry {
    typename Table::node node = {};
    std::uint32_t key;
    std::uint64_t check;
    alignas(8) unsigned char head[head_room] = {};

    explicit entry(std::uint32_t k) : key(k), check(element::check_of(k)) {}
    /* Late readers must notice that it is gone. */
    ~entry() { *static_cast<volatile std::uint64_t *>(&check) = 0; }

    static entry *of(typename Table::node *n) { return reinterpret_cast<entry *>(n); }
    static void free(typename Table::rcu::head *head)
    {
        delete reinterpret_cast<entry *>(reinterpret_cast<char *>(head) - offsetof(entry, head));
    }
};

struct pawl_hash_table {
    using rcu = adapter::pawl_rcu;
    using node = pawl_table_node;

    explicit pawl_hash_table(std::uint32_t) { pawl_table_init(&table, nullptr); }
    ~pawl_hash_table() { pawl_table_destroy(&table); }
    node *find(std::uint32_t key) { return pawl_table_get(&table, pawl_table_number(key)); }
    void insert(node *n, std::uint32_t key)
    {
        pawl_table_insert(&table, n, pawl_table_number(key));
    }
    bool remove(node *n) { return pawl_table_remove(&table, n); }
    template <class Use> void walk(Use use)
    {
        for (node *n = pawl_table_from(&table, 0); n; n = pawl_table_step(&table, n))
            use(n);
    }

    pawl_table table;
};

#if PAWL_BENCH_URCU
struct urcu_hash_table {
    using rcu = adapter::urcu_memb;
    using node = cds_lfht_node;

    explicit urcu_hash_table(std::uint32_t keys)
    {
        unsigned long buckets = 1;
        while (buckets < keys)
            buckets *= 2;
        table = cds_lfht_new_flavor(buckets, 1, 0, CDS_LFHT_AUTO_RESIZE | CDS_LFHT_ACCOUNTING,
                                    &urcu_memb_flavor, nullptr);
    }
    ~urcu_hash_table() { (void)cds_lfht_destroy(table, nullptr); }
    node *find(std::uint32_t key)
    {
        cds_lfht_iter i;
        cds_lfht_lookup(table, hash_of(key), same, &key, &i);
        return cds_lfht_iter_get_node(&i);
    }
    void insert(node *n, std::uint32_t key) { cds_lfht_add(table, hash_of(key), n); }
    bool remove(node *n) { return cds_lfht_del(table, n) == 0; }
    template <class Use> void walk(Use use)
    {
        cds_lfht_iter i;
        for (cds_lfht_first(table, &i); cds_lfht_iter_get_node(&i); cds_lfht_next(table, &i))
            use(cds_lfht_iter_get_node(&i));
    }
    static int same(node *n, const void *key)
    {
        return entry<urcu_hash_table>::of(n)->key == *static_cast<const std::uint32_t *>(key);
    }

    cds_lfht *table;
};
#endif

template <class Table> class table_under_rcu {
    using rcu = typename Table::rcu;
    using one = entry<Table>;

  public:
    static constexpr bool needs_parts = false;

    explicit table_under_rcu(hash_store &store) : keys_(store.keys()), table_(keys_)
    {
        fill();
        settle();
    }
    ~table_under_rcu()
    {
        std::vector<one *> all;
        {
            typename rcu::thread own;
            own.read_lock();
            table_.walk([&](typename Table::node *n) { all.push_back(one::of(n)); });
            for (one *e : all)
                table_.remove(&e->node);
            own.read_unlock();
        }
        rcu::synchronize();
        for (one *e : all)
            delete e;
    }
    void drain() { rcu::barrier(); }
    bool is_sound() const
    {
        typename rcu::thread own;
        std::vector<bool> seen(keys_);
        std::uint32_t count = 0;
        bool sound = true;
        own.read_lock();
        const_cast<Table &>(table_).walk([&](typename Table::node *n) {
            const one *e = one::of(n);
            sound =
                sound && e->key < keys_ && !seen[e->key] && e->check == element::check_of(e->key);
            if (e->key < keys_)
                seen[e->key] = true;
            count++;
        });
        own.read_unlock();
        return sound && count == keys_;
    }
    std::uint32_t keys() const { return keys_; }

    class thread {
      public:
        explicit thread(table_under_rcu &table) : table_(table.table_) {}

        void search(std::uint32_t key, hash_tally &t)
        {
            own_.read_lock();
            const auto *n = table_.find(key);
            if (n)
                t.wrong += reinterpret_cast<const one *>(n)->check != element::check_of(key);
            own_.read_unlock();
            t.found += n != nullptr;
        }
        void update(std::uint32_t key)
        {
            own_.read_lock();
            auto *n = table_.find(key);
            const bool mine = n && table_.remove(n);
            own_.read_unlock();
            if (!mine)
                return;
            rcu::template call<one::free>(reinterpret_cast<typename rcu::head *>(one::of(n)->head),
                                          sizeof(one));
            own_.read_lock();
            table_.insert(&(new one(key))->node, key);
            own_.read_unlock();
        }
        void pause() { own_.quiescent(); }

      private:
        Table &table_;
        typename rcu::thread own_;
    };

  private:
    void fill()
    {
        typename rcu::thread own;
        for (std::uint32_t key = 0; key < keys_; key++) {
            own.read_lock();
            table_.insert(&(new one(key))->node, key);
            own.read_unlock();
            own.quiescent();
        }
    }
    /* Updates finish a growth that the last insertions have begun. */
    void settle()
    {
        std::optional<thread> own(std::in_place, *this);
        for (std::uint32_t key = 0; key < keys_; key += 4)
            own->update(key);
        own.reset();
        drain();
    }

    std::uint32_t keys_;
    Table table_;
};

} // namespace

void add_hash_tables(std::vector<hash_candidate> &all)
{
    all.push_back(named(
        {"pawl_table", "pawl_table", "", make_hash_design<table_under_rcu<pawl_hash_table>>}));
#if PAWL_BENCH_URCU
    all.push_back(
        named({"urcu_lfht", "urcu_lfht", "", make_hash_design<table_under_rcu<urcu_hash_table>>}));
#else
    all.push_back(missing_candidate("urcu_lfht", "liburcu-dev"));
#endif
}

} // namespace bench
