/* SPDX-License-Identifier: MIT */
/*
 * The big-reader lock's compiled operations where a checker or the recorder is told of them
 * (around.h): included by brlock.h, whose public names are wrappers then. The promises are those of
 * the other locks (tsan.h).
 */
#include <pawl/detail/alphabet.h>

PAWL_INLINE_BEGIN

/* `half`, `first`: the compiled function, and the one that tries. */
#define PAWL_BRLOCK_CALL_(name) PAWL_SYMBOL_(pawl_brlock_##name)
#define PAWL_BRLOCK_OP_(result, name, parameters, around)                                          \
    PAWL_INLINE result pawl_brlock_##name parameters                                               \
    {                                                                                              \
        PAWL_TYPE_##result##_ value;                                                               \
        around;                                                                                    \
        PAWL_RETURN_##result##_(value);                                                            \
    }
#define PAWL_BRLOCK_TAKE_(name, half, first, from, to, flags)                                      \
    PAWL_BRLOCK_OP_(void, name, (pawl_brlock * l),                                                 \
                    PAWL_WAITS_(BRLOCK, flags, from, to, PAWL_BRLOCK_CALL_(first)(l),              \
                                (PAWL_BRLOCK_CALL_(half)(l), true), true))
#define PAWL_BRLOCK_UNTIL_(name, half, first, from, to)                                            \
    PAWL_BRLOCK_OP_(bool, name, (pawl_brlock * l, uint64_t until),                                 \
                    PAWL_WAITS_(BRLOCK, PAWL_TRACED_UNTIL_, from, to, PAWL_BRLOCK_CALL_(first)(l), \
                                PAWL_BRLOCK_CALL_(half)(l, until), value))
#define PAWL_BRLOCK_TRY_(name, half, from, to, flags)                                              \
    PAWL_BRLOCK_OP_(bool, name, (pawl_brlock * l),                                                 \
                    PAWL_TRIES_(BRLOCK, flags, from, to, PAWL_BRLOCK_CALL_(half)(l)))
#define PAWL_BRLOCK_MOVE_(name, from, to)                                                          \
    PAWL_BRLOCK_OP_(void, name, (pawl_brlock * l),                                                 \
                    PAWL_MOVES_(BRLOCK, from, to, (PAWL_BRLOCK_CALL_(name)(l), true)))
#define PAWL_BRLOCK_DROP_(name, half, from)                                                        \
    PAWL_BRLOCK_OP_(void, name, (pawl_brlock * l),                                                 \
                    PAWL_DROPS_(BRLOCK, from, (PAWL_BRLOCK_CALL_(half)(l), true)))

PAWL_INLINE int pawl_brlock_init(pawl_brlock *l, uint32_t lines)
{
    const int error = PAWL_BRLOCK_CALL_(init)(l, lines);
    PAWL_MADE_(l);
    return error;
}

PAWL_INLINE int pawl_brlock_init_in(pawl_brlock *l, void *memory, size_t bytes, uint32_t flags)
{
    const int error = PAWL_BRLOCK_CALL_(init_in)(l, memory, bytes, flags);
    PAWL_MADE_(l);
    return error;
}

#if !PAWL_THREAD_TICKETS_ || PAWL_CHECKED
PAWL_BRLOCK_TAKE_(take_read, take_read_call, try_read_call, U, R, 0u)
PAWL_BRLOCK_UNTIL_(take_read_until, take_read_until_call, try_read_call, U, R)
PAWL_BRLOCK_TRY_(try_read, try_read_call, U, R, 0u)
PAWL_BRLOCK_DROP_(drop_read, drop_read_call, R)
#endif
PAWL_BRLOCK_TAKE_(take_seek, take_seek, try_seek, U, S, 0u)
PAWL_BRLOCK_TAKE_(take_write, take_write, try_write, U, W, 0u)
PAWL_BRLOCK_TAKE_(seek_to_write, seek_to_write, try_seek_to_write, S, W, 0u)
PAWL_BRLOCK_UNTIL_(take_seek_until, take_seek_until, try_seek, U, S)
PAWL_BRLOCK_UNTIL_(take_write_until, take_write_until, try_write, U, W)
PAWL_BRLOCK_UNTIL_(seek_to_write_until, seek_to_write_until, try_seek_to_write, S, W)
PAWL_BRLOCK_TRY_(try_seek, try_seek, U, S, 0u)
PAWL_BRLOCK_TRY_(try_write, try_write, U, W, 0u)
PAWL_BRLOCK_TRY_(try_seek_to_write, try_seek_to_write, S, W, 0u)
PAWL_BRLOCK_TRY_(try_read_to_seek, try_read_to_seek, R, S, 0u)
PAWL_BRLOCK_MOVE_(write_to_seek, W, S)
PAWL_BRLOCK_MOVE_(write_to_read, W, R)
PAWL_BRLOCK_MOVE_(seek_to_read, S, R)
PAWL_BRLOCK_DROP_(drop_seek, drop_seek, S)
PAWL_BRLOCK_DROP_(drop_write, drop_write, W)
/* Another thread may drop these. */
PAWL_BRLOCK_TAKE_(take_read_any, take_read_any, try_read_any, U, R, PAWL_TRACED_NO_HOLD_)
PAWL_BRLOCK_TRY_(try_read_any, try_read_any, U, R, PAWL_TRACED_NO_HOLD_)
PAWL_BRLOCK_OP_(void, drop_read_any, (pawl_brlock * l),
                PAWL_DROPS_ANY_(BRLOCK, R, (PAWL_BRLOCK_CALL_(drop_read_any)(l), true)))

#undef PAWL_BRLOCK_CALL_
#undef PAWL_BRLOCK_OP_
#undef PAWL_BRLOCK_TAKE_
#undef PAWL_BRLOCK_UNTIL_
#undef PAWL_BRLOCK_TRY_
#undef PAWL_BRLOCK_MOVE_
#undef PAWL_BRLOCK_DROP_

PAWL_INLINE_END
