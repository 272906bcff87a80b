/* SPDX-License-Identifier: MIT */
/* The locks that a crowd of threads is let loose on, in the order of the reports. */
#include "crowd/arena.hpp"

namespace bench {

namespace {

template <class Lock> std::unique_ptr<arena> make_arena()
{
    return std::make_unique<arena_of<Lock>>();
}

template <class Lock> candidate present(const char *strategy, const char *lock)
{
    return {strategy, lock, "", make_arena<Lock>};
}

[[maybe_unused]] candidate missing(const char *lock, const std::string &why)
{
    return {"r+w", lock, why};
}

void add_peers(std::vector<candidate> &all)
{
#if PAWL_BENCH_ABSL
    all.push_back(present<adapter::absl_mutex>("r+w", "absl_mutex"));
#else
    all.push_back(missing("absl_mutex", "install libabsl-dev and build again"));
#endif
#if PAWL_BENCH_NSYNC
    all.push_back(present<adapter::nsync_mu>("r+w", "nsync_mu"));
#else
    all.push_back(missing("nsync_mu", "install libnsync-dev and build again"));
#endif
#if PAWL_BENCH_TBB
    all.push_back(present<adapter::tbb_rw_mutex>("r+w", "tbb_rw_mutex"));
#else
    all.push_back(missing("tbb_rw_mutex", "install libtbb-dev and build again"));
#endif
}

} // namespace

std::vector<candidate> crowd_candidates()
{
    std::vector<candidate> all;
    all.push_back(present<adapter::pawl_lock64>("r+w", "pawl_lock64"));
    all.push_back(present<adapter::pawl_lock32>("r+w", "pawl_lock32"));
    all.push_back(present<adapter::pawl_spin64>("r+w", "pawl_spin64"));
    all.push_back(present<adapter::pthread_rwlock>("r+w", "pthread_rwlock"));
    all.back().baseline = true;
    all.push_back(present<adapter::std_shared_mutex>("r+w", "std_shared_mutex"));
    add_peers(all);
    all.push_back(present<exclusive<adapter::pthread_mutex>>("w", "pthread_mutex"));
    all.push_back(present<adapter::none>("floor", "none"));
    return all;
}

} // namespace bench
