// SPDX-License-Identifier: MIT
//
// The counters of counter.h for C++17, as objects that give their cells back when they end. No
// logic of its own: every function is one call of counter.h, where the contracts are.
//
//   pawl::counter         ++ -- += -= read()           statistics; read may be fuzzy
//   pawl::cpu_counter     the same, cells per CPU
//   pawl::counter_exact   ++ -- += -= read()           read is exact
//   pawl::counter_limit   try_add sub set_limit read   never beyond its limit
//
// All are constant-initialised, so one at namespace scope counts from the first constructor on.
// They neither copy nor move. No thread may use one while it is destroyed. ++ returns nothing,
// because the value after it is not known without a read.
#ifndef PAWL_COUNTER_HPP
#define PAWL_COUNTER_HPP

#include <pawl/detail/cxx17.inc.h>
#if PAWL_CXX17_

#include <pawl/counter.h>

#include <cstdint>

namespace pawl {
inline namespace PAWL_NAMESPACE_ {

class counter {
  public:
    constexpr counter() noexcept : c_ PAWL_COUNTER_INIT {}
    ~counter() { (void)pawl_counter_destroy(&c_); }
    counter(const counter &) = delete;
    counter &operator=(const counter &) = delete;

    void operator++() noexcept { pawl_counter_inc(&c_); }
    void operator++(int) noexcept { pawl_counter_inc(&c_); }
    void operator--() noexcept { pawl_counter_dec(&c_); }
    void operator--(int) noexcept { pawl_counter_dec(&c_); }
    void operator+=(std::int64_t n) noexcept { pawl_counter_add(&c_, n); }
    void operator-=(std::int64_t n) noexcept { pawl_counter_sub(&c_, n); }
    // For signal handlers, and wherever a handler that counts here too may interrupt the add.
    void add_in_handler(std::int64_t n) noexcept { pawl_counter_add_in_handler(&c_, n); }
    [[nodiscard]] std::int64_t read() const noexcept { return pawl_counter_read(&c_); }

  private:
    pawl_counter c_;
};

class cpu_counter {
  public:
    constexpr cpu_counter() noexcept : c_ PAWL_CPU_COUNTER_INIT {}
    ~cpu_counter() { (void)pawl_cpu_counter_destroy(&c_); }
    cpu_counter(const cpu_counter &) = delete;
    cpu_counter &operator=(const cpu_counter &) = delete;

    void operator++() noexcept { pawl_cpu_counter_inc(&c_); }
    void operator++(int) noexcept { pawl_cpu_counter_inc(&c_); }
    void operator--() noexcept { pawl_cpu_counter_dec(&c_); }
    void operator--(int) noexcept { pawl_cpu_counter_dec(&c_); }
    void operator+=(std::int64_t n) noexcept { pawl_cpu_counter_add(&c_, n); }
    void operator-=(std::int64_t n) noexcept { pawl_cpu_counter_sub(&c_, n); }
    [[nodiscard]] std::int64_t read() const noexcept { return pawl_cpu_counter_read(&c_); }

  private:
    pawl_cpu_counter c_;
};

class counter_exact {
  public:
    constexpr explicit counter_exact(pawl_exact_mode mode = PAWL_EXACT_FOLD) noexcept
        : c_ PAWL_COUNTER_EXACT_INIT_MODE(static_cast<std::uint32_t>(mode))
    {
    }
    ~counter_exact() { (void)pawl_counter_exact_destroy(&c_); }
    counter_exact(const counter_exact &) = delete;
    counter_exact &operator=(const counter_exact &) = delete;

    void operator++() noexcept { pawl_counter_exact_add(&c_, 1); }
    void operator++(int) noexcept { pawl_counter_exact_add(&c_, 1); }
    void operator--() noexcept { pawl_counter_exact_sub(&c_, 1); }
    void operator--(int) noexcept { pawl_counter_exact_sub(&c_, 1); }
    void operator+=(std::int64_t n) noexcept { pawl_counter_exact_add(&c_, n); }
    void operator-=(std::int64_t n) noexcept { pawl_counter_exact_sub(&c_, n); }
    // Not const: a read changes the phase.
    [[nodiscard]] std::int64_t read() noexcept { return pawl_counter_exact_read(&c_); }

  private:
    pawl_counter_exact c_;
};

class counter_limit {
  public:
    constexpr explicit counter_limit(std::uint64_t limit) noexcept
        : c_ PAWL_COUNTER_LIMIT_INIT(limit > INT64_MAX ? std::uint64_t{INT64_MAX} : limit)
    {
    }
    ~counter_limit() { (void)pawl_counter_limit_destroy(&c_); }
    counter_limit(const counter_limit &) = delete;
    counter_limit &operator=(const counter_limit &) = delete;

    [[nodiscard]] bool try_add(std::uint64_t n = 1) noexcept
    {
        return pawl_counter_limit_try_add(&c_, n);
    }
    void sub(std::uint64_t n = 1) noexcept { pawl_counter_limit_sub(&c_, n); }
    void set_limit(std::uint64_t limit) noexcept { pawl_counter_limit_set_limit(&c_, limit); }
    [[nodiscard]] std::int64_t read() noexcept { return pawl_counter_limit_read(&c_); }

  private:
    pawl_counter_limit c_;
};

} // namespace PAWL_NAMESPACE_
} // namespace pawl

#endif
#endif
