/* SPDX-License-Identifier: MIT */
/* Locks of other states of the sources: builds of library.c that the driver loads. */
#pragma once

#include <dlfcn.h>

#include "core/common.hpp"
#include "crowd/library.h"

namespace bench {

/* The word has the lines of `placed`, whatever else is here. */
struct loaded_lock {
    const pawl_bench_library *from = nullptr;
    alignas(256) std::uint64_t word = 0;
    void take_read() { from->take_read(&word); }
    void drop_read() { from->drop_read(&word); }
    void take_write() { from->take_write(&word); }
    void drop_write() { from->drop_write(&word); }
    bool take_read_until(std::uint64_t ns) { return from->take_read_until(&word, ns); }
    bool take_write_until(std::uint64_t ns) { return from->take_write_until(&word, ns); }
};

/* A library as --library names it: NAME=PATH. It stays loaded. */
struct loaded_library {
    std::string name;
    const pawl_bench_library *functions;

    explicit loaded_library(const std::string &given)
    {
        const std::size_t equal = given.find('=');
        if (equal == 0 || equal == std::string::npos)
            throw bad_input("--library is '" + given + "'; it must be NAME=PATH.");
        name = given.substr(0, equal);
        void *const found = dlopen(given.substr(equal + 1).c_str(), RTLD_NOW | RTLD_LOCAL);
        const void *const table = found ? dlsym(found, PAWL_BENCH_LIBRARY) : nullptr;
        if (!table)
            throw bad_input("--library " + name + ": " + dlerror() +
                            ". bench/crowd/library.c says how to build one.");
        functions = static_cast<const pawl_bench_library *>(table);
    }
};

} // namespace bench
