/* SPDX-License-Identifier: MIT */
/*
 * dlopen and dlmopen without RTLD_DEEPBIND. A library that is loaded with it finds the C library's
 * locks before those of the preload libraries, and would use them on memory that is laid out in
 * another way: nobody would be excluded. So the flag is left out, and standard error gets one
 * sentence. A namespace of its own has its own C library, so there the sentence is all.
 *
 * The C library asks where it was called from: the caller's RUNPATH and namespace count. So this is
 * no function that calls another one: it lets the C part look, and then jumps, and the caller's
 * return address stays.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>

#include <pawl/atomic.h>

#include "export.h"
#include "mode.h"

_Static_assert(RTLD_DEEPBIND == 8, "the bit that the code below clears");

static void *next_dlopen, *next_dlmopen;
static pthread_once_t found = PTHREAD_ONCE_INIT;

static void find_both(void)
{
    next_dlopen = dlsym(RTLD_NEXT, "dlopen");
    next_dlmopen = dlsym(RTLD_NEXT, "dlmopen");
    if (next_dlopen == NULL || next_dlmopen == NULL)
        shim_refuse("there is no dlopen behind it. It serves programs of the GNU C library only; "
                    "start this one without it");
}

static void say_once(uint32_t *said, const char *sentence)
{
    if (pawl_fetch_add_relaxed32(said, 1) == 0)
        shim_complain(sentence);
}

static void look_at_flags(const char *file, int flags)
{
    static uint32_t said;
    if (file != NULL && (flags & RTLD_DEEPBIND) != 0)
        say_once(&said, "libpawl-preload: the program loads a library with RTLD_DEEPBIND, which "
                        "would find the C library's locks; the flag is left out.\n");
    (void)pthread_once(&found, find_both);
}

/* The function to jump to. */
__attribute__((used)) PAWL_HIDDEN_ void *shim_before_dlopen(const char *file, int flags);
__attribute__((used)) PAWL_HIDDEN_ void *shim_before_dlmopen(Lmid_t space, const char *file,
                                                             int flags);

void *shim_before_dlopen(const char *file, int flags)
{
    look_at_flags(file, flags);
    return next_dlopen;
}

void *shim_before_dlmopen(Lmid_t space, const char *file, int flags)
{
    static uint32_t said;
    if (space != LM_ID_BASE)
        say_once(&said, "libpawl-preload: the program loads a library into a namespace of its own, "
                        "whose locks are the C library's; it must share none with the program.\n");
    look_at_flags(space == LM_ID_BASE ? file : NULL, flags);
    return next_dlmopen;
}

/* SHIM_JUMP(own, before, flags): the arguments are kept over the call of `before`. Then the flag is
 * cleared in its place, and the code goes on where `before` says. */
#if defined(__x86_64__)
#define SHIM_DLOPEN_FLAGS "%esi"
#define SHIM_DLMOPEN_FLAGS "%edx"
#define SHIM_JUMP(own, before, flags)                                                              \
    __asm__(".text\n.p2align 4\n.type " #own ", %function\n" #own ":\n"                            \
            ".cfi_startproc\n\tendbr64\n"                                                          \
            "\tpushq %rdi\n\t.cfi_adjust_cfa_offset 8\n"                                           \
            "\tpushq %rsi\n\t.cfi_adjust_cfa_offset 8\n"                                           \
            "\tpushq %rdx\n\t.cfi_adjust_cfa_offset 8\n"                                           \
            "\tcall " #before "\n"                                                                 \
            "\tpopq %rdx\n\t.cfi_adjust_cfa_offset -8\n"                                           \
            "\tpopq %rsi\n\t.cfi_adjust_cfa_offset -8\n"                                           \
            "\tpopq %rdi\n\t.cfi_adjust_cfa_offset -8\n"                                           \
            "\tandl $-9, " flags "\n\tjmp *%rax\n"                                                 \
            ".cfi_endproc\n.size " #own ", .-" #own "\n")
#elif defined(__i386__)
/* Of three words the last argument comes first; a dlopen has two, and what is behind them. */
#define SHIM_DLOPEN_FLAGS "8(%esp)"
#define SHIM_DLMOPEN_FLAGS "12(%esp)"
#define SHIM_JUMP(own, before, flags)                                                              \
    __asm__(".text\n.p2align 4\n.type " #own ", %function\n" #own ":\n"                            \
            ".cfi_startproc\n\tendbr32\n"                                                          \
            "\tpushl 12(%esp)\n\t.cfi_adjust_cfa_offset 4\n"                                       \
            "\tpushl 12(%esp)\n\t.cfi_adjust_cfa_offset 4\n"                                       \
            "\tpushl 12(%esp)\n\t.cfi_adjust_cfa_offset 4\n"                                       \
            "\tcall " #before "\n"                                                                 \
            "\taddl $12, %esp\n\t.cfi_adjust_cfa_offset -12\n"                                     \
            "\tandl $-9, " flags "\n\tjmp *%eax\n"                                                 \
            ".cfi_endproc\n.size " #own ", .-" #own "\n")
#else
#define SHIM_DLOPEN_FLAGS "w1"
#define SHIM_DLMOPEN_FLAGS "w2"
#define SHIM_JUMP(own, before, flags)                                                              \
    __asm__(".text\n.p2align 4\n.type " #own ", %function\n" #own ":\n"                            \
            ".cfi_startproc\n\thint #34\n"                                                         \
            "\tstp x29, x30, [sp, #-48]!\n\t.cfi_adjust_cfa_offset 48\n"                           \
            "\t.cfi_rel_offset x29, 0\n\t.cfi_rel_offset x30, 8\n"                                 \
            "\tstp x0, x1, [sp, #16]\n\tstr x2, [sp, #32]\n"                                       \
            "\tbl " #before "\n\tmov x16, x0\n"                                                    \
            "\tldp x0, x1, [sp, #16]\n\tldr x2, [sp, #32]\n"                                       \
            "\tldp x29, x30, [sp], #48\n\t.cfi_adjust_cfa_offset -48\n"                            \
            "\t.cfi_restore x29\n\t.cfi_restore x30\n"                                             \
            "\tand " flags ", " flags ", #0xfffffff7\n\tbr x16\n"                                  \
            ".cfi_endproc\n.size " #own ", .-" #own "\n")
#endif

SHIM_JUMP(shim_dlopen, shim_before_dlopen, SHIM_DLOPEN_FLAGS);
SHIM_JUMP(shim_dlmopen, shim_before_dlmopen, SHIM_DLMOPEN_FLAGS);

/* As SHIM_BOTH, for names that the compiler does not know. */
#define SHIM_OPEN_(own, other, name, sign, version)                                                \
    __asm__(".globl " #other "\n.type " #other ", %function\n.set " #other ", " #own               \
            "\n.symver " #other ", " #name sign version "\n")
SHIM_OPEN_(shim_dlopen, shim_first_dlopen, dlopen, "@", SHIM_V_DLOPEN);
SHIM_OPEN_(shim_dlopen, shim_now_dlopen, dlopen, "@@", SHIM_V_NOW);
SHIM_OPEN_(shim_dlmopen, shim_first_dlmopen, dlmopen, "@", SHIM_V_DLMOPEN);
SHIM_OPEN_(shim_dlmopen, shim_now_dlmopen, dlmopen, "@@", SHIM_V_NOW);
