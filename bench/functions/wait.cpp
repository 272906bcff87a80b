/* SPDX-License-Identifier: MIT */
/* The functions of wait.h, bitlock.h, cond.h, name.h, while nobody sleeps and none has to. */
#include "functions/functions.hpp"

#include <pawl/name.h>

namespace bench::functions {
namespace {

/* A condition variable with a lock, held while `before` says so. */
template <class L> struct guarded {
    pawl_cond cond = PAWL_COND_INIT;
    L lock = {};
};

struct event {
    pawl_eventcount event = PAWL_EVENTCOUNT_INIT;
    std::uint32_t key = 0;
};

void unlock(void *lock)
{
    pawl_spin32_drop_write(static_cast<pawl_spin32 *>(lock));
}
void lock(void *lock)
{
    pawl_spin32_take_write(static_cast<pawl_spin32 *>(lock));
}

struct with : guarded<pawl_spin32> {
    pawl_cond_lock how = {&lock, unlock, bench::functions::lock, false};
    with() = default;
    with(const with &) = delete;
    with &operator=(const with &) = delete;
};

struct two_words {
    std::uint32_t first = 0, second = 0;
};

/* A word that holds another value than the wait expects. */
struct watched {
    std::uint32_t word = 1;
    pawl_watch watch = {&word, 0, UINT32_MAX, 32};
    std::uint32_t which = 0;
    watched() = default;
    watched(const watched &) = delete;
    watched &operator=(const watched &) = delete;
};

} // namespace

#define PAWL_WAIT_ROW(Word, function, call)                                                        \
    PAWL_NAMED(all, Word, #function, PAWL_NOTHING, PAWL_DO(function call), PAWL_NOTHING)
#define PAWL_DIFFERS(Word, function, call)                                                         \
    PAWL_NAMED(all, Word, #function, PAWL_NOTHING, PAWL_DO(function call == PAWL_WAIT_DIFFERS),    \
               PAWL_NOTHING)
#define PAWL_WAIT_ROWS(N)                                                                          \
    PAWL_DIFFERS(std::uint##N##_t, pawl_wait##N##_masked_until, (&o, 1, 1, never));                \
    PAWL_DIFFERS(std::uint##N##_t, pawl_wait##N##_masked, (&o, 1, 1));                             \
    PAWL_DIFFERS(std::uint##N##_t, pawl_wait##N##_until, (&o, 1, never));                          \
    PAWL_DIFFERS(std::uint##N##_t, pawl_wait##N, (&o, 1))

void add_wait(rows &all)
{
    all.group("wait");
    PAWL_WAIT_ROW(std::uint32_t, pawl_now, ());
    PAWL_WAIT_ROWS(8);
    PAWL_WAIT_ROWS(16);
    PAWL_WAIT_ROWS(32);
    PAWL_WAIT_ROWS(64);
    PAWL_DIFFERS(watched, pawl_wait_any_until, (&o.watch, 1, &o.which, never));
    PAWL_DIFFERS(watched, pawl_wait_any, (&o.watch, 1, &o.which));
    PAWL_WAIT_ROW(std::uint32_t, pawl_wake_one, (&o));
    PAWL_WAIT_ROW(std::uint32_t, pawl_wake_n, (&o, 2));
    PAWL_WAIT_ROW(std::uint32_t, pawl_wake_all, (&o));
    PAWL_WAIT_ROW(std::uint32_t, pawl_wake_bits, (&o, 1, 2));
    PAWL_WAIT_ROW(two_words, pawl_requeue, (&o.first, &o.second, 1, 1));
    PAWL_DIFFERS(std::uint32_t, pawl_wait32_shared, (&o, 1));
    PAWL_DIFFERS(std::uint32_t, pawl_wait32_shared_until, (&o, 1, never));
    PAWL_WAIT_ROW(std::uint32_t, pawl_wake_one_shared, (&o));
    PAWL_WAIT_ROW(std::uint32_t, pawl_wake_n_shared, (&o, 2));
    PAWL_WAIT_ROW(std::uint32_t, pawl_wake_all_shared, (&o));
    all.group("name");
    PAWL_WAIT_ROW(std::uint32_t, pawl_name_lock, (&o, "row"));
    PAWL_WAIT_ROW(std::uint32_t, pawl_unname_lock, (&o));
}

#define PAWL_BIT_ROWS(N)                                                                           \
    PAWL_ROW(all, std::uint##N##_t, pawl_bitlock##N##_take, PAWL_NOTHING,                          \
             PAWL_DO(pawl_bitlock##N##_take(&o, bit)), PAWL_DO(pawl_bitlock##N##_drop(&o, bit)));  \
    PAWL_ROW(all, std::uint##N##_t, pawl_bitlock##N##_take_until, PAWL_NOTHING,                    \
             PAWL_DO(pawl_bitlock##N##_take_until(&o, bit, never)),                                \
             PAWL_DO(pawl_bitlock##N##_drop(&o, bit)));                                            \
    PAWL_ROW(all, std::uint##N##_t, pawl_bitlock##N##_try, PAWL_NOTHING,                           \
             PAWL_DO(pawl_bitlock##N##_try(&o, bit)), PAWL_DO(pawl_bitlock##N##_drop(&o, bit)));   \
    PAWL_ROW(all, std::uint##N##_t, pawl_bitlock##N##_drop,                                        \
             PAWL_DO(pawl_bitlock##N##_take(&o, bit)), PAWL_DO(pawl_bitlock##N##_drop(&o, bit)),   \
             PAWL_NOTHING);                                                                        \
    PAWL_ROW(all, std::uint##N##_t, pawl_bitlock##N##_is_held,                                     \
             PAWL_DO(pawl_bitlock##N##_take(&o, bit)),                                             \
             PAWL_DO(pawl_bitlock##N##_is_held(&o, bit)),                                          \
             PAWL_DO(pawl_bitlock##N##_drop(&o, bit)))

void add_bitlock(rows &all)
{
    all.group("bitlock");
    PAWL_BIT_ROWS(8);
    PAWL_BIT_ROWS(16);
    PAWL_BIT_ROWS(32);
    PAWL_BIT_ROWS(64);
}

#define PAWL_COND_ROW(L, mode)                                                                     \
    PAWL_ROW(all, guarded<L>, L##_cond_wait_##mode##_until, PAWL_DO(L##_take_##mode(&o.lock)),     \
             PAWL_DO(!L##_cond_wait_##mode##_until(&o.cond, &o.lock, past)),                       \
             PAWL_DO(L##_drop_##mode(&o.lock)))
#define PAWL_COND_ROWS(L)                                                                          \
    PAWL_COND_ROW(L, read);                                                                        \
    PAWL_COND_ROW(L, seek);                                                                        \
    PAWL_COND_ROW(L, write)

void add_cond(rows &all)
{
    all.group("cond");
    PAWL_WAIT_ROW(pawl_cond, pawl_cond_signal, (&o));
    PAWL_WAIT_ROW(pawl_cond, pawl_cond_broadcast, (&o));
    PAWL_ROW(all, with, pawl_cond_wait_with_until, PAWL_DO(lock(&o.lock)),
             PAWL_DO(!pawl_cond_wait_with_until(&o.cond, &o.how, past)), PAWL_DO(unlock(&o.lock)));
    PAWL_COND_ROWS(pawl_spin16);
    PAWL_COND_ROWS(pawl_spin32);
    PAWL_COND_ROWS(pawl_spin64);
    PAWL_COND_ROWS(pawl_lock32);
    PAWL_COND_ROWS(pawl_lock64);
    PAWL_ROW(all, event, pawl_eventcount_prepare, PAWL_NOTHING,
             PAWL_DO(pawl_eventcount_prepare(&o.event)), PAWL_DO(pawl_eventcount_cancel(&o.event)));
    PAWL_ROW(all, event, pawl_eventcount_cancel, PAWL_DO(pawl_eventcount_prepare(&o.event)),
             PAWL_DO(pawl_eventcount_cancel(&o.event)), PAWL_NOTHING);
    PAWL_ROW(
        all, event, pawl_eventcount_commit,
        PAWL_DO(o.key = pawl_eventcount_prepare(&o.event), pawl_eventcount_notify_one(&o.event)),
        PAWL_DO(pawl_eventcount_commit(&o.event, o.key)), PAWL_NOTHING);
    PAWL_ROW(
        all, event, pawl_eventcount_commit_until,
        PAWL_DO(o.key = pawl_eventcount_prepare(&o.event), pawl_eventcount_notify_one(&o.event)),
        PAWL_DO(pawl_eventcount_commit_until(&o.event, o.key, never)), PAWL_NOTHING);
    PAWL_ROW(all, event, pawl_eventcount_notify_one, PAWL_NOTHING,
             PAWL_DO(pawl_eventcount_notify_one(&o.event)), PAWL_NOTHING);
    PAWL_ROW(all, event, pawl_eventcount_notify_all, PAWL_NOTHING,
             PAWL_DO(pawl_eventcount_notify_all(&o.event)), PAWL_NOTHING);
}

} // namespace bench::functions
