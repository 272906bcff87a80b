// SPDX-License-Identifier: MIT
// The program of doc/start/shared_mutex.md, for a reader who has std::shared_mutex today.
// [quote begin]
#include <pawl/pawl.hpp>

#include <chrono>
#include <cstdio>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <thread>
#include <vector>

class numbers {
  public:
    int of(const std::string &name)
    {
        {
            std::shared_lock<pawl::lock> read(lock_); // as before
            if (auto known = map_.find(name); known != map_.end())
                return known->second;
        }
        pawl::seek_guard seek(lock_); // was: std::unique_lock; now readers go on meanwhile
        if (auto known = map_.find(name); known != map_.end())
            return known->second;                             // another thread was faster
        pawl::write_guard write = std::move(seek).to_write(); // new: waits for the readers inside
        return map_[name] = static_cast<int>(map_.size()) + 1;
    }

    bool refused_beside_a_writer()
    {
        using namespace std::chrono_literals;
        bool granted = true;
        std::unique_lock<pawl::lock> write(lock_); // as before
        std::thread([&] { granted = lock_.try_lock_shared_for(10ms); }).join();
        return !granted;
    }

  private:
    pawl::lock lock_; // was: std::shared_mutex or std::shared_timed_mutex
    std::map<std::string, int> map_;
};

int main()
{
    numbers table;
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; t++)
        threads.emplace_back([&] {
            for (int i = 0; i < 1000; i++)
                table.of("name" + std::to_string(i % 100));
        });
    for (std::thread &t : threads)
        t.join();
    std::printf("next number: %d\n", table.of("new"));
    std::printf("10 ms beside a writer: %s\n",
                table.refused_beside_a_writer() ? "timed out" : "granted");
    return table.of("new") == 101 ? 0 : 1;
}
// [quote end]
