// SPDX-License-Identifier: MIT
// pawl::id_table: ownership, lookups under locks of the standard library and of Pawl, bad input.
#include <pawl/idtable.hpp>
#include <pawl/pawl.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

std::atomic<int> alive;

template <class Mutex> struct object : pawl::id_object {
    explicit object(std::string said) : text(std::move(said)) { alive++; }
    ~object() { alive--; }
    Mutex lock;
    std::string text;
};

template <class Mutex> using table_of = pawl::id_table<object<Mutex>, &object<Mutex>::lock>;

template <class Call> void elsewhere(Call call)
{
    std::thread(call).join();
}

template <class Mutex> class id_table : public ::testing::Test {};
using mutexes =
    ::testing::Types<std::mutex, std::shared_mutex, pawl::spin_lock16, pawl::spin_lock32,
                     pawl::spin_lock, pawl::lock32, pawl::lock, pawl::brlock>;
TYPED_TEST_SUITE(id_table, mutexes, );

TYPED_TEST(id_table, finds_objects_locked)
{
    table_of<TypeParam> table;
    const pawl_id id = table.insert(std::make_unique<object<TypeParam>>("first"));
    ASSERT_NE(id, PAWL_ID_NONE);
    EXPECT_EQ(table.count(), 1u);
    {
        const auto held = table.find(id);
        ASSERT_TRUE(held);
        EXPECT_EQ(held->text, "first");
        elsewhere([&] {
            bool busy = false;
            EXPECT_FALSE(table.try_find(id, &busy));
            EXPECT_TRUE(busy);
        });
    }
    bool busy = true;
    EXPECT_TRUE(table.try_find(id, &busy));
    EXPECT_FALSE(busy);
    EXPECT_FALSE(table.find(id + 1));
    EXPECT_FALSE(table.try_find(id + 1, &busy));
    EXPECT_FALSE(busy);
    EXPECT_FALSE(table.find(PAWL_ID_NONE));
}

TYPED_TEST(id_table, removes_by_id_and_by_what_was_found)
{
    {
        table_of<TypeParam> table;
        const pawl_id first = table.insert(std::make_unique<object<TypeParam>>("first"));
        const pawl_id second = table.insert(std::make_unique<object<TypeParam>>("second"));
        EXPECT_TRUE(table.remove(first));
        EXPECT_FALSE(table.remove(first));
        EXPECT_FALSE(table.find(first));
        auto found = table.find(second);
        EXPECT_TRUE(table.remove(std::move(found)));
        EXPECT_FALSE(table.find(second));
        EXPECT_FALSE(table.remove(typename table_of<TypeParam>::unique()));
        const pawl_id third = table.insert(std::make_unique<object<TypeParam>>("third"));
        EXPECT_NE(third, first);
        EXPECT_NE(third, second);
        EXPECT_EQ(table.find(third)->text, "third");
        EXPECT_EQ(pawl_rcu_barrier(), 0);
        EXPECT_EQ(alive, 1);
    }
    EXPECT_EQ(alive, 0); // the table's end deletes what is left
}

TYPED_TEST(id_table, visits_all_that_are_in)
{
    table_of<TypeParam> table;
    std::vector<pawl_id> ids;
    for (int i = 0; i < 100; i++)
        ids.push_back(table.insert(std::make_unique<object<TypeParam>>(std::to_string(i))));
    for (std::size_t i = 0; i < ids.size(); i += 2)
        EXPECT_TRUE(table.remove(ids[i]));
    std::size_t next = 1;
    table.for_each([&](pawl_id id, object<TypeParam> &o) {
        EXPECT_EQ(id, ids[next]);
        EXPECT_EQ(o.text, std::to_string(next));
        next += 2;
    });
    EXPECT_EQ(next, 101u);
}

