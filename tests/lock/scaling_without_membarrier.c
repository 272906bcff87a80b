/* SPDX-License-Identifier: MIT */
/* All tests of scaling.c once more, in a process that must do without membarrier. A writer that
 * waits for an entry then sleeps for short pauses only, and looks again. */
#define main scaling_main
#include "lock/scaling.c"
#undef main

int main(int argc, char **argv)
{
#ifdef __linux__
    /* The library asks before main, so the program begins anew. */
    if (getenv("PAWL_NO_MEMBARRIER") == NULL) {
        must(setenv("PAWL_NO_MEMBARRIER", "1", 1) == 0);
        execv("/proc/self/exe", argv);
        must(!"execv has failed");
    }
    must(ipawl_fence_light_free_ == 0);
#endif
#if PAWL_SCALES_
    return scaling_main(argc, argv);
#else
    (void)argc, (void)argv;
    return scaling_main();
#endif
}
