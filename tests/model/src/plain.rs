// SPDX-License-Identifier: MIT
//! The library's notes of plain accesses (src/base/plain.h) as accesses to loom cells: two at the
//! same
//! address, one a write, of which neither is ordered before the other, end the model as a data
//! race, whatever values were seen. They are no points at which threads change.

use loom::cell::UnsafeCell;
use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::{c_char, c_void};
use std::sync::Arc;

use crate::{fork, hooks, library, places};

/// What a place of this many bytes is in the list of places.
pub const BYTES: u32 = 0;

struct Memory(UnsafeCell<()>);

// Loom runs everything on one system thread.
unsafe impl Sync for Memory {}
unsafe impl Send for Memory {}

#[derive(Default)]
struct Execution {
    cells: HashMap<usize, Arc<Memory>>,
    lent: [Vec<usize>; hooks::THREADS], // on a thread's stack
    started: bool,
}

thread_local! {
    static NOW: RefCell<Execution> = RefCell::default();
}

pub fn reset() {
    NOW.with(|n| *n.borrow_mut() = Execution::default());
}

/// Makes the cell now, by the thread that creates all others.
pub fn prepare(address: usize) {
    let made = Arc::new(Memory(UnsafeCell::new(())));
    NOW.with(|n| {
        n.borrow_mut().cells.insert(address, made);
    });
}

pub fn threads_start() {
    NOW.with(|n| n.borrow_mut().started = true);
}

/// The thread's operation is over, and what it had on the stack is gone.
pub fn end(thread: usize) {
    NOW.with(|n| {
        let mut n = n.borrow_mut();
        for address in std::mem::take(&mut n.lent[thread]) {
            n.cells.remove(&address);
        }
    });
}

fn cell(address: usize) -> Arc<Memory> {
    let (known, started) = NOW.with(|n| {
        let n = n.borrow();
        (n.cells.get(&address).cloned(), n.started)
    });
    if let Some(known) = known {
        return known;
    }
    if started && places::is_static(address) {
        places::start_again_with(address, BYTES);
    }
    prepare(address);
    NOW.with(|n| {
        let mut n = n.borrow_mut();
        if started {
            n.lent[hooks::me()].push(address);
        }
        n.cells[&address].clone()
    })
}

#[no_mangle]
extern "C" fn pawl_hook_plain(address: *const c_void, what: *const c_char, writes: bool) {
    if fork::is_over() || fork::is_child() {
        return;
    }
    let how = if writes { "writes" } else { "reads" };
    hooks::say(format!("  {how} {}", library::text(what)));
    let cell = cell(address as usize);
    if writes {
        cell.0.with_mut(|_| ());
    } else {
        cell.0.with(|_| ());
    }
}
