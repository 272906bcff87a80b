/* SPDX-License-Identifier: MIT */
/*
 * The locks of pawl-bench-latency. A lock without support for handlers is used as a program would
 * use it there. The writer blocks signals before it asks for the lock and until it has dropped it.
 */
#pragma once

#include "adapters/all.hpp"
#include "adapters/pawl_sift.hpp"
#include "latency/latency.hpp"
#include "latency/realtime.hpp"

namespace bench::latency {

/* ---- Try operations, which the common adapters lack ------------------------------------------ */

template <int Kind> struct rwlock {
    static constexpr bool protects = true;
    pthread_rwlock_t lock;
    rwlock()
    {
        pthread_rwlockattr_t attributes;
        pthread_rwlockattr_init(&attributes);
        pthread_rwlockattr_setkind_np(&attributes, Kind);
        pthread_rwlock_init(&lock, &attributes);
        pthread_rwlockattr_destroy(&attributes);
    }
    rwlock(const rwlock &) = delete;
    ~rwlock() { pthread_rwlock_destroy(&lock); }
    void take_read() { pthread_rwlock_rdlock(&lock); }
    bool try_read() { return pthread_rwlock_tryrdlock(&lock) == 0; }
    void drop_read() { pthread_rwlock_unlock(&lock); }
    void take_write() { pthread_rwlock_wrlock(&lock); }
    bool try_write() { return pthread_rwlock_trywrlock(&lock) == 0; }
    void drop_write() { pthread_rwlock_unlock(&lock); }
};

struct progressive : adapter::pawl_lock64 {
    static constexpr bool protects = true;
    bool try_read() { return pawl_lock64_try_read(&lock); }
    bool try_write() { return pawl_lock64_try_write(&lock); }
};

#if PAWL_BENCH_ABSL
struct absl_mutex : adapter::absl_mutex {
    static constexpr bool protects = true;
    bool try_read() ABSL_NO_THREAD_SAFETY_ANALYSIS { return lock.ReaderTryLock(); }
    bool try_write() ABSL_NO_THREAD_SAFETY_ANALYSIS { return lock.TryLock(); }
};
#else
using adapter::absl_mutex;
#endif

#if PAWL_BENCH_NSYNC
struct nsync_mu : adapter::nsync_mu {
    static constexpr bool protects = true;
    bool try_read() { return nsync_mu_rtrylock(&lock) != 0; }
    bool try_write() { return nsync_mu_trylock(&lock) != 0; }
};
#else
using adapter::nsync_mu;
#endif

/* No lock: the effects of the scheduler and the machine alone. */
struct nothing : adapter::none {
    static constexpr bool protects = false;
    bool try_read() { return true; }
    bool try_write() { return true; }
};

/* For locks that a row uses unchanged, among those that it wraps in a template. */
template <class Lock> using itself = Lock;

/* ---- Signals blocked around the write lock --------------------------------------------------- */

template <class Base> class masked {
  public:
    static constexpr bool protects = Base::protects, nests = false;

    explicit masked(const setting &)
    {
        sigemptyset(&handled_);
        sigaddset(&handled_, deferred_signal());
        sigaddset(&handled_, interrupt_signal());
    }
    template <context> void take_read() { base_.take_read(); }
    template <context> bool try_read() { return base_.try_read(); }
    template <context> void drop_read() { base_.drop_read(); }
    void take_write()
    {
        sigset_t before;
        pthread_sigmask(SIG_BLOCK, &handled_, &before);
        base_.take_write();
        before_ = before;
    }
    bool try_write()
    {
        sigset_t before;
        pthread_sigmask(SIG_BLOCK, &handled_, &before);
        if (!base_.try_write()) {
            pthread_sigmask(SIG_SETMASK, &before, nullptr);
            return false;
        }
        before_ = before;
        return true;
    }
    void drop_write()
    {
        const sigset_t before = before_; /* the next writer owns before_ after the drop */
        base_.drop_write();
        pthread_sigmask(SIG_SETMASK, &before, nullptr);
    }

  private:
    Base base_;
    sigset_t handled_;
    sigset_t before_{}; /* of the thread that writes */
};

/* ---- The library's own, with all its readers declared ---------------------------------------- */

class sifting {
  public:
    static constexpr bool protects = true, nests = true;

    explicit sifting(const setting &how)
    {
        pawl_sift_use use = {};
        use.readers = PAWL_SIFT_READS(PAWL_SIFT_THREAD) | PAWL_SIFT_READS(PAWL_SIFT_DEFERRED) |
                      PAWL_SIFT_READS(PAWL_SIFT_INTERRUPT);
        use.writers = PAWL_SIFT_THREAD;
        use.deferred = PAWL_SIFT_SIGNAL(deferred_signal());
        use.interrupt = PAWL_SIFT_SIGNAL(interrupt_signal());
        if (how.realtime) {
            use.readers |= PAWL_SIFT_READS(PAWL_SIFT_REALTIME);
            use.flags = PAWL_SIFT_REALTIME_HANDLERS;
            use.ceiling = handler_priority;
        }
        if (const int error = pawl_sift_init(&lock_, &use))
            throw std::runtime_error(std::string("pawl_sift_init failed: ") + std::strerror(error) +
                                     ".");
    }
    sifting(const sifting &) = delete;
    ~sifting() { pawl_sift_destroy(&lock_); }
    template <context Where> void take_read() { pawl_sift_take_read(&lock_, as(Where)); }
    template <context Where> bool try_read() { return pawl_sift_try_read(&lock_, as(Where)); }
    template <context Where> void drop_read() { pawl_sift_drop_read(&lock_, as(Where)); }
    void take_write() { pawl_sift_take_write(&lock_); }
    bool try_write() { return pawl_sift_try_write(&lock_); }
    void drop_write() { pawl_sift_drop_write(&lock_); }

  private:
    static constexpr pawl_sift_context as(context where)
    {
        return static_cast<pawl_sift_context>(where);
    }
    ::pawl_sift lock_;
};

/* Handlers without a lock spend as much time as a write section takes. The rest is what the
 * machine takes from any handler that waits for a write section. */
class bare : public masked<nothing> {
  public:
    explicit bare(const setting &how) : masked<nothing>(how), steps_(how.write_steps) {}
    template <context Where> void take_read()
    {
        if (Where == context::deferred || Where == context::interrupt)
            spin_work(steps_, 1);
    }

  private:
    std::uint64_t steps_;
};

} // namespace bench::latency
