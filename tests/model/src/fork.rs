// SPDX-License-Identifier: MIT
//! The child of a fork: the memory as it is at that moment, and the forking thread alone.
//!
//! The checker cannot copy memory. So the execution goes on as the child, and the other threads
//! stand still: the child's accesses go to memory, which has the newest values, and not through
//! loom, which would run others at each. When the child is over, each of the others ends at its
//! next access (scenes/fork.c). A system that forks stops each other thread between two of its
//! stores, and the child finds all that came before: so it may read plainly.

use std::cell::Cell;

use crate::hooks::{self, Kind, Operation};
use crate::{memory, sleep};
use crate::subject::PROGRESS;

/// Polls and yields of a child, which wait for nobody.
const POLLS: u32 = 100;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Parent,
    Child,
    Over,
}

thread_local! {
    static STAGE: Cell<Stage> = const { Cell::new(Stage::Parent) };
    static POLLED: Cell<u32> = const { Cell::new(0) };
}

pub fn reset() {
    STAGE.set(Stage::Parent);
    POLLED.set(0);
}

/// The calling thread is the child's.
pub fn is_child() -> bool {
    STAGE.get() == Stage::Child
}

/// The other threads are about to end.
pub fn is_over() -> bool {
    STAGE.get() == Stage::Over
}

/// An access of the child.
pub fn carry_out(o: Operation) -> u64 {
    if o.kind == Kind::Fence {
        return 0;
    }
    let found = memory::value(o.address, o.width);
    if let Some(value) = hooks::stored(&o, found) {
        memory::set_value(o.address, o.width, value);
    }
    if o.kind == Kind::Store {
        0
    } else {
        found
    }
}

/// The child polls, or yields.
pub fn polls() {
    POLLED.set(POLLED.get() + 1);
    assert!(POLLED.get() < POLLS, "{PROGRESS}: the child waits for a thread that it does not have");
}

/// The child sleeps; false: until its deadline.
pub fn sleeps(address: *const u32, expected: u32, deadline: u64) -> bool {
    if unsafe { *address } != expected {
        return true;
    }
    assert!(deadline != u64::MAX, "{PROGRESS}: the child sleeps for ever");
    false
}

// ---- scenes.h -----------------------------------------------------------------------------------

#[no_mangle]
extern "C" fn m_child_begins() {
    hooks::say("goes on as the child".into());
    STAGE.set(Stage::Child);
}

#[no_mangle]
extern "C" fn m_child_ends() {
    STAGE.set(Stage::Over);
    sleep::wake_everybody();
}

#[no_mangle]
extern "C" fn m_child_is_over() -> bool {
    is_over()
}

#[no_mangle]
extern "C" fn m_child_goes_on() -> bool {
    is_child()
}
