/* SPDX-License-Identifier: MIT */
/* The names of locks in reports: those that the program gives, symbols, and types. */
#include "support/misuse.h"

pawl_spin32 plain; /* not static: C++ would mangle its name */
struct {
    char before[8];
    pawl_lock64 inside;
} registry;

static void drop_plain(void *unused)
{
    pawl_drop_read(&plain);
}

TEST_CASE(a_global_lock_is_named_by_its_symbol)
{
    assert_reports(drop_plain, NULL, "pawl_spin32 at 0x", " (plain)\n", NULL);
}

REPORTED_CASE(a_lock_in_a_global_object_is_named_by_symbol_and_offset, "pawl_lock64 at 0x",
              " (registry+0x8)\n")
{
    pawl_drop_read(&registry.inside);
}

REPORTED_CASE(a_named_lock_is_called_by_its_last_name, "pawl_lock32 at 0x", " \"cache.map\"\n")
{
    pawl_lock32 *lock = (pawl_lock32 *)calloc(1, sizeof *lock);
    must(lock != NULL);
    pawl_name_lock(lock, "old name");
    pawl_name_lock(lock, "cache.map");
    pawl_drop_read(lock);
}

REPORTED_CASE(an_inversion_names_all_its_locks, "lock-order inversion: pawl_spin32 at 0x",
              "\"the first\"", "W of pawl_spin32 at 0x", "\"the second\"", "held W of ",
              "\"the first\"", "asked for W of ", "\"the second\"")
{
    static pawl_spin32 first, second;
    pawl_name_lock(&first, "the first");
    pawl_name_lock(&second, "the second");
    pawl_take_write(&first);
    pawl_take_write(&second);
    pawl_drop_write(&first);
    pawl_take_write(&first);
}

enum ending { ENDED_BY_UNNAME, ENDED_BY_INIT, ENDED_BY_DESTROY };

static void use_again(void *opaque)
{
    pawl_name_lock(&plain, "gone");
    switch (*(const enum ending *)opaque) {
    case ENDED_BY_UNNAME: pawl_unname_lock(&plain); break;
    case ENDED_BY_INIT: pawl_init(&plain); break;
    default: pawl_destroy(&plain);
    }
    pawl_drop_read(&plain);
}

TEST_CASE(unname_init_and_destroy_end_a_name)
{
    for (int i = ENDED_BY_UNNAME; i <= ENDED_BY_DESTROY; i++) {
        enum ending ending = (enum ending)i;
        assert_reports(use_again, &ending, "pawl_spin32 at 0x", NULL);
        if (strstr(misuse_said, "gone") != NULL)
            fail_msg("the name is still there:\n%s", misuse_said);
    }
}

/* test_in_child forks: the name was given in the parent. */
TEST_CASE(the_child_of_a_fork_knows_the_names)
{
    pawl_name_lock(&plain, "of the parent");
    assert_reports(drop_plain, NULL, "\"of the parent\"", NULL);
    pawl_unname_lock(&plain);
}

REPORTED_CASE(names_beyond_the_table_are_ignored_and_long_ones_cut,
              "\"a name that is much longer than the forty-seven\"")
{
    static char many[5000];
    for (unsigned i = 0; i < sizeof many; i++)
        pawl_name_lock(&many[i], "one of many");
    for (unsigned i = 0; i < sizeof many; i++)
        pawl_unname_lock(&many[i]);
    pawl_name_lock(&plain, "a name that is much longer than the forty-seven bytes that are kept");
    pawl_drop_read(&plain);
}

REPORTED_CASE(a_sequence_lock_is_called_so_with_its_own_address_and_name,
              "drop of what is not held: pawl_seq at 0x", "\"clock\" (",
              "by pawl_seq_drop_write in thread ", "page: doc/seq.md")
{
    static pawl_seq seq = PAWL_SEQ_INIT;
    pawl_name_lock(&seq, "clock");
    pawl_seq_drop_write(&seq);
}

TEST_MAIN()
