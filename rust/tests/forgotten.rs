// SPDX-License-Identifier: MIT
//! A guard can be forgotten in safe code, and its lock then be freed or made anew. Nothing of the
//! guard may be left: neither for the lock that comes to that address, nor for other memory.
//!
//! 1. A thread takes a guard of a lock whose readers may scale, and forgets it.
//! 2. It drops the lock, and something else comes to lie there.
//! 3. The thread ends. The library counts the reads of its line in the words of their locks. A read
//!    behind a guard must not be among them: R would go into what lies there by then.
//!
//! Run with AddressSanitizer in the C code (tests/package/crate.sh), an access to the freed lock is
//! an error of its own.
#![forbid(unsafe_code)]
#![cfg(not(feature = "checked"))] // it reports a guard that is forgotten, and ends the program

use pawl::*;
use std::mem::forget;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

type Lock = RwLock<(u64, u64)>;
type Way<L> = (&'static str, fn(&L));

const LONG: Duration = Duration::MAX;

fn soon() -> Instant {
    Instant::now() + Duration::from_secs(3600)
}

fn seek(l: &Lock) -> RwLockUpgradableReadGuard<'_, (u64, u64)> {
    l.upgradable_read()
}

const WAYS: [Way<Lock>; 29] = [
    ("read", |l| forget(l.read())),
    ("try_read", |l| forget(l.try_read())),
    ("try_read_for", |l| forget(l.try_read_for(LONG))),
    ("try_read_until", |l| forget(l.try_read_until(soon()))),
    ("read, twice", |l| forget((l.read(), l.read()))),
    ("read, bumped", |l| {
        let mut guard = l.read();
        RwLockReadGuard::bump(&mut guard);
        forget(guard);
    }),
    ("read, unlocked", |l| {
        let mut guard = l.read();
        RwLockReadGuard::unlocked(&mut guard, || ());
        forget(guard);
    }),
    ("read, mapped", |l| forget(RwLockReadGuard::map(l.read(), |pair| &pair.1))),
    ("read, mapped twice", |l| {
        let part = RwLockReadGuard::map(l.read(), |pair| pair);
        forget(MappedRwLockReadGuard::map(part, |pair| &pair.1));
    }),
    ("read, boxed and leaked", |l| {
        Box::leak(Box::new(Some(l.read().0)));
        forget(Box::new(l.read()));
    }),
    ("upgradable_read", |l| forget(seek(l))),
    ("try_upgradable_read", |l| forget(l.try_upgradable_read())),
    ("try_upgradable_read_for", |l| forget(l.try_upgradable_read_for(LONG))),
    ("try_upgradable_read_until", |l| forget(l.try_upgradable_read_until(soon()))),
    ("upgraded", |l| forget(RwLockUpgradableReadGuard::upgrade(seek(l)))),
    ("try_upgrade", |l| forget(RwLockUpgradableReadGuard::try_upgrade(seek(l)))),
    ("upgradable_read, downgraded", |l| forget(RwLockUpgradableReadGuard::downgrade(seek(l)))),
    ("upgradable_read, downgraded and bumped", |l| {
        let mut guard = RwLockUpgradableReadGuard::downgrade(seek(l));
        RwLockReadGuard::bump(&mut guard);
        forget(guard);
    }),
    ("write", |l| forget(l.write())),
    ("try_write", |l| forget(l.try_write())),
    ("try_write_for", |l| forget(l.try_write_for(LONG))),
    ("try_write_until", |l| forget(l.try_write_until(soon()))),
    ("write, mapped", |l| forget(RwLockWriteGuard::map(l.write(), |pair| &mut pair.1))),
    ("write, downgraded", |l| forget(RwLockWriteGuard::downgrade(l.write()))),
    ("write, downgraded by steps", |l| {
        let guard = RwLockWriteGuard::downgrade_to_upgradable(l.write());
        forget(RwLockUpgradableReadGuard::downgrade(guard));
    }),
    ("read_counted", |l| forget(l.read_counted())),
    ("try_read_counted", |l| forget(l.try_read_counted())),
    ("try_read_counted_for", |l| forget(l.try_read_counted_for(LONG))),
    ("with_read, a guard inside", |l| l.with_read(|_| forget(l.try_read()))),
];

const MUTEX_WAYS: [Way<Mutex<(u64, u64)>>; 5] = [
    ("lock", |l| forget(l.lock())),
    ("try_lock", |l| forget(l.try_lock())),
    ("try_lock_for", |l| forget(l.try_lock_for(LONG))),
    ("try_lock_until", |l| forget(l.try_lock_until(soon()))),
    ("lock, mapped", |l| forget(MutexGuard::map(l.lock(), |pair| &mut pair.1))),
];

