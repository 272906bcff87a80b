/* SPDX-License-Identifier: MIT */
/*
 * The lock for processes that may be killed. One thread dies at any access, or not; the others go
 * on. Whoever enters is told of the death of who held the lock, and of no other; when two enter one
 * after the other, both are told or none is. Nobody sleeps for ever.
 */
#include <pawl/detail/hook.h>
#include <pawl/robust.h>

#include "robust_mutex.h"

#include <stddef.h>

struct stage {
    pawl_robust_lock lock;
    char held[M_THREADS];   /* U R S W A */
    bool inside[M_THREADS]; /* an operation */
    char died;              /* what the dead one held; 0: nobody is dead */
    bool died_inside;
    bool repaired;
    bool written;
    uint64_t mark;
};
#define STAGE M_SCENE(struct stage)
#define LOCK (&STAGE->lock)

/* A value that no access of the library finds: a model with REACH fails unless it was seen. */
#define MARK (UINT64_C(1) << 63)
#define REACH " reach=9223372036854775808"

static void dies(void)
{
    const uint32_t me = m_me();
    STAGE->died = STAGE->held[me];
    STAGE->died_inside = STAGE->inside[me];
    STAGE->held[me] = 'U';
}

static void make(void)
{
    m_register_threads(4);
    m_robust_begin();
    for (uint32_t i = 0; i < M_THREADS; i++)
        STAGE->held[i] = 'U';
    m_demand(pawl_robust_lock_init(LOCK) == PAWL_ROBUST_OK, "harness", "the lock is made");
}

static void make_for_mortals(void)
{
    make();
    m_robust_mortals(dies);
}

/* The second thread reads. */
static void make_for_a_reader(void)
{
    make_for_mortals();
    m_become(1);
    (void)pawl_robust_lock_take_read(LOCK);
    STAGE->held[1] = 'R';
    m_become(0);
}

/* The last to hold it were atomic users. */
static void make_room_for_atomic_users(void)
{
    make();
    (void)pawl_robust_lock_take_atomic(LOCK);
    (void)pawl_robust_lock_drop_atomic(LOCK);
}

/* ---- Who holds what -------------------------------------------------------------------------- */

static bool beside(char a, char b)
{
    return a == 'U' || b == 'U' || (a == 'A' && b == 'A') || (a == 'R' && (b == 'R' || b == 'S')) ||
           (a == 'S' && b == 'R');
}

static void enter(char state)
{
    STAGE->held[m_me()] = state;
    for (uint32_t i = 0; i < M_THREADS; i++)
        if (i != m_me())
            m_demand(beside(state, STAGE->held[i]), M_EXCLUSION, "two who exclude each other");
}

static unsigned rank(char state)
{
    return state == 'U' ? 0 : state == 'R' ? 1 : state == 'S' ? 2 : state == 'A' ? 3 : 4;
}

static unsigned death_of(char state)
{
    return state == 'R'   ? PAWL_ROBUST_DIED_READ
           : state == 'S' ? PAWL_ROBUST_DIED_SEEK
           : state == 'W' ? PAWL_ROBUST_DIED_WRITE
                          : PAWL_ROBUST_DIED_ATOMIC;
}

static void is_told_rightly(void)
{
    m_demand(STAGE->died != 0 && (STAGE->died != 'U' || STAGE->died_inside), M_VISIBILITY,
             "told of the death of who held nothing");
    if (!STAGE->died_inside)
        m_demand(pawl_robust_lock_deaths(LOCK) == death_of(STAGE->died), M_VISIBILITY,
                 "told of another death");
}

/* One operation from one state to another; `told` is set when it tells of a death. */
static bool moves(enum pawl_robust (*operation)(pawl_robust_lock *), const char *name, char from,
                  char to, bool *told)
{
    const uint32_t me = m_me();
    STAGE->inside[me] = true;
    if (rank(to) < rank(from))
        enter(to);
    m_begin(name);
    enum pawl_robust how = operation(LOCK);
    m_end();
    STAGE->inside[me] = false;
    m_demand(how <= PAWL_ROBUST_TIMED_OUT, M_RESTORED, "the lock is as it was made");
    enter(pawl_robust_held(how) ? to : from);
    if (how == PAWL_ROBUST_OWNER_DIED)
        is_told_rightly();
    *told = *told || how == PAWL_ROBUST_OWNER_DIED;
    return pawl_robust_held(how);
}
#define MOVES(name, from, to) moves(pawl_robust_lock_##name, #name, from, to, &told)

