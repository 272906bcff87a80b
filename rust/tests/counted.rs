// SPDX-License-Identifier: MIT
//! Counted reads: their guards end in any thread, and keep writers out until then.

use pawl::{CountedReadGuard, ReadCounted, RwLock};
use std::cell::Cell;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

/// Whether a type is `Send`, asked without an error of the compiler: the inherent function is found
/// before the trait's where its bound holds.
struct Asked<T>(std::marker::PhantomData<T>);
trait Otherwise {
    fn is_send() -> bool {
        false
    }
}
impl<T> Otherwise for Asked<T> {}
impl<T: Send> Asked<T> {
    fn is_send() -> bool {
        true
    }
}

#[test]
fn only_the_counted_guard_is_send() {
    assert!(Asked::<CountedReadGuard<'static, u32>>::is_send());
    assert!(!Asked::<pawl::RwLockReadGuard<'static, u32>>::is_send());
    assert!(!Asked::<pawl::RwLockUpgradableReadGuard<'static, u32>>::is_send());
    assert!(!Asked::<pawl::RwLockWriteGuard<'static, u32>>::is_send());
    assert!(!Asked::<pawl::MutexGuard<'static, u32>>::is_send());
}

#[test]
fn a_value_that_threads_may_not_share_stays_in_its_thread() {
    assert!(!Asked::<CountedReadGuard<'static, Cell<u32>>>::is_send());
}

#[test]
fn another_thread_ends_the_read_and_lets_the_writer_in() {
    let lock = RwLock::new(7);
    thread::scope(|s| {
        let (give, get) = mpsc::channel::<CountedReadGuard<'_, u32>>();
        let lock = &lock;
        let guard = lock.read_counted();
        s.spawn(move || *lock.write() = 8);
        while lock.try_read_counted().is_some() {
            thread::yield_now(); // until the writer has claimed
        }
        s.spawn(move || {
            let guard = get.recv().unwrap();
            assert_eq!(*guard, 7, "the writer waits");
            drop(guard);
        });
        give.send(guard).unwrap();
    });
    assert_eq!(*lock.read(), 8);
}

#[test]
fn many_threads_pass_guards_on_and_no_read_is_lost() {
    let lock = RwLock::new((0_u64, 0_u64));
    thread::scope(|s| {
        let (give, get) = mpsc::sync_channel::<CountedReadGuard<'_, (u64, u64)>>(8);
        for _ in 0..2 {
            let (give, lock) = (give.clone(), &lock);
            s.spawn(move || {
                for _ in 0..500 {
                    give.send(lock.read_counted()).unwrap();
                }
            });
        }
        drop(give);
        s.spawn(move || {
            for guard in get {
                assert_eq!(guard.0, guard.1, "no writer is in beside a reader");
            }
        });
        for _ in 0..500 {
            let mut write = lock.write();
            write.0 += 1;
            thread::yield_now();
            write.1 += 1;
        }
    });
    assert_eq!(*lock.try_write().expect("all reads have ended"), (500, 500));
}

#[test]
fn deadlines_that_pass_leave_the_lock_as_it_was() {
    let lock = RwLock::new(7);
    let write = lock.write();
    thread::scope(|s| {
        s.spawn(|| {
            assert!(lock.try_read_counted().is_none());
            assert!(lock.try_read_counted_for(Duration::from_millis(1)).is_none());
            assert!(lock.try_read_counted_until(Instant::now()).is_none());
        });
    });
    drop(write);
    let guard = lock.try_read_counted_for(Duration::MAX).expect("no deadline at all");
    assert_eq!(format!("{guard:?} {guard}"), "7 7");
    assert!(lock.try_write().is_none() && lock.try_upgradable_read().is_some());
    drop(guard);
    assert!(lock.try_write().is_some());
}
