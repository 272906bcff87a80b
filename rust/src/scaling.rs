// SPDX-License-Identifier: MIT
//! Reads that scale: `pawl_lock64_take_read` around a closure.

use crate::ffi::*;
use crate::RwLock;

/// Reads of a [`RwLock`] that scale. Those behind a guard do not.
///
/// A guard can be forgotten, and its lock freed, so a read behind one counts in the lock's word.
/// Readers on several cores then pass its cache line around. A read around a closure ends when the
/// closure returns or panics. So it may be noted in a line of its thread instead. It is, where
/// readers meet often, and seldom a writer.
///
/// ```
/// use pawl::{ReadScaling, RwLock};
///
/// let names = RwLock::new(vec!["first", "second"]);
/// assert_eq!(names.with_read(|names| names.len()), 2);
/// ```
pub trait ReadScaling<T: ?Sized> {
    /// Waits as `read` does, and returns what the closure returns. The closure may not take the
    /// same lock: it would wait for ever once a writer waits.
    fn with_read<R>(&self, read: impl FnOnce(&T) -> R) -> R;
}

/// R of this thread, on its stack.
struct Inside<'a>(&'a Lock64);

impl Drop for Inside<'_> {
    #[inline]
    fn drop(&mut self) {
        unsafe { pawl_rust_lock64_drop_read(self.0) };
    }
}

impl<T: ?Sized> ReadScaling<T> for RwLock<T> {
    #[inline]
    fn with_read<R>(&self, read: impl FnOnce(&T) -> R) -> R {
        let word = unsafe { &self.raw().0 };
        unsafe { pawl_rust_lock64_take_read(word) };
        let _inside = Inside(word); // nobody else has it, so nobody can forget it
        read(unsafe { &*self.data_ptr() })
    }
}
