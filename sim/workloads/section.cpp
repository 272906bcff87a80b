/* SPDX-License-Identifier: MIT */
/*
 * Readers and writers of one object of four words, which are equal between writes. A thread writes
 * with the share `write` of its operations, and reads otherwise. `lock` says what protects the
 * object: a lock, a sequence lock, or read-copy-update.
 */
#include "bench/adapters/pawl_brlock.hpp"
#include "bench/adapters/pawl_lock.hpp"
#include "bench/adapters/pawl_spin.hpp"
#include "libraries.hpp" /* of simulated/ or native/ */
#include "models/published.hpp"
#include "stage.hpp"

#include <pawl/rcu.h>
#include <pawl/seq.h>

namespace sim {

namespace {

struct object {
    std::uint64_t words[4];
};

void change(object &o)
{
    for (std::uint64_t &word : o.words)
        word++;
}

void look(const object &o)
{
    for (const std::uint64_t &word : o.words)
        if (word != o.words[0])
            stage::fail("A reader saw the half of a write.");
}

/* The object behind a lock, which stands on a line of its own. */
template <class Lock> struct behind_lock {
    alignas(128) stage::watched<Lock> lock;
    alignas(128) object data{};

    void read(stage::member &me, double inside)
    {
        me.waits();
        lock.take_read();
        me.entered(false);
        look(data);
        me.work(inside);
        lock.drop_read();
    }
    void write(stage::member &me, double inside)
    {
        me.waits();
        lock.take_write();
        me.entered(true);
        change(data);
        me.work(inside);
        lock.drop_write();
    }
};

/* The same for a lock that readers cannot share. */
template <class Lock> struct alone : behind_lock<Lock> {
    void read(stage::member &me, double inside)
    {
        me.waits();
        this->lock.take_write();
        me.entered(false);
        look(this->data);
        me.work(inside);
        this->lock.drop_write();
    }
};

/* A word right behind its lock, mostly on the same line: what folly's SharedMutexTest.cpp runs. */
template <class Lock> struct word_beside {
    alignas(128) Lock lock;
    std::uint32_t word = 0;

    void read(stage::member &, double)
    {
        lock.take_read();
        (void)*const_cast<volatile std::uint32_t *>(&word);
        lock.drop_read();
    }
    void write(stage::member &, double)
    {
        lock.take_write();
        word++;
        lock.drop_write();
    }
};

template <class Lock> struct word_alone : word_beside<Lock> {
    void read(stage::member &me, double inside) { this->write(me, inside); }
};

PAWL_SEQ_TYPE(object_seq, struct object);

struct sequence {
    alignas(128) object_seq data = PAWL_SEQ_TYPE_INIT;

    void read(stage::member &me, double inside)
    {
        object copy;
        pawl_seq_word begun;
        me.waits();
        do {
            begun = pawl_seq_begin(&data.seq);
            object_seq_peek(&data, &copy);
            me.work(inside);
        } while (pawl_seq_retry(&data.seq, begun));
        me.entered(false);
        look(copy);
    }
    void write(stage::member &me, double inside)
    {
        object now;
        me.waits();
        object_seq_take_write(&data, &now);
        me.entered(true);
        change(now);
        me.work(inside);
        object_seq_drop_write(&data, &now);
    }
};

/* Updaters exclude each other by a lock, and wait for readers before they use a copy again. */
struct copies {
    alignas(128) pawl_spin64 updaters = PAWL_SPIN64_INIT;
    alignas(128) object *current = &stage::make<object>();
    object **spare =
        static_cast<object **>(stage::memory(sizeof(object *) * 16 * stage::most_threads, 128));

