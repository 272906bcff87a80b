// SPDX-License-Identifier: MIT
//! What a thread of a model does, by name. A model is named by what its threads do, such as
//! `32/read|seek>write`; `>` is a move that a holder makes, `?` one that may fail, `@` one with a
//! deadline.

use crate::subject::{Subject, VISIBILITY};

pub type Script = fn(&Subject);

/// Name, what the thread does before the others start, what it does among them.
pub struct Row(pub &'static str, pub Script, pub Script);

/// `"name" => script`, or `"name" after "op" => script` for who has done that before the start.
macro_rules! rows {
    ($($name:literal $(after $op:literal)? => $script:expr,)*) => {
        &[$(Row($name, |_l| { $(_l.op($op);)? }, $script)),*]
    };
}

/// A try from U; when granted, touch and drop.
fn attempt(l: &Subject, op: &str, state: char, drop: &str) {
    if l.op(op) {
        l.touch_and(state, drop);
    }
}

/// A try from R or S, which is held, and dropped when it fails.
fn upgrade(l: &Subject, from: &str, op: &str, state: char, drop: &str) {
    let held = if from == "read" { 'R' } else { 'S' };
    l.op(&format!("take_{from}"));
    l.touch(held);
    if l.op(op) {
        l.touch_and(state, drop);
    } else {
        l.touch_and(held, &format!("drop_{from}"));
    }
}

/// Takes, touches, moves, touches, drops.
fn step(l: &Subject, take: &str, first: char, go: &str, then: char, drop: &str) {
    l.op(take);
    go_on(l, first, go, then, drop);
}

fn go_on(l: &Subject, first: char, go: &str, then: char, drop: &str) {
    l.touch(first);
    l.op(go);
    l.touch_and(then, drop);
}

pub static ROWS: &[Row] = rows! {
    "read" => |l| step_one(l, "take_read", 'R', "drop_read"),
    "seek" => |l| step_one(l, "take_seek", 'S', "drop_seek"),
    "write" => |l| step_one(l, "take_write", 'W', "drop_write"),
    "atomic" => |l| step_one(l, "take_atomic", 'A', "drop_atomic"),
    "read?" => |l| attempt(l, "try_read", 'R', "drop_read"),
    "seek?" => |l| attempt(l, "try_seek", 'S', "drop_seek"),
    "write?" => |l| attempt(l, "try_write", 'W', "drop_write"),
    "atomic?" => |l| attempt(l, "try_atomic", 'A', "drop_atomic"),
    "write?claim" => |l| attempt(l, "claim_write", 'W', "drop_write"),
    "atomic?claim" => |l| attempt(l, "claim_atomic", 'A', "drop_atomic"),
    "seek>write" => |l| step(l, "take_seek", 'S', "seek_to_write", 'W', "drop_write"),
    "write>seek" => |l| step(l, "take_write", 'W', "write_to_seek", 'S', "drop_seek"),
    "write>read" => |l| step(l, "take_write", 'W', "write_to_read", 'R', "drop_read"),
    "seek>read" => |l| step(l, "take_seek", 'S', "seek_to_read", 'R', "drop_read"),
    "atomic>read" => |l| step(l, "take_atomic", 'A', "atomic_to_read", 'R', "drop_read"),
    "seek>write?" => |l| upgrade(l, "seek", "try_seek_to_write", 'W', "drop_write"),
    "read>seek?" => |l| upgrade(l, "read", "try_read_to_seek", 'S', "drop_seek"),
    "read>write?" => |l| upgrade(l, "read", "try_read_to_write", 'W', "drop_write"),
    "read>write?claim" => |l| upgrade(l, "read", "read_claim_write", 'W', "drop_write"),
    "read>atomic?" => |l| upgrade(l, "read", "try_read_to_atomic", 'A', "drop_atomic"),
    "read>atomic?claim" => |l| upgrade(l, "read", "read_claim_atomic", 'A', "drop_atomic"),
    // With a deadline.
    "read@" => |l| attempt(l, "take_read_until", 'R', "drop_read"),
    "seek@" => |l| attempt(l, "take_seek_until", 'S', "drop_seek"),
    "write@" => |l| attempt(l, "take_write_until", 'W', "drop_write"),
    "atomic@" => |l| attempt(l, "take_atomic_until", 'A', "drop_atomic"),
    "write?claim@" => |l| attempt(l, "claim_write_until", 'W', "drop_write"),
    "atomic?claim@" => |l| attempt(l, "claim_atomic_until", 'A', "drop_atomic"),
    "seek>write@" => |l| upgrade(l, "seek", "seek_to_write_until", 'W', "drop_write"),
    "read>write?claim@" => |l| upgrade(l, "read", "read_claim_write_until", 'W', "drop_write"),
    "read>atomic?claim@" => |l| upgrade(l, "read", "read_claim_atomic_until", 'A', "drop_atomic"),
    "atomic>read@" => |l| {
        l.op("take_atomic");
        l.touch('A');
        if l.op("atomic_to_read_until") {
            l.touch_and('R', "drop_read");
        }
    },
    // Taken before the others start.
    "^read" after "take_read" => |l| l.touch_and('R', "drop_read"),
    "^seek" after "take_seek" => |l| l.touch_and('S', "drop_seek"),
    "^write" after "take_write" => |l| l.touch_and('W', "drop_write"),
    "^atomic" after "take_atomic" => |l| l.touch_and('A', "drop_atomic"),
    "^atomic>read" after "take_atomic" => |l| go_on(l, 'A', "atomic_to_read", 'R', "drop_read"),
    // Three threads that all failed to get S, between their claims and their withdrawals.
    "three-tries" => |l| {
        l.claim_seek(3);
        l.withdraw_seek(3);
    },
    "^seek>write" after "take_seek" => |l| go_on(l, 'S', "seek_to_write", 'W', "drop_write"),
    // The application's bits, beside whatever the others do.
    "bits" => |l| {
        l.set_bits(2);
        l.clear_bits(2);
    },
    "bits:tell" => |l| {
        l.write_flag();
        l.set_bits(1);
    },
    "bits:look" => |l| {
        if l.bits() & 1 != 0 {
            l.read_flag();
        }
    },
    "bits:mark" => |l| {
        if l.set_bits(2) & 1 != 0 {
            l.read_flag();
        }
        assert!(l.bits() & 2 != 0, "{VISIBILITY}: an own change of a bit is not seen");
    },
    "bits:take" => |l| {
        if l.clear_bits(1) & 1 != 0 {
            l.read_flag();
        }
    },
    "bits:untell" => |l| {
        l.write_flag();
        l.clear_bits(1);
    },
    "bits:look-none" => |l| {
        if l.bits() & 1 == 0 {
            l.read_flag();
        }
    },
};

fn step_one(l: &Subject, take: &str, state: char, drop: &str) {
    l.op(take);
    l.touch_and(state, drop);
}

pub fn find(name: &str) -> Option<&'static Row> {
    ROWS.iter().find(|row| row.0 == name)
}
