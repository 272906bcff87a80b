// SPDX-License-Identifier: MIT
//
// Big reference counts (bigref.h) for C++17.
//
//   pawl::big_ref      the count, embedded in an object that threads share; calls a function or a
//                      lambda without captures when the last reference after kill() is dropped
//   pawl::big_ref_ptr  one reference as an object: moves, drops when it ends
//
// No logic of its own; the contracts are in bigref.h. The destructor gives cells back and checks
// nothing: to destroy an object that is still referenced is the program's mistake.
#ifndef PAWL_BIGREF_HPP
#define PAWL_BIGREF_HPP

#include <pawl/detail/cxx17.inc.h>
#if PAWL_CXX17_

#include <pawl/bigref.h>

#include <cstdint>
#include <utility>

namespace pawl {
inline namespace PAWL_NAMESPACE_ {

class big_ref {
  public:
    // A count of one, the creator's.
    constexpr explicit big_ref(pawl_bigref_release *release = nullptr, void *arg = nullptr) noexcept
        : r_ PAWL_BIGREF_INIT(release, arg)
    {
    }
    ~big_ref() { pawl_bigref_destroy(&r_); }
    big_ref(const big_ref &) = delete;
    big_ref &operator=(const big_ref &) = delete;

    void get() noexcept { pawl_bigref_get(&r_); }
    [[nodiscard]] bool try_get() noexcept { return pawl_bigref_try_get(&r_); }
    void drop() { pawl_bigref_drop(&r_); }
    bool kill() { return pawl_bigref_kill(&r_); }
    bool revive() noexcept { return pawl_bigref_revive(&r_); }
    [[nodiscard]] std::int64_t read() const noexcept { return pawl_bigref_read(&r_); }

  private:
    pawl_bigref r_;
};

class big_ref_ptr {
  public:
    constexpr big_ref_ptr() noexcept = default;
    // One more reference; the thread that passes the count holds one itself.
    explicit big_ref_ptr(big_ref &count) noexcept : count_(&count) { count.get(); }
    big_ref_ptr(big_ref_ptr &&other) noexcept : count_(std::exchange(other.count_, nullptr)) {}
    big_ref_ptr &operator=(big_ref_ptr &&other) noexcept
    {
        big_ref_ptr taken(std::move(other));
        taken.swap(*this);
        return *this;
    }
    ~big_ref_ptr() { reset(); }

    // Empty if the count has become zero already.
    [[nodiscard]] static big_ref_ptr try_get(big_ref &count) noexcept
    {
        big_ref_ptr got;
        if (count.try_get())
            got.count_ = &count;
        return got;
    }
    // Takes over a reference that is already counted, for instance the creator's.
    [[nodiscard]] static big_ref_ptr adopt(big_ref &count) noexcept
    {
        big_ref_ptr got;
        got.count_ = &count;
        return got;
    }
    void reset()
    {
        if (big_ref *count = std::exchange(count_, nullptr))
            count->drop();
    }
    void swap(big_ref_ptr &other) noexcept { std::swap(count_, other.count_); }
    explicit operator bool() const noexcept { return count_ != nullptr; }

  private:
    big_ref *count_ = nullptr;
};

} // namespace PAWL_NAMESPACE_
} // namespace pawl

#endif
#endif
