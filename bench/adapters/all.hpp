/* SPDX-License-Identifier: MIT */
/*
 * Every lock that the benches compare, each with the same interface (see any of the files). The
 * build defines PAWL_BENCH_<LIBRARY> to 1 for each library that it found; the others are `absent`.
 */
#pragma once

#include "absent.hpp"
#include "none.hpp"
#include "pawl_lock.hpp"
#include "pawl_spin.hpp"
#include "pthread.hpp"
#include "std_shared_mutex.hpp"

#if PAWL_BENCH_TBB
#include "tbb.hpp"
#else
PAWL_BENCH_ABSENT(tbb_rw_mutex, "libtbb-dev")
PAWL_BENCH_ABSENT(tbb_spin_rw_mutex, "libtbb-dev")
namespace adapter {
struct tbb_upgrade {
    using lock_type = tbb_spin_rw_mutex;
};
} // namespace adapter
#endif
#if PAWL_BENCH_BOOST
#include "boost_upgrade_mutex.hpp"
#else
PAWL_BENCH_ABSENT(boost_upgrade_mutex, "libboost-thread-dev")
#endif
#if PAWL_BENCH_ABSL
#include "absl_mutex.hpp"
#else
PAWL_BENCH_ABSENT(absl_mutex, "libabsl-dev")
#endif
#if PAWL_BENCH_NSYNC
#include "nsync_mu.hpp"
#else
PAWL_BENCH_ABSENT(nsync_mu, "libnsync-dev")
#endif
#if PAWL_BENCH_CK
#include "ck_rwlock.hpp"
#else
PAWL_BENCH_ABSENT(ck_rwlock, "libck-dev")
#endif
#if PAWL_BENCH_PLOCK
#include "plock.hpp"
#else
PAWL_BENCH_ABSENT(plock32, "plock (scripts/setup bench)")
PAWL_BENCH_ABSENT(plock64, "plock (scripts/setup bench)")
#endif
