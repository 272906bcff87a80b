// SPDX-License-Identifier: MIT
// pawl::table: a random walk beside std::unordered_map, and what its results hold.
#include <pawl/table.hpp>

#include <gtest/gtest.h>

#include <random>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

namespace {

struct thing : pawl::table_object {
    std::string name;
    bool in = false;
    const std::string &key() const { return name; }
};

// Four orders for all names, so that names of equal hash meet.
struct bad_hash {
    std::size_t operator()(const std::string &name) const { return name.size() % 4; }
};

template <class Table> void walk_beside_a_map(Table &table)
{
    const auto seed = std::random_device()();
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    std::vector<thing> things(200);
    std::unordered_map<std::string, thing *> map;
    for (thing &o : things)
        o.name = std::string(static_cast<std::size_t>(random() % 9), 'a') +
                 std::to_string(random() % 100);
    for (int step = 0; step < 20000; step++) {
        thing &o = things[static_cast<std::size_t>(random() % things.size())];
        if (o.in) {
            EXPECT_TRUE(table.erase(o));
            EXPECT_EQ(map.erase(o.name), 1u);
            o.in = false;
        } else {
            o.in = map.emplace(o.name, &o).second;
            EXPECT_EQ(table.insert(o), o.in);
        }
        const std::string &name = things[static_cast<std::size_t>(random() % 200)].name;
        const auto there = map.find(name);
        EXPECT_EQ(table.find(name).get(), there == map.end() ? nullptr : there->second);
        if (step % 64 == 0) {
            std::size_t met = 0;
            table.for_each([&](thing &one) { met += map.at(one.name) == &one; });
            EXPECT_EQ(met, map.size());
        }
    }
    for (thing &o : things)
        EXPECT_EQ(o.in, o.in && table.erase(o));
}

TEST(Table, it_goes_as_std_unordered_map)
{
    pawl::table<thing> table;
    walk_beside_a_map(table);
}

TEST(Table, names_of_equal_hash_are_told_apart)
{
    pawl::table<thing, bad_hash> table;
    walk_beside_a_map(table);
}

TEST(Table, a_result_holds_a_section_as_long_as_it_lives)
{
    pawl::table<thing> table;
    thing o, fresh;
    o.name = fresh.name = "a";
    EXPECT_TRUE(table.insert(o));
    {
        auto found = table.find("a");
        const auto moved = std::move(found);
        EXPECT_TRUE(pawl_rcu_read_held());
        EXPECT_EQ(moved->name, "a");
    }
    EXPECT_FALSE(pawl_rcu_read_held());
    EXPECT_FALSE(bool(table.find("b")));
    EXPECT_FALSE(pawl_rcu_read_held());
    EXPECT_TRUE(table.replace(o, fresh));
    EXPECT_EQ(table.find("a").get(), &fresh);
    EXPECT_TRUE(table.erase(fresh));
}

struct throwing_hash {
    std::size_t operator()(const std::string &) const { throw std::runtime_error("no hash"); }
};

// 1. A section begins.  2. A function of the program throws.  3. The section has to end: else no
// grace period of the process does.
TEST(Table, what_throws_leaves_no_section)
{
    pawl::table<thing> table;
    pawl::table<thing, throwing_hash> other;
    thing o;
    EXPECT_TRUE(table.insert(o));
    EXPECT_THROW(table.for_each([](thing &) { throw std::runtime_error("no use"); }),
                 std::runtime_error);
    EXPECT_FALSE(pawl_rcu_read_held());
    EXPECT_THROW((void)other.find("a"), std::runtime_error);
    EXPECT_FALSE(pawl_rcu_read_held());
    EXPECT_TRUE(table.erase(o));
}

} // namespace
