/* SPDX-License-Identifier: MIT */
/*
 * What a line costs that comes from another processor: this process and a child write one line in
 * turn, before the program's main function. The child has the kernel's call alone: it runs no
 * handler of the program, takes no lock, and ends without a signal.
 */
#include "price.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <pawl/atomic.h>
#include <pawl/wait.h>

enum { TURNS = 200, BATCHES = 20 };
static const uint64_t longest = 10000000; /* ns; both may have one processor alone */

/* Each turn ends with the word one higher. */
static bool take_turns(uint32_t *word, uint32_t first, uint32_t last, uint64_t end)
{
    uint32_t turn;
    for (turn = first; turn < last; turn += 2) {
        uint32_t looks = 0;
        while (pawl_load_relaxed32(word) != turn)
            if (++looks % 1024 == 0 && pawl_now() > end)
                return false;
        pawl_store_relaxed32(word, turn + 1);
    }
    return true;
}

static uint64_t shortest_batch(uint32_t *word, uint64_t end)
{
    uint64_t best = 0;
    uint32_t i;
    for (i = 0; i < BATCHES; i++) {
        const uint64_t begun = pawl_now();
        uint64_t took;
        if (!take_turns(word, 2 * TURNS * i, 2 * TURNS * (i + 1), end))
            break;
        took = pawl_now() - begun;
        if (i > 0 && (best == 0 || took < best)) /* in the first one the child begins */
            best = took;
    }
    return best;
}

uint64_t shim_line_ns(void)
{
    const uint64_t end = pawl_now() + longest;
    void *const page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    uint64_t best;
    long child;
    if (page == MAP_FAILED)
        return 0;
    child = syscall(SYS_clone, 0L, 0L, 0L, 0L, 0L); /* no flag and no signal: only a copy */
    if (child == 0) {
        (void)take_turns(page, 1, 2 * TURNS * BATCHES, end);
        syscall(SYS_exit_group, 0);
    }
    best = child < 0 ? 0 : shortest_batch(page, end);
    while (child > 0 && waitpid((pid_t)child, NULL, __WALL) < 0 && errno == EINTR)
        continue;
    (void)munmap(page, 4096);
    return best / (2 * TURNS);
}
