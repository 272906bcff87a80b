/* SPDX-License-Identifier: MIT */
/* The tree and its permanent nodes. */
#include "tree/tree.hpp"

#if PAWL_BENCH_BSD

namespace bench {

tree::tree(std::size_t nodes, std::uint64_t seed) : nodes_(nodes)
{
    keys_.reserve(nodes);
    random_numbers random(seed);
    for (tree_node &n : nodes_) {
        tree_place place;
        do {
            n.key = random.next() & ~UINT64_C(1);
            place = place_of(n.key);
        } while (place.present);
        n.value = value_of(n.key);
        insert_at(place, &n);
        keys_.push_back(n.key);
    }
}

bool tree::is_sound()
{
    std::size_t count = 0;
    const tree_node *before = nullptr;
    for (tree_node *n = RB_MIN(tree_root, &root_); n; n = RB_NEXT(tree_root, &root_, n)) {
        if ((before && before->key >= n->key) || n->value != value_of(n->key))
            return false;
        before = n;
        count++;
    }
    return count == nodes_.size();
}

} // namespace bench

#endif
