/* SPDX-License-Identifier: MIT */
/*
 * An increment of the CPU's own counter in a restartable sequence. It has no atomic instruction,
 * and the kernel undoes it if the thread is moved in between. The C library has registered the
 * thread.
 */
#include "costs/rows.hpp"

#if defined(__x86_64__) && defined(__linux__) && __has_include(<sys/rseq.h>)
#include <sys/rseq.h>
#define PAWL_BENCH_RSEQ 1
#else
#define PAWL_BENCH_RSEQ 0
#endif

namespace bench::costs {

#if PAWL_BENCH_RSEQ
namespace {

struct rseq *own_area()
{
    char *thread;
    __asm__("movq %%fs:0, %0" : "=r"(thread));
    return static_cast<struct rseq *>(static_cast<void *>(thread + __rseq_offset));
}

/* False: the thread was moved or interrupted before the addition, so there was none. */
inline bool add_on(std::uint32_t cpu, std::uint64_t *counter, struct rseq *area)
{
    __asm__ __volatile__ goto(
        ".pushsection __rseq_cs, \"aw\"\n\t"
        ".balign 32\n\t"
        "3: .long 0, 0\n\t"
        ".quad 1f, (2f - 1f), 4f\n\t"
        ".popsection\n\t"
        "leaq 3b(%%rip), %%rax\n\t"
        "movq %%rax, %[section]\n\t"
        "1:\n\t"
        "cmpl %[cpu], %[now]\n\t"
        "jnz 4f\n\t"
        "addq $1, %[counter]\n\t"
        "2:\n\t"
        ".pushsection __rseq_failure, \"ax\"\n\t"
        ".byte 0x0f, 0xb9, 0x3d\n\t" /* with the signature: an undefined instruction */
        ".long 0x53053053\n\t"
        "4:\n\t"
        "jmp %l[aborted]\n\t"
        ".popsection\n\t"
        :
        : [cpu] "r"(cpu), [section] "m"(area->rseq_cs), [now] "m"(area->cpu_id),
          [counter] "m"(*counter)
        : "rax", "memory", "cc"
        : aborted);
    return true;
aborted:
    return false;
}

struct alignas(256) counter {
    std::uint64_t value = 0;
};

measured increment(world &w)
{
    static std::vector<counter> counters(CPU_SETSIZE);
    measured m;
    w.threads.alone(w.first, [&] {
        struct rseq *const area = own_area();
        m = repeat_op(w.seconds, 4096, [=] {
            for (;;) {
                const std::uint32_t cpu = __atomic_load_n(&area->cpu_id_start, __ATOMIC_RELAXED);
                if (add_on(cpu, &counters[cpu].value, area))
                    return;
            }
        });
    });
    return m;
}

} // namespace
#endif

void add_rseq(rows &all)
{
    std::string why;
#if PAWL_BENCH_RSEQ
    if (__rseq_size == 0)
        why = "the C library has registered no restartable sections";
#else
    measured (*const increment)(world &) = nullptr;
    why = "we have a section only for x86-64 with glibc 2.35 or later";
#endif
    if (switched_off("PAWL_NO_RSEQ"))
        why = "switched off by PAWL_NO_RSEQ";
    add(all, "rseq", "atomics", why, increment);
}

} // namespace bench::costs
