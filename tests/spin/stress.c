/* SPDX-License-Identifier: MIT */
/* The progressive spinlocks of all widths, whatever their application bits hold. */
#include <pawl/spin.h>

#define KIND_COUNT 3
#define KINDS(X) X(0, spin16) X(1, spin32) X(2, spin64)
#define START_BITS PAWL_SPIN_APPLICATION_BITS
#define TIMED(type, w, l) false

#include "support/progressive.h"
