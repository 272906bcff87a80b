/* SPDX-License-Identifier: MIT */
#include "next.h"

#include <dlfcn.h>
#include <stddef.h>
#include <unistd.h>

#include "../../src/os/os.h"

struct trace_next trace_found;
bool trace_found_all;

static void refuse(void)
{
    static const char sentence[] =
        "libpawl-trace: there is no pthread_mutex_t behind this library. It serves programs of the "
        "GNU C library only; start this one without it.\n";
    pawl_os_complain(sentence, sizeof sentence - 1);
    _exit(2);
}

/* Two threads may do this at the same time: they write the same values. dlsym returns an object
 * pointer; POSIX says that it can be a function's. */
void trace_find_all(void)
{
#define X(name, ...) *(void **)(void *)&trace_found.name = dlsym(RTLD_NEXT, #name);
    TRACE_FUNCTIONS(X)
    TRACE_VARIADIC(X)
#undef X
    if (trace_found.pthread_mutex_lock == NULL)
        refuse();
    trace_found_all = true;
}

__attribute__((constructor(101))) static void find_early(void)
{
    trace_find_all();
}
