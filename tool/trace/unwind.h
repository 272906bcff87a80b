/* SPDX-License-Identifier: MIT */
/*
 * From a frame to the frame of its caller, for stacks of waits (stack.c). It takes no lock,
 * allocates nothing, and never faults: words of the stack are copied by the kernel, which refuses
 * addresses that are not mapped, and tables are read inside the object that the loader says they
 * are in. doc/design/029 says why no library does this.
 *
 * x86-64 goes by the unwind tables of the C library's objects (cfi.c), and by the frame pointer in
 * code without tables. Elsewhere the frame pointer is all there is; the calling conventions of
 * aarch64 have it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Registers that a call preserves, and what is found with them. */
enum unwind_register {
    UNWIND_RBX,
    UNWIND_FRAME, /* rbp, x29 */
    UNWIND_R12,
    UNWIND_R13,
    UNWIND_R14,
    UNWIND_R15,
    UNWIND_SP,
    UNWIND_PC, /* where the frame goes on */
    UNWIND_REGISTERS
};

enum { UNWIND_WORDS = 64, UNWIND_PAGE = 4096 };

struct unwind {
    uint64_t value[UNWIND_REGISTERS];
    uint32_t known;     /* a bit for each register */
    bool interrupted;   /* by a signal, at `pc`; others are in the call before it */
    uint32_t thread;    /* its number in the kernel */
    uint64_t return_at; /* the word that `pc` was read from */
    uint64_t from;      /* address of the first of `words`, which are a copy of the stack */
    uint64_t count;
    uint64_t words[UNWIND_WORDS];
};

/* Where an address lies. */
struct unwind_object {
    uint64_t from, to;
    uint64_t tables; /* its section .eh_frame_hdr; 0: none */
};

#define UNWIND_HIDDEN __attribute__((visibility("hidden")))

/* True where the C library can say in which object code lies, without a lock: glibc 2.35. */
UNWIND_HIDDEN bool trace_unwind_is_possible(void);
/* False: the address is in none. */
UNWIND_HIDDEN bool trace_unwind_object(uint64_t address, struct unwind_object *found);
/* frame.c: the caller of the frame; false: the stack ends here, or what follows is not known. */
UNWIND_HIDDEN bool trace_unwind_step(struct unwind *u);
/* A word of the stack; false: there is none. */
UNWIND_HIDDEN bool trace_unwind_read(struct unwind *u, uint64_t address, uint64_t *value);

/* A return address, where these are signed, without the signature. */
UNWIND_HIDDEN uint64_t trace_unwind_without_signature(uint64_t address);

enum unwind_answer { UNWIND_DONE, UNWIND_NO_TABLE, UNWIND_END };

/* By the tables of the object that the frame's code lies in (cfi.c). */
UNWIND_HIDDEN enum unwind_answer trace_unwind_by_table(struct unwind *u);

/* The frame of the function that says this: it must stay until the stack is unwound. */
#if defined(__x86_64__)
#define TRACE_UNWIND_HERE(u)                                                                       \
    do {                                                                                           \
        (u)->known = (1u << UNWIND_REGISTERS) - 1;                                                 \
        __asm__ __volatile__("leaq 1f(%%rip), %%rax\n"                                             \
                             "1:\n\t"                                                              \
                             "movq %%rbx, 0(%0)\n\t"                                               \
                             "movq %%rbp, 8(%0)\n\t"                                               \
                             "movq %%r12, 16(%0)\n\t"                                              \
                             "movq %%r13, 24(%0)\n\t"                                              \
                             "movq %%r14, 32(%0)\n\t"                                              \
                             "movq %%r15, 40(%0)\n\t"                                              \
                             "movq %%rsp, 48(%0)\n\t"                                              \
                             "movq %%rax, 56(%0)"                                                  \
                             :                                                                     \
                             : "r"((u)->value)                                                     \
                             : "rax", "memory");                                                   \
    } while (0)
#elif defined(__aarch64__)
#define TRACE_UNWIND_HERE(u)                                                                       \
    do {                                                                                           \
        (u)->known = 1u << UNWIND_FRAME | 1u << UNWIND_SP | 1u << UNWIND_PC;                       \
        (u)->value[UNWIND_FRAME] = (uint64_t)(uintptr_t)__builtin_frame_address(0);                \
        (u)->value[UNWIND_SP] = 0;                                                                 \
        (u)->value[UNWIND_PC] = 0;                                                                 \
    } while (0)
#else
#define TRACE_UNWIND_HERE(u) ((void)((u)->known = 0))
#endif
