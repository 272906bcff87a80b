/* SPDX-License-Identifier: MIT */
/* The C++ library's reader-writer lock. */
#pragma once

#include <shared_mutex>

namespace adapter {

struct std_shared_mutex {
    std::shared_mutex lock;
    void take_read() { lock.lock_shared(); }
    void drop_read() { lock.unlock_shared(); }
    void take_write() { lock.lock(); }
    void drop_write() { lock.unlock(); }
};

} // namespace adapter
