/* SPDX-License-Identifier: MIT */
/* The functions of brlock.h and sift.h. */
#include "functions/functions.hpp"

namespace bench::functions {
namespace {

/* As many lines as threads of this program will ever have: with 64, the reader's lines of all the
 * locks would share few places of the cache. */
constexpr unsigned lines = 8;

struct raw_brlock {
    pawl_brlock lock;
    pawl_brlock_line memory[lines];
};

struct made_brlock {
    pawl_brlock lock;
    made_brlock() { expect(pawl_brlock_init(&lock, lines) == 0, "no big-reader lock was made"); }
    ~made_brlock() { pawl_brlock_destroy(&lock); }
    made_brlock(const made_brlock &) = delete;
    made_brlock &operator=(const made_brlock &) = delete;
};

struct made_sift {
    pawl_sift lock;
    made_sift() { expect(pawl_sift_init(&lock, nullptr) == 0, "no sifting lock was made"); }
    ~made_sift() { pawl_sift_destroy(&lock); }
    made_sift(const made_sift &) = delete;
    made_sift &operator=(const made_sift &) = delete;
};

} // namespace

#define PAWL_BR_DO(verb) PAWL_DO(pawl_brlock_##verb(&o.lock))
#define PAWL_BR(verb, before, after)                                                               \
    PAWL_ROW(all, made_brlock, pawl_brlock_##verb, before, PAWL_BR_DO(verb), after)
#define PAWL_BR_UNTIL(verb, before, after)                                                         \
    PAWL_ROW(all, made_brlock, pawl_brlock_##verb, before,                                         \
             PAWL_DO(pawl_brlock_##verb(&o.lock, never)), after)

void add_brlock(rows &all)
{
    all.group("brlock");
    PAWL_ROW(all, raw_brlock, pawl_brlock_init, PAWL_NOTHING,
             PAWL_DO(pawl_brlock_init(&o.lock, lines) == 0), PAWL_BR_DO(destroy));
    PAWL_ROW(all, raw_brlock, pawl_brlock_init_in, PAWL_NOTHING,
             PAWL_DO(pawl_brlock_init_in(&o.lock, o.memory, sizeof o.memory, 0) == 0),
             PAWL_BR_DO(destroy));
    PAWL_ROW(all, raw_brlock, pawl_brlock_destroy, PAWL_DO(pawl_brlock_init(&o.lock, lines)),
             PAWL_BR_DO(destroy), PAWL_NOTHING);
    PAWL_BR(take_read, PAWL_NOTHING, PAWL_BR_DO(drop_read));
    PAWL_BR_UNTIL(take_read_until, PAWL_NOTHING, PAWL_BR_DO(drop_read));
    PAWL_BR(try_read, PAWL_NOTHING, PAWL_BR_DO(drop_read));
    PAWL_BR(drop_read, PAWL_BR_DO(take_read), PAWL_NOTHING);
    PAWL_BR(take_read_any, PAWL_NOTHING, PAWL_BR_DO(drop_read_any));
    PAWL_BR(try_read_any, PAWL_NOTHING, PAWL_BR_DO(drop_read_any));
    PAWL_BR(drop_read_any, PAWL_BR_DO(take_read_any), PAWL_NOTHING);
    PAWL_BR(take_seek, PAWL_NOTHING, PAWL_BR_DO(drop_seek));
    PAWL_BR_UNTIL(take_seek_until, PAWL_NOTHING, PAWL_BR_DO(drop_seek));
    PAWL_BR(try_seek, PAWL_NOTHING, PAWL_BR_DO(drop_seek));
    PAWL_BR(drop_seek, PAWL_BR_DO(take_seek), PAWL_NOTHING);
    PAWL_BR(take_write, PAWL_NOTHING, PAWL_BR_DO(drop_write));
    PAWL_BR_UNTIL(take_write_until, PAWL_NOTHING, PAWL_BR_DO(drop_write));
    PAWL_BR(try_write, PAWL_NOTHING, PAWL_BR_DO(drop_write));
    PAWL_BR(drop_write, PAWL_BR_DO(take_write), PAWL_NOTHING);
    PAWL_BR(seek_to_write, PAWL_BR_DO(take_seek), PAWL_BR_DO(drop_write));
    PAWL_BR_UNTIL(seek_to_write_until, PAWL_BR_DO(take_seek), PAWL_BR_DO(drop_write));
    PAWL_BR(try_seek_to_write, PAWL_BR_DO(take_seek), PAWL_BR_DO(drop_write));
    PAWL_BR(write_to_seek, PAWL_BR_DO(take_write), PAWL_BR_DO(drop_seek));
    PAWL_BR(write_to_read, PAWL_BR_DO(take_write), PAWL_BR_DO(drop_read));
    PAWL_BR(seek_to_read, PAWL_BR_DO(take_seek), PAWL_BR_DO(drop_read));
    PAWL_BR(try_read_to_seek, PAWL_BR_DO(take_read), PAWL_BR_DO(drop_seek));
}

#define PAWL_SIFT(verb, before, call, after)                                                       \
    PAWL_ROW(all, made_sift, pawl_sift_##verb, before, PAWL_DO(pawl_sift_##call), after)

void add_sift(rows &all)
{
    all.group("sift");
    PAWL_ROW(all, pawl_sift, pawl_sift_init, PAWL_NOTHING,
             PAWL_DO(pawl_sift_init(&o, nullptr) == 0), PAWL_DO(pawl_sift_destroy(&o)));
    PAWL_ROW(all, pawl_sift, pawl_sift_destroy, PAWL_DO(pawl_sift_init(&o, nullptr)),
             PAWL_DO(pawl_sift_destroy(&o)), PAWL_NOTHING);
    PAWL_SIFT(take_read, PAWL_NOTHING, take_read(&o.lock, PAWL_SIFT_THREAD),
              PAWL_DO(pawl_sift_drop_read(&o.lock, PAWL_SIFT_THREAD)));
    PAWL_SIFT(take_read_until, PAWL_NOTHING, take_read_until(&o.lock, PAWL_SIFT_THREAD, never),
              PAWL_DO(pawl_sift_drop_read(&o.lock, PAWL_SIFT_THREAD)));
    PAWL_SIFT(try_read, PAWL_NOTHING, try_read(&o.lock, PAWL_SIFT_THREAD),
              PAWL_DO(pawl_sift_drop_read(&o.lock, PAWL_SIFT_THREAD)));
    PAWL_SIFT(drop_read, PAWL_DO(pawl_sift_take_read(&o.lock, PAWL_SIFT_THREAD)),
              drop_read(&o.lock, PAWL_SIFT_THREAD), PAWL_NOTHING);
    PAWL_SIFT(take_write, PAWL_NOTHING, take_write(&o.lock),
              PAWL_DO(pawl_sift_drop_write(&o.lock)));
    PAWL_SIFT(take_write_until, PAWL_NOTHING, take_write_until(&o.lock, never),
              PAWL_DO(pawl_sift_drop_write(&o.lock)));
    PAWL_SIFT(try_write, PAWL_NOTHING, try_write(&o.lock), PAWL_DO(pawl_sift_drop_write(&o.lock)));
    PAWL_SIFT(drop_write, PAWL_DO(pawl_sift_take_write(&o.lock)), drop_write(&o.lock),
              PAWL_NOTHING);
}

} // namespace bench::functions
