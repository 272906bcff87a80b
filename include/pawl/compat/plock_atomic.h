/* SPDX-License-Identifier: MIT */
/*
 * The atomic helpers of plock (its atomic-ops.h): pl_<what>[_noret][_lax|_acq|_rel] on integers of
 * 1, 2, 4 bytes, or 8 where long has 8, and on pointers. Without a suffix an operation orders
 * everything; pl_load is an acquire, pl_store a release. New programs use <stdatomic.h> or
 * <atomic>.
 *
 *   inc dec                                  not 0 when the result is not
 *   add sub and or xor                       the new value
 *   ldadd ldsub ldand ldor ldxor xadd xchg   the old value
 *   bts btr                                  the bit as it was, in its place
 *   cmpxchg                                  the value found: `old` if it was exchanged
 */
#ifndef PAWL_COMPAT_PLOCK_ATOMIC_H
#define PAWL_COMPAT_PLOCK_ATOMIC_H

#include <pawl/atomic.h>

#ifdef __cplusplus
#include <type_traits>
#endif

/* ---- Sizes ----------------------------------------------------------------------------------- */

#define PAWL_PLOCK_SIZES_ "pl_*: the word must have 1, 2 or 4 bytes, or 8 where long has 8"
#define PAWL_PLOCK_LOCK_SIZES_                                                                     \
    "pl_*: the lock must be an unsigned int, an unsigned long or a pointer"
#define PAWL_PLOCK_UNCHECKED_ "pl_*: the checking variant does not know the join and claim states"

#define PAWL_PLOCK_IS_LOCK_(size) ((size) == 4 || (sizeof(long) == 8 && (size) == 8))
#define PAWL_PLOCK_IS_WORD_(size) ((size) == 1 || (size) == 2 || PAWL_PLOCK_IS_LOCK_(size))

PAWL_INLINE_BEGIN

#ifdef __cplusplus
template <size_t Size> struct ipawl_plock_word_size_ {
    static_assert(PAWL_PLOCK_IS_WORD_(Size), PAWL_PLOCK_SIZES_);
    static constexpr size_t value = Size;
};
template <size_t Size> struct ipawl_plock_lock_size_ {
    static_assert(PAWL_PLOCK_IS_LOCK_(Size), PAWL_PLOCK_LOCK_SIZES_);
    static constexpr size_t value = Size;
};
template <size_t Size> struct ipawl_plock_join_size_ {
    static_assert(!PAWL_CHECKED || Size == 0, PAWL_PLOCK_UNCHECKED_);
    static constexpr size_t value = ipawl_plock_lock_size_<Size>::value;
};
#define PAWL_PLOCK_SIZE_(size) (ipawl_plock_word_size_<size>::value)
#define PAWL_PLOCK_LOCK_SIZE_(size) (ipawl_plock_lock_size_<size>::value)
#define PAWL_PLOCK_JOIN_SIZE_(size) (ipawl_plock_join_size_<size>::value)
/* The type of the value in a variable declared like the word. */
#define PAWL_PLOCK_VALUE_(p) std::remove_cv<std::remove_reference<decltype(*(p))>::type>::type
#else
/* In an expression, a static assertion may stand only in a declaration inside sizeof. */
/* clang-format off */
#define PAWL_PLOCK_SURE_(condition, why, size)                                                     \
    ((size) + 0 * sizeof(struct { _Static_assert(condition, why); char c; }))
/* clang-format on */
#define PAWL_PLOCK_SIZE_(size) PAWL_PLOCK_SURE_(PAWL_PLOCK_IS_WORD_(size), PAWL_PLOCK_SIZES_, size)
#define PAWL_PLOCK_LOCK_SIZE_(size)                                                                \
    PAWL_PLOCK_SURE_(PAWL_PLOCK_IS_LOCK_(size), PAWL_PLOCK_LOCK_SIZES_, size)
#define PAWL_PLOCK_JOIN_SIZE_(size)                                                                \
    PAWL_PLOCK_SURE_(!PAWL_CHECKED, PAWL_PLOCK_UNCHECKED_, PAWL_PLOCK_LOCK_SIZE_(size))
#define PAWL_PLOCK_VALUE_(p) __typeof__(*(p))
#endif

/* Without optimisation the branches of other sizes stay, and gcc warns that they would write beyond
 * the word. So it gets no information about the object that p points to. */
#ifdef __OPTIMIZE__
#define PAWL_PLOCK_FORGET_(p) ((void)0)
#else
#define PAWL_PLOCK_FORGET_(p) __asm__("" : "+r"(p))
#endif

