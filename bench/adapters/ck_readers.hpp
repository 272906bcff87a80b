/* SPDX-License-Identifier: MIT */
/*
 * Concurrency Kit's big-reader lock and its phase-fair lock. The first wants an object for each
 * reader and lock, which it registers; here all threads' objects lie in the lock's adapter, each on
 * lines of its own.
 */
#pragma once

#include <memory>

#include <ck_brlock.h>
#include <ck_pflock.h>

#include "adapters/reader_number.hpp"

namespace adapter {

struct ck_brlock {
    struct alignas(128) one {
        ck_brlock_reader_t reader;
    };
    ck_brlock_t lock = CK_BRLOCK_INITIALIZER;
    std::unique_ptr<one[]> readers{new one[reader_count]};

    ck_brlock()
    {
        for (unsigned i = 0; i < reader_count; i++)
            ck_brlock_read_register(&lock, &readers[i].reader);
    }
    void take_read() { ck_brlock_read_lock(&lock, &readers[reader_number].reader); }
    void drop_read() { ck_brlock_read_unlock(&readers[reader_number].reader); }
    void take_write() { ck_brlock_write_lock(&lock); }
    void drop_write() { ck_brlock_write_unlock(&lock); }
};

struct ck_pflock {
    ck_pflock_t lock = CK_PFLOCK_INITIALIZER;
    void take_read() { ck_pflock_read_lock(&lock); }
    void drop_read() { ck_pflock_read_unlock(&lock); }
    void take_write() { ck_pflock_write_lock(&lock); }
    void drop_write() { ck_pflock_write_unlock(&lock); }
};

} // namespace adapter
