/* SPDX-License-Identifier: MIT */
/* Shared by the statistical counters per thread (counter.c) and per CPU (counter_cpu.c). */
#ifndef PAWL_COUNTER_PARTS_H
#define PAWL_COUNTER_PARTS_H

#include <pawl/counter.h>

#include "cells.h"

PAWL_INTERNAL uint32_t counter_place_of(const pawl_counter *c);
/* Finds cells for a counter that has none. `sum` adds up what they held before. */
PAWL_INTERNAL uint32_t counter_find_place(pawl_counter *c, uint64_t (*sum)(uint32_t));
PAWL_INTERNAL void counter_add_to_thread(pawl_counter *c, uint32_t place, uint64_t n);
/* The counter is dead from now on, and its cells are free. Returns `total`. */
PAWL_INTERNAL uint64_t counter_finish(pawl_counter *c, uint32_t place, uint64_t total);
PAWL_INTERNAL uint64_t counter_sum(const pawl_counter *c, uint64_t (*sum)(uint32_t));

#endif
