/* SPDX-License-Identifier: MIT */
/*
 * The library's instructions that C cannot express; internal. All other headers are plain C.
 *
 *   ipawl_cell_bump_   adds to a cell of the calling thread. If a signal handler of the same thread
 *                     does so too, no addition is lost.
 *   ipawl_rseq_*_      restartable sequences of Linux, as glibc 2.35 and later registers them:
 *                     loads, tests and then one store. The kernel sends the thread to an abort
 *                     handler if, between the first load and the store, it is preempted, takes a
 *                     signal, or is shut out (pawl_os_shut_out).
 *
 * Each sequence returns true when its store was made, and false when a test refused or the kernel
 * aborted it. The caller then calls a compiled function, so a debugger that steps through one makes
 * progress. Each sequence clears rseq->rseq_cs at its end: the kernel reads the descriptor that the
 * field names, and the descriptor may lie in a plug-in that is unloaded.
 */
#ifndef PAWL_RSEQ_H
#define PAWL_RSEQ_H

#include <pawl/atomic.h>

/* 1 where the sequences exist. Whether the running system has them is known only at run time. */
#if !PAWL_CALLS_OUT_ && defined(__linux__) && defined(__LP64__) &&                                 \
    (defined(__x86_64__) || (defined(__aarch64__) && defined(__AARCH64EL__)))
#define PAWL_RSEQ_ 1
#else
#define PAWL_RSEQ_ 0
#endif

/* Distance of two CPUs' cells in bytes, as a power of two. */
#define PAWL_RSEQ_CPU_SHIFT 18

PAWL_INLINE_BEGIN

/* Adds to the calling thread's own cell; no other thread writes it. */
#if !PAWL_CALLS_OUT_ && defined(__x86_64__)
PAWL_INLINE PAWL_ALWAYS_INLINE_ void ipawl_cell_bump_(uint64_t *cell, uint64_t n)
{
    /* One instruction: a signal comes before or after it. It needs no lock prefix, because no other
     * CPU writes the cell. */
    __asm__ volatile("addq %1, %0" : "+m"(*cell) : "er"(n) : "cc");
}
#else
PAWL_INLINE PAWL_ALWAYS_INLINE_ void ipawl_cell_bump_(uint64_t *cell, uint64_t n)
{
    (void)pawl_fetch_add_relaxed64(cell, n);
}
#endif

#if PAWL_RSEQ_ && defined(__x86_64__)

/* struct rseq: cpu_id at 4, rseq_cs at 8. The bytes 0f b9 3d before the signature make it the
 * operand of an instruction that traps (ud1), as the kernel's ABI suggests. */
#define PAWL_RSEQ_BEGIN_                                                                           \
    ".pushsection __rseq_cs, \"aw?\"\n\t"                                                          \
    ".balign 32\n"                                                                                 \
    "3:\t.long 0, 0\n\t"                                                                           \
    ".quad 1f, 2f - 1f, 4f\n\t"                                                                    \
    ".popsection\n\t"                                                                              \
    "leaq 3b(%%rip), %%rax\n\t"                                                                    \
    "movq %%rax, 8(%[rseq])\n"                                                                     \
    "1:\t"
#define PAWL_RSEQ_END_                                                                             \
    "\n2:\tmovq $0, 8(%[rseq])\n\t"                                                                \
    ".pushsection .text.pawl_rseq, \"ax?\"\n\t"                                                    \
    ".byte 0x0f, 0xb9, 0x3d\n\t"                                                                   \
    ".long 0x53053053\n"                                                                           \
    "4:\n"                                                                                         \
    "5:\tmovq $0, 8(%[rseq])\n\t"                                                                  \
    "jmp %l[refused]\n\t"                                                                          \
    ".popsection"

