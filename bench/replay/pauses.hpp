/* SPDX-License-Identifier: MIT */
/*
 * How long a thread of the re-enactment sleeps. Its time off the processor is an account, so that
 * no error grows from round to round:
 *
 *   + the pauses of the steps
 *   - the sleeps, each as long as it really lasted: one that ended late makes the next one shorter
 *   - the time for which the system keeps the thread off its processor, up to the length of those
 *     pauses that have such time of the recording in them
 *
 * A pause too short to be slept stays in the account until enough has come together.
 */
#pragma once

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

    /* A pause of so long begins now; returns for how long to ask, 0 for no sleep. is_any: it may
     * have been sleep, or time for which the thread was kept off its processor. */
    std::int64_t begin(std::int64_t ns, bool is_any, std::int64_t now, std::int64_t cpu)
    {
        const std::int64_t lost = now - resumed_ - waited_ - (cpu - cpu_);
        kept_off_ = std::min(kept_off_ + std::max<std::int64_t>(lost, 0), most_behind);
        if (is_any) {
            const std::int64_t both = std::min(kept_off_, ns);
            kept_off_ -= both;
            instead_ += both;
            ns -= both;
        }
        owed_ += ns;
        return std::max<std::int64_t>(owed_ - late_, 0);
    }

    /* is_alone: of the recording's sleep no part was time for which the thread was ready and had no
     * processor. So what comes after its end here is none of it either. */
    void slept(std::int64_t ns, std::int64_t asked, bool is_alone)
    {
        if (is_alone)
            ns = std::min(ns, std::max<std::int64_t>(asked, 0) + late_);
        asleep_ += ns;
        owed_ = std::max(owed_ - ns, -most_behind);
    }

    /* In all: for how long it slept, and was kept off its processor in place of a pause. */
    std::int64_t paused() const { return asleep_ + instead_; }

  private:
    std::int64_t late_;
    std::int64_t owed_ = 0, kept_off_ = 0, asleep_ = 0, instead_ = 0, resumed_ = 0, cpu_ = 0,
                 waited_ = 0;
};

} // namespace bench
