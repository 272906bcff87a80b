/* SPDX-License-Identifier: MIT */
/* Models of published locks, written from their papers. */
#pragma once

#include <new>

#include "stage.hpp"
#include "words.hpp"

namespace sim {

/* Ticket lock: a number for each claimant, and the number that is served. */
struct model_ticket {
    std::uint32_t next = 0, served = 0;
    void take_write()
    {
        const std::uint32_t mine = add(&next, 1U);
        (void)poll(&served, 1, [mine](std::uint32_t v) { return v == mine; });
    }
    void drop_write() { store(&served, load(&served) + 1); }
};

/* folly::RWSpinLock: readers count themselves, and go back if a writer is there. */
struct model_rwspin {
    static constexpr std::uint32_t writer = 1, reader = 4;
    std::uint32_t bits = 0;
    void take_read()
    {
        for (unsigned turns = 0; (add(&bits, reader) & writer) != 0; yield_after(++turns))
            (void)add(&bits, 0U - reader);
    }
    void drop_read() { (void)add(&bits, 0U - reader); }
    void take_write()
    {
        for (unsigned turns = 0; cas(&bits, 0U, writer) != 0;)
            yield_after(++turns);
    }
    void drop_write() { (void)clear_bits(&bits, writer); }

  private:
    static void yield_after(unsigned turns)
    {
        if (turns > 1000)
            yield();
    }
};

/* J. Mellor-Crummey, M. Scott, 1991: a queue of waiters, each of which reads a word of its own. */
struct model_mcs {
    struct alignas(64) node {
        std::uint64_t next;
        std::uint32_t waits;
    };
    std::uint64_t tail = 0;
    node *nodes = static_cast<node *>(stage::memory(sizeof(node) * stage::most_threads, 64));

    void take_write()
    {
        node *const mine = nodes + stage::self();
        store(&mine->next, UINT64_C(0));
        store(&mine->waits, 1U);
        const std::uint64_t before = exchange(&tail, name_of(mine));
        if (before == 0)
            return;
        store(&at(before)->next, name_of(mine));
        (void)poll(&mine->waits, 1, [](std::uint32_t v) { return v == 0; });
    }

    void drop_write()
    {
        node *const mine = nodes + stage::self();
        std::uint64_t next = load(&mine->next);
        if (next == 0) {
            if (cas(&tail, name_of(mine), UINT64_C(0)) == name_of(mine))
                return;
            next = poll(&mine->next, 1, [](std::uint64_t v) { return v != 0; });
        }
        store(&at(next)->waits, 0U);
    }

  private:
    static std::uint64_t name_of(const node *n) { return reinterpret_cast<std::uintptr_t>(n); }
    static node *at(std::uint64_t name)
    {
        return reinterpret_cast<node *>(static_cast<std::uintptr_t>(name)); // NOLINT
    }
};

/* B. Brandenburg, J. Anderson, 2010: phases of readers and of a writer take turns; a waiting reader
 * waits for one writer at most. */
struct model_phase_fair {
    static constexpr std::uint32_t reader = 0x100, bits = 0x3, present = 0x2, parity = 0x1;
    std::uint32_t in = 0, out = 0, ticket = 0, served = 0;

    void take_read()
    {
        const std::uint32_t w = add(&in, reader) & bits;
        if (w != 0)
            (void)poll(&in, 1, [w](std::uint32_t v) { return (v & bits) != w; });
    }
    void drop_read() { (void)add(&out, reader); }
    void take_write()
    {
        const std::uint32_t mine = add(&ticket, 1U);
        (void)poll(&served, 1, [mine](std::uint32_t v) { return v == mine; });
        const std::uint32_t inside = add(&in, present | (mine & parity)) & ~(reader - 1);
        (void)poll(&out, 1, [inside](std::uint32_t v) { return v == inside; });
    }
    void drop_write()
    {
        const std::uint32_t mine = load(&served);
        (void)add(&in, 0U - (present | (mine & parity)));
        store(&served, mine + 1);
    }
};

/* D. Dice, A. Kogan, BRAVO, 2019, around a lock of one's choice: readers of a biased lock claim a
 * slot of a table; a writer ends the bias, waits for the slots that name the lock, and inhibits
 * bias for nine times as long as that took. */
template <class Below> struct model_bravo {
    static constexpr unsigned slots = 4096, times = 9;
    Below below;
    std::uint32_t biased = 0;
    std::uint64_t inhibited_until = 0;
    std::uint64_t *table = static_cast<std::uint64_t *>(stage::memory(slots * 8, 64));
    std::uint64_t **held = static_cast<std::uint64_t **>(
        stage::memory(sizeof(std::uint64_t *) * 8 * stage::most_threads, 64));

    void take_read()
    {
        std::uint64_t *&mine = held[8 * stage::self()];
        if (load(&biased) != 0) {
            std::uint64_t *const slot = table + slot_of(stage::self());
            if (cas(slot, UINT64_C(0), UINT64_C(1)) == 0) {
                if (load(&biased) != 0) {
                    mine = slot;
                    return;
                }
                store(slot, UINT64_C(0));
            }
        }
        below.take_read();
        mine = nullptr;
        if (load(&biased) == 0 && clock_now() >= load(&inhibited_until))
            store(&biased, 1U);
    }
    void drop_read()
    {
        std::uint64_t *const mine = held[8 * stage::self()];
        if (mine != nullptr)
            store(mine, UINT64_C(0));
        else
            below.drop_read();
    }
    void take_write()
    {
        below.take_write();
        if (load(&biased) == 0)
            return;
        store(&biased, 0U);
        full_fence();
        const std::uint64_t began = clock_now();
        for (unsigned i = 0; i < slots; i++)
            (void)poll(table + i, 1, [](std::uint64_t v) { return v == 0; });
        const std::uint64_t now = clock_now();
        store(&inhibited_until, now + (now - began) * times);
    }
    void drop_write() { below.drop_write(); }

  private:
    static unsigned slot_of(unsigned thread)
    {
        return static_cast<unsigned>(thread * UINT64_C(0x9E3779B97F4A7C15) >> 52);
    }
};

} // namespace sim
