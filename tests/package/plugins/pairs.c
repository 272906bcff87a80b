/* SPDX-License-Identifier: MIT */
/*
 * pairs ONE OTHER: two copies of the library work on one sleeping lock. Each is "self", the copy of
 * this program, or a plug-in that was compiled from this file with -DPAIRS_PLUGIN.
 *
 * 1. Two threads go through all states of the lock that they can reach with one read each by each
 *    copy. In each state each thread tries each operation by each copy. A rule of a few lines says
 *    what must come of it. Afterwards all is given back, and the word must be as it was.
 * 2. A thread sleeps for the lock by one copy; another copy has taken it, and one of the two drops
 *    it. So for each pair of modes that exclude each other.
 * 3. A thread ends while it reads, and a process forks while it reads: the other copy knows.
 *
 * In the environment: with PAIRS_GLOBAL plug-ins are loaded with RTLD_GLOBAL, with PAIRS_APART in a
 * namespace of dlmopen. PAIRS_STRANGE: the copies are of different versions. In the last two cases
 * no thread sleeps, and the program is right or ends with a sentence.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <pawl/lock.h>

#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- What each copy can do ------------------------------------------------------------------- */

enum mode { U, R, S, W, A, MODES };

/* name, from, to, call. A deadline of 1 is in the past. */
#define OPERATIONS(X)                                                                              \
    X(try_read, U, R, pawl_lock64_try_read(l))                                                     \
    X(try_seek, U, S, pawl_lock64_try_seek(l))                                                     \
    X(try_write, U, W, pawl_lock64_try_write(l))                                                   \
    X(try_atomic, U, A, pawl_lock64_try_atomic(l))                                                 \
    X(take_read_late, U, R, pawl_lock64_take_read_until(l, 1))                                     \
    X(take_seek_late, U, S, pawl_lock64_take_seek_until(l, 1))                                     \
    X(take_write_late, U, W, pawl_lock64_take_write_until(l, 1))                                   \
    X(take_atomic_late, U, A, pawl_lock64_take_atomic_until(l, 1))                                 \
    X(claim_write_late, U, W, pawl_lock64_claim_write_until(l, 1))                                 \
    X(drop_read, R, U, (pawl_lock64_drop_read(l), true))                                           \
    X(drop_seek, S, U, (pawl_lock64_drop_seek(l), true))                                           \
    X(drop_write, W, U, (pawl_lock64_drop_write(l), true))                                         \
    X(drop_atomic, A, U, (pawl_lock64_drop_atomic(l), true))                                       \
    X(try_read_to_seek, R, S, pawl_lock64_try_read_to_seek(l))                                     \
    X(try_read_to_write, R, W, pawl_lock64_try_read_to_write(l))                                   \
    X(try_read_to_atomic, R, A, pawl_lock64_try_read_to_atomic(l))                                 \
    X(read_claim_write_late, R, W, pawl_lock64_read_claim_write_until(l, 1))                       \
    X(seek_to_read, S, R, (pawl_lock64_seek_to_read(l), true))                                     \
    X(try_seek_to_write, S, W, pawl_lock64_try_seek_to_write(l))                                   \
    X(seek_to_write_late, S, W, pawl_lock64_seek_to_write_until(l, 1))                             \
    X(write_to_read, W, R, (pawl_lock64_write_to_read(l), true))                                   \
    X(write_to_seek, W, S, (pawl_lock64_write_to_seek(l), true))                                   \
    X(take_read, U, R, (pawl_lock64_take_read(l), true))                                           \
    X(take_seek, U, S, (pawl_lock64_take_seek(l), true))                                           \
    X(take_write, U, W, (pawl_lock64_take_write(l), true))                                         \
    X(take_atomic, U, A, (pawl_lock64_take_atomic(l), true))

#define NUMBER(name, from, to, call) DO_##name,
enum { OPERATIONS(NUMBER) DO_COUNT, DO_FIRST_THAT_WAITS = DO_take_read };

