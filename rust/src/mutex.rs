// SPDX-License-Identifier: MIT
//! The mutex: the exclusive mode of `pawl_lock32` under the names of `lock_api`.

use crate::ffi::*;
use lock_api::GuardNoSend;
use std::time::{Duration, Instant};

/// A mutex in four bytes that sleeps. The thread that has waited longest is handed it, at most
/// every 0.6 ms.
pub struct RawMutex(Lock32);

unsafe impl lock_api::RawMutex for RawMutex {
    #[allow(clippy::declare_interior_mutable_const)] // lock_api makes locks from it
    const INIT: RawMutex = RawMutex(Lock32::INIT);
    type GuardMarker = GuardNoSend;

    #[inline]
    fn lock(&self) {
        unsafe { pawl_rust_lock32_take_write(&self.0) };
    }

    #[inline]
    fn try_lock(&self) -> bool {
        unsafe { pawl_rust_lock32_try_write(&self.0) }
    }

    #[inline]
    unsafe fn unlock(&self) {
        pawl_rust_lock32_drop_write(&self.0);
    }

    #[inline]
    fn is_locked(&self) -> bool {
        unsafe { !pawl_rust_lock32_is_free(&self.0) }
    }
}

/// The thread that has slept longest is the next. Where nobody sleeps, it is an unlock.
unsafe impl lock_api::RawMutexFair for RawMutex {
    #[inline]
    unsafe fn unlock_fair(&self) {
        pawl_rust_lock32_drop_write_fair(&self.0);
    }
}

unsafe impl lock_api::RawMutexTimed for RawMutex {
    type Duration = Duration;
    type Instant = Instant;

    fn try_lock_for(&self, timeout: Duration) -> bool {
        unsafe { pawl_rust_lock32_take_write_until(&self.0, deadline_after(timeout)) }
    }

    fn try_lock_until(&self, timeout: Instant) -> bool {
        unsafe { pawl_rust_lock32_take_write_until(&self.0, deadline_at(timeout)) }
    }
}
