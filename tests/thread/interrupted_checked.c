/* SPDX-License-Identifier: MIT */
/* interrupted.c under the checking variant, which aborts where it finds a mistake. */
#include "thread/interrupted.c"
