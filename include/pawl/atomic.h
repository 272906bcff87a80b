/* SPDX-License-Identifier: MIT */
/*
 * The seam: every atomic operation of the library goes through this file, and nothing else in the
 * library touches an atomic builtin. Not a public atomics library: use <stdatomic.h> or <atomic>.
 *
 * Names say width and order: pawl_fetch_add_acquire32(p, value, TAG). Every order but relaxed takes
 * a tag of tags.def, which names the site and its partner; in the native backend the tag costs
 * nothing. Sequential consistency exists only as a fence, never as an access, because the model
 * checkers we use honour it only there.
 *
 * Backends, chosen by <pawl/config.h>, the lock code above being the same source in each:
 *   native (PAWL_HOOKS 0)  the compiler's __atomic builtins on plain integer fields
 *   hook   (PAWL_HOOKS 1)  each operation calls the functions of <pawl/detail/hook.h>, which a test
 *                          or a model checker defines
 *   sim    (PAWL_SIM)      the same calls, in code that is release otherwise; sim/ defines them
 */
#ifndef PAWL_ATOMIC_H
#define PAWL_ATOMIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pawl/config.h>

#if !defined(__GNUC__) && !defined(__clang__)
#error "Pawl needs gcc or clang: it is built on their __atomic builtins and attributes."
#endif

/* 1: the operations call the functions of hook.h. */
#ifdef PAWL_SIM
#define PAWL_CALLS_OUT_ 1
#else
#define PAWL_CALLS_OUT_ PAWL_HOOKS
#endif

/* ---- Words of the declarations ------------------------------------------------------------- */

#define PAWL_PASTE_(a, b) a##b
#define PAWL_CAT_(a, b) PAWL_PASTE_(a, b)

/* PAWL_SYMBOL_(name): an internal symbol with the protocol's version and the variant, so that a
 * stale header or a mixture of variants fails to link instead of corrupting. */
#define PAWL_DECORATED_(name, variant) i##name##_v3_##variant##_
#define PAWL_DECORATE_(name, variant) PAWL_DECORATED_(name, variant)
#define PAWL_SYMBOL_(name) PAWL_DECORATE_(name, PAWL_VARIANT)

#if defined(__SANITIZE_THREAD__)
#define PAWL_TSAN_ 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define PAWL_TSAN_ 1
#endif
#endif
#ifndef PAWL_TSAN_
#define PAWL_TSAN_ 0
#endif

/* Whether a checker of data races is told what the operations promise (detail/told.h). */
#define PAWL_TOLD_ (PAWL_TSAN_ || PAWL_VALGRIND)
/* So that the public names of compiled operations are wrappers, but not in the library. */
#if PAWL_TOLD_ && !PAWL_HOOKS && !defined(PAWL_COMPILED_)
#define PAWL_TOLD_AROUND_ 1
#else
#define PAWL_TOLD_AROUND_ 0
#endif
#if PAWL_TSAN_ && PAWL_VALGRIND
#error "The valgrind variant is not for ThreadSanitizer: build with the release variant's headers."
#endif

/* A symbol that, in a program built for ThreadSanitizer, only a library built for it has. With
 * another library the program does not link: there the sanitizer could not follow the operation. */
#if PAWL_TSAN_ && !PAWL_HOOKS
#define PAWL_SYMBOL_SEEN_(name)                                                                    \
    PAWL_SYMBOL_(PAWL_CAT_(name, _needs_a_library_built_with_fsanitize_thread))
#else
#define PAWL_SYMBOL_SEEN_(name) PAWL_SYMBOL_(name)
#endif

/* PAWL_TRACED, defined before the first header of the library: the operations of spin.h, lock.h,
 * pshared.h, brlock.h and sift.h tell the recorder of `pawl trace` what they do (doc/trace.md). */
#if defined(PAWL_TRACED) && !defined(PAWL_COMPILED_) && !PAWL_CHECKED && !PAWL_CALLS_OUT_ &&       \
    !PAWL_TOLD_ && defined(__linux__) && defined(__ELF__)
#define PAWL_TRACED_ 1
#define PAWL_AT_CALLER_ PAWL_ALWAYS_INLINE_ /* the return address is the user's */
#else
#define PAWL_TRACED_ 0
#define PAWL_AT_CALLER_
#endif

/* Inline functions are static in C. In C++ they are inline inside a namespace that carries the
 * variant: inline members of user classes may then call them without breaking the one-definition
 * rule, and two variants never share a definition. */
