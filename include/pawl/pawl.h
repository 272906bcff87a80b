/* SPDX-License-Identifier: MIT */
/* All of Pawl, a line per primitive. */
#ifndef PAWL_PAWL_H
#define PAWL_PAWL_H

#include <pawl/spin.h>    /* progressive spinlock: read, seek, write, atomic in one word */
#include <pawl/version.h> /* which Pawl this is */

#endif
