/* SPDX-License-Identifier: MIT */
/*
 * Lists and hash chains for RCU: what walks of each kind find after each operation. What readers
 * find in the middle of one: list_steps.c.
 */
#include "test.h"

#include <pawl/rcu.h>
#include <pawl/rcu_list.h>

/* The nodes are neither first nor aligned as the element is. */
struct element {
    char first;
    int number;
    pawl_list link;
    pawl_hlist_node chain;
} __attribute__((aligned(64)));

enum { ELEMENTS = 5 };

static struct element elements[ELEMENTS], others[ELEMENTS];
static pawl_list list = PAWL_LIST_INIT(list);
static pawl_hlist chain = PAWL_HLIST_INIT;

static void number_them(void)
{
    memset(elements, 0, sizeof elements);
    memset(others, 0, sizeof others);
    for (int i = 0; i < ELEMENTS; i++) {
        elements[i].number = i;
        others[i].number = 10 + i;
    }
}

/* 0, 1, 2 ... in the list and in the chain. */
static void begin(int count)
{
    int i;
    number_them();
    pawl_list_init(&list);
    chain.first = NULL;
    for (i = 0; i < count; i++)
        pawl_list_add_tail_rcu(&elements[i].link, &list);
    while (--i >= 0)
        pawl_hlist_add_rcu(&elements[i].chain, &chain);
}

/* What walks of all kinds find, as a string of numbers. */
static const char *list_says(void)
{
    static char reader[256], domain[256], writer[256];
    const struct element *p;
    struct element *q;
    reader[0] = domain[0] = writer[0] = 0;
    pawl_rcu_read_lock();
    pawl_list_for_each_rcu(p, &list, link)
        (void)snprintf(reader + strlen(reader), 20, "%d ", p->number);
    assert_null(p);
    pawl_rcu_read_unlock();
    pawl_rcu_qs_online();
    pawl_rcu_qs_read_lock();
    pawl_list_for_each_domain_rcu(pawl_rcu_qs(), p, &list, link)
        (void)snprintf(domain + strlen(domain), 20, "%d ", p->number);
    assert_null(p);
    pawl_rcu_qs_read_unlock();
    pawl_rcu_qs_offline();
    pawl_list_for_each(q, &list, link)
        (void)snprintf(writer + strlen(writer), 20, "%d ", q->number);
    assert_null(q);
    assert_string_equal(reader, writer);
    assert_string_equal(domain, writer);
    assert_int_equal(pawl_list_is_empty(&list), writer[0] == 0);
    q = pawl_list_first(struct element, &list, link);
    assert_int_equal(q == NULL, writer[0] == 0);
    if (q != NULL)
        assert_int_equal(q->number, strtol(writer, NULL, 10));
    return reader;
}

static const char *chain_says(void)
{
    static char reader[256], domain[256], writer[256];
    const struct element *p;
    struct element *q;
    reader[0] = domain[0] = writer[0] = 0;
    pawl_rcu_read_lock();
    pawl_hlist_for_each_rcu(p, &chain, chain)
        (void)snprintf(reader + strlen(reader), 20, "%d ", p->number);
    assert_null(p);
    pawl_rcu_read_unlock();
    pawl_rcu_qs_online();
    pawl_rcu_qs_read_lock();
    pawl_hlist_for_each_domain_rcu(pawl_rcu_qs(), p, &chain, chain)
        (void)snprintf(domain + strlen(domain), 20, "%d ", p->number);
    assert_null(p);
    pawl_rcu_qs_read_unlock();
    pawl_rcu_qs_offline();
    pawl_hlist_for_each(q, &chain, chain)
        (void)snprintf(writer + strlen(writer), 20, "%d ", q->number);
    assert_null(q);
    assert_string_equal(reader, writer);
    assert_string_equal(domain, writer);
    assert_int_equal(pawl_hlist_is_empty(&chain), writer[0] == 0);
    q = pawl_hlist_first(struct element, &chain, chain);
    assert_int_equal(q == NULL, writer[0] == 0);
    if (q != NULL)
        assert_int_equal(q->number, strtol(writer, NULL, 10));
    return reader;
}

/* ---- Adding ---------------------------------------------------------------------------------- */

TEST_CASE(an_empty_list_and_an_empty_chain_have_nothing)
{
    static pawl_list made = PAWL_LIST_INIT(made);
    assert_true(pawl_list_is_empty(&made));
    begin(0);
    assert_string_equal(list_says(), "");
    assert_string_equal(chain_says(), "");
}

TEST_CASE(adding_puts_in_front_at_the_end_behind_and_before)
{
    begin(0);
    pawl_list_add_rcu(&elements[1].link, &list);
    pawl_list_add_rcu(&elements[0].link, &list);
    pawl_list_add_tail_rcu(&elements[3].link, &list);
    assert_string_equal(list_says(), "0 1 3 ");
    pawl_list_add_rcu(&elements[2].link, &elements[1].link);
    pawl_list_add_tail_rcu(&elements[4].link, &elements[0].link);
    assert_string_equal(list_says(), "4 0 1 2 3 ");
}

TEST_CASE(adding_to_a_chain_puts_in_front_behind_and_before)
{
    begin(0);
    pawl_hlist_add_rcu(&elements[1].chain, &chain);
    pawl_hlist_add_rcu(&elements[0].chain, &chain);
    assert_string_equal(chain_says(), "0 1 ");
    pawl_hlist_add_behind_rcu(&elements[2].chain, &elements[1].chain);
    pawl_hlist_add_behind_rcu(&elements[3].chain, &elements[0].chain);
    pawl_hlist_add_before_rcu(&elements[4].chain, &elements[0].chain);
    pawl_hlist_add_before_rcu(&others[0].chain, &elements[2].chain);
    assert_string_equal(chain_says(), "4 0 3 1 10 2 ");
}

