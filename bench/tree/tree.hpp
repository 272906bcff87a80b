/* SPDX-License-Identifier: MIT */
/*
 * What the files of pawl-bench-tree share: an ordered tree by libbsd's macros, used as a program
 * under a progressive lock would use it. The macros' own insertion searches and rebalances in one
 * call. Here the search is apart. The linking at the place that it found ends in the macros'
 * function that rebalances.
 */
#pragma once

#include <cstddef>
#include <deque>
#include <memory>

#include "adapters/absent.hpp"
#include "core/candidate.hpp"
#include "core/crew.hpp"
#include "core/histogram.hpp"
#include "core/mix.hpp"

#if PAWL_BENCH_BSD
#include <bsd/sys/tree.h>
#endif

namespace bench {

#if PAWL_BENCH_BSD

struct alignas(64) tree_node {
    RB_ENTRY(tree_node) link;
    std::uint64_t key = 0;
    std::uint64_t value = 0; /* belongs to the key */
};

inline int compare_nodes(const tree_node *a, const tree_node *b)
{
    return a->key < b->key ? -1 : a->key > b->key;
}

RB_HEAD(tree_root, tree_node);
/* As RB_GENERATE_STATIC, which needs a name that only BSD's own headers define. */
RB_GENERATE_INTERNAL(tree_root, tree_node, link, compare_nodes, [[maybe_unused]] static)

/* The place of a key: below `parent` on that side; or the node that has it already. */
struct tree_place {
    tree_node *parent = nullptr;
    tree_node *present = nullptr;
    bool left = false;
};

/* The tree and its permanent nodes. Their keys are even, and their neighbours in the tree lie
 * anywhere in memory. Threads insert odd keys and take them out between samples. */
class tree {
  public:
    using node = tree_node;
    static std::shared_ptr<tree> of(tree &t) { return {std::shared_ptr<tree>(), &t}; }

    tree(std::size_t nodes, std::uint64_t seed);
    tree(const tree &) = delete;
    tree &operator=(const tree &) = delete;

    const tree_node *find(std::uint64_t key) const
    {
        const tree_node *n = RB_ROOT(&root_);
        while (n && n->key != key)
            n = key < n->key ? RB_LEFT(n, link) : RB_RIGHT(n, link);
        return n;
    }

    tree_place place_of(std::uint64_t key) const
    {
        tree_place place;
        tree_node *n = RB_ROOT(&root_);
        while (n) {
            place.parent = n;
            if (key == n->key) {
                place.present = n;
                return place;
            }
            place.left = key < n->key;
            n = place.left ? RB_LEFT(n, link) : RB_RIGHT(n, link);
        }
        return place;
    }

    void insert_at(const tree_place &place, tree_node *n)
    {
        RB_SET(n, place.parent, link);
        if (!place.parent)
            RB_ROOT(&root_) = n;
        else if (place.left)
            RB_LEFT(place.parent, link) = n;
        else
            RB_RIGHT(place.parent, link) = n;
        tree_root_RB_INSERT_COLOR(&root_, n);
    }

    void remove(tree_node *n) { RB_REMOVE(tree_root, &root_, n); }

    /* Counts from the node that went in last: early nodes are near the root. */
    std::uint64_t key_of_latest(std::size_t i) const { return keys_[keys_.size() - 1 - i]; }
    std::size_t size() const { return keys_.size(); }
    /* Whether the nodes are in order, and have the right number. */
    bool is_sound();

    static std::uint64_t value_of(std::uint64_t key) { return key * UINT64_C(0xD1342543DE82EF95); }
    /* Any odd number: a key that is in the tree only if another thread chose it by chance. */
    static std::uint64_t new_key(random_numbers &random) { return random.next() | 1; }

  private:
    tree_root root_ = RB_INITIALIZER(nullptr);
    std::vector<tree_node> nodes_;
    std::vector<std::uint64_t> keys_; /* apart: drawing one brings no node into the caches */
};

#else

class tree;

#endif

/* The settings of all threads of a sample. */
struct tree_task {
    double inserts = 1; /* percent */
    bool hot = true;    /* lookups of a few keys again and again; false: of any */
    std::uint32_t hot_keys = 8;
    double removes = 0;  /* percent of the changes; the others insert */
    unsigned timing = 0; /* one lookup in so many is timed; 0: none */
    std::uint64_t seed = 0;
};

/* The results of a thread. Threads write only their own, so each has its own lines. */
struct alignas(128) tree_tally {
    std::uint64_t ops = 0, inserts = 0, wrong = 0;
    usage used;
    histogram times;

    void add(const tree_tally &other)
    {
        times.merge(other.times);
        ops += other.ops;
        inserts += other.inserts;
        wrong += other.wrong;
        used += other.used;
    }
};

class tree_design {
  public:
    virtual ~tree_design() = default;
    virtual void run(const tree_task &task, unsigned thread, const phase_flag &flag,
                     tree_tally &tally) = 0;
    /* Takes out the nodes that the threads of a sample have inserted. No thread uses the tree
     * meanwhile. */
    virtual void clear() = 0;
};

/* Without a function: it times the pieces. */
using tree_candidate = candidate<std::unique_ptr<tree_design> (*)(tree &, unsigned threads)>;

std::vector<tree_candidate> tree_candidates();

/* Whole maps: ours, and those of other libraries (maps.cpp). */
void add_maps(std::vector<tree_candidate> &all);

} // namespace bench
