// SPDX-License-Identifier: MIT
//
// seq.h for C++17: pawl::seqlock<T> and pawl::seqlatch<T> hold a trivially copyable value that
// readers copy. Include pawl.hpp, or this.
//
//   pawl::seqlock<route> best;
//   const route r = best.load();                    never half of one store and half of another
//   best.store(r);                                  by the lock's own spinlock
//   best.update([](route &r) { r.metric++; });      readers go on until the new value is stored
//   best.store_alone(r);                            by a writer that is alone (seq.h says when)
#ifndef PAWL_SEQ_HPP
#define PAWL_SEQ_HPP

#include <pawl/detail/cxx17.inc.h>
#if PAWL_CXX17_

#include <pawl/seq.h>

#include <new>
#include <optional>
#include <type_traits>
#include <utility>

namespace pawl {
PAWL_INLINE_BEGIN

// Room for a T that is filled by its bytes.
template <class T> class seq_room_ {
  public:
    [[nodiscard]] void *bytes() noexcept { return bytes_; }
    [[nodiscard]] T &value() noexcept { return *std::launder(reinterpret_cast<T *>(bytes_)); }

  private:
    alignas(T) unsigned char bytes_[sizeof(T)];
};

// The common parts. `Core` is pawl_seq or pawl_seq_latch, `Face` the class that derives from this.
template <class T, class Core, unsigned Copies, class Face> class seq_base_ {
    static_assert(std::is_trivially_copyable_v<T> && !std::is_const_v<T> && !std::is_volatile_v<T>,
                  "pawl::seqlock and pawl::seqlatch copy values byte by byte: T must be trivially "
                  "copyable, and neither const nor volatile.");

  public:
    using value_type = T;

    seq_base_(const seq_base_ &) = delete;
    seq_base_ &operator=(const seq_base_ &) = delete;

    // Stores under the own lock. Not in signal handlers.
    PAWL_ALWAYS_INLINE_ void store(const T &value) noexcept
    {
        take_();
        face_().store_alone(value);
        drop_();
    }
    // Stores if no other thread has the own lock; never waits.
    [[nodiscard]] PAWL_ALWAYS_INLINE_ bool try_store(const T &value) noexcept
    {
        if (!try_take_())
            return false;
        face_().store_alone(value);
        drop_();
        return true;
    }
    // Calls change(T &) on a copy under the own lock, then stores the copy. If change throws, it
    // stores nothing. Returns the result of change.
    template <class Change> PAWL_ALWAYS_INLINE_ auto update(Change &&change)
    {
        struct holder {
            ~holder() { self->drop_(); }
            seq_base_ *self;
        };
        take_();
        const holder hold{this};
        T value = face_().load();
        if constexpr (std::is_void_v<decltype(change(value))>) {
            std::forward<Change>(change)(value);
            face_().store_alone(value);
        } else {
            auto result = std::forward<Change>(change)(value);
            face_().store_alone(value);
            return result;
        }
    }

    // For the functions of seq.h.
    [[nodiscard]] Core *native_handle() noexcept { return &core_; }
    [[nodiscard]] const pawl_seq_word *words() const noexcept { return words_; }

  protected:
    // The value is zero bytes. Usable before main.
    constexpr seq_base_() noexcept = default;
#if PAWL_CHECKED
    PAWL_ALWAYS_INLINE_ ~seq_base_()
    {
        if constexpr (std::is_same_v<Core, pawl_seq>)
            pawl_seq_destroy(&core_);
        else
            pawl_seq_latch_destroy(&core_);
    }
#else
    ~seq_base_() = default;
#endif

    Face &face_() noexcept { return static_cast<Face &>(*this); }
    PAWL_ALWAYS_INLINE_ void take_() noexcept
    {
        if constexpr (std::is_same_v<Core, pawl_seq>)
            pawl_seq_take_write(&core_);
        else
            pawl_seq_latch_take_write(&core_);
    }
    PAWL_ALWAYS_INLINE_ bool try_take_() noexcept
    {
        if constexpr (std::is_same_v<Core, pawl_seq>)
            return pawl_seq_try_write(&core_);
        else
            return pawl_seq_latch_try_write(&core_);
    }
    PAWL_ALWAYS_INLINE_ void drop_() noexcept
    {
        if constexpr (std::is_same_v<Core, pawl_seq>)
            pawl_seq_drop_write(&core_);
        else
            pawl_seq_latch_drop_write(&core_);
    }

    static constexpr std::size_t words_each_ = PAWL_SEQ_WORDS(sizeof(T));
    Core core_ = {};
    pawl_seq_word words_[Copies * words_each_] = {};
};

template <class T> class seqlock : public seq_base_<T, pawl_seq, 1, seqlock<T>> {
  public:
    constexpr seqlock() noexcept = default;
    explicit seqlock(const T &first) noexcept { this->store(first); }

    // Waits while a store is under way. Not in signal handlers.
    [[nodiscard]] PAWL_ALWAYS_INLINE_ T load() const noexcept
    {
        seq_room_<T> room;
        pawl_seq_word begun;
        do {
            begun = pawl_seq_begin(&this->core_);
            pawl_seq_copy_out(room.bytes(), this->words_, sizeof(T));
        } while (pawl_seq_retry(&this->core_, begun));
        return room.value();
    }
    // One attempt, which never waits; allowed in signal handlers.
    [[nodiscard]] PAWL_ALWAYS_INLINE_ std::optional<T> try_load() const noexcept
    {
        seq_room_<T> room;
        pawl_seq_word begun;
        if (!pawl_seq_try_begin(&this->core_, &begun))
            return std::nullopt;
        pawl_seq_copy_out(room.bytes(), this->words_, sizeof(T));
        if (pawl_seq_retry(&this->core_, begun))
            return std::nullopt;
        return room.value();
    }
    // After so many retries the reader takes the own lock and holds writers back. Not in handlers.
    [[nodiscard]] PAWL_ALWAYS_INLINE_ T load_or_lock(unsigned retries) noexcept
    {
        seq_room_<T> room;
        pawl_seq_reader reader = PAWL_SEQ_READER(retries);
        do {
            pawl_seq_begin_or_lock(&this->core_, &reader);
            pawl_seq_copy_out(room.bytes(), this->words_, sizeof(T));
        } while (pawl_seq_retry_or_unlock(&this->core_, &reader));
        return room.value();
    }
    // The caller makes sure that no other thread stores.
    PAWL_ALWAYS_INLINE_ void store_alone(const T &value) noexcept
    {
        pawl_seq_begin_write(&this->core_);
        pawl_seq_copy_in(this->words_, &value, sizeof(T));
        pawl_seq_end_write(&this->core_);
    }
    PAWL_ALWAYS_INLINE_ void declare_writer() noexcept { pawl_seq_declare_writer(&this->core_); }
};

template <class T> class seqlatch : public seq_base_<T, pawl_seq_latch, 2, seqlatch<T>> {
  public:
    constexpr seqlatch() noexcept = default;
    explicit seqlatch(const T &first) noexcept { this->store(first); }

    // Never waits for a store that stands still; allowed in signal handlers.
    [[nodiscard]] PAWL_ALWAYS_INLINE_ T load() const noexcept
    {
        seq_room_<T> room;
        pawl_seq_word begun;
        do {
            begun = pawl_seq_latch_begin(&this->core_);
            pawl_seq_copy_out(room.bytes(), this->words_ + PAWL_SEQ_COPY(begun) * this->words_each_,
                              sizeof(T));
        } while (pawl_seq_latch_retry(&this->core_, begun));
        return room.value();
    }
    // The caller makes sure that no other thread stores.
    PAWL_ALWAYS_INLINE_ void store_alone(const T &value) noexcept
    {
        pawl_seq_latch_store(&this->core_, this->words_, &value, sizeof(T));
    }
    PAWL_ALWAYS_INLINE_ void declare_writer() noexcept
    {
        pawl_seq_latch_declare_writer(&this->core_);
    }
};

PAWL_INLINE_END
} // namespace pawl

#endif
#endif
