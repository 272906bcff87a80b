/* SPDX-License-Identifier: MIT */
/* The system call that makes all threads of the process pass a fence: a floor of many rows. */
#pragma once

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/common.hpp"

namespace bench {

template <int command> void send_membarrier()
{
    if (syscall(SYS_membarrier, command, 0, 0) != 0)
        throw std::runtime_error(std::string("membarrier failed: ") + std::strerror(errno));
}

/* Empty, or why this process cannot send membarriers of a kind. */
inline std::string why_no_membarrier(int registration)
{
    if (switched_off("PAWL_NO_MEMBARRIER"))
        return "switched off by PAWL_NO_MEMBARRIER";
    if (syscall(SYS_membarrier, registration, 0, 0) != 0)
        return std::string("this kernel has no such membarrier (") + std::strerror(errno) + ")";
    return "";
}

} // namespace bench
