/* SPDX-License-Identifier: MIT */
/* The explorer (explorer.h): chooses the next thread, and the next schedule. */
#include "explorer/internal.h"

#include <signal.h>
#include <ucontext.h>

struct sched sched;

enum { CHOICES = 4096, POLLS_IN_VAIN = 400, STEPS = 20000000, TURNS = 4096 };

/* The choices of this schedule. Those beyond `scripted` are new, and take the first alternative. */
static struct {
    unsigned choice[CHOICES], choices[CHOICES];
    unsigned depth, scripted;
    bool random;
    uint64_t seed, first_seed;
    unsigned preemptions, spent, sharpness;
    unsigned idle;   /* polls since the last write */
    unsigned scenes; /* calls of sched_all so far; PAWL_SCHEDULE names one by its number */
    bool replays;
    bool cut;             /* this run has come to a state that was seen before */
    uint8_t turns[TURNS]; /* the threads of the steps, the last of them */
    unsigned steps;
} script;

/* ---- Choosing -------------------------------------------------------------------------------- */

unsigned sched_below(uint64_t *seed, unsigned bound)
{
    return sched.below != NULL ? sched.below(seed, bound) : test_random_below(seed, bound);
}

unsigned sched_choose(unsigned count)
{
    if (script.random)
        return sched_below(&script.seed, count);
    must(script.depth < CHOICES);
    if (script.depth >= script.scripted)
        script.choice[script.depth] = 0;
    must(script.choice[script.depth] < count); /* otherwise bodies depend on more than choices */
    script.choices[script.depth] = count;
    return script.choice[script.depth++];
}

/* Makes the next script: the last choice that has another alternative takes it. False: all
 * schedules are done. */
static bool next_script(void)
{
    while (script.depth > 0 &&
           script.choice[script.depth - 1] + 1 >= script.choices[script.depth - 1])
        script.depth--;
    if (script.depth == 0)
        return false;
    script.choice[script.depth - 1]++;
    script.scripted = script.depth;
    return true;
}

/* The script of PAWL_SCHEDULE=scene:choice.choice..., if it is for this scene. */
static bool script_of_the_environment(void)
{
    const char *text = getenv("PAWL_SCHEDULE");
    char *end;
    if (text == NULL || strtoul(text, &end, 10) != script.scenes || *end != ':')
        return false;
    for (script.scripted = 0; *end == ':' || *end == '.'; script.scripted++) {
        must(script.scripted < CHOICES);
        script.choice[script.scripted] = (unsigned)strtoul(end + 1, &end, 10);
    }
    return true;
}

/* ---- Naming the schedule --------------------------------------------------------------------- */

static void print_turns(void)
{
    const unsigned first = script.steps > TURNS ? script.steps - TURNS : 0;
    unsigned i, run = 0;
    fprintf(stderr, "  thread*steps:");
    for (i = first; i < script.steps; i++) {
        run++;
        if (i + 1 == script.steps || script.turns[(i + 1) % TURNS] != script.turns[i % TURNS]) {
            fprintf(stderr, " %u*%u", script.turns[i % TURNS], run);
            run = 0;
        }
    }
    fprintf(stderr, "\n");
}

static void print_schedule(const char *why)
{
    unsigned i, last = script.depth;
    fprintf(stderr, "%s\n", why);
    print_turns();
    if (script.random) {
        fprintf(stderr, "  random schedule of seed %" PRIu64 "\n", script.first_seed);
        return;
    }
    while (last > 1 && script.choice[last - 1] == 0) /* drops final choices that are the default */
        last--;
    fprintf(stderr, "  PAWL_SCHEDULE=%u", script.scenes);
    for (i = 0; i < last; i++)
        fprintf(stderr, "%c%u", i == 0 ? ':' : '.', script.choice[i]);
    fprintf(stderr, "%s\n", last == 0 ? ":0" : "");
}

static void print_as_it_aborts(int number)
{
    signal(SIGABRT, SIG_DFL);
    if (sched.running || sched.ends)
        print_schedule("explorer: the schedule in which this happened:");
}

/* ---- Threads --------------------------------------------------------------------------------- */

static struct {
    ucontext_t contexts[SCHED_THREADS], scheduler;
    char *stacks[SCHED_THREADS];
    char *lowest[SCHED_THREADS]; /* in a walk: the end of the stack that is in use */
    void (*bodies[SCHED_THREADS])(void *);
    void *argument;
    bool stuck; /* no thread can go on */
} fibers;
enum { STACK = 65536, CLEARED = 4096 };

/* Not a part of its caller, whose frame shall not change. */
#define APART __attribute__((noinline))

struct sched_thread sched_threads[SCHED_THREADS];

static void let_pollers_go_on(void)
{
    for (unsigned i = 0; i < sched.count; i++)
        if (sched_threads[i].state == SCHED_POLLS)
            sched_threads[i].state = SCHED_RUNS;
}

void sched_somebody_wrote(void)
{
    script.idle = 0;
    let_pollers_go_on();
}

void sched_somebody_woke(void)
{
    script.idle = 0;
}

bool sched_prints(void)
{
    return script.replays;
}

