#!/bin/sh
# SPDX-License-Identifier: MIT
# The engine gives each fiber its own values of the library's thread variables. This list of them
# fails when the library gets one more. os_known belongs to robust mutexes and os_slack_before to
# real-time readers, which are not simulated. All fibers may share entries_met, which only chooses
# one meeting of readers in eight.
set -u
found=$(readelf -sW "$1" | awk '$4 == "TLS" && $8 !~ /^pawl_own_/ {print $8}' | sort -u)
want="entries_met
os_known
os_slack_before
pawl_counter_own_v2_sim_
pawl_latch_parker_v2_sim_
pawl_rcu_own_v2_sim_
pawl_thread_entries_v2_sim_
pawl_thread_slot_v2_sim_
pawl_thread_ticket_v2_sim_"
[ "$found" = "$want" ] && exit 0
echo "thread_variables.sh: the library has the thread variables $found" >&2
echo "and not $want: add the new one to exchange() in sim/engine/engine.cpp" >&2
exit 1
