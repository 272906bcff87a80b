/* SPDX-License-Identifier: MIT */
/* What the files of pawl-bench-sem share: semaphores by their number, and operations on them. */
#ifndef PAWL_BENCH_SEM_SEM_HPP
#define PAWL_BENCH_SEM_SEM_HPP

#include <memory>

#include <pawl/idtable.h>

#include "core/crew.hpp"
#include "core/keys.hpp"

namespace bench {

/* So many units each semaphore has at first. */
constexpr std::int32_t first_units = 1000;

/* Which semaphores the threads of a sample use. */
enum class sem_choice { disjoint, same, random };

struct sem_scene {
    sem_choice choice = sem_choice::disjoint;
    std::uint64_t seed = 0;
    unsigned threads = 1;
};

/* What a thread did. Threads write their own only, so each has its own lines. */
struct alignas(128) sem_tally {
    std::uint64_t ops = 0, refused = 0, missing = 0;
    std::int64_t added = 0; /* units, in the warming phase too */
    usage used;
};

class sem_design {
  public:
    virtual ~sem_design() = default;
    virtual void run(const sem_scene &scene, unsigned thread, const phase_flag &flag,
                     sem_tally &tally) = 0;
    /* Units of all semaphores. No thread is at it. */
    virtual std::int64_t units() const = 0;
};

struct sem_candidate {
    std::string strategy, lock;
    std::string why; /* empty: in this build */
    std::unique_ptr<sem_design> (*make)(std::uint32_t semaphores) = nullptr;
    bool by_default = true;
    bool baseline = false;
    std::string name = strategy + "/" + lock;
};

std::vector<sem_candidate> sem_candidates();

} // namespace bench

#endif
