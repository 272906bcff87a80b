/* SPDX-License-Identifier: MIT */
/*
 * A mix of two operations as the published hash bench has it: runs of random length that give the
 * wanted share. The rarer operation comes once at a time. The other comes in runs from none to
 * twice the mean, so that threads do not fall into step.
 */
#pragma once

#include "core/random.hpp"

namespace bench {

class mixed_runs {
  public:
    /* `percent` of the operations are updates. */
    explicit mixed_runs(double percent)
        : updates_(most(percent, 100 - percent)), searches_(most(100 - percent, percent))
    {
    }

    /* Whether the next operation is an update. */
    bool next(random_numbers &random)
    {
        while (left_ == 0) {
            updating_ = !updating_;
            left_ = length(updating_ ? updates_ : searches_, random);
        }
        left_--;
        return updating_;
    }

  private:
    /* The bound of run lengths, which are whole numbers below it: so with 2 m + 1 the mean is m.
     * Other values: 0: never; 1: always one; infinite: for ever. */
    static double most(double own, double other)
    {
        if (own <= 0)
            return 0;
        return own <= other ? 1 : 2 * own / other + 1;
    }
    static std::uint64_t length(double most, random_numbers &random)
    {
        if (most <= 1)
            return most > 0;
        if (most > 1e15)
            return UINT64_MAX;
        return static_cast<std::uint64_t>(static_cast<double>(random.next() >> 11) * 0x1p-53 *
                                          most);
    }

    double updates_, searches_;
    std::uint64_t left_ = 0;
    bool updating_ = true; /* begins with the other one */
};

} // namespace bench
