/* SPDX-License-Identifier: MIT */
/* The list of candidates, in the order of the reports. */
#include "lru/candidates.hpp"

#include "adapters/all.hpp"
#include "core/module.hpp"

namespace bench {

namespace {

using namespace pawl_example;

template <class Strategy> std::unique_ptr<cell> make_cell(std::size_t size, std::size_t chains)
{
    return std::make_unique<cell_of<locked_lru<Strategy>>>(size, chains);
}

template <class Strategy> lru_candidate present(const char *strategy, const char *lock)
{
    using lock_type = typename Strategy::lock_type;
    if constexpr (adapter::in_build<lock_type>)
        return {strategy, lock, "", make_cell<Strategy>};
    else
        return {strategy, lock, adapter::why_not<lock_type>()};
}

/* The strategies of the published benchmark, for a lock that supports them all. */
template <class Lock> void add_progressive(std::vector<lru_candidate> &all, const char *lock)
{
    all.push_back(present<write_only<Lock>>("w", lock));
    all.push_back(present<seek_only<Lock>>("s", lock));
    all.push_back(present<read_write<Lock>>("r+w", lock));
    all.push_back(present<read_seek_write<Lock>>("r+s>w", lock));
    all.push_back(present<read_try_seek_write<Lock>>("r+rs>w", lock));
    all.push_back(present<read_try_write<Lock>>("r+rw", lock));
}

/* The lock with its scaling readers always on, off, or as the evidence says. */
void add_biased(std::vector<lru_candidate> &all, const std::string &mode)
{
    const module<cell_maker> from("pawl-bench-lru", mode);
    for (const bool seeks : {false, true})
        all.push_back({seeks ? "r+s>w" : "r+w", "pawl_lock64_" + mode, from.why,
                       [make = from.make, seeks](std::size_t size, std::size_t chains) {
                           return std::unique_ptr<cell>(make(seeks, size, chains));
                       }});
}

void add_peers(std::vector<lru_candidate> &all)
{
    using boost_mutex = adapter::boost_upgrade_mutex;
    all.push_back(present<read_write<adapter::tbb_spin_rw_mutex>>("r+w", "tbb_spin_rw_mutex"));
    all.push_back(present<adapter::tbb_upgrade>("r+rw", "tbb_spin_rw_mutex"));
    all.push_back(present<read_write<adapter::tbb_rw_mutex>>("r+w", "tbb_rw_mutex"));
    all.push_back(present<read_write<boost_mutex>>("r+w", "boost_upgrade_mutex"));
    all.push_back(present<read_seek_write<boost_mutex>>("r+s>w", "boost_upgrade_mutex"));
    all.push_back(present<read_write<adapter::absl_mutex>>("r+w", "absl_mutex"));
    all.push_back(present<read_write<adapter::nsync_mu>>("r+w", "nsync_mu"));
    all.push_back(present<read_write<adapter::ck_rwlock>>("r+w", "ck_rwlock"));
    add_progressive<adapter::plock32>(all, "plock32");
    add_progressive<adapter::plock64>(all, "plock64");
}

} // namespace

std::vector<lru_candidate> lru_candidates()
{
    std::vector<lru_candidate> all;
    all.push_back(present<write_only<adapter::pthread_spin>>("w", "pthread_spin"));
    all.push_back(present<read_write<adapter::pthread_rwlock>>("r+w", "pthread_rwlock"));
    all.back().baseline = true;
    add_progressive<adapter::pawl_spin32>(all, "pawl_spin32");
    add_progressive<adapter::pawl_spin64>(all, "pawl_spin64");
    add_progressive<adapter::pawl_lock32>(all, "pawl_lock32");
    add_progressive<adapter::pawl_lock64>(all, "pawl_lock64");
    for (const char *mode : {"on", "off", "evidence"})
        add_biased(all, mode);
    all.push_back(present<write_only<adapter::pthread_mutex>>("w", "pthread_mutex"));
    all.push_back(present<read_write<adapter::std_shared_mutex>>("r+w", "std_shared_mutex"));
    add_peers(all);
    all.push_back(present<write_only<adapter::none>>("w", "none"));
    all.back().one_thread_only = true;
    add_caches(all);
    return all;
}

} // namespace bench
