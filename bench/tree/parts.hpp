/* SPDX-License-Identifier: MIT */
/* The times of a lookup, of the search of an insertion and of its linking, without a lock. From
 * these the published formula predicts the throughput of N cores. */
#pragma once

#include "tree/tree.hpp"
#include "core/work.hpp"

namespace bench {

struct parts {
    std::uint64_t insertions = 0;
    double seconds = 0, read_ns = 0, seek_ns = 0, write_ns = 0;
};

/* The mean of all but the slowest hundredth: in those the system ran another program. */
inline double usual(std::vector<std::uint64_t> &values)
{
    const std::size_t kept = values.size() - values.size() / 100;
    if (kept == 0)
        return 0;
    std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(kept) - 1,
                     values.end());
    double sum = 0;
    for (std::size_t i = 0; i < kept; i++)
        sum += static_cast<double>(values[i]);
    return sum / static_cast<double>(kept);
}

/* Lookups as the threads do them, and insertions one by one with lookups between, as in the mix.
 * So each insertion finds the caches as it would there. */
class parts_bench {
  public:
    parts_bench(tree &t, const tree_task &task, const work_gauge &gauge)
        : tree_(t), clock_ns_(gauge.clock_ns()),
          keys_(task.hot ? task.hot_keys : static_cast<std::uint32_t>(t.size()))
    {
    }

    parts run(double seconds, std::uint64_t seed)
    {
        random_numbers random(seed);
        parts p;
        const double start = seconds_of(CLOCK_MONOTONIC);
        do {
            look_up_many(random);
            insert(random);
            p.seconds = seconds_of(CLOCK_MONOTONIC) - start;
        } while (p.seconds < seconds && !interrupted);
        p.insertions = writes_.size();
        p.read_ns = (usual(reads_) - clock_ns_) / batch;
        p.seek_ns = usual(seeks_) - clock_ns_;
        p.write_ns = usual(writes_) - clock_ns_;
        clear();
        return p;
    }

  private:
    static constexpr unsigned batch = 99; /* lookups to an insertion, as in the published mix */

    void look_up_many(random_numbers &random)
    {
        const std::uint64_t before = now_ns();
        for (unsigned i = 0; i < batch; i++) {
            const tree_node *n = tree_.find(tree_.key_of_latest(random.below(keys_)));
            __asm__ __volatile__("" : : "r"(n) : "memory");
        }
        reads_.push_back(now_ns() - before);
    }

    void insert(random_numbers &random)
    {
        inserted_.emplace_back();
        tree_node &n = inserted_.back();
        n.key = tree::new_key(random);
        n.value = tree::value_of(n.key);
        const std::uint64_t begun = now_ns();
        const tree_place place = tree_.place_of(n.key);
        __asm__ __volatile__("" : : "r"(place.parent) : "memory");
        const std::uint64_t found = now_ns();
        if (place.present) {
            inserted_.pop_back();
            return;
        }
        tree_.insert_at(place, &n);
        __asm__ __volatile__("" : : : "memory");
        const std::uint64_t ended = now_ns();
        seeks_.push_back(found - begun);
        writes_.push_back(ended - found);
    }

    void clear()
    {
        for (tree_node &n : inserted_)
            tree_.remove(&n);
        inserted_.clear();
        for (auto *times : {&reads_, &seeks_, &writes_})
            times->clear();
    }

    tree &tree_;
    const double clock_ns_;
    const std::uint32_t keys_;
    std::deque<tree_node> inserted_;
    std::vector<std::uint64_t> reads_, seeks_, writes_; /* ns, the clock's own included */
};

} // namespace bench
