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

REPORTED_CASE(remove_twice_is_reported, "removed what is not in, last changed at ",
              "misuse.c:", "by pawl_tree_remove", "misuse.c:")
{
    pawl_tree_insert(&tree, &one, pawl_tree_number(1));
    must(pawl_tree_remove(&tree, &one));
    (void)pawl_tree_remove(&tree, &one);
}

REPORTED_CASE(remove_what_was_never_in_is_reported, "removed what is not in: pawl_tree_node at",
              "by pawl_tree_remove", "misuse.c:")
{
    (void)pawl_tree_remove(&tree, &one);
}

REPORTED_CASE(freeing_what_is_in_is_reported_with_both_places,
              "destroyed in the tree, last changed at ", "misuse.c:", "by pawl_tree_node_destroy",
              "misuse.c:", "mend: remove the node")
{
    pawl_tree_insert(&tree, &one, pawl_tree_number(1));
    pawl_tree_node_destroy(&one);
}

REPORTED_CASE(destroy_beside_a_walk_is_reported, "destroyed beside a walk: pawl_tree at")
{
    static pawl_tree_walk walk;
    pawl_tree_walk_begin(&tree, &walk);
    pawl_tree_destroy(&tree);
}

REPORTED_CASE(look_up_outside_a_section_is_reported, "read outside a section")
{
    (void)pawl_tree_get(&tree, pawl_tree_number(1));
}

REPORTED_CASE(change_without_the_lock_is_reported, "by pawl_lock64_assert_held_write")
{
    (void)pawl_tree_insert_as(&tree, &one, pawl_tree_number(1), PAWL_TREE_HAS_WRITE);
}

REPORTED_CASE(change_in_no_batch_is_reported, "by pawl_lock64_assert_held_atomic")
{
    (void)pawl_tree_insert_as(&tree, &one, pawl_tree_number(1), PAWL_TREE_HAS_ATOMIC);
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
