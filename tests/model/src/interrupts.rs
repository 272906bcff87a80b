// SPDX-License-Identifier: MIT
//! Heavy fences as the system makes them: the caller interrupts every thread of the process, each
//! passes a full fence somewhere between two of its accesses, and then the caller goes on. A light
//! fence is nothing then. (By default a model takes both for full fences, as where the system has
//! no such call: that shows that light fences are needed; this shows that they suffice.)

use loom::sync::atomic::{fence, AtomicUsize, Ordering};
use loom::sync::Condvar;
use std::cell::{Cell, RefCell};
use std::sync::Arc;

use crate::hooks;

/// A thread as the interrupting one sees it.
#[derive(Clone)]
struct Target {
    runs: bool,   // it has begun and not ended
    due: bool,    // it is to pass a fence before its next access
    asleep: bool, // in the system, which has passed the fence for it
    /// Orders what is before on one side before what is after on the other.
    bell: Option<Arc<AtomicUsize>>,
    /// Makes loom try the interrupt before each of its accesses.
    step: Option<Arc<Condvar>>,
}

thread_local! {
    static MODELLED: Cell<bool> = const { Cell::new(false) };
    static TARGETS: RefCell<Vec<Target>> = const { RefCell::new(Vec::new()) };
}

pub fn model(modelled: bool) {
    MODELLED.with(|m| m.set(modelled));
}

pub fn are_modelled() -> bool {
    MODELLED.with(Cell::get)
}

/// Before the threads run.
pub fn reset(threads: usize) {
    let modelled = are_modelled();
    let target = || Target {
        runs: modelled,
        due: false,
        asleep: false,
        bell: modelled.then(|| Arc::new(AtomicUsize::new(0))),
        step: modelled.then(|| Arc::new(Condvar::new())),
    };
    let made = (0..threads).map(|_| target()).collect();
    TARGETS.with(|t| *t.borrow_mut() = made);
}

fn with<T>(thread: usize, f: impl FnOnce(&mut Target) -> T) -> Option<T> {
    TARGETS.with(|t| t.borrow_mut().get_mut(thread).map(f))
}

fn ring(thread: usize) {
    let bell = with(thread, |t| t.bell.clone()).flatten();
    fence(Ordering::SeqCst);
    bell.expect("modelled").fetch_add(1, Ordering::AcqRel);
    fence(Ordering::SeqCst);
}

/// The calling thread is about to access memory.
pub fn arrive(thread: usize) {
    if !are_modelled() {
        return;
    }
    if let Some(step) = with(thread, |t| t.step.clone()).flatten() {
        step.notify_all();
    }
    answer(thread);
}

fn answer(thread: usize) {
    if with(thread, |t| std::mem::take(&mut t.due)) == Some(true) {
        ring(thread);
        hooks::something_changed();
    }
}

/// The calling thread goes into the system, or comes back, or ends.
pub fn goes(thread: usize, asleep: bool, ends: bool) {
    if !are_modelled() {
        return;
    }
    if with(thread, |t| t.bell.is_some()) == Some(true) {
        ring(thread);
    }
    with(thread, |t| {
        t.due = false;
        t.asleep = asleep;
        t.runs = !ends;
    });
    hooks::something_changed();
}

/// The heavy fence.
pub fn all_threads(caller: usize) {
    let count = TARGETS.with(|t| t.borrow().len());
    fence(Ordering::SeqCst);
    for thread in (0..count).filter(|t| *t != caller) {
        if let Some(step) = with(thread, |t| t.step.clone()).flatten() {
            step.notify_all();
        }
        with(thread, |t| t.due = t.runs && !t.asleep);
    }
    loop {
        answer(caller); // two may interrupt each other
        let waits = TARGETS.with(|t| {
            let t = t.borrow();
            t.iter().any(|t| t.due && t.runs && !t.asleep)
        });
        if !waits {
            break;
        }
        hooks::nothing_changed();
        loom::thread::yield_now();
    }
    for thread in (0..count).filter(|t| *t != caller) {
        ring(thread);
    }
}
