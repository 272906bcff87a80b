/* SPDX-License-Identifier: MIT */
/* What the checking variant says of walks through RCU lists and chains. */
#include "support/misuse.h"

#include <pawl/rcu.h>
#include <pawl/rcu_list.h>

struct element {
    int number;
    pawl_list link;
    pawl_hlist_node chain;
};

static struct element elements[3];
static pawl_list list = PAWL_LIST_INIT(list);
static pawl_hlist chain = PAWL_HLIST_INIT;
static pawl_rcu_domain domain;

static void begin(void)
{
    must(pawl_rcu_domain_init(&domain, "lists") == 0);
    for (int i = 0; i < 3; i++) {
        pawl_list_add_rcu(&elements[i].link, &list);
        pawl_hlist_add_rcu(&elements[i].chain, &chain);
    }
}

static unsigned walk_list(void)
{
    const struct element *p;
    unsigned met = 0;
    pawl_list_for_each_rcu(p, &list, link)
        met++;
    return met;
}

static unsigned walk_chain(void)
{
    const struct element *p;
    unsigned met = 0;
    pawl_hlist_for_each_rcu(p, &chain, chain)
        met++;
    return met;
}

static unsigned walk_list_in_domain(void)
{
    const struct element *p;
    unsigned met = 0;
    pawl_list_for_each_domain_rcu(&domain, p, &list, link)
        met++;
    return met;
}

static unsigned walk_chain_in_domain(void)
{
    const struct element *p;
    unsigned met = 0;
    pawl_hlist_for_each_domain_rcu(&domain, p, &chain, chain)
        met++;
    return met;
}

typedef unsigned walk(void);
static walk *const walks[] = {walk_list, walk_chain};
static walk *const domain_walks[] = {walk_list_in_domain, walk_chain_in_domain};

static void outside(void *opaque)
{
    begin();
    (void)(*(walk *const *)opaque)();
}

/* The wrong section, and the right one only up to the walk. */
static void in_section_of_domain(void *opaque)
{
    begin();
    pawl_rcu_read_lock();
    pawl_rcu_read_unlock();
    pawl_rcu_domain_read_lock(&domain);
    (void)(*(walk *const *)opaque)();
}

static void in_section_of_default(void *opaque)
{
    begin();
    pawl_rcu_read_lock();
    (void)(*(walk *const *)opaque)();
}

TEST_CASE(a_walk_outside_a_section_is_reported)
{
    for (unsigned i = 0; i < 2; i++) {
        assert_reports(outside, (void *)(uintptr_t)&walks[i], "read outside a section",
                       "rcu domain default", NULL);
        assert_reports(outside, (void *)(uintptr_t)&domain_walks[i], "read outside a section",
                       "rcu domain lists", NULL);
    }
}

TEST_CASE(a_walk_in_the_section_of_another_domain_is_reported)
{
    for (unsigned i = 0; i < 2; i++) {
        assert_reports(in_section_of_domain, (void *)(uintptr_t)&walks[i], "read outside a section",
                       "rcu domain default", NULL);
        assert_reports(in_section_of_default, (void *)(uintptr_t)&domain_walks[i],
                       "read outside a section", "rcu domain lists", NULL);
    }
}

SILENT_CASE(walks_in_their_section_and_walks_of_writers_are_silent)
{
    const struct element *p;
    unsigned met = 0;
    begin();
    pawl_rcu_read_lock();
    met += walk_list() + walk_chain();
    pawl_rcu_domain_read_lock(&domain);
    met += walk_list_in_domain() + walk_chain_in_domain();
    pawl_rcu_read_unlock();
    pawl_rcu_domain_read_unlock(&domain);
    pawl_list_for_each(p, &list, link)
        met++;
    pawl_hlist_for_each(p, &chain, chain)
        met++;
    must(met == 18);
}

TEST_MAIN(misuse_without_lines())