static void time_out(unsigned i)
{
    struct sched_thread *t = &sched_threads[i];
    if (sched.clock < t->deadline && !sched.loose)
        sched.clock = t->deadline;
    t->timed_out = true;
    t->state = SCHED_RUNS;
    sched.timed_out++;
}

/* Finds the threads that can go on, the current thread first. */
static unsigned find_able(unsigned *able)
{
    unsigned i, ables = 0;
    const unsigned self = sched.current;
    if (sched_threads[self].state == SCHED_RUNS)
        able[ables++] = self;
    for (i = 0; i < sched.count; i++)
        if (i != self && sched_threads[i].state == SCHED_RUNS)
            able[ables++] = i;
    if (ables == 0) /* pollers may be counting how often */
        for (i = 0; i < sched.count && ++script.idle < POLLS_IN_VAIN; i++)
            if (sched_threads[i].state == SCHED_POLLS)
                able[ables++] = i;
    return ables;
}

/* In a walk, before a choice that is new: whether the same state was met before. */
static bool was_here(void)
{
    if (!states_are_kept() || script.replays || script.depth < script.scripted)
        return false;
    return !states_visit(script.depth, script.depth > 0 ? script.choice[script.depth - 1] : 0);
}

/* Chooses the thread that goes on. SCHED_THREADS: no thread ever can, or the run is cut. */
static unsigned pick(void)
{
    unsigned able[SCHED_THREADS], late[SCHED_THREADS];
    const bool goes_on = sched_threads[sched.current].state == SCHED_RUNS;
    const unsigned ables = find_able(able);
    const bool may_cost = script.spent < script.preemptions;
    unsigned i, lates = 0, wanted, chosen;
    for (i = 0; i < sched.count && (ables == 0 || may_cost || !sched.loose); i++)
        if (sched_threads[i].state == SCHED_SLEEPS && sched_threads[i].deadline != UINT64_MAX)
            late[lates++] = i;
    if (ables + lates == 0)
        return SCHED_THREADS;
    wanted = ables + lates;
    if (goes_on && script.random && sched_below(&script.seed, script.sharpness) != 0)
        wanted = 1;
    if (goes_on && !script.random && !may_cost)
        wanted = 1;
    if (wanted > 1 && was_here()) {
        script.cut = true;
        return SCHED_THREADS;
    }
    chosen = wanted == 1 ? 0 : sched_choose(wanted);
    if (chosen != 0 && (goes_on || (sched.loose && chosen >= ables && may_cost)))
        script.spent++;
    if (chosen >= ables) {
        time_out(late[chosen - ables]);
        return late[chosen - ables];
    }
    return able[chosen];
}

/* Chooses the thread of the next step. False: no thread can go on. */
static bool next_step(void)
{
    const unsigned next = script.steps < STEPS ? pick() : SCHED_THREADS;
    if (next == SCHED_THREADS) {
        fibers.stuck = true;
        return false;
    }
    sched.current = next;
    script.turns[script.steps++ % TURNS] = (uint8_t)next;
    if (sched_threads[next].state == SCHED_POLLS)
        sched_threads[next].state = SCHED_RUNS;
    if (sched.loose)
        let_pollers_go_on();
    return true;
}

/* ---- Runs ------------------------------------------------------------------------------------ */

/* Mostly the same thread goes on, so the threads choose: a change of stacks is a system call. */
static APART void pass(void)
{
    const unsigned self = sched.current;
    if (sched_threads[self].state == SCHED_ENDED || !next_step())
        must(swapcontext(&fibers.contexts[self], &fibers.scheduler) == 0);
    else if (sched.current != self)
        must(swapcontext(&fibers.contexts[self], &fibers.contexts[sched.current]) == 0);
}

static APART void note_stack(void)
{
    const unsigned self = sched.current;
    fibers.lowest[self] = (char *)__builtin_frame_address(0) + 2 * sizeof(void *);
}

/* What lies below the stack that is in use would come up again in frames to come, and be taken for
 * a part of the state. */
static APART void clear_below(void)
{
    char unused[CLEARED];
    memset(unused, 0, sizeof unused);
    __asm__ __volatile__("" : : "r"(unused) : "memory");
}

/* The frame of this function, which does not change from here to the return, has the registers of
 * its callers. */
static APART void pass_in_a_walk(void)
{
    __builtin_unwind_init();
    note_stack();
    pass();
    clear_below();
}

void sched_pass(void)
{
    if (states_are_kept())
        pass_in_a_walk();
    else
        pass();
}

void sched_stack_in_use(unsigned thread, const char **from, const char **to)
{
    *to = fibers.stacks[thread] + STACK;
    *from = fibers.lowest[thread] != NULL ? fibers.lowest[thread] : *to;
}

static void fiber(void)
{
    struct sched_thread *self = &sched_threads[sched.current];
    fibers.bodies[sched.current](fibers.argument);
    self->state = SCHED_ENDED;
    for (;;)
        sched_pass();
}

