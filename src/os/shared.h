/* SPDX-License-Identifier: MIT */
/*
 * The objects that are one per process, or one per thread, for any number of copies of the library.
 *
 * With glibc, STB_GNU_UNIQUE makes the loader bind every copy in the process to the first one, also
 * under RTLD_LOCAL. The loader then keeps the first copy's object loaded for ever. The compilers
 * have no attribute for it in C, and contradict it where they define the object themselves, so
 * assembly defines it. The names have default visibility, or the linker would bind each copy to
 * itself. A program that contains the library must be linked with --export-dynamic-symbol for each
 * name, or its plug-ins cannot see its copy. The CMake package and pkg-config do so;
 * cmake/PawlLibrary.cmake has the list.
 *
 * Other ELF systems bind the copies of all libraries loaded with the program, or with RTLD_GLOBAL,
 * to the first. A plug-in loaded with RTLD_LOCAL keeps its own copy. Windows and macOS bind names
 * to the module that has them: one object for each copy.
 *
 * Each subsystem has an object of its own, which starts as zero bytes. The copies share a pointer
 * to it. The first use reserves the object's pages and sets the pointer (shared.c), so a program
 * that does not use a subsystem has no memory for it. Untouched pages take no memory. The pages
 * stay for the life of the process, and a child of fork has them too.
 */
#ifndef PAWL_OS_SHARED_H
#define PAWL_OS_SHARED_H

#include <pawl/atomic.h>

/* Of the name `table_object`: the symbol that all copies share, and this copy's own. */
#define PAWL_SHARED_NAME_(name) PAWL_SYMBOL_(PAWL_CAT_(pawl_, name))
#define PAWL_OWN_NAME_(name) PAWL_SYMBOL_(PAWL_CAT_(pawl_own_, name))

/* Initial-exec: the system allocates a general-dynamic thread variable of a plug-in on first
 * use. */
#define PAWL_THREAD_VARIABLE_ __thread __attribute__((tls_model("initial-exec")))

#if defined(__ELF__) && defined(__GLIBC__) && !PAWL_HOOKS
#define PAWL_HAS_UNIQUE_ 1
/* One assembly statement defines the object and its names. Link-time optimisation may put an object
 * of C and the assembly that names it into different parts, and then the link fails. `own` is a
 * hidden second name: by it a copy finds whether the process uses its object (src/os/linux.c). */
#define PAWL_UNIQUE_(storage, type, name, own, section, flags)                                     \
    extern PAWL_HIDDEN_ storage type own;                                                          \
    __attribute__((used, noinline)) static void PAWL_CAT_(define_, name)(void)                     \
    {                                                                                              \
        __asm__ volatile(".pushsection " section "." #name ",\"" flags "\",%%nobits\n\t"           \
                         ".balign %c1\n\t"                                                         \
                         ".type " #name ", %%gnu_unique_object\n\t"                                \
                         ".size " #name ", %c0\n\t"                                                \
                         ".globl " #own "\n\t.hidden " #own "\n" #name ":\n" #own ":\n\t"          \
                         ".zero %c0\n\t"                                                           \
                         ".popsection"                                                             \
                         :                                                                         \
                         : "i"(sizeof(type)), "i"(_Alignof(type)));                                \
    }                                                                                              \
    struct pawl_os_shared /* the user's semicolon ends it */
#define PAWL_UNIQUE(storage, type, name, own, section, flags)                                      \
    PAWL_UNIQUE_(storage, type, name, own, section, flags)
#else
#define PAWL_HAS_UNIQUE_ 0
#endif

/* ---- One per process ------------------------------------------------------------------------- */

/* Valgrind's checkers of data races do not look at this memory of the library's (valgrind.c). */
#if PAWL_VALGRIND
#define pawl_os_told_own PAWL_SYMBOL_(pawl_os_told_own)
#define pawl_os_told_plain PAWL_SYMBOL_(pawl_told_plain)
void pawl_os_told_own(void *memory, size_t size);
#else
#define pawl_os_told_own(memory, size) ((void)(size))
#define pawl_os_told_plain(memory, size) ((void)(size))
#endif

/* For the tests that include these headers in C++. */
#ifdef __cplusplus
#define PAWL_SHARED_LINKAGE_ extern "C"
#else
#define PAWL_SHARED_LINKAGE_ extern
#endif

