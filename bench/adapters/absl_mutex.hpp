/* SPDX-License-Identifier: MIT */
/* Abseil's mutex, which has a shared mode. */
#pragma once

#include <absl/synchronization/mutex.h>

namespace adapter {

struct absl_mutex {
    absl::Mutex lock;
    void take_read() ABSL_NO_THREAD_SAFETY_ANALYSIS { lock.ReaderLock(); }
    void drop_read() ABSL_NO_THREAD_SAFETY_ANALYSIS { lock.ReaderUnlock(); }
    void take_write() ABSL_NO_THREAD_SAFETY_ANALYSIS { lock.Lock(); }
    void drop_write() ABSL_NO_THREAD_SAFETY_ANALYSIS { lock.Unlock(); }
};

} // namespace adapter
