/* SPDX-License-Identifier: MIT */
/*
 * The blocks of threads. A copy of the library has a pointer for each thread. So the block is made
 * at the thread's first use, perhaps in a handler, and used again when its thread is dead. What
 * must not happen:
 *
 *   1  A thread claims a block; its handler does, too, and uses it; the thread goes on with its
 *      own.
 *   2  A child of fork has one thread, whose block has the number of the parent's. A search of
 *      another thread takes that for a dead one's.
 */
#include "test.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base/base.h"

#if defined(__linux__) && PAWL_OWN_IS_POINTER_ && !TEST_SANITIZED && !PAWL_TSAN_

/* The first chunk's blocks: a thread's number, modulo this, is where its search begins. */
enum { BLOCKS = 1024, LOOKED_AT = 16, MARK = 77 };

struct seen {
    struct pawl_own *block;
    uint32_t id, met;
};

static void *see(void *opaque)
{
    struct seen *const seen = opaque;
    seen->block = pawl_os_own();
    seen->id = pawl_os_thread_id();
    seen->met = seen->block->met;
    must(seen->block->owner == seen->id);
    seen->block->met = MARK;
    return NULL;
}

static struct seen in_a_thread(void)
{
    struct seen seen;
    test_elsewhere(see, &seen);
    return seen;
}

/* Of the next thread whose search begins where the one of `id` began. */
static struct seen in_a_thread_like(uint32_t id)
{
    struct seen seen;
    do
        seen = in_a_thread();
    while (seen.id % BLOCKS != id % BLOCKS);
    return seen;
}

TEST_CASE(a_dead_threads_block_is_used_again_and_is_empty)
{
    const struct seen first = in_a_thread();
    const struct seen later = in_a_thread_like(first.id);
    assert_ptr_equal(later.block, first.block);
    assert_int_equal(first.met, 0);
    assert_int_equal(later.met, 0);
}

/* Ends the child: its first thread keeps its block beside one that looks there. */
static void look_in_child(struct pawl_own *own, uint32_t id_in_parent)
{
    must(pawl_os_own() == own);
    own->met = MARK + 1;
    must(in_a_thread_like(id_in_parent).block != own);
    must(pawl_os_own() == own && own->met == MARK + 1);
    _exit(0);
}

static void must_end_well(pid_t child)
{
    must(child > 0);
    must(test_wait(child) == 0);
}

TEST_CASE(the_thread_of_a_forked_child_keeps_its_block)
{
    struct pawl_own *const own = pawl_os_own();
    const uint32_t id = pawl_os_thread_id();
    pid_t child = fork();
    if (child == 0)
        look_in_child(own, id);
    must_end_well(child);
}

TEST_CASE(so_does_one_that_ran_no_handlers_of_fork)
{
    struct pawl_own *const own = pawl_os_own();
    const uint32_t id = pawl_os_thread_id();
    pid_t child = (pid_t)syscall(SYS_clone, (long)SIGCHLD, 0L, 0L, 0L, 0L);
    if (child == 0)
        look_in_child(own, id);
    must_end_well(child);
}

#if defined(__x86_64__) || defined(__i386__)

#include "support/interrupting.h"

static struct pawl_own *nothing; /* what a thread's pointer has at first */
static struct pawl_own *first;   /* where the thread's search begins */
static struct pawl_own *of_handler;
static bool in_child;

static void give_up(struct pawl_own *block)
{
    if (block->owner == pawl_os_thread_id())
        block->owner = 0;
}

static void be_new(void)
{
    const uint32_t at = pawl_os_thread_id() % BLOCKS;
    ipawl_thread_exit_();
    must(pawl_os_own()->slot == NULL);
    /* With those that interrupted claims have left. */
    for (uint32_t i = 0; i < LOOKED_AT; i++)
        give_up(first - at + (at + i) % BLOCKS);
    ipawl_thread_own_ = nothing;
    of_handler = NULL;
}

static void make(void)
{
    (void)pawl_os_own();
}

static void use(void)
{
    of_handler = pawl_os_own();
    of_handler->met = MARK;
}

static void just_fork(void)
{
    const pid_t child = fork();
    in_child = child == 0;
    if (!in_child)
        must_end_well(child);
}

static void use_and_fork(void)
{
    use();
    just_fork();
}

static void check(void)
{
    struct pawl_own *const own = pawl_os_own();
    must(own == ipawl_thread_own_ && own->owner == pawl_os_thread_id());
    must(of_handler == NULL || (own == of_handler && own->met == MARK));
    if (in_child)
        _exit(0);
}

static void *interrupt_all(void *unused)
{
    nothing = ipawl_thread_own_;
    must(nothing->owner == 0);
    make();
    first = ipawl_thread_own_;
    must(interrupt_everywhere(be_new, make, use, check) > 20);
    must(interrupt_everywhere(be_new, make, just_fork, check) > 20);
    must(interrupt_everywhere(be_new, make, use_and_fork, check) > 20);
    return NULL;
}

TEST_CASE(a_handler_may_make_the_block_and_fork_at_each_instruction)
{
    test_elsewhere(interrupt_all, NULL);
}

#else

TEST_CASE(a_handler_may_make_the_block_and_fork_at_each_instruction)
{
    skip();
}

#endif

int main(int argc, char **argv)
{
    must(ipawl_thread_line_() != NULL); /* the program has the registry, which watches forks */
    return test_main(argc, argv);
}

#else

TEST_CASE(threads_have_blocks_that_are_shared_in_plain_builds)
{
    skip();
}

TEST_MAIN()

#endif
