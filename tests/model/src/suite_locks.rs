// SPDX-License-Identifier: MIT
//! Models of the locks that sleep, in one process and in shared memory: pairs and triples of
//! scripts, deadlines, and the hand-over to the oldest waiter.

use crate::subject::{EXCLUSION, PROGRESS, RACE, RESTORED, VISIBILITY};
use crate::suite::{pairs, Planted};

const PAIRED: &[&str] = &[
    "read",
    "seek",
    "write",
    "atomic",
    "read?",
    "write?claim",
    "atomic?claim",
    "seek>write",
    "write>seek",
    "write>read",
    "atomic>read",
    "read>write?claim",
    "read>atomic?claim",
];
const PAIRED_ELSEWHERE: &[&str] = &["read", "seek>write", "atomic>read"];
/// Moves between R and S, and tries of S.
const SIDEWAYS: &[&str] = &[
    "seek>read|read",
    "seek>read|seek",
    "seek>read|write",
    "read>seek?|seek",
    "read>seek?|seek>read",
    "read>seek?|read>seek?",
    "seek?|seek",
    "seek?|seek?",
    "seek?|write>seek",
];
const TRIPLES: &[&str] = &[
    "read|write|atomic",
    "write|write|read",
    "seek|write|read",
    "atomic|atomic|write",
    "seek>write|read|write",
];

/// A deadline that passes at any moment, beside those who may be in the way.
const TIMED: &[&str] = &[
    "read@",
    "seek@",
    "write@",
    "atomic@",
    "write?claim@",
    "atomic?claim@",
    "seek>write@",
    "read>write?claim@",
    "read>atomic?claim@",
    "atomic>read@",
];
const BESIDE_TIMED: &[&str] = &["read", "seek>write", "write", "atomic"];

/// Who gives up lets in whom it has held back.
const TRIPLES_TIMED: &[&str] = &[
    "^read|write@|read",
    "^read|write@|atomic",
    "^read|atomic@|read",
    "^read|seek>write@|read",
    "^seek|write@|read",
    "^atomic|write@|atomic",
    "^write|write@|write@",
    "^write|read@|write",
];
const LATE: &str = " time=2000000";

/// The oldest waiter's turn comes, which then keeps a claim.
const HANDED_OVER: &[&str] = &[
    "^write|write|read",
    "^write|seek|read",
    "^atomic|atomic|read",
    "^atomic|atomic|seek",
    "^seek|atomic|write",
    "^write|atomic|read",
];
const TURN: &str = " time=700000";

/// The turn comes before the seeker has slept: no latch orders it after the seeker before it.
const SOUGHT: &str = "lock32/^seek|seek";

/// Moves of one who is alone, beside one who comes.
const ALONE: &[&str] = &["seek>write?|read", "read>write?|read", "read>atomic?|atomic"];

/// One that sleeps is woken and overtaken: the hint that one is awake must be gone when it sleeps
/// again.
const OVERTAKEN: &str = "lock32/^seek|seek|seek";

/// So long that the waiter insists, and takes W for a moment.
const IMPATIENT: &[&str] = &["shared32/^atomic|read polls=31", "shared32/^atomic|seek polls=31"];

/// In models the 64-bit lock in shared memory has its turn when it was overtaken twice.
const IMPATIENT_SOON: &[&str] = &[
    "shared64/^write|write",
    "shared64/^atomic|seek",
    "shared64/^atomic|read",
    "shared64/seek|seek",
    "shared64/write|write",
];

/// Readers that scale, beside each that looks at their entries, or that moves from one.
const SCALING: &[&str] = &[
    "read|read",
    "read|seek",
    "read|write",
    "read|atomic",
    "read|write?",
    "read|atomic?",
    "read|write?claim",
    "read|atomic?claim",
    "read|seek>write",
    "read|seek>write?",
    "read|write>read",
    "read|write>seek",
    "read|seek>read",
    "read|atomic>read",
    "read|read>seek?",
    "read|read>write?",
    "read|read>atomic?",
    "read|read>write?claim",
    "read|read>atomic?claim",
    "read?|write",
    "read?|atomic",
    "write|write",
    "write|atomic",
    "write|seek>write",
    "write|read>seek?",
    "write|read>write?claim",
    "write|read>atomic?claim",
    "atomic|atomic",
    "atomic|read>write?claim",
    "atomic|read>atomic?claim",
    "atomic|atomic>read",
    "read>seek?|read>seek?",
    "read>write?claim|read>write?claim",
    "read>atomic?claim|read>atomic?claim",
];
const SCALING_WIDE: &[&str] = &["read|write", "read|atomic"];
/// The first drop of R sets BIASED.
const SCALING_SOON: &[&str] = &["read|write", "read|seek>write", "read|atomic", "read|read"];
const SCALING_TRIPLES: &[&str] = &[
    "^read|write|read",
    "^read|atomic|atomic",
    "^read|write?|atomic",
    "^read|write?|write",
    "^read|seek>write|read",
    "^atomic|atomic|read",
];
const SCALING_TIMED: &[&str] = &[
    "^read|write@",
    "^read|atomic@",
    "^read|seek>write@",
    "read>write?claim@|read",
    "read>atomic?claim@|read",
    "read@|write",
];

