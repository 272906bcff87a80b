/* SPDX-License-Identifier: MIT */
/* Reports of the checking variant on caches: each of an entry names two places. */
#include "support/misuse.h"

#include <pawl/cache.h>

static pawl_cache cache;
static pawl_cache_entry one, two;

static void release(pawl_rcu_head *head)
{
    pawl_cache_entry_destroy((pawl_cache_entry *)(void *)head);
}

static void make_cache(void)
{
    static pawl_cache_entry *index[4];
    const pawl_cache_options options = {4, 4, 0, release, index};
    must(pawl_cache_init(&cache, &options) == 0);
    pawl_cache_entry_init(&one, pawl_cache_number(1), 1, 0);
    pawl_cache_entry_init(&two, pawl_cache_number(2), 1, 0);
    must(pawl_cache_insert(&cache, &one));
}

REPORTED_CASE(inserting_twice_is_reported_with_both_places, "inserted twice, last used at ",
              "misuse.c:", "pawl_cache_entry at", "by pawl_cache_insert",
              "misuse.c:", "mend: insert each object once", "page: doc/cache.md")
{
    make_cache();
    (void)pawl_cache_insert(&cache, &one);
}

REPORTED_CASE(dropping_what_is_not_kept_is_reported_with_both_places,
              "dropped more often than kept, last used at ", "misuse.c:", "by pawl_cache_drop",
              "misuse.c:", "mend: drop once")
{
    make_cache();
    pawl_cache_drop(&cache, pawl_cache_hold(&cache, pawl_cache_number(1)));
    pawl_cache_drop(&cache, &one);
}

REPORTED_CASE(free_what_is_in_is_reported, "destroyed in the cache, last used at ",
              "misuse.c:", "by pawl_cache_entry_destroy", "misuse.c:")
{
    make_cache();
    pawl_cache_entry_destroy(&one);
}

REPORTED_CASE(free_what_is_referenced_is_reported, "destroyed while referenced, last used at ",
              "misuse.c:", "by pawl_cache_entry_destroy", "misuse.c:")
{
    make_cache();
    (void)pawl_cache_hold(&cache, pawl_cache_number(1));
    must(pawl_cache_remove(&cache, pawl_cache_number(1)));
    pawl_cache_entry_destroy(&one);
}

REPORTED_CASE(end_the_cache_with_a_reference_is_reported,
              "destroyed while referenced, last used at ", "misuse.c:", "by pawl_cache_destroy",
              "misuse.c:")
{
    make_cache();
    (void)pawl_cache_hold(&cache, pawl_cache_number(1));
    pawl_cache_destroy(&cache);
}

static pawl_cache_entry *gives_what_is_in(pawl_cache_key key, void *argument)
{
    return (pawl_cache_entry *)argument;
}

static pawl_cache_entry *loads_itself(pawl_cache_key key, void *argument)
{
    return pawl_cache_load(&cache, key, loads_itself, argument);
}

static pawl_cache_entry *ends_the_cache(pawl_cache_key key, void *argument)
{
    pawl_cache_destroy(&cache);
    return NULL;
}

REPORTED_CASE(load_what_is_in_is_reported, "loaded what is in a cache, last used at ",
              "misuse.c:", "by pawl_cache_load")
{
    make_cache();
    (void)pawl_cache_load(&cache, pawl_cache_number(2), gives_what_is_in, &one);
}

REPORTED_CASE(load_for_ever_is_reported, "loads what it is loading: pawl_cache at")
{
    make_cache();
    (void)pawl_cache_load(&cache, pawl_cache_number(2), loads_itself, NULL);
}

REPORTED_CASE(end_beside_a_load_is_reported, "destroyed beside a load: pawl_cache at")
{
    make_cache();
    (void)pawl_cache_load(&cache, pawl_cache_number(2), ends_the_cache, NULL);
}

REPORTED_CASE(load_in_a_section_is_reported, "loads in a read section: pawl_cache at")
{
    make_cache();
    pawl_rcu_read_lock();
    (void)pawl_cache_load(&cache, pawl_cache_number(2), gives_what_is_in, &two);
}

REPORTED_CASE(get_outside_a_section_is_reported, "read outside a section")
{
    make_cache();
    (void)pawl_cache_get(&cache, pawl_cache_number(1));
}

SILENT_CASE(right_use_is_silent)
{
    pawl_cache_statistics all;
    make_cache();
    pawl_cache_entry *e = pawl_cache_load(&cache, pawl_cache_number(2), gives_what_is_in, &two);
    must(e == &two);
    pawl_rcu_read_lock();
    must(pawl_cache_get(&cache, pawl_cache_number(1)) == &one && pawl_cache_keep(&one));
    pawl_rcu_read_unlock();
    must(pawl_cache_remove(&cache, pawl_cache_number(1)));
    pawl_cache_drop(&cache, &one);
    pawl_cache_drop(&cache, e);
    pawl_cache_read(&cache, &all);
    must(all.entries == 1);
    pawl_cache_destroy(&cache);
}

TEST_MAIN()