/* PAWL_SHARED_DECLARE(type, name) in a header, PAWL_SHARED_DEFINE(type, name) in one source, and
 * PAWL_SHARED(type, name), its address. */
#if PAWL_HOOKS

/* A harness may start an execution anew (pawl_forget_) and learn of each use. */
struct pawl_os_shared {
    void *object;
    size_t size;
    struct pawl_os_shared *next;
};

#define pawl_os_add_shared PAWL_SYMBOL_(pawl_os_add_shared)
void pawl_os_add_shared(struct pawl_os_shared *shared);

#define PAWL_SHARED_DECLARE(type, name)                                                            \
    PAWL_SHARED_LINKAGE_ PAWL_HIDDEN_ type PAWL_SHARED_NAME_(name)
#define PAWL_SHARED_DEFINE(type, name)                                                             \
    type PAWL_SHARED_NAME_(name);                                                                  \
    __attribute__((constructor)) static void PAWL_CAT_(add_, name)(void)                           \
    {                                                                                              \
        static struct pawl_os_shared shared = {&PAWL_SHARED_NAME_(name),                           \
                                               sizeof PAWL_SHARED_NAME_(name), NULL};              \
        pawl_os_add_shared(&shared);                                                               \
    }                                                                                              \
    struct pawl_os_shared /* the user's semicolon ends it */
#define PAWL_SHARED(type, name) ((type *)pawl_hook_shared(&PAWL_SHARED_NAME_(name)))

#else

#if defined(__ELF__)
#define PAWL_SHARED_POINTER_(name)                                                                 \
    PAWL_SHARED_LINKAGE_ PAWL_API pawl_address_ PAWL_SHARED_NAME_(name)
#else
#define PAWL_SHARED_POINTER_(name)                                                                 \
    PAWL_SHARED_LINKAGE_ PAWL_HIDDEN_ pawl_address_ PAWL_SHARED_NAME_(name)
#endif
#if PAWL_HAS_UNIQUE_
#define PAWL_SHARED_PLACE_(name)                                                                   \
    PAWL_UNIQUE(, pawl_address_, PAWL_SHARED_NAME_(name), PAWL_OWN_NAME_(name), ".bss", "aw")
#else
#define PAWL_SHARED_PLACE_(name) pawl_address_ PAWL_SHARED_NAME_(name)
#endif

/* The object at *pointer, of so many bytes; reserves it at the first use. Signal-safe. Ends the
 * program where the system gives no memory. */
#define pawl_os_shared PAWL_SYMBOL_(pawl_os_shared)
void *pawl_os_shared(pawl_address_ *pointer, size_t size) __attribute__((returns_nonnull));

/* The pointer never changes once it is set, so the compiler may call the function once for many
 * uses. */
#define PAWL_SHARED_AT_(name) PAWL_SYMBOL_(PAWL_CAT_(pawl_at_, name))
#define PAWL_SHARED_DECLARE(type, name)                                                            \
    PAWL_SHARED_POINTER_(name);                                                                    \
    PAWL_SHARED_LINKAGE_ PAWL_HIDDEN_ type *PAWL_SHARED_AT_(name)(void)                            \
        __attribute__((const, returns_nonnull))
#define PAWL_SHARED_DEFINE(type, name)                                                             \
    PAWL_SHARED_PLACE_(name);                                                                      \
    type *PAWL_SHARED_AT_(name)(void)                                                              \
    {                                                                                              \
        return (type *)pawl_os_shared(&PAWL_SHARED_NAME_(name), sizeof(type));                     \
    }                                                                                              \
    struct pawl_os_shared /* the user's semicolon ends it */
#define PAWL_SHARED(type, name) PAWL_SHARED_AT_(name)()

#endif

/* ---- One per thread --------------------------------------------------------------------------
 * PAWL_THREAD_SHARED_DEFINE(type, name): `name` is declared before, in a public header where a fast
 * path reads it. */
#if PAWL_HAS_UNIQUE_
#define PAWL_THREAD_SHARED_DEFINE(type, name)                                                      \
    PAWL_UNIQUE(PAWL_THREAD_VARIABLE_, type, PAWL_SHARED_NAME_(name), PAWL_OWN_NAME_(name),        \
                ".tbss", "awT")
#else
#define PAWL_THREAD_SHARED_DEFINE(type, name)                                                      \
    PAWL_API PAWL_THREAD_VARIABLE_ type PAWL_SHARED_NAME_(name)
#endif

#endif