/* ---- One function for each operation, whatever the size and order, both constants ------------ */

enum pawl_plock_order {
    PAWL_PLOCK_RELAXED_,
    PAWL_PLOCK_ACQUIRE_,
    PAWL_PLOCK_RELEASE_,
    PAWL_PLOCK_FULL_
};

/* An operation that orders everything. x86's locked ones do so by themselves. Elsewhere the
 * operation stands between two fences and needs no order of its own. */
#if PAWL_HOOKS || !(defined(__x86_64__) || defined(__i386__))
PAWL_INLINE PAWL_ALWAYS_INLINE_ void ipawl_plock_before_(void)
{
    /* [PLOCK_FULL] full: the caller's earlier accesses come before the operation. */
    pawl_fence_full(PAWL_PLOCK_FULL);
}
PAWL_INLINE PAWL_ALWAYS_INLINE_ void ipawl_plock_after_(void)
{
    /* [PLOCK_FULL] full: the caller's later accesses come after the operation. */
    pawl_fence_full(PAWL_PLOCK_FULL);
}
#define PAWL_PLOCK_FULL_(result, operation, N, ...)                                                \
    do {                                                                                           \
        ipawl_plock_before_();                                                                     \
        result = PAWL_CAT_(operation##_relaxed, N)(__VA_ARGS__);                                   \
        ipawl_plock_after_();                                                                      \
    } while (0)
#else
#define PAWL_PLOCK_FULL_(result, operation, N, ...)                                                \
    result = PAWL_CAT_(operation##_acq_rel, N)(__VA_ARGS__, PAWL_PLOCK_FULL)
#endif

#define PAWL_PLOCK_RMW_SIZE_(N, operation)                                                         \
    switch (order) {                                                                               \
    case PAWL_PLOCK_RELAXED_:                                                                      \
        return pawl_##operation##_relaxed##N((uint##N##_t *)p, (uint##N##_t)x);                    \
    case PAWL_PLOCK_ACQUIRE_:                                                                      \
        return pawl_##operation##_acquire##N((uint##N##_t *)p, (uint##N##_t)x,                     \
                                             PAWL_PLOCK_ACQUIRE);                                  \
    case PAWL_PLOCK_RELEASE_:                                                                      \
        return pawl_##operation##_release##N((uint##N##_t *)p, (uint##N##_t)x,                     \
                                             PAWL_PLOCK_RELEASE);                                  \
    default:                                                                                       \
        PAWL_PLOCK_FULL_(old, pawl_##operation, N, (uint##N##_t *)p, (uint##N##_t)x);              \
        return old;                                                                                \
    }

#if __SIZEOF_LONG__ == 8
#define PAWL_PLOCK_SIZE_8_(what)                                                                   \
    if (size == 8) {                                                                               \
        what                                                                                       \
    }
#else
#define PAWL_PLOCK_SIZE_8_(what)
#endif

#define PAWL_PLOCK_RMW_(operation)                                                                 \
    PAWL_INLINE PAWL_ALWAYS_INLINE_ unsigned long ipawl_plock_##operation##_(                      \
        void *p, size_t size, unsigned long x, enum pawl_plock_order order)                        \
    {                                                                                              \
        unsigned long old;                                                                         \
        PAWL_PLOCK_FORGET_(p);                                                                     \
        if (size == 1) {                                                                           \
            PAWL_PLOCK_RMW_SIZE_(8, operation)                                                     \
        }                                                                                          \
        if (size == 2) {                                                                           \
            PAWL_PLOCK_RMW_SIZE_(16, operation)                                                    \
        }                                                                                          \
        PAWL_PLOCK_SIZE_8_(PAWL_PLOCK_RMW_SIZE_(64, operation))                                    \
        PAWL_PLOCK_RMW_SIZE_(32, operation)                                                        \
    }

PAWL_PLOCK_RMW_(fetch_add)
PAWL_PLOCK_RMW_(fetch_sub)
PAWL_PLOCK_RMW_(fetch_and)
PAWL_PLOCK_RMW_(fetch_or)
PAWL_PLOCK_RMW_(fetch_xor)
PAWL_PLOCK_RMW_(exchange)

#define PAWL_PLOCK_LOAD_SIZE_(N)                                                                   \
    return order == PAWL_PLOCK_RELAXED_                                                            \
               ? pawl_load_relaxed##N((const uint##N##_t *)p)                                      \
               : pawl_load_acquire##N((const uint##N##_t *)p, PAWL_PLOCK_ACQUIRE);
