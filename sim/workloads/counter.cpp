/* SPDX-License-Identifier: MIT */
/* Threads that count events, or take and drop references to one object. */
#include "stage.hpp"
#include "words.hpp"

#include <pawl/bigref.h>
#include <pawl/counter.h>

namespace sim {

namespace {

struct one_word {
    alignas(128) std::uint64_t word = 0;
    void step() { (void)add(&word, UINT64_C(1)); }
    std::uint64_t read() { return load(&word); }
};

/* A read, and a compare-exchange until it succeeds. */
struct one_word_cas {
    alignas(128) std::uint64_t word = 0;
    void step()
    {
        std::uint64_t seen = load(&word);
        for (;;) {
            const std::uint64_t found = cas(&word, seen, seen + 1);
            if (found == seen)
                return;
            seen = found;
        }
    }
    std::uint64_t read() { return load(&word); }
};

struct many_words {
    alignas(128) pawl_counter counter;
    many_words() { pawl_counter_init(&counter); }
    void step() { pawl_counter_inc(&counter); }
    std::uint64_t read() { return static_cast<std::uint64_t>(pawl_counter_read(&counter)); }
};

struct reference_word {
    alignas(128) std::uint64_t word = 1;
    void step()
    {
        (void)add(&word, UINT64_C(1));
        if (add(&word, ~UINT64_C(0)) == 1)
            stage::fail("The last reference went although the first was never dropped.");
    }
    std::uint64_t read() { return load(&word); }
};

struct big_reference {
    alignas(128) pawl_bigref reference;
    big_reference()
    {
        pawl_bigref_init(
            &reference,
            [](pawl_bigref *, void *) {
                stage::fail("The last reference went although the first was never dropped.");
            },
            nullptr);
    }
    void step()
    {
        pawl_bigref_get(&reference);
        pawl_bigref_drop(&reference);
    }
    std::uint64_t read() { return static_cast<std::uint64_t>(pawl_bigref_read(&reference)); }
};

/* `read`: percent of the operations that read the sum. */
template <class Counter> findings run(settings &s)
{
    const double share = s.number("read", 0, 0, 100) / 100;
    const double outside = s.number("outside", 0, 0, 1e6);
    stage::world w(s);
    s.refuse_unused();
    auto &counter = stage::make<Counter>();
    w.name(&counter, sizeof counter, "the counter");
    return w.run([&](stage::member &me) {
        bool reads;
        do {
            reads = share > 0 && me.chance(share);
            if (reads)
                (void)counter.read();
            else
                counter.step();
            me.work(outside);
        } while (me.done(!reads));
    });
}

} // namespace

findings run_counter(settings &s)
{
    const std::string lock = s.text("lock", "counter");
    if (lock == "atomic")
        return run<one_word>(s);
    if (lock == "cas")
        return run<one_word_cas>(s);
    if (lock == "counter")
        return run<many_words>(s);
    throw bad_input("There is no model of a counter '" + lock +
                    "': choose one of atomic, cas, counter.");
}

findings run_reference(settings &s)
{
    const std::string lock = s.text("lock", "bigref");
    if (lock == "atomic")
        return run<reference_word>(s);
    if (lock == "bigref")
        return run<big_reference>(s);
    throw bad_input("There is no model of a reference count '" + lock +
                    "': choose atomic or bigref.");
}

} // namespace sim
