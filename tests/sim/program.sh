#!/bin/sh
# SPDX-License-Identifier: MIT
# pawl-sim as a program: the same seed gives the same bytes, planted bugs are found, bad input gets
# a sentence and exit code 2, --help names each workload. With a second argument, pawl-sim-native:
# its help.
set -u
sim=$1
fail() { echo "program.sh: $*" >&2; exit 1; }

for strategy in spin rwlock plock_w plock_s plock_r_w plock_r_s_w plock_r_rsw plock_r_rw moving \
    cached; do
    run="lru strategy=$strategy cores=4 cost=30 count=400 warm=20"
    one=$("$sim" $run seed=7) || fail "$strategy"
    two=$("$sim" $run seed=7)
    [ "$one" = "$two" ] || fail "$strategy: the same seed gives other bytes: $one $two"
    "$sim" $run lock=ancestor threads=8 machine.smt=2 >/dev/null || fail "the ancestor, $strategy"
done
[ "$one" != "$("$sim" $run seed=8)" ] ||
    fail "another seed gives the same bytes"
"$sim" lru lock=lock64 strategy=plock_r_s_w cores=4 threads=12 cost=30 count=400 warm=20 \
    >/dev/null || fail "threads that outnumber the cores"

said=$("$sim" lru strategy=planted cores=4 count=400 warm=20 2>&1)
[ $? -eq 1 ] || fail "a lock that excludes nobody passes"
case $said in *"Exclusion is broken"*) ;; *) fail "the oracle says: $said" ;; esac

# Every model twice, with more threads than hardware threads in the second workload.
same() {
    one=$("$sim" "$@" cores=4 seed=3) || fail "$*"
    [ "$one" = "$("$sim" "$@" cores=4 seed=3)" ] || fail "$*: the same seed gives other bytes"
}
for lock in spin ticket mcs low_level_lock rwlock_2017 rwlock rwspin bravo phase_fair spin32 \
    spin64 lock32 lock64 brlock brlock_fenced seq rcu; do
    same section lock=$lock write=20 count=300 warm=5
done
for lock in spin ticket low_level_lock rwlock_2017 rwlock rwspin spin64 lock64; do
    same word lock=$lock write=20 count=300 warm=5
done
for lock in low_level_lock rwlock lock64; do
    same section lock=$lock write=50 threads=12 count=300 warm=5
done
for lock in atomic cas counter; do same counter lock=$lock read=5 count=400 warm=5; done
for lock in atomic bigref; do same reference lock=$lock count=400 warm=5; done
for lock in poll futex wait; do same chain lock=$lock count=200 warm=5; done

said=$("$sim" section lock=planted write=100 cores=4 count=400 2>&1)
[ $? -eq 1 ] || fail "a lock that excludes nobody passes in section"
case $said in *"Exclusion is broken"*) ;; *) fail "the oracle says of section: $said" ;; esac
said=$("$sim" section lock=planted_sleep write=100 cores=4 count=400 2>&1)
[ $? -eq 1 ] || fail "a lock that wakes nobody passes"
case $said in
*"No thread can go on"*"thread 0"*"sleeps on the protected object"*) ;;
*) fail "the report of a deadlock does not say who waits for what: $said" ;;
esac

refused() {
    want=$1
    shift
    said=$("$sim" "$@" 2>&1)
    [ $? -eq 2 ] || fail "$* is not refused"
    case $said in *"$want"*) ;; *) fail "$*: the sentence lacks '$want': $said" ;; esac
}
refused "names a workload" lur
refused "names a workload"
refused "names a workload" --help lru
refused "no model of a lock" lru lock=nsync strategy=plock_w
refused "no strategy" lru strategy=plock_x
refused "number from 1 to 4" lru cores=0
refused "number from 1 to 4" lru cores=10000
refused "1 to 256" lru machine.cores=10000
refused "between 0 and a second" lru machine.rmw=-5
refused "no value 'speed'" lru machine.speed=1
refused "choose one of spin, ticket" section lock=nsync
refused "choose one of atomic" counter lock=spin
refused "number from 0 to 100" section write=101
refused "choose one of spin, ticket, low_level_lock" word lock=mcs
refused "more cores (4) than threads (2)" section cores=4 threads=2
refused "more cores (4) than threads (2)" lru cores=4 threads=2
refused "pair <= cluster <= socket <= far" section machine.clusters=2 \
    machine.transfer.cluster=90 machine.transfer.socket=50
refused "no setting 'colour'" lru colour=1
refused "name=value" lru cores
refused "no constant 'speed'" section library.speed=1
refused "library.name=value" section library.wakes
refused "number from 1 to 1000000" section library.wakes=0
refused "number from 0 to 1000000000" section library.reading_ns=-1
refused "given twice" section library.wakes=1 library.wakes=2

# A constant of the waits: today's value changes no byte, another one does. Every other constant is
# known, too (tests/tool/test_sim.py has each with the value that the library has).
run="section lock=lock64 write=30 cores=4 inside=30000 count=400"
one=$("$sim" $run) || fail "$run"
for today in first_pause=4 longest_pause=256 reading_ns=50000 handoff_ns=600000; do
    [ "$one" = "$("$sim" $run library.$today)" ] || fail "$today is not today's value"
done
for other in first_pause=16 longest_pause=8 reading_ns=1000 handoff_ns=1000; do
    [ "$one" != "$("$sim" $run library.$other)" ] || fail "$other changes nothing"
done

# A writer that was about to claim, and lost the word to another one, slept at once, as it was in
# the queue by then: on four cores six times in this run. Each sleep is longer than all sections
# that are under way.
said=$("$sim" section lock=lock64 write=2 cores=4 count=20000) || fail "four cores"
case $said in
*'"sleeps": 0,'*) ;;
*) fail "a waiter sleeps before it has read in a loop: $said" ;;
esac

# Readers scale by a setting or by evidence, and the environment has no effect.
run="section lock=lock64 write=0 cores=4 count=4000"
[ "$("$sim" $run library.bias=1)" != "$("$sim" $run)" ] || fail "library.bias changes nothing"
few="section lock=lock64 write=5 cores=4 count=4000"
[ "$("$sim" $few library.bias=2)" != "$("$sim" $few library.bias=0)" ] ||
    fail "evidence changes nothing"
[ "$("$sim" $few library.bias=2)" != "$("$sim" $few library.bias=1)" ] ||
    fail "evidence is no other than a lock that always scales"
[ "$("$sim" $run)" = "$(PAWL_BIAS=on "$sim" $run)" ] || fail "the environment changes a result"

# $program --help names each workload that the program then takes; nothing goes to standard error.
for program in "$sim" ${2+"$2"}; do
    help=$("$program" --help) || fail "$program --help"
    said=$("$program" --help 2>&1 >/dev/null)
    [ -z "$said" ] || fail "$program --help says on standard error: $said"
    [ "$("$program" -h)" = "$help" ] || fail "$program -h says something else"
    names=$(echo "$help" | sed -n 's/^  \([a-z]*\) .*/\1/p')
    taken=$("$program" 2>&1 | sed -n 's/.*names a workload: \(.*\)\./\1/p' | tr -d ,)
    [ -n "$taken" ] && [ "$(echo $names)" = "$taken" ] ||
        fail "$program --help names '$names', it takes '$taken'"
done
exit 0
