/* SPDX-License-Identifier: MIT */
/* Statistical counters per CPU. */
#ifndef PAWL_COMPILED_
#define PAWL_COMPILED_ /* as in src/pawl.c */
#endif

#include "counter_parts.h"

static char *counter_cpu_cells(void)
{
    struct pawl_counters *all = counters_here();
    /* [CELLS_BLOCK] acquire: the caller sees the limit and the cells. */
    return (char *)(uintptr_t)PAWL_ADDRESS_(pawl_load_acquire)(&all->cpus, PAWL_CELLS_BLOCK);
}

/* The first use of a counter per CPU reserves the cells of all CPUs. */
static char *counter_reserve_cpu_cells(void)
{
    struct pawl_counters *all = counters_here();
    const uint32_t limit = pawl_os_cpu_limit();
    ipawl_address_ found = 0;
    char *made = limit == 0 ? NULL : (char *)pawl_os_pages((size_t)limit << PAWL_RSEQ_CPU_SHIFT);
    if (made == NULL)
        return NULL;
    pawl_store_relaxed32(&all->cpu_limit, limit); /* every thread stores the same number */
    /* [CELLS_MADE] release: the cells exist before other threads read them. */
    if (!PAWL_ADDRESS_(pawl_cas_release)(&all->cpus, &found, (ipawl_address_)(uintptr_t)made,
                                         PAWL_CELLS_MADE))
        return (char *)(uintptr_t)found;
    return made;
}

/* The sum of all cells that a counter per CPU may be counted in. */
static uint64_t counter_sum_with_cpus(uint32_t place)
{
    const uint32_t limit = pawl_load_relaxed32(&counters_here()->cpu_limit);
    char *cpus = counter_cpu_cells();
    uint64_t sum = cells_sum(place);
    for (uint32_t i = 0; cpus != NULL && i < limit; i++)
        sum += pawl_load_relaxed64(ipawl_cell_(cpus + ((size_t)i << PAWL_RSEQ_CPU_SHIFT), place));
    return sum;
}

static void counter_add_to_cpu(pawl_cpu_counter *c, uint64_t n)
{
    struct pawl_counter_mine *mine = cells_join();
    uint32_t place = counter_place_of(&c->counter);
    if (mine != NULL && mine->rseq != NULL && mine->cpus == NULL) {
        char *cpus = counter_cpu_cells();
        if (cpus == NULL)
            cpus = counter_reserve_cpu_cells();
        mine->cpu_limit = pawl_load_relaxed32(&counters_here()->cpu_limit);
        mine->cpus = cpus;
    }
    if (place == PAWL_PLACE_NONE_)
        place = counter_find_place(&c->counter, counter_sum_with_cpus);
    if (mine != NULL && mine->cpus != NULL && place >= PAWL_PLACE_FIRST_ &&
        ipawl_rseq_add_cpu_(mine->rseq, mine->cpus + place, n, mine->cpu_limit))
        return;
    counter_add_to_thread(&c->counter, place, n);
}

void ipawl_cpu_counter_add_slow_(pawl_cpu_counter *c, uint64_t n)
{
    CELLS_CHECK(counter_place_of(&c->counter) == PAWL_PLACE_DEAD_, "use after destroy",
                "pawl_cpu_counter", c, "pawl_cpu_counter_add");
    CELLS_USING(c);
    PAWL_PROBE1(counter_slow, c);
    counter_add_to_cpu(c, n);
    CELLS_USING(NULL);
}

int64_t pawl_cpu_counter_read(const pawl_cpu_counter *c)
{
    return (int64_t)counter_sum(&c->counter, counter_sum_with_cpus);
}

int64_t pawl_cpu_counter_destroy(pawl_cpu_counter *c)
{
    CELLS_CHECK(counter_place_of(&c->counter) == PAWL_PLACE_DEAD_, "destroyed twice",
                "pawl_cpu_counter", c, "pawl_cpu_counter_destroy");
    CELLS_CHECK(cells_in_use(c), "destroyed while in use", "pawl_cpu_counter", c,
                "pawl_cpu_counter_destroy");
    return (int64_t)counter_finish(&c->counter, counter_place_of(&c->counter),
                                   counter_sum(&c->counter, counter_sum_with_cpus));
}
