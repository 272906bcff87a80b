/* SPDX-License-Identifier: MIT */
/* Reports of the checking variant on trees: each of a node names two places. */
#include "support/misuse.h"

#include <pawl/tree.h>

static pawl_tree tree;
static pawl_tree_node one, two;

REPORTED_CASE(inserting_twice_is_reported_with_both_places, "inserted twice, last changed at ",
              "misuse.c:", "pawl_tree_node at", "by pawl_tree_insert",
              "misuse.c:", "mend: insert each object once", "page: doc/tree.md")
{
    pawl_tree_insert(&tree, &one, pawl_tree_number(1));
    pawl_tree_insert(&tree, &two, pawl_tree_number(2));
    pawl_tree_insert(&tree, &one, pawl_tree_number(3));
}

static void remove_twice(void *unused)
{
    pawl_tree_insert(&tree, &one, pawl_tree_number(1));
    must(pawl_tree_remove(&tree, &one));
    (void)pawl_tree_remove(&tree, &one);
}

static void remove_what_was_never_in(void *unused)
{
    (void)pawl_tree_remove(&tree, &one);
}

TEST_CASE(removing_what_is_not_in_is_reported)
{
    assert_reports(remove_twice, NULL, "removed what is not in, last changed at ",
                   "misuse.c:", "by pawl_tree_remove", "misuse.c:", NULL);
    assert_reports(remove_what_was_never_in, NULL, "removed what is not in: pawl_tree_node at",
                   "by pawl_tree_remove", "misuse.c:", NULL);
}

REPORTED_CASE(freeing_what_is_in_is_reported_with_both_places,
              "destroyed in the tree, last changed at ", "misuse.c:", "by pawl_tree_node_destroy",
              "misuse.c:", "mend: remove the node")
{
    pawl_tree_insert(&tree, &one, pawl_tree_number(1));
    pawl_tree_node_destroy(&one);
}

static void destroy_beside_a_walk(void *unused)
{
    static pawl_tree_walk walk;
    pawl_tree_walk_begin(&tree, &walk);
    pawl_tree_destroy(&tree);
}

static void look_up_outside_a_section(void *unused)
{
    (void)pawl_tree_get(&tree, pawl_tree_number(1));
}

static void change_without_the_lock(void *unused)
{
    (void)pawl_tree_insert_as(&tree, &one, pawl_tree_number(1), PAWL_TREE_HAS_WRITE);
}

static void change_in_no_batch(void *unused)
{
    (void)pawl_tree_insert_as(&tree, &one, pawl_tree_number(1), PAWL_TREE_HAS_ATOMIC);
}

TEST_CASE(calls_in_the_wrong_place_are_reported)
{
    assert_reports(destroy_beside_a_walk, NULL, "destroyed beside a walk: pawl_tree at", NULL);
    assert_reports(look_up_outside_a_section, NULL, "read outside a section", NULL);
    assert_reports(change_without_the_lock, NULL, "by pawl_lock64_assert_held_write", NULL);
    assert_reports(change_in_no_batch, NULL, "by pawl_lock64_assert_held_atomic", NULL);
}

SILENT_CASE(right_use_is_silent)
{
    pawl_tree_walk walk;
    pawl_tree_insert(&tree, &one, pawl_tree_number(1));
    pawl_tree_walk_begin(&tree, &walk);
    pawl_lock64_take_atomic(&tree.lock);
    (void)pawl_tree_insert_as(&tree, &two, pawl_tree_number(2), PAWL_TREE_HAS_ATOMIC);
    pawl_lock64_drop_atomic(&tree.lock);
    pawl_lock64_take_write(&tree.lock);
    must(pawl_tree_walk_next(&walk) == &one);
    must(pawl_tree_remove_as(&tree, &one, PAWL_TREE_HAS_WRITE));
    must(pawl_tree_find(&tree, pawl_tree_number(2)) == &two);
    pawl_lock64_drop_write(&tree.lock);
    pawl_tree_walk_end(&tree, &walk);
    must(pawl_tree_remove(&tree, &two));
    pawl_tree_node_destroy(&two);
    pawl_tree_destroy(&tree);
}

TEST_MAIN()
