// SPDX-License-Identifier: MIT
//
// The guards of pawl.hpp: a state of a lock, held for a scope. Include pawl.hpp.
//
//   pawl::seek_guard seek(lock);                            take S, drop it at the end
//   pawl::write_guard write = std::move(seek).to_write();   S -> W; `seek` is now empty
//
//   pawl::read_guard read(lock);
//   if (auto seek = std::move(read).try_to_seek())          R -> S; `read` is now empty
//       ...
//   else                                                    `read` still holds R
//       ...
//
//   pawl::counted_read_guard pages(lock);                   R that another thread may drop
//
// Guards can be moved, not copied, and have just the moves that transitions.def has, so a program
// that would leave the published diagram does not compile. A guard is empty after it was moved
// from, dropped or released; an empty one can only be assigned to, destroyed, or asked.
#ifndef PAWL_PAWL_HPP
#include <pawl/pawl.hpp> // it includes this file in its middle
#elif PAWL_CXX17_ && !defined(PAWL_GUARDS_HPP)
#define PAWL_GUARDS_HPP

namespace pawl {
PAWL_INLINE_BEGIN

template <class Word> class read_guard;
template <class Word> class seek_guard;
template <class Word> class write_guard;
template <class Word> class atomic_guard;

// ---- What all guards have -----------------------------------------------------------------------

template <class Word> Word *handle_of_(basic_lock<Word> &lock)
{
    return lock.native_handle();
}
// clang-format off
inline pawl_spin16 *handle_of_(pawl_spin16 &lock) { return &lock; }
inline pawl_spin32 *handle_of_(pawl_spin32 &lock) { return &lock; }
inline pawl_spin64 *handle_of_(pawl_spin64 &lock) { return &lock; }
inline pawl_lock32 *handle_of_(pawl_lock32 &lock) { return &lock; }
inline pawl_lock64 *handle_of_(pawl_lock64 &lock) { return &lock; }
// clang-format on

template <class Lock>
using word_of_ = std::remove_pointer_t<decltype(handle_of_(std::declval<Lock &>()))>;

template <class Word, pawl_state State> PAWL_FACE_ inline void take_(Word *word)
{
    if constexpr (State == PAWL_STATE_R)
        pawl_take_read(word);
    else if constexpr (State == PAWL_STATE_S)
        pawl_take_seek(word);
    else if constexpr (State == PAWL_STATE_W)
        pawl_take_write(word);
    else
        pawl_take_atomic(word);
}

template <class Word, pawl_state State> PAWL_FACE_ inline void drop_(Word *word)
{
    if constexpr (State == PAWL_STATE_R)
        pawl_drop_read(word);
    else if constexpr (State == PAWL_STATE_S)
        pawl_drop_seek(word);
    else if constexpr (State == PAWL_STATE_W)
        pawl_drop_write(word);
    else
        pawl_drop_atomic(word);
}

// The compiler names this where a transition is called on a guard that goes on: the forms that it
// refuses return it. Write std::move(guard).to_write(), or whichever transition it is. The type
// is whole: of an incomplete one clang would say only that.
struct this_transition_uses_the_guard_up_so_write_std_move {};
#ifdef __clang__ // names no type of a deleted function
#define PAWL_NEEDS_MOVE_(transition)                                                               \
    this_transition_uses_the_guard_up_so_write_std_move transition() const &__attribute__((        \
        __unavailable__("this_transition_uses_the_guard_up_so_write_std_move")))
#else
#define PAWL_NEEDS_MOVE_(transition)                                                               \
    this_transition_uses_the_guard_up_so_write_std_move transition() const & = delete
#endif

template <class Word, pawl_state State> class hold_ {
  public:
    using word_type = Word;

    hold_(const hold_ &) = delete;
    hold_ &operator=(const hold_ &) = delete;

    [[nodiscard]] bool owns_lock() const noexcept { return word_ != nullptr; }
    explicit operator bool() const noexcept { return owns_lock(); }
    [[nodiscard]] Word *native_handle() const noexcept { return word_; }
    // The caller must drop the lock.
    [[nodiscard]] Word *release() noexcept { return std::exchange(word_, nullptr); }

  protected:
    PAWL_FACE_ explicit hold_(Word *word) noexcept : word_(word) {}
    PAWL_FACE_ hold_(hold_ &&other) noexcept : word_(other.release()) {}
    PAWL_FACE_ hold_ &operator=(hold_ &&other) noexcept
    {
        Word *const word = other.release();
        leave_();
        word_ = word;
        return *this;
    }
    PAWL_FACE_ ~hold_() { leave_(); }

    PAWL_FACE_ static Word *taken_(Word *word)
    {
        take_<Word, State>(word);
        return word;
    }
    PAWL_FACE_ void leave_() noexcept
    {
        if (word_)
            drop_<Word, State>(std::exchange(word_, nullptr));
    }
    // The guard of the state to which a successful try has led; else this one goes on.
    template <class Guard> PAWL_FACE_ std::optional<Guard> if_(bool moved) noexcept
    {
        if (!moved)
            return std::nullopt;
        return std::optional<Guard>(std::in_place, *release(), std::adopt_lock);
    }

    Word *word_;
};

// Taking and dropping, the same in each guard. Written here, not inherited, because the analysis
// looks for its attributes at the class itself.
// clang-format off
#define PAWL_GUARD_FACE_(name, state, acquire, requires)                                           \
private:                                                                                           \
    using base_ = hold_<Word, state>;                                                              \
                                                                                                   \
public:                                                                                            \
    [[nodiscard]] PAWL_FACE_ explicit name(basic_lock<Word> &lock) acquire(lock)                   \
        : base_(base_::taken_(lock.native_handle()))                                               \
    {                                                                                              \
    }                                                                                              \
    [[nodiscard]] PAWL_FACE_ explicit name(Word &lock) : base_(base_::taken_(&lock)) {}            \
    [[nodiscard]] PAWL_FACE_ name(basic_lock<Word> &lock, std::adopt_lock_t) requires(lock)        \
        : base_(lock.native_handle())                                                              \
    {                                                                                              \
    }                                                                                              \
    [[nodiscard]] PAWL_FACE_ name(Word &lock, std::adopt_lock_t) : base_(&lock) {}                 \
    PAWL_FACE_ name(name &&) noexcept = default; /* clang looks for attributes here as well */     \
    name &operator=(name &&) noexcept = default;                                                   \
    PAWL_FACE_ ~name() PAWL_TSA_RELEASE_ANY() {}                                                   \
    PAWL_FACE_ void drop() noexcept PAWL_TSA_RELEASE_ANY() { this->leave_(); }
// clang-format on

// ---- The four -----------------------------------------------------------------------------------

// A has turned into R. `kept`: the lock was never let go; else look again at what was there.
template <class Word> struct [[nodiscard]] read_after_atomic {
    read_guard<Word> guard;
    bool kept;
};

template <class Word>
class [[nodiscard]] PAWL_TSA_SCOPED_CAPABILITY read_guard : public hold_<Word, PAWL_STATE_R> {
    PAWL_GUARD_FACE_(read_guard, PAWL_STATE_R, PAWL_TSA_ACQUIRE_SHARED, PAWL_TSA_REQUIRES_SHARED)