struct side {
    bool (*operations[DO_COUNT])(pawl_lock64 *l);
};

#define DEFINE(name, from, to, call)                                                               \
    static bool side_##name(pawl_lock64 *l)                                                        \
    {                                                                                              \
        return call;                                                                               \
    }
#define ENTER(name, from, to, call) side_##name,

#if defined(PAIRS_PLUGIN) || defined(PAIRS_SELF)
OPERATIONS(DEFINE)
#endif

#ifdef PAIRS_PLUGIN

__attribute__((visibility("default"))) extern const struct side plugin_side;
const struct side plugin_side = {{OPERATIONS(ENTER)}};

#else

#ifdef PAIRS_SELF
static const struct side self = {{OPERATIONS(ENTER)}};
#endif

static const struct {
    const char *name;
    enum mode from, to;
} operations[] = {
#define ROW(name, from, to, call) {#name, from, to},
    OPERATIONS(ROW)};

static const int drops[MODES] = {0, DO_drop_read, DO_drop_seek, DO_drop_write, DO_drop_atomic};
static const int takes[MODES] = {0, DO_take_read, DO_take_seek, DO_take_write, DO_take_atomic};

static const struct side *sides[2];
static const char *const *paths;

#define must(condition)                                                                            \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: must(%s)\n", __FILE__, __LINE__, #condition);                  \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

static const struct side *side_of(const char *path)
{
    const char *const apart = getenv("PAIRS_APART");
    const int flags = RTLD_NOW | (getenv("PAIRS_GLOBAL") != NULL ? RTLD_GLOBAL : RTLD_LOCAL);
    void *handle;
    const struct side *side;
#ifdef PAIRS_SELF
    if (strcmp(path, "self") == 0)
        return &self;
#endif
#ifdef LM_ID_NEWLM
    if (apart != NULL)
        handle = dlmopen(LM_ID_NEWLM, path, RTLD_NOW);
    else
#endif
        handle = dlopen(path, flags);
    (void)apart;
    if (handle == NULL)
        fprintf(stderr, "%s\n", dlerror());
    must(handle != NULL);
    side = (const struct side *)dlsym(handle, "plugin_side");
    must(side != NULL);
    return side;
}

/* ---- The two threads ------------------------------------------------------------------------- */

struct step {
    int thread, side, operation;
};

static pawl_lock64 lock;
static sem_t asked, answered;
static struct step question;
static bool answer;

static bool act(const struct step *step)
{
    return sides[step->side]->operations[step->operation](&lock);
}

static void *second_thread(void *unused)
{
    for (;;) {
        while (sem_wait(&asked) != 0)
            continue;
        if (question.operation < 0)
            return unused;
        answer = act(&question);
        must(sem_post(&answered) == 0);
    }
}

static bool run(const struct step *step)
{
    if (step->thread == 0)
        return act(step);
    question = *step;
    must(sem_post(&asked) == 0);
    while (sem_wait(&answered) != 0)
        continue;
    return answer;
}

/* ---- 1. All pairs ---------------------------------------------------------------------------- */

enum { MOST_STEPS = 12, MOST_STATES = 1000 };

/* How many of each mode a thread has, by the copy that granted it. */
struct state {
    int held[2][2][MODES];
    struct step path[MOST_STEPS];
    int steps;
};

static struct state states[MOST_STATES];
static int known;
static uint64_t idle_word; /* of a lock that nobody holds */

static int held_by(const struct state *s, int thread, enum mode mode)
{
    return s->held[thread][0][mode] + s->held[thread][1][mode];
}

static int held(const struct state *s, enum mode mode)
{
    return held_by(s, 0, mode) + held_by(s, 1, mode);
}

/* Whether an operation that never waits must be granted. */
static bool is_granted(const struct state *s, enum mode from, enum mode to)
{
    const int r = held(s, R) - (from == R), x = held(s, S) - (from == S), w = held(s, W),
              a = held(s, A);
    if (to == U || from == W || (from == S && to == R))
        return true;
    switch (to) {
    case R: return w == 0 && a == 0;
    case S: return w == 0 && a == 0 && x == 0;
    case W: return w == 0 && a == 0 && x == 0 && r == 0;
    default: return w == 0 && x == 0 && r == 0;
    }
}

