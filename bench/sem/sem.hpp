/* SPDX-License-Identifier: MIT */
/* What the files of pawl-bench-sem share: semaphores by their number, and operations on them. */
#pragma once

#include <memory>

#include <pawl/idtable.h>

#include "core/candidate.hpp"
#include "core/crew.hpp"
#include "core/random.hpp"

namespace bench {

/* The units of each semaphore at first. */
constexpr std::int32_t first_units = 1000;

/* The semaphores that the threads of a sample use. */
enum class sem_choice { disjoint, same, random };

struct sem_task {
    sem_choice choice = sem_choice::disjoint;
    std::uint64_t seed = 0;
    unsigned threads = 1;
};

/* The results of a thread. Threads write only their own, so each has its own lines. */
struct alignas(128) sem_tally {
    std::uint64_t ops = 0, refused = 0, missing = 0;
    std::int64_t added = 0; /* units, in the warming phase too */
    usage used;

    void add(const sem_tally &other)
    {
        ops += other.ops;
        refused += other.refused;
        missing += other.missing;
        added += other.added;
        used += other.used;
    }
};

class sem_design {
  public:
    virtual ~sem_design() = default;
    virtual void run(const sem_task &task, unsigned thread, const phase_flag &flag,
                     sem_tally &tally) = 0;
    /* The units of all semaphores. No thread uses the table meanwhile. */
    virtual std::int64_t units() const = 0;
};

using sem_candidate = candidate<std::unique_ptr<sem_design> (*)(std::uint32_t semaphores)>;

std::vector<sem_candidate> sem_candidates();

} // namespace bench
