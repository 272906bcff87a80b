/* SPDX-License-Identifier: MIT */
/*
 * The promises of the preload library (doc/shim.md), each under each circumstance (promises.txt):
 * scripts of calls as in lock.c, with an oracle of what POSIX and the page say. The same program
 * runs with the C library's locks and with ours in each mode, so that the scripts ask for nothing
 * that is ours alone.
 */
#include "test.h"

#include "shim/actors.h"
#include "support/sandbox.h"

/* m and o are two threads; the circumstance has a third. A call that the state of its thread
 * forbids is left out, and one of a thread that waits. */
static const struct script {
    const char *name, *calls;
} scripts[] = {
    {"readers_share_and_writers_exclude", "m.rd o.rd o.un o.trywr m.un m.wr o.tryrd o.trywr "
                                          "o.latewr o.laterd m.un o.wr o.un"},
    {"a_writer_waits_for_readers", "o.rd m.wr o.un m.un m.trywr m.un"},
    {"a_reader_waits_for_a_writer", "o.wr m.rd o.un m.rd m.un m.un"},
    {"a_writer_waits_for_a_writer", "o.wr m.wr o.un o.tryrd m.un"},
    {"a_thread_reads_again_beside_a_waiting_writer", "m.rd o.wr m.rd m.tryrd m.un m.un m.un o.un"},
    {"who_holds_gets_edeadlk", "m.wr m.rd m.wr m.un m.rd m.un o.wr o.wr o.un"},
    {"a_deadline_leaves_no_trace", "o.rd m.latewr o.tryrd o.un m.latewr m.un o.wr m.laterd o.un"},
    {"a_lock_made_anew_is_free", "m.rd m.rd o.rd m.anew m.wr m.un o.wr o.anew o.rd m.trywr o.un "
                                 "m.wr m.un"},
};
enum { SCRIPTS = sizeof scripts / sizeof scripts[0], MOST_CALLS = 16, ACTORS = 3 };

enum { READS = 1, HANDLER = 2, ENDS = 4, FORKS = 8, LATE = 16, NO_MEMORY = 32, ANEW = 64 };

static const struct circumstance {
    const char *name;
    unsigned events;
} circumstances[] = {
    {"plain", 0},
    {"in_entry", READS}, /* with PAWL_BIAS=on */
    {"handler", HANDLER | READS},
    {"handler_and_end", HANDLER | ENDS},
    {"handler_and_fork", HANDLER | FORKS | READS},
    {"handler_and_time_out", HANDLER | LATE | READS},
    {"made_anew", READS | ANEW}, /* destroyed while the third thread reads */
    {"no_memory", NO_MEMORY | READS},
};
enum { CIRCUMSTANCES = sizeof circumstances / sizeof circumstances[0] };

static struct cell {
    const struct script *script;
    const struct circumstance *circumstance;
} cells[SCRIPTS * CIRCUMSTANCES];

static struct {
    pthread_rwlock_t lock;
    struct actor actors[ACTORS];
    unsigned reads[ACTORS], left; /* left: by threads that have ended */
    int writer;                   /* -1: none */
    bool pending[ACTORS];
    bool forgotten; /* a thread unlocked what another one read: records may be over */
    rwlock_call *call[ACTORS];
} now;

static unsigned events;

enum { HANGS = TEST_HANGS / 4 };

/* ---- Calls ----------------------------------------------------------------------------------- */

static int late_read(pthread_rwlock_t *l)
{
    const struct timespec past = {1, 0};
    return pthread_rwlock_timedrdlock(l, &past);
}

static int late_write(pthread_rwlock_t *l)
{
    const struct timespec past = {1, 0};
    return pthread_rwlock_timedwrlock(l, &past);
}

static int soon_late_write(pthread_rwlock_t *l)
{
    const struct timespec soon = time_in(CLOCK_REALTIME, 1);
    return pthread_rwlock_timedwrlock(l, &soon);
}

static int make_anew(pthread_rwlock_t *l)
{
    must(pthread_rwlock_destroy(l) == 0);
    return pthread_rwlock_init(l, NULL);
}

static rwlock_call *call_named(const char *name)
{
    static const struct {
        const char *name;
        rwlock_call *call;
    } calls[] = {{"rd", pthread_rwlock_rdlock}, {"tryrd", pthread_rwlock_tryrdlock},
                 {"wr", pthread_rwlock_wrlock}, {"trywr", pthread_rwlock_trywrlock},
                 {"un", pthread_rwlock_unlock}, {"laterd", late_read},
                 {"latewr", late_write},        {"anew", make_anew}};
    unsigned i = 0;
    while (strcmp(calls[i].name, name) != 0)
        i++;
    return calls[i].call;
}

