// SPDX-License-Identifier: MIT
//! Addresses of fixed memory (the process object, the lock, a scene's state) that threads touch.
//! Loom wants an atomic to be made before the threads that share it run, so each execution makes
//! them at its start. Which there are is found out as we go: who meets a new one starts the process
//! again with it. The program is linked at fixed addresses, so they stay the same. Memory on a
//! thread's stack becomes a place when its thread first touches it.

use std::env;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::OnceLock;

use crate::hang;

pub const VARIABLE: &str = "PAWL_MODEL_PLACES";

extern "C" {
    static __data_start: u8;
    static end: u8;
}

pub fn is_static(address: usize) -> bool {
    let from = &raw const __data_start as usize;
    let to = &raw const end as usize;
    (from..to).contains(&address)
}

/// (address, bytes), as found by those who went before.
pub fn known() -> impl Iterator<Item = (usize, u32)> {
    static KNOWN: OnceLock<Vec<(usize, u32)>> = OnceLock::new();
    KNOWN
        .get_or_init(|| {
            let list = env::var(VARIABLE).unwrap_or_default();
            list.split_terminator(',').map(|item| parse(item)).collect()
        })
        .iter()
        .copied()
}

/// As start_again_with hands them on.
pub fn list() -> String {
    env::var(VARIABLE).unwrap_or_default()
}

fn parse(item: &str) -> (usize, u32) {
    item.split_once(':')
        .and_then(|(address, bytes)| Some((address.parse().ok()?, bytes.parse().ok()?)))
        .unwrap_or_else(|| panic!("harness: {VARIABLE} has {item}"))
}

pub fn start_again_with(address: usize, bytes: u32) -> ! {
    let mut list = list();
    list.push_str(&format!("{address}:{bytes},"));
    let program = env::current_exe().expect("the program knows where it is");
    hang::watch_no_more();
    let failed = Command::new(program)
        .args(env::args_os().skip(1))
        .env(VARIABLE, list)
        .exec();
    panic!("harness: cannot start again: {failed}");
}
