// SPDX-License-Identifier: MIT
// [quote begin]
//! Names get numbers. A lookup that finds nothing searches under an upgradable read, beside the
//! readers, and becomes a writer without a gap, so no second search is needed.

use pawl::{RwLock, RwLockUpgradableReadGuard};
use std::collections::HashMap;
use std::thread;

struct Registry {
    numbers: RwLock<HashMap<String, usize>>,
}

impl Registry {
    fn number(&self, name: &str) -> usize {
        if let Some(number) = self.numbers.read().get(name) {
            return *number;
        }
        let seek = self.numbers.upgradable_read();
        if let Some(number) = seek.get(name) {
            return *number; // another thread was quicker
        }
        let next = seek.len();
        let mut write = RwLockUpgradableReadGuard::upgrade(seek);
        write.insert(name.to_string(), next);
        next
    }
}

fn main() {
    let registry = Registry { numbers: RwLock::new(HashMap::new()) };
    thread::scope(|s| {
        for _ in 0..4 {
            s.spawn(|| {
                for i in 0..1000 {
                    registry.number(&format!("name {}", i % 100));
                }
            });
        }
    });
    let numbers = registry.numbers.into_inner();
    let mut given: Vec<usize> = numbers.values().copied().collect();
    given.sort_unstable();
    assert!(given.iter().copied().eq(0..100), "each number once");
    println!("{} names, each with a number of its own", numbers.len());
}
// [quote end]
