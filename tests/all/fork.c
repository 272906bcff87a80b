/* SPDX-License-Identifier: MIT */
/*
 * Fork in each state of each primitive, with another thread in each state beside it or behind it.
 * The child finds the other thread's hold as the parent did. It gives up what the forking thread
 * held, makes the primitive anew where its page says so,
 * uses it in every state, forks again, and that child does the same. The parent goes on as if there
 * had been no fork. The tables below say all that differs between the primitives.
 */
#include "test.h"

#include "all/fork_states.h"

#include <pawl/wait.h>

#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>

struct pair {
    uint64_t first, second;
};
PAWL_SEQ_LATCH_TYPE(pair_latch, struct pair);

/* ---- One fork -------------------------------------------------------------------------------- */

enum { MOST_STATES = 8 };

static const struct primitive *now;
static const struct state *mine, *its; /* NULL: in no state */
static uint32_t phase;                 /* of the other thread */
static uint32_t other_id;
static unsigned forks, views;
static bool
    may_enter[MOST_STATES]; /* beside the other thread, as the parent found before it forked */

enum { PHASE_NONE, PHASE_ENTERS, PHASE_IN, PHASE_MAY_LEAVE };

static void *other_thread(void *unused)
{
    pawl_store_relaxed32(&other_id, (uint32_t)syscall(SYS_gettid));
    pawl_store_relaxed32(&phase, PHASE_ENTERS);
    its->enter();
    pawl_store_relaxed32(&phase, PHASE_IN);
    test_await(pawl_load_relaxed32(&phase) == PHASE_MAY_LEAVE);
    its->leave();
    return NULL;
}

/* The state in /proc says that the thread sleeps. A waiter of a spinlock never does; what it does
 * is the same at any time. */
static bool other_sleeps(void)
{
    char path[64], text[256];
    (void)snprintf(path, sizeof path, "/proc/self/task/%u/stat", pawl_load_relaxed32(&other_id));
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return true;
    size_t length = fread(text, 1, sizeof text - 1, file);
    (void)fclose(file);
    text[length] = 0;
    const char *after = strrchr(text, ')');
    return after == NULL || after[2] == 'S';
}

static void until_it_is_in_or_waits(void)
{
    test_await(pawl_load_relaxed32(&phase) >= PHASE_ENTERS);
    for (unsigned looks = 0; looks < 200 && pawl_load_relaxed32(&phase) == PHASE_ENTERS; looks++) {
        if (other_sleeps())
            return;
        sched_yield();
    }
}

static void use_all(void)
{
    if (now->check != NULL)
        now->check();
    for (unsigned i = 0; i < now->count; i++)
        if (now->states[i].wake == NULL) {
            must(now->states[i].enter_at_once());
            now->states[i].leave();
            now->states[i].enter();
            now->states[i].leave();
        }
    if (now->check != NULL)
        now->check();
}

/* What the states of a lock let in beside the thread that holds it. */
static void look_beside_the_holder(bool *may)
{
    for (unsigned i = 0; i < now->count; i++)
        if ((may[i] = now->states[i].enter_at_once()))
            now->states[i].leave();
}

/* The parent's holder stays counted: the child, which has not made the lock anew yet, is let in
 * where the parent was, and nowhere else. */
static void must_be_let_in_as_the_parent_was(void)
{
    bool may[MOST_STATES];
    look_beside_the_holder(may);
    for (unsigned i = 0; i < now->count; i++)
        if (may[i] != may_enter[i]) {
            fprintf(stderr, "%s: in a child forked beside %s, %s is %s\n", now->name, its->name,
                    now->states[i].name, may[i] ? "granted" : "refused");
            abort();
        }
}

static void must_end_well(pid_t child)
{
    must(child > 0);
    const int status = test_wait(child);
    if (status != 0) {
        fprintf(stderr, "%s: forked in %s beside %s: the child ended with %#x\n", now->name,
                mine != NULL ? mine->name : "no state", its != NULL ? its->name : "none",
                (unsigned)status);
        abort();
    }
}

static void live_in_child(bool held, bool wanted, bool looked)
{
    alarm(TEST_HANGS);
    if (looked)
        must_be_let_in_as_the_parent_was();
    if (mine != NULL)
        mine->leave();
    others = held ? 1 : 0;
    if ((held && now->anew >= ANEW_IF_HELD) || (wanted && now->anew >= ANEW_IF_WANTED) ||
        (mine != NULL && now->anew == ANEW_IF_USED)) {
        now->make();
        others = 0;
    } else if (wanted) {
        others = now->make == event_make;
    }
    use_all();
    now->make();
    others = 0;
    use_all();
    pid_t child = fork();
    if (child == 0) {
        alarm(TEST_HANGS);
        use_all();
        _exit(0);
    }
    must_end_well(child);
    _exit(0);
}

static void fork_once(void)
{
    const bool held = its != NULL && pawl_load_relaxed32(&phase) == PHASE_IN;
    const bool wanted = its != NULL && !held;
    const bool looks = held && mine == NULL && now->anew != ANEW_NEVER;
    if (looks) {
        must(now->count <= MOST_STATES);
        look_beside_the_holder(may_enter);
        views++;
    }
    fflush(NULL);
    pid_t child = fork();
    if (child == 0)
        live_in_child(held, wanted, looks);
    must_end_well(child);
    forks++;
}