/* ---- What a holder does ---------------------------------------------------------------------- */

static void looks(bool told)
{
    m_live_or_die();
    if (!told)
        m_demand(m_read(0) == m_read(1), M_VISIBILITY, "half of what a dead writer did, untold");
    m_live_or_die();
}

/* A writer who is told repairs first. */
static void changes(bool told)
{
    m_live_or_die();
    if (told) {
        m_write(1, m_read(0));
        STAGE->repaired = true;
        m_demand(pawl_robust_lock_consistent(LOCK) == PAWL_ROBUST_OK, M_RESTORED, "repaired");
    }
    m_write(0, m_read(0) + 1);
    m_live_or_die();
    m_write(1, m_read(1) + 1);
    STAGE->written = true;
    m_live_or_die();
}

static void reads(void)
{
    bool told = false;
    if (MOVES(take_read, 'U', 'R')) {
        looks(told);
        (void)MOVES(drop_read, 'R', 'U');
    }
}

static void seeks(void)
{
    bool told = false;
    if (MOVES(take_seek, 'U', 'S')) {
        looks(told);
        (void)MOVES(drop_seek, 'S', 'U');
    }
}

static void writes(void)
{
    bool told = false;
    if (MOVES(take_write, 'U', 'W')) {
        changes(told);
        (void)MOVES(drop_write, 'W', 'U');
    }
}

static void updates(void)
{
    bool told = false;
    if (MOVES(take_atomic, 'U', 'A')) {
        looks(told);
        (void)MOVES(drop_atomic, 'A', 'U');
    }
}

static void seeks_then_writes(void)
{
    bool told = false;
    (void)MOVES(take_seek, 'U', 'S');
    looks(told);
    (void)MOVES(seek_to_write, 'S', 'W');
    changes(told);
    (void)MOVES(drop_write, 'W', 'U');
}

static void writes_then_seeks(void)
{
    bool told = false;
    (void)MOVES(take_write, 'U', 'W');
    changes(told);
    (void)MOVES(write_to_seek, 'W', 'S');
    looks(false);
    (void)MOVES(seek_to_read, 'S', 'R');
    looks(false);
    (void)MOVES(drop_read, 'R', 'U');
}

static void writes_then_reads(void)
{
    bool told = false;
    (void)MOVES(take_write, 'U', 'W');
    changes(told);
    (void)MOVES(write_to_read, 'W', 'R');
    looks(false);
    (void)MOVES(drop_read, 'R', 'U');
}

static void reads_then_seeks(void)
{
    bool told = false;
    (void)MOVES(take_read, 'U', 'R');
    looks(told);
    if (MOVES(try_read_to_seek, 'R', 'S')) {
        looks(told);
        (void)MOVES(drop_seek, 'S', 'U');
    } else {
        (void)MOVES(drop_read, 'R', 'U');
    }
}

static void reads_then_writes(void)
{
    bool told = false;
    (void)MOVES(take_read, 'U', 'R');
    looks(told);
    if (MOVES(read_claim_write, 'R', 'W')) {
        changes(told);
        (void)MOVES(drop_write, 'W', 'U');
    } else {
        (void)MOVES(drop_read, 'R', 'U');
    }
}

static void tries_to_write(void)
{
    bool told = false;
    if (MOVES(try_write, 'U', 'W')) {
        changes(told);
        (void)MOVES(drop_write, 'W', 'U');
    }
}

/* Others run, and come upon what the caller holds: loom changes threads at accesses only. */
static void gives_way(void)
{
    m_begin("gives way");
    pawl_hook_yield();
    m_end();
}

