/* SPDX-License-Identifier: MIT */
/* Whole maps in the tree bench, ours and those of others, and another library's tree under locks.
 * Each has the keys of the bench's own tree. */
#include <algorithm>
#include <map>
#include <optional>
#include <shared_mutex>

#include "core/placed.hpp"
#include "tree/tree.hpp"

#if PAWL_BENCH_BSD

#include "tree/run.hpp"

#include <pawl/rcu_call.h>
#include <pawl/tree.h>

#if PAWL_BENCH_TBB
#include <oneapi/tbb/concurrent_map.h>
#endif
#if PAWL_BENCH_CDS
#include <cds/init.h>
#include <cds/gc/hp.h>
#include <cds/container/skip_list_map_hp.h>
#endif

namespace bench {

namespace {

/* ---- Ours ------------------------------------------------------------------------------------ */

/* Lookups without a lock, and removed nodes freed a grace period later; or lookups under R. */
template <bool Locked> class our_tree {
    struct nothing {};
    struct alignas(Locked ? 64 : 16) item {
        pawl_tree_node node = {};
        std::uint64_t value = 0;
        std::conditional_t<Locked, nothing, pawl_rcu_head> head = {};
    };
    [[maybe_unused]] static void release(pawl_rcu_head *head)
    {
        delete reinterpret_cast<item *>(reinterpret_cast<char *>(head) - offsetof(item, head));
    }

  public:
    using handle = item *;
    using thread = any_thread;

    explicit our_tree(tree &t) : stay_(t.size())
    {
        for (std::size_t i = 0; i < stay_.size(); i++)
            put(&stay_[i], t.key_of_latest(stay_.size() - 1 - i));
    }
    ~our_tree()
    {
        for (item &i : stay_)
            pawl_tree_remove(&tree_.object, &i.node);
        pawl_rcu_barrier();
        pawl_tree_destroy(&tree_.object);
    }
    our_tree(const our_tree &) = delete;
    our_tree &operator=(const our_tree &) = delete;

    bool look_up(std::uint64_t key)
    {
        const pawl_tree_key wanted = pawl_tree_number(key);
        if (Locked)
            pawl_lock64_take_read(&tree_.object.lock);
        else
            pawl_rcu_read_lock();
        pawl_tree_node *n =
            Locked ? pawl_tree_find(&tree_.object, wanted) : pawl_tree_get(&tree_.object, wanted);
        const bool there = n && PAWL_TREE_OBJECT(item, node, n)->value == tree::value_of(key);
        if (Locked)
            pawl_lock64_drop_read(&tree_.object.lock);
        else
            pawl_rcu_read_unlock();
        return there;
    }
    handle insert(std::uint64_t key)
    {
        auto i = std::make_unique<item>();
        return put(i.get(), key) ? i.release() : nullptr;
    }
    void remove(handle i)
    {
        pawl_tree_remove(&tree_.object, &i->node);
        if constexpr (!Locked) {
            if (pawl_rcu_call(&i->head, release, sizeof *i) == 0)
                return;
            pawl_rcu_synchronize(); /* there was no room for a callback */
        }
        delete i;
    }

  private:
    bool put(item *i, std::uint64_t key)
    {
        i->value = tree::value_of(key);
        return !pawl_tree_insert_unique(&tree_.object, &i->node, pawl_tree_number(key));
    }

    placed<pawl_tree> tree_;
    std::vector<item> stay_;
};

/* ---- What programs write themselves ---------------------------------------------------------- */

class std_map {
    using map = std::map<std::uint64_t, std::uint64_t>;

  public:
    using handle = std::optional<map::iterator>;
    using thread = any_thread;

