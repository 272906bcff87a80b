// SPDX-License-Identifier: MIT
// Hazard pointers by the names of C++26: moves, protection, deleters.
#include <pawl/hazard.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <thread>
#include <type_traits>
#include <vector>

namespace {

struct padding {
    virtual ~padding() = default;
    int number = 7;
};

// The base is not the first one: its address differs from the object's.
struct counted : padding, pawl::hazard_pointer_obj_base<counted> {
    static inline std::atomic<int> alive{0};
    explicit counted(int n = 0) : value(n) { alive++; }
    ~counted() override
    {
        value = -1;
        alive--;
    }
    int value;
};

static_assert(!std::is_copy_constructible_v<pawl::hazard_pointer>);
static_assert(std::is_nothrow_move_constructible_v<pawl::hazard_pointer>);
static_assert(std::is_nothrow_move_assignable_v<pawl::hazard_pointer>);
static_assert(noexcept(std::declval<counted &>().retire()));

TEST(hazard_pointer, keeps_what_it_protects)
{
    std::atomic<counted *> head{new counted(3)};
    pawl::hazard_pointer h = pawl::make_hazard_pointer();
    counted *const found = h.protect(head);
    head.exchange(nullptr)->retire();
    pawl::hazard_pointer_clean_up();
    EXPECT_EQ(found->value, 3);
    EXPECT_EQ(h.protect(head), nullptr);
    pawl::hazard_pointer_clean_up();
    EXPECT_EQ(counted::alive, 0);
}

TEST(hazard_pointer, a_try_fails_where_the_pointer_has_changed)
{
    counted one(1), other(2);
    std::atomic<counted *> head{&one};
    counted *ptr = &other;
    pawl::hazard_pointer h = pawl::make_hazard_pointer();
    EXPECT_FALSE(h.try_protect(ptr, head));
    EXPECT_EQ(ptr, &one);
    EXPECT_TRUE(h.try_protect(ptr, head));
    EXPECT_EQ(ptr, &one);
}

TEST(hazard_pointer, a_failed_try_protects_nothing)
{
    auto *const object = new counted(1);
    std::atomic<counted *> head{nullptr};
    counted *ptr = object;
    pawl::hazard_pointer h = pawl::make_hazard_pointer();
    EXPECT_FALSE(h.try_protect(ptr, head));
    object->retire();
    pawl::hazard_pointer_clean_up();
    EXPECT_EQ(counted::alive, 0);
}

TEST(hazard_pointer, moves_with_its_protection)
{
    std::atomic<counted *> head{new counted(5)};
    pawl::hazard_pointer to;
    EXPECT_TRUE(to.empty());
    std::thread([&] {
        pawl::hazard_pointer h = pawl::make_hazard_pointer();
        (void)h.protect(head);
        pawl::hazard_pointer second = std::move(h);
        EXPECT_TRUE(h.empty()); // NOLINT: what the standard says of a moved one
        to = std::move(second);
    }).join();
    EXPECT_FALSE(to.empty());
    head.exchange(nullptr)->retire();
    pawl::hazard_pointer_clean_up();
    EXPECT_EQ(counted::alive, 1);
    pawl::hazard_pointer none;
    swap(to, none);
    EXPECT_TRUE(to.empty());
    none = pawl::hazard_pointer();
    pawl::hazard_pointer_clean_up();
    EXPECT_EQ(counted::alive, 0);
}

struct by_function;
using function = std::function<void(by_function *)>;
struct by_function : pawl::hazard_pointer_obj_base<by_function, function> {};

TEST(hazard_pointer, a_deleter_has_state)
{
    int called = 0;
    auto *const object = new by_function;
    object->retire([&called](by_function *o) {
        called++;
        delete o;
    });
    pawl::hazard_pointer_clean_up();
    EXPECT_EQ(called, 1);
}

TEST(hazard_pointer, readers_and_a_writer_that_retires)
{
    std::atomic<bool> stop{false};
    std::atomic<counted *> head{new counted(1)};
    std::vector<std::thread> readers;
    for (int i = 0; i < 3; i++)
        readers.emplace_back([&] {
            pawl::hazard_pointer h = pawl::make_hazard_pointer();
            while (!stop)
                EXPECT_GT(h.protect(head)->value, 0);
        });
    for (int i = 2; i < 20000; i++)
        head.exchange(new counted(i))->retire();
    stop = true;
    for (auto &reader : readers)
        reader.join();
    head.load()->retire();
    pawl::hazard_pointer_clean_up();
    EXPECT_EQ(counted::alive, 0);
}

} // namespace
