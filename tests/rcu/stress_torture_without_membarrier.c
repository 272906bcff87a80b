/* SPDX-License-Identifier: MIT */
/* stress_torture.c in a process that must do without membarrier. */
#define TORTURE_SECONDS 1.5
#define main rcu_torture_main
#include "rcu/stress_torture.c"
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
    return rcu_torture_main(argc, argv);
}
