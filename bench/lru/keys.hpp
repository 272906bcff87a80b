/* SPDX-License-Identifier: MIT */
/*
 * The sources of lookup keys: uniform or Zipf random numbers, the latter beside a scan of all keys,
 * or a trace of real keys. There is one stream per thread; drawing a key costs a few nanoseconds
 * and shares nothing that is written.
 */
#pragma once

#include <cerrno>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include <memory>
#include <string>
#include <vector>

#include "core/common.hpp"
#include "core/random.hpp"

namespace bench {

/* Key i has a weight of 1 / (i + 1)^s. Walker's alias method draws it: one number, one row. */
class zipf_table {
  public:
    zipf_table(std::uint32_t keys, double s) : rows_(keys)
    {
        std::vector<double> share(keys);
        double sum = 0;
        for (std::uint32_t i = 0; i < keys; i++)
            sum += share[i] = std::pow(i + 1.0, -s);
        std::vector<std::uint32_t> small, large;
        for (std::uint32_t i = 0; i < keys; i++) {
            share[i] *= keys / sum;
            (share[i] < 1 ? small : large).push_back(i);
        }
        while (!small.empty() && !large.empty()) {
            const std::uint32_t a = small.back(), b = large.back();
            small.pop_back();
            rows_[a] = {threshold(share[a]), b};
            share[b] -= 1 - share[a];
            if (share[b] < 1) {
                large.pop_back();
                small.push_back(b);
            }
        }
        /* The rows that rounding left over stay whole. */
        for (const auto *rest : {&small, &large})
            for (const std::uint32_t i : *rest)
                rows_[i] = {UINT32_MAX, i};
    }

    std::uint32_t draw(random_numbers &random) const
    {
        const std::uint64_t r = random.next();
        const std::uint64_t wide = (r >> 32) * rows_.size();
        const auto i = static_cast<std::uint32_t>(wide >> 32);
        return static_cast<std::uint32_t>(r) <= rows_[i].threshold ? i : rows_[i].other;
    }

  private:
    struct row {
        std::uint32_t threshold, other;
    };
    static std::uint32_t threshold(double share)
    {
        return static_cast<std::uint32_t>(share * UINT32_MAX);
    }
    std::vector<row> rows_;
};

/* Keys of real input, as the front end wrote them. The file begins with 8 bytes "PAWLTRC1". Then
 * come, in little endian, a 64-bit number of distinct keys and a 64-bit number of lookups, and
 * for each lookup a 32-bit key from 0 up. */
struct trace {
    std::uint64_t distinct = 0;
    std::vector<std::uint32_t> keys;
};

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "trace files are read as they lie");

inline trace read_trace(const std::string &path)
{
    const auto refuse = [&](const std::string &what) {
        return bad_input("The trace file '" + path + "' " + what +
                         ". Write it with: pawl bench lru --keys FILE.");
    };
    std::unique_ptr<FILE, int (*)(FILE *)> file(std::fopen(path.c_str(), "rb"), std::fclose);
    if (!file)
        throw refuse(std::string("cannot be opened: ") + std::strerror(errno));
    struct {
        char magic[8];
        std::uint64_t distinct, count;
    } head;
    if (std::fread(&head, sizeof head, 1, file.get()) != 1)
        throw refuse("is too short to be one, or cannot be read");
    if (std::memcmp(head.magic, "PAWLTRC1", 8) != 0)
        throw refuse("does not start with PAWLTRC1");
    if (std::fseek(file.get(), 0, SEEK_END) != 0)
        throw refuse("cannot be measured: it must be a regular file");
    const auto bytes = static_cast<std::uint64_t>(std::ftell(file.get()));
    if (head.count == 0)
        throw refuse("holds no keys");
    if (head.count > (bytes - sizeof head) / 4 || bytes != sizeof head + 4 * head.count)
        throw refuse("has another length than its header says");
    if (head.distinct < 1 || head.distinct > head.count)
        throw refuse("gives an impossible number of distinct keys");
    trace t;
    t.distinct = head.distinct;
    t.keys.resize(head.count);
    std::fseek(file.get(), sizeof head, SEEK_SET);
    if (std::fread(t.keys.data(), 4, t.keys.size(), file.get()) != t.keys.size())
        throw refuse("cannot be read to its end");
    for (const std::uint32_t key : t.keys)
        if (key >= t.distinct)
            throw refuse("holds a key beyond its number of distinct keys");
    return t;
}

/* The data that all streams of a run read. */
struct key_source {
    std::uint32_t keyspace = 0;
    bool scans = false; /* every other key is the next one of all */
    std::unique_ptr<const zipf_table> zipf;
    std::unique_ptr<const trace> recorded;
};

class key_stream {
  public:
    key_stream(const key_source &source, std::uint64_t seed, std::size_t position)
        : random_(seed), keyspace_(source.keyspace), scans_(source.scans), zipf_(source.zipf.get()),
          keys_(source.recorded ? source.recorded->keys.data() : nullptr),
          count_(source.recorded ? source.recorded->keys.size() : 0), position_(position)
    {
    }

    std::uint32_t next()
    {
        if (keys_) {
            const std::uint32_t key = keys_[position_];
            position_ = position_ + 1 == count_ ? 0 : position_ + 1;
            return key;
        }
        if (scans_ && (position_++ & 1) != 0)
            return static_cast<std::uint32_t>(position_ / 2 % keyspace_);
        return zipf_ ? zipf_->draw(random_) : random_.below(keyspace_);
    }

  private:
    random_numbers random_;
    std::uint32_t keyspace_;
    bool scans_;
    const zipf_table *zipf_;
    const std::uint32_t *keys_;
    std::size_t count_;
    std::size_t position_;
};

} // namespace bench
