// SPDX-License-Identifier: MIT
//! parking_lot's raw reader-writer lock as functions that `bench/adapters/parking_lot.hpp` loads. A
//! caller pays for the call, which an inlined lock does not.

use parking_lot::lock_api::RawRwLock as _;
use parking_lot::RawRwLock;

/// One lock in the caller's memory.
#[repr(C)]
pub struct Lock(RawRwLock);

/// What the caller reserves for a lock.
#[no_mangle]
pub extern "C" fn pawl_bench_parking_lot_bytes() -> usize {
    std::mem::size_of::<Lock>()
}

/// Makes a free lock.
///
/// # Safety
/// `lock` points to enough memory, aligned to 16 bytes.
#[no_mangle]
pub unsafe extern "C" fn pawl_bench_parking_lot_init(lock: *mut Lock) {
    lock.write(Lock(RawRwLock::INIT));
}

/// Takes R.
#[no_mangle]
pub extern "C" fn pawl_bench_parking_lot_take_read(lock: &Lock) {
    lock.0.lock_shared();
}

/// Drops R.
///
/// # Safety
/// The caller holds R.
#[no_mangle]
pub unsafe extern "C" fn pawl_bench_parking_lot_drop_read(lock: &Lock) {
    lock.0.unlock_shared();
}

/// Takes W.
#[no_mangle]
pub extern "C" fn pawl_bench_parking_lot_take_write(lock: &Lock) {
    lock.0.lock_exclusive();
}

/// Drops W.
///
/// # Safety
/// The caller holds W.
#[no_mangle]
pub unsafe extern "C" fn pawl_bench_parking_lot_drop_write(lock: &Lock) {
    lock.0.unlock_exclusive();
}
