// SPDX-License-Identifier: MIT
//! The checking variant reports two locks that are taken in both orders, before they deadlock.
#![cfg(feature = "checked")]

use std::process::Command;

#[test]
fn an_inversion_is_reported_and_ends_the_program() {
    if std::env::var_os("PAWL_TEST_INVERTS").is_some() {
        let (a, b) = (pawl::Mutex::new(()), pawl::Mutex::new(()));
        {
            let _a = a.lock();
            let _b = b.lock();
        }
        let _b = b.lock();
        let _a = a.lock();
        return;
    }
    let done = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "an_inversion_is_reported_and_ends_the_program", "--nocapture"])
        .env("PAWL_TEST_INVERTS", "1")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(!done.status.success(), "it ran to its end");
    assert!(said.contains("order"), "another report: {said}");
}
