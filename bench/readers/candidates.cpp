/* SPDX-License-Identifier: MIT */
/* The locks whose readers are measured, in the order of the reports. */
#include "readers/candidates.hpp"

#include <atomic>

#include "adapters/all.hpp"
#include "adapters/bravo.hpp"
#include "adapters/parking_lot.hpp"
#include "adapters/pawl_brlock.hpp"
#include "adapters/pawl_rcu.hpp"
#include "core/module.hpp"

#if PAWL_BENCH_CK
#include "adapters/ck_readers.hpp"
#else
PAWL_BENCH_ABSENT(ck_brlock, "libck-dev")
PAWL_BENCH_ABSENT(ck_pflock, "libck-dev")
#endif

namespace bench {

namespace {

/* Readers of RCU go on beside a writer, who changes a copy and waits for them: a floor. */
struct rcu_readers {
    static constexpr bool beside = true;
    adapter::pthread_mutex writers;
    void take_read() { pawl_rcu_read_lock(); }
    void drop_read() { pawl_rcu_read_unlock(); }
    void take_write() { writers.take_write(); }
    void drop_write()
    {
        pawl_rcu_synchronize();
        writers.drop_write();
    }
};

struct no_lock : adapter::none {
    static constexpr bool beside = true;
};

/* What a lock whose readers count in one word cannot take less time than: a floor of reading. It
 * keeps nobody out. */
struct two_additions : adapter::none {
    static constexpr bool beside = true;
    std::atomic<std::uint64_t> word{0};
    void take_read() { word.fetch_add(1, std::memory_order_acquire); }
    void drop_read() { word.fetch_sub(1, std::memory_order_release); }
};

const char *const no_seek = "it has no seek mode; leave it out";

template <class Lock>
readers_candidate present(const char *strategy, const char *lock, bool seeks)
{
    if constexpr (!adapter::in_build<Lock>)
        return {strategy, lock, adapter::why_not<Lock>()};
    else if (seeks && !has_seek<Lock> && !std::is_same_v<Lock, no_lock>)
        return {strategy, lock, no_seek};
    else
        return {strategy, lock, "", [] { return std::make_unique<readers_arena_of<Lock>>(); }};
}

template <class Lock> struct named {
    using type = Lock;
};

/* The lock with its scaling readers always on, off, as the evidence says, or on and entered by
 * calls. */
readers_candidate biased(const std::string &mode)
{
    const module<readers_maker> from("pawl-bench-readers", mode);
    return {"r+w", "pawl_lock64_" + mode, from.why,
            [make = from.make] { return std::unique_ptr<readers_arena>(make()); }};
}

} // namespace

std::vector<readers_candidate> readers_candidates(bool seeks)
{
    std::vector<readers_candidate> all;
    const auto add = [&](auto lock, const char *name, const char *strategy = "r+w") {
        all.push_back(present<typename decltype(lock)::type>(strategy, name, seeks));
    };
    add(named<adapter::pawl_lock64>{}, "pawl_lock64");
    all.back().baseline = true;
    add(named<adapter::pawl_lock64>{}, "pawl_lock64_again");
    add(named<adapter::pawl_lock32>{}, "pawl_lock32");
    all.push_back(biased("on"));
    all.push_back(biased("off"));
    all.push_back(biased("evidence"));
    add(named<adapter::pawl_spin64>{}, "pawl_spin64");
    add(named<adapter::pawl_brlock>{}, "pawl_brlock");
    add(named<adapter::pawl_brlock_fenced>{}, "pawl_brlock_fenced");
    add(named<adapter::pthread_rwlock>{}, "pthread_rwlock");
    add(named<adapter::pthread_rwlock_writer>{}, "pthread_rwlock_writer");
    add(named<adapter::std_shared_mutex>{}, "std_shared_mutex");
    add(named<adapter::tbb_spin_rw_mutex>{}, "tbb_spin_rw_mutex");
    add(named<adapter::tbb_rw_mutex>{}, "tbb_rw_mutex");
    add(named<adapter::absl_mutex>{}, "absl_mutex");
    add(named<adapter::nsync_mu>{}, "nsync_mu");
    add(named<adapter::ck_rwlock>{}, "ck_rwlock");
    add(named<adapter::ck_brlock>{}, "ck_brlock");
    add(named<adapter::ck_pflock>{}, "ck_pflock");
    add(named<adapter::parking_lot_rwlock>{}, "parking_lot");
    if (all.back().why.empty())
        all.back().why = adapter::parking_lot_rwlock::why();
    add(named<adapter::bravo_pthread_rwlock>{}, "bravo_pthread_rwlock");
    add(named<rcu_readers>{}, "pawl_rcu", "floor");
    add(named<two_additions>{}, "two_lock_xadd", "floor");
    add(named<no_lock>{}, "none", "floor");
    return all;
}

} // namespace bench