/* A function of its own: getcontext returns twice in the eyes of the compiler. */
static void prepare(unsigned i)
{
    ucontext_t *context = &fibers.contexts[i];
    if (fibers.stacks[i] == NULL)
        fibers.stacks[i] = (char *)malloc(STACK);
    must(fibers.stacks[i] != NULL && getcontext(context) == 0);
    fibers.lowest[i] = NULL;
    if (states_are_kept()) /* as deep as threads go; more would only be more states */
        memset(fibers.stacks[i] + STACK - 4 * CLEARED, 0, 4 * CLEARED);
    context->uc_stack.ss_sp = fibers.stacks[i];
    context->uc_stack.ss_size = STACK;
    context->uc_link = NULL;
    makecontext(context, fiber, 0);
}

static bool all_have_ended(void)
{
    for (unsigned i = 0; i < sched.count; i++)
        if (sched_threads[i].state != SCHED_ENDED)
            return false;
    return true;
}

static void begin_run(unsigned threads, void (*const bodies[])(void *), void *argument)
{
    must(threads >= 1 && threads <= SCHED_THREADS);
    sched.count = threads;
    sched.current = script.idle = script.depth = script.spent = script.steps = 0;
    sched.clock = 1000;
    fibers.argument = argument;
    fibers.stuck = script.cut = false;
    for (unsigned i = 0; i < threads; i++) {
        memset(&sched_threads[i], 0, sizeof sched_threads[i]);
        fibers.bodies[i] = bodies[i];
        prepare(i);
    }
    sched.running = true;
}

/* False: the threads got stuck. */
static bool run(unsigned threads, void (*const bodies[])(void *), void *argument)
{
    begin_run(threads, bodies, argument);
    while (!fibers.stuck && !all_have_ended() && next_step())
        must(swapcontext(&fibers.scheduler, &fibers.contexts[sched.current]) == 0);
    sched.running = false;
    if (all_have_ended() || script.cut)
        return true;
    print_schedule("explorer: the threads are stuck:");
    return false;
}

/* ---- Schedules ------------------------------------------------------------------------------- */

/* A check that ends the program names the schedule. A fuzzer keeps the input instead. */
static void watch_for_aborts(void)
{
    if (sched.below == NULL)
        must(signal(SIGABRT, print_as_it_aborts) != SIG_ERR);
}

bool sched_random(unsigned threads, void (*const bodies[])(void *), void *argument, uint64_t seed)
{
    watch_for_aborts();
    script.random = true;
    script.seed = script.first_seed = seed;
    script.sharpness = 1u + sched_below(&script.seed, 12);
    return run(threads, bodies, argument);
}

static void begin_scene(unsigned preemptions)
{
    watch_for_aborts();
    script.random = false;
    script.preemptions = preemptions;
    script.scripted = 0;
    script.scenes++;
    script.replays = script_of_the_environment();
}

static void check_the_end(void (*ends)(void *), void *argument)
{
    sched.ends = true;
    ends(argument);
    sched.ends = false;
}

bool sched_all(unsigned threads, void (*const bodies[])(void *), void *argument,
               unsigned preemptions, void (*begins)(void *), void (*ends)(void *), unsigned *count)
{
    begin_scene(preemptions);
    *count = 0;
    do {
        begins(argument);
        ++*count;
        if (!run(threads, bodies, argument))
            return false;
        check_the_end(ends, argument);
    } while (!script.replays && next_script());
    script.replays = false;
    return true;
}

bool sched_walk(unsigned threads, void (*const bodies[])(void *), void *argument,
                const struct sched_memory *memory, void (*begins)(void *), void (*ends)(void *),
                unsigned *count)
{
    bool stuck;
    begin_scene(UINT_MAX);
    states_begin(memory);
    do {
        begins(argument);
        stuck = !run(threads, bodies, argument);
        if (!stuck && !script.cut) {
            states_ended(script.depth);
            check_the_end(ends, argument);
        }
    } while (!stuck && !script.replays && next_script());
    script.replays = false;
    return states_finish(script.scenes, stuck, count);
}

struct scene {
    void (*begins)(void);
    void (*ends)(void);
};

static void scene_begins(void *scene)
{
    ((const struct scene *)scene)->begins();
}

static void scene_ends(void *scene)
{
    ((const struct scene *)scene)->ends();
}

static unsigned explore_scene(struct scene scene, void (*const bodies[])(void *), unsigned threads,
                              unsigned preemptions)
{
    unsigned count;
    sched.loose = true;
    must(sched_all(threads, bodies, &scene, preemptions, scene_begins, scene_ends, &count));
    sched.loose = sched.deadlines_forbidden = false;
    return count;
}

unsigned explore(void (*begins)(void), void (*const bodies[])(void *), unsigned threads,
                 void (*ends)(void), unsigned preemptions)
{
    const struct scene scene = {begins, ends};
    sched.deadlines_forbidden = true;
    return explore_scene(scene, bodies, threads, preemptions);
}

unsigned explore_with_deadlines(void (*begins)(void), void (*const bodies[])(void *),
                                unsigned threads, void (*ends)(void), unsigned preemptions)
{
    const struct scene scene = {begins, ends};
    return explore_scene(scene, bodies, threads, preemptions);
}