/* A reader may say that there is nothing to repair. */
static void reads_and_forgives(void)
{
    bool told = false;
    gives_way();
    if (MOVES(take_read, 'U', 'R')) {
        looks(told);
        if (told) {
            STAGE->repaired = true;
            m_demand(pawl_robust_lock_consistent(LOCK) == PAWL_ROBUST_OK, M_RESTORED, "repaired");
        }
        (void)MOVES(drop_read, 'R', 'U');
    }
}

/* Whoever comes upon a writer that drains gets in after it. */
static void sees_who_drains_and_reads(void)
{
    bool told = false;
    m_begin("looks whether somebody drains");
    bool drains = pawl_load_relaxed32(&LOCK->draining) != 0;
    if (drains) {
        pawl_store_relaxed64(&STAGE->mark, MARK);
        (void)pawl_load_relaxed64(&STAGE->mark);
    }
    m_end();
    (void)MOVES(take_read, 'U', 'R');
    m_demand(!drains || STAGE->written, M_PROGRESS, "a newcomer has overtaken who drains");
    looks(told);
    (void)MOVES(drop_read, 'R', 'U');
}

static void updates_and_stays(void)
{
    bool told = false;
    (void)MOVES(take_atomic, 'U', 'A');
    gives_way();
    (void)MOVES(drop_atomic, 'A', 'U');
}

static void reads_and_stays(void)
{
    bool told = false;
    (void)MOVES(take_read, 'U', 'R');
    gives_way();
    (void)MOVES(drop_read, 'R', 'U');
}

/* The first has not seen a newcomer's member in use, and says that none is. */
static void writes_twice(void)
{
    writes();
    gives_way();
    writes();
}

static void reads_later(void)
{
    gives_way();
    reads();
}

/* Its record in the same member changes. */
static void drops_read_then_seeks(void)
{
    bool told = false;
    (void)MOVES(drop_read, 'R', 'U');
    seeks();
}

static enum pawl_robust write_in_time(pawl_robust_lock *l)
{
    return pawl_robust_lock_take_write_until(l, M_DEADLINE);
}

static void writes_in_time(void)
{
    bool told = false;
    if (moves(write_in_time, "take_write_until", 'U', 'W', &told)) {
        changes(told);
        (void)MOVES(drop_write, 'W', 'U');
    }
}

#define KILLED(life)                                                                               \
    static void life##_killed(void)                                                                \
    {                                                                                              \
        (void)m_mortal(life);                                                                      \
    }
KILLED(reads)
KILLED(seeks)
KILLED(writes)
KILLED(updates)
KILLED(seeks_then_writes)
KILLED(writes_then_seeks)
KILLED(writes_then_reads)
KILLED(reads_then_seeks)
KILLED(reads_then_writes)
KILLED(drops_read_then_seeks)

/* ---- The end --------------------------------------------------------------------------------- */

static bool takes(enum pawl_robust (*operation)(pawl_robust_lock *))
{
    const enum pawl_robust how = operation(LOCK);
    m_demand(pawl_robust_held(how), M_RESTORED, "the lock is free");
    return how == PAWL_ROBUST_OWNER_DIED;
}

static void nothing_is_left(void)
{
    for (const struct ipawl_robust_cell_ *c = &LOCK->gate; c != &LOCK->members[PAWL_ROBUST_MEMBERS];
         c++) {
        m_demand(pawl_load_relaxed32(&c->holder) == 0, M_RESTORED, "a record is left");
        m_demand(STAGE->died != 0 || pawl_load_relaxed32(&c->waiting) == 0, M_RESTORED,
                 "who waited is still counted");
    }
    m_demand(pawl_robust_lock_deaths(LOCK) == 0, M_RESTORED, "a death is left");
}

/* Nobody drains any more, and who has passed the gate has put that right for the dead. */
static void nobody_is_held_back(void)
{
    m_demand(pawl_load_relaxed32(&LOCK->draining) == 0, M_RESTORED, "newcomers are held back");
}

