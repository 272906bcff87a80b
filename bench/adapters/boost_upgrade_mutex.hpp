/* SPDX-License-Identifier: MIT */
/* Boost's reader-writer lock with an upgradable state, which is the progressive lock's S. */
#pragma once

#include <boost/thread/shared_mutex.hpp>

namespace adapter {

struct boost_upgrade_mutex {
    boost::upgrade_mutex lock;
    void take_read() { lock.lock_shared(); }
    void drop_read() { lock.unlock_shared(); }
    void take_seek() { lock.lock_upgrade(); }
    void drop_seek() { lock.unlock_upgrade(); }
    void take_write() { lock.lock(); }
    void drop_write() { lock.unlock(); }
    void seek_to_write() { lock.unlock_upgrade_and_lock(); }
};

} // namespace adapter
