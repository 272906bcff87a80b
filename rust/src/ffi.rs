// SPDX-License-Identifier: MIT
//! The C functions of c/pawl_rust.c, and deadlines as they take them.

use std::cell::UnsafeCell;
use std::time::{Duration, Instant};

/// The word of `pawl_lock64`. Zero is unlocked.
#[repr(C, align(8))]
pub struct Lock64(UnsafeCell<u64>);

/// The word of `pawl_lock32`. Zero is unlocked.
#[repr(C, align(4))]
pub struct Lock32(UnsafeCell<u32>);

// The C code changes the words by atomic operations only.
unsafe impl Send for Lock64 {}
unsafe impl Sync for Lock64 {}
unsafe impl Send for Lock32 {}
unsafe impl Sync for Lock32 {}

impl Lock64 {
    pub const INIT: Lock64 = Lock64(UnsafeCell::new(0));

    #[cfg(test)]
    pub fn with(word: u64) -> Lock64 {
        Lock64(UnsafeCell::new(word))
    }

    #[cfg(test)]
    pub fn word(&self) -> u64 {
        use std::sync::atomic::{AtomicU64, Ordering};
        unsafe { AtomicU64::from_ptr(self.0.get()) }.load(Ordering::Relaxed)
    }

    /// Somebody sleeps, or is about to (`PAWL_LOCK_PARKED`).
    #[cfg(test)]
    pub fn is_slept_for(&self) -> bool {
        self.word() & 1 != 0
    }
}

impl Lock32 {
    pub const INIT: Lock32 = Lock32(UnsafeCell::new(0));
}

#[rustfmt::skip]
extern "C" {
    pub fn pawl_rust_lock64_take_read(l: &Lock64);
    pub fn pawl_rust_lock64_take_shared(l: &Lock64);
    pub fn pawl_rust_lock64_take_seek(l: &Lock64);
    pub fn pawl_rust_lock64_take_write(l: &Lock64);
    pub fn pawl_rust_lock64_try_shared(l: &Lock64) -> bool;
    pub fn pawl_rust_lock64_try_seek(l: &Lock64) -> bool;
    pub fn pawl_rust_lock64_try_write(l: &Lock64) -> bool;
    pub fn pawl_rust_lock64_drop_read(l: &Lock64);
    pub fn pawl_rust_lock64_drop_shared(l: &Lock64);
    pub fn pawl_rust_lock64_drop_seek(l: &Lock64);
    pub fn pawl_rust_lock64_drop_write(l: &Lock64);
    pub fn pawl_rust_lock64_drop_shared_fair(l: &Lock64);
    pub fn pawl_rust_lock64_drop_seek_fair(l: &Lock64);
    pub fn pawl_rust_lock64_drop_write_fair(l: &Lock64);
    pub fn pawl_rust_lock64_seek_to_write(l: &Lock64);
    pub fn pawl_rust_lock64_try_seek_to_write(l: &Lock64) -> bool;
    pub fn pawl_rust_lock64_write_to_seek(l: &Lock64);
    pub fn pawl_rust_lock64_write_to_read(l: &Lock64);
    pub fn pawl_rust_lock64_seek_to_read(l: &Lock64);
    pub fn pawl_rust_lock64_is_free(l: &Lock64) -> bool;
    pub fn pawl_rust_lock64_is_write(l: &Lock64) -> bool;
    pub fn pawl_rust_lock64_take_shared_until(l: &Lock64, deadline: u64) -> bool;
    pub fn pawl_rust_lock64_take_seek_until(l: &Lock64, deadline: u64) -> bool;
    pub fn pawl_rust_lock64_take_write_until(l: &Lock64, deadline: u64) -> bool;
    pub fn pawl_rust_lock64_seek_to_write_until(l: &Lock64, deadline: u64) -> bool;
    pub fn pawl_rust_lock64_take_read_counted(l: &Lock64);
    pub fn pawl_rust_lock64_take_read_counted_until(l: &Lock64, deadline: u64) -> bool;
    pub fn pawl_rust_lock64_try_read_counted(l: &Lock64) -> bool;
    pub fn pawl_rust_lock64_drop_read_counted(l: &Lock64);
    pub fn pawl_rust_lock32_take_write(l: &Lock32);
    pub fn pawl_rust_lock32_try_write(l: &Lock32) -> bool;
    pub fn pawl_rust_lock32_drop_write(l: &Lock32);
    pub fn pawl_rust_lock32_drop_write_fair(l: &Lock32);
    pub fn pawl_rust_lock32_is_free(l: &Lock32) -> bool;
    pub fn pawl_rust_lock32_take_write_until(l: &Lock32, deadline: u64) -> bool;
    fn pawl_rust_now() -> u64;
}

/// The deadline after so long, in nanoseconds of `pawl_now()`. One that cannot be counted is none.
pub fn deadline_after(patience: Duration) -> u64 {
    let patience = u64::try_from(patience.as_nanos()).unwrap_or(u64::MAX);
    unsafe { pawl_rust_now() }.saturating_add(patience)
}

/// The same for a point in time; one that has passed is a deadline in the past.
pub fn deadline_at(instant: Instant) -> u64 {
    deadline_after(instant.saturating_duration_since(Instant::now()))
}
