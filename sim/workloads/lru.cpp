/* SPDX-License-Identifier: MIT */
/*
 * The published LRU job: threads look random keys up in one cache, and on a miss compute the value
 * outside the lock, search again, and insert. The cache has 32 chains of 100 entries. It is trimmed
 * when it holds 32 entries too many, by the last entry of each chain; so more lookups hit than the
 * nominal share says. Walks are real: the compiler reports each access.
 *
 * A run begins in a cache that has been in use for long: each core has copies of all entries.
 * keys.hpp says which keys are looked up. The published cache keeps no use of its entries. Two
 * strategies do: an LRU list under W, and pawl_cache's way, with the library's RCU and counters.
 */
#include "workloads/settings.hpp"

#include "examples/lock_strategies.hpp"
#include "bench/adapters/pawl_lock.hpp"
#include "bench/adapters/pawl_spin.hpp"
#include "models/ancestor.hpp"
#include "stage.hpp"
#include "workloads/keys.hpp"

#include <pawl/counter.h>
#include <pawl/rcu.h>

#include <algorithm>

namespace sim {

namespace {

using namespace pawl_example;

constexpr unsigned chains = 32;

/* A hit moves its entry to the front of its chain. */
template <class Lock> struct moving : write_only<Lock> {};

/* A hit takes no lock: a read section, the thread's own counter, and a bit if it is not set. */
template <class Lock> struct cached : write_only<Lock> {
    struct lookup {
        explicit lookup(Lock &) { pawl_rcu_read_lock(); }
        ~lookup() { pawl_rcu_read_unlock(); }
        lookup(const lookup &) = delete;
        lookup &operator=(const lookup &) = delete;
    };
};

template <class S> constexpr bool moves = std::is_same_v<S, moving<typename S::lock_type>>;
template <class S> constexpr bool marks = std::is_same_v<S, cached<typename S::lock_type>>;

struct costs {
    ps outside, step, again, miss, insert;
    unsigned rounds;
};

struct entry {
    entry *next, *previous;
    std::uint32_t key;
    std::uint32_t used;
    char text[8];
};

constexpr std::size_t entry_bytes = 48; /* as malloc places 32 bytes and its own 8 */

/* The part of the cache that threads share, in memory of the arena. */
template <class Strategy> struct shared_cache {
    using lock_type = typename Strategy::lock_type;
    alignas(128) lock_type lock{};
    alignas(64) struct {
        entry *next, *previous;
    } heads[chains];
    std::uint32_t used;

    entry *head(unsigned chain) { return reinterpret_cast<entry *>(&heads[chain]); }
};

template <class Strategy> class job {
  public:
    job(const costs &c, const cache_shape &shape)
        : c_(c), shape_(shape),
          cache_(*new (arena_take(sizeof(shared_cache<Strategy>), 128)) shared_cache<Strategy>)
    {
        for (unsigned i = 0; i < chains; i++)
            cache_.heads[i].next = cache_.heads[i].previous = cache_.head(i);
        cache_.used = 0;
        if (marks<Strategy>) {
            hits_ = new (arena_take(sizeof *hits_, 128)) pawl_counter;
            pawl_counter_init(hits_);
        }
    }

    shared_cache<Strategy> &cache() { return cache_; }

    /* Before the threads start, at no cost. */
    void fill(engine &e, const std::vector<std::uint32_t> &held, unsigned cores)
    {
        for (const std::uint32_t key : held) {
            entry *const fresh = take_entry();
            fresh->key = key;
            put(fresh);
            e.share(fresh, sizeof *fresh, cores);
        }
        e.share(cache_.heads, sizeof cache_.heads, cores);
        e.share(&cache_.used, sizeof cache_.used, cores);
    }

    /* One lookup by a thread; its pool of free entries is its own. */
    void look_up(std::uint32_t key, std::vector<entry *> &pool, std::uint64_t &misses)
    {
        engine &e = *engine::running;
        bool found;
        {
            typename Strategy::lookup guard(cache_.lock);
            if constexpr (moves<Strategy> || marks<Strategy>)
                found = use(find(key, c_.step));
            else
                found = find(key, c_.step) != nullptr;
        }
        if (!found) {
            misses++;
            for (unsigned i = 0; i < c_.rounds; i += 10)
                e.work(c_.miss * std::min(10U, c_.rounds - i));
            if constexpr (marks<Strategy>)
                put_back_oldest(pool);
            else if (pool.empty())
                pool.push_back(take_entry());
            entry *const fresh = pool.back();
            pool.pop_back();
            fresh->key = key;
            typename Strategy::insertion guard(cache_.lock);
            entry *old = find(key, c_.again);
            while (!guard.to_write())
                old = find(key, c_.again);
            if (old != nullptr)
                remove(old);
            put(fresh);
            trim(pool);
            e.walk(c_.insert);
        }
        e.work(c_.outside);
    }

  private:
    entry *find(std::uint32_t key, ps step)
    {
        engine &e = *engine::running;
        entry *const end = cache_.head(key % chains);
        entry *at = end->next;
        for (; at != end; at = at->next) {
            e.walk(step);
            if (at->key == key)
                return at;
        }
        return nullptr;
    }

    bool use(entry *e)
    {
        if (e == nullptr)
            return false;
        if (moves<Strategy>) {
            remove(e);
            put(e);
        } else {
            if (e->used == 0)
                e->used = 1;
            pawl_counter_inc(hits_);
        }
        return true;
    }

    /* A look-up without a lock may stand on an entry that was freed last: an old one comes next. */
    static void put_back_oldest(std::vector<entry *> &pool)
    {
        if (pool.size() <= 4 * chains)
            pool.push_back(take_entry());
        else
            std::rotate(pool.begin(), pool.begin() + 1, pool.end());
    }

    static entry *take_entry() { return static_cast<entry *>(arena_take(entry_bytes, 16)); }

    void put(entry *e)
    {
        entry *const h = cache_.head(e->key % chains);
        e->next = h->next;
        e->previous = h;
        if (marks<Strategy>)
            e->used = 0;
        h->next->previous = e;
        h->next = e;
        cache_.used++;
    }

    void remove(entry *e)
    {
        e->next->previous = e->previous;
        e->previous->next = e->next;
        cache_.used--;
    }

    void trim(std::vector<entry *> &pool)
    {
        if (cache_.used < shape_.limit + chains)
            return;
        while (cache_.used > shape_.limit) {
            for (unsigned i = 0; i < chains; i++) {
                entry *last = cache_.head(i)->previous;
                for (; marks<Strategy> && last != cache_.head(i) && last->used != 0;
                     last = last->previous)
                    last->used = 0;
                if (last == cache_.head(i))
                    continue;
                remove(last);
                pool.push_back(last);
            }
        }
    }

    costs c_;
    cache_shape shape_;
    shared_cache<Strategy> &cache_;
    pawl_counter *hits_ = nullptr;
};

template <class Strategy> findings run(settings &s, const costs &c, unsigned threads,
                                       unsigned cores, double warm, double count)
{
    const cache_shape shape = {chains, s.count("size", 3200, chains, 1000000),
                               s.count("keyspace", 3232, 1, 1000000)};
    s.refuse_unused();
    engine e(s.on, s.seed);
    job<Strategy> j(c, shape);
    e.name(&j.cache().lock, sizeof j.cache().lock, "the lock");
    std::uint64_t done = 0, misses = 0, misses_before = 0;
    std::vector<std::uint64_t> of_threads(threads);
    const auto first = static_cast<std::uint64_t>(warm * threads);
    const auto last = first + static_cast<std::uint64_t>(count);
    const auto held = held_keys(shape, s.seed, warm * threads + count);
    const std::uint64_t draw =
        typical_draw(shape, held, s.seed, threads, first, static_cast<std::uint64_t>(count));
    j.fill(e, held, cores);
    ps began = 0, ended = 0;
    keys starts(s.seed + 7, 2000000);
    for (unsigned t = 0; t < threads; t++)
        e.add(
            s.place(t, cores),
            [&, t] {
                keys k = keys_of(draw, t, shape.space);
                std::vector<entry *> pool;
                for (;;) {
                    j.look_up(k.next(), pool, misses);
                    e.turn();
                    if (done == first) {
                        began = e.now();
                        misses_before = misses;
                    }
                    of_threads[t] += done >= first;
                    if (++done > last) {
                        ended = e.now();
                        e.stop();
                    }
                    e.progress();
                    e.turn();
                    if (done > last)
                        return;
                }
            },
            static_cast<ps>(starts.next()));
    e.run();
    findings f;
    const double seconds = static_cast<double>(ended - began) * 1e-12;
    f.add("lookups_per_s", static_cast<double>(done - 1 - first) / seconds);
    f.add("miss_share",
          static_cast<double>(misses - misses_before) / static_cast<double>(done - 1 - first));
    add_fairness(f, s, cores, of_threads);
    add_counts(f, e);
    return f;
}

/* The oracle's pointer stands behind it, and must not lie on the line of the lock. */
template <class Lock> struct alignas(64) line_of_its_own : Lock {};
template <class Lock> using eye = watched<line_of_its_own<Lock>>;

/* A lock that grants W to everybody: the oracle must see it. */
struct planted {
    std::uint32_t word = 0;
    void take_write() { (void)add(&word, 1U); }
    void drop_write() { (void)add(&word, UINT32_MAX); }
};

} // namespace

findings run_lru(settings &s)
{
    costs c;
    const auto duration = [&](const char *name, double usual) {
        return static_cast<ps>(s.number(name, usual, 0, 1e9) * 1000);
    };
    c.outside = duration("outside", 30);
    c.step = duration("step", 4);
    c.again = duration("again", static_cast<double>(c.step) / 1000);
    c.miss = duration("round", 80);
    c.insert = duration("insert", 0);
    c.rounds = s.count("cost", 30, 0, 1e6) + 1; /* the published loop asks after each round */
    const auto [cores, threads] = s.crowd(s.on.all_cores(), most_threads);
    const double warm = s.number("warm", 200, 0, 1e7), count = s.number("count", 10000, 10, 1e9);
    const std::string strategy = s.text("strategy", "plock_r_s_w");
    const std::string lock = s.text("lock", "spin64");
    if (strategy == "planted")
        return run<write_only<eye<planted>>>(s, c, threads, cores, warm, count);
    if (strategy == "spin")
        return run<write_only<eye<model_spin>>>(s, c, threads, cores, warm, count);
    if (strategy == "moving" && lock == "spin")
        return run<moving<eye<model_spin>>>(s, c, threads, cores, warm, count);
    if (strategy == "rwlock")
        return run<read_write<eye<model_rwlock_2017>>>(s, c, threads, cores, warm, count);
#define PROGRESSIVE(name, type)                                                                    \
    if (lock == name) {                                                                            \
        if (strategy == "plock_w")                                                                 \
            return run<write_only<eye<type>>>(s, c, threads, cores, warm, count);                  \
        if (strategy == "plock_s")                                                                 \
            return run<seek_only<eye<type>>>(s, c, threads, cores, warm, count);                   \
        if (strategy == "plock_r_w")                                                               \
            return run<read_write<eye<type>>>(s, c, threads, cores, warm, count);                  \
        if (strategy == "plock_r_s_w")                                                             \
            return run<read_seek_write<eye<type>>>(s, c, threads, cores, warm, count);             \
        if (strategy == "plock_r_rsw")                                                             \
            return run<read_try_seek_write<eye<type>>>(s, c, threads, cores, warm, count);         \
        if (strategy == "plock_r_rw")                                                              \
            return run<read_try_write<eye<type>>>(s, c, threads, cores, warm, count);              \
        if (strategy == "moving")                                                                  \
            return run<moving<eye<type>>>(s, c, threads, cores, warm, count);                      \
        if (strategy == "cached")                                                                  \
            return run<cached<eye<type>>>(s, c, threads, cores, warm, count);                      \
        throw bad_input("The job has no strategy '" + strategy + "'.");                            \
    }
    PROGRESSIVE("spin64", adapter::pawl_spin64)
    PROGRESSIVE("lock64", adapter::pawl_lock64)
    PROGRESSIVE("ancestor", model_ancestor)
    throw bad_input("There is no model of a lock '" + lock +
                    "': choose spin64, lock64 or ancestor.");
}

} // namespace sim
