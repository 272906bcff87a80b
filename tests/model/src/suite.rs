// SPDX-License-Identifier: MIT
//! Which models there are: good ones, which must pass, and bad ones, which must fail.

use crate::fault::Fault;
use crate::scene;
use crate::suite_locks;
use crate::subject::{EXCLUSION, PROGRESS, RACE, RESTORED, VISIBILITY};

/// Scripts that are paired with each other and with themselves.
const PAIRED: &[&str] = &[
    "read",
    "seek",
    "write",
    "atomic",
    "read?",
    "seek?",
    "write?",
    "atomic?",
    "write?claim",
    "atomic?claim",
    "seek>write",
    "write>seek",
    "write>read",
    "seek>read",
    "atomic>read",
    "seek>write?",
    "read>seek?",
    "read>write?",
    "read>write?claim",
    "read>atomic?",
    "read>atomic?claim",
    "bits",
];

/// Those that are paired on the other widths too, where the code is the same.
const PAIRED_ELSEWHERE: &[&str] = &["read", "seek>write", "atomic>read", "bits"];

const BITS: &[&str] = &[
    "bits:tell|bits:look any-end",
    "bits:tell|bits:mark any-end",
    "bits:tell|bits:take any-end",
    "bits:untell|bits:look-none app=1 any-end",
];

/// Three threads; those with many moves with a bound of one preemption less.
const TRIPLES: &[&str] = &[
    "read|write|atomic",
    "read|seek|write",
    "seek|seek|write",
    "write|write|read",
    "atomic|atomic|write",
    "atomic>read|atomic|write",
    "atomic>read|atomic>read|write",
    "read>write?claim|read>write?claim|read",
    "read>atomic?claim|atomic|read",
    "read>seek?|seek>write|read",
    "seek>write|read|read",
    "write?|read>write?|bits",
    "write?claim|read|atomic",
    "write>seek|read|seek",
    "write>read|seek|write",
    "read>atomic?|atomic|read",
];

/// Who is beside a reader or seeker that loses patience. Those who poll themselves take too long.
const BESIDE_IMPATIENT: &[&str] = &["read?", "seek?", "write?", "atomic?"];

pub fn pairs(lock: &str, names: &[&str], options: &str) -> Vec<String> {
    let mut all = Vec::new();
    for (i, one) in names.iter().enumerate() {
        for two in &names[i..] {
            all.push(format!("{lock}/{one}|{two}{options}"));
        }
    }
    all
}

/// How much is explored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Set {
    /// A sample of everything, for each change of the code.
    Test,
    /// Every model, within small bounds.
    Quick,
    /// The same, and then within larger ones for as long as there is time.
    Deep,
}

/// A model within the bounds of the three sets; None: it is not in the sample.
pub struct Entry {
    pub test: Option<String>,
    pub quick: String,
    pub deep: String,
}

impl Entry {
    /// What a run begins with.
    pub fn first(&self, set: Set) -> Option<&String> {
        match set {
            Set::Test => self.test.as_ref(),
            Set::Quick | Set::Deep => Some(&self.quick),
        }
    }
}

/// The same in every set.
fn always(name: String) -> Entry {
    Entry {
        test: Some(name.clone()),
        quick: name.clone(),
        deep: name,
    }
}

/// All schedules, but in the sample those with few preemptions.
fn sampled(name: String) -> Entry {
    let mut entry = always(name);
    entry.test = entry.test.map(|name| format!("{name} preempt=2"));
    entry
}

/// So many preemptions; 0: not in the set.
fn bounded(name: &str, test: usize, quick: usize, deep: usize) -> Entry {
    let with = |bound: usize| format!("{name} preempt={bound}");
    Entry {
        test: (test > 0).then(|| with(test)),
        quick: with(quick),
        deep: with(deep),
    }
}

/// Cheap, and some of their accesses are met within their own bounds only.
const WHOLE: &str = "plock_";

/// Too long for the sample.
const NO_SAMPLE: &[&str] = &["rcu_call_helps_the_worker"];

