// SPDX-License-Identifier: MIT
// A library in C++ that a program in C loads: its mutex is made of a pthread_rwlock_t.
#include <shared_mutex>

static std::shared_mutex mutex;

extern "C" __attribute__((visibility("default"))) int plugin_try_read()
{
    return mutex.try_lock_shared() ? 1 : 0;
}

extern "C" __attribute__((visibility("default"))) int plugin_try_write()
{
    return mutex.try_lock() ? 1 : 0;
}

extern "C" __attribute__((visibility("default"))) int plugin_unread()
{
    mutex.unlock_shared();
    return 0;
}

extern "C" __attribute__((visibility("default"))) int plugin_unwrite()
{
    mutex.unlock();
    return 0;
}
