/* SPDX-License-Identifier: MIT */
/*
 * A lock that is freed by its last user. Each object is passed on by its lock alone: whoever takes
 * W and finds that he is the last one frees it. The one before him may still be inside his drop,
 * which must not touch the lock any more once the other can be in (I7).
 * Address Sanitizer, or the allocator's poison, shows who does.
 */
#include "test.h"

#include <pawl/lock.h>

enum { THREADS = 4, FEWEST = 10 };

struct object {
    pawl_lock32 lock;
    unsigned users;
    unsigned char poison[52];
};

static struct object *current;

static void use(void *unused, unsigned index)
{
    struct object *o = current;
    if (index % 2) {
        pawl_take_write(&o->lock);
    } else {
        pawl_take_seek(&o->lock);
        pawl_seek_to_write(&o->lock);
    }
    bool last = --o->users == 0;
    pawl_drop_write(&o->lock);
    if (last) {
        memset((void *)o, 0x5a, sizeof *o);
        free(o);
    }
}

TEST_CASE(the_last_user_frees_the_lock_that_the_one_before_is_dropping)
{
    const double end = test_now() + test_seconds(3);
    unsigned objects = 0;
    do {
        current = (struct object *)calloc(1, sizeof *current);
        must(current != NULL);
        current->users = THREADS;
        test_threads(THREADS, use, NULL);
        objects++;
    } while (test_now() < end || objects < FEWEST);
    print_message("%u objects\n", objects);
}

TEST_MAIN()
