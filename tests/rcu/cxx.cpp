// SPDX-License-Identifier: MIT
// pawl::rcu_* under the names of C++26's <rcu>.
#include <pawl/rcu.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace {

struct counted : pawl::rcu_obj_base<counted> {
    static std::atomic<int> alive;
    explicit counted(int v = 0) : value(v) { ++alive; }
    counted(const counted &other) : rcu_obj_base(other), value(other.value) { ++alive; }
    counted &operator=(const counted &) = default;
    ~counted() { --alive; }
    int value;
};

std::atomic<int> counted::alive{0};

TEST(rcu, sections_work_with_the_guards_of_the_standard_library)
{
    pawl::rcu_domain &domain = pawl::rcu_default_domain();
    EXPECT_FALSE(pawl_rcu_read_held());
    {
        const std::scoped_lock outer(domain);
        EXPECT_TRUE(pawl_rcu_read_held());
        const std::unique_lock inner(domain, std::try_to_lock);
        EXPECT_TRUE(inner.owns_lock());
    }
    EXPECT_FALSE(pawl_rcu_read_held());
    pawl::rcu_domain other("other");
    {
        const std::scoped_lock both(domain, other);
        EXPECT_TRUE(pawl_rcu_domain_read_held(other.native_handle()));
        EXPECT_TRUE(pawl_rcu_read_held());
    }
    EXPECT_FALSE(pawl_rcu_domain_read_held(other.native_handle()));
}

TEST(rcu, an_object_retires_itself_after_the_readers_have_left)
{
    auto *object = new counted(7);
    {
        const std::scoped_lock section(pawl::rcu_default_domain());
        object->retire();
        EXPECT_EQ(object->value, 7);
        EXPECT_EQ(counted::alive, 1);
    }
    pawl::rcu_barrier();
    EXPECT_EQ(counted::alive, 0);
}

struct appends {
    std::vector<int> *to = nullptr;
    template <class T> void operator()(T *p) const
    {
        to->push_back(p->value);
        delete p;
    }
};

struct noted : pawl::rcu_obj_base<noted, appends> {
    explicit noted(int v) : value(v) {}
    int value;
};

TEST(rcu, a_deleter_of_ones_own_is_called_once_with_the_object)
{
    pawl::rcu_domain domain;
    std::vector<int> values;
    (new noted(1))->retire(appends{&values}, domain);
    pawl::rcu_barrier(domain);
    EXPECT_EQ(values, std::vector<int>({1}));
    auto *object = new noted(2);
    EXPECT_TRUE(object->try_retire(appends{&values}, domain));
    pawl::rcu_barrier(domain);
    EXPECT_EQ(values, std::vector<int>({1, 2}));
}

struct plain {
    explicit plain(int v) : value(v) {}
    int value;
};

TEST(rcu, any_object_can_be_retired_with_a_lambda_or_the_default)
{
    static std::atomic<int> deleted;
    deleted = 0;
    auto *object = new plain(3);
    pawl::rcu_retire(object, [](plain *p) {
        deleted += p->value;
        delete p;
    });
    pawl::rcu_retire(new plain(4));
    pawl::rcu_synchronize();
    pawl::rcu_barrier();
    EXPECT_EQ(deleted, 3);
}

TEST(rcu, an_empty_deleter_takes_no_room)
{
    struct with : pawl::rcu_obj_base<with> {};
    EXPECT_EQ(sizeof(with), sizeof(pawl_rcu_head));
    struct pointer : pawl::rcu_obj_base<pointer, void (*)(pointer *)> {};
    struct by_hand {
        pawl_rcu_head head;
        void (*deleter)(pointer *);
    };
    EXPECT_EQ(sizeof(pointer), sizeof(by_hand));
}

TEST(rcu, a_full_domain_throws_and_leaves_the_object_to_the_caller)
{
    pawl::rcu_domain domain("full");
    ASSERT_EQ(pawl_rcu_domain_limit(domain.native_handle(), 1, PAWL_RCU_NO_LIMIT, PAWL_RCU_REFUSE),
              0);
    auto first = std::make_unique<counted>();
    auto second = std::make_unique<counted>();
    {
        const std::scoped_lock section(domain);
        first.release()->retire({}, domain);
        try {
            second->retire({}, domain);
            ADD_FAILURE() << "there was no room";
        } catch (const std::system_error &error) {
            EXPECT_EQ(error.code(), std::errc::resource_unavailable_try_again);
        }
        EXPECT_FALSE(second->try_retire({}, domain));
        EXPECT_THROW(pawl::rcu_retire(second.get(), std::default_delete<counted>(), domain),
                     std::system_error);
        ASSERT_EQ(
            pawl_rcu_domain_limit(domain.native_handle(), 1, PAWL_RCU_NO_LIMIT, PAWL_RCU_HELP), 0);
        try {
            second->retire({}, domain);
            ADD_FAILURE() << "there was no room";
        } catch (const std::system_error &error) {
            EXPECT_EQ(error.code(), std::errc::resource_deadlock_would_occur);
        }
    }
    second.release()->retire({}, domain); // helps
    pawl::rcu_barrier(domain);
    EXPECT_EQ(counted::alive, 0);
}

TEST(rcu, a_domain_evaluates_what_is_retired_before_it_ends)
{
    {
        pawl::rcu_domain domain;
        for (int i = 0; i < 1000; i++)
            (new counted)->retire({}, domain);
    }
    EXPECT_EQ(counted::alive, 0);
}

TEST(rcu, there_are_so_many_domains_and_no_more)
{
    std::vector<std::unique_ptr<pawl::rcu_domain>> all;
    try {
        for (;;)
            all.push_back(std::make_unique<pawl::rcu_domain>());
    } catch (const std::system_error &error) {
        EXPECT_EQ(error.code(), std::errc::resource_unavailable_try_again);
    }
    EXPECT_EQ(all.size(), PAWL_RCU_DOMAINS - 2u);
    all.pop_back();
    EXPECT_NO_THROW(all.push_back(std::make_unique<pawl::rcu_domain>()));
}

TEST(rcu, readers_and_a_writer_that_retires)
{
    std::atomic<bool> stop{false};
    counted *current = new counted(1);
    std::vector<std::thread> readers;
    for (int i = 0; i < 3; i++)
        readers.emplace_back([&] {
            while (!stop) {
                const std::scoped_lock section(pawl::rcu_default_domain());
                EXPECT_GT(pawl_rcu_dereference(current)->value, 0);
            }
        });
    for (int i = 2; i < 2000; i++)
        pawl_rcu_xchg_pointer(&current, new counted(i))->retire();
    stop = true;
    for (auto &reader : readers)
        reader.join();
    current->retire();
    pawl::rcu_barrier();
    EXPECT_EQ(counted::alive, 0);
}

} // namespace
