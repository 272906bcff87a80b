/* SPDX-License-Identifier: MIT */
/* The operations that the crate calls: the library's inline functions as symbols. */
#include <pawl/lock.h>

#include <stdio.h>
#include <stdlib.h>

#define OPERATION(type, result, name, verb)                                                        \
    result pawl_rust_##type##_##name(pawl_##type *l);                                              \
    result pawl_rust_##type##_##name(pawl_##type *l)                                               \
    {                                                                                              \
        return pawl_##type##_##verb(l);                                                            \
    }
#define LOCK64(result, verb) OPERATION(lock64, result, verb, verb)
#define LOCK32(result, verb) OPERATION(lock32, result, verb, verb)
#define UNTIL(type, verb)                                                                          \
    bool pawl_rust_##type##_##verb##_until(pawl_##type *l, uint64_t deadline);                     \
    bool pawl_rust_##type##_##verb##_until(pawl_##type *l, uint64_t deadline)                      \
    {                                                                                              \
        return pawl_##type##_##verb##_until(l, deadline);                                          \
    }
/* A drop, and one that gives the oldest sleeper its turn. */
#define DROPS(type, name, verb)                                                                    \
    OPERATION(type, void, name, verb)                                                              \
    void pawl_rust_##type##_##name##_fair(pawl_##type *l);                                         \
    void pawl_rust_##type##_##name##_fair(pawl_##type *l)                                          \
    {                                                                                              \
        pawl_##type##_hand_off(l);                                                                 \
        pawl_##type##_##verb(l);                                                                   \
    }
/* Takes of R or S. `then` is true, or ends the program. */
#define TAKES(name, verb, then)                                                                    \
    void pawl_rust_lock64_take_##name(pawl_lock64 *l);                                             \
    void pawl_rust_lock64_take_##name(pawl_lock64 *l)                                              \
    {                                                                                              \
        pawl_lock64_take_##verb(l);                                                                \
        (void)then(l);                                                                             \
    }                                                                                              \
    bool pawl_rust_lock64_try_##name(pawl_lock64 *l);                                              \
    bool pawl_rust_lock64_try_##name(pawl_lock64 *l)                                               \
    {                                                                                              \
        return pawl_lock64_try_##verb(l) && then(l);                                               \
    }                                                                                              \
    bool pawl_rust_lock64_take_##name##_until(pawl_lock64 *l, uint64_t deadline);                  \
    bool pawl_rust_lock64_take_##name##_until(pawl_lock64 *l, uint64_t deadline)                   \
    {                                                                                              \
        return pawl_lock64_take_##verb##_until(l, deadline) && then(l);                            \
    }

/* Safe code can forget guards for ever, and a count that runs over would let a writer in beside
 * readers. So the program ends at half of the readers that the word can count. A panic would not
 * do: lock_api takes anew for a guard that lives (`bump`, `unlocked`), and unwinding drops that. */
static PAWL_COLD void crowded(void)
{
    (void)fputs("pawl: more than 536870911 readers hold one pawl::RwLock; are their guards "
                "forgotten?\n",
                stderr);
    abort();
}

/* S counts in R, too. */
static bool fits(const pawl_lock64 *l)
{
    if (PAWL_UNLIKELY(pawl_load_relaxed64(&l->word) >> 31 & 1))
        crowded();
    return true;
}

TAKES(seek, seek, fits)
LOCK64(void, take_write)
LOCK64(bool, try_write)
UNTIL(lock64, take_write)
DROPS(lock64, drop_seek, drop_seek)
DROPS(lock64, drop_write, drop_write)
LOCK64(void, seek_to_write)
LOCK64(bool, try_seek_to_write)
UNTIL(lock64, seek_to_write)
LOCK64(void, write_to_seek)
LOCK64(void, write_to_read)
LOCK64(void, seek_to_read)
LOCK64(bool, is_free)
LOCK64(bool, is_write)

/* Reads whose guards another thread may drop. */
TAKES(read_counted, read_counted, fits)
LOCK64(void, drop_read_counted)

/* Reads behind a guard of lock_api, `shared` there. Safe code may forget the guard, free the lock
 * and let the thread end. So R is in the word, after a downgrade too, and nothing is in the line of
 * the thread. */
#if PAWL_CHECKED

/* The read is its thread's: the order of locks is checked, and a forgotten guard reported. */
static bool is_in_word(pawl_lock64 *l)
{
    ipawl_lock64_count_(l);
    return fits(l);
}

TAKES(shared, read, is_in_word)
DROPS(lock64, drop_shared, drop_read)

#else

TAKES(shared, read_counted, fits)
DROPS(lock64, drop_shared, drop_read_counted)

#endif

/* A read around a closure: it has no guard, and ends before the lock can. R may be in an entry. */
LOCK64(void, take_read)
LOCK64(void, drop_read)

LOCK32(void, take_write)
LOCK32(bool, try_write)
UNTIL(lock32, take_write)
DROPS(lock32, drop_write, drop_write)
LOCK32(bool, is_free)

uint64_t pawl_rust_now(void);
uint64_t pawl_rust_now(void)
{
    return pawl_now();
}
