/* SPDX-License-Identifier: MIT */
/*
 * An ID table under threads that look up by fresh, stale and forged IDs, insert, remove and
 * iterate, while the array grows and memory fails now and then; with callbacks that are refused,
 * helped with or waited for. The objects are plain memory from malloc, freed by the callbacks, so
 * the sanitizers see a lookup that comes too late, and what the locks order.
 */
#include "test.h"

#include <pawl/idtable.h>

enum { FIRST_STEPS = 2000, THREADS = 12, BOARD = 512, CURSOR_STEPS = 40 };

struct thing {
    uint64_t number, complement;
    pawl_idtable_entry entry;
    pawl_lock32 lock;
    pawl_id self;
};

PAWL_IDTABLE_TYPE(things, struct thing, entry, lock);
PAWL_IDTABLE_TYPE_UNTIL(things, struct thing, entry, lock);

static struct {
    pawl_idtable table;
    pawl_rcu_domain domain;
    uint64_t board[BOARD]; /* IDs that somebody has had, stale ones among them */
    uint64_t seed;
    unsigned steps;
    uint32_t inserted, removed, released, refused, failures, arrays;
    uint64_t found, missed;
} shared;

struct worker {
    uint64_t random;
    unsigned inserting; /* of 16 changes, so many are inserts */
    uint32_t found, missed;
};

static void release_thing(pawl_rcu_head *head)
{
    struct thing *o = things_of_head(head);
    must(o->complement == ~o->number);
    memset(o, 0x5a, sizeof *o);
    free(o);
    (void)pawl_fetch_add_relaxed32(&shared.released, 1);
}

/* One array in sixteen is not to be had. */
static void *allocate(size_t bytes, void *arg)
{
    if (pawl_fetch_add_relaxed32(&shared.failures, 1) % 16 == 15)
        return NULL;
    (void)pawl_fetch_add_relaxed32(&shared.arrays, 1);
    return malloc(bytes);
}

static void deallocate(void *memory, size_t bytes, void *arg)
{
    memset(memory, 0x5a, bytes);
    free(memory);
    (void)pawl_fetch_sub_relaxed32(&shared.arrays, 1);
}

static unsigned below(struct worker *w, unsigned bound)
{
    return test_random_below(&w->random, bound);
}

static void linger(struct worker *w)
{
    const struct timespec nap = {0, 20000};
    const unsigned what = below(w, 256);
    if (what == 0)
        nanosleep(&nap, NULL);
    else if (what < 8)
        sched_yield();
}

/* A good ID more often than not; else one that never was. */
static pawl_id some_id(struct worker *w)
{
    const pawl_id id = pawl_load_relaxed64(&shared.board[below(w, BOARD)]);
    switch (below(w, 16)) {
    case 0: return id + (UINT64_C(1) << 32);
    case 1: return test_random(&w->random);
    case 2: return PAWL_ID_NONE;
    default: return id;
    }
}

/* The object is locked in some state. */
static void look(struct worker *w, const struct thing *o, pawl_id id)
{
    const uint64_t number = o->number;
    must(o->self == id && o->entry.id == id);
    must(!pawl_idtable_is_removed(&o->entry));
    linger(w);
    must(o->complement == ~number);
}

static void change(struct worker *w, struct thing *o, pawl_id id)
{
    look(w, o, id);
    o->number++;
    linger(w);
    o->complement = ~o->number;
}

static bool count(struct worker *w, const struct thing *o)
{
    w->found += o != NULL;
    w->missed += o == NULL;
    return o != NULL;
}

/* ---- What a thread does ---------------------------------------------------------------------- */

static void insert(struct worker *w)
{
    struct thing *o = (struct thing *)malloc(sizeof *o);
    pawl_id id = PAWL_ID_NONE;
    must(o != NULL);
    o->number = test_random(&w->random);
    o->complement = ~o->number;
    pawl_lock32_init(&o->lock);
    pawl_take_write(&o->lock); /* it is found, but not to be had, before it knows its ID */
    if (things_insert(&shared.table, o, &id) != 0) {
        things_drop_write(o);
        free(o);
        (void)pawl_fetch_add_relaxed32(&shared.refused, 1);
        return;
    }
    linger(w);
    o->self = id;
    things_drop_write(o);
    (void)pawl_fetch_add_relaxed32(&shared.inserted, 1);
    pawl_store_relaxed64(&shared.board[below(w, BOARD)], id);
}

static void take_out(struct worker *w)
{
    const pawl_id id = some_id(w);
    struct thing *o = things_take_write(&shared.table, id);
    if (!count(w, o))
        return;
    change(w, o, id);
    must(things_remove(&shared.table, o));
    (void)pawl_fetch_add_relaxed32(&shared.removed, 1);
    must(things_take_write(&shared.table, id) == NULL);
}