/* ---- The oracle ------------------------------------------------------------------------------ */

enum { WAITS = -1 };

static bool reads(rwlock_call *call)
{
    return call == pthread_rwlock_rdlock || call == pthread_rwlock_tryrdlock || call == late_read;
}

static unsigned readers_beside(int who)
{
    unsigned count = now.left;
    for (int i = 0; i < ACTORS; i++)
        count += i == who ? 0 : now.reads[i];
    return count;
}

static unsigned pending(void)
{
    return (unsigned)now.pending[0] + now.pending[1] + now.pending[2];
}

static int foretell(int who, rwlock_call *call)
{
    const bool tries = call == pthread_rwlock_tryrdlock || call == pthread_rwlock_trywrlock;
    const bool late = call == late_read || call == late_write || call == soon_late_write;
    if (call == pthread_rwlock_unlock || call == make_anew)
        return 0;
    if (!tries && (now.writer == who || (!reads(call) && now.reads[who] > 0)))
        return EDEADLK;
    if (now.writer >= 0 || (!reads(call) && readers_beside(-1) > 0))
        return tries ? EBUSY : late ? ETIMEDOUT : WAITS;
    return 0;
}

static void ends_call(int who, int result)
{
    now.pending[who] = false;
    if (now.call[who] == make_anew) {
        memset(now.reads, 0, sizeof now.reads);
        now.left = 0;
        now.writer = -1;
    } else if (now.call[who] == pthread_rwlock_unlock) {
        if (now.writer == who)
            now.writer = -1;
        else
            now.reads[who]--;
    } else if (result == 0 && reads(now.call[who])) {
        now.reads[who]++;
    } else if (result == 0) {
        must(now.writer == -1);
        now.writer = who;
    }
    for (int i = 0; i < ACTORS; i++)
        must(now.writer < 0 || (now.reads[i] == 0 && now.left == 0));
}

/* While all who wait could be granted, one of them must be. */
static void settle(void)
{
    unsigned ready;
    int i;
    do {
        for (i = 0, ready = 0; i < ACTORS; i++) {
            if (now.pending[i] && !actor_waits(&now.actors[i]))
                ends_call(i, actor_result(&now.actors[i]));
            ready += now.pending[i] && foretell(i, now.call[i]) == 0;
        }
    } while (ready > 0 && ready == pending());
}

static void calls(int who, rwlock_call *call)
{
    struct actor *const a = &now.actors[who];
    const int answer = foretell(who, call);
    const bool is_alone = pending() == 0;
    now.call[who] = call;
    actor_begin(a, call, &now.lock);
    if ((!is_alone || answer == WAITS) && actor_waits(a)) {
        now.pending[who] = true;
    } else {
        const int result = actor_result(a);
        must(!is_alone || result == answer); /* nor did it not wait */
        must(answer != EDEADLK || result == EDEADLK);
        must(answer != 0 || call != pthread_rwlock_unlock || result == 0);
        ends_call(who, result);
    }
    settle();
}

static bool may(int who, rwlock_call *call)
{
    if (now.pending[who])
        return false;
    if (call == make_anew)
        return pending() == 0;
    if (call == pthread_rwlock_unlock)
        return now.writer == who || now.reads[who] > 0;
    if (now.reads[who] > 0 && now.forgotten && (!reads(call) || pending() > 0))
        return false;
    return is_pawl() || foretell(who, call) != EDEADLK; /* glibc waits for itself */
}

/* ---- Events ---------------------------------------------------------------------------------- */

static int forks(pthread_rwlock_t *l)
{
    const pid_t child = fork();
    must(child >= 0);
    if (child == 0) {
        const bool is_alone = readers_beside(0) == 0 && now.writer <= 0 && pending() == 0;
        alarm(TEST_HANGS);
        if (is_pawl() && now.writer == 0)
            must(pthread_rwlock_unlock(l) == 0);
        for (; now.reads[0] > 0; now.reads[0]--)
            must(pthread_rwlock_unlock(l) == 0);
        if (is_alone && (is_pawl() || now.writer < 0))
            must(pthread_rwlock_trywrlock(l) == 0);
        _exit(0);
    }
    must(test_wait(child) == 0);
    return 0;
}

static unsigned handled;

