// SPDX-License-Identifier: MIT
//! What the executions of this process have come to: which operations, which accesses of the
//! library (by the address that the call returns to), and which wakes that woke somebody. The
//! mutants are made from it.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};

use crate::hooks::{Kind, Operation, Order};

/// What an access was good for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Use {
    Fence,
    Load,
    /// The thread had looked there before in the same operation.
    Again,
    /// And found another value than before.
    News,
    Change,
}

const LETTERS: [(Use, &str); 5] = [
    (Use::Fence, "f"),
    (Use::Load, "l"),
    (Use::Again, "a"),
    (Use::News, "n"),
    (Use::Change, "c"),
];

impl Use {
    pub fn letter(self) -> &'static str {
        LETTERS.iter().find(|l| l.0 == self).map_or("?", |l| l.1)
    }

    pub fn named(letter: &str) -> Option<Use> {
        LETTERS.iter().find(|l| l.1 == letter).map(|l| l.0)
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Touch {
    pub address: usize,
    pub tag: u32,
    pub order: Order, // as it stands in the code
    pub purpose: Use,
}

thread_local! {
    static RUN: RefCell<BTreeSet<&'static str>> = const { RefCell::new(BTreeSet::new()) };
    static TOUCHED: RefCell<HashMap<usize, Touch>> = RefCell::default();
    static WAKES: RefCell<BTreeSet<Vec<usize>>> = const { RefCell::new(BTreeSet::new()) };
}

pub fn runs(operation: &'static str) {
    RUN.with(|r| r.borrow_mut().insert(operation));
}

pub fn operations_run() -> Vec<&'static str> {
    RUN.with(|r| r.borrow().iter().copied().collect())
}

/// `before` is what the thread last saw there in this operation, `found` what it was told now.
pub fn touches(address: usize, o: &Operation, before: Option<u64>, found: u64) {
    let purpose = match (o.kind, before) {
        (Kind::Fence, _) => Use::Fence,
        (Kind::Load, None) => Use::Load,
        (Kind::Load, Some(seen)) if seen == found => Use::Again,
        (Kind::Load, Some(_)) => Use::News,
        _ => Use::Change,
    };
    TOUCHED.with(|t| {
        let mut touched = t.borrow_mut();
        let touch = touched.entry(address).or_insert(Touch {
            address,
            tag: o.tag,
            order: o.order,
            purpose,
        });
        touch.purpose = touch.purpose.max(purpose);
    });
}

pub fn touched() -> Vec<Touch> {
    let mut all: Vec<Touch> = TOUCHED.with(|t| t.borrow().values().copied().collect());
    all.sort_by_key(|t| t.address);
    all
}

/// A wake that found somebody, by the addresses that its calls return to, innermost first.
pub fn wakes(returns: Vec<usize>) {
    WAKES.with(|w| w.borrow_mut().insert(returns));
}

pub fn woken() -> Vec<Vec<usize>> {
    WAKES.with(|w| w.borrow().iter().cloned().collect())
}

/// The addresses that the calls return to which the caller is in, innermost first.
pub fn returns() -> Vec<usize> {
    const DEEPEST: usize = 20;
    let mut all = Vec::with_capacity(DEEPEST);
    backtrace::trace(|frame| {
        all.push(frame.ip() as usize);
        all.len() < DEEPEST
    });
    all
}
