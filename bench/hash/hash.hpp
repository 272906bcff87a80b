/* SPDX-License-Identifier: MIT */
/*
 * What the files of pawl-bench-hash share: the table that all designs work on in turn, and the
 * interface of a design.
 */
#pragma once

#include <atomic>
#include <memory>

#include <pawl/spin.h>

#include "core/candidate.hpp"
#include "core/crew.hpp"
#include "core/mix.hpp"

namespace bench {

/* Room for what a design needs to free an element later. */
constexpr std::size_t head_room = 32;

/* A hit that finds another key's number in `check` has found an element that was freed early. */
struct element {
    element *next = nullptr;
    element **place; /* the pointer that points here */
    std::uint32_t key;
    std::atomic<std::uint32_t> references{1};
    std::uint64_t check;
    alignas(8) unsigned char head[head_room] = {};

    explicit element(std::uint32_t k) : place(nullptr), key(k), check(check_of(k)) {}
    /* Late readers must notice that the element is gone. */
    ~element() { *static_cast<volatile std::uint64_t *>(&check) = 0; }
    static std::uint64_t check_of(std::uint32_t key)
    {
        return (key + UINT64_C(1)) * UINT64_C(0xD1342543DE82EF95);
    }
};
static_assert(sizeof(element) == 64, "an element is as large as a cache line of most CPUs");

/* 16 bytes for all designs, with a lock in use or without: designs do not differ in size. */
struct bucket {
    element *first = nullptr;
    pawl_spin32 lock = PAWL_SPIN32_INIT;
};

/* A dense array of buckets, one element a chain: a table of the right size. Key i belongs into
 * bucket i. */
class hash_store {
  public:
    explicit hash_store(std::uint32_t keys);
    ~hash_store();
    hash_store(const hash_store &) = delete;
    hash_store &operator=(const hash_store &) = delete;

    std::uint32_t keys() const { return static_cast<std::uint32_t>(buckets_.size()); }
    bucket &of(std::uint32_t key) { return buckets_[key]; }
    /* Each chain holds its one element and nothing else. */
    bool is_sound() const;

  private:
    std::vector<bucket> buckets_;
};

/* The settings of all threads of a sample. */
struct hash_task {
    double updates = 0; /* percent */
    std::uint64_t seed = 0;
    unsigned threads = 1;
};

/* The results of a thread while measuring. Threads write only their own, so each has its own
 * lines. */
struct alignas(128) hash_tally {
    std::uint64_t ops = 0, updates = 0, found = 0, absent = 0, wrong = 0;
    usage used;
    double leaving = 0; /* seconds in which it freed its remaining elements */

    void add(const hash_tally &other)
    {
        ops += other.ops;
        updates += other.updates;
        found += other.found;
        absent += other.absent;
        wrong += other.wrong;
        used += other.used;
        leaving = std::max(leaving, other.leaving);
    }
};

class hash_design {
  public:
    virtual ~hash_design() = default;
    virtual void run(const hash_task &task, unsigned thread, const phase_flag &flag,
                     hash_tally &tally) = 0;
    /* Returns when all deleted elements have been freed. No thread uses the design meanwhile. */
    virtual void drain() {}
    /* For a table that is not the store. */
    virtual bool is_sound() const { return true; }
};

using hash_candidate = candidate<std::unique_ptr<hash_design> (*)(hash_store &)>;

void add_hash_locks(std::vector<hash_candidate> &all);
void add_hash_rcu(std::vector<hash_candidate> &all);
void add_hash_tables(std::vector<hash_candidate> &all);
void add_hash_libraries(std::vector<hash_candidate> &all);

} // namespace bench
