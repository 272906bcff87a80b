/* SPDX-License-Identifier: MIT */
/* The length of a grace period, with threads that sleep, and with one that reads all the time; the
 * same on a busy machine. */
#include "core/hog.hpp"
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

/* The library's domains, by the call that polls for longer. */
template <class Rcu> struct sooner : Rcu {
    static void synchronize() { pawl_rcu_domain_synchronize_expedited(Rcu::domain()); }
};

/* A reader, and on each CPU another process that wants it. */
template <class Rcu> struct busy_grace_periods : grace_periods<Rcu> {
    void beside(const std::atomic<bool> &stop) override
    {
        const busy_processes others(cpus_, 1);
        read_on<Rcu>(stop, short_section);
    }

  private:
    const std::vector<unsigned> cpus_ = allowed_cpus(); /* before a thread is pinned */
};

/* The least that a grace period needs, where readers have no fence. */
struct membarriers : subject {
    void run(measure &m, unsigned) override
    {
        m.batches(1, [](unsigned) { send_membarrier<MEMBARRIER_CMD_PRIVATE_EXPEDITED>(); });
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
    const std::string why = why_no_membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED);
    if (!why.empty())
        counters::offer_none(all, "sync", "membarrier", why);
    for (const char *beside : {"", "readers"}) {
        if (why.empty())
            offer<membarriers>(all, "sync", "membarrier", 1, beside);
        offer_pawl<grace_periods>(all, "sync", 1, beside);
        offer<grace_periods<adapter::pawl_rcu_of_domain>>(all, "sync", "pawl_rcu_domain", 1,
                                                          beside);
        offer<grace_periods<sooner<adapter::pawl_rcu>>>(all, "sync", "pawl_rcu_expedited", 1,
                                                        beside);
        offer_urcu<grace_periods>(all, "sync", 1, beside);
        offer_ck<grace_periods>(all, "sync", 1, beside);
    }
}

void busy_rows(candidates &all)
{
    using counters::offer;
    const char *const beside = "readers";
    offer_pawl<busy_grace_periods>(all, "busy", 1, beside);
    offer<busy_grace_periods<sooner<adapter::pawl_rcu>>>(all, "busy", "pawl_rcu_expedited", 1,
                                                         beside);
    offer<busy_grace_periods<sooner<adapter::pawl_rcu_quiescent>>>(
        all, "busy", "pawl_rcu_qs_expedited", 1, beside);
    offer_urcu<busy_grace_periods>(all, "busy", 1, beside);
    offer_ck<busy_grace_periods>(all, "busy", 1, beside);
}

} // namespace bench::rcu
