// SPDX-License-Identifier: MIT
// Guards of what requests are granted, and awaiters where the compiler has C++20's coroutines.
#include <pawl/notice.hpp>

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <exception>
#include <system_error>
#include <thread>
#include <type_traits>

namespace {

using write_granted = pawl::granted_guard<PAWL_STATE_W>;
static_assert(!std::is_copy_constructible_v<write_granted>);
static_assert(std::is_nothrow_move_assignable_v<write_granted>);

TEST(granted_guard, is_dropped_by_another_thread)
{
    const int event = eventfd(0, EFD_NONBLOCK);
    pawl_lock64 lock = PAWL_LOCK64_INIT;
    pawl_notice n;
    ASSERT_EQ(pawl_notice_init(&n, event), 0);
    ASSERT_EQ(pawl_notice_lock64(&n, &lock, PAWL_STATE_W), PAWL_NOTICE_READY);
    write_granted guard(lock, std::adopt_lock);
    std::thread([held = std::move(guard)] { EXPECT_TRUE(held); }).join();
    EXPECT_FALSE(guard);
    EXPECT_TRUE(pawl_lock64_is_free(&lock));
    close(event);
}

#if defined(__cpp_impl_coroutine)

// One that runs at once, and that its owner destroys.
struct task {
    struct promise_type {
        task get_return_object() noexcept
        {
            return {std::coroutine_handle<promise_type>::from_promise(*this)};
        }
        std::suspend_never initial_suspend() noexcept { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        void return_void() noexcept {}
        void unhandled_exception() noexcept { std::terminate(); }
    };
    std::coroutine_handle<promise_type> handle;
};

struct awaiters : ::testing::Test {
    ~awaiters() override { close(event); }
    int event = eventfd(0, EFD_NONBLOCK);
    pawl::notices queue{event};
    pawl::lock lock;
    int steps = 0;

    task take_write(pawl::notices &from)
    {
        const auto guard = co_await from.write(lock);
        steps++;
    }
};

TEST_F(awaiters, go_on_when_the_word_holds_another_value)
{
    std::atomic<std::uint16_t> word{3};
    unsigned found = 0;
    const task t = [](pawl::notices &q, auto &w, unsigned &f) -> task {
        f = co_await q.changed(&w, std::uint16_t{3});
    }(queue, word, found);
    pawl::atomic_notify_all(&word); // for nothing
    queue.run();
    EXPECT_FALSE(t.handle.done());
    word = 4;
    pawl::atomic_notify_all(&word);
    queue.run();
    EXPECT_TRUE(t.handle.done());
    EXPECT_EQ(found, 4u);
    t.handle.destroy();
}

// The request could not be made; the wait for a word asked again without end, and the wait for a
// lock went on without it.
TEST_F(awaiters, throw_when_the_descriptor_was_closed)
{
    const std::atomic<std::uint16_t> word{3};
    close(event);
    event = -1;
    EXPECT_THROW((void)queue.changed(&word, std::uint16_t{3}), std::system_error);
    EXPECT_THROW((void)queue.write(lock), std::system_error);
}

TEST_F(awaiters, take_each_mode_of_a_lock)
{
    const auto all = [](pawl::notices &q, pawl::lock &l, int &s) -> task {
        s += (co_await q.read(l)).owns_lock();
        s += (co_await q.seek(l)).owns_lock();
        s += (co_await q.write(l)).owns_lock();
        s += (co_await q.atomic(l)).owns_lock();
    };
    lock.lock();
    const task t = all(queue, lock, steps);
    EXPECT_EQ(steps, 0);
    lock.unlock();
    queue.run();
    EXPECT_EQ(steps, 4);
    t.handle.destroy();
}

TEST_F(awaiters, may_be_destroyed_while_they_wait_or_are_granted)
{
    lock.lock();
    const task first = take_write(queue), second = take_write(queue);
    first.handle.destroy();
    lock.unlock();
    second.handle.destroy();
    EXPECT_EQ(steps, 0);
    EXPECT_TRUE(lock.try_lock());
    lock.unlock();
}

TEST_F(awaiters, are_resumed_by_the_executor)
{
    std::coroutine_handle<> given;
    pawl::notices other(
        event,
        [](void *to, std::coroutine_handle<> h) {
            *static_cast<std::coroutine_handle<> *>(to) = h;
        },
        &given);
    lock.lock();
    const task t = take_write(other);
    lock.unlock();
    other.run();
    EXPECT_EQ(steps, 0);
    EXPECT_FALSE(lock.try_lock()); // it is the coroutine's
    std::thread([given] { given.resume(); }).join();
    EXPECT_EQ(steps, 1);
    EXPECT_TRUE(lock.try_lock());
    lock.unlock();
    t.handle.destroy();
}

TEST_F(awaiters, need_a_descriptor_that_serves)
{
    EXPECT_THROW(pawl::notices(-1), std::system_error);
}

#else

TEST(awaiters, need_coroutines)
{
    GTEST_SKIP() << "this compiler has none of C++20's";
}

#endif

} // namespace
