/* SPDX-License-Identifier: MIT */
/* The operations that the crate calls: the library's inline functions as symbols. */
#include <pawl/lock.h>

#define LOCK64(result, verb)                                                                       \
    result pawl_rust_lock64_##verb(pawl_lock64 *l);                                                \
    result pawl_rust_lock64_##verb(pawl_lock64 *l)                                                 \
    {                                                                                              \
        return pawl_lock64_##verb(l);                                                              \
    }
#define LOCK64_UNTIL(verb)                                                                         \
    bool pawl_rust_lock64_##verb##_until(pawl_lock64 *l, uint64_t deadline);                       \
    bool pawl_rust_lock64_##verb##_until(pawl_lock64 *l, uint64_t deadline)                        \
    {                                                                                              \
        return pawl_lock64_##verb##_until(l, deadline);                                            \
    }
#define LOCK32(result, verb)                                                                       \
    result pawl_rust_lock32_##verb(pawl_lock32 *l);                                                \
    result pawl_rust_lock32_##verb(pawl_lock32 *l)                                                 \
    {                                                                                              \
        return pawl_lock32_##verb(l);                                                              \
    }

/* A drop that gives the oldest sleeper its turn. */
#define FAIR(type, drop)                                                                           \
    void pawl_rust_##type##_##drop##_fair(pawl_##type *l);                                         \
    void pawl_rust_##type##_##drop##_fair(pawl_##type *l)                                          \
    {                                                                                              \
        pawl_##type##_hand_off(l);                                                                 \
        pawl_##type##_##drop(l);                                                                   \
    }

FAIR(lock64, drop_read)
FAIR(lock64, drop_seek)
FAIR(lock64, drop_write)
FAIR(lock32, drop_write)

LOCK64(void, take_read)
LOCK64(void, take_seek)
LOCK64(void, take_write)
LOCK64(bool, try_read)
LOCK64(bool, try_seek)
LOCK64(bool, try_write)
LOCK64(void, drop_read)
LOCK64(void, drop_seek)
LOCK64(void, drop_write)
LOCK64(void, seek_to_write)
LOCK64(bool, try_seek_to_write)
LOCK64(void, write_to_seek)
LOCK64(void, write_to_read)
LOCK64(void, seek_to_read)
LOCK64(bool, is_free)
LOCK64(bool, is_write)
LOCK64_UNTIL(take_read)
LOCK64_UNTIL(take_seek)
LOCK64_UNTIL(take_write)
LOCK64_UNTIL(seek_to_write)

LOCK64(void, take_read_counted)
LOCK64(bool, try_read_counted)
LOCK64(void, drop_read_counted)
LOCK64_UNTIL(take_read_counted)

LOCK32(void, take_write)
LOCK32(bool, try_write)
LOCK32(void, drop_write)
LOCK32(bool, is_free)

bool pawl_rust_lock32_take_write_until(pawl_lock32 *l, uint64_t deadline);
bool pawl_rust_lock32_take_write_until(pawl_lock32 *l, uint64_t deadline)
{
    return pawl_lock32_take_write_until(l, deadline);
}

/* Half of all readers that the word can count hold the lock. Safe code can forget guards for ever,
 * so the crate stops long before the count runs over. */
bool pawl_rust_lock64_is_crowded(const pawl_lock64 *l);
bool pawl_rust_lock64_is_crowded(const pawl_lock64 *l)
{
    return (pawl_load_relaxed64(&l->word) >> 31 & 1) != 0;
}

uint64_t pawl_rust_now(void);
uint64_t pawl_rust_now(void)
{
    return pawl_now();
}