static void who_comes_next_is_told(void)
{
    if (STAGE->died == 0)
        nobody_is_held_back();
    bool told = takes(pawl_robust_lock_take_read);
    nobody_is_held_back();
    (void)pawl_robust_lock_drop_read(LOCK);
    m_demand(takes(pawl_robust_lock_take_write) == told, M_VISIBILITY,
             "of two who entered one after the other only one was told");
    if (told)
        is_told_rightly();
    if (STAGE->died != 0 && STAGE->died != 'U' && !STAGE->died_inside && !STAGE->repaired)
        m_demand(told, M_VISIBILITY, "nobody is told of a death");
    m_demand(!told || !STAGE->repaired, M_VISIBILITY, "told of a death after the repair");
    if (told)
        (void)pawl_robust_lock_consistent(LOCK);
    (void)pawl_robust_lock_drop_write(LOCK);
    nothing_is_left();
}

/* clang-format off */
#define ALIVE(a, b)                                                                                \
    {"robust_" #a "_beside_" #b, make, {a, b}, who_comes_next_is_told, "preempt=1 fences=1"},
#define DEAD(a, b)                                                                                 \
    {"robust_" #a "_killed_beside_" #b, make_for_mortals, {b, a##_killed}, who_comes_next_is_told, \
     "preempt=0"},
#define DEAD_BESIDE_ALL(a) DEAD(a, reads) DEAD(a, seeks) DEAD(a, writes) DEAD(a, updates)

extern const struct m_scene m_robust_scenes[];
const struct m_scene m_robust_scenes[] = {
    ALIVE(reads, writes)
    ALIVE(updates, reads)
    ALIVE(seeks, writes)
    ALIVE(updates, writes)
    ALIVE(seeks_then_writes, reads)
    ALIVE(reads_then_writes, reads_then_seeks)
    ALIVE(writes_then_seeks, reads)
    ALIVE(writes_then_reads, seeks)
    ALIVE(tries_to_write, reads)
    {"robust_writes_then_reads_after_updates", make_room_for_atomic_users,
     {writes_then_reads, updates}, who_comes_next_is_told, "preempt=1 fences=1"},
    {"robust_newcomer_beside_who_drains", make, {sees_who_drains_and_reads, writes},
     who_comes_next_is_told, "preempt=1" REACH},
    {"robust_updates_and_stays_beside_reads", make, {reads_later, updates_and_stays},
     who_comes_next_is_told, "preempt=0"},
    {"robust_reads_beside_updates_and_stays", make, {reads, updates_and_stays},
     who_comes_next_is_told, "preempt=1 fences=1"},
    {"robust_reads_beside_two_writes", make, {reads_and_stays, writes_twice},
     who_comes_next_is_told, "preempt=2 fences=1"},
    {"robust_reader_killed_as_a_seeker", make_for_a_reader, {reads, drops_read_then_seeks_killed},
     who_comes_next_is_told, "preempt=1 fences=1"},
    DEAD(seeks, writes_then_seeks)
    {"robust_writes_killed_and_forgiven", make_for_mortals, {reads_and_forgives, writes_killed},
     who_comes_next_is_told, "preempt=0"},
    {"robust_seeks_killed_and_forgiven", make_for_mortals, {reads_and_forgives, seeks_killed},
     who_comes_next_is_told, "preempt=0"},
    DEAD_BESIDE_ALL(reads)
    DEAD_BESIDE_ALL(seeks)
    DEAD_BESIDE_ALL(writes)
    DEAD_BESIDE_ALL(updates)
    DEAD_BESIDE_ALL(seeks_then_writes)
    DEAD_BESIDE_ALL(writes_then_seeks)
    DEAD_BESIDE_ALL(writes_then_reads)
    DEAD_BESIDE_ALL(reads_then_seeks)
    DEAD_BESIDE_ALL(reads_then_writes)
    {"robust_writer_in_time_beside_read", make, {reads, writes_in_time}, who_comes_next_is_told,
     "preempt=2 time=2000000"},
    {"robust_writer_killed_beside_two", make_for_mortals, {reads, writes_killed, writes},
     who_comes_next_is_told, "preempt=0"},
    {"robust_seeker_killed_beside_two", make_for_mortals, {reads, seeks_killed, seeks},
     who_comes_next_is_told, "preempt=0"},
    {NULL, NULL, {NULL}, NULL, NULL},
};
/* clang-format on */
