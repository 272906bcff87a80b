// SPDX-License-Identifier: MIT
#![doc = include_str!("../README.md")]
#![warn(missing_docs)]

mod counted;
mod ffi;
mod mutex;
mod rwlock;
mod scaling;

pub use counted::{CountedReadGuard, ReadCounted};
pub use lock_api;
pub use mutex::RawMutex;
pub use rwlock::RawRwLock;
pub use scaling::ReadScaling;

/// A mutex in four bytes; see [`RawMutex`].
pub type Mutex<T> = lock_api::Mutex<RawMutex, T>;
/// What [`Mutex::lock`](lock_api::Mutex::lock) returns.
pub type MutexGuard<'a, T> = lock_api::MutexGuard<'a, RawMutex, T>;
/// A guard of a part of what a mutex protects.
pub type MappedMutexGuard<'a, T> = lock_api::MappedMutexGuard<'a, RawMutex, T>;

/// A reader-writer lock in eight bytes, with upgradable reads; see [`RawRwLock`].
pub type RwLock<T> = lock_api::RwLock<RawRwLock, T>;
/// Shared access.
pub type RwLockReadGuard<'a, T> = lock_api::RwLockReadGuard<'a, RawRwLock, T>;
/// Exclusive access.
pub type RwLockWriteGuard<'a, T> = lock_api::RwLockWriteGuard<'a, RawRwLock, T>;
/// Shared access beside readers, alone among upgradable ones; becomes exclusive without a gap.
pub type RwLockUpgradableReadGuard<'a, T> =
    lock_api::RwLockUpgradableReadGuard<'a, RawRwLock, T>;
/// A guard of a part, shared.
pub type MappedRwLockReadGuard<'a, T> = lock_api::MappedRwLockReadGuard<'a, RawRwLock, T>;
/// A guard of a part, exclusive.
pub type MappedRwLockWriteGuard<'a, T> = lock_api::MappedRwLockWriteGuard<'a, RawRwLock, T>;
