/* SPDX-License-Identifier: MIT */
/* Random numbers: one stream per thread, which shares nothing that is written. */
#pragma once

#include <cstdint>

namespace bench {

/* splitmix64: turns neighbouring seeds into unrelated ones. */
inline std::uint64_t mix(std::uint64_t x)
{
    x += UINT64_C(0x9E3779B97F4A7C15);
    x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
    return x ^ (x >> 31);
}

/* xorshift64*: never zero, 2^64 - 1 long. */
class random_numbers {
  public:
    explicit random_numbers(std::uint64_t seed) : state_(mix(seed) | 1) {}
    std::uint64_t next()
    {
        state_ ^= state_ >> 12;
        state_ ^= state_ << 25;
        state_ ^= state_ >> 27;
        return state_ * UINT64_C(0x2545F4914F6CDD1D);
    }
    /* Below n, by multiplication: no division on the path of a lookup. */
    std::uint32_t below(std::uint32_t n)
    {
        return static_cast<std::uint32_t>(((next() >> 32) * n) >> 32);
    }

  private:
    std::uint64_t state_;
};

} // namespace bench
