// SPDX-License-Identifier: MIT
//! Reads that any thread may end: `pawl_lock64_take_read_counted`.

use crate::ffi::*;
use crate::RwLock;
use std::fmt;
use std::ops::Deref;
use std::time::{Duration, Instant};

/// Reads of a [`RwLock`] whose guards are [`Send`]; those of other reads are not. Otherwise they
/// are as these: they count in the lock's word, and a waiting writer holds them back.
///
/// ```
/// use pawl::{ReadCounted, RwLock};
///
/// let names = RwLock::new(vec!["first", "second"]);
/// let guard = names.read_counted();
/// std::thread::scope(|s| {
///     s.spawn(move || assert_eq!(guard.len(), 2)); // dropped there
/// });
/// assert!(names.try_write().is_some());
/// ```
pub trait ReadCounted<T: ?Sized> {
    /// Waits as `read` does.
    fn read_counted(&self) -> CountedReadGuard<'_, T>;
    /// None if a writer is in or waits.
    fn try_read_counted(&self) -> Option<CountedReadGuard<'_, T>>;
    /// None once so much time has passed.
    fn try_read_counted_for(&self, timeout: Duration) -> Option<CountedReadGuard<'_, T>>;
    /// None once that moment has passed.
    fn try_read_counted_until(&self, timeout: Instant) -> Option<CountedReadGuard<'_, T>>;
}

/// Shared access that any thread may end; see [`ReadCounted`]. It is [`Send`] where the value may
/// be shared between threads. It has no transitions.
#[must_use = "the read ends when its guard is dropped"]
pub struct CountedReadGuard<'a, T: ?Sized> {
    lock: &'a RwLock<T>,
}

fn word<T: ?Sized>(lock: &RwLock<T>) -> &Lock64 {
    unsafe { &lock.raw().0 }
}

fn granted_if<T: ?Sized>(lock: &RwLock<T>, good: bool) -> Option<CountedReadGuard<'_, T>> {
    good.then(|| CountedReadGuard { lock })
}

impl<T: ?Sized> ReadCounted<T> for RwLock<T> {
    #[inline]
    fn read_counted(&self) -> CountedReadGuard<'_, T> {
        unsafe { pawl_rust_lock64_take_read_counted(word(self)) };
        CountedReadGuard { lock: self }
    }

    #[inline]
    fn try_read_counted(&self) -> Option<CountedReadGuard<'_, T>> {
        granted_if(self, unsafe { pawl_rust_lock64_try_read_counted(word(self)) })
    }

    fn try_read_counted_for(&self, timeout: Duration) -> Option<CountedReadGuard<'_, T>> {
        let deadline = deadline_after(timeout);
        granted_if(self, unsafe {
            pawl_rust_lock64_take_read_counted_until(word(self), deadline)
        })
    }

    fn try_read_counted_until(&self, timeout: Instant) -> Option<CountedReadGuard<'_, T>> {
        let deadline = deadline_at(timeout);
        granted_if(self, unsafe {
            pawl_rust_lock64_take_read_counted_until(word(self), deadline)
        })
    }
}

impl<T: ?Sized> Deref for CountedReadGuard<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        unsafe { &*self.lock.data_ptr() } // no writer is in while the guard is
    }
}

impl<T: ?Sized> Drop for CountedReadGuard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        unsafe { pawl_rust_lock64_drop_read_counted(word(self.lock)) };
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for CountedReadGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for CountedReadGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&**self, f)
    }
}