/* Makes the state that the step leaves. A drop by one copy may give back what another granted. */
static void change(struct state *s, const struct step *step)
{
    const enum mode from = operations[step->operation].from, to = operations[step->operation].to;
    int *const own = s->held[step->thread][step->side];
    int *const others = s->held[step->thread][!step->side];
    if (from != U)
        (own[from] > 0 ? own : others)[from]--;
    if (to != U)
        own[to]++;
}

static bool is_small(const struct state *s)
{
    for (int thread = 0; thread < 2; thread++)
        for (int side = 0; side < 2; side++)
            for (int mode = R; mode < MODES; mode++)
                if (s->held[thread][side][mode] > 1)
                    return false;
    return held_by(s, 0, A) < 2 && held_by(s, 1, A) < 2 && s->steps < MOST_STEPS;
}

static void note(const struct state *s)
{
    for (int i = 0; i < known; i++)
        if (memcmp(states[i].held, s->held, sizeof s->held) == 0)
            return;
    must(known < MOST_STATES);
    states[known++] = *s;
}

/* Each copy gives back what the other one granted. */
static void give_all_back(const struct state *s)
{
    for (int thread = 0; thread < 2; thread++)
        for (int side = 0; side < 2; side++)
            for (int mode = R; mode < MODES; mode++)
                for (int i = 0; i < s->held[thread][side][mode]; i++) {
                    const struct step step = {thread, !side, drops[mode]};
                    must(run(&step));
                }
}

static void say(const struct state *s, const struct step *last, bool granted)
{
    for (int i = 0; i < s->steps; i++)
        fprintf(stderr, "thread %d, %s: %s\n", s->path[i].thread, paths[s->path[i].side],
                operations[s->path[i].operation].name);
    fprintf(stderr, "thread %d, %s: %s gives %d; word %llx\n", last->thread, paths[last->side],
            operations[last->operation].name, granted, (unsigned long long)lock.word);
}

static void try_in(const struct state *before, const struct step *step)
{
    const enum mode from = operations[step->operation].from, to = operations[step->operation].to;
    struct state after = *before;
    for (int i = 0; i < before->steps; i++)
        must(run(&before->path[i]));
    bool granted = run(step);
    if (granted != is_granted(before, from, to)) {
        say(before, step, granted);
        must(!"the rule says otherwise");
    }
    if (granted) {
        change(&after, step);
        after.path[after.steps++] = *step;
    }
    give_all_back(&after);
    if (lock.word != idle_word) {
        say(before, step, granted);
        must(!"the word is as it was");
    }
    if (granted && is_small(&after))
        note(&after);
}

static int all_pairs(void)
{
    struct step step;
    int i, tried = 0;
    known = 1;
    memset(&states[0], 0, sizeof states[0]);
    for (i = 0; i < known; i++)
        for (step.thread = 0; step.thread < 2; step.thread++)
            for (step.side = 0; step.side < 2; step.side++)
                for (step.operation = 0; step.operation < DO_FIRST_THAT_WAITS; step.operation++) {
                    const enum mode from = operations[step.operation].from;
                    const struct state before = states[i];
                    if (from != U && held_by(&before, step.thread, from) == 0)
                        continue;
                    try_in(&before, &step);
                    tried++;
                }
    return tried;
}

/* ---- 2. Sleepers ----------------------------------------------------------------------------- */

static bool exclude(enum mode one, enum mode other)
{
    return one == W || other == W || (one == S && other == S) || (one == A) != (other == A);
}

