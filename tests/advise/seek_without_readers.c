/* SPDX-License-Identifier: MIT */
/* Takes the lock to seek, and nobody ever reads beside it. Mended: takes it to write. */
#define PAWL_TRACED
#include <pawl/lock.h>

#include "programs.h"

static pawl_lock64 lock;
static volatile unsigned table[64];

static NOINLINE unsigned look(unsigned from)
{
    unsigned i, sum = 0;
    for (i = 0; i < 1000; i++)
        sum += table[(from + i) % 64];
    return sum;
}

static NOINLINE void seek_then_write(unsigned number)
{
    pawl_take_seek(&lock);
    if (look(number) % 2 == 0) {
        pawl_seek_to_write(&lock);
        table[number % 64]++;
        pawl_drop_write(&lock);
    } else {
        pawl_drop_seek(&lock);
    }
}

static NOINLINE void write_at_once(unsigned number)
{
    pawl_take_write(&lock);
    if (look(number) % 2 == 0)
        table[number % 64]++;
    pawl_drop_write(&lock);
}

static void *fault(void *number)
{
    for (unsigned i = 0; i < 5000; i++)
        seek_then_write(i * 2 + (unsigned)(size_t)number);
    return NULL;
}

static void *mended(void *number)
{
    for (unsigned i = 0; i < 5000; i++)
        write_at_once(i * 2 + (unsigned)(size_t)number);
    return NULL;
}

int main(int count, char **words)
{
    together(is_mended(count, words) ? mended : fault, 2);
    return 0;
}
