/* SPDX-License-Identifier: MIT */
/*
 * The priority-sifting lock in a program that defines PAWL_TRACED: around each operation the
 * recorder is told (traced.h). The context makes no difference to it. sift.h includes this file at
 * its end.
 */
#include <pawl/sift.h> /* outside the guard: sift.h includes this file where it needs it */

#ifndef PAWL_SIFT_TRACED_H
#define PAWL_SIFT_TRACED_H
#if PAWL_TRACED_

#include <pawl/detail/traced.h>

PAWL_INLINE_BEGIN

#define PAWL_SIFT_OF_(from, to) PAWL_TRACED_WHAT_(PAWL_TRACED_SIFT, from, to)
#define PAWL_SIFT_HEAD_(result, name) PAWL_INLINE PAWL_ALWAYS_INLINE_ result pawl_sift_traced_##name

PAWL_SIFT_HEAD_(int, init)(pawl_sift *l, const pawl_sift_use *use)
{
    const int error = pawl_sift_init(l, use);
    PAWL_TRACED_MADE_(l);
    return error;
}

PAWL_SIFT_HEAD_(void, take_read)(pawl_sift *l, enum pawl_sift_context context)
{
    bool value;
    PAWL_TRACED_WAITS_(PAWL_SIFT_OF_(U, R), pawl_sift_try_read(l, context), true,
                       (pawl_sift_take_read(l, context), true), true);
    (void)value;
}

PAWL_SIFT_HEAD_(bool, take_read_until)(pawl_sift *l, enum pawl_sift_context context, uint64_t until)
{
    bool value;
    PAWL_TRACED_WAITS_(PAWL_SIFT_OF_(U, R) | PAWL_TRACED_UNTIL_, pawl_sift_try_read(l, context),
                       true, pawl_sift_take_read_until(l, context, until), value);
    return value;
}

PAWL_SIFT_HEAD_(bool, try_read)(pawl_sift *l, enum pawl_sift_context context)
{
    bool value;
    PAWL_TRACED_TRIES_(PAWL_SIFT_OF_(U, R), pawl_sift_try_read(l, context));
    return value;
}

PAWL_SIFT_HEAD_(void, drop_read)(pawl_sift *l, enum pawl_sift_context context)
{
    bool value;
    PAWL_TRACED_DROPS_((pawl_sift_drop_read(l, context), true));
    (void)value;
}

PAWL_SIFT_HEAD_(void, take_write)(pawl_sift *l)
{
    bool value;
    PAWL_TRACED_WAITS_(PAWL_SIFT_OF_(U, W), pawl_sift_try_write(l), true,
                       (pawl_sift_take_write(l), true), true);
    (void)value;
}

PAWL_SIFT_HEAD_(bool, take_write_until)(pawl_sift *l, uint64_t until)
{
    bool value;
    PAWL_TRACED_WAITS_(PAWL_SIFT_OF_(U, W) | PAWL_TRACED_UNTIL_, pawl_sift_try_write(l), true,
                       pawl_sift_take_write_until(l, until), value);
    return value;
}

PAWL_SIFT_HEAD_(bool, try_write)(pawl_sift *l)
{
    bool value;
    PAWL_TRACED_TRIES_(PAWL_SIFT_OF_(U, W), pawl_sift_try_write(l));
    return value;
}

PAWL_SIFT_HEAD_(void, drop_write)(pawl_sift *l)
{
    bool value;
    PAWL_TRACED_DROPS_((pawl_sift_drop_write(l), true));
    (void)value;
}

#undef PAWL_SIFT_OF_
#undef PAWL_SIFT_HEAD_

PAWL_INLINE_END

#undef pawl_sift_init
#define pawl_sift_init pawl_sift_traced_init
#undef pawl_sift_take_read
#define pawl_sift_take_read pawl_sift_traced_take_read
#undef pawl_sift_take_read_until
#define pawl_sift_take_read_until pawl_sift_traced_take_read_until
#undef pawl_sift_try_read
#define pawl_sift_try_read pawl_sift_traced_try_read
#undef pawl_sift_drop_read
#define pawl_sift_drop_read pawl_sift_traced_drop_read
#undef pawl_sift_take_write
#define pawl_sift_take_write pawl_sift_traced_take_write
#undef pawl_sift_take_write_until
#define pawl_sift_take_write_until pawl_sift_traced_take_write_until
#undef pawl_sift_try_write
#define pawl_sift_try_write pawl_sift_traced_try_write
#undef pawl_sift_drop_write
#define pawl_sift_drop_write pawl_sift_traced_drop_write

#endif
#endif