#define PAWL_RSEQ_NUMBER_ "er"
#define PAWL_RSEQ_OPEN_ "ri"
#define PAWL_RSEQ_USED_ "rax", "memory", "cc"
#define PAWL_RSEQ_ADD_IF_                                                                          \
    "cmpl %[open], (%[gate])\n\t"                                                                  \
    "jne 5f\n\t"                                                                                   \
    "movq (%[cell]), %%rax\n\t"                                                                    \
    "addq %[n], %%rax\n\t"                                                                         \
    "cmpq %[bound], %%rax\n\t"                                                                     \
    "ja 5f\n\t"                                                                                    \
    "movq %%rax, (%[cell])"
#define PAWL_RSEQ_ADD_PHASE_                                                                       \
    "movl (%[phase]), %%eax\n\t"                                                                   \
    "cmpl $1, %%eax\n\t"                                                                           \
    "ja 5f\n\t"                                                                                    \
    "addq %[n], (%[cells],%%rax,8)"
#define PAWL_RSEQ_ADD_CPU_                                                                         \
    "movl 4(%[rseq]), %%eax\n\t"                                                                   \
    "cmpl %[limit], %%eax\n\t"                                                                     \
    "jae 5f\n\t"                                                                                   \
    "shlq %[shift], %%rax\n\t"                                                                     \
    "addq %[n], (%[first],%%rax)"

#elif PAWL_RSEQ_ /* aarch64 */

#define PAWL_RSEQ_BEGIN_                                                                           \
    ".pushsection __rseq_cs, \"aw?\"\n\t"                                                          \
    ".balign 32\n"                                                                                 \
    "3:\t.long 0, 0\n\t"                                                                           \
    ".quad 1f, 2f - 1f, 4f\n\t"                                                                    \
    ".popsection\n\t"                                                                              \
    "adrp x9, 3b\n\t"                                                                              \
    "add x9, x9, :lo12:3b\n\t"                                                                     \
    "str x9, [%[rseq], #8]\n"                                                                      \
    "1:\t"
/* Conditional branches reach 1 MiB, so the abort path stays in the same section. The signature is
 * an instruction that traps (brk #0x45e0). */
#define PAWL_RSEQ_END_                                                                             \
    "\n2:\tstr xzr, [%[rseq], #8]\n\t"                                                             \
    "b 6f\n\t"                                                                                     \
    ".inst 0xd428bc00\n"                                                                           \
    "4:\n"                                                                                         \
    "5:\tstr xzr, [%[rseq], #8]\n\t"                                                               \
    "b %l[refused]\n"                                                                              \
    "6:"
#define PAWL_RSEQ_NUMBER_ "r"
#define PAWL_RSEQ_OPEN_ "r"
#define PAWL_RSEQ_USED_ "x9", "x10", "memory", "cc"
#define PAWL_RSEQ_ADD_IF_                                                                          \
    "ldar w9, [%[gate]]\n\t"                                                                       \
    "cmp w9, %w[open]\n\t"                                                                         \
    "b.ne 5f\n\t"                                                                                  \
    "ldr x9, [%[cell]]\n\t"                                                                        \
    "add x9, x9, %[n]\n\t"                                                                         \
    "cmp x9, %[bound]\n\t"                                                                         \
    "b.hi 5f\n\t"                                                                                  \
    "stlr x9, [%[cell]]"
#define PAWL_RSEQ_ADD_PHASE_                                                                       \
    "ldar w9, [%[phase]]\n\t"                                                                      \
    "cmp w9, #1\n\t"                                                                               \
    "b.hi 5f\n\t"                                                                                  \
    "add x9, %[cells], x9, lsl #3\n\t"                                                             \
    "ldr x10, [x9]\n\t"                                                                            \
    "add x10, x10, %[n]\n\t"                                                                       \
    "str x10, [x9]"
