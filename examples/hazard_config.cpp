// SPDX-License-Identifier: MIT
// A configuration that threads replace, under hazard pointers. A reader may sleep with the one that
// it has found. That keeps this one alone: those that come and go meanwhile are freed.
#include <pawl/hazard.hpp>

#include "example.h"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace {

std::atomic<int> alive{0};

struct config : pawl::hazard_pointer_obj_base<config> {
    explicit config(int n) : number(n) { alive++; }
    ~config() { alive--; }
    int number;
};

std::atomic<config *> current{new config(0)};

void replace(int number)
{
    current.exchange(new config(number))->retire(); // deleted when nobody names it
}

template <class Work> int with_config(Work work) // which may sleep
{
    pawl::hazard_pointer h = pawl::make_hazard_pointer();
    config *const found = h.protect(current);
    work();
    return found->number;
}

std::mutex mutex;
std::condition_variable changed;
int stage = 0;

void reach(int next)
{
    const std::lock_guard<std::mutex> hold(mutex);
    stage = next;
    changed.notify_all();
}

void wait_for(int wanted)
{
    std::unique_lock<std::mutex> hold(mutex);
    changed.wait(hold, [&] { return stage == wanted; });
}

} // namespace

int main()
{
    int seen = -1;
    std::thread reader([&] {
        seen = with_config([] {
            reach(1);
            wait_for(2);
        });
    });
    wait_for(1);
    for (int i = 1; i <= 100000; i++)
        replace(i);
    CHECK(alive < 10000);
    reach(2);
    reader.join();
    CHECK(seen == 0); // it was whole all the time
    current.exchange(nullptr)->retire();
    pawl::hazard_pointer_clean_up();
    CHECK(alive == 0);
    return 0;
}
