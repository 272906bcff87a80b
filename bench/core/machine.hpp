/* SPDX-License-Identifier: MIT */
/* The machine's CPUs and memory: the CPUs that --pin names, and pinning a thread to one. */
#pragma once

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>

#include "core/common.hpp"

namespace bench {

/* The CPUs that this process may use; none when the system does not say. */
inline std::vector<unsigned> allowed_cpus()
{
    std::vector<unsigned> cpus;
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) == 0)
        for (unsigned cpu = 0; cpu < CPU_SETSIZE; cpu++)
            if (CPU_ISSET(cpu, &allowed))
                cpus.push_back(cpu);
    return cpus;
}

/* The first of these CPUs are all that this process and its threads have from now on. Call it
 * before the first thread: libraries count the CPUs once. 0 takes away none. */
inline void keep_cpus(std::size_t count)
{
    const std::vector<unsigned> cpus = allowed_cpus();
    if (count == 0)
        return;
    if (count > cpus.size())
        throw bad_input("--cpus is " + std::to_string(count) + "; this process may use " +
                        std::to_string(cpus.size()) + ".");
    cpu_set_t set;
    CPU_ZERO(&set);
    for (std::size_t i = 0; i < count; i++)
        CPU_SET(cpus[i], &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0)
        throw bad_input("Could not keep to " + std::to_string(count) + " CPUs (" +
                        std::strerror(errno) + "); leave --cpus out.");
}

/* Pins the thread. 0: it runs on that CPU only; otherwise the error. */
inline int put_on(pthread_t thread, std::size_t cpu)
{
    if (cpu >= CPU_SETSIZE)
        return EINVAL;
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    return pthread_setaffinity_np(thread, sizeof set, &set);
}

/* For threads that run better there, but need not. */
inline void put_on_if_it_may(pthread_t thread, int cpu)
{
    if (cpu >= 0)
        put_on(thread, static_cast<std::size_t>(cpu));
}

/* Parses numbers with commas between them, of at most so many digits; no value: the text is not
 * such a list. */
inline std::optional<std::vector<std::size_t>> whole_numbers(const std::string &text,
                                                             std::size_t digits)
{
    std::vector<std::size_t> found;
    for (std::size_t at = 0; at <= text.size();) {
        const std::size_t comma = std::min(text.find(',', at), text.size());
        const std::string part = text.substr(at, comma - at);
        if (part.empty() || part.size() > digits ||
            part.find_first_not_of("0123456789") != std::string::npos)
            return std::nullopt;
        found.push_back(static_cast<std::size_t>(std::stoull(part)));
        at = comma + 1;
    }
    return found;
}

/* auto: the CPUs that this process may use; none: no CPU, the system chooses. */
inline std::vector<unsigned> parse_pin(const std::string &text)
{
    if (text == "none")
        return {};
    if (text == "auto")
        return allowed_cpus();
    const auto numbers = whole_numbers(text, 6);
    if (!numbers)
        throw bad_input("--pin is '" + text +
                        "'; it must be CPU numbers with commas between "
                        "them, as 0,1, or none, or auto.");
    return {numbers->begin(), numbers->end()};
}

/* A bench leaves at least half of the memory to the rest of the machine. */
inline bool is_too_much_memory(double bytes)
{
    return bytes > static_cast<double>(sysconf(_SC_PHYS_PAGES)) *
                       static_cast<double>(sysconf(_SC_PAGESIZE)) / 2;
}

} // namespace bench