/* ---- Deleting and replacing ------------------------------------------------------------------ */

TEST_CASE(deleting_takes_out_the_one_and_only_once)
{
    begin(4);
    assert_true(pawl_list_del_rcu(&elements[1].link));
    assert_false(pawl_list_del_rcu(&elements[1].link));
    assert_string_equal(list_says(), "0 2 3 ");
    assert_true(pawl_list_del_rcu(&elements[0].link));
    assert_true(pawl_list_del_rcu(&elements[3].link));
    assert_string_equal(list_says(), "2 ");
    assert_true(pawl_list_del_rcu(&elements[2].link));
    assert_string_equal(list_says(), "");

    assert_true(pawl_hlist_del_rcu(&elements[1].chain));
    assert_false(pawl_hlist_del_rcu(&elements[1].chain));
    assert_string_equal(chain_says(), "0 2 3 ");
    assert_true(pawl_hlist_del_rcu(&elements[0].chain));
    assert_true(pawl_hlist_del_rcu(&elements[3].chain));
    assert_string_equal(chain_says(), "2 ");
    assert_true(pawl_hlist_del_rcu(&elements[2].chain));
    assert_string_equal(chain_says(), "");
}

TEST_CASE(a_node_of_zero_bytes_is_in_nothing)
{
    begin(1);
    assert_false(pawl_list_del_rcu(&others[0].link));
    assert_false(pawl_list_replace_rcu(&others[0].link, &others[1].link));
    assert_false(pawl_hlist_del_rcu(&others[0].chain));
    assert_false(pawl_hlist_replace_rcu(&others[0].chain, &others[1].chain));
    assert_string_equal(list_says(), "0 ");
    assert_string_equal(chain_says(), "0 ");
}

TEST_CASE(what_was_deleted_can_be_added_again)
{
    begin(3);
    assert_true(pawl_list_del_rcu(&elements[0].link));
    assert_true(pawl_hlist_del_rcu(&elements[0].chain));
    pawl_list_add_rcu(&elements[0].link, &elements[1].link);
    pawl_hlist_add_behind_rcu(&elements[0].chain, &elements[1].chain);
    assert_string_equal(list_says(), "1 0 2 ");
    assert_string_equal(chain_says(), "1 0 2 ");
    assert_true(pawl_list_del_rcu(&elements[0].link));
    assert_true(pawl_hlist_del_rcu(&elements[0].chain));
    assert_string_equal(list_says(), "1 2 ");
    assert_string_equal(chain_says(), "1 2 ");
}

TEST_CASE(a_replacement_stands_where_the_old_one_stood)
{
    begin(3);
    for (int i = 0; i < 3; i++) {
        others[i] = elements[i]; /* a copy of the whole element, nodes too */
        others[i].number = 10 + i;
        assert_true(pawl_list_replace_rcu(&elements[i].link, &others[i].link));
        assert_false(pawl_list_replace_rcu(&elements[i].link, &others[i].link));
        assert_true(pawl_hlist_replace_rcu(&elements[i].chain, &others[i].chain));
        assert_false(pawl_hlist_replace_rcu(&elements[i].chain, &others[i].chain));
    }
    assert_string_equal(list_says(), "10 11 12 ");
    assert_string_equal(chain_says(), "10 11 12 ");
    for (int i = 0; i < 3; i++) {
        assert_false(pawl_list_del_rcu(&elements[i].link));
        assert_true(pawl_list_del_rcu(&others[i].link));
        assert_true(pawl_hlist_del_rcu(&others[i].chain));
    }
    assert_string_equal(list_says(), "");
    assert_string_equal(chain_says(), "");
}

TEST_CASE(a_writer_takes_a_list_apart_by_its_first_or_on_its_way)
{
    struct element *p;
    int found = 0;
    begin(ELEMENTS);
    while ((p = pawl_list_first(struct element, &list, link)) != NULL) {
        assert_int_equal(p->number, found++);
        pawl_list_del_rcu(&p->link);
    }
    pawl_hlist_for_each(p, &chain, chain)
        if (p->number % 2)
            pawl_hlist_del_rcu(&p->chain);
    assert_int_equal(found, ELEMENTS);
    assert_string_equal(list_says(), "");
    assert_string_equal(chain_says(), "0 2 4 ");
}

/* ---- Walking --------------------------------------------------------------------------------- */

TEST_CASE(a_walk_that_breaks_keeps_its_element)
{
    const struct element *p, *q;
    int pairs = 0;
    begin(4);
    pawl_rcu_read_lock();
    pawl_list_for_each_rcu(p, &list, link) {
        if (p->number == 1)
            continue;
        if (p->number == 2)
            break;
        pawl_hlist_for_each_rcu(q, &chain, chain)
            pairs++;
    }
    pawl_rcu_read_unlock();
    assert_ptr_equal(p, &elements[2]);
    assert_null(q);
    assert_int_equal(pairs, 4);
}

TEST_CASE(a_domain_of_ones_own_has_walks_too)
{
    pawl_rcu_domain domain;
    const struct element *p;
    int sum = 0;
    begin(4);
    assert_int_equal(pawl_rcu_domain_init(&domain, "list"), 0);
    pawl_rcu_domain_read_lock(&domain);
    pawl_list_for_each_domain_rcu(&domain, p, &list, link)
        sum += p->number;
    pawl_hlist_for_each_domain_rcu(&domain, p, &chain, chain)
        sum += 100 * p->number;
    pawl_rcu_domain_read_unlock(&domain);
    pawl_rcu_domain_destroy(&domain);
    assert_int_equal(sum, 606);
}

TEST_MAIN()
