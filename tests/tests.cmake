# SPDX-License-Identifier: MIT
# The list of the tests, by primitive: pawl_test(<kind> <folder>/<name> [option...]). The kind is
# the test's label for ctest -L, and says how the file tests/<folder>/<name>.c or .cpp is built;
# options change that (pawl_test in cmake/PawlTests.cmake). scripts/ports reads this list too: kind
# and name stand on one line.

# all: what concerns every primitive
pawl_test(unit all/no_allocation)
pawl_test(unit all/nothing_to_do)
pawl_test(program all/odr)
pawl_test(program all/lifetime)
pawl_test(program all/lifetime VARIANT checked)
pawl_test(refusal all/refused_thread_safety CLANG -Wthread-safety -Wthread-safety-beta
          -Werror=thread-safety)
pawl_test(refusal all/refused_discards)
pawl_test(refusal all/refused_cxx14 STANDARD c++14)

# scale: each primitive with thousands of threads and objects
pawl_test(scale scale/waiters)
pawl_test(scale scale/threads)
pawl_test(scale scale/rates)

# spin: the progressive lock exactly as published
pawl_test(unit spin/basic)
pawl_test(unit spin/instructions)
pawl_test(unit spin/limits)
pawl_test(unit spin/rules)
pawl_test(unit spin/walk)
pawl_test(unit spin/table)
pawl_test(unit spin/code_follows_table VARIANT hook)
pawl_test(unit spin/limits_step_by_step EXPLORER)
pawl_test(unit spin/backoff)
pawl_test(regress spin/long_w_wait)
pawl_test(regress spin/widths_diverge)
pawl_test(regress spin/a_and_w_granted_together EXPLORER)
pawl_test(regress spin/a_to_r_against_newcomer EXPLORER)
pawl_test(regress spin/app_bits_hang_try EXPLORER)
pawl_test(regress spin/missed_instant EXPLORER)
pawl_test(regress spin/overlapping_a_starves EXPLORER)
pawl_test(regress spin/recursive_read_documented EXPLORER)
pawl_test(regress spin/relaxed_wait EXPLORER)
pawl_test(regress spin/seq_cst_drop EXPLORER)
pawl_test(cxx spin/boost)
pawl_test(cxx spin/guards)
pawl_test(cxx spin/guards_hooked VARIANT hook)
pawl_test(cxx spin/guards_checked VARIANT checked)
pawl_test(cxx spin/guard_transitions)
pawl_test(refusal spin/refused_guards)
pawl_test(stress spin/stress)

# lock: the progressive lock that sleeps
pawl_test(unit lock/basic EACH_SLEEP)
pawl_test(unit lock/fork_and_signals EACH_SLEEP)
pawl_test(unit lock/system_calls EACH_SLEEP)
pawl_test(unit lock/fairness EXPLORER)
pawl_test(regress lock/lost_wake EXPLORER)
pawl_test(regress lock/late_look)
pawl_test(misuse lock/misuse)
pawl_test(cxx lock/cxx)
pawl_test(cxx lock/cxx_hooked VARIANT hook)
pawl_test(cxx lock/cxx_checked VARIANT checked)
pawl_test(cxx lock/cxx_timed)
pawl_test(refusal lock/refused)
pawl_test(stress lock/stress EACH_SLEEP)
pawl_test(stress lock/stress_lifetime EACH_SLEEP)

# pshared: the same between processes
pawl_test(unit pshared/basic)
pawl_test(unit pshared/life)
pawl_test(unit pshared/programs)
pawl_test(regress pshared/ended)
pawl_test(regress pshared/lost_wake EXPLORER)
pawl_test(regress pshared/lost_wake_64 EXPLORER)
pawl_test(cxx pshared/cxx)
pawl_test(refusal pshared/refused)
pawl_test(stress pshared/stress)

# robust: the same where processes may be killed
pawl_test(unit robust/basic)
pawl_test(regress robust/told_late)
pawl_test(stress robust/stress_kill)

# wait: wait and wake on any address
pawl_test(unit wait/any EACH_SLEEP)
pawl_test(unit wait/basic EACH_SLEEP)
pawl_test(unit wait/life EACH_SLEEP)
pawl_test(unit wait/table_lists)
pawl_test(regress wait/race EXPLORER)
pawl_test(misuse wait/misuse)
pawl_test(backend wait/race_at_points)
pawl_test(stress wait/stress_ring EACH_SLEEP)
pawl_test(stress wait/stress_table EACH_SLEEP)

# bitlock: any bit of any word
pawl_test(unit bitlock/basic EACH_SLEEP)

# cond: condition variables
pawl_test(unit cond/basic EACH_SLEEP)

# sift: the priority-sifting lock
pawl_test(unit sift/basic)
pawl_test(unit sift/realtime)
pawl_test(unit sift/signals)
pawl_test(unit sift/steps EXPLORER)
pawl_test(unit sift/walk EXPLORER)
pawl_test(misuse sift/misuse)
pawl_test(cxx sift/cxx)
pawl_test(stress sift/stress)

