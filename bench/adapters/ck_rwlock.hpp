/* SPDX-License-Identifier: MIT */
/* Concurrency Kit's reader-writer spin lock. */
#pragma once

#include <ck_rwlock.h>

namespace adapter {

struct ck_rwlock {
    ck_rwlock_t lock = CK_RWLOCK_INITIALIZER;
    void take_read() { ck_rwlock_read_lock(&lock); }
    void drop_read() { ck_rwlock_read_unlock(&lock); }
    void take_write() { ck_rwlock_write_lock(&lock); }
    void drop_write() { ck_rwlock_write_unlock(&lock); }
};

} // namespace adapter
