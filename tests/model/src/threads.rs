// SPDX-License-Identifier: MIT
//! Threads that the library starts for itself (RCU's workers): each is one more thread of loom's,
//! while there is one to be had, and ends before the execution does.

use loom::thread::JoinHandle;
use std::cell::RefCell;
use std::ffi::c_void;

use crate::hooks;

#[derive(Default)]
struct Own {
    next: usize,
    refuses: bool,
    started: Vec<JoinHandle<()>>,
}

thread_local! {
    static NOW: RefCell<Own> = RefCell::default();
}

/// The scene has so many threads of its own.
pub fn reset(threads: usize) {
    NOW.with(|n| {
        *n.borrow_mut() = Own {
            next: threads,
            ..Own::default()
        }
    });
}

/// Waits for their ends: by then the scene has told all of them to stop.
pub fn join() {
    while let Some(thread) = NOW.with(|n| n.borrow_mut().started.pop()) {
        thread.join().expect("a panic ends the process");
    }
}

/// The number of a thread that may be started now.
fn another() -> Option<usize> {
    NOW.with(|n| {
        let mut n = n.borrow_mut();
        if n.refuses || n.next == hooks::THREADS || !hooks::threads_run() {
            return None;
        }
        n.next += 1;
        Some(n.next - 1)
    })
}

// ---- <pawl/detail/hook.h> and scenes.h ----------------------------------------------------------

#[no_mangle]
extern "C" fn pawl_hook_start_thread(
    body: extern "C" fn(*mut c_void),
    argument: *mut c_void,
) -> bool {
    let Some(number) = another() else {
        return false;
    };
    let thread = loom::thread::spawn(move || {
        hooks::i_am(number);
        body(argument);
    });
    NOW.with(|n| n.borrow_mut().started.push(thread));
    true
}

#[no_mangle]
extern "C" fn m_refuse_threads() {
    NOW.with(|n| n.borrow_mut().refuses = true);
}

#[no_mangle]
extern "C" fn m_become(thread: u32) {
    hooks::i_am(thread as usize);
}
