// SPDX-License-Identifier: MIT
//
// Requests of event loops for C++17, and awaiters for C++20's coroutines, over notice.h, where the
// contracts are. No thread is made, and none sleeps but in the program's own loop.
//
//   pawl::granted_guard<State>      what a request was granted; any thread may have and drop it
//   pawl::notices queue(eventfd)    the coroutines that wait, of one event loop
//   co_await queue.changed(&a, old)                until a holds another value, which it returns
//   auto g = co_await queue.write(lock);           also read, seek, atomic: a granted_guard
//   queue.run()                     after a read of the eventfd: the coroutines whose wait is over
//
// run resumes them itself, or hands each to the executor that the queue was made with. They may go
// on in other threads, and await there, beside a run. A coroutine that waits may be destroyed: that
// cancels, and drops what it was granted meanwhile. The queue outlives the waits. A wait throws
// std::system_error where the descriptor was closed.
#ifndef PAWL_NOTICE_HPP
#define PAWL_NOTICE_HPP

#include <pawl/detail/cxx17.inc.h>
#if PAWL_CXX17_

#include <pawl/notice.h>
#include <pawl/pawl.hpp>
#include <pawl/rcu.hpp>
#include <pawl/wait.hpp>

#if defined(__cpp_impl_coroutine)
#include <coroutine>
#endif

namespace pawl {
PAWL_INLINE_BEGIN

template <pawl_state State> class [[nodiscard]] granted_guard {
  public:
    granted_guard() noexcept = default;
    granted_guard(pawl_lock64 &word, std::adopt_lock_t) noexcept : word_(&word) {}
    granted_guard(granted_guard &&other) noexcept : word_(other.release()) {}
    granted_guard &operator=(granted_guard &&other) noexcept
    {
        pawl_lock64 *const word = other.release();
        drop();
        word_ = word;
        return *this;
    }
    ~granted_guard() { drop(); }

    [[nodiscard]] bool owns_lock() const noexcept { return word_ != nullptr; }
    explicit operator bool() const noexcept { return owns_lock(); }
    // The caller must drop the lock, by pawl_notice_drop64.
    [[nodiscard]] pawl_lock64 *release() noexcept { return std::exchange(word_, nullptr); }
    void drop() noexcept
    {
        if (word_)
            pawl_notice_drop64(release(), State);
    }

  private:
    pawl_lock64 *word_ = nullptr;
};

#if defined(__cpp_impl_coroutine)

class notices {
    class wait_;

  public:
    // Hands a coroutine on that can be resumed. It may run on the thread of run, or elsewhere.
    using executor = void (*)(void *to, std::coroutine_handle<> ready);

    // Throws std::system_error where the descriptor does not serve (pawl_notice_init).
    explicit notices(int descriptor, executor post = resume_, void *to = nullptr)
        : descriptor_(descriptor), post_(post), to_(to)
    {
        pawl_notice probe;
        if (const int failed = pawl_notice_init(&probe, descriptor))
            rcu_throw_(failed, "pawl::notices");
    }
    notices(const notices &) = delete;
    notices &operator=(const notices &) = delete;

    void run()
    {
        {
            const write_guard<pawl_lock32> latch(latch_);
            for (wait_ *w = pending_, *next; w != nullptr; w = next) {
                next = w->next_;
                if (!w->goes_on_()) {
                    w->unlink_();
                    w->link_(ready_);
                }
            }
        }
        while (const std::coroutine_handle<> ready = next_ready_())
            post_(to_, ready);
    }

    // Waits as atomic_wait does, for a std::atomic or, as there, for an object.
    template <class A> [[nodiscard]] auto changed(const A *a, held_<A> old)
    {
        return changed_<A>(*this, a, old);
    }
    template <class Lock> [[nodiscard]] auto read(Lock &l) { return lock_<PAWL_STATE_R>(*this, l); }
    template <class Lock> [[nodiscard]] auto seek(Lock &l) { return lock_<PAWL_STATE_S>(*this, l); }
    template <class Lock> [[nodiscard]] auto write(Lock &l)
    {
        return lock_<PAWL_STATE_W>(*this, l);
    }
    template <class Lock> [[nodiscard]] auto atomic(Lock &l)
    {
        return lock_<PAWL_STATE_A>(*this, l);
    }

