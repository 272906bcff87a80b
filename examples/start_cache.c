/* SPDX-License-Identifier: MIT */
/* Squares that threads share, each computed once: a program of doc/start/containers.md. */
/* [quote begin] */
#include <pawl/cache.h>
#include <stdio.h>
#include <stdlib.h>

struct square {
    pawl_cache_entry entry;
    uint64_t result;
};

static void release(pawl_rcu_head *entry)
{
    free(PAWL_CACHE_OBJECT(struct square, entry, entry));
}

static pawl_cache_entry *compute(pawl_cache_key key, void *unused)
{
    struct square *s = malloc(sizeof *s);
    (void)unused;
    s->result = key.value.number * key.value.number;
    pawl_cache_entry_init(&s->entry, key, 1, 0);
    return &s->entry;
}

int main(void) /* any number of threads may do the same */
{
    const pawl_cache_options options = {.limit = 1000, .release = release};
    uint64_t sum = 0, i;
    pawl_cache squares;
    if (pawl_cache_init(&squares, &options) != 0)
        return 1;
    for (i = 0; i < 100000; i++) {
        pawl_cache_entry *e = pawl_cache_load(&squares, pawl_cache_number(i % 9), compute, NULL);
        sum += PAWL_CACHE_OBJECT(struct square, entry, e)->result;
        pawl_cache_drop(&squares, e);
    }
    printf("%llu\n", (unsigned long long)sum);
    pawl_cache_destroy(&squares);
}
/* [quote end] */
