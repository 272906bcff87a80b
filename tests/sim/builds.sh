#!/bin/sh
# SPDX-License-Identifier: MIT
# The figures of the simulator do not depend on how it was built: pawl-sim of two build types gives
# the same bytes. builds.sh FOLDER: where the two builds go (about a minute each).
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
for type in Debug Release; do
    cmake -S "$root" -B "$1/$type" -DCMAKE_BUILD_TYPE=$type -DPAWL_BUILD_TESTS=OFF >"$1-$type.log"
    cmake --build "$1/$type" --target pawl_sim -j "$(nproc)" >>"$1-$type.log"
done
status=0
for run in "lru strategy=rwlock cost=30" "lru strategy=plock_r_s_w cost=30" \
    "section lock=low_level_lock write=20" "section lock=lock64 write=20" \
    "section lock=rcu write=20" "reference lock=bigref"; do
    one=$("$1/Debug/bench/pawl-sim" $run machine.cores=12 cores=12 count=2000 warm=50)
    two=$("$1/Release/bench/pawl-sim" $run machine.cores=12 cores=12 count=2000 warm=50)
    [ "$one" = "$two" ] && continue
    echo "builds.sh: $run: Debug says $one, Release $two" >&2
    status=1
done
exit $status
