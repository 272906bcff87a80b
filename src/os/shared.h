/* SPDX-License-Identifier: MIT */
/*
 * The objects that are one per process, or one per thread, for any number of copies of the library.
 *
 * A copy finds the others by ELF notes, which need no dynamic symbol table (copies.c). Each object
 * and each variable has a note with its name, the version and the variant. The first copy of the
 * process that has the name is the one that all use. So it does not matter whether a program shows
 * its symbols, how a plug-in was loaded, and what the C library knows.
 *
 * The names are symbols, too. Where the loader binds two copies to one variable of the thread, the
 * inline functions of both have it at hand. With glibc, STB_GNU_UNIQUE makes the loader do so under
 * RTLD_LOCAL as well. The compilers have no attribute for it in C, and contradict it where they
 * define the object themselves, so assembly defines it. A program that contains the library is
 * linked with --export-dynamic-symbol for each name, by the CMake package and pkg-config
 * (PawlLibrary.cmake). Without these, its plug-ins' inline functions find their own variables
 * zero for ever, and call the compiled ones. These use the first copy's variables.
 *
 * Windows and macOS bind names to the module that has them: one object for each copy.
 *
 * Each subsystem has an object of its own, which starts as zero bytes. The copies share a pointer
 * to it. The first use reserves the object's pages and sets the pointer (shared.c), so a program
 * that does not use a subsystem has no memory for it. Untouched pages take no memory. The pages
 * stay for the life of the process, and a child of fork has them too.
 */
#ifndef PAWL_OS_SHARED_H
#define PAWL_OS_SHARED_H

#include <pawl/atomic.h>

/* Of the name `table_object`: the symbol. */
#define PAWL_SHARED_NAME_(name) PAWL_SYMBOL_(PAWL_CAT_(pawl_, name))

/* For the tests that include these headers in C++. */
#ifdef __cplusplus
#define PAWL_SHARED_LINKAGE_ extern "C"
#else
#define PAWL_SHARED_LINKAGE_ extern
#endif

/* Initial-exec: the system allocates a general-dynamic thread variable of a plug-in on first
 * use. */
#define PAWL_THREAD_VARIABLE_ __thread __attribute__((tls_model("initial-exec")))

#if defined(__ELF__) && defined(__GLIBC__) && !PAWL_HOOKS
/* One assembly statement defines the object and its name. Link-time optimisation may put an object
 * of C and the assembly that names it into different parts, and then the link fails. */
#define PAWL_UNIQUE_(type, name, section, value)                                                   \
    __attribute__((used, noinline)) static void PAWL_CAT_(define_, name)(void)                     \
    {                                                                                              \
        __asm__ volatile(".pushsection " section "\n\t"                                            \
                         ".balign %c1\n\t"                                                         \
                         ".type " #name ", %%gnu_unique_object\n\t"                                \
                         ".size " #name ", %c0\n" #name ":\n\t" value "\n\t"                       \
                         ".popsection"                                                             \
                         :                                                                         \
                         : "i"(sizeof(type)), "i"(_Alignof(type)));                                \
    }                                                                                              \
    struct pawl_os_shared /* the user's semicolon ends it */
