/* SPDX-License-Identifier: MIT */
/*
 * Caches that many threads share, bounded by the number or the cost of their entries. A hit writes
 * nothing that another thread reads or writes. The entry is part of the program's object. For
 * results that are costly to compute, and asked for much more often than they change.
 *
 * Not for data that must stay until they are removed (a table, tree.h), nor for memory that
 * processes share.
 *
 *   pawl_cache   index | counts of hits | lock | newest .. hand .. oldest | loads
 *   entry        newer, older, cost | next | key | ends | hash | references | used
 *                \ once it is out: the head of its callback
 *
 *   index       chains of entries by the hash of the key; as many places as entries are expected
 *   ends        when its time to live is over; constant
 *   references  PAWL_CACHE_IN_ while the cache has it, and 1 for each reference that is held
 *   used        set by a hit that finds it 0, cleared when the hand passes
 *   hand        where the search for the next victim goes on, from older entries to newer ones
 *
 *   SIEVE: a new entry comes in as the newest, unused, and stays in its place. The hand evicts the
 *   first entry that is unused or whose time is over. It clears what it passes, at most
 *   PAWL_CACHE_STEPS entries at once, and goes on at the oldest behind the newest.
 *
 * Calls
 *   get         nothing, in an RCU read section: the entry is valid until the section ends. It
 *               writes the thread's own counter, and `used` if that is 0.
 *   keep, hold  a reference for longer: one atomic operation on the entry
 *   load        a hit as hold. Of several misses of one key, one calls the loader; the others sleep
 *               until it is done.
 *   others      W of the cache's lock, for a few stores and the search of the hand. No function of
 *               the program is called under it.
 *
 * Invariants
 *   I1  an entry is released a grace period after it has left the cache and its last reference was
 *       dropped; so a get that stands on it goes on.
 *   I2  a replaced key's new entry comes in before the old one is taken out: a get finds one.
 *   I3  a load that began before an insertion or removal of its key, or a clear, is not kept: its
 *       entry goes to those that called before, and the next miss loads anew.
 *   I4  the costs of the entries in the cache do not exceed the limit. Entries that are out and
 *       still referenced do not count.
 *
 * Cost: a hit computes the hash, and reads the index, one entry for each key in its place, and the
 * clock if the entry ends. An entry has 64 bytes (52 on 32-bit targets), a place of the index a
 * pointer.
 *
 * Release runs as a callback of rcu_call.h. Without room there, or if the caller reads, an entry
 * waits in the cache for the next change. A thread that inserts, removes, drops or loads holds no
 * lock that the release takes.
 *
 * After fork the child has the cache, unless another thread was changing it. Loads of other threads
 * are gone there, and their keys are loaded anew. A loader that forks goes on in both: in the child
 * its entry is returned and not kept. References of the parent's other threads stay. Not in signal
 * handlers.
 */
#ifndef PAWL_CACHE_H
#define PAWL_CACHE_H

#include <pawl/counter.h>
#include <pawl/lock.h>
#include <pawl/rcu_call.h>

#include <string.h>

/* The most entries that the hand passes at once. */
#define PAWL_CACHE_STEPS 1024

/* The most entries that an index expects unless the options say more. */
#define PAWL_CACHE_ENTRIES (UINT32_C(1) << 20)

/* A life without an end. */
#define PAWL_CACHE_FOREVER UINT64_MAX

#define PAWL_CACHE_NUMBER_ UINT32_MAX
#define PAWL_CACHE_IN_ (UINT32_C(1) << 31)

union pawl_cache_value {
    uint64_t number;
    const void *bytes; /* the program's: constant until the entry is released */
};

/* Made by the functions below. Numbers and bytes may be keys of one cache; they never are equal. */
typedef struct pawl_cache_key {
    union pawl_cache_value value;
    uint32_t length; /* of the bytes */
} pawl_cache_key;

/* Made by pawl_cache_entry_init. */
typedef struct pawl_cache_entry {
    union {
        struct {
            struct pawl_cache_entry *newer, *older;
            uint64_t cost;
        } in;
        pawl_rcu_head out;
    } place;
    struct pawl_cache_entry *next;
    uint64_t ends; /* before its insertion: the life */
    union pawl_cache_value value;
    uint32_t length;
    uint32_t hash;
    uint32_t references;
    uint32_t used;
#if PAWL_CHECKED
    const void *site; /* of the last call that inserted or referenced it */
#endif
} pawl_cache_entry;

