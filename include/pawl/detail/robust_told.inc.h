/* SPDX-License-Identifier: MIT */
/*
 * The robust lock tells a checker of races this, around its compiled operations. The promises are
 * those of the other locks (tsan.h); the mutexes that it is made of order more in any one run. The
 * clocks lie in the lock's first word, which no operation changes. robust.h includes this file in
 * builds for a checker, except where the library itself is compiled.
 */
PAWL_INLINE_BEGIN

#define PAWL_ROBUST_OP_(name, parameters, arguments, from, to)                                     \
    PAWL_INLINE enum pawl_robust pawl_robust_lock_##name parameters                                \
    {                                                                                              \
        enum pawl_robust value;                                                                    \
        PAWL_AROUND_(ROBUST, from, to, PAWL_SYMBOL_(pawl_robust_lock_##name) arguments,            \
                     pawl_robust_held(value));                                                     \
        return value;                                                                              \
    }
#define PAWL_ROBUST_NOW_(name, from, to)                                                           \
    PAWL_ROBUST_OP_(name, (pawl_robust_lock * l), (l), from, to)
#define PAWL_ROBUST_UNTIL_(name, from, to)                                                         \
    PAWL_ROBUST_OP_(name, (pawl_robust_lock * l, uint64_t deadline), (l, deadline), from, to)

PAWL_ROBUST_NOW_(take_read, U, R)
PAWL_ROBUST_NOW_(take_seek, U, S)
PAWL_ROBUST_NOW_(take_write, U, W)
PAWL_ROBUST_NOW_(take_atomic, U, A)
PAWL_ROBUST_UNTIL_(take_read_until, U, R)
PAWL_ROBUST_UNTIL_(take_seek_until, U, S)
PAWL_ROBUST_UNTIL_(take_write_until, U, W)
PAWL_ROBUST_UNTIL_(take_atomic_until, U, A)
PAWL_ROBUST_NOW_(try_read, U, R)
PAWL_ROBUST_NOW_(try_seek, U, S)
PAWL_ROBUST_NOW_(try_write, U, W)
PAWL_ROBUST_NOW_(try_atomic, U, A)
PAWL_ROBUST_NOW_(drop_read, R, U)
PAWL_ROBUST_NOW_(drop_seek, S, U)
PAWL_ROBUST_NOW_(drop_write, W, U)
PAWL_ROBUST_NOW_(drop_atomic, A, U)
PAWL_ROBUST_NOW_(seek_to_write, S, W)
PAWL_ROBUST_UNTIL_(seek_to_write_until, S, W)
PAWL_ROBUST_NOW_(try_seek_to_write, S, W)
PAWL_ROBUST_NOW_(try_read_to_seek, R, S)
PAWL_ROBUST_NOW_(try_read_to_write, R, W)
PAWL_ROBUST_NOW_(read_claim_write, R, W)
PAWL_ROBUST_UNTIL_(read_claim_write_until, R, W)
PAWL_ROBUST_NOW_(write_to_seek, W, S)
PAWL_ROBUST_NOW_(write_to_read, W, R)
PAWL_ROBUST_NOW_(seek_to_read, S, R)

/* Any holder calls it, and keeps its state. */
PAWL_INLINE enum pawl_robust pawl_robust_lock_consistent(pawl_robust_lock *l)
{
    enum pawl_robust how;
    ipawl_told_hide_(l);
    how = PAWL_SYMBOL_(pawl_robust_lock_consistent)(l);
    ipawl_told_show_(l);
    return how;
}

PAWL_INLINE unsigned pawl_robust_lock_deaths(const pawl_robust_lock *l)
{
    unsigned deaths;
    ipawl_told_hide_(l);
    deaths = PAWL_SYMBOL_(pawl_robust_lock_deaths)(l);
    ipawl_told_show_(l);
    return deaths;
}

PAWL_INLINE_END

#undef PAWL_ROBUST_OP_
#undef PAWL_ROBUST_NOW_
#undef PAWL_ROBUST_UNTIL_
