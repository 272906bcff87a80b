/* SPDX-License-Identifier: MIT */
/* ID tables: what is found and what is refused, how objects come and go, and iteration. */
#include "test.h"

#include <pawl/idtable.h>

struct thing {
    int before; /* the entry need not come first */
    pawl_idtable_entry entry;
    pawl_lock32 lock;
    int value;
};

PAWL_IDTABLE_TYPE(things, struct thing, entry, lock);
PAWL_IDTABLE_TYPE_UNTIL(things, struct thing, entry, lock);

static uint32_t released; /* by the callbacks' worker, so by atomic additions */

static void release_thing(pawl_rcu_head *head)
{
    struct thing *o = things_of_head(head);
    must(o->before == 1 && pawl_idtable_is_removed(&o->entry));
    (void)pawl_fetch_add_relaxed32(&released, 1);
    free(o);
}

static pawl_idtable table;

static int begin(void **state)
{
    pawl_idtable_options options;
    memset(&options, 0, sizeof options);
    options.release = release_thing;
    must(pawl_idtable_init(&table, &options) == 0);
    pawl_store_relaxed32(&released, 0);
    return 0;
}

static int end(void **state)
{
    pawl_idtable_destroy(&table);
    return 0;
}

static struct thing *fresh(int value)
{
    struct thing *o = (struct thing *)calloc(1, sizeof *o);
    must(o != NULL);
    o->before = 1;
    o->value = value;
    return o;
}

static pawl_id insert(int value)
{
    pawl_id id = PAWL_ID_NONE;
    must(things_insert(&table, fresh(value), &id) == 0);
    must(id != PAWL_ID_NONE);
    return id;
}

/* The value of the object, or -1. */
static int value_of(pawl_id id)
{
    struct thing *o = things_take_read(&table, id);
    int value = -1;
    if (o != NULL) {
        value = o->value;
        things_drop_read(o);
    }
    return value;
}

static uint32_t released_now(void)
{
    assert_int_equal(pawl_rcu_barrier(), 0);
    return pawl_load_relaxed32(&released);
}

/* Runs body(argument) in another thread to its end. */
struct job {
    void (*body)(void *);
    void *argument;
};

static void *job_main(void *opaque)
{
    struct job *job = (struct job *)opaque;
    job->body(job->argument);
    return NULL;
}

static void elsewhere(void (*body)(void *), void *argument)
{
    struct job job;
    job.body = body;
    job.argument = argument;
    test_elsewhere(job_main, &job);
}

/* ---- Finding --------------------------------------------------------------------------------- */

TEST_CASE_WITH(zero_bytes_are_an_empty_table, begin, end)
{
    static pawl_idtable zero;
    pawl_id cursor = PAWL_ID_NONE;
    pawl_id id;
    struct thing o;
    assert_null(things_take_write(&zero, 1));
    assert_null(things_take_write(&zero, UINT64_MAX));
    assert_null(things_next_read(&zero, &cursor));
    assert_int_equal(pawl_idtable_count(&zero), 0);
    memset(&o, 0, sizeof o);
    assert_int_equal(things_insert(&zero, &o, &id), 0);
    assert_ptr_equal(things_take_write(&zero, id), &o);
    assert_true(things_remove(&zero, &o)); /* there is no release function */
    pawl_idtable_destroy(&zero);
}

TEST_CASE_WITH(the_initializer_is_an_empty_table_that_releases, begin, end)
{
    static pawl_idtable made = PAWL_IDTABLE_INIT(release_thing);
    pawl_id id;
    must(things_insert(&made, fresh(3), &id) == 0);
    assert_true(things_remove_id(&made, id));
    pawl_idtable_destroy(&made);
    assert_int_equal(pawl_load_relaxed32(&released), 1);
}

struct tries {
    pawl_id id;
    bool read, write, busy;
};

static void try_both(void *opaque)
{
    struct tries *t = (struct tries *)opaque;
    struct thing *o = things_try_read(&table, t->id, NULL);
    t->read = o != NULL;
    if (o != NULL)
        things_drop_read(o);
    o = things_try_write(&table, t->id, &t->busy);
    t->write = o != NULL;
    if (o != NULL)
        things_drop_write(o);
}

