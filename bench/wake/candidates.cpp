/* SPDX-License-Identifier: MIT */
/* The rows of the wake bench, in the order of the reports. */
#include "wake/candidates.hpp"

#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <ctime>
#include <stdexcept>

#include <pawl/atomic.h>
#include <pawl/wait.hpp>

#include "adapters/absent.hpp"

#if PAWL_BENCH_ABSL
#include <absl/synchronization/mutex.h>
#endif

namespace bench {

namespace {

/* C++20's names with our waits. */
class pawl_atomic_channel final : public channel {
  public:
    void arm() override { word_.store(0, std::memory_order_relaxed); }
    void wait() override { pawl::atomic_wait(&word_, 0, std::memory_order_acquire); }
    void signal() override
    {
        word_.store(1, std::memory_order_release);
        pawl::atomic_notify_one(&word_);
    }

  private:
    std::atomic<int> word_{0};
};

/* A word that turns from 0 to 1: most of the rows wait for it. */
class word_channel : public channel {
  public:
    void arm() override { __atomic_store_n(&word_, 0U, __ATOMIC_RELAXED); }

  protected:
    bool is_set() const { return __atomic_load_n(&word_, __ATOMIC_ACQUIRE) != 0; }
    void set() { __atomic_store_n(&word_, 1U, __ATOMIC_RELEASE); }
    alignas(128) std::uint32_t word_ = 0;
};

class spin_channel final : public word_channel {
  public:
    void wait() override
    {
        while (!is_set())
            pawl_cpu_relax();
    }
    void signal() override { set(); }
};

class pawl_channel final : public word_channel {
  public:
    void wait() override
    {
        while (!is_set())
            pawl_wait32(&word_, 0);
    }
    void signal() override
    {
        set();
        pawl_wake_one(&word_);
    }
};

class futex_channel final : public word_channel {
  public:
    void wait() override
    {
        while (!is_set())
            syscall(SYS_futex, &word_, FUTEX_WAIT_PRIVATE, 0U, nullptr, nullptr, 0);
    }
    void signal() override
    {
        set();
        syscall(SYS_futex, &word_, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
    }
};

template <long Nanoseconds> class polling_channel final : public word_channel {
  public:
    void wait() override
    {
        const struct timespec pause = {0, Nanoseconds};
        while (!is_set())
            nanosleep(&pause, nullptr);
    }
    void signal() override { set(); }
};

class pthread_channel final : public channel {
  public:
    void arm() override { set_ = false; }
    void wait() override
    {
        pthread_mutex_lock(&mutex_);
        while (!set_)
            pthread_cond_wait(&cond_, &mutex_);
        pthread_mutex_unlock(&mutex_);
    }
    void signal() override
    {
        pthread_mutex_lock(&mutex_);
        set_ = true;
        pthread_mutex_unlock(&mutex_);
        pthread_cond_signal(&cond_);
    }

  private:
    pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t cond_ = PTHREAD_COND_INITIALIZER;
    bool set_ = false;
};

class semaphore_channel final : public channel {
  public:
    semaphore_channel() { sem_init(&sem_, 0, 0); }
    ~semaphore_channel() override { sem_destroy(&sem_); }
    void arm() override {}
    void wait() override
    {
        while (sem_wait(&sem_) != 0)
            ;
    }
    void signal() override { sem_post(&sem_); }

  private:
    sem_t sem_;
};

class eventfd_channel final : public channel {
  public:
    eventfd_channel() : fd_(eventfd(0, EFD_CLOEXEC))
    {
        if (fd_ < 0)
            throw std::runtime_error("No file descriptor is left for an eventfd.");
    }
    ~eventfd_channel() override { close(fd_); }
    void arm() override {}
    void wait() override
    {
        std::uint64_t value;
        while (read(fd_, &value, sizeof value) < 0 && errno == EINTR)
            ;
    }
    void signal() override
    {
        const std::uint64_t one = 1;
        while (write(fd_, &one, sizeof one) < 0 && errno == EINTR)
            ;
    }

  private:
    int fd_;
};

#if PAWL_BENCH_ABSL
class absl_channel final : public channel {
  public:
    void arm() override { set_ = false; }
    void wait() override
    {
        absl::MutexLock hold(&mutex_);
        while (!set_)
            cond_.Wait(&mutex_);
    }
    void signal() override
    {
        {
            absl::MutexLock hold(&mutex_);
            set_ = true;
        }
        cond_.Signal();
    }

  private:
    absl::Mutex mutex_;
    absl::CondVar cond_;
    bool set_ = false;
};
#endif

template <class Channel> std::unique_ptr<channel> make()
{
    return std::make_unique<Channel>();
}

} // namespace

std::vector<wake_candidate> wake_candidates()
{
    std::vector<wake_candidate> all;
    const auto add = [&all](const char *name, std::unique_ptr<channel> (*design)(),
                            const std::string &why = "") {
        all.push_back({"", name, why, design, name});
    };
    add("spin", make<spin_channel>);
    add("pawl_wait", make<pawl_channel>);
    add("pawl_atomic_wait", make<pawl_atomic_channel>);
    add("futex", make<futex_channel>);
    all.back().baseline = true;
    /* The same again: a difference between these two is noise. */
    add("futex_again", make<futex_channel>);
    add("pthread_cond", make<pthread_channel>);
    add("semaphore", make<semaphore_channel>);
    add("eventfd", make<eventfd_channel>);
#if PAWL_BENCH_STD_WAIT
    add("std_atomic_wait", make_std_atomic_channel);
#else
    add("std_atomic_wait", nullptr, "build with a compiler that has C++20's std::atomic::wait");
#endif
#if PAWL_BENCH_ABSL
    add("absl_cond", make<absl_channel>);
#else
    add("absl_cond", nullptr, adapter::to_install("libabsl-dev"));
#endif
    add("nanosleep_1us", make<polling_channel<1000>>);
    add("nanosleep_1ms", make<polling_channel<1000000>>);
    return all;
}

} // namespace bench