#define PAWL_PLOCK_STORE_SIZE_(N)                                                                  \
    if (order == PAWL_PLOCK_RELAXED_)                                                              \
        pawl_store_relaxed##N((uint##N##_t *)p, (uint##N##_t)x);                                   \
    else                                                                                           \
        pawl_store_release##N((uint##N##_t *)p, (uint##N##_t)x, PAWL_PLOCK_RELEASE);               \
    return;
#define PAWL_PLOCK_CAS_SIZE_(N)                                                                    \
    {                                                                                              \
        uint##N##_t found = (uint##N##_t)old;                                                      \
        bool done;                                                                                 \
        PAWL_PLOCK_FULL_(done, pawl_cas, N, (uint##N##_t *)p, &found, (uint##N##_t)x);             \
        (void)done;                                                                                \
        return found;                                                                              \
    }

PAWL_INLINE PAWL_ALWAYS_INLINE_ unsigned long ipawl_plock_load_(const void *p, size_t size,
                                                                enum pawl_plock_order order)
{
    PAWL_PLOCK_FORGET_(p);
    if (size == 1) {
        PAWL_PLOCK_LOAD_SIZE_(8)
    }
    if (size == 2) {
        PAWL_PLOCK_LOAD_SIZE_(16)
    }
    PAWL_PLOCK_SIZE_8_(PAWL_PLOCK_LOAD_SIZE_(64))
    PAWL_PLOCK_LOAD_SIZE_(32)
}

PAWL_INLINE PAWL_ALWAYS_INLINE_ void ipawl_plock_store_(void *p, size_t size, unsigned long x,
                                                        enum pawl_plock_order order)
{
    PAWL_PLOCK_FORGET_(p);
    if (size == 1) {
        PAWL_PLOCK_STORE_SIZE_(8)
    }
    if (size == 2) {
        PAWL_PLOCK_STORE_SIZE_(16)
    }
    PAWL_PLOCK_SIZE_8_(PAWL_PLOCK_STORE_SIZE_(64))
    PAWL_PLOCK_STORE_SIZE_(32)
}

PAWL_INLINE PAWL_ALWAYS_INLINE_ unsigned long ipawl_plock_cas_(void *p, size_t size,
                                                               unsigned long old, unsigned long x)
{
    PAWL_PLOCK_FORGET_(p);
    if (size == 1)
        PAWL_PLOCK_CAS_SIZE_(8)
    if (size == 2)
        PAWL_PLOCK_CAS_SIZE_(16)
    PAWL_PLOCK_SIZE_8_(PAWL_PLOCK_CAS_SIZE_(64))
    PAWL_PLOCK_CAS_SIZE_(32)
}

/* The change and the answer both need the mask of the bit. */
PAWL_INLINE PAWL_ALWAYS_INLINE_ unsigned long
ipawl_plock_set_bit_(void *p, size_t size, unsigned long mask, enum pawl_plock_order order)
{
    return ipawl_plock_fetch_or_(p, size, mask, order) & mask;
}

PAWL_INLINE PAWL_ALWAYS_INLINE_ unsigned long
ipawl_plock_clear_bit_(void *p, size_t size, unsigned long mask, enum pawl_plock_order order)
{
    return ipawl_plock_fetch_and_(p, size, ~mask, order) & mask;
}

/* The new value, computed from the old one; the caller's conversion truncates it to size. */
#define PAWL_PLOCK_NEW_(name, operation, sign)                                                     \
    PAWL_INLINE PAWL_ALWAYS_INLINE_ unsigned long ipawl_plock_##name##_(                           \
        void *p, size_t size, unsigned long x, enum pawl_plock_order order)                        \
    {                                                                                              \
        return ipawl_plock_##operation##_(p, size, x, order) sign x;                               \
    }
PAWL_PLOCK_NEW_(add, fetch_add, +)
PAWL_PLOCK_NEW_(sub, fetch_sub, -)
PAWL_PLOCK_NEW_(and, fetch_and, &)
PAWL_PLOCK_NEW_(or, fetch_or, |)
PAWL_PLOCK_NEW_(xor, fetch_xor, ^)

PAWL_INLINE_END

#undef PAWL_PLOCK_FORGET_
#undef PAWL_PLOCK_FULL_
#undef PAWL_PLOCK_RMW_SIZE_
#undef PAWL_PLOCK_RMW_
#undef PAWL_PLOCK_LOAD_SIZE_
#undef PAWL_PLOCK_STORE_SIZE_
#undef PAWL_PLOCK_CAS_SIZE_
#undef PAWL_PLOCK_SIZE_8_
#undef PAWL_PLOCK_NEW_

#include <pawl/compat/plock_names.h>

#endif