static void others_may(pawl_id id, bool read, bool write)
{
    struct tries t;
    t.id = id;
    elsewhere(try_both, &t);
    assert_int_equal(t.read, read);
    assert_int_equal(t.write, write);
    assert_int_equal(t.busy, !write);
}

TEST_CASE_WITH(what_is_found_is_locked_as_asked_for, begin, end)
{
    const pawl_id id = insert(7);
    struct thing *o = things_take_read(&table, id);
    assert_int_equal(o->value, 7);
    others_may(id, true, false);
    things_drop_read(o);
    o = things_take_seek(&table, id);
    others_may(id, true, false);
    things_drop_seek(o);
    o = things_take_write(&table, id);
    others_may(id, false, false);
    things_drop_write(o);
    o = things_take_atomic(&table, id);
    others_may(id, false, false);
    things_drop_atomic(o);
    others_may(id, true, true);
}

TEST_CASE_WITH(a_try_tells_busy_from_absent, begin, end)
{
    const pawl_id id = insert(1);
    struct tries t;
    bool busy = true;
    assert_null(things_try_write(&table, id + 1, &busy));
    assert_false(busy);
    struct thing *o = things_take_write(&table, id);
    t.id = id;
    elsewhere(try_both, &t);
    assert_true(t.busy);
    things_drop_write(o);
    o = things_try_atomic(&table, id, &busy);
    assert_non_null(o);
    assert_false(busy);
    things_drop_atomic(o);
}

struct waiting {
    pawl_id id;
    bool found, late;
};

static void wait_a_moment(void *opaque)
{
    struct waiting *w = (struct waiting *)opaque;
    struct thing *o = things_take_write_until(&table, w->id, pawl_now() + 1000000, &w->late);
    w->found = o != NULL;
    if (o != NULL)
        things_drop_write(o);
}

TEST_CASE_WITH(a_deadline_that_passes_is_told_from_absence, begin, end)
{
    struct waiting w;
    w.id = insert(1);
    struct thing *o = things_take_write(&table, w.id);
    elsewhere(wait_a_moment, &w);
    assert_false(w.found);
    assert_true(w.late);
    things_drop_write(o);
    elsewhere(wait_a_moment, &w);
    assert_true(w.found);
    assert_false(w.late);
    w.id++;
    elsewhere(wait_a_moment, &w);
    assert_false(w.found);
    assert_false(w.late);
    o = things_take_read_until(&table, w.id - 1, 0, NULL); /* past, but it is free */
    assert_non_null(o);
    things_drop_read(o);
}

/* The lock is held by this thread: a lookup that touched it would wait for ever. */
TEST_CASE_WITH(a_forged_id_finds_nothing_and_touches_no_lock, begin, end)
{
    const pawl_id id = insert(1);
    const pawl_id generation = UINT64_C(1) << 32;
    struct thing *o = things_take_write(&table, id);
    assert_null(things_take_write(&table, PAWL_ID_NONE));
    assert_null(things_take_write(&table, UINT64_MAX));
    assert_null(things_take_write(&table, id + generation));
    assert_null(things_take_write(&table, id - generation));
    assert_null(things_take_write(&table, (uint32_t)id));
    assert_null(things_take_write(&table, (id & ~(generation - 1)) | UINT32_MAX));
    for (unsigned bit = 0; bit < 64; bit++)
        assert_null(things_take_write(&table, id ^ (UINT64_C(1) << bit)));
    things_drop_write(o);
    assert_int_equal(value_of(id), 1);
}

/* ---- Removing -------------------------------------------------------------------------------- */

TEST_CASE_WITH(what_was_removed_is_not_found_and_its_id_never_comes_back, begin, end)
{
    const pawl_id id = insert(1);
    pawl_id other;
    struct thing *o;
    assert_true(things_remove_id(&table, id));
    assert_int_equal(pawl_idtable_count(&table), 0);
    assert_null(things_take_write(&table, id));
    assert_false(things_remove_id(&table, id));
    for (int i = 0; i < 100; i++) {
        other = insert(2);
        assert_int_equal((uint32_t)other, (uint32_t)id); /* the place is used again */
        assert_true(other != id);
        o = things_take_write(&table, other);
        assert_null(things_take_write(&table, id)); /* and does not touch the new one's lock */
        assert_true(things_remove(&table, o));
    }
    assert_int_equal(released_now(), 101);
}

