#!/bin/sh
# SPDX-License-Identifier: MIT
# pawl-sim as a program: the same seed gives the same bytes, planted bugs are found, bad input gets
# a sentence and exit code 2.
set -u
sim=$1
fail() { echo "program.sh: $*" >&2; exit 1; }

for strategy in spin rwlock plock_w plock_s plock_r_w plock_r_s_w plock_r_rsw plock_r_rw; do
    run="lru strategy=$strategy cores=4 cost=30 count=400 warm=20"
    one=$("$sim" $run seed=7) || fail "$strategy"
    two=$("$sim" $run seed=7)
    [ "$one" = "$two" ] || fail "$strategy: the same seed gives other bytes: $one $two"
done
[ "$one" != "$("$sim" $run seed=8)" ] ||
    fail "another seed gives the same bytes"
"$sim" lru lock=lock64 strategy=plock_r_s_w cores=4 threads=12 cost=30 count=400 warm=20 \
    >/dev/null || fail "threads that outnumber the cores"

said=$("$sim" lru strategy=planted cores=4 count=400 warm=20 2>&1)
[ $? -eq 1 ] || fail "a lock that excludes nobody passes"
case $said in *"Exclusion is broken"*) ;; *) fail "the oracle says: $said" ;; esac

refused() {
    want=$1
    shift
    said=$("$sim" "$@" 2>&1)
    [ $? -eq 2 ] || fail "$* is not refused"
    case $said in *"$want"*) ;; *) fail "$*: the sentence lacks '$want': $said" ;; esac
}
refused "names a workload" lur
refused "no model of a lock" lru lock=nsync strategy=plock_w
refused "no strategy" lru strategy=plock_x
refused "number from 1 to 4" lru cores=0
refused "number from 1 to 4" lru cores=10000
refused "1 to 256" lru machine.cores=10000
refused "between 0 and a second" lru machine.rmw=-5
refused "no value 'speed'" lru machine.speed=1
refused "no setting 'colour'" lru colour=1
refused "name=value" lru cores
exit 0
