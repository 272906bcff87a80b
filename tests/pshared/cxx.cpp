// SPDX-License-Identifier: MIT
// Locks in shared memory under the names of C++: the standard library's guards and ours.
#include <gtest/gtest.h>
#include <pawl/pshared.hpp>

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <mutex>
#include <shared_mutex>
#include <thread>

namespace {

using namespace std::chrono_literals;

// A value of T in zeroed memory that children share. Nobody constructs it.
template <class T> class Shared {
  public:
    Shared()
        : at_(mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))
    {
    }
    ~Shared() { munmap(at_, sizeof(T)); }
    T &operator*() { return *static_cast<T *>(at_); }
    T *operator->() { return static_cast<T *>(at_); }

  private:
    void *at_;
};

template <class Body> int in_child(Body body)
{
    const pid_t child = fork();
    if (child == 0)
        _exit(body() ? 0 : 1);
    int status = -1;
    waitpid(child, &status, 0);
    return status;
}

template <class Lock> class SharedMemoryLock : public testing::Test {
  protected:
    Shared<Lock> lock;
    bool is_free() { return lock->native_handle()->word >> 2 == 0; }
};

using Locks = testing::Types<pawl::pshared_lock32, pawl::pshared_lock64>;
TYPED_TEST_SUITE(SharedMemoryLock, Locks, );

TYPED_TEST(SharedMemoryLock, works_with_the_guards_of_the_standard_library)
{
    {
        const std::lock_guard<TypeParam> guard(*this->lock);
        EXPECT_FALSE(this->lock->try_lock_shared());
    }
    {
        const std::shared_lock<TypeParam> guard(*this->lock);
        EXPECT_FALSE(this->lock->try_lock());
    }
    {
        std::unique_lock<TypeParam> guard(*this->lock, 10ms);
        EXPECT_TRUE(guard.owns_lock());
        std::shared_lock<TypeParam> other(*this->lock, std::chrono::steady_clock::now() + 1ms);
        EXPECT_FALSE(other.owns_lock());
    }
    EXPECT_TRUE(this->is_free());
}

TYPED_TEST(SharedMemoryLock, a_deadline_of_any_clock_is_kept)
{
    this->lock->lock();
    EXPECT_FALSE(this->lock->try_lock_until(std::chrono::system_clock::now() + 2ms));
    EXPECT_FALSE(this->lock->try_lock_until(std::chrono::steady_clock::now() + 2ms));
    EXPECT_FALSE(this->lock->try_lock_shared_for(2ms));
    EXPECT_FALSE(this->lock->try_lock_upgrade_for(-1h));
    EXPECT_FALSE(this->lock->try_lock_atomic_until(std::chrono::system_clock::time_point::min()));
    this->lock->unlock();
    EXPECT_TRUE(this->lock->try_lock_until(std::chrono::steady_clock::time_point::max()));
    this->lock->unlock();
    EXPECT_TRUE(this->is_free());
}

TYPED_TEST(SharedMemoryLock, a_seeker_keeps_s_when_its_upgrade_is_late)
{
    this->lock->lock_shared();
    this->lock->lock_upgrade();
    EXPECT_FALSE(
        this->lock->try_unlock_upgrade_and_lock_until(std::chrono::steady_clock::now() + 1ms));
    this->lock->unlock_shared();
    this->lock->unlock_upgrade_and_lock();
    this->lock->unlock();
    EXPECT_TRUE(this->is_free());
}

TYPED_TEST(SharedMemoryLock, the_guards_hold_it_and_move)
{
    {
        pawl::seek_guard seek(*this->lock);
        const auto write = std::move(seek).to_write();
        EXPECT_TRUE(write);
        EXPECT_FALSE(this->lock->try_lock_shared());
    }
    {
        pawl::read_guard read(*this->lock->native_handle()); // the plain structure, as C has it
        auto write = std::move(read).try_to_write();
        EXPECT_TRUE(write);
    }
    EXPECT_TRUE(pawl::try_write(*this->lock));
    EXPECT_TRUE(this->is_free());
}

TYPED_TEST(SharedMemoryLock, excludes_across_fork)
{
    this->lock->lock();
    EXPECT_EQ(0, in_child([&] { return !this->lock->try_lock_shared(); }));
    // ThreadSanitizer calls it a leak in the child if the thread is over at the fork.
    std::atomic<bool> joins{false};
    std::thread later([&] {
        std::this_thread::sleep_for(5ms);
        this->lock->unlock();
        while (!joins)
            std::this_thread::yield();
    });
    EXPECT_EQ(0, in_child([&] {
                  this->lock->lock_shared();
                  this->lock->unlock_shared();
                  return true;
              }));
    joins = true;
    later.join();
    EXPECT_TRUE(this->is_free());
}

TEST(RobustGuard, tells_of_a_death_and_takes_the_repair)
{
    Shared<pawl_robust_lock> lock;
    ASSERT_EQ(PAWL_ROBUST_OK, pawl_robust_lock_init(&*lock));
    {
        pawl::robust_read_guard read(*lock);
        EXPECT_TRUE(read);
        EXPECT_FALSE(read.owner_died());
    }
    const int status = in_child([&] {
        const pawl::robust_write_guard write(*lock);
        raise(SIGKILL);
        return false;
    });
    EXPECT_TRUE(WIFSIGNALED(status));
    {
        pawl::robust_seek_guard seek(*lock);
        EXPECT_TRUE(seek.owner_died());
        EXPECT_EQ(PAWL_ROBUST_OK, seek.mark_consistent());
    }
    const pawl::robust_atomic_guard atomic(*lock);
    EXPECT_EQ(PAWL_ROBUST_OK, atomic.how());
}

TEST(RobustGuard, holds_nothing_when_the_lock_is_no_lock)
{
    Shared<pawl_robust_lock> zeros;
    const pawl::robust_write_guard guard(*zeros);
    EXPECT_FALSE(guard);
    EXPECT_EQ(PAWL_ROBUST_CORRUPT, guard.how());
}

} // namespace