  private:
    // An awaiter, in one of the queue's two lists while its coroutine is suspended.
    class wait_ {
      public:
        explicit wait_(notices &queue) : queue_(queue)
        {
            if (const int failed = pawl_notice_init(&request_, queue.descriptor_))
                rcu_throw_(failed, "pawl::notices");
        }
        wait_(const wait_ &) = delete;
        wait_ &operator=(const wait_ &) = delete;

        [[nodiscard]] bool await_ready() const noexcept { return false; }
        // Once the latch is dropped, another thread may have resumed the coroutine.
        bool await_suspend(std::coroutine_handle<> waiter)
        {
            const write_guard<pawl_lock32> latch(queue_.latch_);
            if (!is_pending_())
                return false;
            waiter_ = waiter;
            link_(queue_.pending_);
            return true;
        }

      protected:
        ~wait_() = default;
        // The derived class is still whole.
        void leave_()
        {
            const write_guard<pawl_lock32> latch(queue_.latch_);
            if (place_ != nullptr)
                unlink_();
            pawl_notice_cancel(&request_);
        }
        // Asks; false: the wait is over.
        virtual bool is_pending_() = 0;
        virtual bool goes_on_() = 0;

        pawl_notice request_;

      private:
        friend notices;
        void link_(wait_ *&list)
        {
            next_ = list;
            place_ = &list;
            if (next_ != nullptr)
                next_->place_ = &next_;
            list = this;
        }
        void unlink_()
        {
            *place_ = next_;
            if (next_ != nullptr)
                next_->place_ = place_;
            place_ = nullptr;
        }

        notices &queue_;
        wait_ *next_ = nullptr, **place_ = nullptr;
        std::coroutine_handle<> waiter_;
    };

    template <class A> class changed_ final : public wait_ {
      public:
        changed_(notices &queue, const A *a, held_<A> old) : wait_(queue), a_(a), old_(old) {}
        ~changed_() { this->leave_(); }
        held_<A> await_resume() const noexcept { return load_(a_, std::memory_order_seq_cst); }

      private:
        bool is_pending_() override
        {
            typename wait_word_<sizeof old_>::word old, now;
            std::memcpy(&old, &old_, sizeof old);
            for (;;) {
                const held_<A> value = load_(a_, std::memory_order_seq_cst);
                std::memcpy(&now, &value, sizeof now);
                const pawl_watch watch = {a_, old, UINT64_MAX >> (64 - 8 * sizeof old),
                                          8 * sizeof old};
                if (now != old)
                    return false;
                if (pawl_notice_watch(&this->request_, &watch) == PAWL_NOTICE_PENDING)
                    return true;
            }
        }
        bool goes_on_() override
        {
            return pawl_notice_go_on(&this->request_) == PAWL_NOTICE_PENDING || is_pending_();
        }

        const A *a_;
        held_<A> old_;
    };

    template <pawl_state State> class lock_ final : public wait_ {
      public:
        template <class Lock> lock_(notices &queue, Lock &l) : wait_(queue), word_(*handle_of_(l))
        {
        }
        ~lock_() { this->leave_(); }
        granted_guard<State> await_resume() noexcept { return std::move(guard_); }

      private:
        bool is_pending_() override
        {
            return is_so_(pawl_notice_lock64(&this->request_, &word_, State));
        }
        bool goes_on_() override { return is_so_(pawl_notice_go_on(&this->request_)); }
        bool is_so_(pawl_noticed how)
        {
            if (how == PAWL_NOTICE_READY)
                guard_ = granted_guard<State>(word_, std::adopt_lock);
            return how == PAWL_NOTICE_PENDING;
        }

        pawl_lock64 &word_;
        granted_guard<State> guard_;
    };

    static void resume_(void *, std::coroutine_handle<> ready) { ready.resume(); }
    std::coroutine_handle<> next_ready_()
    {
        const write_guard<pawl_lock32> latch(latch_);
        wait_ *const w = ready_;
        if (w == nullptr)
            return nullptr;
        w->unlink_();
        return w->waiter_;
    }

    int descriptor_;
    executor post_;
    void *to_;
    pawl_lock32 latch_ = PAWL_LOCK32_INIT; // of the lists
    wait_ *pending_ = nullptr, *ready_ = nullptr;
};

#endif

PAWL_INLINE_END
} // namespace pawl

#endif
#endif
