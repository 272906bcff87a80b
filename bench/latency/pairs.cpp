/* SPDX-License-Identifier: MIT */
/* The cost of taking and dropping for one undisturbed thread, and the cost of the calls in it
 * apart. */
#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/placed.hpp"
#include "latency/locks.hpp"

namespace bench::latency {
namespace {

constexpr unsigned batch = 1024;

template <class Operation> pair_time repeat(double seconds, Operation operation)
{
    pair_time found;
    const double start = seconds_of(CLOCK_MONOTONIC);
    do {
        for (unsigned i = 0; i < batch; i++) {
            operation();
            /* The compiler must not merge or drop operations that it could see through. */
            __asm__ __volatile__("" : : : "memory");
        }
        found.ops += batch;
        found.seconds = seconds_of(CLOCK_MONOTONIC) - start;
    } while (found.seconds < seconds && !interrupted);
    return found;
}

/* ---- Floors ---------------------------------------------------------------------------------- */

pair_time empty_loop(double seconds, const setting &)
{
    return repeat(seconds, [] {});
}

/* The least that a reader needs: from no reader to one, and back. */
pair_time cas_and_sub(double seconds, const setting &)
{
    static placed<std::uintptr_t> word;
    return repeat(seconds, [] {
        std::uintptr_t nobody = 0;
#if defined(__x86_64__) || defined(__i386__)
        __asm__ __volatile__("lock cmpxchg %2, %1\n\tlock sub %2, %1"
                             : "+a"(nobody), "+m"(word.object)
                             : "r"(std::uintptr_t{4})
                             : "memory", "cc");
#else
        __atomic_compare_exchange_n(&word.object, &nobody, 4, false, __ATOMIC_ACQUIRE,
                                    __ATOMIC_RELAXED);
        __atomic_fetch_sub(&word.object, 4, __ATOMIC_RELEASE);
#endif
    });
}

/* ---- The calls that a writer of a lock with handlers makes ----------------------------------- */

/* The calls as the library's lock makes them: by number, with the kernel's set of 64 signals. */
class signal_calls {
  public:
    signal_calls()
        : set_(std::uint64_t{1} << (deferred_signal() - 1) | std::uint64_t{1}
                                                                 << (interrupt_signal() - 1))
    {
    }
    void block() { change(SIG_BLOCK); }
    void unblock() { change(SIG_UNBLOCK); }

