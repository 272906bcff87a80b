/* SPDX-License-Identifier: MIT */
/* The face of this folder: what every subsystem above may use. */
#ifndef PAWL_BASE_H
#define PAWL_BASE_H

#include "../os/os.h"
#include "backoff.h"
#include "drain.h"
#include "latch.h"
#include "park.h"
#include "plain.h"
#include "probe.h"
#include "process.h"

#endif
