/* SPDX-License-Identifier: MIT */
/* The length of a grace period, with threads that sleep, and with one that reads all the time. */
#include "core/membarrier.hpp"
#include "rcu/rcu.hpp"

namespace bench::rcu {
namespace {

template <class Rcu> struct grace_periods : subject {
    grace_periods() { sleepers::all().meet<Rcu>(); }
    void run(measure &m, unsigned) override
    {
        m.batches(1, [](unsigned) { Rcu::synchronize(); });
    }
    void beside(const std::atomic<bool> &stop) override { read_on<Rcu>(stop, short_section); }
};

struct expedited : grace_periods<adapter::pawl_rcu> {
    void run(measure &m, unsigned) override
    {
        m.batches(1, [](unsigned) { pawl_rcu_synchronize_expedited(); });
    }
};

/* The least that a grace period needs, where readers have no fence. */
struct membarriers : subject {
    void run(measure &m, unsigned) override
    {
        m.batches(1, [](unsigned) {
            send_membarrier<MEMBARRIER_CMD_PRIVATE_EXPEDITED>();
        });
    }
    void beside(const std::atomic<bool> &stop) override
    {
        for (std::uint64_t work = 1; !stop.load(std::memory_order_relaxed);)
            work = spin_work(short_section, work);
    }
};

} // namespace

void sync_rows(candidates &all)
{
    using counters::offer;
    const std::string why =
        why_no_membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED);
    if (!why.empty())
        counters::offer_none(all, "sync", "membarrier", why);
    for (const char *beside : {"", "readers"}) {
        if (why.empty())
            offer<membarriers>(all, "sync", "membarrier", 1, beside);
        offer_pawl<grace_periods>(all, "sync", 1, beside);
        offer<grace_periods<adapter::pawl_rcu_of_domain>>(all, "sync", "pawl_rcu_domain", 1,
                                                          beside);
        offer<expedited>(all, "sync", "pawl_rcu_expedited", 1, beside);
        offer_urcu<grace_periods>(all, "sync", 1, beside);
        offer_ck<grace_periods>(all, "sync", 1, beside);
    }
}

} // namespace bench::rcu
