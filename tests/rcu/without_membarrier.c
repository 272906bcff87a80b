/* SPDX-License-Identifier: MIT */
/* All tests of basic.c once more, in a process that must do without membarrier. */
#define main rcu_basic_main
#include "rcu/basic.c"
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
    pawl_rcu_read_lock();
    must(PAWL_RCU_MINE_.line == NULL); /* the inline path stays closed */
    pawl_rcu_read_unlock();
    return rcu_basic_main(argc, argv);
}