    void read(stage::member &me, double inside)
    {
        me.waits();
        pawl_rcu_read_lock();
        me.entered(false);
        look(*pawl_rcu_dereference(current));
        me.work(inside);
        pawl_rcu_read_unlock();
    }
    void write(stage::member &me, double inside)
    {
        object *&own = spare[16 * me.number()];
        if (own == nullptr)
            own = &stage::make<object>();
        me.waits();
        pawl_spin64_take_write(&updaters);
        me.entered(true);
        object *const old = current;
        *own = *old;
        change(*own);
        me.work(inside);
        pawl_rcu_assign_pointer(current, own);
        pawl_spin64_drop_write(&updaters);
        pawl_rcu_synchronize();
        own = old;
    }
};

/* Planted: excludes nobody. */
struct planted {
    std::uint32_t word = 0;
    void take_write() { (void)add(&word, 1U); }
    void drop_write() { (void)add(&word, UINT32_MAX); }
};

/* Planted: a ticket lock that sleeps, and whose drop wakes nobody. */
struct planted_sleep {
    std::uint32_t next = 0, served = 0;
    void take_write()
    {
        const std::uint32_t mine = add(&next, 1U);
        for (std::uint32_t seen = load(&served); seen != mine; seen = load(&served))
            sleep_while(&served, seen);
    }
    void drop_write() { (void)add(&served, 1U); }
};

template <class Protected> findings run(settings &s)
{
    const double share = s.number("write", 1, 0, 100) / 100;
    const double inside = s.number("inside", 50, 0, 1e6);
    const double outside = s.number("outside", 100, 0, 1e6);
    stage::world w(s);
    s.refuse_unused();
    auto &it = stage::make<Protected>();
    w.name(&it, sizeof it, "the protected object");
    return w.run([&](stage::member &me) {
        bool writes;
        do {
            writes = share > 0 && me.chance(share);
            if (writes)
                it.write(me, inside);
            else
                it.read(me, inside);
            me.work(outside);
        } while (me.done(writes));
    });
}

} // namespace

/* `run_word` is null where nothing of it was measured. */
static findings run_one(settings &s, bool word)
{
    static const struct {
        const char *name;
        workload run, run_word;
    } all[] = {
        {"spin", run<alone<model_spin>>, run<word_alone<model_spin>>},
        {"ticket", run<alone<model_ticket>>, run<word_alone<model_ticket>>},
        {"mcs", run<alone<model_mcs>>, nullptr},
        {"low_level_lock", run<alone<model_low_level_lock>>, run<word_alone<model_low_level_lock>>},
        {"rwlock_2017", run<behind_lock<model_rwlock_2017>>, run<word_beside<model_rwlock_2017>>},
        {"rwlock", run<behind_lock<model_rwlock>>, run<word_beside<model_rwlock>>},
        {"rwspin", run<behind_lock<model_rwspin>>, run<word_beside<model_rwspin>>},
        {"bravo", run<behind_lock<model_bravo<model_rwlock>>>, nullptr},
        {"phase_fair", run<behind_lock<model_phase_fair>>, nullptr},
        {"spin32", run<behind_lock<adapter::pawl_spin32>>, nullptr},
        {"spin64", run<behind_lock<adapter::pawl_spin64>>, run<word_beside<adapter::pawl_spin64>>},
        {"lock32", run<behind_lock<adapter::pawl_lock32>>, nullptr},
        {"lock64", run<behind_lock<adapter::pawl_lock64>>, run<word_beside<adapter::pawl_lock64>>},
        {"brlock", run<behind_lock<adapter::pawl_brlock>>, nullptr},
        {"brlock_fenced", run<behind_lock<adapter::pawl_brlock_fenced>>, nullptr},
        {"seq", run<sequence>, nullptr},
        {"rcu", run<copies>, nullptr},
        {"library_spin", run<alone<library::spin>>, nullptr},
        {"library_ticket", run<alone<library::ticket>>, nullptr},
        {"library_low_level_lock", run<alone<library::mutex>>, nullptr},
        {"library_rwlock", run<behind_lock<library::rwlock>>, nullptr},
        {"library_bravo", run<behind_lock<library::bravo>>, nullptr},
        {"library_phase_fair", run<behind_lock<library::phase_fair>>, nullptr},
        {"planted", run<alone<planted>>, nullptr},
        {"planted_sleep", run<alone<planted_sleep>>, nullptr},
    };
    const std::string lock = s.text("lock", "spin64");
    std::string names;
    for (const auto &one : all) {
        const workload of = word ? one.run_word : one.run;
        if (of != nullptr && lock == one.name)
            return of(s);
        if (of != nullptr)
            names += std::string(names.empty() ? "" : ", ") + one.name;
    }
    throw bad_input("There is no model of a lock '" + lock + "': choose one of " + names + ".");
}

findings run_section(settings &s)
{
    return run_one(s, false);
}

findings run_word(settings &s)
{
    return run_one(s, true);
}

} // namespace sim
