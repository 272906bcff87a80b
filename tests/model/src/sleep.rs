// SPDX-License-Identifier: MIT
//! Sleeping and waking as the system does it: the value is looked at under the address's own lock,
//! which a waker takes too. So whoever stores and then wakes finds the sleeper, or is seen by it;
//! beside that a wake orders nothing that the library could lean on.

use loom::sync::{Condvar, Mutex};
use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::c_void;
use std::ops::Range;
use std::sync::Arc;

use crate::fault::{Change, Fault, WAKE};
use crate::hooks::{self, Kind, Operation, Order};
use crate::{clock, fork, interrupts, memory, notes};

struct Sleeper {
    address: usize,
    thread: usize,
    classes: u32,
    deadline: u64,
    late: bool,
    woken: bool,
}

#[derive(Default)]
struct Beds {
    locks: HashMap<usize, Arc<Mutex<()>>>,
    pillows: HashMap<usize, Arc<Condvar>>, // by thread
    sleepers: Vec<Sleeper>,                // oldest first
    time_flies: bool,                      // past every deadline that somebody sleeps until
}

thread_local! {
    static NOW: RefCell<Beds> = RefCell::default();
}

pub fn reset() {
    NOW.with(|n| *n.borrow_mut() = Beds::default());
    clock::reset();
}

/// Nanoseconds go by, and those whose time is over wake up.
pub fn pass_time(nanoseconds: u64) {
    let now = clock::pass(nanoseconds);
    let late: Vec<(usize, usize)> = NOW.with(|n| {
        let mut n = n.borrow_mut();
        let late = n.sleepers.iter_mut().filter(|s| s.deadline <= now);
        late.map(|s| {
            s.late = true;
            (s.address, s.thread)
        })
        .collect()
    });
    hooks::something_changed();
    for (address, thread) in late {
        let lock = lock_of(address);
        let _guard = lock.lock().expect("no thread panics");
        pillow_of(thread).notify_all();
    }
}

fn lock_of(address: usize) -> Arc<Mutex<()>> {
    if let Some(known) = NOW.with(|n| n.borrow().locks.get(&address).cloned()) {
        return known;
    }
    let made = Arc::new(Mutex::new(()));
    NOW.with(|n| n.borrow_mut().locks.insert(address, made.clone()));
    made
}

fn pillow_of(thread: usize) -> Arc<Condvar> {
    if let Some(known) = NOW.with(|n| n.borrow().pillows.get(&thread).cloned()) {
        return known;
    }
    let made = Arc::new(Condvar::new());
    NOW.with(|n| n.borrow_mut().pillows.insert(thread, made.clone()));
    made
}

/// Comes before or after each wake and each sleep at these addresses.
pub fn meet(range: &Range<usize>) {
    for address in range.clone().step_by(4) {
        drop(lock_of(address).lock().expect("no thread panics"));
    }
}

fn look(address: *const u32) -> u64 {
    hooks::perform(Operation {
        address: address as *mut c_void,
        width: 4,
        kind: Kind::Load,
        order: Order::Relaxed,
        tag: 0,
        operand: 0,
        expected: 0,
    })
}

/// Takes the sleeper away and says how it fared: true woken, false late; None: it sleeps on.
fn risen(thread: usize) -> Option<bool> {
    NOW.with(|n| {
        let mut n = n.borrow_mut();
        let at = n.sleepers.iter().position(|s| s.thread == thread)?;
        if n.sleepers[at].woken || n.sleepers[at].late {
            return Some(n.sleepers.remove(at).woken);
        }
        None
    })
}

