/* SPDX-License-Identifier: MIT */
/* What the tests of readers that scale share: locks with BIASED, and other threads. */
#pragma once

#define BIASED PAWL_LOCK_BIASED

/* Reads the lock for the first time: the drop turns scaling on. */
static void make_biased(pawl_lock32 *l)
{
    memset(l, 0, sizeof *l);
    pawl_lock32_take_read(l);
    pawl_lock32_drop_read(l);
    must(l->word == BIASED);
}

static void *does_in_a_thread(void *body)
{
    (*(void (**)(void))body)();
    return NULL;
}

static void in_another_thread(void (*body)(void))
{
    test_elsewhere(does_in_a_thread, &body);
}
