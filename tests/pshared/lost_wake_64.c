/* SPDX-License-Identifier: MIT */
/* lost_wake.c for the lock of 64 bits. */
#define BITS 64
#include "pshared/lost_wake.c"
