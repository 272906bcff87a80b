/* SPDX-License-Identifier: MIT */
/*
 * The operations of the seam in every width and order, made from the macros of the back end that
 * includes this file (atomic_native.h, atomic_hook.h).
 */
PAWL_INLINE_BEGIN

#define PAWL_TAGGED_ , enum pawl_tag tag
#define PAWL_UNTAGGED_

#define PAWL_RMW_ORDERS_(N, verb, kind, builtin)                                                   \
    PAWL_RMW_(N, pawl_##verb##_relaxed, kind, builtin, RELAXED, PAWL_UNTAGGED_, PAWL_TAG_NONE_)    \
    PAWL_RMW_(N, pawl_##verb##_acquire, kind, builtin, ACQUIRE, PAWL_TAGGED_, tag)                 \
    PAWL_RMW_(N, pawl_##verb##_release, kind, builtin, RELEASE, PAWL_TAGGED_, tag)                 \
    PAWL_RMW_(N, pawl_##verb##_acq_rel, kind, builtin, ACQ_REL, PAWL_TAGGED_, tag)

#define PAWL_WIDTH_(N)                                                                             \
    PAWL_LOAD_(N, pawl_load_relaxed, RELAXED, PAWL_UNTAGGED_, PAWL_TAG_NONE_)                      \
    PAWL_LOAD_(N, pawl_load_acquire, ACQUIRE, PAWL_TAGGED_, tag)                                   \
    PAWL_STORE_(N, pawl_store_relaxed, RELAXED, PAWL_UNTAGGED_, PAWL_TAG_NONE_)                    \
    PAWL_STORE_(N, pawl_store_release, RELEASE, PAWL_TAGGED_, tag)                                 \
    PAWL_RMW_ORDERS_(N, fetch_add, PAWL_HOOK_ADD, __atomic_fetch_add)                              \
    PAWL_RMW_ORDERS_(N, fetch_sub, PAWL_HOOK_SUB, __atomic_fetch_sub)                              \
    PAWL_RMW_ORDERS_(N, fetch_and, PAWL_HOOK_AND, __atomic_fetch_and)                              \
    PAWL_RMW_ORDERS_(N, fetch_or, PAWL_HOOK_OR, __atomic_fetch_or)                                 \
    PAWL_RMW_ORDERS_(N, fetch_xor, PAWL_HOOK_XOR, __atomic_fetch_xor)                              \
    PAWL_RMW_ORDERS_(N, exchange, PAWL_HOOK_EXCHANGE, __atomic_exchange_n)                         \
    PAWL_CAS_(N, pawl_cas_relaxed, RELAXED, RELAXED, PAWL_UNTAGGED_, PAWL_TAG_NONE_)               \
    PAWL_CAS_(N, pawl_cas_acquire, ACQUIRE, RELAXED, PAWL_TAGGED_, tag)                            \
    PAWL_CAS_(N, pawl_cas_release, RELEASE, RELAXED, PAWL_TAGGED_, tag)                            \
    PAWL_CAS_(N, pawl_cas_acq_rel, ACQ_REL, RELAXED, PAWL_TAGGED_, tag)

PAWL_WIDTH_(8)
PAWL_WIDTH_(16)
PAWL_WIDTH_(32)
PAWL_WIDTH_(64)

/* Fences, named by what they order:
 *   acquire  the loads before it   before  everything after it
 *   release  everything before it  before  the stores after it
 *   full     everything before it  before  everything after it (store then load included) */
PAWL_FENCE_(pawl_fence_acquire, ACQUIRE)
PAWL_FENCE_(pawl_fence_release, RELEASE)
PAWL_FENCE_(pawl_fence_full, SEQ_CST)

PAWL_INLINE_END

#undef PAWL_LOAD_
#undef PAWL_STORE_
#undef PAWL_RMW_
#undef PAWL_CAS_
#undef PAWL_FENCE_
#undef PAWL_RMW_ORDERS_
#undef PAWL_WIDTH_
#undef PAWL_TAGGED_
#undef PAWL_UNTAGGED_