static void write_it(struct worker *w)
{
    const pawl_id id = some_id(w);
    struct thing *o;
    switch (below(w, 4)) {
    case 0: o = things_try_write(&shared.table, id, NULL); break;
    case 1: o = things_take_write_until(&shared.table, id, pawl_now() + 30000, NULL); break;
    case 2:
        o = things_take_seek(&shared.table, id);
        if (o != NULL) {
            look(w, o, id);
            pawl_seek_to_write(&o->lock);
        }
        break;
    default: o = things_take_write(&shared.table, id);
    }
    if (count(w, o)) {
        change(w, o, id);
        things_drop_write(o);
    }
}

static void read_it(struct worker *w)
{
    const pawl_id id = some_id(w);
    struct thing *o = below(w, 4) == 0 ? things_try_read(&shared.table, id, NULL)
                                       : things_take_read(&shared.table, id);
    if (count(w, o)) {
        look(w, o, id);
        things_drop_read(o);
    }
}

static void peek(struct worker *w)
{
    const pawl_id id = some_id(w);
    pawl_idtable_read_lock(&shared.table);
    pawl_idtable_entry *e = pawl_idtable_peek(&shared.table, id);
    if (e != NULL) {
        linger(w);
        must(e->id == id); /* also when it has been removed meanwhile */
    }
    pawl_idtable_read_unlock(&shared.table);
}

static void iterate(struct worker *w)
{
    pawl_id cursor = some_id(w);
    pawl_id before = cursor;
    struct thing *o;
    for (unsigned i = 0; i < CURSOR_STEPS; i++) {
        o = things_next_read(&shared.table, &cursor);
        if (o == NULL)
            return;
        must(before == PAWL_ID_NONE || (uint32_t)cursor > (uint32_t)before);
        look(w, o, cursor);
        things_drop_read(o);
        before = cursor;
    }
}

static void step(struct worker *w)
{
    switch (below(w, 16)) {
    case 0:
    case 1:
    case 2:
        if (below(w, 16) < w->inserting)
            insert(w);
        else
            take_out(w);
        break;
    case 3:
    case 4:
    case 5: write_it(w); break;
    case 6: peek(w); break;
    case 7:
        if (below(w, 4) == 0)
            iterate(w);
        break;
    default: read_it(w);
    }
}

static void work(void *unused, unsigned index)
{
    struct worker w;
    memset(&w, 0, sizeof w);
    w.random = shared.seed + index * UINT64_C(0x632be59bd9b4e019);
    for (unsigned i = 0; i < shared.steps; i++) {
        w.inserting = i < shared.steps / 2 ? 12 : 6; /* first it grows, then it thins out */
        step(&w);
    }
    (void)pawl_fetch_add_relaxed64(&shared.found, w.found);
    (void)pawl_fetch_add_relaxed64(&shared.missed, w.missed);
}

/* ---- Rounds ---------------------------------------------------------------------------------- */

static void begin_round(unsigned round)
{
    static const pawl_rcu_policy policies[] = {PAWL_RCU_HELP, PAWL_RCU_WAIT, PAWL_RCU_REFUSE};
    pawl_idtable_options options;
    memset(&options, 0, sizeof options);
    options.first = 1 + round % 5;
    options.limit = round % 4 == 3 ? 100 : 0;
    options.release = release_thing;
    options.allocator.allocate = allocate;
    options.allocator.release = deallocate;
    must(pawl_rcu_domain_init(&shared.domain, "stress") == 0);
    if (round % 2 == 1) {
        options.domain = &shared.domain;
        must(pawl_rcu_domain_limit(&shared.domain, 1 + round * 7 % 50, PAWL_RCU_NO_LIMIT,
                                   policies[round / 2 % 3]) == 0);
    }
    must(pawl_idtable_init(&shared.table, &options) == 0);
    memset(shared.board, 0, sizeof shared.board);
    shared.inserted = shared.removed = shared.released = shared.refused = 0;
}

static void end_round(void)
{
    pawl_id cursor = PAWL_ID_NONE;
    uint32_t left = 0;
    struct thing *o;
    while ((o = things_next_write(&shared.table, &cursor)) != NULL) {
        left++;
        things_drop_write(o);
    }
    assert_int_equal(left, shared.inserted - shared.removed);
    assert_int_equal(pawl_idtable_count(&shared.table), left);
    pawl_idtable_destroy(&shared.table);
    pawl_rcu_domain_destroy(&shared.domain);
    assert_int_equal(pawl_load_relaxed32(&shared.released), shared.inserted);
    assert_int_equal(pawl_load_relaxed32(&shared.arrays), 0);
}

TEST_CASE(lookups_find_what_is_in_and_nothing_else)
{
    static const unsigned crowds[] = {2, 4, THREADS};
    const double end = test_now() + test_seconds(4);
    unsigned steps = TEST_SCALE(FIRST_STEPS);
    unsigned round = 0;
    shared.seed = test_seed();
    do {
        const unsigned threads = crowds[round % 3];
        shared.steps = steps;
        print_message("round %u, %u threads, %u steps each, seed %" PRIu64 "\n", round, threads,
                      steps, shared.seed);
        begin_round(round);
        test_threads(threads, work, NULL);
        end_round();
        if (++round % 12 == 0)
            steps *= 2;
        shared.seed += THREADS;
    } while (test_now() < end || shared.found == 0 || shared.missed == 0);
}

TEST_MAIN()
