// SPDX-License-Identifier: MIT
//! `RwLock<T>` by what users see: who is in beside whom, and what each transition keeps.

use pawl::{RwLock, RwLockReadGuard, RwLockUpgradableReadGuard, RwLockWriteGuard};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

/// What another thread gets by trying: shared, upgradable, exclusive.
fn others_get(lock: &RwLock<u32>) -> [bool; 3] {
    thread::scope(|s| {
        s.spawn(|| {
            // One after the other: a guard in an array would be dropped after the last.
            let read = lock.try_read().is_some();
            let seek = lock.try_upgradable_read().is_some();
            let write = lock.try_write().is_some();
            [read, seek, write]
        })
        .join()
        .unwrap()
    })
}

#[test]
fn a_reader_is_in_beside_readers_and_one_upgradable_reader() {
    let lock = RwLock::new(7);
    assert_eq!(others_get(&lock), [true, true, true]);
    let read = lock.read();
    assert_eq!(others_get(&lock), [true, true, false]);
    assert_eq!(*read, 7);
}

#[test]
fn an_upgradable_reader_is_in_beside_readers_only() {
    let lock = RwLock::new(7);
    let _seek = lock.upgradable_read();
    assert_eq!(others_get(&lock), [true, false, false]);
}

#[test]
fn a_writer_is_alone() {
    let lock = RwLock::new(7);
    let mut write = lock.write();
    *write = 8;
    assert_eq!(others_get(&lock), [false, false, false]);
    assert!(lock.is_locked() && lock.is_locked_exclusive());
    drop(write);
    assert!(!lock.is_locked());
    assert_eq!(lock.into_inner(), 8);
}

/// Each guard lets go fairly, and `bump` gives way to the other thread and comes again.
#[test]
fn fair_unlocks_and_bumps_keep_the_lock_whole() {
    const ROUNDS: u32 = 500;
    let lock = RwLock::new(0);
    thread::scope(|s| {
        for _ in 0..2 {
            s.spawn(|| {
                for _ in 0..ROUNDS {
                    let mut write = lock.write();
                    *write += 1;
                    RwLockWriteGuard::bump(&mut write);
                    *write += 1;
                    RwLockWriteGuard::unlock_fair(write);
                    let mut seek = lock.upgradable_read();
                    RwLockUpgradableReadGuard::bump(&mut seek);
                    RwLockUpgradableReadGuard::unlock_fair(seek);
                    let mut read = lock.read();
                    RwLockReadGuard::bump(&mut read);
                    RwLockReadGuard::unlock_fair(read);
                }
            });
        }
    });
    assert!(!lock.is_locked());
    assert_eq!(lock.into_inner(), 4 * ROUNDS);
}

#[test]
fn transitions_let_in_whom_the_new_mode_lets_in() {
    let lock = RwLock::new(7);
    let write = RwLockUpgradableReadGuard::upgrade(lock.upgradable_read());
    assert_eq!(others_get(&lock), [false, false, false]);
    let seek = RwLockWriteGuard::downgrade_to_upgradable(write);
    assert_eq!(others_get(&lock), [true, false, false]);
    let read = RwLockUpgradableReadGuard::downgrade(seek);
    assert_eq!(others_get(&lock), [true, true, false]);
    drop(read);
    let read = RwLockWriteGuard::downgrade(lock.write());
    assert_eq!(others_get(&lock), [true, true, false]);
    drop(read);
    assert_eq!(others_get(&lock), [true, true, true]);
}

#[test]
fn an_upgrade_that_readers_refuse_gives_the_upgradable_guard_back() {
    let lock = RwLock::new(7);
    thread::scope(|s| {
        let (inside, wait_inside) = mpsc::channel();
        let (leave, wait_leave) = mpsc::channel::<()>();
        let lock = &lock;
        s.spawn(move || {
            let _read = lock.read();
            inside.send(()).unwrap();
            wait_leave.recv().unwrap();
        });
        wait_inside.recv().unwrap();
        let seek = lock.upgradable_read();
        let seek = RwLockUpgradableReadGuard::try_upgrade(seek).err().unwrap();
        let soon = Duration::from_millis(1);
        let seek = RwLockUpgradableReadGuard::try_upgrade_for(seek, soon).err().unwrap();
        assert_eq!(others_get(lock), [true, false, false], "the claim is withdrawn");
        leave.send(()).unwrap();
        *RwLockUpgradableReadGuard::upgrade(seek) = 9; // waits for the reader
    });
    assert_eq!(*lock.read(), 9);
}

