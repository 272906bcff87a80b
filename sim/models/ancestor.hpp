/* SPDX-License-Identifier: MIT */
/* Model of the progressive lock that the published measurements ran, plock of 2017: a word of 64
 * bits, and a back-off that doubles without jitter. Written from its published description. */
#pragma once

#include "words.hpp" /* of simulated/ or native/ */

namespace sim {

/* Counts of readers (a seeker and a writer are readers too), of seekers and of writers. A claim is
 * an addition; one that failed is withdrawn by a subtraction. */
struct model_ancestor {
    static constexpr std::uint64_t reader = 4, readers = 0xFFFFFFFC;
    static constexpr std::uint64_t seeker = UINT64_C(1) << 32, seekers = UINT64_C(3) << 32;
    static constexpr std::uint64_t writer = UINT64_C(4) << 32;
    static constexpr std::uint64_t writers = ~(readers | seekers | 3);
    static constexpr std::uint64_t seeks = seeker + reader, writes = writer + seeks;
    static constexpr unsigned most_hints = 256;
    std::uint64_t word = 0;

    /* Only this claim looks before it adds. */
    void take_read()
    {
        for (;;) {
            if ((load(&word) & writers) != 0)
                wait(writers);
            if ((add(&word, reader) & writers) == 0)
                return;
            drop_read();
        }
    }
    void drop_read() { (void)add(&word, -reader); }

    void take_seek() { (void)claim(seeks); }
    void drop_seek() { (void)add(&word, -seeks); }

    void take_write()
    {
        if (claim(writes) != 0)
            (void)poll(&word, 0, [](std::uint64_t v) { return v == writes; });
    }
    void drop_write() { (void)add(&word, -writes); }

    void seek_to_write()
    {
        if ((add(&word, writer) & readers) != reader)
            last_reader();
    }

    bool try_read_to_seek()
    {
        constexpr std::uint64_t others = writers | seekers;
        if ((load(&word) & others) != 0)
            return false;
        if ((add(&word, seeker) & others) == 0)
            return true;
        (void)add(&word, -seeker);
        return false;
    }

    bool try_read_to_write()
    {
        if ((add(&word, writer + seeker) & (writers | seekers)) != 0) {
            (void)add(&word, -(writer + seeker));
            return false;
        }
        last_reader();
        return true;
    }

  private:
    /* Waits until the only reader is the caller. */
    void last_reader()
    {
        (void)poll(&word, 0, [](std::uint64_t v) { return (v & readers) == reader; });
    }

    /* Adds at once, and waits only after it has failed. Returns what was there. */
    std::uint64_t claim(std::uint64_t what)
    {
        constexpr std::uint64_t others = writers | seekers;
        for (;;) {
            const std::uint64_t found = add(&word, what);
            if ((found & others) == 0)
                return found;
            (void)add(&word, -what);
            wait(others);
        }
    }

    /* Each wait begins with one hint. */
    void wait(std::uint64_t until_without)
    {
        unsigned hints = 1;
        do {
            relax(hints);
            hints = hints < most_hints ? 2 * hints : hints;
        } while ((load(&word) & until_without) != 0);
    }
};

} // namespace sim
