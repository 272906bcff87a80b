// SPDX-License-Identifier: MIT
//
// Data inside its lock, as folly::Synchronized and Rust's RwLock have it: no way leads to the data
// but through a guard. Include pawl.hpp, or this.
//
//   pawl::guarded<std::map<int, route>> routes;
//
//   const auto read = routes.read();                    R; read->find(3), *read
//   routes.write()->clear();                            W until the end of the statement
//
//   auto seek = routes.upgrade();                       S: reads beside readers
//   if (seek->count(3) == 0) {
//       const auto write = std::move(seek).to_write();  S -> W; `seek` is now empty
//       write->emplace(3, route());
//   }
//
// Its moves are those of the guards (guards.hpp), and so are its rules. References to the data must
// not outlive the guard; so there is none of a guard that has no name.
#ifndef PAWL_GUARDED_HPP
#define PAWL_GUARDED_HPP

#include <pawl/pawl.hpp>
#if PAWL_CXX17_

// Inlined always, so that the checking variant's call sites are the user's.
#define PAWL_GUARDED_ PAWL_ALWAYS_INLINE_ PAWL_TSA_NOT_CHECKED

namespace pawl {
PAWL_INLINE_BEGIN

template <class T, class Word> class guarded;

// The data as long as the guard holds its mode. Only W may change it.
template <class T, class Guard> class [[nodiscard]] guarded_access {
    using word_ = typename Guard::word_type;
    static constexpr bool writes_ = std::is_same_v<Guard, write_guard<word_>>;
    using seen_ = std::conditional_t<writes_, T, const T>;

  public:
    [[nodiscard]] seen_ *operator->() const noexcept { return value_; }
    [[nodiscard]] seen_ &operator*() const & noexcept { return *value_; }
    seen_ &operator*() const && = delete; // it would be used after the drop

    [[nodiscard]] explicit operator bool() const noexcept { return guard_.owns_lock(); }
    PAWL_GUARDED_ void drop() noexcept { guard_.drop(); }

    // S -> W, S or W -> R, W -> S: they wait as those of the guards do.
    [[nodiscard]] PAWL_GUARDED_ auto to_write() && { return other_(std::move(guard_).to_write()); }
    [[nodiscard]] PAWL_GUARDED_ auto to_read() && { return other_(std::move(guard_).to_read()); }
    [[nodiscard]] PAWL_GUARDED_ auto to_seek() && { return other_(std::move(guard_).to_seek()); }
    // R or S -> W: nothing if it would have to wait; this one then goes on.
    [[nodiscard]] PAWL_GUARDED_ std::optional<guarded_access<T, write_guard<word_>>>
    try_to_write() &&
    {
        auto write = std::move(guard_).try_to_write();
        if (!write)
            return std::nullopt;
        return other_(std::move(*write));
    }

  private:
    template <class, class> friend class guarded;
    template <class, class> friend class guarded_access;
    guarded_access(T *value, Guard guard) noexcept : value_(value), guard_(std::move(guard)) {}
    template <class Other> guarded_access<T, Other> other_(Other guard) noexcept
    {
        return guarded_access<T, Other>(value_, std::move(guard));
    }

    T *value_;
    Guard guard_;
};

// `Word` is one of pawl_spin16/32/64 and pawl_lock32/64.
template <class T, class Word = pawl_lock64> class guarded {
  public:
    guarded() = default;
    template <class... Arguments>
    explicit guarded(std::in_place_t, Arguments &&...arguments)
        : value_(std::forward<Arguments>(arguments)...)
    {
    }
    explicit guarded(T value) : value_(std::move(value)) {}
    guarded(const guarded &) = delete;
    guarded &operator=(const guarded &) = delete;

    PAWL_GUARDED_ guarded_access<T, read_guard<Word>> read()
    {
        return {&value_, read_guard<Word>(lock_)};
    }
    PAWL_GUARDED_ guarded_access<const T, read_guard<Word>> read() const
    {
        return {&value_, read_guard<Word>(lock_)};
    }
    PAWL_GUARDED_ guarded_access<T, write_guard<Word>> write()
    {
        return {&value_, write_guard<Word>(lock_)};
    }
    PAWL_GUARDED_ guarded_access<T, seek_guard<Word>> upgrade()
    {
        return {&value_, seek_guard<Word>(lock_)};
    }

  private:
    T value_{};
    mutable basic_lock<Word> lock_;
};

#undef PAWL_GUARDED_

PAWL_INLINE_END
} // namespace pawl

#endif
#endif
