/* SPDX-License-Identifier: MIT */
#include "engine/oracle.hpp"

namespace sim {

/* The order of holders is that of their clocks. */
void oracle::enter(mode m)
{
    static const bool apart[modes][modes] = {
        {false, false, true}, {false, true, true}, {true, true, true}};
    static const char *const names[modes] = {"reads", "seeks", "writes"};
    engine::running->turn();
    for (int other = 0; other < modes; other++)
        if (holders_[other] != 0 && apart[m][other])
            throw program_failed("Exclusion is broken: thread " +
                                 std::to_string(engine::running->self()) + " " + names[m] +
                                 " while another thread " + names[other] + ".");
    holders_[m]++;
}

void oracle::leave(mode m)
{
    engine::running->turn();
    holders_[m]--;
}

} // namespace sim
