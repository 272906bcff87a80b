/* SPDX-License-Identifier: MIT */
/* What the checking variant says of big-reader locks. */
#include "support/misuse.h"

#include <pawl/brlock.h>

static pawl_brlock lock;

typedef void step(pawl_brlock *);

/* Up to four calls, one after the other, by one thread. */
struct calls {
    step *call[4];
};

static void make(void *opaque)
{
    const struct calls *c = (const struct calls *)opaque;
    must(pawl_brlock_init(&lock, 8) == 0);
    for (unsigned i = 0; i < 4 && c->call[i] != NULL; i++)
        c->call[i](&lock);
}

static void make_more(void *opaque)
{
    const struct calls *c = (const struct calls *)opaque;
    for (unsigned i = 0; i < 4 && c->call[i] != NULL; i++)
        c->call[i](&lock);
}

static void try_read_to_seek(pawl_brlock *l)
{
    (void)!pawl_brlock_try_read_to_seek(l);
}

TEST_CASE(taking_again_is_reported)
{
    static struct calls wrong[] = {
        {{pawl_brlock_take_read, pawl_brlock_take_read}},
        {{pawl_brlock_take_read, pawl_brlock_take_write}},
        {{pawl_brlock_take_read, pawl_brlock_take_seek}},
        {{pawl_brlock_take_seek, pawl_brlock_take_read}},
        {{pawl_brlock_take_seek, pawl_brlock_take_seek}},
        {{pawl_brlock_take_write, pawl_brlock_take_read}},
        {{pawl_brlock_take_write, pawl_brlock_take_read_any}},
        {{pawl_brlock_take_write, pawl_brlock_take_write}},
    };
    for (unsigned i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_reports(make, &wrong[i], "taken again by its holder: pawl_brlock at",
                       "by pawl_brlock_take_", NULL);
}

TEST_CASE(dropping_what_is_not_held_is_reported)
{
    static struct calls r[] = {
        {{pawl_brlock_drop_read}},
        {{pawl_brlock_take_read, pawl_brlock_drop_read, pawl_brlock_drop_read}},
        {{pawl_brlock_drop_read_any}},
        {{pawl_brlock_take_read, pawl_brlock_drop_read_any}},
        {{try_read_to_seek}},
    };
    static struct calls s[] = {
        {{pawl_brlock_drop_seek}},
        {{pawl_brlock_take_write, pawl_brlock_drop_seek}},
        {{pawl_brlock_take_read, pawl_brlock_seek_to_write}},
        {{pawl_brlock_seek_to_read}},
    };
    static struct calls w[] = {
        {{pawl_brlock_drop_write}},
        {{pawl_brlock_take_seek, pawl_brlock_drop_write}},
        {{pawl_brlock_take_seek, pawl_brlock_write_to_read}},
        {{pawl_brlock_write_to_seek}},
    };
    for (unsigned i = 0; i < sizeof r / sizeof r[0]; i++)
        assert_reports(make, &r[i], "R is not held by this thread: pawl_brlock at", NULL);
    for (unsigned i = 0; i < sizeof s / sizeof s[0]; i++)
        assert_reports(make, &s[i], "S is not held by this thread: pawl_brlock at", NULL);
    for (unsigned i = 0; i < sizeof w / sizeof w[0]; i++)
        assert_reports(make, &w[i], "W is not held by this thread: pawl_brlock at", NULL);
}

static void drop_elsewhere(void *drop)
{
    static struct calls take[] = {{{pawl_brlock_take_read}}, {{pawl_brlock_take_write}}};
    static struct calls leave[] = {{{pawl_brlock_drop_read}}, {{pawl_brlock_drop_write}}};
    const unsigned which = *(unsigned *)drop;
    make(&take[which]);
    in_another_thread(make_more, &leave[which]);
}

TEST_CASE(dropping_for_another_thread_is_reported)
{
    unsigned which = 0;
    assert_reports(drop_elsewhere, &which, "R is not held by this thread", NULL);
    which = 1;
    assert_reports(drop_elsewhere, &which, "W is not held by this thread", NULL);
}

TEST_CASE(destroying_what_is_in_use_is_reported)
{
    static struct calls wrong[] = {
        {{pawl_brlock_take_read, pawl_brlock_destroy}},
        {{pawl_brlock_take_read_any, pawl_brlock_destroy}},
        {{pawl_brlock_take_seek, pawl_brlock_destroy}},
        {{pawl_brlock_take_write, pawl_brlock_destroy}},
    };
    for (unsigned i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_reports(make, &wrong[i], "destroyed while in use: pawl_brlock at",
                       "by pawl_brlock_destroy", NULL);
}

SILENT_CASE(right_use_is_silent)
{
    static struct calls all[] = {
        {{pawl_brlock_take_read, pawl_brlock_drop_read, pawl_brlock_take_read,
          pawl_brlock_drop_read}},
        {{pawl_brlock_take_seek, pawl_brlock_seek_to_write, pawl_brlock_write_to_read,
          pawl_brlock_drop_read}},
        {{pawl_brlock_take_write, pawl_brlock_write_to_seek, pawl_brlock_seek_to_read,
          try_read_to_seek}},
        {{pawl_brlock_drop_seek, pawl_brlock_take_read_any}},
    };
    static struct calls rest = {{pawl_brlock_drop_read_any}};
    must(pawl_brlock_init(&lock, 8) == 0);
    for (unsigned i = 0; i < sizeof all / sizeof all[0]; i++)
        make_more(&all[i]);
    in_another_thread(make_more, &rest);
    pawl_brlock_destroy(&lock);
}

static void use_garbage(void *opaque)
{
    const struct calls *c = (const struct calls *)opaque;
    memset(&lock, 0xa5, sizeof lock);
    c->call[0](&lock);
}

static void use_zeros(void *opaque)
{
    const struct calls *c = (const struct calls *)opaque;
    memset(&lock, 0, sizeof lock);
    c->call[0](&lock);
}

TEST_CASE(a_lock_that_was_never_initialised_is_reported)
{
    static struct calls uses[] = {
        {{pawl_brlock_take_read}}, {{pawl_brlock_take_seek}}, {{pawl_brlock_take_write}}};
    for (unsigned i = 0; i < sizeof uses / sizeof uses[0]; i++) {
        assert_reports(use_garbage, &uses[i], "never initialised: pawl_brlock at",
                       "page: doc/brlock.md", NULL);
        assert_reports(use_zeros, &uses[i], "never initialised: pawl_brlock at", NULL);
    }
}

TEST_MAIN(misuse_without_lines())
