// SPDX-License-Identifier: MIT
// RCU in the destructors of C++: of thread_local objects, of static ones, and where an exception or
// a lambda leaves a section.
#include <pawl/rcu_call.h>

#include <gtest/gtest.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>

namespace {

std::atomic<int> run, destroyed;

struct object {
    pawl_rcu_head head;
};

void delete_object(pawl_rcu_head *head)
{
    delete reinterpret_cast<object *>(head); // its first member
    run++;
}

// Reads, calls and waits for a grace period.
void use_rcu()
{
    pawl_rcu_read_lock();
    EXPECT_TRUE(pawl_rcu_read_held());
    pawl_rcu_read_unlock();
    EXPECT_EQ(pawl_rcu_call(&(new object)->head, delete_object, sizeof(object)), 0);
    pawl_rcu_synchronize();
}

struct at_end_of_thread {
    ~at_end_of_thread()
    {
        use_rcu();
        destroyed++;
    }
    int used = 0;
};

thread_local at_end_of_thread first, second;

TEST(rcu_ends, destructors_of_thread_local_objects_may_read_call_and_wait)
{
    run = destroyed = 0;
    for (int i = 0; i < 20; i++)
        std::thread([i] {
            if (i % 2 == 0)
                use_rcu(); // the thread is known before its first object is
            first.used++;
            second.used++;
        }).join();
    EXPECT_EQ(pawl_rcu_barrier(), 0);
    EXPECT_EQ(destroyed, 40);
    EXPECT_EQ(run, 50);
}

struct section {
    section() { pawl_rcu_read_lock(); }
    ~section() { pawl_rcu_read_unlock(); }
    section(const section &) = delete;
    section &operator=(const section &) = delete;
};

thread_local int in_section; // touched, so that the thread has such objects at all

// A section that an object of the thread's holds until the thread's end.
TEST(rcu_ends, a_section_in_a_thread_local_object_lasts_until_its_destructor)
{
    for (int i = 0; i < 5; i++) {
        std::atomic<bool> entered = false, leave = false;
        std::thread reader([&] {
            static thread_local section all_of_it;
            (void)all_of_it;
            in_section++;
            EXPECT_TRUE(pawl_rcu_read_held());
            entered = true;
            while (!leave)
                std::this_thread::yield();
        });
        while (!entered)
            std::this_thread::yield();
        const uint64_t cookie = pawl_rcu_start_poll();
        EXPECT_FALSE(pawl_rcu_poll(cookie));
        leave = true;
        reader.join();
        pawl_rcu_synchronize_cond(cookie);
        EXPECT_TRUE(pawl_rcu_poll(cookie));
    }
}

TEST(rcu_ends, an_exception_leaves_sections_as_scopes_do)
{
    for (int i = 0; i < 10; i++) {
        EXPECT_THROW(
            {
                const section outer;
                const section inner;
                throw 1;
            },
            int);
        EXPECT_FALSE(pawl_rcu_read_held());
    }
    pawl_rcu_synchronize();
}

#if GTEST_HAS_DEATH_TEST && !PAWL_TSAN_
// Made first in the child, so destroyed last there, after what exit() runs before.
struct at_end_of_program {
    ~at_end_of_program()
    {
        use_rcu();
        if (pawl_rcu_barrier() == 0)
            std::fputs("destructor of a static object\n", stderr);
    }
};

TEST(rcu_ends_DeathTest, destructors_of_static_objects_may_read_call_and_wait)
{
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(
        {
            static at_end_of_program made_now;
            (void)made_now;
            use_rcu();
            std::exit(7);
        },
        ::testing::ExitedWithCode(7), "destructor of a static object");
}
#endif

} // namespace