static void handle(int number)
{
    const int saved = errno;
    if (pending() == 0) {
        const int read = pthread_rwlock_tryrdlock(&now.lock);
        must(read == (now.writer >= 0 ? EBUSY : 0));
        if (read == 0)
            must(pthread_rwlock_unlock(&now.lock) == 0);
        must(pthread_rwlock_trywrlock(&now.lock) ==
             (now.writer >= 0 || readers_beside(-1) > 0 ? EBUSY : 0));
        if (now.writer < 0 && readers_beside(-1) == 0)
            must(pthread_rwlock_unlock(&now.lock) == 0);
        if (events & FORKS)
            (void)forks(&now.lock);
    }
    (void)__atomic_add_fetch(&handled, 1, __ATOMIC_RELEASE);
    errno = saved;
}

static void handler_runs(struct actor *a)
{
    const unsigned before = __atomic_load_n(&handled, __ATOMIC_ACQUIRE);
    must(pthread_kill(a->id, SIGUSR1) == 0);
    while (__atomic_load_n(&handled, __ATOMIC_ACQUIRE) == before)
        usleep(10);
}

static void third_leaves(void)
{
    while (now.reads[2] > 0)
        calls(2, pthread_rwlock_unlock);
    if (now.left > 0) /* any thread may unlock what an ended one has read */
        for (; now.left > 0; settle()) {
            now.left--;
            now.forgotten = true;
            must(pthread_rwlock_unlock(&now.lock) == 0);
        }
}

static void event(int who, rwlock_call *call)
{
    if ((events & (READS | ENDS)) && now.reads[2] == 0)
        calls(2, pthread_rwlock_tryrdlock);
    if ((events & ENDS) && pending() == 0) {
        const unsigned read = now.reads[2];
        handler_runs(&now.actors[0]);
        actor_end(&now.actors[2]);
        now.reads[2] = 0;
        now.left += read;
        actor_start(&now.actors[2]);
    }
    if ((events & HANDLER) && !(events & LATE))
        handler_runs(&now.actors[0]);
    if ((events & LATE) && !reads(call) && pending() == 0 && foretell(who, call) == WAITS) {
        now.call[who] = soon_late_write;
        now.pending[who] = true;
        actor_begin(&now.actors[who], soon_late_write, &now.lock);
        while (actor_waits(&now.actors[who]))
            must(pthread_kill(now.actors[who].id, SIGUSR1) == 0);
        must(actor_result(&now.actors[who]) == ETIMEDOUT);
        now.pending[who] = false;
    }
    if ((events & ANEW) && pending() == 0)
        calls(1, make_anew);
}

static int refuse_memory(pthread_rwlock_t *unused)
{
    return sandbox_refuses(TEST_SYS_MMAP) ? 0 : ENOSYS;
}

static void run_with_event_at(const char *script, unsigned at)
{
    char who, name[16];
    int length;
    must(pthread_rwlock_init(&now.lock, NULL) == 0);
    now.writer = -1;
    now.forgotten = false;
    for (unsigned k = 0; sscanf(script, " %c.%15s%n", &who, name, &length) == 2;
         script += length, k++) {
        rwlock_call *const call = call_named(name);
        const int actor = who == 'm' ? 0 : 1;
        if (k == at && !now.pending[actor])
            event(actor, call);
        if (now.pending[actor])
            third_leaves();
        if (may(actor, call))
            calls(actor, call);
    }
    third_leaves();
    if (now.left > 0)
        calls(0, make_anew);
    while (now.writer >= 0 || readers_beside(-1) > 0 || pending() > 0)
        for (int i = 0; i < ACTORS; i++)
            if (may(i, pthread_rwlock_unlock))
                calls(i, pthread_rwlock_unlock);
    calls(2, pthread_rwlock_trywrlock);
    must(now.writer == 2);
    calls(2, pthread_rwlock_unlock);
    must(pthread_rwlock_destroy(&now.lock) == 0);
}

static void runs_in_child(void *opaque)
{
    const struct cell *const cell = (const struct cell *)opaque;
    events = cell->circumstance->events;
    alarm(HANGS);
    must(signal(SIGUSR1, handle) != SIG_ERR);
    for (unsigned i = 0; i < ACTORS; i++) {
        actor_start(&now.actors[i]);
        if (events & NO_MEMORY)
            must(actor_do(&now.actors[i], refuse_memory, NULL) == 0);
    }
    for (unsigned at = 0; at < MOST_CALLS; at++)
        run_with_event_at(cell->script->calls, at);
}

#include "promises/cells.h"

int main(int argc, char **argv)
{
    return run_cells(argc, argv);
}
