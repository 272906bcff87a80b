/* SPDX-License-Identifier: MIT */
/* All tests of bad_input.c once more, in a process that must do without membarrier. */
#define main rcu_bad_input_main
#include "rcu/bad_input.c"
#undef main

int main(int argc, char **argv)
{
    /* The library asks before main, so the program begins anew. */
    if (getenv("PAWL_NO_MEMBARRIER") == NULL) {
        must(setenv("PAWL_NO_MEMBARRIER", "1", 1) == 0);
        execv("/proc/self/exe", argv);
        must(!"execv has failed");
    }
    must(ipawl_fence_light_free_ == 0);
    return rcu_bad_input_main(argc, argv);
}
