// SPDX-License-Identifier: MIT
// pawl::guarded: data that only a guard leads to.
#include <pawl/guarded.hpp>

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <thread>
#include <vector>

namespace {

using map = pawl::guarded<std::map<int, std::string>>;

TEST(Guarded, each_guard_leads_to_the_data_in_its_mode)
{
    map names;
    names.write()->emplace(1, "one");
    const auto read = names.read();
    EXPECT_EQ(read->at(1), "one");
    EXPECT_EQ((*read).size(), 1u);
    std::thread([&names] { EXPECT_TRUE(names.upgrade()->count(2) == 0); }).join(); // S beside R
}

TEST(Guarded, what_was_found_under_seek_is_changed_under_write)
{
    map names;
    auto seek = names.upgrade();
    EXPECT_EQ(seek->count(1), 0u);
    auto write = std::move(seek).to_write();
    EXPECT_FALSE(bool(seek));
    write->emplace(1, "one");
    auto again = std::move(write).to_seek();
    auto read = std::move(again).to_read();
    EXPECT_EQ(read->count(1), 1u);
    auto at_once = std::move(read).try_to_write();
    EXPECT_TRUE(at_once.has_value());
    (*at_once)->clear();
    at_once->drop();
    EXPECT_TRUE(names.read()->empty());
}

TEST(Guarded, a_try_that_fails_leaves_the_guard_as_it_was)
{
    map names;
    const auto read = names.read();
    std::thread([&names] {
        auto seek = names.upgrade();
        EXPECT_TRUE(!std::move(seek).try_to_write().has_value());
        EXPECT_TRUE(bool(seek));
    }).join();
}

TEST(Guarded, writers_exclude_each_other)
{
    pawl::guarded<long, pawl_spin32> sum(0);
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; i++)
        threads.emplace_back([&sum] {
            for (int k = 0; k < 1000; k++) {
                const auto write = sum.write();
                ++*write;
            }
        });
    for (std::thread &t : threads)
        t.join();
    const auto read = sum.read();
    EXPECT_EQ(*read, 4000);
}

TEST(Guarded, it_is_made_in_place)
{
    const pawl::guarded<std::string> text(std::in_place, std::size_t{3}, 'x');
    EXPECT_STREQ(text.read()->c_str(), "xxx");
}

} // namespace
