/* SPDX-License-Identifier: MIT */
/* The locks that the tree bench compares, in the order of the reports, and the loop under them. */
#include "tree/tree.hpp"

#if PAWL_BENCH_BSD
#include "examples/lock_strategies.hpp"
#include "adapters/all.hpp"
#include "adapters/pawl_brlock.hpp"
#include "core/placed.hpp"
#endif

namespace bench {

namespace {

#if PAWL_BENCH_BSD

using namespace pawl_example;

template <class Strategy> class tree_under final : public tree_design {
  public:
    tree_under(tree &t, unsigned threads) : tree_(t), inserted_(threads) {}

    void run(const tree_task &task, unsigned thread, const phase_flag &flag,
             tree_tally &tally) override
    {
        random_numbers random(mix(task.seed + thread));
        mixed_runs runs(task.inserts);
        std::deque<tree_node> &own = inserted_[thread].object;
        tree_tally local;
        run_while(phase::warming, task, flag, random, runs, own, local);
        local = tree_tally();
        const usage_meter meter;
        run_while(phase::measuring, task, flag, random, runs, own, local);
        local.used = meter.stop();
        tally = local;
    }

    void clear() override
    {
        for (auto &one : inserted_) {
            for (tree_node &n : one.object)
                tree_.remove(&n);
            one.object.clear();
        }
    }

  private:
    void run_while(phase p, const tree_task &task, const phase_flag &flag, random_numbers &stream,
                   mixed_runs &mix_of, std::deque<tree_node> &own, tree_tally &t)
    {
        random_numbers random = stream; /* local: the compiler may keep them in registers */
        mixed_runs runs = mix_of;
        const auto keys = task.hot ? task.hot_keys : static_cast<std::uint32_t>(tree_.size());
        for (; flag.is(p); t.ops++)
            if (runs.next(random)) {
                own.emplace_back();
                own.back().key = tree::new_key(random);
                own.back().value = tree::value_of(own.back().key);
                if (!insert(&own.back()))
                    own.pop_back();
                t.inserts++;
            } else {
                t.wrong += !look_up(tree_.key_of_latest(random.below(keys)));
            }
        stream = random;
        mix_of = runs;
    }

    bool look_up(std::uint64_t key)
    {
        typename Strategy::lookup hold(lock_.object);
        const tree_node *n = tree_.find(key);
        return n && n->value == tree::value_of(key);
    }

    /* false: another thread has just inserted that key. */
    bool insert(tree_node *n)
    {
        typename Strategy::insertion hold(lock_.object);
        tree_place place;
        do
            place = tree_.place_of(n->key);
        while (!hold.to_write());
        if (!place.present)
            tree_.insert_at(place, n);
        return !place.present;
    }

    /* A node keeps its place while others come: nothing is moved. */
    struct alignas(128) part {
        std::deque<tree_node> object;
    };
    placed<typename Strategy::lock_type> lock_;
    tree &tree_;
    std::vector<part> inserted_;
};

template <class Strategy> std::unique_ptr<tree_design> make_tree(tree &t, unsigned threads)
{
    return std::make_unique<tree_under<Strategy>>(t, threads);
}

template <class Strategy> tree_candidate present(const char *strategy, const char *lock)
{
    using lock_type = typename Strategy::lock_type;
    if constexpr (adapter::in_build<lock_type>)
        return {strategy, lock, "", make_tree<Strategy>};
    else
        return {strategy, lock, adapter::why_not<lock_type>()};
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
