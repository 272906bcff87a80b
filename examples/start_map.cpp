// SPDX-License-Identifier: MIT
// A map of a million entries that eight threads read.
// [quote begin]
#include <pawl/tree.hpp>

#include <atomic>
#include <cstdio>
#include <thread>
#include <vector>

struct entry : pawl::tree_object {
    unsigned value = 0;
};

int main()
{
    constexpr unsigned threads = 8, count = 1000000;
    std::vector<entry> entries(count);
    pawl::tree<entry> map;
    for (unsigned i = 0; i < count; i++) {
        entries[i].value = i;
        if (!map.insert(entries[i], i * 40503ull))
            return 1; // the key was there
    }
    std::atomic<unsigned> found{0};
    std::vector<std::thread> servers;
    for (unsigned t = 0; t < threads; t++)
        servers.emplace_back([&, t] {
            unsigned own = 0;
            for (unsigned i = t; i < count; i += threads)
                if (auto one = map.find(i * 40503ull)) // R as long as `one` lives
                    own += one->value == i;
            found += own;
        });
    for (std::thread &server : servers)
        server.join();
    for (entry &e : entries)
        map.erase(e);
    std::printf("%u of %u look-ups found their entry\n", found.load(), count);
    return found != count;
}
// [quote end]
