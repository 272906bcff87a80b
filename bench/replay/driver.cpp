/* SPDX-License-Identifier: MIT */
/*
 * pawl-bench-replay: does again what the threads of a traced program did, with the locks that it
 * had and with others. `pawl replay` writes the steps and reads the samples.
 *
 * Each thread goes through its steps round and round. All begin at the begin of the window.
 */
#include <unistd.h>

#include "core/crew_scene.hpp"
#include "replay/replay.hpp"

namespace bench {
namespace {

/* The steps hold no deadlock, as `pawl replay` leaves out what is taken against an order. Should a
 * sample hang all the same, its process ends with a sentence. */
void end_what_hangs(int)
{
    static const char text[] = "{\"type\":\"error\",\"message\":\"The threads stopped: a lock was "
                               "never released. Report this with the trace.\"}\n";
    if (write(STDOUT_FILENO, text, sizeof text - 1) < 0)
        _exit(exit_bad_input);
    _exit(exit_broken);
}

class replay_scene final : public crew_scene<replay_candidate, std::unique_ptr<replay_design>> {
  public:
    replay_scene(const options &o, step_file file)
        : crew_scene(o), file_(std::move(file)), gauge_(measure_gauge())
    {
        std::signal(SIGALRM, end_what_hangs);
    }

    json start() const override
    {
        return {{"bench", "replay"},
                {"sleep_late_ns", gauge_.sleep_late_ns},
                {"pair_ns", {gauge_.pair_ns[0], gauge_.pair_ns[1], gauge_.pair_ns[2]}}};
    }

    std::unique_ptr<replay_design> make(const replay_candidate &who) override
    {
        return who.design(file_, gauge_);
    }

    json sample(const replay_candidate &, std::unique_ptr<replay_design> &design,
                long long) override
    {
        std::vector<replay_tally> tallies;
        alarm(static_cast<unsigned>(o_.seconds + o_.warmup) + 120);
        const double seconds =
            measure(tallies, [&](unsigned thread, const phase_flag &flag, replay_tally &t) {
                design->run(thread, flag, t);
            });
        alarm(0);
        replay_tally sum;
        for (const replay_tally &t : tallies)
            sum.add(t);
        return line_of(sum.ops, seconds,
                       {{"waits", sum.waits},
                        {"wait_ns", sum.waited_ns},
                        {"lost_ns", sum.lost_ns},
                        {"long_wait_ns", sum.long_wait_ns},
                        {"wait", sum.wait.buckets()}},
                       sum.used);
    }

  private:
    const step_file file_;
    const replay_gauge gauge_;
};

class replay_driver {
  public:
    static constexpr const char *says =
        "Does again what the threads of a trace did, under each lock; JSON lines.";

    explicit replay_driver(options &o) : o_(o)
    {
        o.text("--steps", path_, "the file of steps that `pawl replay` wrote");
        o.take_seconds(0.25);
        o.take_rounds(9);
        o.take_warmup(0.05);
        o.take_pin("none");
    }

    std::vector<replay_candidate> candidates() const { return replay_candidates(); }

    void check()
    {
        if (path_.empty())
            throw bad_input("--steps is missing; name the file that `pawl replay` wrote.");
        file_ = read_steps(path_);
        if (file_.original.empty())
            throw bad_input("There is no thread in " + path_ + ".");
        o_.threads = static_cast<long long>(file_.original.size());
    }

    std::unique_ptr<replay_scene> open(const std::vector<const replay_candidate *> &) const
    {
        return std::make_unique<replay_scene>(o_, file_);
    }

  private:
    options &o_;
    std::string path_;
    step_file file_;
};

} // namespace
} // namespace bench

int main(int argc, char **argv)
{
    return bench::drive<bench::replay_driver>(argc, argv);
}