/// Not ended in a minute with one preemption more: those who poll and sleep for each other see many
/// old values.
const NO_DEEPER: &[&str] = &[
    "table_latch_of_four",
    "rcu_two_calls_and_sleep",
    "rcu_call_beside_a_reader",
    "rcu_call_beside_a_call",
    "rcu_call_beside_a_try",
    "rcu_call_beside_a_barrier",
    "rcu_two_barriers_without_worker",
    "rcu_call_helps_at_the_limit",
    "rcu_call_helps_the_worker",
    "rcu_call_waits_for_room",
    "rcu_call_waits_for_a_limit",
    "rcu_call_may_be_refused",
    "rcu_barrier_beside_a_rest",
    "rcu_call_in_a_rest",
    "rcu_domain_made_again",
    "rcu_callback_that_calls",
    "rcu_calls_retry_the_worker",
    "rcu_call_hears_of_a_limit",
    "rcu_call_hears_of_old_credit",
    "rcu_call_leaves_some_to_the_worker",
    "rcu_calls_long_after_each_other",
    "rcu_calls_without_end_by_the_worker",
    "rcu_call_after_a_barrier_began",
    "rcu_call_by_a_new_thread",
    "rcu_calls_and_a_barrier",
    "rcu_barrier_beside_a_try",
    "rcu_call_and_a_barrier_in_a_rest",
    "thread_asks_in_its_first_section",
    "lock_two_wakes_of_each",
];

/// A bound of preemptions in the options is that of the quick set.
fn by_its_bound(name: String, options: &str) -> Entry {
    let bound = options.split(' ').rev().find_map(|w| w.strip_prefix("preempt="));
    let mut entry = always(name.clone());
    if let Some(bound) = bound.and_then(|b| b.parse::<usize>().ok()) {
        if bound > 1 && !name.starts_with(WHOLE) {
            entry.test = Some(format!("{name} preempt={}", bound - 1));
        }
        entry.deep = format!("{name} preempt={}", bound + 1);
    }
    if NO_DEEPER.contains(&name.as_str()) {
        entry.deep = name.clone();
    }
    if NO_SAMPLE.contains(&name.as_str()) {
        entry.test = None;
    }
    entry
}

pub fn entries() -> Vec<Entry> {
    let mut all: Vec<Entry> = pairs("32", PAIRED, "").into_iter().map(sampled).collect();
    for width in ["16", "64"] {
        all.extend(pairs(width, PAIRED_ELSEWHERE, " app=1").into_iter().map(always));
    }
    all.extend(BITS.iter().map(|b| always(format!("32/{b}"))));
    for taker in ["read", "seek"] {
        // So long that the waiter insists, and takes W for a moment.
        all.push(always(format!("32/^atomic|{taker} polls=31")));
    }
    // Four claims of S at once make one of W (0x400), which the others meet.
    for other in ["read", "read?", "seek"] {
        all.push(always(format!(
            "16/^seek|seek|{other} stalled=2 reach=1024 preempt=2"
        )));
    }
    for other in ["write", "atomic", "write?", "atomic?"] {
        all.push(always(format!("16/^seek|seek|{other} stalled=2 preempt=2")));
    }
    // The same where four tries make the sum; and beside an atomic user that turns to reading and
    // looks for claims.
    for other in ["read", "seek", "write", "atomic>read", "seek?", "write?"] {
        all.push(always(format!("16/three-tries|seek?|{other} reach=1024 preempt=2")));
    }
    for other in ["seek?", "write", "atomic"] {
        all.push(always(format!("16/^atomic>read|three-tries|{other} preempt=2")));
    }
    all.push(always("16/^atomic>read|seek stalled=3 reach=1024 preempt=2".into()));
    for triple in TRIPLES {
        let many = triple.contains('>') || triple.contains("?claim");
        let (quick, deep) = if many { (1, 2) } else { (2, 3) };
        all.push(bounded(&format!("32/{triple}"), 1, quick, deep));
    }
    for taker in ["read", "seek"] {
        for other in BESIDE_IMPATIENT {
            all.push(bounded(&format!("32/^atomic|{taker}|{other} polls=31"), 0, 1, 2));
        }
    }
    let asleep = suite_locks::good();
    all.extend(asleep.into_iter().map(|name| by_its_bound(name.clone(), &name)));
    all.extend(scene::all().iter().map(|s| by_its_bound(s.name.into(), s.options)));
    all
}

