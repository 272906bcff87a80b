/* SPDX-License-Identifier: MIT */
/* The locks that are measured, in the order of the reports. */
#include "latency/arena.hpp"
#include "latency/locks.hpp"

namespace bench::latency {

namespace {

template <class Lock> candidate present(const char *name)
{
    return {name, "", [](const setting &how) { return std::make_unique<arena_of<Lock>>(how); }};
}

[[maybe_unused]] candidate missing(const char *name, const char *package)
{
    return {name, std::string("install ") + package + " and build again", nullptr};
}

} // namespace

candidates all_candidates()
{
    candidates all;
    all.push_back(present<sifting>("pawl_sift"));
    all.push_back(present<masked<rwlock<PTHREAD_RWLOCK_PREFER_READER_NP>>>("pthread_rwlock"));
    all.back().baseline = true;
    all.push_back(
        present<masked<rwlock<PTHREAD_RWLOCK_PREFER_WRITER_NP>>>("pthread_rwlock_writer"));
    all.push_back(present<masked<rwlock<PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP>>>(
        "pthread_rwlock_nonrecursive"));
    all.push_back(present<masked<progressive>>("pawl_lock64"));
#if PAWL_BENCH_ABSL
    all.push_back(present<masked<absl_mutex>>("absl_mutex"));
    all.back().spins = true;
#else
    all.push_back(missing("absl_mutex", "libabsl-dev"));
#endif
#if PAWL_BENCH_NSYNC
    all.push_back(present<masked<nsync_mu>>("nsync_mu"));
#else
    all.push_back(missing("nsync_mu", "libnsync-dev"));
#endif
    all.push_back(present<bare>("none"));
    return all;
}

} // namespace bench::latency