#ifdef __cplusplus
#define PAWL_INLINE inline PAWL_AT_CALLER_
#if PAWL_TSAN_
#define PAWL_NAMESPACE_ PAWL_CAT_(PAWL_CAT_(ipawl_, PAWL_VARIANT), _tsan_v3)
#elif PAWL_TRACED_
#define PAWL_NAMESPACE_ PAWL_CAT_(PAWL_CAT_(ipawl_, PAWL_VARIANT), _traced_v3)
#else
#define PAWL_NAMESPACE_ PAWL_CAT_(PAWL_CAT_(ipawl_, PAWL_VARIANT), _v3)
#endif
#if defined(__clang__)
#define PAWL_QUIET_ _Pragma("GCC diagnostic ignored \"-Wold-style-cast\"")
#else
#define PAWL_QUIET_                                                                                \
    _Pragma("GCC diagnostic ignored \"-Wold-style-cast\"")                                         \
        _Pragma("GCC diagnostic ignored \"-Wuseless-cast\"")
#endif
/* Works inside extern "C" of others. The casts in it are those of C. */
#define PAWL_INLINE_BEGIN                                                                          \
    _Pragma("GCC diagnostic push") PAWL_QUIET_ extern "C++"                                        \
    {                                                                                              \
        inline namespace PAWL_NAMESPACE_ {
#define PAWL_INLINE_END                                                                            \
    }                                                                                              \
    }                                                                                              \
    _Pragma("GCC diagnostic pop")
#define PAWL_C_BEGIN extern "C" {
#define PAWL_C_END }
#else
#define PAWL_INLINE static inline PAWL_AT_CALLER_
#define PAWL_INLINE_BEGIN
#define PAWL_INLINE_END
#define PAWL_C_BEGIN
#define PAWL_C_END
#endif

/* Public symbols of the shared library; all others are hidden. On Windows a DLL made
 * by gcc or clang exports everything. */
#if defined(_WIN32)
#define PAWL_API
#define PAWL_HIDDEN_
#else
#define PAWL_API __attribute__((__visibility__("default")))
#define PAWL_HIDDEN_ __attribute__((__visibility__("hidden")))
#endif

/* Functions whose result says whether the caller holds the lock: a program that discards it gets a
 * warning. In C++ a cast to void says that this is meant; in C gcc warns of the cast too. */
#ifdef __cplusplus
#define PAWL_MUST_USE_ [[nodiscard]]
#else
#define PAWL_MUST_USE_ __attribute__((__warn_unused_result__))
#endif
#define PAWL_TRY PAWL_MUST_USE_ PAWL_API
#define PAWL_TRYING PAWL_MUST_USE_ PAWL_INLINE

#define PAWL_COLD __attribute__((__cold__, __noinline__))
#define PAWL_ALWAYS_INLINE_ __attribute__((__always_inline__))
#define PAWL_LIKELY(x) __builtin_expect(!!(x), 1)
#define PAWL_UNLIKELY(x) __builtin_expect(!!(x), 0)

/* Bytes that two threads must be apart not to disturb each other. 64 is the line of x86, most Arm
 * and RISC-V cores; Apple's cores and POWER have 128 (LLVM, std::hardware_destructive_interference_
 * size). Intel's spatial prefetcher pulls lines in pairs, so x86 also keeps 128 between hot words
 * (Intel 64 and IA-32 Architectures Optimization Reference Manual, "Spatial Prefetcher"). */
#if defined(__s390x__)
#define PAWL_CACHE_LINE 256
#elif defined(__x86_64__) || defined(__powerpc64__) || (defined(__aarch64__) && defined(__APPLE__))
#define PAWL_CACHE_LINE 128
#else
#define PAWL_CACHE_LINE 64
#endif

/* ---- Tags ----------------------------------------------------------------------------------- */

enum pawl_tag {
    PAWL_TAG_NONE_,
#define PAWL_TAG(name, order, partners, what) PAWL_##name,
#include <pawl/detail/tags.def>
#undef PAWL_TAG
    PAWL_TAG_COUNT_
};

/* ---- Operations ------------------------------------------------------------------------------
 * The back end makes them: loads, stores, read-modify-writes and compare-exchanges as the head of
 * this file says, and these fences:
 *
 *   pawl_fence_acquire(tag)  the loads before it     before  everything after it
 *   pawl_fence_release(tag)  everything before it    before  the stores after it
 *   pawl_fence_full(tag)     everything before it    before  everything after it
 *
 *   pawl_fence_light(tag), pawl_fence_heavy(tag)
 *       A full fence in two halves. The light half costs next to nothing, because the heavy half
 *       makes every running thread of the process pass a fence (membarrier). Of a light and a heavy
 *       fence one comes first: all that stands after the other sees all that stood before it. Where
 *       the system cannot do that, both are full fences.
 *   pawl_fence_light_known(tag)
 *       The light half where the caller knows that it is free (ipawl_fence_light_free_ was 1), or
 *       can do without.
 *   pawl_fence_heavy_or_not(tag)
 *       The heavy half, or false: the system cannot do it now. Only its own light halves count.
 *   pawl_fence_full_after_update(tag)
 *       A full fence that directly follows a read-modify-write.
 *
 * pawl_cpu_relax() tells the CPU that this is a wait loop. */
#if PAWL_CALLS_OUT_
#include <pawl/detail/atomic_hook.h>
#else
#include <pawl/detail/atomic_native.h>
#endif

#endif
