// SPDX-License-Identifier: MIT
//! What is made wrong on purpose, at run time: one order weakened, or one named mistake.

use crate::hooks;
use crate::hooks::{perform, Kind, Operation, Order};

/// What becomes of an access.
#[derive(Clone, Copy, Debug)]
pub enum Change {
    Order(Order),
    /// It only reads.
    Skip,
    /// It is carried out, but its caller is told that it found 0.
    Zero,
}

/// One tag's accesses changed, at one site or at all of them.
#[derive(Clone, Debug)]
pub struct Mutation {
    pub tag: String,
    pub site: String, // file:line; empty: at all of them
    pub change: Change,
}

impl Mutation {
    /// TAG:order, TAG:skip, TAG:zero, and each with @file:line; tag - is that of relaxed accesses.
    pub fn parse(text: &str) -> Option<Mutation> {
        let (tag, rest) = text.split_once(':')?;
        let (change, site) = rest.split_once('@').unwrap_or((rest, ""));
        let change = match change {
            "skip" => Change::Skip,
            "zero" => Change::Zero,
            order => Change::Order(order_named(order)?),
        };
        Some(Mutation {
            tag: tag.into(),
            site: site.into(),
            change,
        })
    }

    pub fn hits(&self, site: &str, tag: &str) -> bool {
        self.tag == tag && (self.site.is_empty() || self.site == site)
    }
}

pub fn order_named(name: &str) -> Option<Order> {
    Some(match name {
        "relaxed" => Order::Relaxed,
        "acquire" => Order::Acquire,
        "release" => Order::Release,
        "acq_rel" => Order::AcqRel,
        "seq_cst" => Order::SeqCst,
        _ => return None,
    })
}

/// The next weaker orders of one as loom's is called.
pub fn weaker(order: &str) -> &'static [&'static str] {
    match order {
        "SeqCst" => &["acq_rel"],
        "AcqRel" => &["acquire", "release"],
        "Acquire" | "Release" => &["relaxed"],
        _ => &[],
    }
}

/// A named mistake. Each is one that a person could make in the code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fault {
    None,
    /// A claim that failed, or must be given back, stays in the word.
    MissingWithdrawal,
    /// The claim adds, but goes by what the word was some time before.
    TestBeforeClaim,
    /// An atomic user does not look at S.
    AtomicIgnoresSeek,
    /// A reader does not look at W.
    ReaderIgnoresWriter,
    /// A writer does not wait for the readers that are in.
    MissingDrain,
    /// A leaves with the lock's units taken off twice.
    DropTwice,
    /// The script stores after it has dropped (see subject.rs).
    DropBeforeStore,
    /// A turns to R and waits even for those that wait for it.
    DeafToClaimants,
    /// The application's bits are changed by a load and a store.
    TornBits,
    /// Who keeps W+S does not give back R: two of them wait for each other.
    KeepsReading,
    /// An atomic user that waits for readers does not show S.
    HiddenWaiter,
    /// Nobody is woken.
    LostWake,
}

impl Fault {
    /// Carries the access out, wrongly if it is one that the fault is about.
    pub fn carry_out(self, op: &str, o: Operation) -> u64 {
        if self == Fault::None || o.kind == Kind::Fence {
            return perform(o);
        }
        let tag = hooks::tag_name(o.tag);
        let bits = o.width * 8;
        let seek = 3u64 << (bits / 2);
        let read = (1u64 << (bits / 2)) - 4;
        let relaxed_sub = o.kind == Kind::Sub && o.tag == 0;
        match self {
            Fault::MissingWithdrawal if relaxed_sub => look(o),
            Fault::KeepsReading if relaxed_sub && o.operand == 4 => look(o),
            Fault::HiddenWaiter if o.kind == Kind::Add && o.tag == 0 => look(o),
            Fault::TestBeforeClaim if o.kind == Kind::Add && o.order == Order::Acquire => {
                let found = look(o);
                perform(o);
                found
            }
            Fault::AtomicIgnoresSeek if op == "take_atomic" && tag == "SPIN_A_TAKE" => {
                perform(o) & !(seek | read)
            }
            Fault::ReaderIgnoresWriter if tag == "SPIN_R_TAKE" => perform(o) & 3,
            Fault::MissingDrain if tag == "SPIN_W_DRAIN" => perform(o) & !read | 4,
            Fault::DropTwice if tag == "SPIN_A_DROP" => {
                perform(o);
                perform(o)
            }
            Fault::DeafToClaimants if tag == "SPIN_A_GONE" => perform(o) & !seek,
            Fault::TornBits if tag == "SPIN_BITS_CHANGE" => {
                let found = look(o);
                let made = if o.kind == Kind::Or {
                    found | o.operand
                } else {
                    found & o.operand
                };
                perform(Operation {
                    kind: Kind::Store,
                    operand: made,
                    order: Order::Release,
                    ..o
                });
                found
            }
            _ => perform(o),
        }
    }
}

/// Only reads, where the right code would change the word.
pub fn look(o: Operation) -> u64 {
    perform(Operation {
        kind: Kind::Load,
        order: Order::Relaxed,
        tag: 0,
        ..o
    })
}

/// The fault of that name, as its variant is written.
pub fn named(name: &str) -> Option<Fault> {
    [
        Fault::None,
        Fault::MissingWithdrawal,
        Fault::TestBeforeClaim,
        Fault::AtomicIgnoresSeek,
        Fault::ReaderIgnoresWriter,
        Fault::MissingDrain,
        Fault::DropTwice,
        Fault::DropBeforeStore,
        Fault::DeafToClaimants,
        Fault::TornBits,
        Fault::KeepsReading,
        Fault::HiddenWaiter,
        Fault::LostWake,
    ]
    .into_iter()
    .find(|fault| format!("{fault:?}") == name)
}
