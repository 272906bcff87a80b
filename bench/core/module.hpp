/* SPDX-License-Identifier: MIT */
/*
 * Copies of the library with its own sleeping lock, for a driver to load. How readers scale is
 * chosen for a whole process by PAWL_BIAS, which each copy reads when it is loaded: so a driver
 * loads a copy for each value, and all are measured in one process. The version script keeps the
 * copies apart.
 */
#pragma once

#include <string>

#if PAWL_BENCH_BIAS
#include <dlfcn.h>

#include <cstdlib>
#endif

namespace bench {

/* What a module exports under the name pawl_bench_module, or why it cannot be had: the driver's own
 * function, which makes a subject with the copy's lock. The module stays loaded. */
template <class Maker> struct module {
    Maker *make = nullptr;
    std::string why;

    module(const std::string &driver, const std::string &mode)
    {
#if PAWL_BENCH_BIAS
        setenv("PAWL_BIAS", mode.c_str(), 1);
        const std::string path = "lib" + driver + "-" + mode + ".so";
        void *const from = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
        unsetenv("PAWL_BIAS");
        void *const made = from ? dlsym(from, "pawl_bench_module") : nullptr;
        if (!made)
            why = "its module cannot be loaded; build again";
        make = reinterpret_cast<Maker *>(made);
#else
        (void)driver, (void)mode;
        why = "this state of the lock has no scaling readers (PAWL_BIAS)";
#endif
    }
};

} // namespace bench
