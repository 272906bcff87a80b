/* SPDX-License-Identifier: MIT */
/* The interface of this folder to every subsystem above it. */
#ifndef PAWL_BASE_H
#define PAWL_BASE_H

#include "../os/os.h"
#include "ahead.h"
#include "backoff.h"
#include "drain.h"
#include "latch.h"
#include "park.h"
#include "plain.h"
#include "probe.h"
#include "process.h"

#endif
