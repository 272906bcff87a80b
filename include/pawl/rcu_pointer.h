/* SPDX-License-Identifier: MIT */
/*
 * Pointers that RCU readers follow. Included by rcu.h, which explains RCU.
 *
 * A reader loads such a pointer with acquire, an updater stores it with release. So a reader that
 * follows the pointer sees everything the updater wrote into the object before it published the
 * pointer. Any plain pointer will do, to objects or to functions, without a special declaration.
 * Access it by these macros only, as long as readers may exist.
 *
 * The acquire costs nothing on x86 and one load-acquire on Arm. The order of dependent loads would
 * suffice, but today's compilers do not keep it.
 *
 *   pawl_rcu_dereference(p)              the pointer, in a section of the default domain
 *   pawl_rcu_domain_dereference(d, p)    ... of domain d
 *   pawl_rcu_dereference_protected(p)    the pointer, where no other updater can be at work
 *   pawl_rcu_assign_pointer(p, v)        p = v; the object at v is ready
 *   pawl_rcu_xchg_pointer(&p, v)         the same, and returns the old p
 *   pawl_rcu_cmpxchg_pointer(&p, o, v)   if p == o then p = v; returns the old p
 *
 * The checking variant reports the first two outside a section.
 */
#ifndef PAWL_RCU_POINTER_H
#define PAWL_RCU_POINTER_H

#include <pawl/thread.h>

#if PAWL_CHECKED
PAWL_C_BEGIN
PAWL_API void PAWL_SYMBOL_(pawl_rcu_must_read)(uint32_t index);
PAWL_C_END
#define ipawl_rcu_must_read_ PAWL_SYMBOL_(pawl_rcu_must_read)
#define PAWL_RCU_MUST_READ_(index) ipawl_rcu_must_read_(index)
#else
#define PAWL_RCU_MUST_READ_(index) ((void)(index))
#endif

PAWL_INLINE_BEGIN

PAWL_INLINE PAWL_ALWAYS_INLINE_ ipawl_address_ ipawl_rcu_load_(const void *p)
{
    /* [RCU_DEREFERENCE] acquire: we see the object as it was published. */
    return PAWL_ADDRESS_(pawl_load_acquire)((const ipawl_address_ *)p, PAWL_RCU_DEREFERENCE);
}

PAWL_INLINE PAWL_ALWAYS_INLINE_ ipawl_address_ ipawl_rcu_load_protected_(const void *p)
{
    return PAWL_ADDRESS_(pawl_load_relaxed)((const ipawl_address_ *)p);
}

PAWL_INLINE PAWL_ALWAYS_INLINE_ void ipawl_rcu_publish_(void *p, uintptr_t v)
{
    /* [RCU_ASSIGN] release: the object is ready before a reader can find it. */
    PAWL_ADDRESS_(pawl_store_release)((ipawl_address_ *)p, (ipawl_address_)v, PAWL_RCU_ASSIGN);
}

PAWL_INLINE PAWL_ALWAYS_INLINE_ ipawl_address_ ipawl_rcu_swap_(void *p, uintptr_t v)
{
    /* [RCU_EXCHANGE] acq_rel: ours is ready before it is found; we see the old one as published. */
    return PAWL_ADDRESS_(pawl_exchange_acq_rel)((ipawl_address_ *)p, (ipawl_address_)v,
                                                PAWL_RCU_EXCHANGE);
}

/* Returns the pointer found: `old` if the exchange was made. */
PAWL_INLINE PAWL_ALWAYS_INLINE_ ipawl_address_ ipawl_rcu_swap_if_(void *p, uintptr_t old,
                                                                  uintptr_t v)
{
    for (;;) {
        ipawl_address_ found = (ipawl_address_)old;
        /* [RCU_EXCHANGE] acq_rel: as in ipawl_rcu_swap_. */
        if (PAWL_ADDRESS_(pawl_cas_acq_rel)((ipawl_address_ *)p, &found, (ipawl_address_)v,
                                            PAWL_RCU_EXCHANGE))
            return found;
        /* An exchange that fails orders nothing. */
        found = ipawl_rcu_load_(p);
        if (found != (ipawl_address_)old)
            return found;
    }
}

PAWL_INLINE_END

#ifdef __cplusplus

PAWL_INLINE_BEGIN

