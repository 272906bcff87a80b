// SPDX-License-Identifier: MIT
// Two coroutines in one event loop (epoll). One waits for a counter that another thread raises, the
// other for a lock that this thread holds. The loop's thread sleeps in epoll_wait alone.
#include <pawl/notice.hpp>

#include "example.h"

#if defined(__linux__) && defined(__cpp_impl_coroutine)

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <exception>
#include <thread>

namespace {

struct task { // begins at once, and ends by itself
    struct promise_type {
        task get_return_object() noexcept { return {}; }
        std::suspend_never initial_suspend() noexcept { return {}; }
        std::suspend_never final_suspend() noexcept { return {}; }
        void return_void() noexcept {}
        void unhandled_exception() noexcept { std::terminate(); }
    };
};

std::atomic<unsigned> orders{0};
pawl::lock store;
unsigned stock = 0, served = 0; // of the store
int running = 0;

constexpr unsigned ALL = 1000 / EXAMPLE_LESS;

// [quote begin]
task serve(pawl::notices &queue)
{
    for (unsigned seen = 0; seen < ALL;) {
        seen = co_await queue.changed(&orders, seen);
        const auto write = co_await queue.write(store);
        served = seen;
    }
    running--;
}

task fill(pawl::notices &queue)
{
    for (unsigned i = 0; i < ALL; i++) {
        auto write = co_await queue.write(store);
        stock++;
        if (i == ALL / 2) // another thread goes on with the lock, and drops it
            std::thread([held = std::move(write)] { stock++; }).detach();
    }
    running--;
}

void loop(int events, int told, pawl::notices &queue)
{
    epoll_event event;
    std::uint64_t count;
    while (running > 0) {
        CHECK(epoll_wait(events, &event, 1, -1) == 1); // and the program's other descriptors
        CHECK(read(told, &count, sizeof count) == sizeof count);
        queue.run();
    }
}
// [quote end]

} // namespace

int main()
{
    const int told = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    const int events = epoll_create1(EPOLL_CLOEXEC);
    epoll_event interest{};
    interest.events = EPOLLIN;
    CHECK(epoll_ctl(events, EPOLL_CTL_ADD, told, &interest) == 0);
    pawl::notices queue(told);

    std::thread customer([] {
        for (unsigned i = 0; i < ALL; i++) {
            {
                const pawl::write_guard write(store);
                stock++;
            }
            orders++;
            pawl::atomic_notify_all(&orders);
        }
    });
    running = 2;
    serve(queue);
    fill(queue);
    loop(events, told, queue);
    customer.join();

    const pawl::write_guard write(store);
    CHECK(served == ALL && stock == 2 * ALL + 1);
    close(events);
    close(told);
    std::printf("%u orders served, %u in stock\n", served, stock);
    return 0;
}

#else

int main()
{
    std::printf("skipped: no epoll, or no coroutines of C++20\n");
    return 0;
}

#endif