/// A named mistake, where it is made, and the properties that may catch it.
pub struct Bad(pub Fault, pub &'static str, pub &'static [&'static str]);

pub static BAD: &[Bad] = &[
    Bad(Fault::MissingWithdrawal, "32/seek?|seek?", &[RESTORED]),
    Bad(
        Fault::MissingWithdrawal,
        "32/write?claim|write?claim",
        &[RESTORED],
    ),
    Bad(
        Fault::MissingWithdrawal,
        "32/write|read",
        &[PROGRESS, RESTORED],
    ),
    Bad(Fault::TestBeforeClaim, "32/seek|write", &[EXCLUSION]),
    Bad(Fault::TestBeforeClaim, "32/atomic|write", &[EXCLUSION]),
    Bad(Fault::AtomicIgnoresSeek, "32/atomic|seek", &[EXCLUSION]),
    Bad(Fault::ReaderIgnoresWriter, "32/read|write", &[EXCLUSION]),
    Bad(Fault::MissingDrain, "32/seek>write|read", &[EXCLUSION]),
    Bad(Fault::DropTwice, "32/atomic|read", &[RESTORED, PROGRESS]),
    Bad(Fault::DropBeforeStore, "32/write|read", &[RACE]),
    Bad(
        Fault::DeafToClaimants,
        "32/^atomic|atomic>read|write preempt=2",
        &[PROGRESS],
    ),
    Bad(Fault::TornBits, "32/bits|read", &[RESTORED, EXCLUSION]),
    Bad(Fault::KeepsReading, "32/^seek>write|write", &[PROGRESS]),
    Bad(
        Fault::HiddenWaiter,
        "32/^read|atomic",
        &[RESTORED, PROGRESS, EXCLUSION],
    ),
];

/// A mistake planted in each primitive by changing what a tag's accesses do.
pub struct Planted(
    pub &'static str, // a mutation, or the name of a fault
    pub &'static str,
    pub &'static [&'static str],
);

pub static PLANTED: &[Planted] = &[
    Planted("LostWake", "lock32/write|write preempt=2", &[PROGRESS]),
    Planted("LostWake", "lock32/read|write preempt=2", &[PROGRESS]),
    Planted("LostWake", "wait_in_the_kernel", &[PROGRESS]),
    Planted("LostWake", "wait_in_the_list", &[PROGRESS]),
    Planted("LostWake", "cond_signal_beside_a_wait", &[PROGRESS]),
    Planted("LostWake", "event_notified", &[PROGRESS]),
    Planted("LostWake", "bitlock_of_two", &[PROGRESS]),
    Planted("LostWake", "brlock_read_beside_write", &[PROGRESS]),
    Planted("WAIT_LOOK:skip", "wait_in_the_list", &[PROGRESS]),
    Planted("BITLOCK_TAKE:zero", "bitlock_of_two", &[RACE, EXCLUSION]),
    Planted("SEQ_WRITE_END:skip", "seq_read_beside_a_write", &[PROGRESS]),
    Planted(
        "SEQ_LATCH_TURN:skip",
        "latch_read_beside_a_write",
        &[VISIBILITY],
    ),
    Planted("BRLOCK_DRAIN:zero", "brlock_read_beside_write", &[RACE]),
    Planted("BRLOCK_R_TAKE:zero", "brlock_read_beside_write", &[RACE]),
    Planted("LostWake", "sift_read_beside_slow_write", &[PROGRESS]),
    Planted("SIFT_DRAIN:zero", "sift_read_beside_slow_write", &[RACE]),
    Planted("SIFT_R_COUNT:zero", "sift_read_beside_slow_write", &[RACE]),
    Planted("LostWake", "requeue_beside_a_wait", &[PROGRESS]),
    Planted("LostWake", "wait_any_hands_a_wake_on", &[PROGRESS]),
    Planted("LostWake", "notice_at_a_word", &[PROGRESS]),
    Planted("LostWake", "notice_writes_beside_a_reader", &[PROGRESS]),
    Planted("PARK_WAKE:relaxed", "notice_writes_beside_a_writer", &[RACE, PROGRESS]),
    Planted("LostWake", "sift_two_slow_writers", &[PROGRESS]),
    Planted("TABLE_ENTER:relaxed", "table_latch_of_three", &[RACE]),
    Planted("TABLE_GROW:relaxed", "table_grows_beside_a_wake", &[RACE]),
    Planted("OS_LATCH_ENTER:zero", "os_latch_of_two", &[RACE, EXCLUSION]),
    Planted("RCU_ASSIGN:relaxed", "idtable_lookup_beside_insert", &[RACE]),
    Planted("RCU_DONE:zero", "idtable_lookup_beside_remove", &[PROGRESS, RACE]),
    // RCU alone; the sequence alone.
    Planted("-:stale@include/pawl/seq.h", "tree_get_beside_a_move", &[VISIBILITY]),
    Planted("RCU_GONE:zero", "tree_get_beside_a_move", &[EXCLUSION]),
    Planted("RCU_ASSIGN:relaxed", "hash_get_beside_growth", &[RACE]),
    Planted("RCU_GONE:zero", "hash_old_array_is_freed", &[RACE, EXCLUSION]),
    Planted("RCU_GONE:zero", "hash_get_of_what_is_removed", &[EXCLUSION, RACE]),
    Planted("CACHE_DROP:relaxed", "cache_hold_beside_remove", &[RACE]),
    Planted("CACHE_DROP:release", "cache_drop_beside_remove", &[RACE]),
    Planted("CACHE_LAND:relaxed", "cache_two_loads", &[RACE]),
    Planted("CACHE_WAIT:relaxed", "cache_two_loads", &[RACE]),
    Planted("RCU_GONE:zero", "cache_get_beside_remove", &[RACE]),
    Planted("HAZARD_ENTER:acq_rel", "hazard_read_beside_retire", &[RACE]),
    Planted("HAZARD_LOOK:acq_rel", "hazard_read_beside_retire", &[RACE]),
    Planted("HAZARD_SEEN:relaxed", "hazard_read_beside_retire", &[RACE]),
    Planted("COUNTER_PLACE:relaxed", "limit_credit_used_before", &[RACE]),
    Planted("LATCH_TAKE:relaxed", "exact_counters_placed_at_once", &[RACE]),
    Planted("CELLS_OPEN:relaxed", "bigref_revived_beside_gets", &[RACE]),
    Planted("BIGREF_COUNT:skip", "bigref_kill_beside_drop", &[PROGRESS, RACE]),
    Planted("RCU_AGAIN:relaxed", "rcu_two_sections_interrupted", &[RACE]),
    Planted("CELLS_AGAIN:relaxed", "bigref_kill_beside_get", &[PROGRESS, RACE]),
    Planted("RCU_GONE:zero", "rcu_reader_beside_synchronize", &[RACE]),
    Planted("RCU_DONE:zero", "rcu_reader_beside_synchronize", &[PROGRESS]),
    Planted("RCU_GONE:zero", "rcu_reader_without_a_line", &[RACE]),
    Planted("RCU_BEGIN:acq_rel", "rcu_poll_beside_another_driver", &[RACE]),
    Planted("RCU_EXCHANGE:acquire", "rcu_exchange_beside_an_exchange", &[RACE]),
    Planted("RCU_ASSIGN:relaxed", "rcu_list_walk_beside_add", &[RACE]),
    Planted("RCU_TELL:relaxed", "rcu_reader_is_reported", &[PROGRESS]),
    Planted("LostWake", "rcu_call_and_sleep", &[PROGRESS]),
    Planted("CALL_QUEUE:relaxed", "rcu_barrier_without_worker", &[RACE]),
    Planted("CALL_DRAINED:zero", "rcu_barrier_without_worker", &[PROGRESS, RACE]),
    Planted("CALL_SLEEP:acq_rel", "rcu_call_and_sleep", &[PROGRESS]),
    Planted("THREAD_FREE:relaxed", "rcu_call_on_the_line_of_another", &[RACE]),
    Planted("RCU_AGAIN:relaxed", "rcu_reader_in_the_line_of_another", &[RACE]),
    Planted("THREAD_SETUP:relaxed", "thread_beside_set_up", &[RACE, VISIBILITY]),
];