#[test]
fn deadlines_that_pass_leave_the_lock_as_it_was() {
    let lock = RwLock::new(7);
    let write = lock.write();
    thread::scope(|s| {
        s.spawn(|| {
            let soon = Duration::from_millis(1);
            assert!(lock.try_read_for(soon).is_none());
            assert!(lock.try_upgradable_read_for(soon).is_none());
            assert!(lock.try_write_for(soon).is_none());
            let past = Instant::now();
            assert!(lock.try_read_until(past).is_none());
            assert!(lock.try_upgradable_read_until(past).is_none());
            assert!(lock.try_write_until(past).is_none());
        });
    });
    drop(write);
    assert!(lock.try_write_for(Duration::MAX).is_some(), "no deadline at all");
    assert_eq!(others_get(&lock), [true, true, true]);
}

#[test]
fn a_panic_drops_the_guard() {
    let lock = RwLock::new(7);
    let died = thread::scope(|s| {
        s.spawn(|| {
            let _write = lock.write();
            panic!("on purpose");
        })
        .join()
    });
    assert!(died.is_err());
    assert_eq!(others_get(&lock), [true, true, true]);
}

#[test]
fn a_waiting_writer_holds_newcomers_back_and_is_granted() {
    let lock = RwLock::new(0);
    let granted = AtomicBool::new(false);
    thread::scope(|s| {
        let read = lock.read();
        s.spawn(|| {
            *lock.write() += 1;
            granted.store(true, Ordering::Relaxed);
        });
        while lock.try_read().is_some() {
            thread::yield_now(); // until the writer has claimed
        }
        assert!(!granted.load(Ordering::Relaxed));
        drop(read);
    });
    assert_eq!(*lock.read(), 1);
}

#[test]
fn guards_map_to_parts() {
    let lock = RwLock::new((1, 2));
    *RwLockWriteGuard::map(lock.write(), |pair| &mut pair.1) = 5;
    assert_eq!(*RwLockReadGuard::map(lock.read(), |pair| &pair.1), 5);
}

/// No program, because the choice is open, if the type is `Send`.
macro_rules! not_send {
    ($guard:ty) => {
        const _: fn() = || {
            trait Choice<Which> {
                fn choose() {}
            }
            struct Sends;
            impl<T: ?Sized> Choice<()> for T {}
            impl<T: ?Sized + Send> Choice<Sends> for T {}
            let _ = <$guard as Choice<_>>::choose;
        };
    };
}
not_send!(RwLockReadGuard<'static, u32>);
not_send!(RwLockUpgradableReadGuard<'static, u32>);
not_send!(RwLockWriteGuard<'static, u32>);
not_send!(pawl::MutexGuard<'static, u32>);

static GLOBAL: RwLock<u32> = RwLock::new(0);

#[test]
fn threads_lose_no_update_whatever_mode_they_come_by() {
    const THREADS: u32 = 4;
    const ROUNDS: u32 = 3000;
    thread::scope(|s| {
        for id in 0..THREADS {
            s.spawn(move || {
                for round in 0..ROUNDS {
                    match (id + round) % 3 {
                        0 => *GLOBAL.write() += 1,
                        1 => {
                            let seek = GLOBAL.upgradable_read();
                            let seen = *seek;
                            let mut write = RwLockUpgradableReadGuard::upgrade(seek);
                            assert_eq!(*write, seen, "nobody wrote in between");
                            *write += 1;
                        }
                        _ => {
                            let mut write = GLOBAL.write();
                            *write += 1;
                            let seen = *write;
                            let read = RwLockWriteGuard::downgrade(write);
                            assert_eq!(*read, seen, "nobody wrote in between");
                        }
                    }
                }
            });
        }
    });
    assert_eq!(*GLOBAL.read(), THREADS * ROUNDS);
}

#[test]
fn sizes_are_those_of_the_words() {
    assert_eq!(std::mem::size_of::<pawl::RawRwLock>(), 8);
    assert_eq!(std::mem::size_of::<pawl::RawMutex>(), 4);
}
