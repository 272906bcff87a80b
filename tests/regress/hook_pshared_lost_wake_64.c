/* SPDX-License-Identifier: MIT */
/* hook_pshared_lost_wake.c for the lock of 64 bits. */
#define BITS 64
#include "hook_pshared_lost_wake.c"
