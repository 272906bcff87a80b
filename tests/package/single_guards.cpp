// SPDX-License-Identifier: MIT
// The classes of C++, through the header that lies beside the two files. Two sources of the program
// include it: with SECOND this is the other one.
#include "pawl.hpp"

#ifdef SECOND

bool a_guard_in_another_source(pawl::lock &lock)
{
    const pawl::write_guard guard(lock);
    return true;
}

#else

#include <cstdio>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <thread>

bool a_guard_in_another_source(pawl::lock &lock);

namespace {

struct session : pawl::id_object {
    pawl::lock32 lock;
    int hits = 0;
};
struct node : pawl::rcu_obj_base<node> {
    explicit node(int *count) : ended(count) {}
    ~node() { ++*ended; }
    int *ended;
};

pawl::lock global;
int additions;

void add()
{
    for (int i = 0; i < 2000; i++) {
        pawl::seek_guard seek(global);
        const pawl::write_guard write = std::move(seek).to_write();
        additions++;
    }
}

bool locks()
{
    std::thread one(add), two(add);
    one.join();
    two.join();
    pawl::spin_lock spin;
    pawl::brlock big;
    pawl::sift sift;
    pawl::pshared_lock shared;
    const std::scoped_lock all(spin, big, sift, shared);
    pawl_robust_lock robust;
    if (pawl_robust_lock_init(&robust) != PAWL_ROBUST_OK)
        return false;
    const pawl::robust_write_guard guard(robust);
    return additions == 4000 && guard.owns_lock() && a_guard_in_another_source(global);
}

bool data()
{
    int ended = 0;
    {
        pawl::id_table<session, &session::lock> table;
        const pawl_id id = table.insert(std::make_unique<session>());
        if (auto found = table.find(id))
            found->hits++;
        const bool shared = static_cast<bool>(table.find_shared(id)); // and dropped again
        if (table.error() != 0 || !shared || !table.remove(id) || table.find(id))
            return false;
    }
    (new node(&ended))->retire();
    pawl::rcu_barrier();
    const pawl::seqlock<int> value(7);
    const pawl::seqlatch<int> other(8);
    return ended == 1 && value.load() == 7 && other.load() == 8;
}

bool counters()
{
    pawl::counter counter;
    pawl::counter_exact exact;
    pawl::counter_limit limit(1);
    pawl::big_ref reference;
    ++counter;
    exact += 2;
    const pawl::big_ref_ptr creators = pawl::big_ref_ptr::adopt(reference);
    {
        const pawl::big_ref_ptr one(reference);
    }
    return counter.read() == 1 && exact.read() == 2 && limit.try_add() && !limit.try_add() &&
           reference.kill();
}

} // namespace

int main()
{
    const bool good[] = {locks(), data(), counters()};
    std::printf("locks %d, data %d, counters %d\n", good[0], good[1], good[2]);
    return good[0] && good[1] && good[2] ? 0 : 1;
}

#endif
