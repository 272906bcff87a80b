/* SPDX-License-Identifier: MIT */
/* What --pin says: on which CPUs the threads of a bench go. */
#ifndef PAWL_BENCH_CORE_CPUS_HPP
#define PAWL_BENCH_CORE_CPUS_HPP

#include <sched.h>

#include "core/common.hpp"

namespace bench {

/* auto: the CPUs that this process may use; none: no CPU, leave it to the system. */
inline std::vector<unsigned> parse_pin(const std::string &text)
{
    std::vector<unsigned> cpus;
    if (text == "none")
        return cpus;
    if (text == "auto") {
        cpu_set_t allowed;
        if (sched_getaffinity(0, sizeof allowed, &allowed) == 0)
            for (unsigned cpu = 0; cpu < CPU_SETSIZE; cpu++)
                if (CPU_ISSET(cpu, &allowed))
                    cpus.push_back(cpu);
        return cpus;
    }
    for (std::size_t at = 0; at <= text.size();) {
        const std::size_t comma = std::min(text.find(',', at), text.size());
        const std::string part = text.substr(at, comma - at);
        if (part.empty() || part.size() > 6 ||
            part.find_first_not_of("0123456789") != std::string::npos)
            throw bad_input("--pin is '" + text + "'; it must be CPU numbers with commas between "
                            "them, as 0,1, or none, or auto.");
        cpus.push_back(static_cast<unsigned>(std::stoul(part)));
        at = comma + 1;
    }
    return cpus;
}

} // namespace bench

#endif
