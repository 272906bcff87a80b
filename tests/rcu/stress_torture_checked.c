/* SPDX-License-Identifier: MIT */
/* stress_torture.c under the checking variant, whose sections all take the compiled path. */
#define TORTURE_SECONDS 1.5
#include "rcu/stress_torture.c"
