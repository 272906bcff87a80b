/* SPDX-License-Identifier: MIT */
/* The cost of reading: entering and leaving a section, inside another one, along pointers. */
#include "rcu/rcu.hpp"

namespace bench::rcu {
namespace {

/* ---- Floors ---------------------------------------------------------------------------------- */

struct empty : subject {
    void run(measure &m, unsigned) override
    {
        m([] {});
    }
};

/* The operations of the cheapest reader-writer lock, on a line that no other thread uses. */
struct atomic_pair : subject {
    placed<std::uint64_t> words[8];
    void run(measure &m, unsigned thread) override
    {
        std::uint64_t &mine = words[thread].object;
        m([&] {
            add(mine, 1);
            add(mine, UINT64_MAX);
        });
    }

  private:
    static void add(std::uint64_t &word, std::uint64_t value)
    {
#if defined(__x86_64__)
        __asm__ __volatile__("lock xaddq %0, %1" : "+r"(value), "+m"(word) : : "memory", "cc");
#else
        __atomic_fetch_add(&word, value, __ATOMIC_ACQ_REL);
#endif
    }
};

/* ---- Sections -------------------------------------------------------------------------------- */

template <class Rcu> struct sections : subject {
    void run(measure &m, unsigned) override
    {
        typename Rcu::thread own;
        m([&] {
            own.read_lock();
            own.read_unlock();
        });
    }
};

template <class Rcu> struct inner_sections : subject {
    void run(measure &m, unsigned) override
    {
        typename Rcu::thread own;
        own.read_lock();
        m([&] {
            own.read_lock();
            own.read_unlock();
        });
        own.read_unlock();
    }
};

template <class Rcu> struct quiescent_states : subject {
    void run(measure &m, unsigned) override
    {
        typename Rcu::thread own;
        m([&] { own.quiescent(); });
    }
};

/* ---- Pointers -------------------------------------------------------------------------------- */

/* Nodes in the first cache, in an order that no prefetcher guesses. */
class chain {
  public:
    static constexpr std::size_t length = 16;
    struct alignas(64) node {
        node *next = nullptr;
    };

    chain()
    {
        node **place = &first;
        for (std::size_t i = 0; i < length; i++) {
            node *n = &nodes_[i * 7 % length]; /* 7 and 16 have no common divisor */
            *place = n;
            place = &n->next;
        }
    }
    chain(const chain &) = delete;
    chain &operator=(const chain &) = delete;

    node *first = nullptr;

  private:
    node nodes_[length];
};

template <class Load> void walk(chain &c, Load load)
{
    chain::node *n = load(c.first);
    while (n)
        n = load(n->next);
}

template <class Rcu> struct dereferences : subject {
    chain nodes;
    void run(measure &m, unsigned) override
    {
        typename Rcu::thread own;
        m([&] {
            own.read_lock();
            walk(nodes, [](chain::node *&place) { return Rcu::dereference(place); });
            own.read_unlock();
        });
    }
};

/* A name for each node, and the one before it until then. */
struct hazard_dereferences : subject {
    chain nodes;
    void run(measure &m, unsigned) override
    {
        ::pawl_hazard *one = pawl_hazard_make(), *other = pawl_hazard_make();
        m([&] {
            walk(nodes, [&](chain::node *&place) {
                std::swap(one, other);
                return pawl_hazard_protect(one, &place);
            });
        });
        pawl_hazard_drop(one);
        pawl_hazard_drop(other);
    }
};

struct hazard_protects : subject {
    chain nodes;
    void run(measure &m, unsigned) override
    {
        ::pawl_hazard *const h = pawl_hazard_make();
        m([&] {
            (void)pawl_hazard_protect(h, &nodes.first);
            pawl_hazard_reset(h, nullptr);
        });
        pawl_hazard_drop(h);
    }
};

struct plain_pointers : subject {
    chain nodes;
    void run(measure &m, unsigned) override
    {
        m([&] {
            walk(nodes,
                 [](chain::node *&place) { return *static_cast<chain::node *volatile *>(&place); });
        });
    }
};

} // namespace

void read_rows(candidates &all)
{
    using counters::offer;
    for (const unsigned threads : {1U, 2U}) {
        offer<empty>(all, "read", "empty", threads);
        offer<atomic_pair>(all, "read", "lock_xadd_pair", threads);
        offer_pawl<sections>(all, "read", threads);
        offer<sections<adapter::pawl_rcu_of_domain>>(all, "read", "pawl_rcu_domain", threads);
        offer<hazard_protects>(all, "read", "pawl_hazard", threads);
        offer_urcu<sections>(all, "read", threads);
        offer_ck<sections>(all, "read", threads);
    }
    offer_pawl<inner_sections>(all, "nested");
    offer_urcu<inner_sections>(all, "nested");
    offer_ck<inner_sections>(all, "nested");
    offer<plain_pointers>(all, "deref", "plain");
    offer_pawl<dereferences>(all, "deref");
    offer<hazard_dereferences>(all, "deref", "pawl_hazard");
    offer_urcu<dereferences>(all, "deref");
    offer_ck<dereferences>(all, "deref");
    offer<quiescent_states<adapter::pawl_rcu_quiescent>>(all, "quiet", "pawl_rcu_qs");
#if PAWL_BENCH_URCU
    offer<quiescent_states<adapter::urcu_qsbr>>(all, "quiet", "urcu_qsbr");
#else
    counters::offer_none(all, "quiet", "urcu_qsbr", no_urcu);
#endif
}

} // namespace bench::rcu
