#!/bin/sh
# SPDX-License-Identifier: MIT
# The engine gives each fiber its own values of what the library has for a thread. This fails when
# the library gets one more variable.
set -u
found=$(readelf -sW "$1" | awk '$4 == "TLS" && $8 !~ /^ipawl_own_/ {print $8}' | sort -u)
want=ipawl_thread_own_v3_sim_
[ "$found" = "$want" ] && exit 0
echo "thread_variables.sh: the library has the thread variables $found" >&2
echo "and not $want: add the new one to exchange() in sim/engine/engine.cpp" >&2
exit 1
