/* SPDX-License-Identifier: MIT */
/*
 * Threads in a ring hand a token on, each by a word of its own: a thread waits until its word
 * changes, does `inside` nanoseconds of work, changes the word of the next and wakes it.
 */
#include "stage.hpp"
#include "words.hpp"

#include <pawl/wait.h>

namespace sim {

namespace {

struct place {
    alignas(128) std::uint32_t word;
};

struct by_reading {
    static void wait(const std::uint32_t *word, std::uint32_t old)
    {
        (void)sim::poll(word, 1, [old](std::uint32_t v) { return v != old; });
    }
    static void wake(const std::uint32_t *) {}
};

struct by_futex {
    static void wait(const std::uint32_t *word, std::uint32_t old)
    {
        while (load(word) == old)
            sleep_while(word, old);
    }
    static void wake(const std::uint32_t *word) { sim::wake(word, 1); }
};

struct by_pawl_wait {
    static void wait(const std::uint32_t *word, std::uint32_t old)
    {
        while (load(word) == old)
            (void)pawl_wait32(word, old);
    }
    static void wake(const std::uint32_t *word) { (void)pawl_wake_one(word); }
};

constexpr std::uint32_t quit = UINT32_MAX;

template <class Way> findings run(settings &s)
{
    const double inside = s.number("inside", 0, 0, 1e6);
    stage::world w(s);
    s.refuse_unused();
    const unsigned threads = w.threads();
    auto *const places = static_cast<place *>(stage::memory(sizeof(place) * threads, 128));
    w.name(places, sizeof(place) * threads, "the ring");
    return w.run([&](stage::member &me) {
        std::uint32_t *const own = &places[me.number()].word;
        std::uint32_t *const next = &places[(me.number() + 1) % threads].word;
        std::uint32_t old = 0, token = 1;
        for (bool waits = me.number() != 0;; waits = true) {
            if (waits) {
                me.waits();
                Way::wait(own, old);
                me.entered(true);
                old = token = load(own);
                if (me.number() == 0 && token != quit)
                    token++; /* the next round */
            }
            if (token != quit) {
                me.work(inside);
                if (!me.done(true))
                    token = quit;
            }
            store(next, token);
            Way::wake(next);
            if (token == quit)
                return;
        }
    });
}

} // namespace

findings run_chain(settings &s)
{
    const std::string lock = s.text("lock", "wait");
    if (lock == "poll")
        return run<by_reading>(s);
    if (lock == "futex")
        return run<by_futex>(s);
    if (lock == "wait")
        return run<by_pawl_wait>(s);
    throw bad_input("There is no model of a way to wait '" + lock +
                    "': choose one of poll, futex, wait.");
}

} // namespace sim
