// SPDX-License-Identifier: MIT
//
// The counters of counter.h for C++17, as objects that give their cells back when they end. No
// logic of its own: every function is one call of counter.h, where the contracts are.
//
//   pawl::counter         ++ -- += -= read()           statistics; read may be fuzzy
//   pawl::cpu_counter     the same, cells per CPU
//   pawl::exact_counter   ++ -- += -= read()           read is exact
//   pawl::limit_counter   try_add sub set_limit read   never beyond its limit
//
// All are constant-initialised, so one at namespace scope counts from the first constructor on.
// They neither copy nor move. Nobody may use one while it is destroyed. ++ returns nothing, because
// the value after it is not known without a read.
#ifndef PAWL_COUNTER_HPP
#define PAWL_COUNTER_HPP

#ifndef __cplusplus
#error "counter.hpp is for C++17 and later; C programs include counter.h."
#endif

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
    // In a signal handler, and wherever one that counts here too may interrupt.
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

class exact_counter {
  public:
    constexpr explicit exact_counter(pawl_exact_mode mode = PAWL_EXACT_FOLD) noexcept
        : c_ PAWL_EXACT_COUNTER_INIT_MODE(static_cast<std::uint32_t>(mode))
    {
    }
    ~exact_counter() { (void)pawl_exact_counter_destroy(&c_); }
    exact_counter(const exact_counter &) = delete;
    exact_counter &operator=(const exact_counter &) = delete;

    void operator++() noexcept { pawl_exact_counter_add(&c_, 1); }
    void operator++(int) noexcept { pawl_exact_counter_add(&c_, 1); }
    void operator--() noexcept { pawl_exact_counter_sub(&c_, 1); }
    void operator--(int) noexcept { pawl_exact_counter_sub(&c_, 1); }
    void operator+=(std::int64_t n) noexcept { pawl_exact_counter_add(&c_, n); }
    void operator-=(std::int64_t n) noexcept { pawl_exact_counter_sub(&c_, n); }
    // Not const: it turns the phase.
    [[nodiscard]] std::int64_t read() noexcept { return pawl_exact_counter_read(&c_); }

  private:
    pawl_exact_counter c_;
};

class limit_counter {
  public:
    constexpr explicit limit_counter(std::uint64_t limit) noexcept
        : c_ PAWL_LIMIT_COUNTER_INIT(limit > INT64_MAX ? std::uint64_t{INT64_MAX} : limit)
    {
    }
    ~limit_counter() { (void)pawl_limit_counter_destroy(&c_); }
    limit_counter(const limit_counter &) = delete;
    limit_counter &operator=(const limit_counter &) = delete;

    [[nodiscard]] bool try_add(std::uint64_t n = 1) noexcept
    {
        return pawl_limit_counter_try_add(&c_, n);
    }
    void sub(std::uint64_t n = 1) noexcept { pawl_limit_counter_sub(&c_, n); }
    void set_limit(std::uint64_t limit) noexcept { pawl_limit_counter_set_limit(&c_, limit); }
    [[nodiscard]] std::int64_t read() noexcept { return pawl_limit_counter_read(&c_); }

  private:
    pawl_limit_counter c_;
};

} // namespace PAWL_NAMESPACE_
} // namespace pawl

#endif
