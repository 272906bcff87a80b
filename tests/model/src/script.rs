// SPDX-License-Identifier: MIT
//! What a thread of a model does, by name. A model is named by what its threads do, such as
//! `32/read|seek>write`; `>` is a move that a holder makes, `?` one that may fail, `@` one with a
//! deadline.

use crate::subject::{Subject, VISIBILITY};

pub type Script = fn(&Subject);

/// Name, what the thread does before the others start, what it does among them.
pub struct Row(pub &'static str, pub Script, pub Script);

fn nothing(_: &Subject) {}

/// A try from U; when granted, touch and drop.
fn attempt(l: &Subject, op: &str, state: char, drop: &str) {
    if l.op(op) {
        l.touch_and(state, drop);
    }
}

/// A try from R, which is held; R is dropped when it fails.
fn upgrade(l: &Subject, op: &str, state: char, drop: &str) {
    l.op("take_read");
    l.touch('R');
    if l.op(op) {
        l.touch_and(state, drop);
    } else {
        l.touch_and('R', "drop_read");
    }
}

/// Takes, touches, moves, touches, drops.
fn step(l: &Subject, take: &str, first: char, go: &str, then: char, drop: &str) {
    l.op(take);
    l.touch(first);
    l.op(go);
    l.touch_and(then, drop);
}

pub static ROWS: &[Row] = &[
    Row("read", nothing, |l| {
        step_one(l, "take_read", 'R', "drop_read")
    }),
    Row("seek", nothing, |l| {
        step_one(l, "take_seek", 'S', "drop_seek")
    }),
    Row("write", nothing, |l| {
        step_one(l, "take_write", 'W', "drop_write")
    }),
    Row("atomic", nothing, |l| {
        step_one(l, "take_atomic", 'A', "drop_atomic")
    }),
    Row("read?", nothing, |l| {
        attempt(l, "try_read", 'R', "drop_read")
    }),
    Row("seek?", nothing, |l| {
        attempt(l, "try_seek", 'S', "drop_seek")
    }),
    Row("write?", nothing, |l| {
        attempt(l, "try_write", 'W', "drop_write")
    }),
    Row("atomic?", nothing, |l| {
        attempt(l, "try_atomic", 'A', "drop_atomic")
    }),
    Row("write?claim", nothing, |l| {
        attempt(l, "claim_write", 'W', "drop_write")
    }),
    Row("atomic?claim", nothing, |l| {
        attempt(l, "claim_atomic", 'A', "drop_atomic")
    }),
    Row("seek>write", nothing, |l| {
        step(l, "take_seek", 'S', "seek_to_write", 'W', "drop_write")
    }),
    Row("write>seek", nothing, |l| {
        step(l, "take_write", 'W', "write_to_seek", 'S', "drop_seek")
    }),
    Row("write>read", nothing, |l| {
        step(l, "take_write", 'W', "write_to_read", 'R', "drop_read")
    }),
    Row("seek>read", nothing, |l| {
        step(l, "take_seek", 'S', "seek_to_read", 'R', "drop_read")
    }),
    Row("atomic>read", nothing, |l| {
        step(l, "take_atomic", 'A', "atomic_to_read", 'R', "drop_read")
    }),
    Row("seek>write?", nothing, |l| {
        l.op("take_seek");
        l.touch('S');
        if l.op("try_seek_to_write") {
            l.touch_and('W', "drop_write");
        } else {
            l.touch_and('S', "drop_seek");
        }
    }),
    Row("read>seek?", nothing, |l| {
        upgrade(l, "try_read_to_seek", 'S', "drop_seek")
    }),
    Row("read>write?", nothing, |l| {
        upgrade(l, "try_read_to_write", 'W', "drop_write")
    }),
    Row("read>write?claim", nothing, |l| {
        upgrade(l, "read_claim_write", 'W', "drop_write")
    }),
    Row("read>atomic?", nothing, |l| {
        upgrade(l, "try_read_to_atomic", 'A', "drop_atomic")
    }),
    Row("read>atomic?claim", nothing, |l| {
        upgrade(l, "read_claim_atomic", 'A', "drop_atomic")
    }),
    // With a deadline.
    Row("read@", nothing, |l| {
        attempt(l, "take_read_until", 'R', "drop_read")
    }),
    Row("seek@", nothing, |l| {
        attempt(l, "take_seek_until", 'S', "drop_seek")
    }),
    Row("write@", nothing, |l| {
        attempt(l, "take_write_until", 'W', "drop_write")
    }),
    Row("atomic@", nothing, |l| {
        attempt(l, "take_atomic_until", 'A', "drop_atomic")
    }),
    Row("write?claim@", nothing, |l| {
        attempt(l, "claim_write_until", 'W', "drop_write")
    }),
    Row("atomic?claim@", nothing, |l| {
        attempt(l, "claim_atomic_until", 'A', "drop_atomic")
    }),
    Row("seek>write@", nothing, |l| {
        l.op("take_seek");
        l.touch('S');
        if l.op("seek_to_write_until") {
            l.touch_and('W', "drop_write");
        } else {
            l.touch_and('S', "drop_seek");
        }
    }),
    Row("read>write?claim@", nothing, |l| {
        upgrade(l, "read_claim_write_until", 'W', "drop_write")
    }),
    Row("read>atomic?claim@", nothing, |l| {
        upgrade(l, "read_claim_atomic_until", 'A', "drop_atomic")
    }),
    Row("atomic>read@", nothing, |l| {
        l.op("take_atomic");
        l.touch('A');
        if l.op("atomic_to_read_until") {
            l.touch_and('R', "drop_read");
        }
    }),
    // Taken before the others start.
    Row(
        "^read",
        |l| pre(l, "take_read"),
        |l| l.touch_and('R', "drop_read"),
    ),
    Row(
        "^seek",
        |l| pre(l, "take_seek"),
        |l| l.touch_and('S', "drop_seek"),
    ),
    Row(
        "^write",
        |l| pre(l, "take_write"),
        |l| l.touch_and('W', "drop_write"),
    ),
    Row(
        "^atomic",
        |l| pre(l, "take_atomic"),
        |l| l.touch_and('A', "drop_atomic"),
    ),
    Row(
        "^atomic>read",
        |l| pre(l, "take_atomic"),
        |l| {
            l.touch('A');
            l.op("atomic_to_read");
            l.touch_and('R', "drop_read");
        },
    ),
    // Three threads that all failed to get S, between their claims and their withdrawals.
    Row("three-tries", nothing, |l| {
        l.claim_seek(3);
        l.withdraw_seek(3);
    }),
    Row(
        "^seek>write",
        |l| pre(l, "take_seek"),
        |l| {
            l.touch('S');
            l.op("seek_to_write");
            l.touch_and('W', "drop_write");
        },
    ),
    // The application's bits, beside whatever the others do.
    Row("bits", nothing, |l| {
        l.set_bits(2);
        l.clear_bits(2);
    }),
    Row("bits:tell", nothing, |l| {
        l.write_flag();
        l.set_bits(1);
    }),
    Row("bits:look", nothing, |l| {
        if l.bits() & 1 != 0 {
            l.read_flag();
        }
    }),
    Row("bits:mark", nothing, |l| {
        if l.set_bits(2) & 1 != 0 {
            l.read_flag();
        }
        assert!(l.bits() & 2 != 0, "{VISIBILITY}: an own change of a bit is not seen");
    }),
    Row("bits:take", nothing, |l| {
        if l.clear_bits(1) & 1 != 0 {
            l.read_flag();
        }
    }),
    Row("bits:untell", nothing, |l| {
        l.write_flag();
        l.clear_bits(1);
    }),
    Row("bits:look-none", nothing, |l| {
        if l.bits() & 1 == 0 {
            l.read_flag();
        }
    }),
];

fn step_one(l: &Subject, take: &str, state: char, drop: &str) {
    l.op(take);
    l.touch_and(state, drop);
}

fn pre(l: &Subject, take: &str) {
    l.op(take);
}

pub fn find(name: &str) -> Option<&'static Row> {
    ROWS.iter().find(|row| row.0 == name)
}
