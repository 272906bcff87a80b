/* SPDX-License-Identifier: MIT */
/*
 * The loop of the tree bench over any map:
 *   look_up(key)      whether the key is there, with the value that belongs to it
 *   insert(key)       a handle of what is inserted; false if the key is there
 *   remove(handle)
 */
#pragma once

#include "tree/tree.hpp"

namespace bench {

template <class Map> class tree_run final : public tree_design {
    using handle = typename Map::handle;

  public:
    tree_run(tree &t, unsigned threads) : map_(t), tree_(t), inserted_(threads) {}

    void run(const tree_task &task, unsigned thread, const phase_flag &flag,
             tree_tally &tally) override
    {
        [[maybe_unused]] const typename Map::thread here;
        random_numbers random(mix(task.seed + thread));
        mixed_runs runs(task.inserts);
        std::deque<handle> &own = inserted_[thread].object;
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
        [[maybe_unused]] const typename Map::thread here;
        for (auto &one : inserted_) {
            for (handle &h : one.object)
                map_.remove(h);
            one.object.clear();
        }
    }

  private:
    void run_while(phase p, const tree_task &task, const phase_flag &flag, random_numbers &stream,
                   mixed_runs &mix_of, std::deque<handle> &own, tree_tally &t)
    {
        random_numbers random = stream; /* local: the compiler may keep them in registers */
        mixed_runs runs = mix_of;
        const auto keys = task.hot ? task.hot_keys : static_cast<std::uint32_t>(tree_.size());
        const auto removes = static_cast<std::uint32_t>(task.removes * 0x1p32 / 100);
        for (; flag.is(p); t.ops++)
            if (runs.next(random)) {
                change(random, removes, own);
                t.inserts++;
            } else {
                const std::uint64_t key = tree_.key_of_latest(random.below(keys));
                const bool timed = task.timing != 0 && t.ops % task.timing == 0;
                const std::uint64_t start = timed ? now_ns() : 0;
                t.wrong += !map_.look_up(key);
                if (timed)
                    t.times.add(now_ns() - start);
            }
        stream = random;
        mix_of = runs;
    }

    void change(random_numbers &random, std::uint32_t removes, std::deque<handle> &own)
    {
        if (removes != 0 && !own.empty() && random.next() >> 32 < removes) {
            map_.remove(own.front());
            own.pop_front();
        } else if (handle h = map_.insert(tree::new_key(random))) {
            own.push_back(h);
        }
    }

    struct alignas(128) part {
        std::deque<handle> object;
    };
    Map map_;
    tree &tree_;
    std::vector<part> inserted_;
};

/* For maps that need nothing of a thread. */
struct any_thread {
    any_thread() {}
};

template <class Map> std::unique_ptr<tree_design> make_tree(tree &t, unsigned threads)
{
    return std::make_unique<tree_run<Map>>(t, threads);
}

} // namespace bench
