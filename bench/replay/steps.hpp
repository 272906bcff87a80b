/* SPDX-License-Identifier: MIT */
/*
 * What the threads of a traced program did in a window, as steps that are done again. `pawl replay`
 * writes the file (tool/pawl/replay/steps.py):
 *
 *   "PAWLSTP1", then 32-bit numbers: threads, locks
 *   a byte a lock: its kind; another byte a lock: 1 if candidates replace it, and 2 if its sections
 *   are so short that a wait of a millisecond is for a thread that was kept off its processor
 *   for each thread three 32-bit numbers: its steps with the locks that it had, with candidates,
 *   and with upgrades
 *   the steps of all threads with their locks, then with candidates, then with upgrades: 16 bytes
 *   each
 */
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/bad_input.hpp"

namespace bench {

enum class lock_kind : std::uint8_t { mutex, rwlock, spin };

enum class op : std::uint32_t {
    work,  /* processor time */
    sleep, /* off the processor */
    take_read,
    drop_read,
    take_write, /* of a mutex or a spinlock: take */
    drop_write,
    take_seek, /* the section that leads to a write begins in S */
    try_seek,  /* from R; where it fails: drop R, take S, look again for `ns` */
    seek_to_write,
    ops
};

/* A sleep that was recorded lasts until the thread runs again. Time off the processor in a gap may
 * have been sleep, or the thread was kept off; or it was sleep alone, as the kernel counted. */
enum sleep_kind : std::uint32_t { sleep_recorded, sleep_or_kept_off, sleep_alone };

struct step {
    op what;
    std::uint32_t lock; /* its number; of sleep: of what kind it is */
    std::uint64_t ns;   /* of work and sleep */
};
static_assert(sizeof(step) == 16, "as in the file");

struct step_file {
    std::vector<lock_kind> kinds;
    std::vector<bool> replaced, has_short_sections;
    std::vector<std::vector<step>> original, plain, upgraded; /* a row a thread */
};

/* Throws bad_input for a file that is none, or whose steps name locks that are not there, or drop
 * what they do not hold. */
step_file read_steps(const std::string &path);

} // namespace bench
