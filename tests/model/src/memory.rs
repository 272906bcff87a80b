// SPDX-License-Identifier: MIT
//! The memory that a scene's threads share: its values, and its life: used anew, or no longer
//! mapped.

use std::cell::RefCell;
use std::ffi::c_void;
use std::ops::Range;

use crate::{hooks, sleep};

thread_local! {
    /// By thread: what is not mapped where it runs.
    static GONE: RefCell<[Vec<Range<usize>>; hooks::THREADS]> = RefCell::default();
}

pub fn reset() {
    GONE.with(|g| *g.borrow_mut() = Default::default());
}

/// Ends the model if the caller touches, or wakes at, what is not mapped where it runs.
pub fn still_mapped(address: usize) {
    let gone = GONE.with(|g| g.borrow()[hooks::me()].iter().any(|r| r.contains(&address)));
    assert!(!gone, "exclusion: an operation uses memory that it has given up");
}

/// What stands there.
pub fn value(address: *mut c_void, bytes: u32) -> u64 {
    unsafe {
        match bytes {
            1 => u64::from(*(address as *const u8)),
            2 => u64::from(*(address as *const u16)),
            4 => u64::from(*(address as *const u32)),
            8 => *(address as *const u64),
            _ => panic!("harness: an access of {bytes} bytes"),
        }
    }
}

pub fn set_value(address: *mut c_void, bytes: u32, value: u64) {
    unsafe {
        match bytes {
            1 => *(address as *mut u8) = value as u8,
            2 => *(address as *mut u16) = value as u16,
            4 => *(address as *mut u32) = value as u32,
            _ => *(address as *mut u64) = value,
        }
    }
}

/// These bytes are no longer mapped in the process of `thread`. Loom tries the other orders of this
/// and an access, or a wake, there.
#[no_mangle]
extern "C" fn m_unmap(thread: u32, from: *mut c_void, bytes: usize) {
    let range = from as usize..from as usize + bytes;
    for (address, bytes) in hooks::places_in(&range) {
        hooks::conflict_at(address, bytes);
    }
    sleep::meet(&range);
    hooks::say(format!("unmaps it where thread {thread} runs"));
    GONE.with(|g| g.borrow_mut()[thread as usize].push(range));
}

/// The caller has stored plainly in these bytes, alone: others may now meet them as atomics.
#[no_mangle]
extern "C" fn m_renew(from: *mut c_void, bytes: usize) {
    for (address, bytes) in hooks::places_in(&(from as usize..from as usize + bytes)) {
        hooks::prepare(address as *mut c_void, bytes);
    }
}
