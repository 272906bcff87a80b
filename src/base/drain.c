/* SPDX-License-Identifier: MIT */
/* The drains of the process (drain.h). */
#include "drain.h"

PAWL_SHARED_DEFINE(struct pawl_drains, drains_object);
