/* SPDX-License-Identifier: MIT */
/* Reference counts: getting and dropping, and the time that the end takes. */
#include <condition_variable>
#include <mutex>
#include <thread>

#include <pawl/bigref.h>

#include "counters/counters.hpp"

namespace bench::counters {
namespace {

/* The usual reference count: the last drop must see what all others did. */
struct atomic_pair : subject {
    placed<std::atomic<std::uint64_t>> count;
    bool freed = false;
    atomic_pair() { count.object = 1; }
    void run(measure &m, unsigned) override
    {
        m([&] {
            count.object.fetch_add(1, std::memory_order_relaxed);
            if (count.object.fetch_sub(1, std::memory_order_acq_rel) == 1)
                freed = true;
        });
    }
    void verify(std::uint64_t) override
    {
        expect(count.object == 1 && !freed, "the atomic reference count is wrong.");
    }
};

struct shared_pointer : subject {
    std::shared_ptr<int> pointer = std::make_shared<int>(1);
    void run(measure &m, unsigned) override
    {
        m([&] {
            const std::shared_ptr<int> another(pointer);
            __asm__ __volatile__("" : : "r"(another.get()) : "memory");
        });
    }
    void verify(std::uint64_t) override
    {
        expect(pointer.use_count() == 1, "the count of std::shared_ptr is wrong.");
    }
};

struct big_reference : subject {
    placed<pawl_bigref> count;
    big_reference() { pawl_bigref_init(&count.object, nullptr, nullptr); }
    ~big_reference() override { pawl_bigref_destroy(&count.object); }
    void run(measure &m, unsigned) override
    {
        m([&] {
            pawl_bigref_get(&count.object);
            pawl_bigref_drop(&count.object);
        });
    }
    void verify(std::uint64_t) override
    {
        expect(pawl_bigref_read(&count.object) == 1,
               "pawl_bigref has lost or invented a reference.");
    }
};

/* One thread, after a second one has used the count too: with cells. */
struct big_reference_shared : big_reference {
    big_reference_shared()
    {
        touch();
        std::thread(touch_it, this).join();
    }

  private:
    static void touch_it(big_reference_shared *self) { self->touch(); }
    void touch()
    {
        pawl_bigref_get(&count.object);
        pawl_bigref_drop(&count.object);
    }
};

/* A thread that uses each reference once and sleeps again. */
class other_user {
  public:
    ~other_user()
    {
        hand_over(nullptr, true);
        thread_.join();
    }

    void use(pawl_bigref *r) { hand_over(r, false); }

  private:
    void hand_over(pawl_bigref *r, bool end)
    {
        std::unique_lock<std::mutex> hold(mutex_);
        what_ = r;
        end_ = end;
        change_.notify_all();
        change_.wait(hold, [this] { return what_ == nullptr; });
    }

    void serve()
    {
        std::unique_lock<std::mutex> hold(mutex_);
        for (;;) {
            change_.wait(hold, [this] { return what_ != nullptr || end_; });
            if (end_)
                return;
            pawl_bigref_get(what_);
            pawl_bigref_drop(what_);
            what_ = nullptr;
            change_.notify_all();
        }
    }

    std::mutex mutex_;
    std::condition_variable change_;
    pawl_bigref *what_ = nullptr;
    bool end_ = false;
    std::thread thread_{[this] { serve(); }};
};

/* The time from kill to the call of release, for a count that two threads have used. The other
 * thread sleeps. */
struct kill_to_release : subject {
    other_user other;
    static void release(pawl_bigref *, void *times) { ++*static_cast<unsigned *>(times); }

    void run(measure &m, unsigned) override
    {
        m.timed([this] { return once(); });
    }

    double once()
    {
        /* Time for the other thread to fall asleep; it was told to just before. */
        constexpr double settle = 50e-6;
        placed<pawl_bigref> count;
        unsigned released = 0;
        pawl_bigref_init(&count.object, release, &released);
        pawl_bigref_get(&count.object);
        pawl_bigref_drop(&count.object);
        other.use(&count.object);
        for (const double now = seconds_of(CLOCK_MONOTONIC);
             seconds_of(CLOCK_MONOTONIC) < now + settle;)
            continue;
        const double start = seconds_of(CLOCK_MONOTONIC);
        pawl_bigref_kill(&count.object);
        pawl_bigref_drop(&count.object);
        const double end = seconds_of(CLOCK_MONOTONIC);
        expect(released == 1, "pawl_bigref did not release exactly once.");
        return end - start;
    }
};

} // namespace

void reference_candidates(candidates &all)
{
    offer_both<atomic_pair>(all, "ref", "atomic_pair");
    offer_both<shared_pointer>(all, "ref", "std_shared_ptr");
    offer_both<big_reference>(all, "ref", "pawl_bigref");
    offer<big_reference_shared>(all, "ref", "pawl_bigref_shared");
    offer<kill_to_release>(all, "ref", "pawl_bigref_kill_to_release");
}

} // namespace bench::counters
