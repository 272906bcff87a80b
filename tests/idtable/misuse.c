/* SPDX-License-Identifier: MIT */
/* What the checking variant says of ID tables. */
#include "support/misuse.h"

#include <pawl/idtable.h>

struct thing {
    pawl_idtable_entry entry;
    pawl_lock32 lock;
};

PAWL_IDTABLE_TYPE(things, struct thing, entry, lock);

static struct thing one, two;
static pawl_idtable table, other;

/* ---- Removing -------------------------------------------------------------------------------- */

REPORTED_CASE(remove_without_the_lock_is_reported, "pawl_lock32 at",
              "by pawl_lock32_assert_held_write")
{
    must(things_insert(&table, &one, NULL) == 0);
    (void)things_remove(&table, &one);
}

REPORTED_CASE(remove_under_a_read_hold_is_reported, "pawl_lock32 at",
              "by pawl_lock32_assert_held_write", "this thread holds R")
{
    pawl_id id;
    must(things_insert(&table, &one, &id) == 0);
    struct thing *o = things_take_read(&table, id);
    must(o != NULL);
    (void)things_remove(&table, o);
}

REPORTED_CASE(remove_twice_is_reported, "removed what is not in: pawl_idtable at",
              "by pawl_idtable_remove")
{
    must(things_insert(&table, &one, NULL) == 0);
    pawl_take_write(&one.lock);
    must(pawl_idtable_remove(&table, &one.entry));
    (void)pawl_idtable_remove(&table, &one.entry);
}

REPORTED_CASE(remove_what_was_never_in_is_reported, "removed what is not in: pawl_idtable at",
              "by pawl_idtable_remove")
{
    pawl_take_write(&one.lock);
    (void)things_remove(&table, &one);
}

REPORTED_CASE(remove_from_another_table_is_reported,
              "removed what is in another table: pawl_idtable at", "by pawl_idtable_remove")
{
    must(things_insert(&table, &one, NULL) == 0);
    must(things_insert(&other, &two, NULL) == 0); /* in the same place there */
    pawl_take_write(&one.lock);
    (void)things_remove(&other, &one);
}

REPORTED_CASE(remove_from_an_empty_table_is_reported,
              "removed what is in another table: pawl_idtable at")
{
    must(things_insert(&table, &one, NULL) == 0);
    pawl_take_write(&one.lock);
    (void)things_remove(&other, &one);
}

REPORTED_CASE(retiring_without_removing_is_reported,
              "retired without being removed: pawl_idtable at", "by pawl_idtable_retire")
{
    must(things_insert(&table, &one, NULL) == 0);
    pawl_idtable_retire(&table, &one.entry, sizeof one);
}

/* ---- Inserting ------------------------------------------------------------------------------- */

REPORTED_CASE(inserting_twice_is_reported, "inserted twice: pawl_idtable at",
              "by pawl_idtable_insert")
{
    must(things_insert(&table, &one, NULL) == 0);
    (void)things_insert(&table, &one, NULL);
}

/* ---- The life of a table --------------------------------------------------------------------- */

static void look_up_after_destroy(void *unused)
{
    pawl_idtable_destroy(&table);
    (void)things_take_read(&table, 1);
}

static void insert_after_destroy(void *unused)
{
    pawl_idtable_destroy(&table);
    (void)things_insert(&table, &one, NULL);
}

static void destroy_twice(void *unused)
{
    pawl_idtable_destroy(&table);
    pawl_idtable_destroy(&table);
}

static void remove_after_destroy(void *unused)
{
    must(things_insert(&table, &one, NULL) == 0);
    pawl_idtable_destroy(&table);
    pawl_take_write(&one.lock);
    (void)things_remove(&table, &one);
}

static void visit_after_destroy(void *unused)
{
    pawl_id cursor = PAWL_ID_NONE;
    pawl_idtable_destroy(&table);
    pawl_rcu_read_lock();
    (void)pawl_idtable_next(&table, &cursor);
}

TEST_CASE(use_after_destroy_is_reported)
{
    static void (*const uses[])(void *) = {look_up_after_destroy, insert_after_destroy,
                                           destroy_twice, remove_after_destroy,
                                           visit_after_destroy};
    static const char *const calls[] = {"by a lookup", "by pawl_idtable_insert",
                                        "by pawl_idtable_destroy", "by pawl_idtable_remove",
                                        "by pawl_idtable_next"};
    for (unsigned i = 0; i < sizeof uses / sizeof uses[0]; i++)
        assert_reports(uses[i], NULL, "used after destroy: pawl_idtable at", calls[i], NULL);
}

/* ---- Outside a read section ------------------------------------------------------------------ */

REPORTED_CASE(peek_outside_is_reported, "rcu domain")
{
    pawl_id id;
    must(things_insert(&table, &one, &id) == 0);
    (void)pawl_idtable_peek(&table, id);
}

REPORTED_CASE(next_outside_is_reported, "rcu domain")
{
    pawl_id cursor = PAWL_ID_NONE;
    must(things_insert(&table, &one, NULL) == 0);
    (void)pawl_idtable_next(&table, &cursor);
}

/* ---- Right use ------------------------------------------------------------------------------- */

static void look_around(void *id)
{
    struct thing *o = things_take_write(&table, *(pawl_id *)id);
    pawl_id cursor = PAWL_ID_NONE;
    must(o == &one);
    things_drop_write(o);
    while ((o = things_next_read(&table, &cursor)) != NULL)
        things_drop_read(o);
}

static void use_it_well(void *unused)
{
    static struct thing many[100];
    pawl_id id, ids[100];
    pawl_take_write(&one.lock); /* not to be found before it is ready */
    must(things_insert(&table, &one, &id) == 0);
    pawl_drop_write(&one.lock);
    for (unsigned i = 0; i < 100; i++)
        must(things_insert(&table, &many[i], &ids[i]) == 0);
    in_another_thread(look_around, &id);
    look_around(&id);
    for (unsigned i = 0; i < 100; i += 2)
        must(things_remove_id(&table, ids[i]));
    must(!things_remove_id(&table, ids[0]));
    pawl_rcu_synchronize();
    for (unsigned i = 0; i < 100; i += 2)
        must(things_insert(&table, &many[i], &ids[i]) == 0); /* after a grace period: again */
    pawl_idtable_destroy(&table);
}

static void go_on_after_init_has_refused(void *unused)
{
    pawl_idtable_options options;
    memset(&options, 0, sizeof options);
    options.limit = PAWL_IDTABLE_MOST + 1;
    must(pawl_idtable_init(&table, &options) == EINVAL);
    must(things_insert(&table, &one, NULL) == ENOSPC);
    must(things_take_read(&table, 1) == NULL);
    pawl_idtable_destroy(&table);
    pawl_idtable_destroy(NULL);
}

TEST_CASE(right_use_is_silent)
{
    assert_silent(use_it_well, NULL);
    assert_silent(go_on_after_init_has_refused, NULL);
}

TEST_MAIN(misuse_without_lines())
