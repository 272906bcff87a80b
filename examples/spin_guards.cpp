// SPDX-License-Identifier: MIT
//
// The guards of pawl.hpp: a table of names in which most look-ups succeed. They read beside each
// other. A thread that must add a name searches under S, and holds W only to link it in.
#include <pawl/pawl.hpp>

#include "example.h"

#include <forward_list>
#include <string>
#include <thread>
#include <utility>
#include <vector>

// [quote begin]
class names {
  public:
    int number_of(const std::string &name)
    {
        {
            const pawl::read_guard read(lock_);
            if (const int known = find(name))
                return known;
        }
        pawl::seek_guard seek(lock_); // beside the readers; only this thread may add
        if (const int known = find(name))
            return known; // another thread was faster
        std::forward_list<entry> fresh{{name, next_}};
        const pawl::write_guard write = std::move(seek).to_write();
        list_.splice_after(list_.before_begin(), fresh);
        return next_++;
    }
    // [quote end]

  private:
    struct entry {
        std::string name;
        int number;
    };

    int find(const std::string &name) const
    {
        for (const entry &e : list_)
            if (e.name == name)
                return e.number;
        return 0;
    }

    pawl::spin_lock lock_;
    std::forward_list<entry> list_;
    int next_ = 1;
};

int main()
{
    enum { threads = 4, different = 50, rounds = 2000 / EXAMPLE_LESS };
    names table;
    std::vector<std::thread> crew;
    for (int t = 0; t < threads; t++)
        crew.emplace_back([&table] {
            for (int i = 0; i < rounds; i++) {
                const std::string name = "name" + std::to_string(i % different);
                const int first = table.number_of(name);
                CHECK(first >= 1 && first <= different);
                CHECK(table.number_of(name) == first);
            }
        });
    for (std::thread &one : crew)
        one.join();
    std::puts("every name kept its number");
    return 0;
}
