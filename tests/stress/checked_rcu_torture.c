/* SPDX-License-Identifier: MIT */
/* rcu_torture.c under the checking variant, whose sections all take the compiled path. */
#define TORTURE_SECONDS 1.5
#include "stress/rcu_torture.c"
