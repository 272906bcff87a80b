/* SPDX-License-Identifier: MIT */
/* The functions of robust.h. */
#include "functions/functions.hpp"

namespace bench::functions {
namespace {

/* Fewer at once: each fills twenty cache lines. */
struct robust {
    static constexpr unsigned at_once = 16;
    pawl_robust_lock lock;
    enum pawl_robust how = PAWL_ROBUST_OWNER_DIED;
    robust() { expect(pawl_robust_lock_init(&lock) == PAWL_ROBUST_OK, "no robust lock was made"); }
};

} // namespace

#define PAWL_ROBUST_DO(verb) PAWL_DO(pawl_robust_lock_##verb(&o.lock) == PAWL_ROBUST_OK)
#define PAWL_ROBUST_none PAWL_NOTHING
#define PAWL_ROBUST_take_read PAWL_ROBUST_DO(take_read)
#define PAWL_ROBUST_take_seek PAWL_ROBUST_DO(take_seek)
#define PAWL_ROBUST_take_write PAWL_ROBUST_DO(take_write)
#define PAWL_ROBUST_take_atomic PAWL_ROBUST_DO(take_atomic)
#define PAWL_ROBUST_drop_read PAWL_ROBUST_DO(drop_read)
#define PAWL_ROBUST_drop_seek PAWL_ROBUST_DO(drop_seek)
#define PAWL_ROBUST_drop_write PAWL_ROBUST_DO(drop_write)
#define PAWL_ROBUST_drop_atomic PAWL_ROBUST_DO(drop_atomic)
#define PAWL_ROBUST(verb, before, after)                                                           \
    PAWL_ROW(all, robust, pawl_robust_lock_##verb, PAWL_ROBUST_##before, PAWL_ROBUST_DO(verb),     \
             PAWL_ROBUST_##after)
#define PAWL_ROBUST_UNTIL(verb, before, after)                                                     \
    PAWL_ROW(all, robust, pawl_robust_lock_##verb, PAWL_ROBUST_##before,                           \
             PAWL_DO(pawl_robust_lock_##verb(&o.lock, never) == PAWL_ROBUST_OK),                   \
             PAWL_ROBUST_##after)

void add_robust(rows &all)
{
    all.group("robust");
    PAWL_ROBUST(init, none, none);
    PAWL_ROBUST(take_read, none, drop_read);
    PAWL_ROBUST(take_seek, none, drop_seek);
    PAWL_ROBUST(take_write, none, drop_write);
    PAWL_ROBUST(take_atomic, none, drop_atomic);
    PAWL_ROBUST_UNTIL(take_read_until, none, drop_read);
    PAWL_ROBUST_UNTIL(take_seek_until, none, drop_seek);
    PAWL_ROBUST_UNTIL(take_write_until, none, drop_write);
    PAWL_ROBUST_UNTIL(take_atomic_until, none, drop_atomic);
    PAWL_ROBUST(try_read, none, drop_read);
    PAWL_ROBUST(try_seek, none, drop_seek);
    PAWL_ROBUST(try_write, none, drop_write);
    PAWL_ROBUST(try_atomic, none, drop_atomic);
    PAWL_ROBUST(drop_read, take_read, none);
    PAWL_ROBUST(drop_seek, take_seek, none);
    PAWL_ROBUST(drop_write, take_write, none);
    PAWL_ROBUST(drop_atomic, take_atomic, none);
    PAWL_ROBUST(seek_to_write, take_seek, drop_write);
    PAWL_ROBUST_UNTIL(seek_to_write_until, take_seek, drop_write);
    PAWL_ROBUST(try_seek_to_write, take_seek, drop_write);
    PAWL_ROBUST(try_read_to_seek, take_read, drop_seek);
    PAWL_ROBUST(try_read_to_write, take_read, drop_write);
    PAWL_ROBUST(read_claim_write, take_read, drop_write);
    PAWL_ROBUST_UNTIL(read_claim_write_until, take_read, drop_write);
    PAWL_ROBUST(write_to_seek, take_write, drop_seek);
    PAWL_ROBUST(write_to_read, take_write, drop_read);
    PAWL_ROBUST(seek_to_read, take_seek, drop_read);
    PAWL_ROBUST(consistent, take_write, drop_write);
    PAWL_ROW(all, robust, pawl_robust_lock_deaths, PAWL_NOTHING,
             PAWL_DO(pawl_robust_lock_deaths(&o.lock) == 0), PAWL_NOTHING);
    PAWL_ROW(all, robust, pawl_robust_held, PAWL_NOTHING, PAWL_DO(pawl_robust_held(o.how)),
             PAWL_NOTHING);
}

} // namespace bench::functions
