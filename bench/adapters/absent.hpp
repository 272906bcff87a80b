/* SPDX-License-Identifier: MIT */
/*
 * Stands for a lock of a library that this build does not have. Its rows are listed, with the
 * package to install, and never made. So a list of rows need not know the contents of the build.
 */
#pragma once

#include <string>
#include <type_traits>

namespace adapter {

struct absent {};

#define PAWL_BENCH_ABSENT(lock, from)                                                              \
    namespace adapter {                                                                            \
    struct lock : absent {                                                                         \
        static constexpr const char *package = from;                                               \
    };                                                                                             \
    }

inline std::string to_install(const std::string &package)
{
    return "install " + package + " and build again";
}

template <class Lock> constexpr bool in_build = !std::is_base_of<absent, Lock>::value;

/* Empty: the lock is in this build. */
template <class Lock> std::string why_not()
{
    if constexpr (in_build<Lock>)
        return "";
    else
        return to_install(Lock::package);
}

} // namespace adapter
