// SPDX-License-Identifier: MIT
//! A store that comes before everything in the execution's order and before nothing in the memory
//! model's. Loom then lets each load be the one that first sees it: so something that may happen at
//! any moment is tried at each, without a preemption for it. Only the thread that calls for it
//! always sees it: loom shows nobody an old value again who has seen it and then yielded.

use std::cell::Cell;
use std::rc::Rc;

struct Anywhere<T>(T);

// Loom runs everything on one system thread.
unsafe impl<T> Send for Anywhere<T> {}

/// To be called before the threads run. `afterwards` runs at some time, beside them.
pub fn run(store: impl FnOnce() + 'static, afterwards: impl FnOnce() + 'static) {
    let done = Rc::new(Cell::new(false));
    let all = Anywhere((store, afterwards, done.clone()));
    loom::thread::spawn(move || {
        let all = all;
        let (store, afterwards, done) = all.0;
        store();
        done.set(true);
        loom::thread::yield_now();
        afterwards();
    });
    while !done.get() {
        loom::thread::yield_now();
    }
}