static void remove_it(void *opaque)
{
    must(things_remove_id(&table, *(pawl_id *)opaque));
}

TEST_CASE_WITH(an_object_stays_as_long_as_a_reader_that_has_found_it, begin, end)
{
    pawl_id id = insert(5);
    pawl_idtable_read_lock(&table);
    struct thing *o = things_of(pawl_idtable_peek(&table, id));
    assert_non_null(o);
    elsewhere(remove_it, &id);
    assert_null(pawl_idtable_peek(&table, id));
    assert_int_equal(pawl_rcu_barrier(), EDEADLK); /* we read: nothing can have been released */
    assert_int_equal(pawl_load_relaxed32(&released), 0);
    assert_int_equal(o->value, 5);
    assert_true(pawl_idtable_is_removed(&o->entry));
    pawl_idtable_read_unlock(&table);
    assert_int_equal(released_now(), 1);
}

struct waiter {
    pawl_id id;
    uint32_t found;
    pthread_t thread;
};

static void *wait_for_it(void *opaque)
{
    struct waiter *w = (struct waiter *)opaque;
    struct thing *o = things_take_write(&table, w->id);
    w->found = o != NULL;
    if (o != NULL)
        things_drop_write(o);
    return NULL;
}

TEST_CASE_WITH(who_waits_for_its_lock_when_it_is_removed_gets_nothing, begin, end)
{
    const struct timespec nap = {0, 5000000};
    struct waiter w;
    w.id = insert(1);
    w.found = 2;
    struct thing *o = things_take_write(&table, w.id);
    w.thread = test_start(wait_for_it, &w);
    nanosleep(&nap, NULL); /* long enough for it to sleep, most often; true in any case */
    assert_true(things_remove(&table, o));
    test_join(w.thread);
    assert_int_equal(w.found, 0);
    assert_int_equal(released_now(), 1);
}

#define READ_LOCK() pawl_rcu_read_lock()
#define READ_UNLOCK() pawl_rcu_read_unlock()
#include "support/reader.h"

TEST_CASE_WITH(in_a_domain_of_its_own_other_readers_hold_nothing_up, begin, end)
{
    static pawl_rcu_domain domain;
    pawl_idtable_options options;
    pawl_idtable own;
    struct reader r;
    pawl_id id;
    must(pawl_rcu_domain_init(&domain, "things") == 0);
    memset(&options, 0, sizeof options);
    options.domain = &domain;
    options.release = release_thing;
    must(pawl_idtable_init(&own, &options) == 0);
    reader_begins(&r);

    must(things_insert(&own, fresh(1), &id) == 0);
    pawl_idtable_read_lock(&own);
    assert_true(pawl_rcu_domain_read_held(&domain));
    assert_false(pawl_rcu_read_held());
    assert_non_null(pawl_idtable_peek(&own, id));
    pawl_idtable_read_unlock(&own);
    assert_true(things_remove_id(&own, id));
    assert_int_equal(pawl_rcu_domain_barrier(&domain), 0);
    assert_int_equal(pawl_load_relaxed32(&released), 1);

    reader_ends(&r);
    pawl_idtable_destroy(&own);
    pawl_rcu_domain_destroy(&domain);
}

/* ---- Iteration ------------------------------------------------------------------------------- */

TEST_CASE_WITH(iteration_visits_each_object_once_locked, begin, end)
{
    pawl_id ids[40];
    pawl_id cursor = PAWL_ID_NONE;
    struct thing *o;
    int i, sum = 0, count = 0;
    for (i = 0; i < 40; i++)
        ids[i] = insert(1 << (i / 2));
    for (i = 0; i < 40; i += 2)
        must(things_remove_id(&table, ids[i]));
    while ((o = things_next_write(&table, &cursor)) != NULL) {
        others_may(cursor, false, false);
        assert_true(cursor == ids[2 * count + 1]);
        sum += o->value;
        count++;
        things_drop_write(o);
    }
    assert_int_equal(count, 20);
    assert_int_equal(sum, (1 << 20) - 1);
    assert_null(things_next_write(&table, &cursor)); /* and stays at the end */
}