/// True in a process that `PAWL_BIAS` tells how locks get scaling readers. The others start one for
/// each value, which runs the test alone.
fn chosen(test: &str) -> bool {
    if std::env::var_os("PAWL_BIAS").is_some() {
        return true;
    }
    for mode in ["on", "evidence", "off"] {
        let done = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", test, "--nocapture"])
            .env("PAWL_BIAS", mode)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&done.stderr);
        assert!(done.status.success(), "with PAWL_BIAS={mode}: {said}");
    }
    false
}

/// A lock whose readers scale, where `PAWL_BIAS=on`: they do from the first drop of a read.
fn scaling() -> Box<Lock> {
    let lock = Box::new(Lock::default());
    for _ in 0..4 {
        lock.with_read(|_| ());
        drop(lock.read());
    }
    lock
}

/// What lies there after a lock, as likely as not: the allocator's next blocks of that size.
fn others<L>() -> Vec<Box<[AtomicU64]>> {
    let words = std::mem::size_of::<L>() / 8;
    (0..8).map(|_| (0..words).map(|_| AtomicU64::new(0)).collect()).collect()
}

fn frees<L: 'static>(make: fn() -> Box<L>, ways: &[Way<L>]) {
    for &(way, forget_one) in ways {
        let after = std::thread::spawn(move || {
            let lock = make();
            forget_one(&lock);
            drop(lock);
            others::<L>()
        });
        for word in after.join().unwrap().iter().flat_map(|words| words.iter()) {
            assert_eq!(word.load(Ordering::Relaxed), 0, "{way}: memory of others has changed");
        }
    }
}

#[test]
fn a_guard_that_is_forgotten_changes_no_memory_after_its_lock_was_freed() {
    if chosen("a_guard_that_is_forgotten_changes_no_memory_after_its_lock_was_freed") {
        frees(scaling, &WAYS);
        frees(Box::default, &MUTEX_WAYS);
    }
}

/// The lock that comes to the same address is free, while the thread lives and when it has ended.
#[test]
fn a_guard_that_is_forgotten_holds_no_lock_made_anew_at_that_address() {
    if !chosen("a_guard_that_is_forgotten_holds_no_lock_made_anew_at_that_address") {
        return;
    }
    for (way, forget_one) in WAYS {
        let mut lock = scaling();
        let place = &mut lock;
        std::thread::scope(|s| {
            let ended = s.spawn(move || {
                forget_one(place);
                **place = Lock::default();
                place.with_read(|_| ());
                drop(place.read());
                place.try_write().expect(way).0 = 1;
                assert!(!place.is_locked(), "{way}: something is left in the word");
            });
            ended.join().unwrap(); // the scope alone does not wait for the end of the thread
        });
        assert!(!lock.is_locked(), "{way}: the end of the thread has changed the word");
        lock.try_write().expect(way).1 = 2;
        assert_eq!(lock.with_read(|pair| *pair), (1, 2));
    }
}

/// An Arc's guard keeps the lock alive: it is held for ever, and nothing else happens.
#[test]
#[cfg(feature = "arc_lock")]
fn a_guard_of_an_arc_that_is_forgotten_leaves_the_lock_held() {
    use lock_api::{ArcRwLockUpgradableReadGuard as ArcSeek, ArcRwLockWriteGuard as ArcWrite};
    use std::sync::Arc;
    if !chosen("a_guard_of_an_arc_that_is_forgotten_leaves_the_lock_held") {
        return;
    }
    const ARC_WAYS: [Way<Arc<Lock>>; 5] = [
        ("read_arc", |l| forget(l.read_arc())),
        ("upgradable_read_arc", |l| forget(l.upgradable_read_arc())),
        ("write_arc", |l| forget(l.write_arc())),
        ("write_arc, downgraded", |l| forget(ArcWrite::downgrade(l.write_arc()))),
        ("upgradable_read_arc, downgraded", |l| {
            forget(ArcSeek::downgrade(l.upgradable_read_arc()));
        }),
    ];
    for (way, forget_one) in ARC_WAYS {
        let lock = Arc::new(*scaling());
        let held = lock.clone();
        std::thread::spawn(move || forget_one(&held)).join().unwrap();
        assert!(lock.is_locked() && lock.try_write().is_none(), "{way}: it is held");
    }
}

/// A closure has no guard to forget. What it does forget, or a panic, leaves nothing either.
#[test]
fn a_read_around_a_closure_ends_by_a_return_and_by_a_panic() {
    if !chosen("a_read_around_a_closure_ends_by_a_return_and_by_a_panic") {
        return;
    }
    let lock = scaling();
    let first = lock.with_read(|pair| {
        assert!(lock.try_write().is_none());
        forget(Box::new(pair));
        pair.0
    });
    assert_eq!(first, 0);
    *lock.write() = (1, 2);
    let died = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        lock.with_read(|_| panic!("on purpose"));
    }));
    assert!(died.is_err());
    assert!(!lock.is_locked());
    *lock.write() = (3, 4);
    let inside = lock.with_read(|pair| lock.with_read(|again| pair.0 + again.1));
    assert_eq!(inside, 7);
    assert!(!lock.is_locked());
}
