/* SPDX-License-Identifier: MIT */
/*
 * The loop of pawl-bench-hash, and the operations of a chained table: the same templates for all
 * designs, so that each is inlined into the same code.
 *
 * A table's thread has
 *   search(key, tally)   counts found and wrong, and no more: each instruction here lets fewer
 *                        searches overlap
 *   update(key)          deletes the key's element and inserts a new one; nothing if another thread
 *                        is just at that
 *   pause()              now and then between operations
 *
 * A chained table is made of a Design that has load and store (of links) and a class thread with
 *   find(bucket, key, use)   calls use(element) where it may be read; whether it was there
 *   remove(bucket, key)      unlinks and returns it, or nullptr
 *   insert(bucket, element)
 *   retire(element)          frees it, once no thread can read it any more
 *   pause()
 */
#pragma once

#include <optional>

#include "adapters/absent.hpp"
#include "hash/hash.hpp"

namespace bench {

/* Links of tables whose readers and writers exclude each other. */
struct plain_links {
    static element *load(element *&place) { return place; }
    static void store(element *&place, element *value) { place = value; }
};

template <class Links> element *find_in(bucket &b, std::uint32_t key)
{
    element *e = Links::load(b.first);
    while (e && e->key != key)
        e = Links::load(e->next);
    return e;
}

/* The element's own links stay: a reader may stand on it. */
template <class Links> void unlink(element *e)
{
    element *next = e->next;
    Links::store(*e->place, next);
    if (next)
        next->place = e->place;
}

template <class Links> void link(bucket &b, element *e)
{
    e->place = &b.first;
    e->next = b.first;
    if (e->next)
        e->next->place = &e->next;
    Links::store(b.first, e);
}

template <class Design> class chained final {
  public:
    explicit chained(hash_store &store) : store_(store) {}

    static void drain() { Design::drain(); }
    bool is_sound() const { return true; }
    std::uint32_t keys() const { return store_.keys(); }

    /* Without synchronisation each thread writes only to its own part of the table. */
    static constexpr bool needs_parts = Design::needs_parts;

    class thread {
      public:
        explicit thread(chained &table) : store_(table.store_), own_(table.design_) {}

        void search(std::uint32_t key, hash_tally &t)
        {
            own_.find(store_.of(key), key, [&](const element &e) {
                t.wrong += e.check != element::check_of(key);
                t.found++;
            });
        }
        void update(std::uint32_t key)
        {
            bucket &b = store_.of(key);
            element *old = own_.remove(b, key);
            if (!old)
                return;
            own_.retire(old);
            own_.insert(b, new element(key));
        }
        void pause() { own_.pause(); }

      private:
        hash_store &store_;
        typename Design::thread own_;
    };

  private:
    hash_store &store_;
    Design design_;
};

template <class Table> class hash_design_of final : public hash_design {
    static constexpr unsigned between_pauses = 64;

  public:
    explicit hash_design_of(hash_store &store) : table_(store) {}
    void drain() override { table_.drain(); }
    bool is_sound() const override { return table_.is_sound(); }

    void run(const hash_task &task, unsigned thread, const phase_flag &flag,
             hash_tally &tally) override
    {
        std::optional<typename Table::thread> own(std::in_place, table_);
        random_numbers random(mix(task.seed + thread));
        mixed_runs runs(task.updates);
        hash_tally local;
        run_while(phase::warming, task, thread, flag, *own, random, runs, local);
        local = hash_tally();
        const usage_meter meter;
        run_while(phase::measuring, task, thread, flag, *own, random, runs, local);
        local.used = meter.stop();
        local.absent = local.ops - local.updates - local.found;
        const double over = seconds_of(CLOCK_MONOTONIC);
        own.reset();
        local.leaving = seconds_of(CLOCK_MONOTONIC) - over;
        tally = local;
    }

  private:
    void run_while(phase p, const hash_task &task, unsigned thread, const phase_flag &flag,
                   typename Table::thread &own, random_numbers &stream, mixed_runs &mix_of,
                   hash_tally &tally)
    {
        const bool parts = Table::needs_parts && task.updates > 0;
        const std::uint32_t count = parts ? table_.keys() / task.threads : table_.keys();
        const std::uint32_t first = parts ? count * thread : 0;
        random_numbers random = stream; /* local: the compiler may keep them in registers */
        mixed_runs runs = mix_of;
        hash_tally t;
        for (; flag.is(p); t.ops++) {
            const std::uint32_t key = first + random.below(count);
            if (runs.next(random)) {
                own.update(key);
                t.updates++;
            } else {
                own.search(key, t);
            }
            if (t.ops % between_pauses == 0)
                own.pause();
        }
        stream = random;
        mix_of = runs;
        tally = t;
    }

    Table table_;
};

template <class Table> std::unique_ptr<hash_design> make_hash_design(hash_store &store)
{
    return std::make_unique<hash_design_of<Table>>(store);
}

/* A strategy with the same name as its lock has one name. */
inline hash_candidate named(hash_candidate c)
{
    if (c.strategy == c.lock)
        c.name = c.lock;
    return c;
}

template <class Design> hash_candidate chained_candidate(const char *strategy, const char *lock)
{
    return named({strategy, lock, "", make_hash_design<chained<Design>>});
}

inline hash_candidate missing_candidate(const char *name, const char *package)
{
    return named({name, name, adapter::to_install(package)});
}

} // namespace bench