/* Makes the entry of a key, by pawl_cache_entry_init with a copy of its bytes; or NULL: it failed.
 * It must return: no longjmp, pthread_exit or cancellation. It may sleep, and use the cache, but
 * not load the same key, nor one whose loader may load this one: each would wait for the other. */
typedef pawl_cache_entry *pawl_cache_loader(pawl_cache_key key, void *argument);

typedef struct pawl_cache_options {
    uint64_t limit;   /* of the sum of costs; entries that cost 1: their number */
    uint32_t entries; /* how many to expect, for the index; 0: the limit, or ENTRIES */
    uint64_t life;    /* ns from insertion, of entries that state none; 0: for ever */
    /* Called with the address of an entry a grace period after its end, in no certain thread. */
    pawl_rcu_function *release;
    /* pawl_cache_places(entries) pointers of zero bytes, the program's; NULL: from calloc */
    pawl_cache_entry **index;
} pawl_cache_options;

/* Since init. Each is read by itself while other threads go on. */
typedef struct pawl_cache_statistics {
    uint64_t hits, misses;          /* of get, hold and load */
    uint64_t loads, failed, waited; /* loaders that returned, with NULL; misses that slept */
    uint64_t insertions, evictions; /* evicted for room */
    uint64_t entries, cost;         /* now in the cache */
} pawl_cache_statistics;

typedef struct pawl_cache {
    pawl_cache_entry **index;
    uint64_t seed;
    uint32_t mask;
    uint32_t own_index;
    pawl_counter hits, misses;
    pawl_rcu_function *release;
    char apart[128];
    /* Under the lock: */
    pawl_lock64 lock;
    pawl_cache_entry *newest, *oldest, *hand;
    pawl_cache_entry *late; /* to be released, without room for their callbacks */
    struct pawl_cache_flight *loads;
    uint64_t limit, life;
    pawl_cache_statistics counts;
    uint32_t forks;
} pawl_cache;

PAWL_C_BEGIN

/* Returns 0, EINVAL for a limit of 0, no release or an index without `entries`, or ENOMEM. */
PAWL_API int PAWL_SYMBOL_(pawl_cache_init)(pawl_cache *c, const pawl_cache_options *options);

/* Takes all entries out and waits until they are released. No thread may use the cache now or
 * later, and no reference may be held: the checking variant reports a load, and references to what
 * is in. Not in a read section or a callback. */
PAWL_API void PAWL_SYMBOL_SEEN_(pawl_cache_destroy)(pawl_cache *c);

/* ---- Hits ------------------------------------------------------------------------------------ */

/* The entry of that key, or NULL. In an RCU read section of the default domain, which keeps it; it
 * may be evicted at any moment. Acquire: of the entry, all that came before its insertion is seen.
 * Never waits. */
PAWL_API pawl_cache_entry *PAWL_SYMBOL_SEEN_(pawl_cache_get)(pawl_cache *c, pawl_cache_key key);

/* In the section of the get: a reference, which keeps the entry until its drop. False: it has left
 * the cache, and nobody else keeps it. Never waits. */
PAWL_API bool PAWL_SYMBOL_SEEN_(pawl_cache_keep)(pawl_cache_entry *e);

/* get and keep in one, without a section of the caller: a reference, or NULL. */
PAWL_API pawl_cache_entry *PAWL_SYMBOL_SEEN_(pawl_cache_hold)(pawl_cache *c, pawl_cache_key key);

/* Drops a reference. All that its holder did comes before the release. */
PAWL_API void PAWL_SYMBOL_SEEN_(pawl_cache_drop)(pawl_cache *c, pawl_cache_entry *e);

/* As hold; a miss calls loader(key, argument) and inserts what it returns, with a reference for the
 * caller. Calls that miss the same key meanwhile sleep, and get a reference to that entry, or NULL
 * where it failed: they do not call the loader. An entry that costs more than the limit is returned
 * and not kept. May wait: not in a read section. */
PAWL_API pawl_cache_entry *PAWL_SYMBOL_SEEN_(pawl_cache_load)(pawl_cache *c, pawl_cache_key key,
                                                              pawl_cache_loader *loader,
                                                              void *argument);

