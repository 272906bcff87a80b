// SPDX-License-Identifier: MIT
// What clang's -Wthread-safety lets pass (case 0) and what it refuses. CheckRefusal.cmake;
// the analysis heeds its flag on the command line only, so that is where it is.
#include <pawl/pawl.hpp>

#include <utility>

class account {
  public:
    long read_guarded() const
    {
        const pawl::read_guard guard(lock_);
        return balance_;
    }
    long seek_guarded() const
    {
        const pawl::seek_guard guard(lock_);
        return balance_;
    }
    void write_guarded(long amount)
    {
        const pawl::write_guard guard(lock_);
        balance_ += amount;
    }
    void dropped_early(long amount)
    {
        pawl::write_guard guard(lock_);
        balance_ += amount;
        guard.drop();
    }
    void by_hand(long amount)
    {
        lock_.lock();
        balance_ += amount;
        lock_.unlock_and_lock_shared();
        (void)balance_;
        lock_.unlock_shared();
    }
    void tried(long amount)
    {
        if (lock_.try_lock()) {
            balance_ += amount;
            lock_.unlock();
        }
    }
    void seek_then_write(long amount)
    {
        lock_.lock_upgrade();
        if (balance_ > 0) {
            lock_.unlock_upgrade_and_lock();
            balance_ += amount;
            lock_.unlock_and_lock_upgrade();
        }
        lock_.unlock_upgrade();
    }
    static void transfer(account &from, account &to, long amount)
    {
        const pawl::two_write_guard both(from.lock_, to.lock_);
        from.balance_ -= amount;
        to.balance_ += amount;
    }
    void adopted(long amount)
    {
        lock_.lock();
        const pawl::write_guard guard(lock_, std::adopt_lock);
        balance_ += amount;
    }
    void add(long amount) PAWL_TSA_REQUIRES(lock_) { balance_ += amount; }
    void calls_with_the_lock(long amount)
    {
        const pawl::write_guard guard(lock_);
        add(amount);
    }
    void asserted(long amount)
    {
        lock_.assert_held_write();
        balance_ += amount;
    }

    void moves_between_guards(account &other) // followed only so far as not to complain
    {
        pawl::seek_guard seek(lock_);
        if (balance_ > 0) {
            pawl::write_guard write = std::move(seek).to_write();
            const pawl::read_guard read = std::move(write).to_read();
        }
        const auto both = pawl::take_two(other.lock_, other.lock_);
    }
    void moves_and_writes(account &other) PAWL_TSA_NOT_CHECKED
    {
        pawl::seek_guard seek(other.lock_);
        const pawl::write_guard write = std::move(seek).to_write();
        other.balance_++;
    }

    void refused(long amount)
    {
        (void)amount;
#if CASE == 1
        balance_ += amount; // expect: requires holding progressive lock .lock_. exclusively
#elif CASE == 2
        const pawl::read_guard guard(lock_);
        balance_ += amount; // expect: requires holding progressive lock .lock_. exclusively
#elif CASE == 3
        const pawl::seek_guard guard(lock_);
        balance_ += amount; // expect: requires holding progressive lock .lock_. exclusively
#elif CASE == 4
        const pawl::atomic_guard guard(lock_);
        balance_ += amount; // expect: requires holding progressive lock .lock_. exclusively
#elif CASE == 5
        lock_.lock();
        balance_ += amount;
    } // expect: (progressive lock|mutex) .lock_. is still held at the end of function
    void the_rest()
    {
#elif CASE == 6
        lock_.unlock(); // expect: releasing (progressive lock|mutex) .lock_. that was not held
#elif CASE == 7
        lock_.lock_shared();
        lock_.unlock(); // expect: releasing (progressive lock|mutex) .lock_. using exclusive access
#elif CASE == 8
        const pawl::write_guard one(lock_);
        const pawl::write_guard two(lock_); // expect: acquiring progressive lock .lock_. that
#elif CASE == 9
        pawl::write_guard guard(lock_);
        guard.drop();
        balance_ += amount; // expect: requires holding progressive lock .lock_. exclusively
#elif CASE == 10
        lock_.lock_upgrade();
        balance_ += amount; // expect: requires holding progressive lock .lock_. exclusively
        lock_.unlock_upgrade();
#elif CASE == 11
        lock_.lock();
        lock_.unlock_and_lock_shared();
        balance_ += amount; // expect: requires holding progressive lock .lock_. exclusively
        lock_.unlock_shared();
#elif CASE == 12
        add(amount); // expect: calling .* requires holding progressive lock .lock_. exclusively
#elif CASE == 13
        if (!lock_.try_lock())
            balance_ += amount; // expect: requires holding progressive lock .lock_. exclusively
        else
            lock_.unlock();
#elif CASE == 14
        account other;
        const pawl::two_read_guard both(lock_, other.lock_);
        other.balance_ = amount; // expect: requires holding progressive lock .other.lock_.
#endif
    }

  private:
    mutable pawl::spin_lock lock_;
    long balance_ PAWL_TSA_GUARDED_BY(lock_) = 0;
};

int main()
{
    account one, two;
    one.write_guarded(1);
    account::transfer(one, two, 1);
    return static_cast<int>(one.read_guarded() + two.seek_guarded()) - 1;
}
