/* SPDX-License-Identifier: MIT */
/*
 * Bytes that no initialiser and no call of the program has set. A wait for such a lock might never
 * end, where the C library's wait would not begin.
 */
#ifndef PAWL_SHIM_GARBAGE_H
#define PAWL_SHIM_GARBAGE_H

#include "layout.h"
#include "mode.h"
#include "record.h"

/* A claim adds W and S. Claims keep each other out, so there are never many. */
#define MOST_CLAIMS 16u
#define SHIM_CLAIM (SHIM_W + SHIM_S)

/* All of the word above R is claims; nobody seeks, nor is there an atomic user. */
static inline bool is_a_word(shim_word w)
{
    const shim_word claims = w / SHIM_S;
    return claims % (SHIM_CLAIM / SHIM_S) == 0 && claims <= MOST_CLAIMS * (SHIM_CLAIM / SHIM_S);
}

/* Bytes that no initialiser and no call sets, or claims that no threads have made. */
static inline bool is_no_lock(const pthread_rwlock_t *rw, struct shim_lock *l)
{
    static uint32_t said;
    if (PAWL_LIKELY(rw->__data.__cur_writer == 0 && rw->__data.__pad2 == 0 &&
                    rw->__data.__flags <= PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP &&
                    PAWL_ADDRESS_(pawl_load_relaxed)(&l->owner) % _Alignof(struct record) == 0 &&
                    is_a_word(shim_look(l))))
        return false;
    if (pawl_fetch_add_relaxed32(&said, 1) == 0)
        shim_complain("libpawl-preload: the program waits for a read-write lock that it has not "
                      "initialised; the call returns EINVAL.\n");
    return true;
}

#endif
