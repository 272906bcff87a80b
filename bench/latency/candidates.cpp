/* SPDX-License-Identifier: MIT */
/* The measured locks, in the order of the reports. */
#include "latency/arena.hpp"
#include "latency/locks.hpp"

namespace bench::latency {

namespace {

/* The lock in a wrapping, or the package to install for it. */
template <template <class> class Wrapping, class Lock> latency_candidate present(const char *name)
{
    latency_candidate c = named(name, adapter::why_not<Lock>());
    if constexpr (adapter::in_build<Lock>)
        c.design.make = [](const setting &how) {
            return std::make_unique<arena_of<Wrapping<Lock>>>(how);
        };
    return c;
}

} // namespace

candidates all_candidates()
{
    using prefers_reader = rwlock<PTHREAD_RWLOCK_PREFER_READER_NP>;
    using prefers_writer = rwlock<PTHREAD_RWLOCK_PREFER_WRITER_NP>;
    using nonrecursive = rwlock<PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP>;
    candidates all;
    all.push_back(present<itself, sifting>("pawl_sift"));
    all.push_back(present<masked, prefers_reader>("pthread_rwlock"));
    all.back().baseline = true;
    all.push_back(present<masked, prefers_writer>("pthread_rwlock_writer"));
    all.push_back(present<masked, nonrecursive>("pthread_rwlock_nonrecursive"));
    all.push_back(present<masked, progressive>("pawl_lock64"));
    all.push_back(present<masked, absl_mutex>("absl_mutex"));
    all.back().spins = true;
    all.push_back(present<masked, nsync_mu>("nsync_mu"));
    all.push_back(present<itself, bare>("none"));
    return all;
}

} // namespace bench::latency
