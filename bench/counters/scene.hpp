/* SPDX-License-Identifier: MIT */
/*
 * The part of a driver that measures candidates of counters.hpp. It prints JSON lines as
 * pawl-bench-lru does. `ops` and `seconds` are of all measured threads together: nanoseconds that
 * one of them spends on an operation are threads * seconds / ops.
 */
#pragma once

#include "core/driver.hpp"
#include "core/team.hpp"
#include "counters/counters.hpp"

namespace bench::counters {

/* A candidate's object, and the operations on it so far. */
struct runner {
    std::unique_ptr<subject> what;
    std::uint64_t total = 0;
};

class counter_scene final : public scene<counter_candidate, runner> {
  public:
    /* `first`: the first line, without the common fields. */
    counter_scene(const options &o, const json &first) : o_(o), first_(first) {}

    json start() const override { return first_; }
    placement where() const override { return {o_.pin, true, ""}; }
    runner make(const counter_candidate &who) override { return {who.design()}; }
    json sample(const counter_candidate &who, runner &r, long long round) override;

  private:
    const options &o_;
    const json first_;
    const std::vector<unsigned> cpus_ = parse_pin(o_.pin);
    team team_;
};

/* The options that counter_scene uses. */
void take_options(options &o);

/* Turns each candidate that these CPUs cannot show into a row that says so; without any CPU
 * there is no bench. */
void need_cpus(candidates &all, const options &o);

} // namespace bench::counters
