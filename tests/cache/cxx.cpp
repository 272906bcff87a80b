// SPDX-License-Identifier: MIT
// pawl::cache: kinds of keys, hits and references, loads that throw, and what is destroyed.
#include <pawl/cache.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

std::atomic<int> alive;

struct value {
    explicit value(int n) : number(n) { alive++; }
    value(value &&other) noexcept : number(other.number) { alive++; }
    ~value() { alive--; }
    int number;
};

enum class colour { red, green };

struct place {
    std::uint32_t x, y;
};

TEST(Cache, strings_are_found_by_their_views)
{
    pawl::cache<std::string, value> cache(2);
    EXPECT_TRUE(cache.insert("one", value(1)));
    EXPECT_TRUE(cache.insert("another", value(2)));
    EXPECT_EQ(cache.find("one")->number, 1);
    EXPECT_FALSE(bool(cache.find(std::string_view("one", 2))));
    EXPECT_TRUE(cache.insert("third", value(3)));
    EXPECT_FALSE(bool(cache.find("another"))); // the unused one
    EXPECT_TRUE(cache.erase("one"));
    EXPECT_FALSE(cache.erase("one"));
    EXPECT_EQ(cache.statistics().entries, 1u);
}

TEST(Cache, numbers_and_plain_types_are_keys)
{
    pawl::cache<colour, int> colours(2);
    EXPECT_TRUE(colours.insert(colour::red, 1));
    EXPECT_EQ(*colours.find(colour::red), 1);
    EXPECT_FALSE(bool(colours.find(colour::green)));
    pawl::cache<place, int> places(2);
    EXPECT_TRUE(places.insert(place{1, 2}, 12));
    EXPECT_EQ(*places.hold(place{1, 2}), 12);
    EXPECT_FALSE(bool(places.hold(place{2, 1})));
}

TEST(Cache, a_hit_is_a_section_and_a_reference_is_none)
{
    pawl::cache<int, int> cache(2);
    EXPECT_TRUE(cache.insert(1, 10));
    {
        const auto found = cache.find(1);
        EXPECT_TRUE(pawl_rcu_read_held());
        EXPECT_FALSE(bool(cache.find(2)));
        EXPECT_TRUE(pawl_rcu_read_held());
    }
    EXPECT_FALSE(pawl_rcu_read_held());
    auto held = cache.hold(1);
    EXPECT_FALSE(pawl_rcu_read_held());
    EXPECT_TRUE(cache.erase(1));
    auto other = std::move(held);
    EXPECT_FALSE(bool(held));
    EXPECT_EQ(*other, 10);
    other = {};
    EXPECT_FALSE(bool(other));
}

TEST(Cache, a_load_that_throws_is_thrown_to_its_caller_alone)
{
    pawl::cache<int, int> cache(2);
    EXPECT_THROW((void)cache.find_or_load(1, [](int) -> int { throw std::runtime_error("no"); }),
                 std::runtime_error);
    EXPECT_EQ(cache.statistics().failed, 1u);
    EXPECT_EQ(*cache.find_or_load(1, [](int key) { return key + 1; }), 2);
    EXPECT_EQ(*cache.find_or_load(1, [](int) { return 7; }), 2);
}

TEST(Cache, threads_load_a_key_once_and_all_is_destroyed)
{
    std::atomic<int> loads = 0;
    {
        pawl::cache<std::uint64_t, value> cache(64);
        std::vector<std::thread> threads;
        for (int t = 0; t < 4; t++)
            threads.emplace_back([&] {
                for (std::uint64_t key = 0; key < 32; key++) {
                    const auto held = cache.find_or_load(key, [&](std::uint64_t k) {
                        loads++;
                        return value(static_cast<int>(k));
                    });
                    EXPECT_EQ(held->number, static_cast<int>(key));
                }
            });
        for (std::thread &t : threads)
            t.join();
    }
    EXPECT_EQ(loads, 32);
    EXPECT_EQ(alive, 0);
}

} // namespace
