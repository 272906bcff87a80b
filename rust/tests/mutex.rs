// SPDX-License-Identifier: MIT
//! `Mutex<T>`.

use pawl::{Mutex, MutexGuard};
use std::thread;
use std::time::Duration;

#[test]
fn one_thread_at_a_time() {
    let count = Mutex::new(0);
    thread::scope(|s| {
        for _ in 0..4 {
            s.spawn(|| {
                for _ in 0..3000 {
                    *count.lock() += 1;
                }
            });
        }
    });
    assert_eq!(count.into_inner(), 12000);
}

#[test]
fn a_fair_unlock_and_a_bump_keep_it_whole() {
    let count = Mutex::new(0);
    thread::scope(|s| {
        for _ in 0..3 {
            s.spawn(|| {
                for _ in 0..500 {
                    let mut guard = count.lock();
                    *guard += 1;
                    MutexGuard::bump(&mut guard);
                    *guard += 1;
                    MutexGuard::unlock_fair(guard);
                }
            });
        }
    });
    assert_eq!(count.into_inner(), 3000);
}

#[test]
fn a_try_fails_while_another_thread_holds_it() {
    let lock = Mutex::new(());
    let guard = lock.lock();
    thread::scope(|s| {
        s.spawn(|| {
            assert!(lock.try_lock().is_none());
            assert!(lock.try_lock_for(Duration::from_millis(1)).is_none());
            assert!(lock.is_locked());
        });
    });
    drop(guard);
    assert!(!lock.is_locked());
    assert!(lock.try_lock_for(Duration::ZERO).is_some(), "a free lock needs no time");
}

#[test]
fn a_guard_maps_to_a_part() {
    let lock = Mutex::new([1, 2]);
    *MutexGuard::map(lock.lock(), |pair| &mut pair[1]) = 5;
    assert_eq!(*lock.lock(), [1, 5]);
}
