/* SPDX-License-Identifier: MIT */
/* All of the library in one file: compile this, with include/ in the include path and -pthread. The
 * checking variant is the same file with variant/checked/ before include/. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* before the first system header, for os/ */
#endif
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
#include "os/say.c"
#include "os/park_word.c"
#include "os/park_cond.c"
#include "os/park_sem.c"
#include "spin.c"
#include "compat.c"
#include "counter_cells.c"
#include "counter_check.c"
#include "rcu.c"
#include "rcu_stall.c"
#include "rcu_check.c"
#include "rcu_grace.c"
#include "rcu_call.c"
#include "rcu_worker.c"
#include "rcu_drain.c"
#include "thread.c"
#include "seq.c"
#include "brlock.c"
#include "brlock_face.c"
#include "table.c"
#include "wait.c"
#include "bitlock.c"
#include "lock.c"
#include "cond.c"
#include "shared.c"
#include "robust.c"
#include "counter.c"
#include "counter_exact.c"
#include "counter_limit.c"
#include "bigref.c"
#include "sift.c"
#include "sift_read.c"
#include "sift_write.c"
#include "idtable.c"

#include "check.c"
#include "check_claims.c"
#include "check_order.c"
#include "check_report.c"
#include "check_word.c"
