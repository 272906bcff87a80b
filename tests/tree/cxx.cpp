// SPDX-License-Identifier: MIT
// pawl::tree: a random walk beside std::multimap, and what its results hold.
#include <pawl/tree.hpp>

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>
#include <vector>

namespace {

struct thing : pawl::tree_object {
    std::uint64_t number = 0;
    bool in = false;
};

// All nodes from the place of the reference on, in both orders.
void same_from(pawl::tree<thing>::found i, const std::multimap<std::uint64_t, thing *> &map,
               std::multimap<std::uint64_t, thing *>::const_iterator j)
{
    for (; j != map.end(); ++j, i.next()) {
        ASSERT_TRUE(bool(i));
        EXPECT_EQ(i.get(), j->second);
    }
    EXPECT_FALSE(bool(i));
}

TEST(Tree, it_goes_as_std_multimap)
{
    const auto seed = std::random_device()();
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    std::vector<thing> things(200);
    std::multimap<std::uint64_t, thing *> map;
    pawl::tree<thing> tree;
    for (int step = 0; step < 20000; step++) {
        thing &o = things[static_cast<std::size_t>(random() % 200)];
        const std::uint64_t key = random() % 64;
        if (!o.in) {
            o.number = key;
            tree.insert_equal(o, key);
            map.emplace(key, &o);
        } else {
            auto at = map.lower_bound(o.number);
            while (at->second != &o)
                ++at;
            map.erase(at);
            EXPECT_TRUE(tree.erase(o));
        }
        o.in = !o.in;
        const auto least = map.lower_bound(key), past = map.upper_bound(key);
        EXPECT_EQ(tree.find(key).get(), least == past ? nullptr : least->second);
        EXPECT_EQ(tree.at_least(key).get(), least == map.end() ? nullptr : least->second);
        EXPECT_EQ(tree.at_most(key).get(), past == map.begin() ? nullptr : std::prev(past)->second);
        if (step % 64 == 0)
            same_from(tree.first(), map, map.begin());
        if (step % 64 == 1)
            same_from(tree.at_least(key), map, least);
    }
    for (thing &o : things)
        EXPECT_EQ(o.in, o.in && tree.erase(o));
    EXPECT_FALSE(bool(tree.last()));
}

TEST(Tree, a_result_holds_read_as_long_as_it_lives)
{
    pawl::tree<thing> tree;
    thing o;
    EXPECT_TRUE(tree.insert(o, 1u));
    {
        const auto found = tree.find(1u);
        EXPECT_TRUE(pawl_lock64_is_read(&tree.native_handle()->lock));
    }
    EXPECT_TRUE(pawl_lock64_is_free(&tree.native_handle()->lock));
    EXPECT_FALSE(bool(tree.find(2u)));
    EXPECT_TRUE(pawl_lock64_is_free(&tree.native_handle()->lock));
    EXPECT_TRUE(tree.erase(o));
}

TEST(Tree, strings_are_keys_and_match_their_beginnings)
{
    const std::string names[] = {"/", "/static", "/static/logo"};
    pawl::tree<thing> tree(PAWL_TREE_BYTES);
    thing things[3], other;
    for (int i = 0; i < 3; i++)
        EXPECT_TRUE(tree.insert(things[i], names[i]));
    EXPECT_FALSE(tree.insert(other, "/static"));
    EXPECT_EQ(tree.match("/static/style").get(), &things[1]);
    EXPECT_EQ(tree.last().get(), &things[2]);
    pawl_rcu_read_lock();
    EXPECT_EQ(tree.get("/"), &things[0]);
    pawl_rcu_read_unlock();
    for (thing &o : things)
        EXPECT_TRUE(tree.erase(o));
}

} // namespace
