/* SPDX-License-Identifier: MIT */
/* interrupted.c in a process that must do without membarrier: all sections take the slow path. */
#define main thread_interrupted_main
#include "thread/interrupted.c"
#undef main

int main(int argc, char **argv)
{
    /* The library asks before main, so the program begins anew. */
    if (getenv("PAWL_NO_MEMBARRIER") == NULL) {
        must(setenv("PAWL_NO_MEMBARRIER", "1", 1) == 0);
        execv("/proc/self/exe", argv);
        must(!"execv has failed");
    }
    return thread_interrupted_main(argc, argv);
}
