// SPDX-License-Identifier: MIT
//! A loop of the library's in which no memory of loom's is touched never ends, and loom does not
//! see it. So a process that computes for seconds without an access has failed: that tells it from
//! a long exploration.

use std::ffi::{c_int, c_long};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::subject::PROGRESS;

const SECONDS: c_long = 2; // of the processor's, between two looks
const ITIMER_VIRTUAL: c_int = 1;
const SIGVTALRM: c_int = 26;

#[repr(C)]
struct Time {
    seconds: c_long,
    microseconds: c_long,
}

#[repr(C)]
struct Timer {
    interval: Time,
    first: Time,
}

extern "C" {
    fn setitimer(which: c_int, new: *const Timer, old: *mut Timer) -> c_int;
    fn signal(number: c_int, handler: extern "C" fn(c_int)) -> usize;
}

static ACCESSES: AtomicU64 = AtomicU64::new(0);
static SEEN: AtomicU64 = AtomicU64::new(u64::MAX);

/// Something has been done that an execution has only so much of.
pub fn goes_on() {
    ACCESSES.fetch_add(1, Relaxed);
}

extern "C" fn look(_: c_int) {
    let now = ACCESSES.load(Relaxed);
    assert!(
        SEEN.swap(now, Relaxed) != now,
        "{PROGRESS}: a loop that touches nothing"
    );
}

fn every(seconds: c_long) {
    let time = || Time {
        seconds,
        microseconds: 0,
    };
    let timer = Timer {
        interval: time(),
        first: time(),
    };
    let failed = unsafe { setitimer(ITIMER_VIRTUAL, &timer, std::ptr::null_mut()) };
    assert!(failed == 0, "harness: no timer");
}

pub fn watch() {
    unsafe { signal(SIGVTALRM, look) };
    every(SECONDS);
}

/// Before another program takes the place of this one: it would keep the timer.
pub fn watch_no_more() {
    every(0);
}
