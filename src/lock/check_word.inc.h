/* SPDX-License-Identifier: MIT */
/*
 * The checked operations of one kind and width, for calls.c. Each operation is
 * the body of its kind (word.inc.h, sleeping_word.inc.h) between the two halves of the check. The
 * operations are made from transitions.def.
 */
#if PAWL_WORD_KIND == PAWL_KIND_LOCK_
#define BITS (PAWL_WORD_BITS | CHECK_SLEEPS)
#define WORD_OF(l) PAWL_INNER_(shows_)(l)
#else
#define BITS PAWL_WORD_BITS
#define WORD_OF(l) PAWL_AT_(pawl_load_relaxed)(&(l)->word)
#endif
#define TEXT_(token) #token
#define TEXT(token) TEXT_(token)

#define CALL(verb, kind, from, to)                                                                 \
    const struct pawl_check_call call = {(ipawl_address_)(uintptr_t)l,                             \
                                         (ipawl_address_)(uintptr_t)__builtin_return_address(0),   \
                                         TEXT(PAWL_NAME_(verb)),                                   \
                                         WORD_OF(l),                                               \
                                         BITS,                                                     \
                                         kind,                                                     \
                                         from,                                                     \
                                         to}

#define CHECKED_void(verb, kind, from, to)                                                         \
    CHECKED_OPERATION void PAWL_SLOW_(verb)(PAWL_LOCK_ * l)                                        \
    {                                                                                              \
        CALL(verb, CHECK_##kind, PAWL_STATE_##from, PAWL_STATE_##to);                              \
        struct pawl_held *held = ipawl_check_before_(&call);                                       \
        PAWL_INNER_(verb##_unchecked_)(l);                                                         \
        ipawl_check_after_(&call, held, true);                                                     \
    }
#define CHECKED_bool(verb, kind, from, to)                                                         \
    CHECKED_OPERATION bool PAWL_SLOW_(verb)(PAWL_LOCK_ * l)                                        \
    {                                                                                              \
        CALL(verb, CHECK_##kind, PAWL_STATE_##from, PAWL_STATE_##to);                              \
        struct pawl_held *held = ipawl_check_before_(&call);                                       \
        const bool ok = PAWL_INNER_(verb##_unchecked_)(l);                                         \
        ipawl_check_after_(&call, held, ok);                                                       \
        return ok;                                                                                 \
    }
#define CHECKED_pawl_regained(verb, kind, from, to)                                                \
    CHECKED_OPERATION pawl_regained PAWL_SLOW_(verb)(PAWL_LOCK_ * l)                               \
    {                                                                                              \
        CALL(verb, CHECK_##kind, PAWL_STATE_##from, PAWL_STATE_##to);                              \
        struct pawl_held *held = ipawl_check_before_(&call);                                       \
        const pawl_regained how = PAWL_INNER_(verb##_unchecked_)(l);                               \
        ipawl_check_after_(&call, held, true);                                                     \
        return how;                                                                                \
    }
#define PAWL_OP(result, verb, kind, from, to, cost) CHECKED_##result(verb, kind, from, to)
#include <pawl/detail/transitions.def>
#undef CHECKED_void
#undef CHECKED_bool
#undef CHECKED_pawl_regained

#if PAWL_WORD_KIND == PAWL_KIND_LOCK_
/* A wait that ends by itself counts as a try: it closes no deadlock. */
#define PAWL_UNTIL(verb, from, to)                                                                 \
    CHECKED_OPERATION bool PAWL_SLOW_(verb##_until_checked)(PAWL_LOCK_ * l, uint64_t deadline)     \
    {                                                                                              \
        CALL(verb##_until, CHECK_try, PAWL_STATE_##from, PAWL_STATE_##to);                         \
        struct pawl_held *held = ipawl_check_before_(&call);                                       \
        const bool ok = PAWL_SLOW_(verb##_until)(l, deadline);                                     \
        ipawl_check_after_(&call, held, ok);                                                       \
        return ok;                                                                                 \
    }
#include <pawl/detail/until.def>

CHECKED_OPERATION pawl_regained PAWL_SLOW_(atomic_to_read_until_checked)(PAWL_LOCK_ *l,
                                                                         uint64_t deadline)
{
    CALL(atomic_to_read_until, CHECK_tells, PAWL_STATE_A, PAWL_STATE_R);
    struct pawl_held *held = ipawl_check_before_(&call);
    const pawl_regained how = PAWL_SLOW_(atomic_to_read_until)(l, deadline);
    struct pawl_check_call done = call;
    if (how == PAWL_REGAIN_TIMED_OUT)
        done.to = PAWL_STATE_U;
    ipawl_check_after_(&done, held, true);
    return how;
}
#endif

#if PAWL_WORD_KIND == PAWL_KIND_LOCK_
/* A read that any thread may drop: it belongs to no thread. With a deadline of 0 it is a try. */
CHECKED_OPERATION bool PAWL_SLOW_(take_read_counted_checked)(PAWL_LOCK_ *l, uint64_t deadline)
{
    CALL(take_read_counted, deadline == UINT64_MAX ? CHECK_take : CHECK_try, PAWL_STATE_U,
         PAWL_STATE_R);
    bool ok;
    ipawl_check_counted_comes_();
    ok = PAWL_DO_(try_read_counted)(l);
    if (!ok && deadline == UINT64_MAX) {
        ipawl_check_counted_waits_(&call);
        ipawl_wait_begins_(TEXT(PAWL_LOCK_), l, call.name, 0, __builtin_return_address(0));
        ok = PAWL_SLOW_(take_read_counted_slow)(l, deadline);
        ipawl_wait_ends_();
    } else if (!ok && deadline != 0) {
        ok = PAWL_SLOW_(take_read_counted_slow)(l, deadline);
    }
    if (!ok)
        ipawl_check_counted_goes_();
    return ok;
}

CHECKED_OPERATION void PAWL_SLOW_(drop_read_counted)(PAWL_LOCK_ *l)
{
    const bool counted = PAWL_IS_(readers)(PAWL_AT_(pawl_load_relaxed)(&l->word)) != 0;
    if (!counted)
        ipawl_report_misuse_("dropped, but no read is counted", TEXT(PAWL_LOCK_), l,
                             TEXT(PAWL_NAME_(drop_read_counted)), __builtin_return_address(0));
    PAWL_INNER_(do_drop_read_counted_)(l);
    if (counted)
        ipawl_check_counted_goes_();
}
#endif

/* Memory that was never a lock may hold anything: only entries tell whether a thread holds it. */
CHECKED_OPERATION void PAWL_SLOW_(init)(PAWL_LOCK_ *l)
{
    CALL(init, CHECK_drop, PAWL_STATE_U, PAWL_STATE_U);
    ipawl_check_unused_(&call, "initialised while in use", false);
    PAWL_AT_(pawl_store_relaxed)(&l->word, 0);
}

CHECKED_OPERATION void PAWL_SLOW_(destroy)(PAWL_LOCK_ *l)
{
    CALL(destroy, CHECK_drop, PAWL_STATE_U, PAWL_STATE_U);
    ipawl_check_unused_(&call, "destroyed while in use", call.word > PAWL_SPIN_APPLICATION_BITS);
}

CHECKED_OPERATION void PAWL_SLOW_(assert_held)(const PAWL_LOCK_ *l, enum pawl_state state)
{
    static const char *const names[] = {
        "", TEXT(PAWL_NAME_(assert_held_read)), TEXT(PAWL_NAME_(assert_held_seek)),
        TEXT(PAWL_NAME_(assert_held_write)), TEXT(PAWL_NAME_(assert_held_atomic))};
    const struct pawl_check_call call = {(ipawl_address_)(uintptr_t)l,
                                         (ipawl_address_)(uintptr_t)__builtin_return_address(0),
                                         names[state],
                                         WORD_OF(l),
                                         BITS,
                                         CHECK_drop,
                                         PAWL_STATE_U,
                                         (uint8_t)state};
    ipawl_check_asserted_(&call);
}

#undef BITS
#undef WORD_OF
#undef TEXT
#undef TEXT_
#undef CALL
