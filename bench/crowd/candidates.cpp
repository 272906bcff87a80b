/* SPDX-License-Identifier: MIT */
/* The locks that a crowd of threads uses, in the order of the reports. */
#include "crowd/arena.hpp"

namespace bench {

namespace {

template <class Lock> std::unique_ptr<arena> make_arena()
{
    return std::make_unique<arena_of<Lock>>();
}

template <class Lock> crowd_candidate present(const char *strategy, const char *lock)
{
    if constexpr (adapter::in_build<Lock>)
        return {strategy, lock, "", make_arena<Lock>};
    else
        return {strategy, lock, adapter::why_not<Lock>()};
}

} // namespace

std::vector<crowd_candidate> crowd_candidates()
{
    std::vector<crowd_candidate> all;
    all.push_back(present<adapter::pawl_lock64>("r+w", "pawl_lock64"));
    all.push_back(present<adapter::pawl_lock32>("r+w", "pawl_lock32"));
    all.push_back(present<adapter::pawl_spin64>("r+w", "pawl_spin64"));
    all.push_back(present<adapter::pthread_rwlock>("r+w", "pthread_rwlock"));
    all.back().baseline = true;
    all.push_back(present<adapter::std_shared_mutex>("r+w", "std_shared_mutex"));
    all.push_back(present<adapter::absl_mutex>("r+w", "absl_mutex"));
    all.push_back(present<adapter::nsync_mu>("r+w", "nsync_mu"));
    all.push_back(present<adapter::tbb_rw_mutex>("r+w", "tbb_rw_mutex"));
    all.push_back(present<exclusive<adapter::pthread_mutex>>("w", "pthread_mutex"));
    all.push_back(present<adapter::none>("floor", "none"));
    return all;
}

} // namespace bench
