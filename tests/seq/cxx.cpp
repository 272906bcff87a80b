// SPDX-License-Identifier: MIT
// pawl::seqlock and pawl::seqlatch.
#include <pawl/pawl.hpp>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

namespace {

struct point {
    point(double first, double second) : x(first), y(second) {} // no default constructor
    double x, y;
    char mark = 'm';
};

// Usable before main: constant initialised.
pawl::seqlock<int> early;
static_assert(std::is_nothrow_default_constructible_v<pawl::seqlock<int>>);
static_assert(!std::is_copy_constructible_v<pawl::seqlock<int>>);
static_assert(!std::is_move_assignable_v<pawl::seqlatch<int>>);
static_assert(std::is_same_v<decltype(std::declval<const pawl::seqlock<point> &>().load()), point>);

template <class Lock> class both : public testing::Test {};
struct of_lock {
    template <class T> using type = pawl::seqlock<T>;
};
struct of_latch {
    template <class T> using type = pawl::seqlatch<T>;
};
using kinds = testing::Types<of_lock, of_latch>;
struct names {
    template <class Kind> static std::string GetName(int)
    {
        return std::is_same_v<Kind, of_lock> ? "seqlock" : "seqlatch";
    }
};
TYPED_TEST_SUITE(both, kinds, names);

TYPED_TEST(both, begins_with_the_first_value_or_with_zeroes)
{
    typename TypeParam::template type<point> p(point(1, 2));
    const typename TypeParam::template type<std::array<int, 5>> zero;
    EXPECT_EQ(p.load().y, 2);
    EXPECT_EQ(p.load().mark, 'm');
    EXPECT_EQ(zero.load(), (std::array<int, 5>{}));
}

TYPED_TEST(both, stores_and_loads)
{
    typename TypeParam::template type<point> p(point(1, 2));
    p.store(point(3, 4));
    EXPECT_EQ(p.load().x, 3);
    EXPECT_TRUE(p.try_store(point(5, 6)));
    EXPECT_EQ(p.load().x, 5);
    p.store_alone(point(7, 8));
    EXPECT_EQ(p.load().x, 7);
}

TYPED_TEST(both, update_changes_what_is_there_and_returns_what_the_change_returns)
{
    typename TypeParam::template type<int> n(4);
    n.update([](int &value) { value *= 2; });
    EXPECT_EQ(n.load(), 8);
    const std::string said = n.update([](int &value) { return std::to_string(++value); });
    EXPECT_EQ(said, "9");
    EXPECT_EQ(n.load(), 9);
}

TYPED_TEST(both, an_update_that_throws_stores_nothing_and_leaves_the_lock_free)
{
    typename TypeParam::template type<int> n(4);
    EXPECT_THROW(n.update([](int &value) {
        value = 5;
        throw std::runtime_error("no");
    }),
                 std::runtime_error);
    EXPECT_EQ(n.load(), 4);
    EXPECT_TRUE(n.try_store(6));
}

TYPED_TEST(both, readers_go_on_while_an_update_is_at_work)
{
    typename TypeParam::template type<int> n(4);
    n.update([&n](int &value) {
        value = 5;
        EXPECT_EQ(n.load(), 4);
        EXPECT_FALSE(n.try_store(7));
    });
    EXPECT_EQ(n.load(), 5);
}

TYPED_TEST(both, updates_of_many_threads_are_all_counted)
{
    typename TypeParam::template type<std::array<long, 4>> n;
    std::vector<std::thread> crew;
    for (int t = 0; t < 4; t++)
        crew.emplace_back([&n] {
            for (int i = 0; i < 2000; i++) {
                n.update([](std::array<long, 4> &v) {
                    for (long &one : v)
                        one++;
                });
                const std::array<long, 4> v = n.load();
                EXPECT_EQ(v[0], v[3]);
            }
        });
    for (std::thread &one : crew)
        one.join();
    EXPECT_EQ(n.load()[2], 8000);
}

TEST(seqlock, a_lock_of_the_program_can_exclude_other_writers)
{
    pawl::seqlock<int> n;
    pawl::spin_lock mine;
    std::vector<std::thread> crew;
    for (int t = 0; t < 3; t++)
        crew.emplace_back([&] {
            for (int i = 0; i < 1000; i++) {
                const std::scoped_lock hold(mine);
                n.store_alone(n.load() + 1);
            }
        });
    for (std::thread &one : crew)
        one.join();
    EXPECT_EQ(n.load(), 3000);
}

TEST(seqlock, try_load_fails_while_a_store_stands_still)
{
    pawl::seqlock<int> n(3);
    pawl_seq_begin_write(n.native_handle());
    EXPECT_FALSE(n.try_load().has_value());
    pawl_seq_end_write(n.native_handle());
    EXPECT_EQ(n.try_load().value(), 3);
}

TEST(seqlock, load_or_lock_reads_and_frees_the_lock)
{
    pawl::seqlock<int> n(3);
    EXPECT_EQ(n.load_or_lock(0), 3);
    EXPECT_TRUE(n.try_store(4));
}

TEST(seqlock, is_usable_before_main)
{
    EXPECT_EQ(early.load(), 0);
    early.store(1);
    EXPECT_EQ(early.load(), 1);
}

} // namespace
