/* SPDX-License-Identifier: MIT */
/* Reports of the checking variant on tables: each of a node names two places. */
#include "support/misuse.h"

#include <pawl/table.h>

static pawl_table table;
static pawl_table_node one, two;

REPORTED_CASE(insert_twice_is_reported, "inserted twice, last changed at ",
              "misuse.c:", "pawl_table_node at", "by pawl_table_insert",
              "misuse.c:", "mend: insert each object once", "page: doc/table.md")
{
    pawl_table_insert(&table, &one, pawl_table_number(1));
    pawl_table_insert(&table, &two, pawl_table_number(2));
    pawl_table_insert(&table, &one, pawl_table_number(3));
}

REPORTED_CASE(replace_by_what_is_in_is_reported, "inserted twice, last changed at ",
              "misuse.c:", "by pawl_table_replace")
{
    pawl_table_insert(&table, &one, pawl_table_number(1));
    pawl_table_insert(&table, &two, pawl_table_number(2));
    (void)pawl_table_replace(&table, &one, &two);
}

REPORTED_CASE(remove_twice_is_reported, "removed what is not in, last changed at ",
              "misuse.c:", "by pawl_table_remove", "misuse.c:")
{
    pawl_table_insert(&table, &one, pawl_table_number(1));
    must(pawl_table_remove(&table, &one));
    (void)pawl_table_remove(&table, &one);
}

REPORTED_CASE(remove_what_was_never_in_is_reported, "removed what is not in: pawl_table_node at",
              "by pawl_table_remove", "misuse.c:")
{
    (void)pawl_table_remove(&table, &one);
}

REPORTED_CASE(freeing_what_is_in_is_reported_with_both_places,
              "destroyed in the table, last changed at ", "misuse.c:", "by pawl_table_node_destroy",
              "misuse.c:", "mend: remove the node")
{
    pawl_table_insert(&table, &one, pawl_table_number(1));
    pawl_table_node_destroy(&one);
}

REPORTED_CASE(look_up_outside_a_section_is_reported, "read outside a section")
{
    (void)pawl_table_get(&table, pawl_table_number(1));
}

REPORTED_CASE(walk_outside_a_section_is_reported, "read outside a section")
{
    (void)pawl_table_from(&table, 0);
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
