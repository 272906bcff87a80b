/* SPDX-License-Identifier: MIT */
/* All of the library in one file: compile this, with include/ in the include path and -pthread. The
 * checking variant is the same file with variant/checked/ before include/. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* before the first system header, for os/ */
#endif
#include "os/hook.c"
#include "os/linux.c"
#include "os/posix.c"
#include "spin.c"
#include "compat.c"
#include "thread.c"

#include "check.c"
#include "check_claims.c"
#include "check_order.c"
#include "check_report.c"
#include "check_spin.c"