#define PAWL_UNIQUE_ZERO_(type, name)                                                              \
    PAWL_UNIQUE_(type, name, ".bss." #name ",\"aw\",%%nobits", ".zero %c0")
#define PAWL_UNIQUE_THREAD_(type, name, first)                                                     \
    PAWL_UNIQUE_(type, name, ".tdata." #name ",\"awT\",%%progbits", ".dc.a " #first)
/* These expand the names first. */
#define PAWL_UNIQUE_ZERO(type, name) PAWL_UNIQUE_ZERO_(type, name)
#define PAWL_UNIQUE_THREAD(type, name, first) PAWL_UNIQUE_THREAD_(type, name, first)
#define PAWL_HAS_UNIQUE_ 1
#else
#define PAWL_HAS_UNIQUE_ 0
#endif

/* ---- Copies that find each other ------------------------------------------------------------- */

/* PAWL_SHARED_PLACE(type, name): the address of the object's pointer, or of the caller's variable,
 * in the copy of the library that all use.
 *
 * PAWL_FROM_NAME_(name) is NULL where that is what the name means here. Else it is the function
 * that knows the place, of another copy. At first it is PAWL_BIND_NAME_(name), which looks for the
 * other copies. That has happened before the constructors of the program run, unless another module
 * uses this one still earlier. */
#if defined(__ELF__) && (defined(__linux__) || defined(__FreeBSD__)) && !PAWL_CALLS_OUT_
#define PAWL_FINDS_COPIES_ 1

#define PAWL_FROM_NAME_(name) PAWL_SYMBOL_(PAWL_CAT_(pawl_from_, name))
#define PAWL_PLACE_NAME_(name) PAWL_SYMBOL_(PAWL_CAT_(pawl_place_, name))
#define PAWL_BIND_NAME_(name) PAWL_SYMBOL_(PAWL_CAT_(pawl_bind_, name))

/* Looks for the other copies, once. */
#define pawl_os_find_copies PAWL_SYMBOL_(pawl_os_find_copies)
PAWL_HIDDEN_ void pawl_os_find_copies(void);

/* The body of PAWL_BIND_NAME_(name), which is `bind`. Sets *from, and returns the place in the copy
 * that all use. */
#define pawl_os_bind PAWL_SYMBOL_(pawl_os_bind)
PAWL_SHARED_LINKAGE_ PAWL_HIDDEN_ void *pawl_os_bind(void *(**from)(void), void *(*bind)(void),
                                                     void *(*place)(void));

/* Whether a copy of another version or variant was here first, or this copy is in a namespace of
 * dlmopen: nothing of the process is known then but what this copy itself does. */
#define pawl_os_is_stranger PAWL_SYMBOL_(pawl_os_is_stranger)
PAWL_HIDDEN_ bool pawl_os_is_stranger(void);

/* For a caller that meets a lock whose readers scale: a stranger cannot see them, and would let a
 * writer in beside them. It ends the program. */
#define pawl_os_must_be_known PAWL_SYMBOL_(pawl_os_must_be_known)
PAWL_HIDDEN_ void pawl_os_must_be_known(void);

/* Whether this copy lies in the program itself, and not in a library. */
#define pawl_os_in_program PAWL_SYMBOL_(pawl_os_in_program)
PAWL_HIDDEN_ bool pawl_os_in_program(void);

/* The description of a note: where PAWL_PLACE_NAME_(name) and PAWL_FROM_NAME_(name) are, as
 * distances from the fields, the name, and the version with the variant. copies.c reads it. */
#define PAWL_NOTE_TEXT_(name) #name
#define PAWL_NOTE_(name, place, from, version)                                                     \
    __asm__(".pushsection .note.pawl,\"a\",%note\n\t"                                              \
            ".balign 4\n\t"                                                                        \
            ".long 5, 2f - 1f, 1\n\t"                                                              \
            ".asciz \"Pawl\"\n\t"                                                                  \
            ".balign 4\n"                                                                          \
            "1:\t.long " PAWL_NOTE_TEXT_(place) " - .\n\t"                                         \
                                                ".long " PAWL_NOTE_TEXT_(                          \
                                                    from) " - .\n\t"                               \
                                                          ".asciz \"" name "\"\n\t"                \
                                                          ".asciz \"" PAWL_NOTE_TEXT_(             \
                                                              version) "\"\n"                      \
                                                                       "2:\t.balign 4\n\t"         \
                                                                       ".popsection")
#define PAWL_SHARED_FOUND_(type, name)                                                             \
    PAWL_HIDDEN_ extern void *(*PAWL_FROM_NAME_(name))(void);                                      \
    PAWL_HIDDEN_ __attribute__((used)) void *PAWL_PLACE_NAME_(name)(void);                         \
    void *PAWL_PLACE_NAME_(name)(void)                                                             \
    {                                                                                              \
        return &PAWL_SHARED_NAME_(name);                                                           \
    }                                                                                              \
    static void *PAWL_BIND_NAME_(name)(void)                                                       \
    {                                                                                              \
        return pawl_os_bind(&PAWL_FROM_NAME_(name), PAWL_BIND_NAME_(name),                         \
                            PAWL_PLACE_NAME_(name));                                               \
    }                                                                                              \
    __attribute__((used)) void *(*PAWL_FROM_NAME_(name))(void) = PAWL_BIND_NAME_(name);            \
    PAWL_NOTE_(#name, PAWL_PLACE_NAME_(name), PAWL_FROM_NAME_(name), PAWL_SYMBOL_(pawl))
#define PAWL_SHARED_PLACE(type, name)                                                              \
    (PAWL_LIKELY(PAWL_FROM_NAME_(name) == NULL) ? &PAWL_SHARED_NAME_(name)                         \
                                                : (type *)PAWL_FROM_NAME_(name)())
#define PAWL_SHARED_FROM_(name)                                                                    \
    PAWL_SHARED_LINKAGE_ PAWL_HIDDEN_ void *(*PAWL_FROM_NAME_(name))(void)
#else
#define PAWL_FINDS_COPIES_ 0
#define pawl_os_find_copies() ((void)0)
#define pawl_os_is_stranger() false
#define pawl_os_must_be_known() ((void)0)
#define PAWL_SHARED_PLACE(type, name) (&PAWL_SHARED_NAME_(name))
#define PAWL_SHARED_FOUND_(type, name) struct pawl_os_shared
#define PAWL_SHARED_FROM_(name) struct pawl_os_shared
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

/* PAWL_SHARED_DECLARE(type, name) in a header, PAWL_SHARED_DEFINE(type, name) in one source, and
 * PAWL_SHARED(type, name), its address. PAWL_SHARED_IS_THERE(name): somebody has asked for it, and
 * got it. PAWL_SHARED_ASK(type, name): asks for it, and is false where the system gives no memory.
 */
#if PAWL_HOOKS

/* A harness may start an execution anew (ipawl_forget_) and learn of each use. */
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
#define PAWL_SHARED_IS_THERE(name) true

#else

#if defined(__ELF__)
#define PAWL_SHARED_POINTER_(name)                                                                 \
    PAWL_SHARED_LINKAGE_ PAWL_API ipawl_address_ PAWL_SHARED_NAME_(name)
#else
#define PAWL_SHARED_POINTER_(name)                                                                 \
    PAWL_SHARED_LINKAGE_ PAWL_HIDDEN_ ipawl_address_ PAWL_SHARED_NAME_(name)
#endif
#if PAWL_HAS_UNIQUE_
#define PAWL_SHARED_DEFINED_(name) PAWL_UNIQUE_ZERO(ipawl_address_, PAWL_SHARED_NAME_(name))
#else
#define PAWL_SHARED_DEFINED_(name) ipawl_address_ PAWL_SHARED_NAME_(name)
#endif

/* The object at *pointer, of so many bytes; reserves it at the first use. Signal-safe. Ends the
 * program where the system gives no memory. */
#define pawl_os_shared PAWL_SYMBOL_(pawl_os_shared)
void *pawl_os_shared(ipawl_address_ *pointer, size_t size) __attribute__((returns_nonnull));
/* The same, but NULL where the system gives no memory. */
#define pawl_os_shared_or_none PAWL_SYMBOL_(pawl_os_shared_or_none)
PAWL_SHARED_LINKAGE_ void *pawl_os_shared_or_none(ipawl_address_ *pointer, size_t size);

/* The pointer never changes once it is set, so the compiler may call the function once for many
 * uses. */
#define PAWL_SHARED_AT_(name) PAWL_SYMBOL_(PAWL_CAT_(pawl_at_, name))
#define PAWL_SHARED_DECLARE(type, name)                                                            \
    PAWL_SHARED_POINTER_(name);                                                                    \
    PAWL_SHARED_FROM_(name);                                                                       \
    PAWL_SHARED_LINKAGE_ PAWL_HIDDEN_ type *PAWL_SHARED_AT_(name)(void)                            \
        __attribute__((const, returns_nonnull))
#define PAWL_SHARED_DEFINE(type, name)                                                             \
    PAWL_SHARED_DEFINED_(name);                                                                    \
    PAWL_SHARED_FOUND_(ipawl_address_, name);                                                      \
    type *PAWL_SHARED_AT_(name)(void)                                                              \
    {                                                                                              \
        return (type *)pawl_os_shared(PAWL_SHARED_PLACE(ipawl_address_, name), sizeof(type));      \
    }                                                                                              \
    struct pawl_os_shared /* the user's semicolon ends it */
/* PAWL_SHARED_DEFINE_ITSELF(type, name): one that is there from the start, as zero bytes. */
#if PAWL_HAS_UNIQUE_
#define PAWL_SHARED_ITSELF_(type, name) PAWL_UNIQUE_ZERO(type, PAWL_SHARED_NAME_(name))
#else
#define PAWL_SHARED_ITSELF_(type, name) type PAWL_SHARED_NAME_(name)
#endif
#define PAWL_SHARED_DEFINE_ITSELF(type, name)                                                      \
    PAWL_SHARED_LINKAGE_ PAWL_API type PAWL_SHARED_NAME_(name);                                    \
    PAWL_SHARED_ITSELF_(type, name);                                                               \
    PAWL_SHARED_FOUND_(type, name)
#define PAWL_SHARED(type, name) PAWL_SHARED_AT_(name)()
#define PAWL_SHARED_IS_THERE(name)                                                                 \
    (PAWL_ADDRESS_(pawl_load_relaxed)(PAWL_SHARED_PLACE(ipawl_address_, name)) != 0)
#define PAWL_SHARED_ASK(type, name)                                                                \
    (pawl_os_shared_or_none(PAWL_SHARED_PLACE(ipawl_address_, name), sizeof(type)) != NULL)

#endif

/* ---- One per thread --------------------------------------------------------------------------
 * PAWL_THREAD_SHARED_DEFINE(type, name): a pointer that first is NULL. `name` is declared before
 * (detail/own.h). PAWL_THREAD_SHARED_DEFINE_AS(type, name, first): it first has the address of
 * `first`, a symbol that is no static one. tests/package/plugins.sh limits their number. */
#if PAWL_HAS_UNIQUE_
#define PAWL_THREAD_DEFINED_(type, name) PAWL_UNIQUE_THREAD(type, PAWL_SHARED_NAME_(name), 0)
#define PAWL_THREAD_DEFINED_AS_(type, name, first)                                                 \
    PAWL_UNIQUE_THREAD(type, PAWL_SHARED_NAME_(name), first)
#else
#define PAWL_THREAD_DEFINED_(type, name) PAWL_API PAWL_THREAD_VARIABLE_ type PAWL_SHARED_NAME_(name)
#define PAWL_THREAD_DEFINED_AS_(type, name, first)                                                 \
    PAWL_THREAD_DEFINED_(type, name) = (type)(uintptr_t)&(first)
#endif
#define PAWL_THREAD_SHARED_DEFINE(type, name)                                                      \
    PAWL_THREAD_DEFINED_(type, name);                                                              \
    PAWL_SHARED_FOUND_(type, name)
#define PAWL_THREAD_SHARED_DEFINE_AS(type, name, first)                                            \
    PAWL_THREAD_DEFINED_AS_(type, name, first);                                                    \
    PAWL_SHARED_FOUND_(type, name)

#endif
