// SPDX-License-Identifier: MIT
//! The clock of the simulated system. It goes on by a nanosecond with each look, and where a scene
//! passes time. In a model with `time=N` N nanoseconds pass at any moment: a look is a relaxed load
//! of what has passed, so it comes before that or after it (and a later look of the same thread
//! does not fall back); and those who sleep with a deadline are late then.

use loom::sync::atomic::{AtomicU64, Ordering::Relaxed};
use loom::sync::Condvar;
use std::cell::{Cell, RefCell};
use std::sync::Arc;

use crate::{hooks, sleep, unordered};

struct Shared {
    passed: AtomicU64,
    /// Notifying nobody orders nothing, and is a conflict to loom: both orders are tried.
    turn: Condvar,
}

#[derive(Default)]
struct Clock {
    looks: u64,
    passed: u64,
    shared: Option<Arc<Shared>>,
}

thread_local! {
    static NOW: RefCell<Clock> = RefCell::default();
    static PASSES: Cell<u64> = const { Cell::new(0) };
}

pub fn model(nanoseconds: u64) {
    PASSES.with(|p| p.set(nanoseconds));
}

pub fn reset() {
    let nanoseconds = PASSES.with(Cell::get);
    NOW.with(|n| *n.borrow_mut() = Clock::default());
    if nanoseconds == 0 {
        return;
    }
    let shared = Arc::new(Shared {
        passed: AtomicU64::new(0),
        turn: Condvar::new(),
    });
    NOW.with(|n| n.borrow_mut().shared = Some(shared.clone()));
    let store = move || shared.passed.store(nanoseconds, Relaxed);
    unordered::run(store, move || {
        hooks::i_am(hooks::THREADS - 1);
        sleep::pass_time(nanoseconds);
    });
}

fn shared() -> Option<Arc<Shared>> {
    NOW.with(|n| n.borrow().shared.clone())
}

/// A thread looks.
pub fn look() -> u64 {
    let passed = shared().map(|s| s.passed.load(Relaxed));
    NOW.with(|n| {
        let mut n = n.borrow_mut();
        n.looks += 1;
        n.looks.saturating_add(passed.unwrap_or(n.passed))
    })
}

/// The system looks, which knows the newest time.
pub fn system_looks() -> u64 {
    if let Some(shared) = shared() {
        shared.turn.notify_all();
    }
    NOW.with(|n| {
        let n = n.borrow();
        n.looks.saturating_add(n.passed)
    })
}

/// Time goes by, for the system; what it is then.
pub fn pass(nanoseconds: u64) -> u64 {
    if let Some(shared) = shared() {
        shared.turn.notify_all();
    }
    NOW.with(|n| {
        let mut n = n.borrow_mut();
        n.passed = n.passed.saturating_add(nanoseconds);
        n.looks.saturating_add(n.passed)
    })
}
