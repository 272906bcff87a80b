/* SPDX-License-Identifier: MIT */
/* The progressive locks of all kinds and widths, their operations by their rows of the table. */
#pragma once

#include "support/table.h"

#include <pawl/lock.h>
#include <pawl/pshared.h>

struct kind {
    unsigned bits;
    bool (*run[OP_COUNT])(void *);
    bool (*until[OP_COUNT])(void *, uint64_t); /* NULL: it does not wait, or has no deadline */
    uint64_t (*word)(const void *);
};

#define RETURN_void(call) ((call), true)
#define RETURN_bool(call) (call)
#define RETURN_pawl_regained(call) ((call) == PAWL_REGAIN_KEPT)

#define FACE spin16
#define FACE_BITS 16
#include "fuzz/lock_face.inc.h"
#define FACE spin32
#define FACE_BITS 32
#include "fuzz/lock_face.inc.h"
#define FACE spin64
#define FACE_BITS 64
#include "fuzz/lock_face.inc.h"
#define FACE lock32
#define FACE_BITS 32
#define FACE_UNTIL
#include "fuzz/lock_face.inc.h"
#define FACE lock64
#define FACE_BITS 64
#define FACE_UNTIL
#include "fuzz/lock_face.inc.h"
#define FACE pshared_lock32
#define FACE_BITS 32
#define FACE_UNTIL
#include "fuzz/lock_face.inc.h"
#define FACE pshared_lock64
#define FACE_BITS 64
#define FACE_UNTIL
#include "fuzz/lock_face.inc.h"

static void (*const describe[])(struct kind *) = {
    spin16_describe, spin32_describe,         spin64_describe,         lock32_describe,
    lock64_describe, pshared_lock32_describe, pshared_lock64_describe,
};
enum { SPINS = 3, SHARED = 2, KINDS = 7 }; /* those that spin first, those for processes last */

union any_lock {
    pawl_spin16 s16;
    pawl_spin32 s32;
    pawl_spin64 s64;
    pawl_lock32 l32;
    pawl_lock64 l64;
    pawl_pshared_lock32 h32;
    pawl_pshared_lock64 h64;
};