/* ---- Changes --------------------------------------------------------------------------------- */

/* Puts the entry in, instead of the one of that key, if there is one. From then on the cache may
 * release it. False: it costs more than the limit, or is in a cache or referenced already (a
 * mistake, which the checking variant reports); it stays the caller's. */
PAWL_API bool PAWL_SYMBOL_SEEN_(pawl_cache_insert)(pawl_cache *c, pawl_cache_entry *e);

/* Takes the entry of that key out. False: there was none. Loads that have begun are not kept. */
PAWL_API bool PAWL_SYMBOL_SEEN_(pawl_cache_remove)(pawl_cache *c, pawl_cache_key key);

/* Removes as many as are in, the oldest first, in steps between which other threads may insert. */
PAWL_API void PAWL_SYMBOL_SEEN_(pawl_cache_clear)(pawl_cache *c);

/* The entry's memory is not used after this, in release or without an insertion. The checking
 * variant reports an entry that is in a cache, or referenced. */
PAWL_API void PAWL_SYMBOL_(pawl_cache_entry_destroy)(pawl_cache_entry *e);

PAWL_API void PAWL_SYMBOL_SEEN_(pawl_cache_read)(pawl_cache *c, pawl_cache_statistics *statistics);

PAWL_C_END

#define pawl_cache_init PAWL_SYMBOL_(pawl_cache_init)
#define pawl_cache_destroy PAWL_SYMBOL_SEEN_(pawl_cache_destroy)
#define pawl_cache_get PAWL_SYMBOL_SEEN_(pawl_cache_get)
#define pawl_cache_keep PAWL_SYMBOL_SEEN_(pawl_cache_keep)
#define pawl_cache_hold PAWL_SYMBOL_SEEN_(pawl_cache_hold)
#define pawl_cache_drop PAWL_SYMBOL_SEEN_(pawl_cache_drop)
#define pawl_cache_load PAWL_SYMBOL_SEEN_(pawl_cache_load)
#define pawl_cache_insert PAWL_SYMBOL_SEEN_(pawl_cache_insert)
#define pawl_cache_remove PAWL_SYMBOL_SEEN_(pawl_cache_remove)
#define pawl_cache_clear PAWL_SYMBOL_SEEN_(pawl_cache_clear)
#define pawl_cache_entry_destroy PAWL_SYMBOL_(pawl_cache_entry_destroy)
#define pawl_cache_read PAWL_SYMBOL_SEEN_(pawl_cache_read)

/* The object that has the entry as its member; of an entry, or of what release is given. */
#define PAWL_CACHE_OBJECT(type, member, e) ((type *)(void *)((char *)(e) - offsetof(type, member)))

PAWL_INLINE_BEGIN

PAWL_INLINE pawl_cache_key pawl_cache_number(uint64_t number)
{
    pawl_cache_key key;
    key.value.number = number;
    key.length = PAWL_CACHE_NUMBER_;
    return key;
}

/* Longer keys count up to 4 GB less two bytes. */
PAWL_INLINE pawl_cache_key pawl_cache_bytes(const void *bytes, size_t length)
{
    pawl_cache_key key;
    key.value.bytes = bytes;
    key.length = length < PAWL_CACHE_NUMBER_ ? (uint32_t)length : PAWL_CACHE_NUMBER_ - 1;
    return key;
}

PAWL_INLINE pawl_cache_key pawl_cache_string(const char *string)
{
    return pawl_cache_bytes(string, strlen(string));
}

/* Before the insertion. cost 0: 1. life 0: the cache's; in ns from the insertion. */
PAWL_INLINE void pawl_cache_entry_init(pawl_cache_entry *e, pawl_cache_key key, uint64_t cost,
                                       uint64_t life)
{
    memset(e, 0, sizeof *e);
    e->value = key.value;
    e->length = key.length;
    e->place.in.cost = cost == 0 ? 1 : cost;
    e->ends = life;
}

/* The places of an index for so many entries: a power of two. */
PAWL_INLINE uint32_t pawl_cache_places(uint64_t entries)
{
    uint32_t places = 1;
    while (places < entries && places < UINT32_C(1) << 30)
        places *= 2;
    return places;
}

PAWL_INLINE_END

#endif
