/* SPDX-License-Identifier: MIT */
/*
 * How long a thread of the re-enactment sleeps. The recording says for how long the thread was off
 * its processor; here that time is an account, so that no error grows from round to round:
 *
 *   + the pauses of the steps
 *   - the sleeps, each as long as it really lasted: one that ended late makes the next one shorter
 *   - the time for which the system took the processor away between two pauses. In the recording
 *     such time is part of the pauses.
 *
 * A pause too short to be slept stays in the account until enough has come together.
 */
#ifndef PAWL_BENCH_REPLAY_PAUSES_HPP
#define PAWL_BENCH_REPLAY_PAUSES_HPP

#include <algorithm>
#include <cstdint>

namespace bench {

class pauses {
  public:
    /* What is longer is a disturbance of this machine, and no behaviour of the program. */
    static constexpr std::int64_t most_behind = 20000000;

    /* late: a sleep ends so much later than asked for. */
    explicit pauses(std::int64_t late) : late_(late) {}

    /* The thread begins, or goes on after a pause: the time, and the processor time it has used. */
    void resume(std::int64_t now, std::int64_t cpu)
    {
        resumed_ = now;
        cpu_ = cpu;
        waited_ = 0;
    }

    /* A wait for a lock is off the processor, too, and is the lock's affair. */
    void waited(std::int64_t ns) { waited_ += ns; }

    /* A pause of so long begins now; returns for how long to ask, 0 for no sleep. */
    std::int64_t begin(std::int64_t ns, std::int64_t now, std::int64_t cpu)
    {
        const std::int64_t lost = now - resumed_ - waited_ - (cpu - cpu_);
        owed_ = std::max(owed_ + ns - std::max<std::int64_t>(lost, 0), -most_behind);
        return std::max<std::int64_t>(owed_ - late_, 0);
    }

    void slept(std::int64_t ns) { owed_ = std::max(owed_ - ns, -most_behind); }

    std::int64_t owed() const { return owed_; }

  private:
    std::int64_t late_;
    std::int64_t owed_ = 0, resumed_ = 0, cpu_ = 0, waited_ = 0;
};

} // namespace bench

#endif