    // When one returns nothing, this guard still holds R and must be dropped before another try.
    // The claim_ forms may wait for the other readers, the others wait for nobody.
    [[nodiscard]] PAWL_FACE_ std::optional<seek_guard<Word>> try_to_seek() &&
    {
        return this->template if_<seek_guard<Word>>(pawl_try_read_to_seek(this->word_));
    }
    [[nodiscard]] PAWL_FACE_ std::optional<write_guard<Word>> try_to_write() &&
    {
        return this->template if_<write_guard<Word>>(pawl_try_read_to_write(this->word_));
    }
    [[nodiscard]] PAWL_FACE_ std::optional<write_guard<Word>> claim_write() &&
    {
        return this->template if_<write_guard<Word>>(pawl_read_claim_write(this->word_));
    }
    [[nodiscard]] PAWL_FACE_ std::optional<atomic_guard<Word>> try_to_atomic() &&
    {
        return this->template if_<atomic_guard<Word>>(pawl_try_read_to_atomic(this->word_));
    }
    [[nodiscard]] PAWL_FACE_ std::optional<atomic_guard<Word>> claim_atomic() &&
    {
        return this->template if_<atomic_guard<Word>>(pawl_read_claim_atomic(this->word_));
    }

    PAWL_NEEDS_MOVE_(try_to_seek);
    PAWL_NEEDS_MOVE_(try_to_write);
    PAWL_NEEDS_MOVE_(claim_write);
    PAWL_NEEDS_MOVE_(try_to_atomic);
    PAWL_NEEDS_MOVE_(claim_atomic);
};

// R of lock.h that any thread may drop. A read_guard stays in its thread, since R of such a lock
// may be in an entry of that thread. This one has no moves: another thread's R cannot be upgraded.
template <class Word = pawl_lock64> class [[nodiscard]] counted_read_guard {
  public:
    template <class Lock>
    [[nodiscard]] PAWL_FACE_ explicit counted_read_guard(Lock &lock) : word_(handle_of_(lock))
    {
        pawl_take_read_counted(word_);
    }
    [[nodiscard]] PAWL_FACE_ counted_read_guard(Word &word, std::adopt_lock_t) : word_(&word) {}
    counted_read_guard(counted_read_guard &&other) noexcept : word_(other.release()) {}
    counted_read_guard &operator=(counted_read_guard &&other) noexcept
    {
        Word *const word = other.release();
        drop();
        word_ = word;
        return *this;
    }
    PAWL_FACE_ ~counted_read_guard() { drop(); }

    [[nodiscard]] bool owns_lock() const noexcept { return word_ != nullptr; }
    explicit operator bool() const noexcept { return owns_lock(); }
    // The caller must drop the lock, by drop_read_counted.
    [[nodiscard]] Word *release() noexcept { return std::exchange(word_, nullptr); }
    PAWL_FACE_ void drop() noexcept
    {
        if (word_)
            pawl_drop_read_counted(std::exchange(word_, nullptr));
    }

  private:
    Word *word_;
};
template <class Lock> counted_read_guard(Lock &) -> counted_read_guard<word_of_<Lock>>;

template <class Word>
class [[nodiscard]] PAWL_TSA_SCOPED_CAPABILITY seek_guard : public hold_<Word, PAWL_STATE_S> {
    PAWL_GUARD_FACE_(seek_guard, PAWL_STATE_S, PAWL_TSA_ACQUIRE_SHARED, PAWL_TSA_REQUIRES_SHARED)

