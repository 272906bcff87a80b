// SPDX-License-Identifier: MIT
//! The checking variant reports two locks that are taken in both orders, before they deadlock, and
//! a guard that is forgotten, when its thread ends.
#![cfg(feature = "checked")]

use std::process::Command;

/// Runs that test once more, in a process of its own, and looks for the words in its report.
fn is_reported(test: &str, words: &str, readers: &str) {
    let done = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env("PAWL_TEST_PART", "1")
        .env("PAWL_BIAS", readers)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(!done.status.success(), "it ran to its end");
    assert!(said.contains(words), "another report: {said}");
}

fn is_part() -> bool {
    std::env::var_os("PAWL_TEST_PART").is_some()
}

#[test]
fn an_inversion_is_reported_and_ends_the_program() {
    if !is_part() {
        return is_reported("an_inversion_is_reported_and_ends_the_program", "order", "off");
    }
    let (a, b) = (pawl::Mutex::new(()), pawl::Mutex::new(()));
    {
        let _a = a.lock();
        let _b = b.lock();
    }
    let _b = b.lock();
    let _a = a.lock();
}

/// Reads have a place in the order, too: they belong to their thread.
#[test]
fn an_inversion_of_a_read_is_reported() {
    if !is_part() {
        return is_reported("an_inversion_of_a_read_is_reported", "order", "on");
    }
    let (a, b) = (pawl::RwLock::new(()), pawl::Mutex::new(()));
    {
        let _a = a.read();
        let _b = b.lock();
    }
    let _b = b.lock();
    let _a = a.write();
}

#[test]
fn a_guard_that_is_forgotten_is_reported_at_the_end_of_its_thread() {
    if !is_part() {
        for readers in ["on", "off"] {
            is_reported(
                "a_guard_that_is_forgotten_is_reported_at_the_end_of_its_thread",
                "still held at the end of its thread",
                readers,
            );
        }
        return;
    }
    std::thread::spawn(|| {
        let lock = Box::new(pawl::RwLock::new(()));
        drop(lock.read());
        std::mem::forget(lock.read());
    })
    .join()
    .unwrap();
}
