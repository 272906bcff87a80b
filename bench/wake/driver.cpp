/* SPDX-License-Identifier: MIT */
/*
 * pawl-bench-wake: how long a sleeping thread takes to run again after another has signalled, and
 * the CPU time that its waiting uses, for each way to wait.
 *
 * One run measures one delay for all candidates, some wakes of each in turn, a JSON line a sample.
 */
#include <cmath>

#include "core/driver.hpp"
#include "core/hog.hpp"
#include "wake/candidates.hpp"
#include "wake/sleeper.hpp"

namespace bench {
namespace {

struct wake_settings {
    double delay_ms = 10;
    long long wakes = 1;
    bool hog = false;
};

using wake_contestant = std::unique_ptr<channel>;

class wake_scene final : public scene<wake_candidate, wake_contestant> {
  public:
    wake_scene(const options &o, const wake_settings &s)
        : s_(s), cpus_(parse_pin(o.pin)), beside_(hog_beside(cpus_, s.hog)), b_(cpus_)
    {
    }

    json start() const override
    {
        return {{"bench", "wake"}, {"delay_ms", s_.delay_ms}, {"wakes", s_.wakes}, {"hog", s_.hog}};
    }
    placement where() const override
    {
        return {cpus_, !cpus_.empty() && b_.pin_error().empty(), b_.pin_error()};
    }

    wake_contestant make(const wake_candidate &who) override { return who.design(); }

    json sample(const wake_candidate &, wake_contestant &how, long long) override
    {
        const double start = seconds_of(CLOCK_MONOTONIC);
        const batch found = b_.run(*how, s_.wakes, static_cast<std::uint64_t>(s_.delay_ms * 1e6));
        const double seconds = seconds_of(CLOCK_MONOTONIC) - start;
        return {{"ops", s_.wakes},
                {"seconds", std::round(seconds * 1e6) / 1e6},
                {"wakes_ns", found.wakes_ns},
                {"cpu_ns", found.cpu_ns},
                {"waited_ns", found.waited_ns}};
    }

  private:
    const wake_settings s_;
    const std::vector<unsigned> cpus_;
    const std::unique_ptr<hog> beside_; /* on the CPU of B */
    sleeper b_;
};

class wake_driver {
  public:
    static constexpr const char *says = "How long sleeping threads take to wake; JSON lines.";

    explicit wake_driver(options &o) : o_(o)
    {
        o.number("--delay", s_.delay_ms, 0, 10000, "milliseconds that B sleeps before A signals");
        o.number("--wakes", s_.wakes, 1, 100000, "wakes of each candidate in a round");
        o.take_rounds(9);
        o.flag("--hog", s_.hog, "B's CPU has a thread that computes without end");
        o.take_pin("auto", "CPUs, as 0,1: A on the first, B on the last; none; auto: of all");
    }

    std::vector<wake_candidate> candidates() const { return wake_candidates(); }
    void check() const {}

    std::unique_ptr<wake_scene> open(const std::vector<const wake_candidate *> &) const
    {
        return std::make_unique<wake_scene>(o_, s_);
    }

  private:
    const options &o_;
    wake_settings s_;
};

} // namespace
} // namespace bench

int main(int argc, char **argv)
{
    return bench::drive<bench::wake_driver>(argc, argv);
}
