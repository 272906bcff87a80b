/* SPDX-License-Identifier: MIT */
/*
 * For the build that counts what is executed: a program that ends by abort() or _exit(), as those
 * do whose misuse is to be reported, writes its counts down before. The linker is asked to send
 * calls of the two here (--wrap). Who has limited its memory gets it back for that; half a file of
 * counts would spoil those of all other programs.
 */
#include <stdbool.h>
#include <sys/resource.h>

extern void __gcov_dump(void);
extern _Noreturn void __real_abort(void);
extern _Noreturn void __real__exit(int status);
_Noreturn void __wrap_abort(void);
_Noreturn void __wrap__exit(int status);

static bool has_memory(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) != 0)
        return false;
    limit.rlim_cur = limit.rlim_max;
    return limit.rlim_max == RLIM_INFINITY && setrlimit(RLIMIT_AS, &limit) == 0;
}

_Noreturn void __wrap_abort(void)
{
    if (has_memory())
        __gcov_dump();
    __real_abort();
}

_Noreturn void __wrap__exit(int status)
{
    if (has_memory())
        __gcov_dump();
    __real__exit(status);
}
