/* SPDX-License-Identifier: MIT */
/* All of the library in one file: compile this, with include/ in the include path and -pthread. The
 * other variants are the same file with variant/<name>/ before include/. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* before the first system header, for os/ */
#endif
#define PAWL_ONE_FILE_
#define PAWL_COMPILED_ /* headers name the compiled operations, and tell a checker nothing */

#include "os/hook.c"
#if defined(_WIN32)
#include "os/windows.c"
#include "os/windows_wait.c"
#elif defined(__APPLE__)
#include "os/darwin.c"
#elif defined(__FreeBSD__)
#include "os/freebsd.c"
#else
#include "os/linux.c"
#endif
#include "os/asymmetric.c"
#include "os/start.c"
#include "os/robust.c"
#include "os/priority.c"
#include "os/lend.c"
#include "os/posix.c"
#include "os/symbol.c"
#include "os/say.c"
#include "os/valgrind.c"

#include "base/thread.c"
#include "base/fences.c"
#include "base/park_word.c"
#include "base/park_cond.c"
#include "base/park_sem.c"
#include "base/latch.c"
#include "base/drain.c"

#include "check/check.c"
#include "check/check_claims.c"
#include "check/check_order.c"
#include "check/check_report.c"
#include "check/check_stack.c"
#include "check/check_name.c"
#include "check/check_view.c"
#include "check/check_watch.c"

#include "lock/spin.c"
#include "lock/compat.c"
#include "lock/seq.c"
#include "lock/table.c"
#include "lock/wait.c"
#include "lock/bitlock.c"
#include "lock/lock.c"
#include "lock/cond.c"
#include "lock/pshared.c"
#include "lock/robust.c"
#include "lock/check_word.c"

#include "count/counter_cells.c"
#include "count/counter_check.c"
#include "count/counter.c"
#include "count/counter_exact.c"
#include "count/counter_limit.c"
#include "count/bigref.c"

#include "rcu/rcu.c"
#include "rcu/rcu_extra.c"
#include "rcu/rcu_stall.c"
#include "rcu/rcu_check.c"
#include "rcu/rcu_grace.c"
#include "rcu/rcu_call.c"
#include "rcu/rcu_worker.c"
#include "rcu/rcu_drain.c"
#include "rcu/idtable.c"

#include "sift/brlock.c"
#include "sift/brlock_face.c"
#include "sift/sift.c"
#include "sift/sift_read.c"
#include "sift/sift_write.c"
