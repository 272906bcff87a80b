// SPDX-License-Identifier: MIT
// Waits, condition variables, event counts, bit locks, latches, robust locks and tables of IDs
// under checkers of data races: the cases that primitives.cpp leaves. `others right` runs correct
// programs, on which a checker must stay silent; `others CASE` one wrong program, which it must
// report, `others each` all of them; `others` lists them.
//
// PLAIN_LIBRARY: the library was built without the sanitizer. It has no tables of IDs then.
#include <pawl/idtable.h>
#include <pawl/pawl.h>
#include <pawl/robust.h>
#include <pawl/seq_type.h>

#include <chrono>

#include "cases.hpp"

namespace {

constexpr int threads = 4;
constexpr int rounds = PAWL_VALGRIND ? 60 : 300;

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

std::uint32_t word = 0; // the program's own, so a checker in Valgrind must not look at it
std::uint32_t bits = 0;
pawl_cond changed = PAWL_COND_INIT;
pawl_lock64 guard = PAWL_LOCK64_INIT;
pawl_eventcount event = PAWL_EVENTCOUNT_INIT;

// The order comes from the program's own store and load; a wait adds none.
void waits_and_wakes()
{
    static long message = 0; // plain
    unseen(&word, sizeof word);
    std::thread waiter([] {
        while (__atomic_load_n(&word, __ATOMIC_ACQUIRE) == 0)
            (void)pawl_wait32(&word, 0);
        after_observation(&word);
        check(message == 42, "the word came before the message");
    });
    message = 42;
    before_publication(&word);
    __atomic_store_n(&word, 1, __ATOMIC_RELEASE);
    pawl_wake_all(&word);
    waiter.join();
}

void bit_locks_with_deadlines()
{
    static long guarded = 0; // plain
    together<threads, rounds>([](int, int round) {
        if (round % 2 == 0 && pawl_bitlock32_try(&bits, 5)) {
            guarded++;
            pawl_bitlock32_drop(&bits, 5);
        } else if (pawl_bitlock32_take_until(&bits, 5, round % 3 ? PAWL_WAIT_FOREVER : 1)) {
            guarded++;
            pawl_bitlock32_drop(&bits, 5);
        }
    });
}

// Aligned as the lock wants it.
pawl_robust_lock robust;
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

void held(enum pawl_robust how)
{
    check(pawl_robust_held(how), "the robust lock");
}

void dropped(enum pawl_robust how)
{
    check(how == PAWL_ROBUST_OK, "the drop of the robust lock");
}

void robust_locks()
{
    dropped(pawl_robust_lock_init(&robust));
    together<threads, rounds>([](int thread, int round) {
        switch ((thread + round) % 6) {
        case 0:
            held(pawl_robust_lock_take_write(&robust));
            change();
            seekers++;
            dropped(pawl_robust_lock_write_to_read(&robust));
            look();
            dropped(pawl_robust_lock_drop_read(&robust));
            break;
        case 1:
            held(pawl_robust_lock_take_seek(&robust));
            look();
            seekers++;
            held(pawl_robust_lock_seek_to_write(&robust));
            change();
            dropped(pawl_robust_lock_write_to_seek(&robust));
            seekers++;
            dropped(pawl_robust_lock_drop_seek(&robust));
            break;
        case 2:
            if (pawl_robust_held(pawl_robust_lock_try_write(&robust))) {
                change();
                dropped(pawl_robust_lock_drop_write(&robust));
            }
            break;
        case 3:
            if (pawl_robust_held(pawl_robust_lock_take_read_until(&robust, 1))) {
                look();
                dropped(pawl_robust_lock_drop_read(&robust));
            }
            break;
        default:
            held(pawl_robust_lock_take_read(&robust));
            look();
            dropped(pawl_robust_lock_drop_read(&robust));
        }
    });
}

// With a deadline, the plain library waited by pthread_mutex_clocklock, which ThreadSanitizer of
// gcc 12 does not know. The waiter got the lock, and its drop was the unlock of an unlocked mutex.
void a_robust_lock_that_is_waited_for_with_a_deadline()
{
    constexpr std::uint64_t second = 1000000000;
    dropped(pawl_robust_lock_init(&robust));
    held(pawl_robust_lock_take_write(&robust));
    std::atomic<bool> asks{false};
    std::thread waiter([&asks] {
        asks = true;
        held(pawl_robust_lock_take_write_until(&robust, pawl_now() + 600 * second));
        change();
        dropped(pawl_robust_lock_drop_write(&robust));
    });
    while (!asks)
        std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    change();
    dropped(pawl_robust_lock_drop_write(&robust));
    waiter.join();
}

// A holder that ends is what the lock is for: no report.
void robust_locks_whose_holder_ends()
{
    dropped(pawl_robust_lock_init(&robust));
    std::thread([] {
        held(pawl_robust_lock_take_write(&robust));
        change();
    }).join();
    check(pawl_robust_lock_take_write(&robust) == PAWL_ROBUST_OWNER_DIED, "the death is told");
    change();
    dropped(pawl_robust_lock_consistent(&robust));
    dropped(pawl_robust_lock_drop_write(&robust));
}

#ifndef PLAIN_LIBRARY

struct session {
    pawl_idtable_entry entry;
    pawl_lock32 lock;
    long requests; // plain
};
PAWL_IDTABLE_TYPE(sessions, session, entry, lock);

void end_session(pawl_rcu_head *head)
{
    session *const s = sessions_of_head(head);
    s->requests = -1;
    __asm__ volatile("" ::"r"(s) : "memory");
    delete s;
}

pawl_idtable table = PAWL_IDTABLE_INIT(end_session);

pawl_id insert_session()
{
    session *const s = new session();
    pawl_id id;
    check(pawl_idtable_insert(&table, &s->entry, &id) == 0, "the insertion");
    return id;
}

void tables_of_ids()
{
    static pawl_id known[threads];
    for (pawl_id &id : known)
        id = insert_session();
    together<threads, rounds>([](int thread, int round) {
        session *const s = sessions_take_write(&table, known[(thread + round) % threads]);
        s->requests++;
        sessions_drop_write(s);
        if (round % 8 == 0)
            check(sessions_remove_id(&table, insert_session()), "the removal");
        session *const other = sessions_take_read(&table, known[thread]);
        sink.store(other->requests);
        sessions_drop_read(other);
    });
    pawl_idtable_destroy(&table);
}

#endif

void right()
{
    waits_and_wakes();
    bit_locks_with_deadlines();
    robust_locks();
    a_robust_lock_that_is_waited_for_with_a_deadline();
    robust_locks_whose_holder_ends();
#ifndef PLAIN_LIBRARY
    tables_of_ids();
#endif
    std::puts("all correct programs ran");
}

// ---- Wrong programs ----------------------------------------------------------------------------

void wake_taken_for_an_order()
{
    unseen(&word, sizeof word);
    std::thread waiter([] {
        while (__atomic_load_n(&word, __ATOMIC_RELAXED) == 0)
            (void)pawl_wait32(&word, 0);
        read_data();
    });
    write_data();
    __atomic_store_n(&word, 1, __ATOMIC_RELAXED);
    pawl_wake_all(&word);
    waiter.join();
}

// The signaller never takes the lock.
void signal_taken_for_an_order()
{
    std::thread waiter([] {
        pawl_take_write(&guard);
        pawl_cond_wait_write(&changed, &guard);
        reach(1);
        read_data();
        pawl_drop_write(&guard);
    });
    write_data();
    while (step.load() == 0) {
        pawl_cond_signal(&changed);
        sched_yield();
    }
    waiter.join();
}

void written_after_a_notification()
{
    std::thread waiter([] {
        const std::uint32_t key = pawl_eventcount_prepare(&event);
        reach(1);
        pawl_eventcount_commit(&event, key);
        await(2);
        read_data();
    });
    await(1);
    pawl_eventcount_notify_all(&event);
    write_data();
    reach(2);
    waiter.join();
}

void written_without_the_bit_lock()
{
    in_turn(
        [] {
            pawl_bitlock32_take(&bits, 5);
            write_data();
            pawl_bitlock32_drop(&bits, 5);
        },
        write_data);
}

struct announced {
    long slot;
};
PAWL_SEQ_LATCH_TYPE(announced_latch, announced);
announced_latch latched = PAWL_SEQ_LATCH_TYPE_INIT;

void latch_reader_taken_for_a_holder()
{
    in_turn(
        [] {
            announced now;
            announced_latch_read(&latched, &now);
            read_data();
        },
        [] {
            const announced next = {1};
            announced_latch_write_alone(&latched, &next);
            write_data();
        });
}

void read_robust(void (*body)())
{
    held(pawl_robust_lock_take_read(&robust));
    body();
    dropped(pawl_robust_lock_drop_read(&robust));
}

// The second reader takes the mutex that the first had: only the lock's promise tells.
void written_under_robust_read()
{
    dropped(pawl_robust_lock_init(&robust));
    in_turn([] { read_robust(write_data); }, [] { read_robust(write_data); });
}

void written_under_robust_seek()
{
    dropped(pawl_robust_lock_init(&robust));
    in_turn(
        [] {
            held(pawl_robust_lock_take_seek(&robust));
            write_data();
            dropped(pawl_robust_lock_drop_seek(&robust));
        },
        [] { read_robust(read_data); });
}

void written_without_the_robust_lock()
{
    dropped(pawl_robust_lock_init(&robust));
    in_turn(
        [] {
            held(pawl_robust_lock_take_write(&robust));
            write_data();
            dropped(pawl_robust_lock_drop_write(&robust));
        },
        write_data);
}

#ifndef PLAIN_LIBRARY

// A lookup without the object's lock.
void object_of_a_table_changed_unlocked()
{
    static pawl_id id;
    id = insert_session();
    in_turn(
        [] {
            session *const s = sessions_take_write(&table, id);
            s->requests++;
            sessions_drop_write(s);
        },
        [] {
            pawl_idtable_read_lock(&table);
            sessions_of(pawl_idtable_peek(&table, id))->requests++;
            pawl_idtable_read_unlock(&table);
        });
}

#endif

#define CASE(name) {#name, name}
const wrong_case cases[] = {
    CASE(wake_taken_for_an_order),
    CASE(signal_taken_for_an_order),
    CASE(written_after_a_notification),
    CASE(written_without_the_bit_lock),
    CASE(latch_reader_taken_for_a_holder),
    CASE(written_under_robust_read),
    CASE(written_under_robust_seek),
    CASE(written_without_the_robust_lock),
#ifndef PLAIN_LIBRARY
    CASE(object_of_a_table_changed_unlocked),
#endif
};

} // namespace

int main(int argc, char **argv)
{
    return run_cases(argc, argv, right, cases);
}
