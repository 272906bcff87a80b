// SPDX-License-Identifier: MIT
// The C++ faces of the counters and of the big reference count.
#include <pawl/bigref.hpp>
#include <pawl/counter.hpp>

#include "count/cells.h"

#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <type_traits>
#include <vector>

namespace {

pawl::counter at_namespace_scope;
const bool counted_before_main = (++at_namespace_scope, true);

TEST(counter, at_namespace_scope_counts_before_main)
{
    EXPECT_TRUE(counted_before_main);
    EXPECT_EQ(at_namespace_scope.read(), 1);
}

template <class Counter> void every_operator()
{
    Counter c;
    ++c;
    c++;
    c += 40;
    --c;
    c--;
    c -= 50;
    EXPECT_EQ(c.read(), -10);
}

TEST(counter, operators_add_and_subtract)
{
    every_operator<pawl::counter>();
    every_operator<pawl::cpu_counter>();
    every_operator<pawl::counter_exact>();
    pawl::counter c;
    c.add_in_handler(3);
    EXPECT_EQ(c.read(), 3);
}

TEST(counter, every_mode_of_an_exact_counter_can_be_constructed)
{
    for (const auto mode :
         {PAWL_EXACT_FOLD, PAWL_EXACT_STALL, PAWL_EXACT_BRLOCK, PAWL_EXACT_LOCKS}) {
        pawl::counter_exact c(mode);
        std::vector<std::thread> threads;
        for (int i = 0; i < 4; i++)
            threads.emplace_back([&c] {
                for (int k = 0; k < 1000; k++)
                    ++c;
            });
        for (std::thread &one : threads)
            one.join();
        EXPECT_EQ(c.read(), 4000);
    }
}

TEST(counter, its_end_gives_the_cells_back)
{
    for (int i = 0; i < 2 * PAWL_COUNTER_CELLS; i++) {
        pawl::counter_limit limited(1);
        ASSERT_TRUE(limited.try_add());
        ASSERT_FALSE(limited.try_add());
    }
    auto last = std::make_unique<pawl_counter>();
    pawl_counter_inc(last.get());
    EXPECT_GE(last->place, PAWL_PLACE_FIRST_);
    EXPECT_EQ(pawl_counter_destroy(last.get()), 1);
}

TEST(counter, a_limit_can_be_raised)
{
    pawl::counter_limit limited(10);
    EXPECT_TRUE(limited.try_add(10));
    EXPECT_FALSE(limited.try_add());
    limited.set_limit(11);
    EXPECT_TRUE(limited.try_add());
    limited.sub(11);
    EXPECT_EQ(limited.read(), 0);
}

TEST(counter, counters_neither_copy_nor_move)
{
    static_assert(!std::is_copy_constructible_v<pawl::counter>);
    static_assert(!std::is_move_constructible_v<pawl::counter>);
    static_assert(!std::is_copy_assignable_v<pawl::counter_exact>);
    static_assert(std::is_nothrow_default_constructible_v<pawl::counter>);
}

// ---- References --------------------------------------------------------------------------------

int released;

TEST(big_ref, pointers_hold_references_and_the_last_one_releases)
{
    released = 0;
    pawl::big_ref count([](pawl_bigref *, void *arg) { ++*static_cast<int *>(arg); }, &released);
    {
        pawl::big_ref_ptr first = pawl::big_ref_ptr::adopt(count);
        pawl::big_ref_ptr second(count);
        EXPECT_EQ(count.read(), 2);
        pawl::big_ref_ptr moved(std::move(second));
        EXPECT_FALSE(second);
        EXPECT_TRUE(moved);
        EXPECT_EQ(count.read(), 2);
        first = std::move(moved);
        EXPECT_EQ(count.read(), 1);
        EXPECT_TRUE(count.kill());
        EXPECT_FALSE(count.kill());
        EXPECT_EQ(released, 0);
    }
    EXPECT_EQ(released, 1);
    EXPECT_FALSE(pawl::big_ref_ptr::try_get(count));
}

TEST(big_ref, a_revived_count_gives_references_again)
{
    released = 0;
    pawl::big_ref count([](pawl_bigref *, void *) { ++released; });
    count.kill();
    EXPECT_TRUE(count.revive());
    EXPECT_TRUE(pawl::big_ref_ptr::try_get(count));
    count.drop();
    EXPECT_EQ(released, 0);
    count.kill();
    EXPECT_EQ(released, 1);
}

struct document {
    pawl::big_ref users{[](pawl_bigref *, void *arg) { delete static_cast<document *>(arg); },
                        this};
    explicit document(bool *gone) : gone_(gone) {}
    ~document() { *gone_ = true; }
    bool *gone_;
};

TEST(big_ref, an_object_may_delete_itself)
{
    bool gone = false;
    auto *d = new document(&gone);
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; i++)
        threads.emplace_back([user = pawl::big_ref_ptr(d->users)]() mutable { user.reset(); });
    d->users.kill();
    d->users.drop();
    for (std::thread &one : threads)
        one.join();
    EXPECT_TRUE(gone);
}

} // namespace
