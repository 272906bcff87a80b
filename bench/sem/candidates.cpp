/* SPDX-License-Identifier: MIT */
/*
 * The tables of pawl-bench-sem: the ID table with several locks in its objects, and one array under
 * one lock, the usual form of such tables. Each finds the semaphore by its number, and refuses a
 * stale number. It then adds to the semaphore unless that would fall below zero.
 */
#include "adapters/pawl_lock.hpp"
#include "adapters/pawl_spin.hpp"
#include "adapters/pthread.hpp"
#include "core/placed.hpp"
#include "sem/sem.hpp"

namespace bench {

namespace {

/* On lines of its own: two semaphores that two threads use share none. */
template <class Lock> struct alignas(128) semaphore {
    pawl_idtable_entry entry{};
    Lock lock;
    std::int32_t units = first_units;
};

enum class outcome { done, refused, missing };

/* Waiting for units is not measured: an operation that would have to wait is refused. */
template <class Semaphore> outcome add_units(Semaphore &s, std::int32_t units)
{
    if (s.units + units < 0)
        return outcome::refused;
    s.units += units;
    return outcome::done;
}

template <class Lock> void take(semaphore<Lock> *s)
{
    s->lock.take_write();
}

template <class Lock> void drop(semaphore<Lock> *s)
{
    s->lock.drop_write();
}

/* ---- The ID table ---------------------------------------------------------------------------- */

template <class Lock> using finder = semaphore<Lock> *(const pawl_idtable *, pawl_id);

template <class Lock, finder<Lock> *find> class by_id {
  public:
    explicit by_id(std::uint32_t count) : objects_(count), ids_(count)
    {
        for (std::uint32_t i = 0; i < count; i++)
            if (pawl_idtable_insert(&table_, &objects_[i].entry, &ids_[i]) != 0)
                throw std::bad_alloc();
    }
    ~by_id() { pawl_idtable_destroy(&table_); }
    by_id(const by_id &) = delete;
    by_id &operator=(const by_id &) = delete;

    outcome semop(std::uint32_t i, std::int32_t units)
    {
        semaphore<Lock> *const s = find(&table_, ids_[i]);
        if (!s)
            return outcome::missing;
        const outcome result = add_units(*s, units);
        drop(s);
        return result;
    }
    const std::vector<semaphore<Lock>> &objects() const { return objects_; }

  private:
    pawl_idtable table_ = PAWL_IDTABLE_INIT(nullptr);
    std::vector<semaphore<Lock>> objects_;
    std::vector<pawl_id> ids_;
};

/* The function that finds and locks, for one kind of lock. */
#define PAWL_BENCH_BY_ID(kind)                                                                     \
    namespace of_##kind                                                                            \
    {                                                                                              \
        using object = semaphore<adapter::kind>;                                                   \
        PAWL_IDTABLE_TAKE(find, object, entry, take, drop);                                        \
        using table = by_id<adapter::kind, find>;                                                  \
    }

PAWL_BENCH_BY_ID(pawl_spin32)
PAWL_BENCH_BY_ID(pawl_lock32)
PAWL_BENCH_BY_ID(pthread_mutex)

/* ---- One lock -------------------------------------------------------------------------------- */

struct no_lock {
    void take_write() {}
    void drop_write() {}
};

/* An array of pointers under one lock, with the same check of a stale number. */
template <class Lock, class OfEach> class in_array {
  public:
    explicit in_array(std::uint32_t count) : objects_(count), places_(count), ids_(count)
    {
        for (std::uint32_t i = 0; i < count; i++) {
            places_[i] = &objects_[i];
            ids_[i] = objects_[i].entry.id = (UINT64_C(1) << 32) + i;
        }
    }

    const std::vector<semaphore<OfEach>> &objects() const { return objects_; }

  protected:
    semaphore<OfEach> *find(pawl_id id) const
    {
        const auto place = static_cast<std::uint32_t>(id);
        if (place >= places_.size())
            return nullptr;
        semaphore<OfEach> *const s = places_[place];
        return s && s->entry.id == id ? s : nullptr;
    }

    placed<Lock> lock_;
    std::vector<semaphore<OfEach>> objects_;
    std::vector<semaphore<OfEach> *> places_;
    std::vector<pawl_id> ids_;
};

/* The lock is held during the work on the semaphore. */
template <class Lock> struct under_one_lock : in_array<Lock, no_lock> {
    using in_array<Lock, no_lock>::in_array;

    outcome semop(std::uint32_t i, std::int32_t units)
    {
        this->lock_.object.take_write();
        semaphore<no_lock> *const s = this->find(this->ids_[i]);
        const outcome result = s ? add_units(*s, units) : outcome::missing;
        this->lock_.object.drop_write();
        return result;
    }
};

/* The lock is held shared, until the caller holds the semaphore's own lock. */
template <class Lock> struct under_shared_lock : in_array<Lock, adapter::pawl_spin32> {
    using in_array<Lock, adapter::pawl_spin32>::in_array;

    outcome semop(std::uint32_t i, std::int32_t units)
    {
        this->lock_.object.take_read();
        semaphore<adapter::pawl_spin32> *const s = this->find(this->ids_[i]);
        if (s)
            take(s);
        this->lock_.object.drop_read();
        if (!s)
            return outcome::missing;
        const outcome result = add_units(*s, units);
        drop(s);
        return result;
    }
};

/* ---- The loop -------------------------------------------------------------------------------- */

template <class Table> class sem_design_of final : public sem_design {
  public:
    explicit sem_design_of(std::uint32_t semaphores) : table_(semaphores) {}

    void run(const sem_task &task, unsigned thread, const phase_flag &flag,
             sem_tally &tally) override
    {
        random_numbers random(mix(task.seed + thread));
        sem_tally local;
        run_while(phase::warming, task, thread, flag, random, local);
        const std::int64_t added = local.added;
        local = sem_tally();
        const usage_meter meter;
        run_while(phase::measuring, task, thread, flag, random, local);
        local.used = meter.stop();
        local.added += added;
        tally = local;
    }

    std::int64_t units() const override
    {
        std::int64_t sum = 0;
        for (const auto &s : table_.objects())
            sum += s.units;
        return sum;
    }

  private:
    void run_while(phase p, const sem_task &task, unsigned thread, const phase_flag &flag,
                   random_numbers &stream, sem_tally &tally)
    {
        const auto all = static_cast<std::uint32_t>(table_.objects().size());
        const std::uint32_t part = all / task.threads;
        const bool disjoint = task.choice == sem_choice::disjoint;
        const std::uint32_t count = task.choice == sem_choice::same ? 1 : disjoint ? part : all;
        const std::uint32_t first = disjoint ? part * thread : 0;
        random_numbers random = stream; /* local: the compiler may keep it in registers */
        sem_tally t;
        for (; flag.is(p); t.ops++) {
            const std::uint64_t r = random.next();
            const auto i = static_cast<std::uint32_t>(((r >> 32) * count) >> 32);
            const std::int32_t units = (r >> 20 & 1) ? 1 : -1;
            const outcome result = table_.semop(first + i, units);
            t.added += result == outcome::done ? units : 0;
            t.refused += result == outcome::refused;
            t.missing += result == outcome::missing;
        }
        stream = random;
        tally = t;
    }

    Table table_;
};

template <class Table> std::unique_ptr<sem_design> make_table(std::uint32_t semaphores)
{
    return std::make_unique<sem_design_of<Table>>(semaphores);
}

template <class Table> sem_candidate present(const char *strategy, const char *lock)
{
    return {strategy, lock, "", make_table<Table>};
}

} // namespace

std::vector<sem_candidate> sem_candidates()
{
    std::vector<sem_candidate> all;
    all.push_back(present<of_pawl_spin32::table>("idtable", "pawl_spin32"));
    all.push_back(present<of_pawl_lock32::table>("idtable", "pawl_lock32"));
    all.push_back(present<of_pthread_mutex::table>("idtable", "pthread_mutex"));
    all.push_back(present<under_one_lock<adapter::pthread_mutex>>("global", "pthread_mutex"));
    all.back().baseline = true;
    all.push_back(present<under_one_lock<adapter::pthread_spin>>("global", "pthread_spin"));
    all.push_back(present<under_one_lock<adapter::pawl_lock64>>("global", "pawl_lock64"));
    all.push_back(present<under_shared_lock<adapter::pthread_rwlock>>("shared", "pthread_rwlock"));
    all.push_back(present<under_shared_lock<adapter::pawl_lock64>>("shared", "pawl_lock64"));
    return all;
}

} // namespace bench