    explicit std_map(tree &t)
    {
        for (std::size_t i = t.size(); i-- > 0;)
            insert(t.key_of_latest(i));
    }
    bool look_up(std::uint64_t key)
    {
        const std::shared_lock hold(lock_.object);
        const auto at = map_.find(key);
        return at != map_.end() && at->second == tree::value_of(key);
    }
    handle insert(std::uint64_t key)
    {
        const std::lock_guard hold(lock_.object);
        const auto [at, is_new] = map_.emplace(key, tree::value_of(key));
        return is_new ? handle(at) : std::nullopt;
    }
    void remove(const handle &at)
    {
        const std::lock_guard hold(lock_.object);
        map_.erase(*at);
    }

  private:
    placed<std::shared_mutex> lock_;
    map map_;
};

/* ---- Other libraries ------------------------------------------------------------------------- */

#if PAWL_BENCH_TBB
/* It has no removal beside other threads: it stays out of the cells that remove. */
class tbb_map {
  public:
    using handle = std::uint64_t;
    using thread = any_thread;

    explicit tbb_map(tree &t)
    {
        for (std::size_t i = t.size(); i-- > 0;)
            insert(t.key_of_latest(i));
    }
    bool look_up(std::uint64_t key)
    {
        const auto at = map_.find(key);
        return at != map_.end() && at->second == tree::value_of(key);
    }
    handle insert(std::uint64_t key)
    {
        return map_.emplace(key, tree::value_of(key)).second ? key : 0;
    }
    void remove(handle key) { map_.unsafe_erase(key); }

  private:
    tbb::concurrent_map<std::uint64_t, std::uint64_t> map_;
};
#endif

#if PAWL_BENCH_CDS
/* A list of skips by hazard pointers. A thread attaches itself for a sample. */
class cds_map {
    struct order : cds::container::skip_list::traits {
        using less = std::less<std::uint64_t>;
    };
    using map = cds::container::SkipListMap<cds::gc::HP, std::uint64_t, std::uint64_t, order>;
    struct library {
        library() { cds::Initialize(); }
        ~library() { cds::Terminate(); }
        cds::gc::HP hazards{map::c_nHazardPtrCount};
    };
    static void begin() { static const library whole; }

  public:
    using handle = std::uint64_t;
    struct thread {
        thread()
        {
            begin();
            cds::threading::Manager::attachThread();
        }
        ~thread() { cds::threading::Manager::detachThread(); }
        thread(const thread &) = delete;
        thread &operator=(const thread &) = delete;
    };

    explicit cds_map(tree &t)
    {
        const thread here;
        map_.emplace();
        for (std::size_t i = t.size(); i-- > 0;)
            insert(t.key_of_latest(i));
    }
    ~cds_map()
    {
        const thread here;
        map_.reset();
    }
    cds_map(const cds_map &) = delete;
    cds_map &operator=(const cds_map &) = delete;

    bool look_up(std::uint64_t key)
    {
        std::uint64_t value = 0;
        return map_->find(key, [&](map::value_type &item) { value = item.second; }) &&
               value == tree::value_of(key);
    }
    handle insert(std::uint64_t key) { return map_->insert(key, tree::value_of(key)) ? key : 0; }
    void remove(handle key) { map_->erase(key); }

  private:
    std::optional<map> map_;
};
#endif

template <class Map> tree_candidate whole(const char *name)
{
    return {"map", name, "", make_tree<Map>};
}

[[maybe_unused]] tree_candidate absent(const char *name, const char *package)
{
    return {"map", name, adapter::to_install(package)};
}

} // namespace

void add_maps(std::vector<tree_candidate> &all)
{
    all.push_back(whole<our_tree<false>>("pawl_tree"));
    all.push_back(whole<our_tree<true>>("pawl_tree_read"));
    all.push_back(whole<std_map>("std_map"));
#if PAWL_BENCH_TBB
    all.push_back(whole<tbb_map>("tbb_concurrent_map"));
#else
    all.push_back(absent("tbb_concurrent_map", "libtbb-dev"));
#endif
#if PAWL_BENCH_CDS
    all.push_back(whole<cds_map>("cds_skip_list"));
#else
    all.push_back(absent("cds_skip_list", "libcds-dev"));
#endif
}

} // namespace bench

#endif
