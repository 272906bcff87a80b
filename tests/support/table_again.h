/* SPDX-License-Identifier: MIT */
/* The functions of src/lock/table.c once more, over the table of the library. Include it in
 * one file of a program. */
#pragma once

#include "lock/table.h"

#undef PAWL_SHARED_DEFINE
#define PAWL_SHARED_DEFINE(type, name) PAWL_SHARED_DECLARE(type, name)
#undef PAWL_THREAD_SHARED_DEFINE
#define PAWL_THREAD_SHARED_DEFINE(type, name) struct pawl_parker

#include "lock/table.c"