# seq: sequence locks
pawl_test(unit seq/basic)
pawl_test(unit seq/signals)
pawl_test(unit seq/steps EXPLORER)
pawl_test(misuse seq/misuse)
pawl_test(cxx seq/cxx)
pawl_test(refusal seq/refused)
pawl_test(stress seq/stress)

# counter: counters
pawl_test(unit counter/exact)
pawl_test(unit counter/handler)
pawl_test(unit counter/limit)
pawl_test(regress counter/memory)
pawl_test(unit counter/sequences)
pawl_test(unit counter/statistical)
pawl_test(unit counter/steps EXPLORER)
pawl_test(regress counter/lost_at_destroy EXPLORER)
pawl_test(misuse counter/misuse)
pawl_test(cxx counter/cxx)
pawl_test(stress counter/stress)

# brlock: the lock of many readers
pawl_test(unit brlock/basic)
pawl_test(unit brlock/without_membarrier)
pawl_test(unit brlock/points VARIANT hook)
pawl_test(regress brlock/drain)
pawl_test(misuse brlock/misuse)
pawl_test(cxx brlock/cxx)
pawl_test(stress brlock/stress)

# bigref: big reference counts
pawl_test(unit bigref/basic)

# rcu: read-copy update
pawl_test(unit rcu/basic)
pawl_test(unit rcu/without_membarrier)
pawl_test(regress rcu/ends_unseen)
pawl_test(regress rcu/expedited)
pawl_test(unit rcu/without_lines)
pawl_test(unit rcu/bad_input)
pawl_test(unit rcu/bad_input_without_membarrier)
pawl_test(unit rcu/call_allocation)
pawl_test(unit rcu/call_basic)
pawl_test(unit rcu/call_fork)
pawl_test(regress rcu/call_fork_steps)
pawl_test(unit rcu/call_limits)
pawl_test(unit rcu/call_worker)
pawl_test(unit rcu/fork_and_signals)
pawl_test(unit rcu/instructions)
pawl_test(unit rcu/list)
pawl_test(unit rcu/stall)
pawl_test(unit rcu/accesses VARIANT hook)
pawl_test(unit rcu/call_schedules EXPLORER)
pawl_test(unit rcu/list_steps VARIANT hook)
pawl_test(regress rcu/schedules EXPLORER)
pawl_test(regress rcu/stall_heard EXPLORER)
pawl_test(misuse rcu/misuse)
pawl_test(misuse rcu/misuse_calls)
pawl_test(misuse rcu/misuse_lists)
pawl_test(cxx rcu/cxx)
pawl_test(cxx rcu/cxx_ends)
pawl_test(stress rcu/stress_torture)
pawl_test(stress rcu/stress_torture_checked VARIANT checked)
pawl_test(stress rcu/stress_torture_without_membarrier)
pawl_test(stress rcu/stress_calls)
pawl_test(stress rcu/stress_lists)

# idtable: ID tables
pawl_test(unit idtable/basic)
pawl_test(unit idtable/growth)
pawl_test(unit idtable/locks)
pawl_test(unit idtable/schedules EXPLORER)
pawl_test(misuse idtable/misuse)
pawl_test(cxx idtable/cxx)
pawl_test(stress idtable/stress)

# plock: plock's names (compat)
pawl_test(compat plock/every_name)
pawl_test(compat plock/expressions)
pawl_test(compat plock/statements)
pawl_test(compat plock/defects)
pawl_test(compat plock/differential)
pawl_test(compat plock/differential_join)
pawl_test(compat plock/join_walk)
pawl_test(compat plock/orders VARIANT hook)
pawl_test(compat plock/schedules EXPLORER)
pawl_test(compat plock/misuse VARIANT checked)
pawl_test(compat plock/stress)
pawl_test(refusal plock/refused_sizes)
pawl_test(refusal plock/refused_sizes_cxx)

# thread: the registry of threads
pawl_test(unit thread/registry)
pawl_test(unit thread/beyond)
pawl_test(unit thread/beyond_checked VARIANT checked)
pawl_test(unit thread/interrupted)
pawl_test(unit thread/interrupted_checked VARIANT checked)
pawl_test(unit thread/interrupted_without_membarrier)
pawl_test(unit thread/fences)

# os: the system layer
pawl_test(unit os/basic)
pawl_test(unit os/lists)

# check: the checking variant itself
pawl_test(misuse check/holds)
pawl_test(misuse check/order)
pawl_test(misuse check/limits)
pawl_test(misuse check/sites)
pawl_test(misuse check/silent)
pawl_test(misuse check/names)
pawl_test(misuse check/waits)

# fuzz: made-up operations (tests/fuzz/README.md)
pawl_test(fuzz fuzz/locks)
pawl_test(fuzz fuzz/threads THREADS)
pawl_test(fuzz fuzz/lock_schedules EXPLORER)
pawl_test(fuzz fuzz/pshared_schedules EXPLORER)
pawl_test(fuzz fuzz/robust)
pawl_test(fuzz fuzz/idtable THREADS)
pawl_test(fuzz fuzz/counters THREADS)
pawl_test(fuzz fuzz/rcu_lists)