TEST(id_table_shared, lets_readers_in_together)
{
    table_of<pawl::lock> table;
    const pawl_id id = table.insert(std::make_unique<object<pawl::lock>>("read"));
    const auto held = table.find_shared(id);
    ASSERT_TRUE(held);
    elsewhere([&] {
        EXPECT_TRUE(table.find_shared(id));
        EXPECT_FALSE(table.try_find(id));
    });
    EXPECT_FALSE(table.find_shared(id + 1));
}

TEST(id_table_limits, gives_the_object_back_when_there_is_no_room)
{
    {
        pawl_idtable_options options = {};
        options.limit = 1;
        table_of<std::mutex> table(options);
        EXPECT_EQ(table.error(), 0);
        auto first = std::make_unique<object<std::mutex>>("first");
        EXPECT_NE(table.insert(first), PAWL_ID_NONE);
        EXPECT_EQ(first, nullptr);
        auto second = std::make_unique<object<std::mutex>>("second");
        EXPECT_EQ(table.insert(second), PAWL_ID_NONE);
        ASSERT_NE(second, nullptr);
        EXPECT_EQ(second->text, "second");
        EXPECT_EQ(table.insert(std::move(second)), PAWL_ID_NONE);
        EXPECT_EQ(second, nullptr); // it was given away
        EXPECT_EQ(alive, 1);
        EXPECT_EQ(table.insert(std::unique_ptr<object<std::mutex>>()), PAWL_ID_NONE);
    }
    EXPECT_EQ(alive, 0);
    pawl_idtable_options options = {};
    options.limit = PAWL_IDTABLE_MOST + 1;
    table_of<std::mutex> table(options);
    EXPECT_EQ(table.error(), EINVAL);
    EXPECT_EQ(table.insert(std::make_unique<object<std::mutex>>("none")), PAWL_ID_NONE);
    EXPECT_EQ(alive, 0);
}

// A lock that throws leaves no read section open behind it.
struct throwing {
    void lock() { throw std::runtime_error("no"); }
    bool try_lock() { throw std::runtime_error("no"); }
    void unlock() {}
};

TEST(id_table_exceptions, a_lock_that_throws_leaves_no_read_section)
{
    table_of<throwing> table;
    const pawl_id id = table.insert(std::make_unique<object<throwing>>("throws"));
    EXPECT_THROW((void)table.find(id), std::runtime_error);
    EXPECT_THROW((void)table.try_find(id), std::runtime_error);
    EXPECT_THROW(table.for_each([](pawl_id, object<throwing> &) {}), std::runtime_error);
    EXPECT_FALSE(pawl_rcu_read_held());
    {
        table_of<pawl::lock> other;
        (void)other.insert(std::make_unique<object<pawl::lock>>("one"));
        EXPECT_THROW(other.for_each([](pawl_id, object<pawl::lock> &) { throw 1; }), int);
        EXPECT_FALSE(pawl_rcu_read_held());
        other.for_each([](pawl_id, object<pawl::lock> &o) { EXPECT_EQ(o.text, "one"); });
    }
}

TEST(id_table_types, guards_are_moved_and_not_copied)
{
    using table = table_of<pawl::lock>;
    static_assert(std::is_nothrow_move_constructible_v<table::unique>);
    static_assert(!std::is_copy_constructible_v<table::unique>);
    static_assert(!std::is_copy_constructible_v<table>);
    static_assert(!std::is_copy_constructible_v<object<pawl::lock>>);

    table objects;
    const pawl_id one = objects.insert(std::make_unique<object<pawl::lock>>("one"));
    const pawl_id two = objects.insert(std::make_unique<object<pawl::lock>>("two"));
    table::unique held = objects.find(one);
    table::unique moved = std::move(held);
    EXPECT_FALSE(held);
    EXPECT_EQ(moved->text, "one");
    moved = objects.find(two); // lets go of the first
    EXPECT_EQ(moved->text, "two");
    elsewhere([&] {
        EXPECT_TRUE(objects.try_find(one));
        EXPECT_FALSE(objects.try_find(two));
    });
}

} // namespace
