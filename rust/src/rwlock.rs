// SPDX-License-Identifier: MIT
//! The reader-writer lock: `pawl_lock64` under the names of `lock_api`.

use crate::ffi::*;
use lock_api::GuardNoSend;
use std::time::{Duration, Instant};

/// A reader-writer lock in eight bytes that sleeps: shared, upgradable, exclusive.
///
/// A thread that waits for exclusive access holds newcomers back, so it waits for the readers that
/// are in and for no others. The thread that has waited longest is handed the lock, at most every
/// 0.6 ms. A thread that holds the lock may not take it again: a second read waits for ever once a
/// writer waits in between. So there are no recursive reads.
///
/// Guards are not [`Send`]: readers may be counted by thread, and the checking variant counts all
/// holders so. [`ReadCounted`](crate::ReadCounted) has reads whose guards are.
pub struct RawRwLock(pub(crate) Lock64);

/// Half of the readers that the word counts: 2^29.
#[cold]
fn crowded(l: &Lock64) -> ! {
    unsafe { pawl_rust_lock64_drop_read(l) };
    too_many()
}

#[cold]
pub(crate) fn too_many() -> ! {
    panic!("more than 536870911 readers hold one pawl::RwLock; are their guards forgotten?");
}

impl RawRwLock {
    /// A reader was let in. Forgotten guards count for ever, and a count that runs over would let
    /// an upgrade in beside readers.
    #[inline]
    fn counted(&self) {
        if unsafe { pawl_rust_lock64_is_crowded(&self.0) } {
            crowded(&self.0);
        }
    }

    #[inline]
    fn counted_if(&self, granted: bool) -> bool {
        if granted {
            self.counted();
        }
        granted
    }
}

unsafe impl lock_api::RawRwLock for RawRwLock {
    #[allow(clippy::declare_interior_mutable_const)] // lock_api makes locks from it
    const INIT: RawRwLock = RawRwLock(Lock64::INIT);
    type GuardMarker = GuardNoSend;

    #[inline]
    fn lock_shared(&self) {
        unsafe { pawl_rust_lock64_take_read(&self.0) };
        self.counted();
    }

    #[inline]
    fn try_lock_shared(&self) -> bool {
        self.counted_if(unsafe { pawl_rust_lock64_try_read(&self.0) })
    }

    #[inline]
    unsafe fn unlock_shared(&self) {
        pawl_rust_lock64_drop_read(&self.0);
    }

    #[inline]
    fn lock_exclusive(&self) {
        unsafe { pawl_rust_lock64_take_write(&self.0) };
    }

    #[inline]
    fn try_lock_exclusive(&self) -> bool {
        unsafe { pawl_rust_lock64_try_write(&self.0) }
    }

    #[inline]
    unsafe fn unlock_exclusive(&self) {
        pawl_rust_lock64_drop_write(&self.0);
    }

    /// Claims of waiting writers count as well.
    #[inline]
    fn is_locked(&self) -> bool {
        unsafe { !pawl_rust_lock64_is_free(&self.0) }
    }

    /// Claims of waiting writers count as well.
    #[inline]
    fn is_locked_exclusive(&self) -> bool {
        unsafe { pawl_rust_lock64_is_write(&self.0) }
    }
}

/// The thread that has slept longest is the next. Where nobody sleeps, it is an unlock.
unsafe impl lock_api::RawRwLockFair for RawRwLock {
    #[inline]
    unsafe fn unlock_shared_fair(&self) {
        pawl_rust_lock64_drop_read_fair(&self.0);
    }

    #[inline]
    unsafe fn unlock_exclusive_fair(&self) {
        pawl_rust_lock64_drop_write_fair(&self.0);
    }
}

unsafe impl lock_api::RawRwLockUpgradeFair for RawRwLock {
    #[inline]
    unsafe fn unlock_upgradable_fair(&self) {
        pawl_rust_lock64_drop_seek_fair(&self.0);
    }
}

unsafe impl lock_api::RawRwLockDowngrade for RawRwLock {
    #[inline]
    unsafe fn downgrade(&self) {
        pawl_rust_lock64_write_to_read(&self.0);
    }
}

unsafe impl lock_api::RawRwLockUpgrade for RawRwLock {
    #[inline]
    fn lock_upgradable(&self) {
        unsafe { pawl_rust_lock64_take_seek(&self.0) };
    }

    #[inline]
    fn try_lock_upgradable(&self) -> bool {
        unsafe { pawl_rust_lock64_try_seek(&self.0) }
    }

    #[inline]
    unsafe fn unlock_upgradable(&self) {
        pawl_rust_lock64_drop_seek(&self.0);
    }

    #[inline]
    unsafe fn upgrade(&self) {
        pawl_rust_lock64_seek_to_write(&self.0);
    }

    #[inline]
    unsafe fn try_upgrade(&self) -> bool {
        pawl_rust_lock64_try_seek_to_write(&self.0)
    }
}

