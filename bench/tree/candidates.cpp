/* SPDX-License-Identifier: MIT */
/* The locks that the tree bench compares, in the order of the reports, and the loop under them. */
#include "tree/tree.hpp"

#if PAWL_BENCH_BSD
#include "tree/run.hpp"
#include "examples/lock_strategies.hpp"
#include "adapters/all.hpp"
#include "adapters/pawl_brlock.hpp"
#include "core/placed.hpp"
#if PAWL_BENCH_BOOST
#include <boost/intrusive/set.hpp>
#endif
#endif

namespace bench {

namespace {

#if PAWL_BENCH_BSD

using namespace pawl_example;

#if PAWL_BENCH_BOOST
/* Boost.Intrusive's tree, with the keys of the bench's own; all rows share one. */
class boost_tree {
    using hook =
        boost::intrusive::set_base_hook<boost::intrusive::link_mode<boost::intrusive::normal_link>>;

  public:
    struct alignas(64) node : hook {
        std::uint64_t key = 0;
        std::uint64_t value = 0;
    };
    static std::shared_ptr<boost_tree> of(tree &t)
    {
        static std::weak_ptr<boost_tree> one;
        auto found = one.lock();
        if (!found)
            one = found = std::make_shared<boost_tree>(t);
        return found;
    }

  private:
    struct key_of {
        using type = std::uint64_t;
        const type &operator()(const node &n) const { return n.key; }
    };
    using set = boost::intrusive::set<node, boost::intrusive::key_of_value<key_of>>;

  public:
    struct found_place {
        set::insert_commit_data at;
        bool present = false;
    };

    explicit boost_tree(tree &t) : nodes_(t.size())
    {
        for (std::size_t i = 0; i < nodes_.size(); i++) {
            nodes_[i].key = t.key_of_latest(nodes_.size() - 1 - i);
            nodes_[i].value = tree::value_of(nodes_[i].key);
            set_.insert(nodes_[i]);
        }
    }
    const node *find(std::uint64_t key) const
    {
        const auto at = set_.find(key);
        return at == set_.end() ? nullptr : &*at;
    }
    found_place place_of(std::uint64_t key)
    {
        found_place p;
        p.present = !set_.insert_check(key, p.at).second;
        return p;
    }
    void insert_at(const found_place &p, node *n) { set_.insert_commit(*n, p.at); }
    void remove(node *n) { set_.erase(set_.iterator_to(*n)); }

  private:
    std::vector<node> nodes_;
    set set_;
};
#endif

/* A tree under a lock. */
template <class Strategy, class Tree> class tree_under {
  public:
    using handle = typename Tree::node *;
    using thread = any_thread;

    explicit tree_under(tree &t) : tree_(Tree::of(t)) {}

    bool look_up(std::uint64_t key)
    {
        typename Strategy::lookup hold(lock_.object);
        const auto *n = tree_->find(key);
        return n && n->value == tree::value_of(key);
    }

    /* None: another thread has just inserted that key. */
    handle insert(std::uint64_t key)
    {
        auto n = std::make_unique<typename Tree::node>();
        n->key = key;
        n->value = tree::value_of(key);
        typename Strategy::insertion hold(lock_.object);
        decltype(tree_->place_of(key)) place;
        do
            place = tree_->place_of(key);
        while (!hold.to_write());
        if (place.present)
            return nullptr;
        tree_->insert_at(place, n.get());
        return n.release();
    }

    void remove(handle n)
    {
        {
            typename Strategy::insertion hold(lock_.object);
            while (!hold.to_write())
                continue;
            tree_->remove(n);
        }
        delete n;
    }

  private:
    placed<typename Strategy::lock_type> lock_;
    const std::shared_ptr<Tree> tree_;
};

template <class Strategy, class Tree = tree>
tree_candidate present(const char *strategy, const char *lock)
{
    using lock_type = typename Strategy::lock_type;
    if constexpr (adapter::in_build<lock_type>)
        return {strategy, lock, "", make_tree<tree_under<Strategy, Tree>>};
    else
        return {strategy, lock, adapter::why_not<lock_type>()};
}

void add_boost(std::vector<tree_candidate> &all)
{
#if PAWL_BENCH_BOOST
    using set = boost_tree;
    all.push_back(present<read_seek_write<adapter::pawl_lock64>, set>("map", "boost_pawl_lock64"));
    all.push_back(present<read_seek_write<adapter::pawl_spin64>, set>("map", "boost_pawl_spin64"));
    all.push_back(present<read_write<adapter::pthread_rwlock>, set>("map", "boost_pthread_rwlock"));
    all.push_back(present<read_write<adapter::tbb_spin_rw_mutex>, set>("map", "boost_tbb_spin"));
#else
    all.push_back({"map", "boost_pawl_lock64", adapter::to_install("libboost-thread-dev")});
#endif
}

#endif

} // namespace

std::vector<tree_candidate> tree_candidates()
{
    std::vector<tree_candidate> all;
#if PAWL_BENCH_BSD
    using boost_mutex = adapter::boost_upgrade_mutex;
    all.push_back(present<read_seek_write<adapter::pawl_spin64>>("r+s>w", "pawl_spin64"));
    all.push_back(present<read_seek_write<adapter::pawl_spin32>>("r+s>w", "pawl_spin32"));
    all.push_back(present<read_seek_write<adapter::pawl_lock64>>("r+s>w", "pawl_lock64"));
    all.push_back(present<read_seek_write<adapter::pawl_brlock>>("r+s>w", "pawl_brlock"));
    all.push_back(present<read_write<adapter::pthread_rwlock>>("r+w", "pthread_rwlock"));
    all.back().baseline = true;
    all.push_back(present<read_write<adapter::std_shared_mutex>>("r+w", "std_shared_mutex"));
    all.push_back(present<read_write<adapter::pawl_spin64>>("r+w", "pawl_spin64"));
    all.push_back(present<read_write<adapter::pawl_lock64>>("r+w", "pawl_lock64"));
    all.push_back(present<read_seek_write<boost_mutex>>("r+s>w", "boost_upgrade_mutex"));
    all.push_back(present<read_write<adapter::tbb_spin_rw_mutex>>("r+w", "tbb_spin_rw_mutex"));
    all.push_back(present<read_write<adapter::tbb_rw_mutex>>("r+w", "tbb_rw_mutex"));
    all.push_back(present<read_write<adapter::absl_mutex>>("r+w", "absl_mutex"));
    all.push_back(present<read_write<adapter::nsync_mu>>("r+w", "nsync_mu"));
    all.push_back(present<read_write<adapter::ck_rwlock>>("r+w", "ck_rwlock"));
    all.push_back(present<write_only<adapter::pthread_mutex>>("w", "pthread_mutex"));
    all.push_back(present<write_only<adapter::none>>("w", "none"));
    all.back().one_thread_only = true;
    all.push_back({"parts", "none", ""});
    add_maps(all);
    add_boost(all);
#else
    const std::string why = adapter::to_install("libbsd-dev");
    all.push_back({"r+s>w", "pawl_spin64", why});
    all.push_back({"r+w", "pthread_rwlock", why});
    all.back().baseline = true;
    all.push_back({"parts", "none", why});
#endif
    return all;
}

} // namespace bench