    // Waits until the readers have left; cannot fail.
    [[nodiscard]] PAWL_FACE_ write_guard<Word> to_write() &&
    {
        pawl_seek_to_write(this->word_);
        return write_guard<Word>(*this->release(), std::adopt_lock);
    }
    // When it returns nothing, this guard still holds S. Waits for nobody.
    [[nodiscard]] PAWL_FACE_ std::optional<write_guard<Word>> try_to_write() &&
    {
        return this->template if_<write_guard<Word>>(pawl_try_seek_to_write(this->word_));
    }
    [[nodiscard]] PAWL_FACE_ read_guard<Word> to_read() &&
    {
        pawl_seek_to_read(this->word_);
        return read_guard<Word>(*this->release(), std::adopt_lock);
    }

    PAWL_NEEDS_MOVE_(to_write);
    PAWL_NEEDS_MOVE_(try_to_write);
    PAWL_NEEDS_MOVE_(to_read);
};

template <class Word>
class [[nodiscard]] PAWL_TSA_SCOPED_CAPABILITY write_guard : public hold_<Word, PAWL_STATE_W> {
    PAWL_GUARD_FACE_(write_guard, PAWL_STATE_W, PAWL_TSA_ACQUIRE, PAWL_TSA_REQUIRES)

    [[nodiscard]] PAWL_FACE_ seek_guard<Word> to_seek() &&
    {
        pawl_write_to_seek(this->word_);
        return seek_guard<Word>(*this->release(), std::adopt_lock);
    }
    [[nodiscard]] PAWL_FACE_ read_guard<Word> to_read() &&
    {
        pawl_write_to_read(this->word_);
        return read_guard<Word>(*this->release(), std::adopt_lock);
    }

    PAWL_NEEDS_MOVE_(to_seek);
    PAWL_NEEDS_MOVE_(to_read);
};

template <class Word>
class [[nodiscard]] PAWL_TSA_SCOPED_CAPABILITY atomic_guard : public hold_<Word, PAWL_STATE_A> {
    PAWL_GUARD_FACE_(atomic_guard, PAWL_STATE_A, PAWL_TSA_ACQUIRE_SHARED, PAWL_TSA_REQUIRES_SHARED)

    // Waits for the other atomic users: auto [read, kept] = std::move(atomic).to_read();
    PAWL_FACE_ read_after_atomic<Word> to_read() &&
    {
        const bool kept = pawl_atomic_to_read(this->word_) == PAWL_REGAIN_KEPT;
        return {read_guard<Word>(*this->release(), std::adopt_lock), kept};
    }

