/* SPDX-License-Identifier: MIT */
/*
 * Every lock that the benches compare, each behind the same face (see any of the files). The build
 * defines PAWL_BENCH_<LIBRARY> to 1 for those it found; for the others the benches print `why`.
 */
#ifndef PAWL_BENCH_ADAPTERS_ALL_HPP
#define PAWL_BENCH_ADAPTERS_ALL_HPP

#include "none.hpp"
#include "pawl_lock.hpp"
#include "pawl_spin.hpp"
#include "pthread.hpp"
#include "std_shared_mutex.hpp"

#if PAWL_BENCH_TBB
#include "tbb.hpp"
#endif
#if PAWL_BENCH_BOOST
#include "boost_upgrade_mutex.hpp"
#endif
#if PAWL_BENCH_ABSL
#include "absl_mutex.hpp"
#endif
#if PAWL_BENCH_NSYNC
#include "nsync_mu.hpp"
#endif
#if PAWL_BENCH_CK
#include "ck_rwlock.hpp"
#endif

#endif
