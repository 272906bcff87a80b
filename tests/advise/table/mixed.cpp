/* SPDX-License-Identifier: MIT */
#include "cases.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <queue>
#include <shared_mutex>
#include <string>
#include <thread>

namespace {

std::mutex mutex, accounts[2];
std::shared_mutex shared;
std::condition_variable news;
std::map<long, long> table;
std::shared_ptr<int> config = std::make_shared<int>(1);
std::atomic<int> turn;
std::queue<int> items;
long number;
bool over;
pthread_mutex_t spare = PTHREAD_MUTEX_INITIALIZER;

using guard = std::lock_guard<std::mutex>;

/* fault counter: Ceph, PerfCounters::inc, before it had atomics. */
CASE(perf_counters, 2)
{
    for (int i = 0; i < 100000; i++) {
        {
            const guard held(mutex);
            number += 2;
        }
        work(0.1 * me);
    }
}

NOINLINE void begins()
{
    const guard held(mutex);
    number++;
}

NOINLINE void ends()
{
    const guard held(mutex);
    number--;
}

/* fault counter: gRPC, the number of calls under way: up at one place, down at another. */
CASE(under_way, 2)
{
    for (int i = 0; i < 60000; i++) {
        begins();
        work(0.1 * me);
        ends();
    }
}

/* fault broadcast_storm: Boost.Asio's users: notify_all for each of the items, eight consumers. */
CASE(notify_all, 9)
{
    for (int i = 0; me == 0 && i < 400; i++) {
        {
            const guard held(mutex);
            items.push(i);
        }
        news.notify_all();
        std::this_thread::sleep_for(std::chrono::microseconds(300));
    }
    while (me != 0) {
        std::unique_lock<std::mutex> held(mutex);
        news.wait(held, [] { return over || !items.empty(); });
        if (items.empty())
            break;
        items.pop();
    }
    const guard held(mutex);
    over = true;
    news.notify_all();
}

/* fault many_short_reads: Envoy issue 11366 and others: a snapshot of the configuration. */
CASE(snapshot, 2)
{
    long sum = 0;
    for (int i = 0; i < 300000; i++) {
        const std::shared_lock<std::shared_mutex> held(shared);
        sum += number;
    }
    must(sum == 0 && me >= 0);
}

/* fault polling: LevelDB's benchmark and others: wait_for, and nobody notifies. */
CASE(waits_for_time, 2)
{
    std::unique_lock<std::mutex> held(mutex, std::defer_lock);
    for (int i = 0; me == 0 && i < 100; i++) {
        held.lock();
        (void)news.wait_for(held, std::chrono::milliseconds(2));
        held.unlock();
    }
}

/* fault lock_order: cppreference on std::scoped_lock: two accounts, each guarded in turn. */
CASE(transfers, 2)
{
    static std::atomic<int> arrived;
    IN(&spare, arrived++);
    while (turn != me || arrived < 2)
        std::this_thread::yield();
    for (int i = 0; i < 10; i++) {
        const guard from(accounts[me]);
        const guard to(accounts[1 - me]);
        number++;
    }
    turn++;
}

/* innocent: std::scoped_lock for both, whatever their order. */
CASE(scoped_transfers, 2)
{
    for (int i = 0; i < 1000; i++) {
        {
            const std::scoped_lock both(accounts[me], accounts[1 - me]);
            number++;
        }
        work(60);
    }
}

/* innocent: folly's ReadMostlySharedPtr in short: a copy of a pointer among other work. */
CASE(copies_a_pointer, 3)
{
    for (int i = 0; i < 4000; i++) {
        std::shared_ptr<int> copy;
        {
            const guard held(mutex);
            copy = config;
        }
        work(40 + *copy + me);
    }
}

/* innocent: a thread pool of Boost: a predicate, notify_one behind the unlock. */
CASE(pool, 3)
{
    for (int i = 0; me == 0 && i < 1000; i++) {
        {
            const guard held(mutex);
            items.push(i);
        }
        news.notify_one();
        work(80);
    }
    for (int i = 0; me != 0 && i < 500; i++) {
        std::unique_lock<std::mutex> held(mutex);
        news.wait(held, [] { return !items.empty(); });
        items.pop();
        held.unlock();
        work(100);
    }
}

/* innocent: Chromium, histograms by name: a map under a mutex, one look among 60 us. */
CASE(looks_in_a_map, 3)
{
    for (int i = 0; i < 3000; i++) {
        {
            const guard held(mutex);
            table[i % 50]++;
        }
        work(60 + me);
    }
}

} // namespace
