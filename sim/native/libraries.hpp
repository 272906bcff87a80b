/* SPDX-License-Identifier: MIT */
/* The libraries' own locks whose models the simulator has: each runs natively beside its model. */
#pragma once

#include "bench/adapters/bravo.hpp"
#include "bench/adapters/pthread.hpp"
#include "stage.hpp"

#if __has_include(<ck_pflock.h>)
#include <ck_pflock.h>
#include <spinlock/ticket.h>
#endif

namespace library {

using spin = adapter::pthread_spin;
using mutex = adapter::pthread_mutex;
using rwlock = adapter::pthread_rwlock;
using bravo = adapter::bravo_pthread_rwlock;

#if __has_include(<ck_pflock.h>)
struct ticket {
    ck_spinlock_ticket_t lock = CK_SPINLOCK_TICKET_INITIALIZER;
    void take_write() { ck_spinlock_ticket_lock(&lock); }
    void drop_write() { ck_spinlock_ticket_unlock(&lock); }
};

struct phase_fair {
    ck_pflock_t lock = CK_PFLOCK_INITIALIZER;
    void take_read() { ck_pflock_read_lock(&lock); }
    void drop_read() { ck_pflock_read_unlock(&lock); }
    void take_write() { ck_pflock_write_lock(&lock); }
    void drop_write() { ck_pflock_write_unlock(&lock); }
};
#else
struct missing {
    missing() { stage::fail("It was built without Concurrency Kit (libck-dev)."); }
    void take_read() {}
    void drop_read() {}
    void take_write() {}
    void drop_write() {}
};
using ticket = missing;
using phase_fair = missing;
#endif

} // namespace library
