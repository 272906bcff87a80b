// SPDX-License-Identifier: MIT
// Big-reader locks, priority-sifting locks, sequence locks, counters, big references, bit locks,
// condition variables and event counts under checkers of data races. `primitives right` runs
// correct programs, on which a checker must stay silent; `primitives CASE` one wrong program, which
// it must report, `primitives each` all of them; `primitives` lists these.
//
// In the wrong ones the threads go in step by relaxed atomics, which order nothing in the
// checker's eyes. So the order of events is the same in each run, and only the primitive could
// order the accesses.
#include <pawl/pawl.h>

#include "cases.hpp"

namespace {

constexpr int threads = 4;
constexpr int rounds = PAWL_VALGRIND ? 80 : 300;

// The first goes before the second.
template <class First, class Second> void in_turn(First first, Second second)
{
    std::thread one([=] {
        first();
        reach(1);
    });
    std::thread two([=] {
        await(1);
        second();
    });
    one.join();
    two.join();
}

// ---- Right programs ----------------------------------------------------------------------------

pawl_brlock big;
pawl_sift sift;
long pair[2] = {0, 0}; // plain
long seekers = 0;      // plain: written under S or W

void change()
{
    pair[0]++;
    pair[1]--;
}

void look()
{
    check(pair[0] + pair[1] == 0, "a reader saw half a change");
}

void big_reader_locks(std::uint32_t flags)
{
    check(pawl_brlock_init(&big, 8 | flags) == 0, "the lock");
    together<threads, rounds>([](int thread, int round) {
        switch ((thread + round) % 7) {
        case 0:
            pawl_brlock_take_write(&big);
            change();
            seekers++;
            pawl_brlock_write_to_read(&big);
            look();
            pawl_brlock_drop_read(&big);
            break;
        case 1:
            pawl_brlock_take_seek(&big);
            look();
            seekers++;
            pawl_brlock_seek_to_write(&big);
            change();
            pawl_brlock_write_to_seek(&big);
            seekers++;
            pawl_brlock_seek_to_read(&big);
            look();
            pawl_brlock_drop_read(&big);
            break;
        case 2:
            if (pawl_brlock_try_write(&big)) {
                change();
                pawl_brlock_drop_write(&big);
            }
            break;
        case 3:
            pawl_brlock_take_read(&big);
            look();
            if (pawl_brlock_try_read_to_seek(&big)) {
                seekers++;
                pawl_brlock_drop_seek(&big);
            } else {
                look();
                pawl_brlock_drop_read(&big);
            }
            break;
        case 4:
            pawl_brlock_take_read_any(&big);
            look();
            pawl_brlock_drop_read_any(&big);
            break;
        default:
            if (pawl_brlock_take_read_until(&big, PAWL_BRLOCK_FOREVER)) {
                look();
                pawl_brlock_drop_read(&big);
            }
        }
    });
    pawl_brlock_destroy(&big);
}

void sifting_locks()
{
    check(pawl_sift_init(&sift, nullptr) == 0, "the lock");
    together<threads, rounds>([](int thread, int round) {
        switch ((thread + round) % 5) {
        case 0:
            pawl_sift_take_write(&sift);
            change();
            pawl_sift_drop_write(&sift);
            break;
        case 1:
            if (pawl_sift_try_write(&sift)) {
                change();
                pawl_sift_drop_write(&sift);
            }
            break;
        case 2:
            if (pawl_sift_try_read(&sift, PAWL_SIFT_THREAD)) {
                look();
                pawl_sift_drop_read(&sift, PAWL_SIFT_THREAD);
            }
            break;
        default:
            pawl_sift_take_read(&sift, PAWL_SIFT_THREAD);
            look();
            pawl_sift_drop_read(&sift, PAWL_SIFT_THREAD);
        }
    });
    pawl_sift_destroy(&sift);
}

struct announced {
    long slot, twice;
};
PAWL_SEQ_TYPE(announced_seq, announced);
PAWL_SEQ_LATCH_TYPE(announced_latch, announced);
announced_seq number = PAWL_SEQ_TYPE_INIT;
announced_latch latched = PAWL_SEQ_LATCH_TYPE_INIT;

// A value that a reader has found comes after all that its writer did before.
void sequence_locks()
{
    static long filled[2 * rounds + 1]; // plain
    together<threads, rounds>([](int thread, int round) {
        announced now;
        if (thread < 2) {
            announced_seq_take_write(&number, &now);
            filled[++now.slot] = round + 1;
            now.twice = 2 * now.slot;
            announced_seq_drop_write(&number, &now);
        } else {
            announced_seq_read(&number, &now);
            check(now.twice == 2 * now.slot, "half of a write");
            check(now.slot == 0 || filled[now.slot] != 0, "announced before it was filled");
        }
    });
}

void latches()
{
    static long filled[rounds + 1]; // plain
    together<threads, rounds>([](int thread, int round) {
        announced now;
        if (thread == 0) {
            filled[round + 1] = round + 1;
            now.slot = round + 1;
            now.twice = 2 * now.slot;
            announced_latch_write_alone(&latched, &now);
        } else {
            announced_latch_read(&latched, &now);
            check(now.twice == 2 * now.slot, "half of a write");
            check(now.slot == 0 || filled[now.slot] != 0, "announced before it was filled");
        }
    });
}

pawl_counter counted = PAWL_COUNTER_INIT;
pawl_counter_exact exact = PAWL_COUNTER_EXACT_INIT;
pawl_counter_limit limited = PAWL_COUNTER_LIMIT_INIT(2);

void counters()
{
    together<threads, rounds>([](int thread, int round) {
        pawl_counter_inc(&counted);
        pawl_counter_exact_add(&exact, 1);
        if (pawl_counter_limit_try_add(&limited, 1))
            pawl_counter_limit_sub(&limited, 1);
        if (thread == 0 && round % 64 == 0)
            sink.store(pawl_counter_read(&counted) + pawl_counter_exact_read(&exact));
    });
    check(pawl_counter_exact_destroy(&exact) == threads * rounds, "an exact count");
    check(pawl_counter_destroy(&counted) == threads * rounds, "a count");
    check(pawl_counter_limit_destroy(&limited) == 0, "a limited count");
}

struct held {
    pawl_bigref references;
    long values[threads]; // plain: each thread its own; the release function all
};

void end_of(pawl_bigref *, void *object)
{
    held *const h = static_cast<held *>(object);
    for (const long value : h->values)
        check(value == rounds, "the release function comes after all that dropped");
    delete h;
}

void big_references()
{
    held *const h = new held();
    pawl_bigref_init(&h->references, end_of, h);
    for (int i = 0; i < threads; i++)
        pawl_bigref_get(&h->references);
    std::vector<std::thread> crew;
    for (int i = 0; i < threads; i++)
        crew.emplace_back([h, i] {
            for (int round = 0; round < rounds; round++) {
                pawl_bigref_get(&h->references);
                h->values[i]++;
                pawl_bigref_drop(&h->references);
            }
            pawl_bigref_drop(&h->references);
        });
    check(pawl_bigref_kill(&h->references), "the first kill");
    pawl_bigref_drop(&h->references);
    for (std::thread &one : crew)
        one.join();
}

std::uint32_t word = 0;
pawl_cond changed = PAWL_COND_INIT;
pawl_lock64 turn_lock = PAWL_LOCK64_INIT;
pawl_eventcount event = PAWL_EVENTCOUNT_INIT;

void bit_locks()
{
    static long guarded = 0; // plain
    together<threads, rounds>([](int, int round) {
        pawl_bitlock32_take(&word, 3);
        guarded++;
        if (round % 8 == 0)
            sched_yield(); // so that others come to wait
        pawl_bitlock32_drop(&word, 3);
    });
    check(guarded == threads * rounds, "no addition is lost");
}

// Two threads take turns.
void condition_variables()
{
    static long turns = 0; // plain
    const auto player = [](int parity) {
        for (int round = 0; round < rounds; round++) {
            pawl_take_write(&turn_lock);
            while (turns % 2 != parity)
                pawl_cond_wait_write(&changed, &turn_lock);
            turns++;
            pawl_drop_write(&turn_lock);
            pawl_cond_broadcast(&changed);
        }
    };
    std::thread one(player, 0), two(player, 1);
    one.join();
    two.join();
    check(turns == 2 * rounds, "the turns");
}

// The waiter sees what the notifier stored before it notified.
void event_counts()
{
    static long message = 0; // plain
    std::thread waiter([] {
        const std::uint32_t key = pawl_eventcount_prepare(&event);
        reach(1);
        pawl_eventcount_commit(&event, key);
        check(message == 42, "the notification came before the message");
    });
    await(1);
    message = 42;
    pawl_eventcount_notify_all(&event);
    waiter.join();
}

void right()
{
    bit_locks();
    condition_variables();
    event_counts();
    big_reader_locks(0);
    big_reader_locks(PAWL_BRLOCK_FENCED);
    sifting_locks();
    sequence_locks();
    latches();
    counters();
    big_references();
    std::puts("all correct programs ran");
}

// ---- Wrong programs ----------------------------------------------------------------------------

void read_big(void (*body)())
{
    pawl_brlock_take_read(&big);
    body();
    pawl_brlock_drop_read(&big);
}

void make_big()
{
    check(pawl_brlock_init(&big, 8) == 0, "the lock");
}

void written_under_brlock_read()
{
    make_big();
    in_turn([] { read_big(write_data); }, [] { read_big(write_data); });
}

void written_under_brlock_seek()
{
    make_big();
    in_turn(
        [] {
            pawl_brlock_take_seek(&big);
            write_data();
            pawl_brlock_drop_seek(&big);
        },
        [] { read_big(read_data); });
}

void written_after_brlock_write_to_seek()
{
    make_big();
    in_turn(
        [] {
            pawl_brlock_take_write(&big);
            pawl_brlock_write_to_seek(&big);
            write_data();
            pawl_brlock_drop_seek(&big);
        },
        [] { read_big(read_data); });
}

void written_after_a_brlock_try_that_failed()
{
    make_big();
    std::thread reader([] {
        pawl_brlock_take_read(&big);
        read_data();
        reach(1);
        await(2);
        pawl_brlock_drop_read(&big);
    });
    await(1);
    if (!pawl_brlock_try_write(&big))
        write_data();
    reach(2);
    reader.join();
}

void written_without_the_brlock()
{
    make_big();
    in_turn(
        [] {
            pawl_brlock_take_write(&big);
            write_data();
            pawl_brlock_drop_write(&big);
        },
        write_data);
}

void read_sift(void (*body)())
{
    pawl_sift_take_read(&sift, PAWL_SIFT_THREAD);
    body();
    pawl_sift_drop_read(&sift, PAWL_SIFT_THREAD);
}

void written_under_sift_read()
{
    in_turn([] { read_sift(write_data); }, [] { read_sift(write_data); });
}

void written_under_sift_read_after_a_slow_writer()
{
    // The writer takes the slow path, because a reader is in.
    std::thread writer([] {
        await(1);
        reach(2);
        pawl_sift_take_write(&sift);
        pawl_sift_drop_write(&sift);
    });
    std::thread reader([] {
        pawl_sift_take_read(&sift, PAWL_SIFT_THREAD);
        reach(1);
        await(2);
        pawl_sift_drop_read(&sift, PAWL_SIFT_THREAD);
    });
    writer.join();
    reader.join();
    reach(0);
    written_under_sift_read();
}

void written_without_the_sift()
{
    in_turn(
        [] {
            pawl_sift_take_write(&sift);
            write_data();
            pawl_sift_drop_write(&sift);
        },
        write_data);
}

// Readers of a sequence lock do not come before a later writer.
void sequence_reader_taken_for_a_holder()
{
    in_turn(
        [] {
            announced now;
            announced_seq_read(&number, &now);
            read_data();
        },
        [] {
            const announced next = {1, 2};
            announced_seq_write(&number, &next);
            write_data();
        });
}

void counter_taken_for_a_lock()
{
    in_turn(
        [] {
            write_data();
            pawl_counter_exact_add(&exact, 1);
            sink.store(pawl_counter_exact_read(&exact));
        },
        [] {
            if (pawl_counter_exact_read(&exact) == 1)
                write_data();
        });
}

void limit_taken_for_a_lock()
{
    in_turn(
        [] {
            check(pawl_counter_limit_try_add(&limited, 2), "it fits");
            write_data();
            pawl_counter_limit_sub(&limited, 2);
        },
        [] {
            if (pawl_counter_limit_try_add(&limited, 2))
                write_data();
        });
}

void no_release(pawl_bigref *, void *)
{
    write_data();
}

pawl_bigref references = PAWL_BIGREF_INIT(no_release, nullptr);

void written_after_the_last_drop()
{
    pawl_bigref_get(&references);
    in_turn(
        [] {
            pawl_bigref_drop(&references);
            write_data();
        },
        [] {
            check(pawl_bigref_kill(&references), "the first kill");
            pawl_bigref_drop(&references);
        });
}

// `get` orders nothing.
void written_after_a_get()
{
    in_turn(
        [] {
            write_data();
            pawl_bigref_get(&references);
        },
        [] {
            pawl_bigref_get(&references);
            write_data();
        });
}

#define CASE(name) {#name, name}
const wrong_case cases[] = {
    CASE(written_under_brlock_read),
    CASE(written_under_brlock_seek),
    CASE(written_after_brlock_write_to_seek),
    CASE(written_after_a_brlock_try_that_failed),
    CASE(written_without_the_brlock),
    CASE(written_under_sift_read),
    CASE(written_under_sift_read_after_a_slow_writer),
    CASE(written_without_the_sift),
    CASE(sequence_reader_taken_for_a_holder),
    CASE(counter_taken_for_a_lock),
    CASE(limit_taken_for_a_lock),
    CASE(written_after_the_last_drop),
    CASE(written_after_a_get),
};

} // namespace

int main(int argc, char **argv)
{
    return run_cases(argc, argv, right, cases);
}