/// With the bounds of the quick set.
pub fn good() -> Vec<String> {
    let [least, few, more] = [" preempt=0", " preempt=1", " preempt=2"];
    let mut all = Vec::new();
    for kind in ["lock", "shared"] {
        all.extend(pairs(&format!("{kind}32"), PAIRED, more));
        all.extend(pairs(&format!("{kind}64"), PAIRED_ELSEWHERE, more));
        all.extend(SIDEWAYS.iter().map(|p| format!("{kind}32/{p}{more}")));
        all.extend(TRIPLES.iter().map(|t| format!("{kind}32/{t}{few}")));
        for timed in TIMED {
            let beside = BESIDE_TIMED.iter();
            all.extend(beside.map(|other| format!("{kind}32/{timed}|{other}{LATE}{few}")));
        }
        all.extend(TRIPLES_TIMED.iter().map(|t| format!("{kind}32/{t}{LATE}{least}")));
    }
    all.extend(SCALING.iter().map(|p| format!("lock32/{p} bias=1{more}")));
    all.extend(SCALING_SOON.iter().map(|p| format!("lock32/{p} bias=2{more}")));
    all.extend(SCALING_WIDE.iter().map(|p| format!("lock64/{p} bias=1{few}")));
    all.extend(SCALING_TRIPLES.iter().map(|t| format!("lock32/{t} bias=1{least}")));
    all.extend(SCALING_TIMED.iter().map(|t| format!("lock32/{t} bias=1{LATE}{least}")));
    all.extend(HANDED_OVER.iter().map(|t| format!("lock32/{t}{TURN}{least}")));
    all.extend(HANDED_OVER.iter().map(|t| format!("shared64/{t}{least}")));
    all.extend(IMPATIENT_SOON.iter().map(|t| format!("{t}{few}")));
    all.push(format!("{SOUGHT}{TURN}{few}"));
    all.extend(ALONE.iter().map(|p| format!("lock32/{p}{more}")));
    all.push(format!("{OVERTAKEN}{more}"));
    all.extend(IMPATIENT.iter().map(|t| format!("{t}{few}")));
    all
}

pub static PLANTED: &[Planted] = &[
    Planted("LostWake", "shared32/write|write preempt=2", &[PROGRESS]),
    Planted("PSHARED_TELL:skip", "shared32/write|write preempt=2", &[PROGRESS]),
    Planted("PSHARED_LEAVE:skip", "shared32/write|write preempt=2", &[PROGRESS]),
    Planted("SPIN_R_TO_A:skip", "shared32/seek|write preempt=2", &[RESTORED]),
    Planted("LOCK_PARK:skip", "lock32/write|write preempt=2", &[PROGRESS]),
    Planted("LostWake", "lock32/write@|read time=2000000 preempt=1", &[PROGRESS]),
    Planted("SPIN_R_TO_A:skip", "lock32/seek|write preempt=2", &[RESTORED]),
    Planted("NoSecondLook", "lock32/read|write bias=1 preempt=1", &[RACE, EXCLUSION]),
    Planted("PassesALineBy", "lock32/read|write bias=1 preempt=1", &[RACE, EXCLUSION]),
    Planted("EntersUnbiased", "bias_cleared_between_two_writes", &[RACE, EXCLUSION]),
    Planted("DeafToWaiters", "bias_drop_interrupted", &[PROGRESS]),
    Planted("ENTRY_SLEEP:relaxed", "bias_drop_interrupted", &[PROGRESS]),
    Planted("LostWake", "bias_drop_interrupted", &[PROGRESS]),
    Planted("LORW_W_TAKE:zero", "plock_lorw_reads_beside_lorw_writes", &[RACE]),
    Planted("LORW_R_TAKE:zero", "plock_lorw_reads_beside_lorw_writes", &[RACE, VISIBILITY]),
    Planted("PLOCK_MOVE:zero", "plock_changes_beside_reads", &[PROGRESS]),
    Planted("PLOCK_LEAVE:skip", "plock_joins_beside_reads", &[PROGRESS, RESTORED]),
    Planted("LostWake", "robust_reads_beside_writes", &[PROGRESS]),
    Planted("SeekerRecordedFirst", "robust_seeks_killed_beside_reads", &[VISIBILITY]),
];
