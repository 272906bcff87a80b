// SPDX-License-Identifier: MIT
// Times of any clock and unit as deadlines, of each lock that has them. Times beyond 64-bit
// nanoseconds were taken for the past; not a number, and units below a nanosecond, for ever.
#include <gtest/gtest.h>
#include <pawl/pawl.hpp>

#include <chrono>
#include <cmath>
#include <limits>
#include <ratio>
#include <thread>

namespace {

using namespace std::chrono;
using years_of = duration<std::int64_t, std::ratio<31556952>>;
using real = duration<double>;
using pico = duration<std::int64_t, std::pico>;
template <class Duration> using world = time_point<system_clock, Duration>;
template <class Duration> using mono = time_point<steady_clock, Duration>;
constexpr std::int64_t year_9999 = 253402300799; // in seconds

// It runs at a quarter of the speed.
struct slow_clock {
    using duration = nanoseconds;
    using time_point = std::chrono::time_point<slow_clock, nanoseconds>;
    static time_point now() { return time_point(steady_clock::now().time_since_epoch() / 4); }
};

template <class Lock> class Deadlines : public testing::Test {
  protected:
    // What the try says that begins while another thread holds the lock, and drops it soon.
    template <class Ask> bool granted(Ask ask)
    {
        bool got = false;
        lock.lock();
        std::thread waiter([&] {
            got = ask(lock);
            if (got)
                lock.unlock();
        });
        std::this_thread::sleep_for(milliseconds(5));
        lock.unlock();
        waiter.join();
        return got;
    }
    template <class Ask> bool granted_beside_a_holder(Ask ask)
    {
        bool got = false;
        lock.lock();
        std::thread([&] { got = ask(lock); }).join();
        lock.unlock();
        return got;
    }
    template <class Time> bool waits_for(Time time)
    {
        return granted([&](Lock &l) { return l.try_lock_for(time); });
    }
    template <class Time> bool waits_until(Time time)
    {
        return granted([&](Lock &l) { return l.try_lock_until(time); });
    }
    template <class Time> bool gives_up_for(Time time)
    {
        return !granted_beside_a_holder([&](Lock &l) { return l.try_lock_for(time); });
    }
    template <class Time> bool gives_up_until(Time time)
    {
        return !granted_beside_a_holder([&](Lock &l) { return l.try_lock_until(time); });
    }
    Lock lock;
};

using Locks = testing::Types<pawl::lock32, pawl::lock64, pawl::brlock, pawl::sift>;
TYPED_TEST_SUITE(Deadlines, Locks, );

TYPED_TEST(Deadlines, a_far_time_is_waited_for)
{
    EXPECT_TRUE(this->waits_for(nanoseconds::max()));
    EXPECT_TRUE(this->waits_for(hours::max()));
    EXPECT_TRUE(this->waits_for(years_of::max()));
    EXPECT_TRUE(this->waits_for(duration<unsigned long long>::max()));
    EXPECT_TRUE(this->waits_for(real(1e300)));
    EXPECT_TRUE(this->waits_for(real(std::numeric_limits<double>::infinity())));
    EXPECT_TRUE(this->waits_for(seconds(year_9999)));
    EXPECT_TRUE(this->waits_until(steady_clock::time_point::max()));
    EXPECT_TRUE(this->waits_until(system_clock::time_point::max()));
    EXPECT_TRUE(this->waits_until(world<seconds>(seconds(year_9999))));
    EXPECT_TRUE(this->waits_until(world<milliseconds>(milliseconds(year_9999 * 1000))));
    EXPECT_TRUE(this->waits_until(world<hours>::max()));
    EXPECT_TRUE(this->waits_until(mono<seconds>::max()));
    EXPECT_TRUE(this->waits_until(world<real>(real(1e20))));
}

TYPED_TEST(Deadlines, a_time_that_is_over_or_no_number_is_not_waited_for)
{
    const real none(std::nan(""));
    EXPECT_TRUE(this->gives_up_for(nanoseconds::min()));
    EXPECT_TRUE(this->gives_up_for(hours::min()));
    EXPECT_TRUE(this->gives_up_for(real(-1e300)));
    EXPECT_TRUE(this->gives_up_for(none));
    EXPECT_TRUE(this->gives_up_until(steady_clock::time_point::min()));
    EXPECT_TRUE(this->gives_up_until(world<seconds>(seconds(-year_9999))));
    EXPECT_TRUE(this->gives_up_until(world<seconds>::min()));
    EXPECT_TRUE(this->gives_up_until(world<real>(none)));
}

TYPED_TEST(Deadlines, a_short_time_ends_in_each_unit)
{
    EXPECT_TRUE(this->gives_up_for(pico(2000000000)));
    EXPECT_TRUE(this->gives_up_for(real(2e-3)));
    EXPECT_TRUE(this->gives_up_for(duration<float, std::micro>(2000)));
}

TYPED_TEST(Deadlines, a_slower_clock_is_looked_at_again)
{
    const auto when = slow_clock::now() + milliseconds(2);
    EXPECT_TRUE(this->gives_up_until(when));
    EXPECT_GE(slow_clock::now(), when);
}

} // namespace