    PAWL_NEEDS_MOVE_(to_read);
};

template <class Lock, class Tag> read_guard(Lock &, Tag) -> read_guard<word_of_<Lock>>;
template <class Lock> read_guard(Lock &) -> read_guard<word_of_<Lock>>;
template <class Lock, class Tag> seek_guard(Lock &, Tag) -> seek_guard<word_of_<Lock>>;
template <class Lock> seek_guard(Lock &) -> seek_guard<word_of_<Lock>>;
template <class Lock, class Tag> write_guard(Lock &, Tag) -> write_guard<word_of_<Lock>>;
template <class Lock> write_guard(Lock &) -> write_guard<word_of_<Lock>>;
template <class Lock, class Tag> atomic_guard(Lock &, Tag) -> atomic_guard<word_of_<Lock>>;
template <class Lock> atomic_guard(Lock &) -> atomic_guard<word_of_<Lock>>;
// So that the error names it here too.
read_guard(this_transition_uses_the_guard_up_so_write_std_move) -> read_guard<pawl_spin64>;
seek_guard(this_transition_uses_the_guard_up_so_write_std_move) -> seek_guard<pawl_spin64>;
write_guard(this_transition_uses_the_guard_up_so_write_std_move) -> write_guard<pawl_spin64>;

// A guard, or nothing: if (auto write = pawl::try_write(lock)) ...
#define PAWL_TRY_(name, guard)                                                                     \
    template <class Lock>                                                                          \
    [[nodiscard]] PAWL_FACE_ inline std::optional<guard<word_of_<Lock>>> name(Lock &lock)          \
    {                                                                                              \
        if (!pawl_##name(handle_of_(lock)))                                                        \
            return std::nullopt;                                                                   \
        return std::optional<guard<word_of_<Lock>>>(std::in_place, lock, std::adopt_lock);         \
    }
PAWL_TRY_(try_read, read_guard)
PAWL_TRY_(try_seek, seek_guard)
PAWL_TRY_(try_write, write_guard)
PAWL_TRY_(claim_write, write_guard)
PAWL_TRY_(try_atomic, atomic_guard)
PAWL_TRY_(claim_atomic, atomic_guard)

// ---- Two locks at once --------------------------------------------------------------------------

// The lock at the lower address is taken first, so two threads that name them in different order
// do not wait for each other. The same lock twice is taken once.
#define PAWL_TWO_(name, state, acquire)                                                            \
    template <class Word> class [[nodiscard]] PAWL_TSA_SCOPED_CAPABILITY name {                    \
      public:                                                                                      \
        [[nodiscard]] PAWL_FACE_ name(basic_lock<Word> &a, basic_lock<Word> &b) acquire(a, b)      \
            : name(*a.native_handle(), *b.native_handle())                                         \
        {                                                                                          \
        }                                                                                          \
        [[nodiscard]] PAWL_FACE_ name(Word &a, Word &b) : a_(&a), b_(&b)                           \
        {                                                                                          \
            pawl_take_two_##state(a_, b_);                                                         \
        }                                                                                          \
        PAWL_FACE_ name(name &&other) noexcept                                                     \
            : a_(std::exchange(other.a_, nullptr)), b_(other.b_)                                   \
        {                                                                                          \
        }                                                                                          \
        name &operator=(name &&) = delete;                                                         \
        PAWL_FACE_ ~name() PAWL_TSA_RELEASE_ANY()                                                  \
        {                                                                                          \
            if (a_)                                                                                \
                pawl_drop_two_##state(a_, b_);                                                     \
        }                                                                                          \
                                                                                                   \
      private:                                                                                     \
        Word *a_, *b_;                                                                             \
    };                                                                                             \
    template <class Lock> name(Lock &, Lock &) -> name<word_of_<Lock>>;

PAWL_TWO_(two_read_guard, read, PAWL_TSA_ACQUIRE_SHARED)
PAWL_TWO_(two_seek_guard, seek, PAWL_TSA_ACQUIRE_SHARED)
PAWL_TWO_(two_write_guard, write, PAWL_TSA_ACQUIRE)

// auto both = pawl::take_two(a, b);   W on both
template <class Lock>
[[nodiscard]] PAWL_FACE_ inline two_write_guard<word_of_<Lock>> take_two(Lock &a, Lock &b)
{
    return two_write_guard<word_of_<Lock>>(a, b);
}

PAWL_INLINE_END
} // namespace pawl

#undef PAWL_NEEDS_MOVE_
#undef PAWL_GUARD_FACE_
#undef PAWL_TRY_
#undef PAWL_TWO_
#undef PAWL_FACE_

#endif