/* A parameter of this type takes no part in deducing T: NULL and derived types convert. */
template <class T> struct ipawl_rcu_same_ {
    typedef T type;
};

template <class T> PAWL_ALWAYS_INLINE_ inline T *ipawl_rcu_dereference_(T *const &p)
{
    return (T *)(uintptr_t)ipawl_rcu_load_(&p);
}

template <class T> PAWL_ALWAYS_INLINE_ inline T *ipawl_rcu_protected_(T *const &p)
{
    return (T *)(uintptr_t)ipawl_rcu_load_protected_(&p);
}

template <class T>
PAWL_ALWAYS_INLINE_ inline void ipawl_rcu_assign_(T *&p, typename ipawl_rcu_same_<T>::type *v)
{
    ipawl_rcu_publish_((void *)&p, (uintptr_t)v);
}

template <class T>
PAWL_ALWAYS_INLINE_ inline T *ipawl_rcu_xchg_(T **p, typename ipawl_rcu_same_<T>::type *v)
{
    return (T *)(uintptr_t)ipawl_rcu_swap_((void *)p, (uintptr_t)v);
}

template <class T>
PAWL_ALWAYS_INLINE_ inline T *ipawl_rcu_cmpxchg_(T **p, typename ipawl_rcu_same_<T>::type *old,
                                                 typename ipawl_rcu_same_<T>::type *v)
{
    return (T *)(uintptr_t)ipawl_rcu_swap_if_((void *)p, (uintptr_t)old, (uintptr_t)v);
}

PAWL_INLINE_END

#define PAWL_RCU_DEREFERENCE_(p) ipawl_rcu_dereference_(p)
#define pawl_rcu_dereference_protected(p) ipawl_rcu_protected_(p)
#define pawl_rcu_assign_pointer(p, v) ipawl_rcu_assign_(p, v)
#define pawl_rcu_xchg_pointer(address, v) ipawl_rcu_xchg_(address, v)
#define pawl_rcu_cmpxchg_pointer(address, old, v) ipawl_rcu_cmpxchg_(address, old, v)

#else

/* The type of p without its own qualifiers, and v, which must be assignable to p. */
#define PAWL_RCU_TYPE_(p) __typeof__(1 ? (p) : (p))
#define PAWL_RCU_FOR_(p, v) ((uintptr_t)(1 ? (v) : (p)))

#define PAWL_RCU_DEREFERENCE_(p) ((PAWL_RCU_TYPE_(p))(uintptr_t)ipawl_rcu_load_(&(p)))
/* The pointer, where no other updater can be at work: a plain load. */
#define pawl_rcu_dereference_protected(p)                                                          \
    ((PAWL_RCU_TYPE_(p))(uintptr_t)ipawl_rcu_load_protected_(&(p)))
/* p = v, where the object at v is ready: readers that find it see all of it. Release. */
#define pawl_rcu_assign_pointer(p, v) ipawl_rcu_publish_((void *)&(p), PAWL_RCU_FOR_(p, v))
/* The same, and returns the pointer that was there. Acquire, release. */
#define pawl_rcu_xchg_pointer(address, v)                                                          \
    ((PAWL_RCU_TYPE_(*(address)))(uintptr_t)ipawl_rcu_swap_((void *)(address),                     \
                                                            PAWL_RCU_FOR_(*(address), v)))
/* The same only if the pointer is `old`; returns the pointer that was there. Acquire, release. */
#define pawl_rcu_cmpxchg_pointer(address, old, v)                                                  \
    ((PAWL_RCU_TYPE_(*(address)))(uintptr_t)ipawl_rcu_swap_if_(                                    \
        (void *)(address), PAWL_RCU_FOR_(*(address), old), PAWL_RCU_FOR_(*(address), v)))

#endif

/* The pointer, in a read section of the default domain. Acquire. */
#define pawl_rcu_dereference(p) (PAWL_RCU_MUST_READ_(PAWL_RCU_DEFAULT_), PAWL_RCU_DEREFERENCE_(p))
/* The pointer, in a read section of domain d. Acquire. */
#define pawl_rcu_domain_dereference(d, p)                                                          \
    (PAWL_RCU_MUST_READ_((d)->index), PAWL_RCU_DEREFERENCE_(p))

#endif
