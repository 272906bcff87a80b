/* SPDX-License-Identifier: MIT */
/* oneTBB's two reader-writer locks. Only the scoped lock of the first can upgrade from reading
 * to writing, so that strategy has guards of its own. */
#pragma once

#include <oneapi/tbb/rw_mutex.h>
#include <oneapi/tbb/spin_rw_mutex.h>

namespace adapter {

template <class Mutex> struct tbb_mutex {
    Mutex lock;
    void take_read() { lock.lock_shared(); }
    void drop_read() { lock.unlock_shared(); }
    void take_write() { lock.lock(); }
    void drop_write() { lock.unlock(); }
};
using tbb_spin_rw_mutex = tbb_mutex<tbb::spin_rw_mutex>;
using tbb_rw_mutex = tbb_mutex<tbb::rw_mutex>;

struct tbb_upgrade {
    using lock_type = tbb::spin_rw_mutex;
    struct lookup {
        explicit lookup(lock_type &lock) : held(lock, false) {}
        lock_type::scoped_lock held;
    };
    struct insertion {
        explicit insertion(lock_type &lock) : held(lock, false) {}
        /* The caller becomes a writer in any case; false: it had to drop the lock in between. */
        bool to_write()
        {
            if (writing)
                return true;
            writing = true;
            return held.upgrade_to_writer();
        }
        lock_type::scoped_lock held;
        bool writing = false;
    };
};

} // namespace adapter