  private:
    void change(int how)
    {
        std::uint64_t before;
        syscall(SYS_rt_sigprocmask, how, &set_, &before, sizeof set_);
    }
    std::uint64_t set_;
};

/* The thread asks for its class and for the slack of its timers, and changes its class. It loses
 * the slack by that, and takes it again at the end. */
inline long raise_class()
{
    struct sched_param p = {};
    const long slack = syscall(SYS_prctl, PR_GET_TIMERSLACK, 0, 0, 0, 0);
    syscall(SYS_sched_getscheduler, 0);
    syscall(SYS_sched_getparam, 0, &p);
    p.sched_priority = handler_priority;
    syscall(SYS_sched_setscheduler, 0, SCHED_FIFO, &p);
    return slack;
}
inline void lower_class(long slack)
{
    struct sched_param p = {};
    syscall(SYS_sched_setscheduler, 0, SCHED_OTHER, &p);
    syscall(SYS_prctl, PR_SET_TIMERSLACK, slack, 0, 0, 0);
}

pair_time mask_calls(double seconds, const setting &)
{
    signal_calls signals;
    return repeat(seconds, [&signals] {
        signals.block();
        signals.unblock();
    });
}

pair_time class_calls(double seconds, const setting &)
{
    return repeat(seconds, [] { lower_class(raise_class()); });
}

/* All calls of the writer, as often as the writer makes them, but without the system. The
 * remainder of w/pawl_sift_net beyond this is the lock. */
pair_time skipped_calls(double seconds, const setting &how)
{
    signal_calls signals;
    skip_calls(true);
    const pair_time found = repeat(seconds, [&] {
        signals.block();
        if (how.realtime)
            lower_class(raise_class());
        signals.unblock();
    });
    skip_calls(false);
    return found;
}

/* ---- Locks ----------------------------------------------------------------------------------- */

template <class Lock> pair_time read_pair(double seconds, const setting &how)
{
    placed<Lock> lock{Lock(how)};
    return repeat(seconds, [&lock] {
        lock.object.template take_read<context::thread>();
        lock.object.template drop_read<context::thread>();
    });
}

template <class Lock> pair_time write_pair(double seconds, const setting &how)
{
    placed<Lock> lock{Lock(how)};
    return repeat(seconds, [&lock] {
        lock.object.take_write();
        lock.object.drop_write();
    });
}

/* The calls return at once. This leaves out as many calls as `skipped_calls`, so the two are
 * comparable. */
pair_time write_net(double seconds, const setting &how)
{
    placed<sifting> lock{sifting(how)};
    skip_calls(true);
    lock.object.take_write();
    lock.object.drop_write();
    const unsigned made = skip_calls(true), wanted = how.realtime ? 8 : 2;
    if (made != wanted) {
        skip_calls(false);
        throw std::runtime_error("A writer of pawl_sift makes " + std::to_string(made) +
                                 " calls, and this bench counts on " + std::to_string(wanted) +
                                 ": its rows of calls are stale.");
    }
    const pair_time found = repeat(seconds, [&lock] {
        lock.object.take_write();
        lock.object.drop_write();
    });
    skip_calls(false);
    return found;
}

/* Blocks no signals: the lock alone. */
template <class Base> struct plain : Base {
    explicit plain(const setting &) {}
    template <context> void take_read() { Base::take_read(); }
    template <context> void drop_read() { Base::drop_read(); }
};

/* Handlers read, and no thread is a real-time one: the writer blocks signals and raises no
 * thread. */
struct sifting_handlers : sifting {
    explicit sifting_handlers(const setting &) : sifting(setting{}) {}
};

void add(candidates &all, const std::string &name, const std::string &why,
         pair_time (*run)(double, const setting &))
{
    all.push_back(named(name, why));
    all.back().design.run = run;
}

/* `operations`: r for reading, w for writing; each has a row. */
template <template <class> class Wrapping, class Lock>
void offer(candidates &all, const char *operations, const char *name)
{
    for (const char *o = operations; *o != '\0'; o++) {
        add(all, std::string(1, *o) + "/" + name, adapter::why_not<Lock>(), nullptr);
        if constexpr (adapter::in_build<Lock>)
            all.back().design.run =
                *o == 'r' ? read_pair<Wrapping<Lock>> : write_pair<Wrapping<Lock>>;
    }
}

} // namespace

candidates all_pairs(const std::string &no_realtime)
{
    using prefers_reader = rwlock<PTHREAD_RWLOCK_PREFER_READER_NP>;
    using prefers_writer = rwlock<PTHREAD_RWLOCK_PREFER_WRITER_NP>;
    using nonrecursive = rwlock<PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP>;
    candidates all;
    add(all, "floor/empty_loop", "", empty_loop);
    add(all, "floor/cas_sub", "", cas_and_sub);
    all.back().baseline = true;
    add(all, "calls/signal_mask", "", mask_calls);
    add(all, "calls/scheduling", no_realtime, class_calls);
    add(all, "calls/skipped", "", skipped_calls);
    offer<itself, sifting>(all, "rw", "pawl_sift");
    offer<itself, sifting_handlers>(all, "w", "pawl_sift_handlers");
    offer<plain, adapter::pawl_sift>(all, "rw", "pawl_sift_threads");
    add(all, "w/pawl_sift_net", "", write_net);
    offer<plain, prefers_reader>(all, "rw", "pthread_rwlock");
    offer<plain, prefers_writer>(all, "rw", "pthread_rwlock_writer");
    offer<plain, nonrecursive>(all, "rw", "pthread_rwlock_nonrecursive");
    offer<masked, prefers_reader>(all, "w", "pthread_rwlock_masked");
    offer<plain, progressive>(all, "rw", "pawl_lock64");
    offer<plain, absl_mutex>(all, "rw", "absl_mutex");
    offer<plain, nsync_mu>(all, "rw", "nsync_mu");
    return all;
}

} // namespace bench::latency
