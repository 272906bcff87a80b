/* SPDX-License-Identifier: MIT */
/* parking_lot's reader-writer lock, from the library that bench/peers/parking_lot makes. Each
 * operation is a call, where the other locks are inlined or call by themselves. */
#pragma once

#include <dlfcn.h>

#include <cstddef>
#include <string>

namespace adapter {

struct parking_lot_functions {
    std::size_t (*bytes)();
    void (*init)(void *);
    void (*take_read)(void *);
    void (*drop_read)(void *);
    void (*take_write)(void *);
    void (*drop_write)(void *);
};

template <class Function> void parking_lot_find(void *from, const char *name, Function &to)
{
    const std::string symbol = std::string("pawl_bench_parking_lot_") + name;
    to = reinterpret_cast<Function>(dlsym(from, symbol.c_str()));
}

/* Loaded once and for ever, from beside the driver; NULL: it was not built. */
inline const parking_lot_functions *parking_lot_library()
{
    static parking_lot_functions found;
    static const bool loaded = [] {
        void *const from = dlopen("libpawl_bench_parking_lot.so", RTLD_NOW | RTLD_LOCAL);
        if (!from)
            return false;
        parking_lot_find(from, "bytes", found.bytes);
        parking_lot_find(from, "init", found.init);
        parking_lot_find(from, "take_read", found.take_read);
        parking_lot_find(from, "drop_read", found.drop_read);
        parking_lot_find(from, "take_write", found.take_write);
        parking_lot_find(from, "drop_write", found.drop_write);
        return found.bytes && found.init && found.take_read && found.drop_read &&
               found.take_write && found.drop_write;
    }();
    return loaded ? &found : nullptr;
}

struct parking_lot_rwlock {
    static constexpr std::size_t room = 64;
    alignas(16) char memory[room];
    const parking_lot_functions f = *parking_lot_library();

    parking_lot_rwlock() { f.init(memory); }
    void take_read() { f.take_read(memory); }
    void drop_read() { f.drop_read(memory); }
    void take_write() { f.take_write(memory); }
    void drop_write() { f.drop_write(memory); }

    /* Empty: it is there. */
    static std::string why()
    {
        const parking_lot_functions *const found = parking_lot_library();
        if (!found)
            return "install Rust (scripts/setup model) and build again, with crates.io in reach";
        return found->bytes() > room ? "this parking_lot has larger locks than the adapter" : "";
    }
};

} // namespace adapter
