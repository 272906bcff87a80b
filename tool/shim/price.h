/* SPDX-License-Identifier: MIT */
#ifndef PAWL_SHIM_PRICE_H
#define PAWL_SHIM_PRICE_H

#include <stdint.h>

#include <pawl/atomic.h>

/* Nanoseconds for which a line is on its way from one processor to another; 0: it could not be
 * measured. It takes up to 10 ms. */
PAWL_HIDDEN_ uint64_t shim_line_ns(void);

#endif
