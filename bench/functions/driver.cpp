/* SPDX-License-Identifier: MIT */
/*
 * pawl-bench-functions: what one call of each public function costs one thread, while nobody else
 * uses the object. A row for each function, in the group of its header, beside two floors: the loop
 * around the calls, and an atomic addition. JSON lines as pawl-bench-counters prints them;
 * nanoseconds of a call are seconds / ops.
 */
#include "core/driver.hpp"
#include "core/team.hpp"
#include "functions/functions.hpp"

namespace bench::functions {
namespace {

void add_floor(rows &all)
{
    all.group("floor");
    PAWL_ROW(all, std::uint64_t, empty_loop, PAWL_NOTHING, PAWL_NOTHING, PAWL_NOTHING);
    PAWL_ROW(all, std::uint64_t, atomic_add, PAWL_NOTHING,
             PAWL_DO(__atomic_fetch_add(&o, 1, __ATOMIC_ACQ_REL)), PAWL_NOTHING);
}

class function_scene final : public scene<row, nothing_made> {
  public:
    explicit function_scene(const options &o) : o_(o), cpu_(parse_pin(o.pin).front()) {}

    json start() const override { return {{"bench", "functions"}}; }
    placement where() const override { return {o_.pin, true, ""}; }
    nothing_made make(const row &) override { return {}; }
    json sample(const row &who, nothing_made &, long long) override
    {
        measured m;
        try {
            team_.alone(cpu_, [&] { m = who.design({o_.warmup, o_.seconds}); });
        } catch (const bad_input &) {
            throw;
        } catch (const std::exception &e) {
            throw std::runtime_error(who.name + ": " + e.what());
        }
        return {{"threads", 1}, {"ops", m.calls}, {"seconds", m.seconds}};
    }

  private:
    const options &o_;
    const unsigned cpu_;
    team team_;
};

class functions_driver {
  public:
    static constexpr const char *says =
        "What each function costs one thread that is alone; JSON lines.";

    explicit functions_driver(options &o) : o_(o)
    {
        o.take_rounds(15);
        o.take_seconds(0.004, 0.0001);
        o.take_warmup(0.0005);
        o.take_pin("auto", "CPUs, as 0,1: the first is used; auto: all");
    }

    std::vector<row> candidates() const
    {
        if (parse_pin(o_.pin).empty())
            throw bad_input("--pin is '" + o_.pin +
                            "'; this bench needs its thread on a CPU of its own: name it, or say "
                            "auto.");
        rows all;
        add_floor(all);
        add_spin(all);
        add_lock(all);
        add_pshared(all);
        add_robust(all);
        add_brlock(all);
        add_seq(all);
        add_counter(all);
        add_bigref(all);
        add_bitlock(all);
        add_cond(all);
        add_rcu(all);
        add_rcu_call(all);
        add_list(all);
        add_idtable(all);
        add_sift(all);
        add_wait(all);
        return all.all;
    }

    void check() const {}

    std::unique_ptr<function_scene> open(const std::vector<const row *> &) const
    {
        return std::make_unique<function_scene>(o_);
    }

  private:
    const options &o_;
};

} // namespace
} // namespace bench::functions

int main(int argc, char **argv)
{
    return bench::drive<bench::functions::functions_driver>(argc, argv);
}
