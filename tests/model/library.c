/* SPDX-License-Identifier: MIT */
/* The library in one file, with what the preload library does at its entries. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#define SHIM_ONE_OBJECT
#include "../../tool/shim/place.c"