TEST_CASE_WITH(what_is_in_all_the_time_is_visited_though_the_table_grows_and_shrinks, begin, end)
{
    pawl_id stay[10], cursor = PAWL_ID_NONE;
    struct thing *o;
    int i, k, seen = 0;
    for (i = 0; i < 10; i++) {
        stay[i] = insert(i);
        insert(100);
    }
    while ((o = things_next_read(&table, &cursor)) != NULL) {
        const bool stays = o->value < 10;
        if (stays)
            assert_int_equal(o->value, seen++);
        things_drop_read(o);
        if (!stays)
            (void)things_remove_id(&table, cursor);
        for (k = 0; k < 20 && seen < 10; k++)
            insert(200); /* behind us or before us */
    }
    assert_int_equal(seen, 10);
    for (i = 0; i < 10; i++)
        assert_int_equal(value_of(stay[i]), i);
}

/* ---- The end --------------------------------------------------------------------------------- */

TEST_CASE_WITH(destroy_releases_what_is_in_and_waits_for_what_was_removed, begin, end)
{
    pawl_id ids[100];
    for (int i = 0; i < 100; i++)
        ids[i] = insert(i);
    for (int i = 0; i < 100; i += 3)
        must(things_remove_id(&table, ids[i]));
    pawl_idtable_destroy(&table);
    assert_int_equal(pawl_load_relaxed32(&released), 100);
}

TEST_CASE_WITH(a_destroyed_table_finds_and_takes_nothing, begin, end)
{
    const pawl_id id = insert(1);
    pawl_id cursor = PAWL_ID_NONE;
    struct thing *o = fresh(2);
    pawl_idtable_destroy(&table);
    assert_null(things_take_write(&table, id));
    assert_null(things_next_write(&table, &cursor));
    assert_int_equal(things_insert(&table, o, NULL), ENOSPC);
    assert_int_equal(pawl_idtable_reserve(&table, 10), ENOSPC);
    assert_false(things_remove_id(&table, id));
    pawl_idtable_destroy(&table);
    pawl_idtable_destroy(NULL);
    free(o);
}

/* ---- Handlers and fork ----------------------------------------------------------------------- */

static pawl_id handler_id;
static uint32_t handler_got;

static void handler(int number)
{
    struct thing *o = things_try_write(&table, handler_id, NULL);
    if (o != NULL) {
        pawl_store_relaxed32(&handler_got, 1);
        things_drop_write(o);
    }
}

TEST_CASE_WITH(a_handler_may_look_up_and_try, begin, end)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    must(sigaction(SIGUSR1, &action, NULL) == 0);
    handler_id = insert(1);
    pawl_idtable_read_lock(&table);
    raise(SIGUSR1);
    pawl_idtable_read_unlock(&table);
    assert_int_equal(handler_got, 1);
    handler_got = 0;
    struct thing *o = things_take_write(&table, handler_id);
    raise(SIGUSR1);
    assert_int_equal(handler_got, 0);
    things_drop_write(o);
}

TEST_CASE_WITH(the_child_of_a_fork_has_the_objects, begin, end)
{
#if PAWL_TSAN_
    skip(); /* it lets no child of a process with threads start one: the callbacks' worker */
#else
    pawl_id id = insert(9);
    fflush(NULL);
    pid_t child = fork();
    must(child >= 0);
    if (child == 0) {
        alarm(TEST_HANGS);
        must(value_of(id) == 9);
        must(things_remove_id(&table, id));
        must(value_of(id) == -1);
        must(pawl_rcu_barrier() == 0);
        must(pawl_load_relaxed32(&released) == 1);
        insert(10);
        pawl_idtable_destroy(&table);
        must(pawl_load_relaxed32(&released) == 2);
        _exit(0);
    }
    assert_int_equal(test_wait(child), 0);
    assert_int_equal(value_of(id), 9);
#endif
}

TEST_MAIN()