/* Nothing depends on how far the sleeper has come when the holder drops: it must end. */
static void sleep_for(enum mode mode, enum mode holder, int waits, int holds, int drops_it)
{
    const struct step take = {0, holds, takes[holder]};
    const struct step drop = {0, drops_it, drops[holder]};
    const struct step drop_after = {1, !waits, drops[mode]};
    must(run(&take));
    question.thread = 1;
    question.side = waits;
    question.operation = takes[mode];
    must(sem_post(&asked) == 0);
    for (int i = 0;
         i < 20 && (__atomic_load_n(&lock.word, __ATOMIC_RELAXED) & PAWL_LOCK_PARKED) == 0; i++)
        usleep(100);
    must(run(&drop));
    while (sem_wait(&answered) != 0)
        continue;
    must(run(&drop_after));
    must(lock.word == idle_word);
}

static void all_sleepers(void)
{
    for (int mode = R; mode < MODES; mode++)
        for (int holder = R; holder < MODES; holder++)
            for (int who = 0; who < 8 && exclude((enum mode)mode, (enum mode)holder); who++)
                sleep_for((enum mode)mode, (enum mode)holder, who & 1, who >> 1 & 1, who >> 2);
}

/* ---- 3. Ends --------------------------------------------------------------------------------- */

static void *read_and_end(void *side)
{
    const struct step read = {0, side != NULL, DO_take_read};
    must(act(&read));
    return NULL;
}

static void a_reader_ends(int reads)
{
    const struct step write = {0, !reads, DO_try_write}, drop = {0, !reads, DO_drop_read},
                      drop_write = {0, !reads, DO_drop_write};
    pthread_t thread;
    must(pthread_create(&thread, NULL, read_and_end, reads != 0 ? &lock : NULL) == 0);
    must(pthread_join(thread, NULL) == 0);
    must(!run(&write));
    must(run(&drop));
    must(run(&write) && run(&drop_write));
    must(lock.word == idle_word);
}

static void a_reader_forks(int reads)
{
    const struct step read = {0, reads, DO_take_read}, write = {0, !reads, DO_try_write},
                      drop = {0, !reads, DO_drop_read}, drop_write = {0, !reads, DO_drop_write};
    int status;
    must(run(&read));
    pid_t child = fork();
    must(child >= 0);
    if (child == 0) {
        must(!act(&write));
        must(act(&drop));
        must(act(&write) && act(&drop_write));
        _exit(0);
    }
    must(waitpid(child, &status, 0) == child && status == 0);
    must(!run(&write));
    must(run(&drop));
    must(lock.word == idle_word);
}

/* ---- All ------------------------------------------------------------------------------------- */

/* Where readers scale always (PAWL_BIAS=on), each thread's first drops turn that on. */
static void begin(int side)
{
    struct step step = {0, side, DO_take_read};
    for (step.thread = 0; step.thread < 2; step.thread++) {
        for (int i = 0; i < 4; i++) {
            step.operation = i % 2 == 0 ? DO_take_read : DO_drop_read;
            must(run(&step));
        }
    }
}

int main(int argc, char **argv)
{
    pthread_t thread;
    int side, tried;
#ifdef PAIRS_COPY
    static const char *const usual[] = {"self", PAIRS_COPY};
    paths = usual;
#else
    must(argc == 3);
#endif
    if (argc == 3)
        paths = (const char *const *)argv + 1;
    must(sem_init(&asked, 0, 0) == 0 && sem_init(&answered, 0, 0) == 0);
    must(pthread_create(&thread, NULL, second_thread, NULL) == 0);
    for (side = 0; side < 2; side++) {
        sides[side] = side_of(paths[side]);
        begin(side);
    }
    idle_word = lock.word;
    tried = all_pairs();
    if (getenv("PAIRS_STRANGE") == NULL && getenv("PAIRS_APART") == NULL)
        all_sleepers();
    for (side = 0; side < 2; side++) {
        a_reader_ends(side);
        a_reader_forks(side);
    }
    question.operation = -1;
    must(sem_post(&asked) == 0);
    must(pthread_join(thread, NULL) == 0);
    printf("%s and %s: %d states, %d operations, word %llx\n", paths[0], paths[1], known, tried,
           (unsigned long long)idle_word);
    return 0;
}

#endif