fn wait(address: *const u32, expected: u32, classes: u32, deadline: u64) -> bool {
    if fork::is_child() {
        return fork::sleeps(address, expected, deadline);
    }
    let me = hooks::me();
    let lock = lock_of(address as usize);
    let mut guard = lock.lock().expect("no thread panics");
    if look(address) != u64::from(expected) || fork::is_over() {
        return true;
    }
    if deadline != u64::MAX && NOW.with(|n| n.borrow().time_flies) {
        drop(guard);
        hooks::say("sleeps as long as it may".into());
        pass_time(deadline.saturating_sub(clock::system_looks()));
        loom::thread::yield_now();
        return false;
    }
    let late = deadline != u64::MAX && deadline <= clock::system_looks();
    NOW.with(|n| {
        n.borrow_mut().sleepers.push(Sleeper {
            address: address as usize,
            thread: me,
            classes,
            deadline,
            late,
            woken: false,
        })
    });
    hooks::say("sleeps".into());
    let pillow = pillow_of(me);
    interrupts::goes(me, true, false);
    loop {
        if let Some(woken) = risen(me) {
            interrupts::goes(me, false, false);
            hooks::say(if woken { "is woken" } else { "is late" }.into());
            return woken;
        }
        guard = pillow.wait(guard).expect("no thread panics");
    }
}

/// Whatever they sleep for.
pub fn wake_everybody() {
    let all: Vec<(usize, usize)> = NOW.with(|n| {
        let mut n = n.borrow_mut();
        n.sleepers.iter_mut().for_each(|s| s.woken = true);
        n.sleepers.iter().map(|s| (s.address, s.thread)).collect()
    });
    for (address, thread) in all {
        let lock = lock_of(address);
        let _guard = lock.lock().expect("no thread panics");
        pillow_of(thread).notify_all();
    }
}

fn wake(address: *const u32, classes: u32, count: u32) -> u32 {
    if hooks::fault() == Fault::LostWake || fork::is_child() {
        return 0;
    }
    let lock = lock_of(address as usize);
    let guard = lock.lock().expect("no thread panics");
    memory::still_mapped(address as usize);
    let found: Vec<usize> = NOW.with(|n| {
        let n = n.borrow();
        let matching = |s: &&Sleeper| {
            s.address == address as usize && s.classes & classes != 0 && !s.woken
        };
        let matching = n.sleepers.iter().filter(matching);
        matching.take(count as usize).map(|s| s.thread).collect()
    });
    if found.is_empty() {
        return 0;
    }
    let returns = notes::returns();
    if matches!(hooks::mutated(WAKE, &returns), Some(Change::Skip)) {
        hooks::say(format!("  should have woken {found:?}"));
        return found.len() as u32;
    }
    notes::wakes(returns);
    NOW.with(|n| {
        let mut n = n.borrow_mut();
        for sleeper in n.sleepers.iter_mut().filter(|s| found.contains(&s.thread)) {
            sleeper.woken = true;
        }
    });
    hooks::something_changed();
    for thread in &found {
        pillow_of(*thread).notify_all();
    }
    drop(guard);
    found.len() as u32
}

// ---- <pawl/detail/hook.h> -----------------------------------------------------------------------

#[no_mangle]
extern "C" fn pawl_hook_wait(address: *const u32, expected: u32, deadline: u64) -> bool {
    wait(address, expected, u32::MAX, deadline)
}

#[no_mangle]
extern "C" fn pawl_hook_wake(address: *const u32, count: u32) -> u32 {
    wake(address, u32::MAX, count)
}

#[no_mangle]
extern "C" fn pawl_hook_wait_classes(
    address: *const u32,
    expected: u32,
    classes: u32,
    deadline: u64,
) -> bool {
    wait(address, expected, classes, deadline)
}

#[no_mangle]
extern "C" fn pawl_hook_wake_classes(address: *const u32, classes: u32, count: u32) -> u32 {
    wake(address, classes, count)
}

#[no_mangle]
extern "C" fn pawl_hook_now() -> u64 {
    if fork::is_child() {
        return clock::system_looks();
    }
    clock::look()
}

#[no_mangle]
extern "C" fn m_time_flies() {
    NOW.with(|n| n.borrow_mut().time_flies = true);
}

#[no_mangle]
extern "C" fn m_pass_time(nanoseconds: u64) {
    pass_time(nanoseconds);
}
