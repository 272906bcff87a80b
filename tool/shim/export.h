/* SPDX-License-Identifier: MIT */
/*
 * The replaced functions under glibc's names and versions. A program asks for the version that was
 * current when it was linked, and glibc moved these functions from libpthread into libc with
 * version 2.34. So each has two versions, the first one and 2.34. The loader takes a definition
 * from here if name and version are equal. <processor>.map lists the versions for the linker.
 */
#ifndef PAWL_SHIM_EXPORT_H
#define PAWL_SHIM_EXPORT_H

#if defined(__x86_64__) && defined(__LP64__)
#define SHIM_V_FIRST "GLIBC_2.2.5"
#define SHIM_V_TIMED "GLIBC_2.2.5"
#define SHIM_V_INNER "GLIBC_2.2.5"
#define SHIM_V_SPIN "GLIBC_2.2.5"
#define SHIM_V_DLOPEN "GLIBC_2.2.5"
#define SHIM_V_DLMOPEN "GLIBC_2.3.4"
#elif defined(__i386__)
#define SHIM_V_FIRST "GLIBC_2.1"
#define SHIM_V_TIMED "GLIBC_2.2"
#define SHIM_V_INNER "GLIBC_2.2"
#define SHIM_V_SPIN "GLIBC_2.2"
#define SHIM_V_DLOPEN "GLIBC_2.1"
#define SHIM_V_DLMOPEN "GLIBC_2.3.4"
#define SHIM_HAS_TIME64 1
#elif defined(__aarch64__) && defined(__LP64__)
#define SHIM_V_FIRST "GLIBC_2.17"
#define SHIM_V_TIMED "GLIBC_2.17"
#define SHIM_V_INNER "GLIBC_2.17"
#define SHIM_V_SPIN "GLIBC_2.17"
#define SHIM_V_DLOPEN "GLIBC_2.17"
#define SHIM_V_DLMOPEN "GLIBC_2.17"
#else
#error "export.h knows glibc's versions for x86-64, 32-bit x86 and aarch64; this is another."
#endif
#define SHIM_V_CLOCK "GLIBC_2.30"
#define SHIM_V_NOW "GLIBC_2.34"
#ifndef SHIM_HAS_TIME64
#define SHIM_HAS_TIME64 0
#endif

/* E(own function, glibc's name, its first version). Older libraries call the names with two
 * underscores. */
#define SHIM_RWLOCK_PLAIN(E)                                                                       \
    E(shim_rwlock_init, pthread_rwlock_init, SHIM_V_FIRST)                                         \
    E(shim_rwlock_destroy, pthread_rwlock_destroy, SHIM_V_FIRST)                                   \
    E(shim_rwlock_rdlock, pthread_rwlock_rdlock, SHIM_V_FIRST)                                     \
    E(shim_rwlock_wrlock, pthread_rwlock_wrlock, SHIM_V_FIRST)                                     \
    E(shim_rwlock_tryrdlock, pthread_rwlock_tryrdlock, SHIM_V_FIRST)                               \
    E(shim_rwlock_trywrlock, pthread_rwlock_trywrlock, SHIM_V_FIRST)                               \
    E(shim_rwlock_unlock, pthread_rwlock_unlock, SHIM_V_FIRST)                                     \
    E(shim_rwlock_timedrdlock, pthread_rwlock_timedrdlock, SHIM_V_TIMED)                           \
    E(shim_rwlock_timedwrlock, pthread_rwlock_timedwrlock, SHIM_V_TIMED)                           \
    E(shim_rwlock_clockrdlock, pthread_rwlock_clockrdlock, SHIM_V_CLOCK)                           \
    E(shim_rwlock_clockwrlock, pthread_rwlock_clockwrlock, SHIM_V_CLOCK)
#define SHIM_RWLOCK_INNER(E)                                                                       \
    E(shim_rwlock_init, __pthread_rwlock_init, SHIM_V_INNER)                                       \
    E(shim_rwlock_destroy, __pthread_rwlock_destroy, SHIM_V_INNER)                                 \
    E(shim_rwlock_rdlock, __pthread_rwlock_rdlock, SHIM_V_INNER)                                   \
    E(shim_rwlock_wrlock, __pthread_rwlock_wrlock, SHIM_V_INNER)                                   \
    E(shim_rwlock_tryrdlock, __pthread_rwlock_tryrdlock, SHIM_V_INNER)                             \
    E(shim_rwlock_trywrlock, __pthread_rwlock_trywrlock, SHIM_V_INNER)                             \
    E(shim_rwlock_unlock, __pthread_rwlock_unlock, SHIM_V_INNER)
#if SHIM_HAS_TIME64
#define SHIM_RWLOCK_TIME64(E)                                                                      \
    E(shim_rwlock_timedrdlock64, __pthread_rwlock_timedrdlock64, SHIM_V_NOW)                       \
    E(shim_rwlock_timedwrlock64, __pthread_rwlock_timedwrlock64, SHIM_V_NOW)                       \
    E(shim_rwlock_clockrdlock64, __pthread_rwlock_clockrdlock64, SHIM_V_NOW)                       \
    E(shim_rwlock_clockwrlock64, __pthread_rwlock_clockwrlock64, SHIM_V_NOW)
#else
#define SHIM_RWLOCK_TIME64(E)
#endif

/* Another name of `own` that others see under the version; `sign` is @@ for the current one. */
#define SHIM_VERSION_(own, other, name, sign, version)                                             \
    extern __typeof__(own) other __attribute__((alias(#own), visibility("default")));              \
    __asm__(".symver " #other ", " #name sign version);
/* Both versions; the only one of an inner name, as a name from before 2.34; one that is new. */
#define SHIM_BOTH(own, name, first)                                                                \
    SHIM_VERSION_(own, shim_first_##name, name, "@", first)                                        \
    SHIM_VERSION_(own, shim_now_##name, name, "@@", SHIM_V_NOW)
#define SHIM_OLD(own, name, first) SHIM_VERSION_(own, shim_first_##name, name, "@", first)
#define SHIM_NEW(own, name, first) SHIM_VERSION_(own, shim_now_##name, name, "@@", first)

#endif
