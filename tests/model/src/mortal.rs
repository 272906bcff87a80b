// SPDX-License-Identifier: MIT
//! Threads that end at any access (scenes/robust_mutex.c): before each the mortal one looks at a
//! flag that tells it to, sooner or later or never.

use loom::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::cell::{Cell, RefCell};
use std::sync::Arc;

use crate::hooks::{self, Kind, Operation};
use crate::unordered;

thread_local! {
    static KILLED: RefCell<Option<Arc<AtomicBool>>> = const { RefCell::new(None) };
    /// A store that is to come after the next one, and whether that has been.
    static KEPT: Cell<Option<(Operation, bool)>> = const { Cell::new(None) };
}

/// Fault::SeekerRecordedFirst: an access of take_seek, of which the store of the seeker's
/// record in its member (state 2 from bit 28 up) is carried out after the store that follows.
pub fn member_last(o: Operation) -> u64 {
    if o.kind == Kind::Store && o.operand >> 28 == 2 {
        KEPT.set(Some((o, false)));
        return 0;
    }
    match KEPT.take() {
        Some((kept, false)) => KEPT.set(Some((kept, true))),
        Some((kept, true)) => _ = hooks::perform(kept),
        None => (),
    }
    hooks::perform(o)
}

#[no_mangle]
extern "C" fn m_mortals() {
    let made = Arc::new(AtomicBool::new(false));
    KILLED.with(|k| *k.borrow_mut() = Some(made.clone()));
    KEPT.set(None);
    unordered::run(move || made.store(true, Relaxed), || ());
}

#[no_mangle]
extern "C" fn m_killed() -> bool {
    let flag = KILLED.with(|k| k.borrow().clone());
    flag.expect("m_mortals comes first").load(Relaxed)
}

/// An access of the system's or the C library's, of which nothing is made wrong.
#[no_mangle]
extern "C" fn m_system_access(operation: *const Operation) -> u64 {
    hooks::perform(unsafe { *operation })
}
