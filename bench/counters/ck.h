/* SPDX-License-Identifier: MIT */
/*
 * Concurrency Kit's rows. Its headers are C only, so the loops are compiled as C. Each function
 * does its operation n times, with everything inlined as a C program would have it.
 */
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ck_pr_faa_64 by 1. */
void pawl_bench_ck_add(uint64_t *word, unsigned n);

/* ck_sequence: the 64 bytes are copied by memcpy between begin and retry, which is a race. */
void *pawl_bench_ck_sequence(void);
void pawl_bench_ck_sequence_read(void *sequence, void *to, unsigned n);

/* Read pairs; `thread` counts from 0 and always belongs to the same thread. */
void *pawl_bench_ck_brlock(void);
void pawl_bench_ck_brlock_pairs(void *lock, unsigned thread, unsigned n);
void *pawl_bench_ck_bytelock(void);
void pawl_bench_ck_bytelock_pairs(void *lock, unsigned thread, unsigned n);
void pawl_bench_ck_free(void *object);

#ifdef __cplusplus
}
#endif