/* The other thread enters first: beside it, if the forking thread may be; or behind it. */
static void fork_in(bool other_first)
{
    pthread_t other;
    phase = PHASE_NONE;
    others = 0;
    now->make();
    if (!other_first && mine != NULL)
        mine->enter();
    if (its != NULL) {
        must(pthread_create(&other, NULL, other_thread, NULL) == 0);
        until_it_is_in_or_waits();
    }
    if (!other_first || mine == NULL || mine->enter_at_once()) {
        fork_once();
        if (mine != NULL)
            mine->leave();
    }
    if (its != NULL) {
        if (its->wake != NULL)
            its->wake();
        test_await(pawl_load_relaxed32(&phase) == PHASE_IN);
        pawl_store_relaxed32(&phase, PHASE_MAY_LEAVE);
        must(pthread_join(other, NULL) == 0);
    }
    now->make();
    use_all();
}

TEST_CASE(the_child_of_a_fork_in_any_state_goes_on)
{
    for (unsigned p = 0; p < sizeof primitives / sizeof primitives[0]; p++) {
        now = &primitives[p];
        for (unsigned i = 0; i <= now->count; i++)
            for (unsigned j = 0; j <= now->count; j++) {
                mine = i < now->count ? &now->states[i] : NULL;
                its = j < now->count ? &now->states[j] : NULL;
                if (mine != NULL && mine->wake != NULL)
                    continue;
                if (its != NULL)
                    fork_in(true);
                fork_in(false);
            }
    }
    assert_true(forks > 100 && views > 20);
}

/* ---- Children of which the library is not told ----------------------------------------------- */

/* _Fork and vfork run no handlers of fork. The pages say of a few operations that they work in such
 * a child: those of a word of their own, with no list and no line of a thread. */

static pair_latch pairs = PAWL_SEQ_LATCH_TYPE_INIT;
static pawl_atomic_counter counted_atomically;
static uint32_t *awaited; /* in memory that the processes share */

static void set_up_what_needs_no_handlers(void)
{
    const struct pair value = {7, 8};
    spin_make();
    pair_latch_write(&pairs, &value);
    pawl_atomic_counter_init(&counted_atomically, 40);
    awaited = (uint32_t *)mmap(NULL, sizeof *awaited, PROT_READ | PROT_WRITE,
                               MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    must(awaited != MAP_FAILED);
}

static void *wait_for_the_child(void *unused)
{
    while (pawl_load_relaxed32(awaited) == 0)
        (void)pawl_wait32_shared(awaited, 0);
    return unused;
}

static void wake_the_parents_thread(void)
{
    pawl_store_relaxed32(awaited, 1);
    (void)pawl_wake_all_shared(awaited);
}

/* `start` makes the child while another thread waits for it. Returns how the child ended. */
static int ends_beside_a_thread_that_waits(pid_t (*start)(void))
{
    pthread_t waiter;
    set_up_what_needs_no_handlers();
    must(pthread_create(&waiter, NULL, wait_for_the_child, NULL) == 0);
    fflush(NULL);
    pid_t child = start();
    must(child > 0);
    const int status = test_wait(child);
    must(pthread_join(waiter, NULL) == 0);
    must(munmap(awaited, sizeof *awaited) == 0);
    return status;
}

static bool reads_the_pair(void)
{
    struct pair found;
    pair_latch_read(&pairs, &found);
    return found.first == 7 && found.second == 8;
}

#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 34)

static bool goes_on_with_the_spinlock(void)
{
    if (pawl_spin32_try_read(&spin))
        return false;
    pawl_spin32_drop_write(&spin);
    pawl_spin32_take_write(&spin);
    pawl_spin32_drop_write(&spin);
    return pawl_spin32_try_write(&spin);
}

static bool writes_the_pair(void)
{
    const struct pair value = {9, 10};
    struct pair found;
    pair_latch_write(&pairs, &value);
    pair_latch_read(&pairs, &found);
    return found.first == 9 && found.second == 10;
}

static pid_t start_without_handlers(void)
{
    pawl_spin32_take_write(&spin);
    pid_t child = _Fork();
    if (child != 0)
        return child;
    alarm(TEST_HANGS);
    wake_the_parents_thread();
    _exit(goes_on_with_the_spinlock() && reads_the_pair() && writes_the_pair() &&
                  pawl_atomic_counter_add(&counted_atomically, 2) == 42
              ? 0
              : 1);
}

TEST_CASE(a_child_of_fork_without_handlers_uses_what_needs_none)
{
    assert_int_equal(ends_beside_a_thread_that_waits(start_without_handlers), 0);
    pawl_spin32_drop_write(&spin);
    assert_true(reads_the_pair());
    assert_true(pawl_atomic_counter_read(&counted_atomically) == 40);
}

#else

TEST_CASE(a_child_of_fork_without_handlers_uses_what_needs_none)
{
    skip();
}

#endif

static int live_in_the_parents_memory(void *unused)
{
    wake_the_parents_thread();
    (void)pawl_atomic_counter_add(&counted_atomically, 2);
    return reads_the_pair() ? 0 : 1;
}

/* As vfork does it, on a stack of its own. */
static pid_t start_in_the_parents_memory(void)
{
    static uint64_t stack[1 << 13];
    return clone(live_in_the_parents_memory, stack + (1 << 13), CLONE_VM | CLONE_VFORK | SIGCHLD,
                 NULL);
}

TEST_CASE(a_child_of_vfork_reads_latches_wakes_and_counts_for_its_parent)
{
    if (TEST_SANITIZED)
        skip(); /* a sanitizer takes the child's stack for the parent's */
    assert_int_equal(ends_beside_a_thread_that_waits(start_in_the_parents_memory), 0);
    assert_true(pawl_atomic_counter_read(&counted_atomically) == 42);
}

/* The states of this test are left as they are, and what they hold is not given back. */
PAWL_C_BEGIN
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "detect_leaks=0";
}
PAWL_C_END

TEST_MAIN()