unsafe impl lock_api::RawRwLockUpgradeDowngrade for RawRwLock {
    #[inline]
    unsafe fn downgrade_upgradable(&self) {
        pawl_rust_lock64_seek_to_read(&self.0);
    }

    #[inline]
    unsafe fn downgrade_to_upgradable(&self) {
        pawl_rust_lock64_write_to_seek(&self.0);
    }
}

unsafe impl lock_api::RawRwLockTimed for RawRwLock {
    type Duration = Duration;
    type Instant = Instant;

    fn try_lock_shared_for(&self, timeout: Duration) -> bool {
        let deadline = deadline_after(timeout);
        self.counted_if(unsafe { pawl_rust_lock64_take_read_until(&self.0, deadline) })
    }

    fn try_lock_shared_until(&self, timeout: Instant) -> bool {
        let deadline = deadline_at(timeout);
        self.counted_if(unsafe { pawl_rust_lock64_take_read_until(&self.0, deadline) })
    }

    fn try_lock_exclusive_for(&self, timeout: Duration) -> bool {
        unsafe { pawl_rust_lock64_take_write_until(&self.0, deadline_after(timeout)) }
    }

    fn try_lock_exclusive_until(&self, timeout: Instant) -> bool {
        unsafe { pawl_rust_lock64_take_write_until(&self.0, deadline_at(timeout)) }
    }
}

unsafe impl lock_api::RawRwLockUpgradeTimed for RawRwLock {
    fn try_lock_upgradable_for(&self, timeout: Duration) -> bool {
        unsafe { pawl_rust_lock64_take_seek_until(&self.0, deadline_after(timeout)) }
    }

    fn try_lock_upgradable_until(&self, timeout: Instant) -> bool {
        unsafe { pawl_rust_lock64_take_seek_until(&self.0, deadline_at(timeout)) }
    }

    unsafe fn try_upgrade_for(&self, timeout: Duration) -> bool {
        pawl_rust_lock64_seek_to_write_until(&self.0, deadline_after(timeout))
    }

    unsafe fn try_upgrade_until(&self, timeout: Instant) -> bool {
        pawl_rust_lock64_seek_to_write_until(&self.0, deadline_at(timeout))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lock_api::RawRwLock as _;

    /// Takes, waits until another thread sleeps for exclusive access, drops as `drop` does, and
    /// tries at once: only that thread can be before it.
    fn hands_over(take: impl Fn(&RawRwLock), drop: impl Fn(&RawRwLock)) {
        use std::sync::atomic::{AtomicBool, Ordering};
        for _ in 0..100 {
            let lock = RawRwLock::INIT;
            let was_in = AtomicBool::new(false);
            take(&lock);
            std::thread::scope(|s| {
                s.spawn(|| {
                    lock.lock_exclusive();
                    was_in.store(true, Ordering::Relaxed);
                    unsafe { lock.unlock_exclusive() };
                });
                while !lock.0.is_slept_for() {
                    std::thread::yield_now();
                }
                drop(&lock);
                if lock.try_lock_exclusive() {
                    assert!(was_in.load(Ordering::Relaxed), "a newcomer was first");
                    unsafe { lock.unlock_exclusive() };
                }
            });
            assert!(!lock.is_locked());
        }
    }

    #[test]
    fn a_fair_unlock_hands_the_lock_to_who_sleeps() {
        use lock_api::{RawRwLockFair as _, RawRwLockUpgrade as _, RawRwLockUpgradeFair as _};
        hands_over(|l| l.lock_shared(), |l| unsafe { l.unlock_shared_fair() });
        hands_over(|l| l.lock_upgradable(), |l| unsafe { l.unlock_upgradable_fair() });
        hands_over(|l| l.lock_exclusive(), |l| unsafe { l.unlock_exclusive_fair() });
    }

    /// A lock that so many readers hold.
    fn held_by(readers: u64) -> RawRwLock {
        RawRwLock(Lock64::with(readers << 2))
    }

    #[test]
    fn forgotten_guards_do_not_run_the_count_over() {
        let lock = held_by((1 << 29) - 2);
        lock.lock_shared();
        let died = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| lock.lock_shared()));
        assert!(died.is_err());
        let died = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            lock.try_lock_shared();
        }));
        assert!(died.is_err());
        // Those two hold nothing: there is room for whoever comes when one leaves.
        unsafe { lock.unlock_shared() };
        assert!(lock.try_lock_shared());
    }

    #[test]
    fn nor_do_forgotten_counted_ones() {
        use crate::{ReadCounted, RwLock};
        let lock = RwLock::const_new(held_by((1 << 29) - 2), 7);
        std::mem::forget(lock.read_counted());
        let died = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            drop(lock.read_counted());
        }));
        assert!(died.is_err());
        assert!(!lock.is_locked_exclusive());
    }
}