#define PAWL_RSEQ_ADD_CPU_                                                                         \
    "ldr w9, [%[rseq], #4]\n\t"                                                                    \
    "cmp w9, %w[limit]\n\t"                                                                        \
    "b.hs 5f\n\t"                                                                                  \
    "add x9, %[first], x9, lsl %[shift]\n\t"                                                       \
    "ldr x10, [x9]\n\t"                                                                            \
    "add x10, x10, %[n]\n\t"                                                                       \
    "str x10, [x9]"
#endif

#if PAWL_RSEQ_

/* Runs to its end on one CPU, and the caller returns true; else nothing is done. */
#define PAWL_RSEQ_RUN_(steps, ...)                                                                 \
    __asm__ goto volatile(PAWL_RSEQ_BEGIN_ steps PAWL_RSEQ_END_                                    \
                          :                                                                        \
                          : [rseq] "r"(rseq), [n] PAWL_RSEQ_NUMBER_(n), __VA_ARGS__                \
                          : PAWL_RSEQ_USED_                                                        \
                          : refused);                                                              \
    return true;                                                                                   \
    refused:                                                                                       \
    return false

/* If *gate == open and *cell + n <= bound: *cell += n. The gate is loaded with acquire, the cell is
 * stored with release order. */
PAWL_INLINE PAWL_ALWAYS_INLINE_ bool ipawl_rseq_add_if_(char *rseq, uint64_t *cell, uint64_t n,
                                                        uint64_t bound, const uint32_t *gate,
                                                        uint32_t open)
{
    PAWL_RSEQ_RUN_(PAWL_RSEQ_ADD_IF_, [cell] "r"(cell), [bound] PAWL_RSEQ_NUMBER_(bound),
                   [gate] "r"(gate), [open] PAWL_RSEQ_OPEN_(open));
}

/* If *phase <= 1: cells[*phase] += n. */
PAWL_INLINE PAWL_ALWAYS_INLINE_ bool ipawl_rseq_add_phase_(char *rseq, uint64_t *cells, uint64_t n,
                                                           const uint32_t *phase)
{
    PAWL_RSEQ_RUN_(PAWL_RSEQ_ADD_PHASE_, [cells] "r"(cells), [phase] "r"(phase));
}

/* If the CPU's number is below `limit`: adds n to its cell. */
PAWL_INLINE PAWL_ALWAYS_INLINE_ bool ipawl_rseq_add_cpu_(char *rseq, char *first, uint64_t n,
                                                         uint32_t limit)
{
    PAWL_RSEQ_RUN_(PAWL_RSEQ_ADD_CPU_, [first] "r"(first), [limit] "r"(limit),
                   [shift] "i"(PAWL_RSEQ_CPU_SHIFT));
}

#else /* no sequences: never called, because no thread has an rseq area */

PAWL_INLINE bool ipawl_rseq_add_if_(char *rseq, uint64_t *cell, uint64_t n, uint64_t bound,
                                    const uint32_t *gate, uint32_t open)
{
    (void)rseq, (void)cell, (void)n, (void)bound, (void)gate, (void)open;
    return false;
}

PAWL_INLINE bool ipawl_rseq_add_phase_(char *rseq, uint64_t *cells, uint64_t n,
                                       const uint32_t *phase)
{
    (void)rseq, (void)cells, (void)n, (void)phase;
    return false;
}

PAWL_INLINE bool ipawl_rseq_add_cpu_(char *rseq, char *first, uint64_t n, uint32_t limit)
{
    (void)rseq, (void)first, (void)n, (void)limit;
    return false;
}

#endif

#undef PAWL_RSEQ_BEGIN_
#undef PAWL_RSEQ_END_
#undef PAWL_RSEQ_NUMBER_
#undef PAWL_RSEQ_OPEN_
#undef PAWL_RSEQ_USED_
#undef PAWL_RSEQ_ADD_IF_
#undef PAWL_RSEQ_ADD_PHASE_
#undef PAWL_RSEQ_ADD_CPU_
#undef PAWL_RSEQ_RUN_

PAWL_INLINE_END

#endif
