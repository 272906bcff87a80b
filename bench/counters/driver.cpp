/* SPDX-License-Identifier: MIT */
/*
 * pawl-bench-counters: the cost of counters, sequence locks, reference counts and big-reader locks.
 * Each stands beside what it replaces, at one thread and at two.
 */
#include "counters/scene.hpp"

namespace bench::counters {
namespace {

class counters_driver {
  public:
    static constexpr const char *says = "What counting costs, beside what it replaces; JSON lines.";

    explicit counters_driver(options &o) : o_(o) { take_options(o); }

    std::vector<counter_candidate> candidates() const
    {
        std::vector<counter_candidate> all;
        add_candidates(all);
        read_candidates(all);
        sequence_candidates(all);
        reference_candidates(all);
        big_reader_candidates(all);
        need_cpus(all, o_);
        return all;
    }

    void check() const {}

    std::unique_ptr<counter_scene> open(const std::vector<const counter_candidate *> &) const
    {
        return std::make_unique<counter_scene>(o_, json{{"bench", "counters"}});
    }

  private:
    const options &o_;
};

} // namespace
} // namespace bench::counters

int main(int argc, char **argv)
{
    return bench::drive<bench::counters::counters_driver>(argc, argv);
}
