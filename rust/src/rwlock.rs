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
/// Reads count in the word, so a guard that is forgotten leaves nothing elsewhere; more than
/// 536,870,911 of them end the program. Reads of [`ReadScaling`](crate::ReadScaling) scale.
///
/// Guards are not [`Send`]: the checking variant knows the thread of each holder.
/// [`ReadCounted`](crate::ReadCounted) has reads whose guards are.
pub struct RawRwLock(pub(crate) Lock64);

unsafe impl lock_api::RawRwLock for RawRwLock {
    #[allow(clippy::declare_interior_mutable_const)] // lock_api makes locks from it
    const INIT: RawRwLock = RawRwLock(Lock64::INIT);
    type GuardMarker = GuardNoSend;

    #[inline]
    fn lock_shared(&self) {
        unsafe { pawl_rust_lock64_take_shared(&self.0) };
    }

    #[inline]
    fn try_lock_shared(&self) -> bool {
        unsafe { pawl_rust_lock64_try_shared(&self.0) }
    }

    #[inline]
    unsafe fn unlock_shared(&self) {
        pawl_rust_lock64_drop_shared(&self.0);
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
        pawl_rust_lock64_drop_shared_fair(&self.0);
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
        unsafe { pawl_rust_lock64_take_shared_until(&self.0, deadline_after(timeout)) }
    }

    fn try_lock_shared_until(&self, timeout: Instant) -> bool {
        unsafe { pawl_rust_lock64_take_shared_until(&self.0, deadline_at(timeout)) }
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
    use crate::RwLockUpgradableReadGuard as UpgradableGuard;
    use crate::{ReadCounted, ReadScaling, RwLock};
    use lock_api::RawRwLock as _;
    use std::mem::forget;

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

    /// Runs this test once more in a process with that variable, and returns how it ended and what
    /// it said.
    fn again(test: &str, variable: &str, value: &str) -> (bool, String) {
        let done = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", &format!("rwlock::tests::{test}"), "--nocapture"])
            .env("PAWL_TEST_PART", value)
            .env(variable, value)
            .output()
            .unwrap();
        (done.status.success(), String::from_utf8_lossy(&done.stderr).into_owned())
    }

    type Forget = fn(&RwLock<()>);

    /// Each way to leave a read in a lock for ever, in safe code.
    const FORGETS: [(&str, Forget); 9] = [
        ("read", |l| forget(l.read())),
        ("try_read", |l| forget(l.try_read())),
        ("try_read_for", |l| forget(l.try_read_for(Duration::MAX))),
        ("read_counted", |l| forget(l.read_counted())),
        ("try_read_counted", |l| forget(l.try_read_counted())),
        ("try_read_counted_for", |l| forget(l.try_read_counted_for(Duration::MAX))),
        ("downgraded", |l| forget(UpgradableGuard::downgrade(l.upgradable_read()))),
        ("try_upgradable", |l| {
            forget(UpgradableGuard::downgrade(l.try_upgradable_read().unwrap()));
        }),
        ("unlocked", |l| UpgradableGuard::unlocked(&mut l.upgradable_read(), || forget(l.read()))),
    ];

    /// 1. Guards of one lock are forgotten, until its word counts half of what it can.
    /// 2. One more is taken. In each of these ways the program ends there: R never runs into S.
    #[test]
    fn forgotten_guards_do_not_run_the_count_over() {
        if let Some(part) = std::env::var_os("PAWL_TEST_PART") {
            let crowded = RawRwLock(Lock64::with(((1 << 29) - 2) << 2));
            let lock = RwLock::const_new(crowded, ());
            let (_, forget_one) = FORGETS.iter().find(|(name, _)| part == *name).unwrap();
            eprintln!("one");
            forget_one(&lock);
            eprintln!("two");
            forget_one(&lock);
            eprintln!("it went on");
            return;
        }
        for (name, _) in FORGETS {
            let (good, said) =
                again("forgotten_guards_do_not_run_the_count_over", "PAWL_TEST_PART", name);
            assert!(!good && !said.contains("it went on"), "{name} went on: {said}");
            assert!(said.contains("are their guards forgotten"), "{name} said: {said}");
            assert!(name == "unlocked" || said.contains("two"), "{name} ended too early: {said}");
        }
    }

    /// What the closure's read leaves in the word: nothing, as its thread has it in an entry.
    #[test]
    #[cfg(target_os = "linux")]
    fn a_closure_reads_by_an_entry_and_a_guard_in_the_word() {
        if std::env::var_os("PAWL_TEST_PART").is_none() {
            let (good, said) =
                again("a_closure_reads_by_an_entry_and_a_guard_in_the_word", "PAWL_BIAS", "on");
            assert!(good, "{said}");
            return;
        }
        let lock = RwLock::new(());
        let readers = || unsafe { lock.raw() }.0.word() >> 2;
        lock.with_read(|()| ()); // its drop lets the lock scale
        lock.with_read(|()| {
            assert_eq!(readers(), 0);
            assert!(lock.try_write().is_none(), "it reads all the same");
        });
        assert!(lock.try_write().is_some());
        let guard = lock.read();
        assert_eq!(readers(), 1);
        drop(guard);
        assert_eq!(readers(), 0);
    }
}
