/* SPDX-License-Identifier: MIT */
/* The locks that a crowd of threads uses, in the order of the reports. */
#include "adapters/all.hpp"
#include "core/module.hpp"
#include "crowd/arena.hpp"
#include "crowd/loaded.hpp"

namespace bench {

namespace {

template <class Lock> std::unique_ptr<arena> make_arena()
{
    return std::make_unique<arena_of<Lock>>();
}

template <class Lock> struct named {
    using type = Lock;
};

template <class Lock>
crowd_candidate present(const char *strategy, const char *lock, bool deadlines)
{
    if constexpr (!adapter::in_build<Lock>)
        return {strategy, lock, adapter::why_not<Lock>()};
    else if (deadlines && !has_deadlines<Lock> && !std::is_same_v<Lock, adapter::none>)
        return {strategy, lock, "it has no deadlines; leave it out"};
    else
        return {strategy, lock, "", make_arena<Lock>};
}

crowd_candidate loaded(const std::string &given)
{
    const loaded_library library(given);
    return {"r+w", library.name, "",
            [from = library.functions] { return std::make_unique<arena_of<loaded_lock>>(from); }};
}

/* The lock with its scaling readers always on, off, or as the evidence says. */
crowd_candidate biased(const std::string &mode)
{
    const module<arena_maker> from("pawl-bench-crowd", mode);
    return {"r+w", "pawl_lock64_" + mode, from.why,
            [make = from.make] { return std::unique_ptr<arena>(make()); }};
}

} // namespace

std::vector<crowd_candidate> crowd_candidates(const std::vector<std::string> &libraries,
                                              bool deadlines)
{
    std::vector<crowd_candidate> all;
    const auto add = [&](auto lock, const char *strategy, const char *name) {
        all.push_back(present<typename decltype(lock)::type>(strategy, name, deadlines));
    };
    add(named<adapter::pawl_lock64>{}, "r+w", "pawl_lock64");
    add(named<adapter::pawl_lock32>{}, "r+w", "pawl_lock32");
    for (const char *mode : {"on", "off", "evidence"})
        all.push_back(biased(mode));
    add(named<adapter::pawl_spin64>{}, "r+w", "pawl_spin64");
    add(named<adapter::pthread_rwlock>{}, "r+w", "pthread_rwlock");
    all.back().baseline = true;
    add(named<adapter::std_shared_mutex>{}, "r+w", "std_shared_mutex");
    add(named<adapter::absl_mutex>{}, "r+w", "absl_mutex");
    add(named<adapter::nsync_mu>{}, "r+w", "nsync_mu");
    add(named<adapter::tbb_rw_mutex>{}, "r+w", "tbb_rw_mutex");
    add(named<exclusive_until<adapter::pthread_mutex>>{}, "w", "pthread_mutex");
    add(named<adapter::none>{}, "floor", "none");
    for (const std::string &given : libraries)
        all.push_back(loaded(given));
    return all;
}

} // namespace bench
