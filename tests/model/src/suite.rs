// SPDX-License-Identifier: MIT
//! Which models there are: good ones, which must pass, and bad ones, which must fail.

use std::sync::OnceLock;

use crate::fault::Fault;
use crate::scene;
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
    "write?drain",
    "atomic?drain",
    "seek>write",
    "write>seek",
    "write>read",
    "seek>read",
    "atomic>read",
    "seek>write?",
    "read>seek?",
    "read>write?",
    "read>write?drain",
    "read>atomic?",
    "read>atomic?drain",
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
    "read>write?drain|read>write?drain|read",
    "read>atomic?drain|atomic|read",
    "read>seek?|seek>write|read",
    "seek>write|read|read",
    "write?|read>write?|bits",
    "write?drain|read|atomic",
    "write>seek|read|seek",
    "write>read|seek|write",
    "read>atomic?|atomic|read",
];

/// Who is beside a reader or seeker that loses patience. Those who poll themselves take too long.
const BESIDE_IMPATIENT: &[&str] = &["read?", "seek?", "write?", "atomic?"];

/// The same for the lock that sleeps. Its operations are longer: preemptions are bounded.
const PAIRED_ASLEEP: &[&str] = &[
    "read",
    "seek",
    "write",
    "atomic",
    "read?",
    "write?drain",
    "atomic?drain",
    "seek>write",
    "write>seek",
    "write>read",
    "atomic>read",
    "read>write?drain",
    "read>atomic?drain",
];
const PAIRED_ASLEEP_ELSEWHERE: &[&str] = &["read", "seek>write", "atomic>read"];
const TRIPLES_ASLEEP: &[&str] = &[
    "read|write|atomic",
    "write|write|read",
    "seek|write|read",
    "atomic|atomic|write",
    "seek>write|read|write",
];

fn pairs(lock: &str, names: &[&str], options: &str) -> Vec<String> {
    let mut all = Vec::new();
    for (i, one) in names.iter().enumerate() {
        for two in &names[i..] {
            all.push(format!("{lock}/{one}|{two}{options}"));
        }
    }
    all
}

pub fn good(quick: bool) -> Vec<String> {
    let mut all = pairs("32", PAIRED, "");
    for width in ["16", "64"] {
        all.extend(pairs(width, PAIRED_ELSEWHERE, " app=1"));
    }
    all.extend(BITS.iter().map(|b| format!("32/{b}")));
    for taker in ["read", "seek"] {
        // So long that the waiter insists, and takes W for a moment.
        all.push(format!("32/^atomic|{taker} polls=31"));
    }
    // Four claims of S at once make one of W (0x400), which the others meet.
    for other in ["read", "read?", "seek"] {
        all.push(format!(
            "16/^seek|seek|{other} stalled=2 reach=1024 preempt=2"
        ));
    }
    for other in ["write", "atomic", "write?", "atomic?"] {
        all.push(format!("16/^seek|seek|{other} stalled=2 preempt=2"));
    }
    let bound = |heavy: bool| match (quick, heavy) {
        (true, true) => 1,
        (true, false) | (false, true) => 2,
        (false, false) => 3,
    };
    for triple in TRIPLES {
        let many = triple.contains('>') || triple.contains("drain");
        all.push(format!("32/{triple} preempt={}", bound(many)));
    }
    for taker in ["read", "seek"] {
        for other in BESIDE_IMPATIENT {
            let preempt = bound(true);
            all.push(format!(
                "32/^atomic|{taker}|{other} polls=31 preempt={preempt}"
            ));
        }
    }
    let asleep = format!(" preempt={}", if quick { 2 } else { 3 });
    all.extend(pairs("lock32", PAIRED_ASLEEP, &asleep));
    all.extend(pairs("lock64", PAIRED_ASLEEP_ELSEWHERE, &asleep));
    for triple in TRIPLES_ASLEEP {
        all.push(format!("lock32/{triple} preempt={}", bound(true)));
    }
    all.extend(scene::all().iter().map(|s| s.name.to_string()));
    all
}

/// A named mistake, where it is made, and the properties that may catch it.
pub struct Bad(pub Fault, pub &'static str, pub &'static [&'static str]);

pub static BAD: &[Bad] = &[
    Bad(Fault::MissingWithdrawal, "32/seek?|seek?", &[RESTORED]),
    Bad(
        Fault::MissingWithdrawal,
        "32/write?drain|write?drain",
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
    Planted("WAIT_COUNT:skip", "wait_in_the_list", &[PROGRESS]),
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
    Planted("BIGREF_PART:skip", "bigref_kill_beside_get", &[PROGRESS, RACE]),
    Planted("RCU_AGAIN:relaxed", "rcu_two_sections_interrupted", &[RACE]),
    Planted("CELLS_AGAIN:relaxed", "bigref_kill_beside_get", &[PROGRESS, RACE]),
    Planted("RCU_GONE:zero", "rcu_reader_beside_synchronize", &[RACE]),
    Planted("RCU_DONE:zero", "rcu_reader_beside_synchronize", &[PROGRESS]),
];

const ORDERS: &str = include_str!("../../../doc/orders.md");

/// Parts of the names of files that use the progressive lock's tags and have no model yet.
const WITHOUT_MODEL: [&str; 3] = ["compat", "shared", "lock_word"]; // the last: with deadlines

/// (tag, site) of every ordered access of the library, as doc/orders.md lists them.
pub fn sites_listed() -> &'static [(String, String)] {
    static SITES: OnceLock<Vec<(String, String)>> = OnceLock::new();
    SITES.get_or_init(|| {
        let mut all = Vec::new();
        for row in ORDERS.lines().filter(|line| line.starts_with("| `")) {
            let cells: Vec<&str> = row.split(" | ").collect();
            let tag = cells[0].trim_matches(['|', ' ', '`']);
            let sites = cells[cells.len() - 1].trim_matches(['|', ' ']);
            all.extend(sites.split("<br>").map(|site| (tag.into(), site.into())));
        }
        all
    })
}

/// Whether a model must touch it: those of the progressive lock.
pub fn must_be_touched(tag: &str, site: &str) -> bool {
    tag.starts_with("SPIN_") && !WITHOUT_MODEL.iter().any(|part| site.contains(part))
}

/// The site as doc/orders.md has it: that names the line where the operation's name stands, the
/// debugger's line may be another one of the same statement.
pub fn as_listed(tag: &str, site: &str, listed: &[(String, String)]) -> String {
    let Some((file, line)) = site.rsplit_once(':') else {
        return site.into();
    };
    let Ok(line) = line.parse::<i64>() else {
        return site.into();
    };
    let same: Vec<&String> = listed
        .iter()
        .filter(|(t, s)| t == tag && s.starts_with(&format!("{file}:")))
        .map(|(_, s)| s)
        .collect();
    // In a macro the debugger's line is where it is used.
    if let [only] = same[..] {
        return only.clone();
    }
    listed
        .iter()
        .filter(|(t, _)| t == tag)
        .filter_map(|(_, s)| s.rsplit_once(':'))
        .filter(|(f, _)| *f == file)
        .filter_map(|(_, n)| n.parse::<i64>().ok())
        .filter(|n| (n - line).abs() <= 2)
        .min_by_key(|n| (n - line).abs())
        .map_or(site.into(), |n| format!("{file}:{n}"))
}
