/* SPDX-License-Identifier: MIT */
/* Reports of the checking variant on tables: each of a node names two places. */
#include "support/misuse.h"

#include <pawl/table.h>

static pawl_table table;
static pawl_table_node one, two;

static void insert_twice(void *unused)
{
    pawl_table_insert(&table, &one, pawl_table_number(1));
    pawl_table_insert(&table, &two, pawl_table_number(2));
    pawl_table_insert(&table, &one, pawl_table_number(3));
}

static void replace_by_what_is_in(void *unused)
{
    pawl_table_insert(&table, &one, pawl_table_number(1));
    pawl_table_insert(&table, &two, pawl_table_number(2));
    (void)pawl_table_replace(&table, &one, &two);
}

TEST_CASE(inserting_twice_is_reported_with_both_places)
{
    assert_reports(insert_twice, NULL, "inserted twice, last changed at ",
                   "misuse.c:", "pawl_table_node at", "by pawl_table_insert",
                   "misuse.c:", "mend: insert each object once", "page: doc/table.md", NULL);
    assert_reports(replace_by_what_is_in, NULL, "inserted twice, last changed at ",
                   "misuse.c:", "by pawl_table_replace", NULL);
}

static void remove_twice(void *unused)
{
    pawl_table_insert(&table, &one, pawl_table_number(1));
    must(pawl_table_remove(&table, &one));
    (void)pawl_table_remove(&table, &one);
}

static void remove_what_was_never_in(void *unused)
{
    (void)pawl_table_remove(&table, &one);
}

TEST_CASE(removing_what_is_not_in_is_reported)
{
    assert_reports(remove_twice, NULL, "removed what is not in, last changed at ",
                   "misuse.c:", "by pawl_table_remove", "misuse.c:", NULL);
    assert_reports(remove_what_was_never_in, NULL, "removed what is not in: pawl_table_node at",
                   "by pawl_table_remove", "misuse.c:", NULL);
}

REPORTED_CASE(freeing_what_is_in_is_reported_with_both_places,
              "destroyed in the table, last changed at ", "misuse.c:", "by pawl_table_node_destroy",
              "misuse.c:", "mend: remove the node")
{
    pawl_table_insert(&table, &one, pawl_table_number(1));
    pawl_table_node_destroy(&one);
}

static void look_up_outside_a_section(void *unused)
{
    (void)pawl_table_get(&table, pawl_table_number(1));
}

static void walk_outside_a_section(void *unused)
{
    (void)pawl_table_from(&table, 0);
}

TEST_CASE(look_ups_outside_a_section_are_reported)
{
    assert_reports(look_up_outside_a_section, NULL, "read outside a section", NULL);
    assert_reports(walk_outside_a_section, NULL, "read outside a section", NULL);
}

SILENT_CASE(right_use_is_silent)
{
    pawl_table_insert(&table, &one, pawl_table_number(1));
    pawl_rcu_read_lock();
    must(pawl_table_get(&table, pawl_table_number(1)) == &one);
    must(pawl_table_step(&table, pawl_table_from(&table, 0)) == NULL);
    must(pawl_table_remove(&table, &one));
    must(!pawl_table_remove(&table, &one)); /* the section has kept it: it lost a race */
    pawl_rcu_read_unlock();
    pawl_rcu_synchronize();
    pawl_table_insert(&table, &one, pawl_table_number(2));
    must(pawl_table_replace(&table, &one, &two));
    must(pawl_table_remove(&table, &two));
    pawl_table_node_destroy(&one);
    pawl_table_node_destroy(&two);
    pawl_table_destroy(&table);
}

int main(int argc, char **argv)
{
    return test_main(argc, argv);
}
