/* SPDX-License-Identifier: MIT */
/* Sections: a thread changes its cells while a gate is open, and a closer waits for it. Exact and
 * limit counters and bigref.c use them. counter_cells.h has the picture. */
#include "cells.h"

#include "../base/base.h"

/* The marker is odd while a section is in progress, and a different number in every section. */
static uint64_t cells_section_begin(uint64_t *marker)
{
    const uint64_t before = pawl_load_relaxed64(marker);
    /* [CELLS_AGAIN] release: a thread that waits for this thread's last section may see only the
     * next one. */
    pawl_store_release64(marker, before + 1, PAWL_CELLS_AGAIN);
    /* [CELLS_ENTER] full: either the closer sees the marker, or this thread sees the gate
     * closed. */
    pawl_fence_light(PAWL_CELLS_ENTER);
    return before;
}

static void cells_section_end(uint64_t *marker, uint64_t before)
{
    /* [CELLS_LEAVE] release: the thread's cell is written before another thread sees the section
     * end. */
    pawl_store_release64(marker, before + 2, PAWL_CELLS_LEAVE);
}

PAWL_INTERNAL void cells_shut_out(void)
{
    uint64_t marker, first;
    uint32_t lines;

    if (PAWL_HOOKS) {
        /* [CELLS_CLOSE] heavy: either a section sees the gate closed, or the closer sees its
         * marker. */
        pawl_fence_heavy(PAWL_CELLS_CLOSE);
    } else {
        /* [CELLS_CLOSE] full: the same. The next call is the heavy half, which restarts
         * sequences. */
        pawl_fence_full(PAWL_CELLS_CLOSE);
        pawl_os_shut_out();
    }
    lines = cells_lines(); /* after the fence: an uncounted thread sees the gate closed */
    PAWL_PROBE1(counter_shut_out, lines);
    for (uint32_t i = 0; i < lines; i++) {
        char *block = cells_block(i);
        if (block == NULL)
            continue;
        /* [CELLS_GONE] acquire: the closer sees what the section wrote. */
        first = pawl_load_acquire64(ipawl_cell_(block, CELL_MARKER * 8), PAWL_CELLS_GONE);
        if ((first & 1) != 0)
            /* [CELLS_GONE] acquire: the closer sees what the section wrote. */
            WAIT_UNTIL(marker,
                       pawl_load_acquire64(ipawl_cell_(block, CELL_MARKER * 8), PAWL_CELLS_GONE),
                       marker != first);
    }
}

/* How often the caller tries a sequence that the kernel restarts. */
#define SEQUENCE_TRIES 4

PAWL_INTERNAL bool cells_add_if(struct pawl_counter_mine *mine, uint64_t *cell, uint64_t n,
                                uint64_t bound, const uint32_t *gate, uint32_t open)
{
    uint64_t *marker = ipawl_cell_(mine->block, CELL_MARKER * 8);
    uint64_t before, sum;
    bool done;

    if (mine->rseq != NULL) {
        for (unsigned tries = 0; tries < SEQUENCE_TRIES; tries++)
            if (ipawl_rseq_add_if_(mine->rseq, cell, n, bound, gate, open))
                return true;
        return false;
    }
    before = cells_section_begin(marker);
    /* [CELLS_OPEN] acquire: the thread sees what was done to its cell while the gate was closed. */
    done = pawl_load_acquire32(gate, PAWL_CELLS_OPEN) == open;
    sum = pawl_load_relaxed64(cell) + n;
    done = done && sum <= bound;
    if (done) {
        PLAIN_WRITE(*cell);
        pawl_store_relaxed64(cell, sum);
    }
    cells_section_end(marker, before);
    return done;
}

PAWL_INTERNAL bool cells_add_phase(struct pawl_counter_mine *mine, uint64_t *cells, uint64_t n,
                                   const uint32_t *phase)
{
    uint64_t *marker = ipawl_cell_(mine->block, CELL_MARKER * 8);
    uint64_t before;
    uint32_t now;

    if (mine->rseq != NULL) {
        for (unsigned tries = 0; tries < SEQUENCE_TRIES; tries++)
            if (ipawl_rseq_add_phase_(mine->rseq, cells, n, phase))
                return true;
        return false;
    }
    before = cells_section_begin(marker);
    /* [CELLS_OPEN] acquire: the thread counts after the sum of the read that opened the phase
     * again. */
    now = pawl_load_acquire32(phase, PAWL_CELLS_OPEN);
    if (now <= 1) {
        PLAIN_WRITE(cells[now]);
        pawl_store_relaxed64(&cells[now], pawl_load_relaxed64(&cells[now]) + n);
    }
    cells_section_end(marker, before);
    return now <= 1;
}
