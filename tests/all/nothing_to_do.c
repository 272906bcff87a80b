/* SPDX-License-Identifier: MIT */
/* Calls that find that there is nothing to do for them do nothing, and come back at once. */
#include "test.h"

#include <pawl/idtable.h>

TEST_CASE(destroying_no_table_and_no_domain_is_well)
{
    pawl_idtable_destroy(NULL);
    pawl_rcu_domain_destroy(NULL);
}

TEST_CASE(a_table_that_releases_nothing_lets_objects_go)
{
    static pawl_idtable table;
    static pawl_idtable_entry object;
    pawl_id id = PAWL_ID_NONE;
    assert_int_equal(pawl_idtable_init(&table, NULL), 0);
    assert_int_equal(pawl_idtable_insert(&table, &object, &id), 0);
    assert_true(pawl_idtable_remove(&table, &object));
    pawl_idtable_retire(&table, &object, sizeof object);
    assert_int_equal(pawl_idtable_count(&table), 0);
    assert_int_equal(pawl_idtable_parked(&table), 0);
    pawl_idtable_destroy(&table);
}

TEST_CASE(a_place_whose_generations_are_used_up_is_used_no_more)
{
    static pawl_idtable table;
    static pawl_idtable_entry object;
    pawl_id first = PAWL_ID_NONE, second = PAWL_ID_NONE;
    uint32_t *generation; /* of the next ID of the first place; behind the places */
    assert_int_equal(pawl_idtable_init(&table, NULL), 0);
    assert_int_equal(pawl_idtable_insert(&table, &object, &first), 0);
    generation = (uint32_t *)(void *)(ipawl_idtable_places_(table.array) + table.array->size) +
                 2 * (uint32_t)first;
    *generation = UINT32_MAX;
    assert_true(pawl_idtable_remove(&table, &object));
    assert_int_equal(*generation, 0);
    assert_int_equal(pawl_idtable_insert(&table, &object, &second), 0);
    assert_true((uint32_t)first != (uint32_t)second);
    assert_true(pawl_idtable_remove(&table, &object));
    pawl_idtable_destroy(&table);
}

TEST_CASE(a_grace_period_that_is_over_is_not_waited_for)
{
    pawl_rcu_domain domain;
    assert_int_equal(pawl_rcu_domain_init(&domain, "idle"), 0);
    uint64_t cookie = pawl_rcu_domain_start_poll(&domain);
    pawl_rcu_domain_synchronize(&domain);
    pawl_rcu_domain_synchronize(&domain);
    assert_true(pawl_rcu_domain_poll(&domain, cookie));
    pawl_rcu_domain_synchronize_cond(&domain, cookie);
    pawl_rcu_domain_destroy(&domain);
}

TEST_MAIN()
