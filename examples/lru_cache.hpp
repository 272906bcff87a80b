/* SPDX-License-Identifier: MIT */
/*
 * A cache of limited size, shared by threads: a hash table whose entries are replaced in turn. A
 * template parameter says how it is locked (lock_strategies.hpp), so the same code runs under any
 * lock. Values are copied out under the lock: after the drop an entry may be replaced at any
 * moment.
 *
 *   pawl_example::lru_cache<uint32_t, answer, pawl_example::read_seek_write<my_lock>> cache(3200);
 *   answer a;
 *   if (!cache.find(key, a)) {
 *       a = compute(key);                            // expensive, outside any lock
 *       cache.insert(key, a);                        // two threads may: the later one replaces
 *   }
 *
 * "LRU-like", not LRU: a hit does not move its entry to the front. That would be a write, and hits
 * run beside each other under a read lock: two of them would change the same list at once. A cache
 * whose hits reorder needs the write lock for every lookup, and scales no better than one thread.
 * Entries therefore go round-robin, the oldest first, however often they were used.
 *
 * Cost: find() walks one chain of the table. insert() walks two, the key's and that of the entry
 * that has to leave, before it asks for the right to write. Under W it then does a handful of
 * stores. Locks with a seek state let readers in during those walks.
 */
#ifndef PAWL_EXAMPLES_LRU_CACHE_HPP
#define PAWL_EXAMPLES_LRU_CACHE_HPP

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <type_traits>
#include <vector>

namespace pawl_example {

/* Multiplication by 2^64 / golden ratio. A hash for the cache gives 64 bits, the high ones best. */
struct multiplicative_hash {
    template <class Integer> std::uint64_t operator()(Integer key) const noexcept
    {
        static_assert(std::is_integral<Integer>::value, "other keys need a hash of their own");
        return static_cast<std::uint64_t>(key) * UINT64_C(0x9E3779B97F4A7C15);
    }
};

template <class Key, class Value, class Strategy, class Hash = multiplicative_hash>
class lru_cache {
    /* Copies are made under the lock: they must neither throw nor run code of the user's there. */
    static_assert(std::is_trivially_copyable<Key>::value, "keys are copied under the lock");
    static_assert(std::is_trivially_copyable<Value>::value, "values are copied under the lock");

  public:
    using lock_type = typename Strategy::lock_type;

    /* Keeps `size` entries (1 to 2^31) in `chains` chains (0: one for each entry). Allocates here
     * and never again, so that no thread waits under the lock for the allocator. */
    explicit lru_cache(std::size_t size, std::size_t chains = 0)
        : heads_(chain_count(size, chains), none), entries_(size + 1), size_(size)
    {
    }

    lru_cache(const lru_cache &) = delete;
    lru_cache &operator=(const lru_cache &) = delete;

    /* true: `value` is a copy of the value kept under the key. */
    bool find(const Key &key, Value &value)
    {
        typename Strategy::lookup guard(lock_);
        const std::uint32_t at = chain_find(heads_[bucket_of(key)], key);
        if (at == none)
            return false;
        value = entries_[at].value;
        return true;
    }

    /* Keeps the value: as a new entry if the key is still absent, else in place of the older value.
     * Then trims to size. true: the entry is new. */
    bool insert(const Key &key, const Value &value)
    {
        typename Strategy::insertion guard(lock_);
        plan p = make_plan(key);
        /* Nothing was written so far. If the strategy had to drop the lock on the way, the entry
         * found may have been replaced since: search again. */
        while (!guard.to_write())
            p = make_plan(key);
        return carry_out(p, key, value);
    }

    /* Entries now kept. For one thread, or between runs: it does not lock. */
    std::size_t count() const noexcept { return count_; }
    std::size_t capacity() const noexcept { return size_; }

    /* true: every entry is in the chain of its key, once, and their number is right. For one
     * thread, or between runs. */
    bool is_sound() const
    {
        std::size_t seen = 0;
        for (std::size_t b = 0; b < heads_.size(); b++) {
            for (std::uint32_t at = heads_[b]; at != none; at = entries_[at].next) {
                if (bucket_of(entries_[at].key) != b || ++seen > size_)
                    return false;
                if (chain_find(entries_[at].next, entries_[at].key) != none)
                    return false;
            }
        }
        return seen == count_ && count_ <= size_;
    }

  private:
    static constexpr std::uint32_t none = UINT32_MAX;

    struct entry {
        Key key;
        std::uint32_t next; /* index of the next one in the chain, none at its end */
        Value value;
    };

    /* The plan of an insertion, made while other threads still read. */
    struct plan {
        std::uint32_t found;       /* the key's entry, or none */
        std::size_t bucket;        /* the key's chain */
        std::size_t victim_bucket; /* the chain of the entry that leaves */
        std::uint32_t before;      /* the entry before the victim in it, none if it is first */
    };

    /* Indices are of 32 bits, and one entry more than size exists for a moment. */
    static std::size_t chain_count(std::size_t size, std::size_t chains)
    {
        constexpr std::size_t most = std::size_t(1) << 31;
        if (size < 1 || size > most || chains > most)
            throw std::invalid_argument("a cache keeps between 1 and 2^31 entries");
        return chains ? chains : size;
    }

    std::size_t bucket_of(const Key &key) const noexcept
    {
        /* High bits of the hash times the number of chains: any number will do, and no division. */
        return static_cast<std::size_t>(((Hash()(key) >> 32) * heads_.size()) >> 32);
    }

    std::uint32_t chain_find(std::uint32_t at, const Key &key) const noexcept
    {
        while (at != none && !(entries_[at].key == key))
            at = entries_[at].next;
        return at;
    }

    std::uint32_t following(std::uint32_t at) const noexcept { return at == size_ ? 0 : at + 1; }

    /* Reads only: other threads may be reading too. */
    plan make_plan(const Key &key) const noexcept
    {
        plan p = {none, bucket_of(key), 0, none};
        p.found = chain_find(heads_[p.bucket], key);
        if (p.found == none && count_ == size_) {
            /* The entries are a ring with one free place, spare_; after it comes the oldest. */
            const std::uint32_t victim = following(spare_);
            p.victim_bucket = bucket_of(entries_[victim].key);
            for (std::uint32_t at = heads_[p.victim_bucket]; at != victim; at = entries_[at].next)
                p.before = at;
        }
        return p;
    }

    /* Alone now: no reader can be on the entry that leaves, nor on the one that is filled. */
    bool carry_out(const plan &p, const Key &key, const Value &value) noexcept
    {
        if (p.found != none) {
            entries_[p.found].value = value;
            return false;
        }
        const std::uint32_t fresh = spare_;
        spare_ = following(spare_);
        if (count_ == size_) {
            std::uint32_t &link =
                p.before == none ? heads_[p.victim_bucket] : entries_[p.before].next;
            link = entries_[spare_].next;
        } else {
            count_++;
        }
        entries_[fresh] = entry{key, heads_[p.bucket], value};
        heads_[p.bucket] = fresh;
        return true;
    }

    /* Readers write the lock too, so it shares its line with nothing that is only read. 128: x86
     * fetches lines in pairs. */
    alignas(128) lock_type lock_{};
    alignas(128) std::vector<std::uint32_t> heads_;
    std::vector<entry> entries_;
    std::size_t size_;
    alignas(128) std::size_t count_ = 0;
    std::uint32_t spare_ = 0;
};

} // namespace pawl_example

#endif
