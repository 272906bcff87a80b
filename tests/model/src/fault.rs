// SPDX-License-Identifier: MIT
//! What is made wrong on purpose, at run time: one order weakened, or one named mistake.

use crate::hooks;
use crate::hooks::{perform, Kind, Operation, Order};
use crate::library;
use crate::mortal;
use crate::sites;

/// What becomes of an access, or of a wake.
#[derive(Clone, Copy, Debug)]
pub enum Change {
    Order(Order),
    /// It only reads; a wake wakes nobody.
    Skip,
    /// It is carried out, but its caller is told that it found 0.
    Zero,
    /// A load's caller is told what the thread last saw there in this operation.
    Stale,
}

/// Where a mutation is made.
#[derive(Clone, Debug)]
enum At {
    Everywhere,
    /// `file:line`, `file#number`, `file`; of a wake its callers, as sites.rs names them.
    Named(String),
    /// Where the call returns to; of a wake also the calls around it.
    Returns(Vec<Vec<usize>>),
}

/// The accesses of one tag changed, or wakes (tag "wake"), at some sites or at all.
#[derive(Clone, Debug)]
pub struct Mutation {
    tag: String,
    at: At,
    pub change: Change,
}

impl Mutation {
    /// TAG:order, TAG:skip, TAG:zero, TAG:stale, wake:skip, and each with @site; tag - is that of
    /// relaxed accesses. prove itself gives the sites as 0x1.0x2+0x3.0x4.
    pub fn parse(text: &str) -> Option<Mutation> {
        let (tag, rest) = text.split_once(':')?;
        let (change, site) = rest.split_once('@').unwrap_or((rest, ""));
        let change = match change {
            "skip" => Change::Skip,
            "zero" => Change::Zero,
            "stale" => Change::Stale,
            order => Change::Order(order_named(order)?),
        };
        let at = if site.is_empty() {
            At::Everywhere
        } else if site.starts_with("0x") {
            At::Returns(site.split('+').map(parse_returns).collect::<Option<_>>()?)
        } else {
            At::Named(site.into())
        };
        Some(Mutation {
            tag: tag.into(),
            at,
            change,
        })
    }

    pub fn hits(&self, tag: &str, returns: &[usize]) -> bool {
        if self.tag != tag {
            return false;
        }
        match &self.at {
            At::Everywhere => true,
            At::Returns(all) => all.iter().any(|r| r == returns),
            At::Named(name) if tag == WAKE => sites::chain(returns) == name,
            At::Named(name) => {
                let site = sites::site(tag, returns[0]);
                *name == site.file
                    || *name == site.place()
                    || *name == format!("{}:{}", site.file, site.line)
            }
        }
    }
}

/// The tag of mutations that are about wakes.
pub const WAKE: &str = "wake";

/// 0x1.0x2
pub fn parse_returns(text: &str) -> Option<Vec<usize>> {
    text.split('.').map(|a| usize::from_str_radix(a.strip_prefix("0x")?, 16).ok()).collect()
}

/// As parse_returns reads them.
pub fn show_returns(returns: &[usize]) -> String {
    let all: Vec<String> = returns.iter().map(|a| format!("{a:#x}")).collect();
    all.join(".")
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
    /// A seeker that can die is recorded as the lock's before its member says so (robust.c).
    SeekerRecordedFirst,
    /// A reader that has filled its entry does not look for W again.
    NoSecondLook,
    /// It looks for W, but not whether claimants still look at entries.
    EntersUnbiased,
    /// A claimant passes the line of a thread by.
    PassesALineBy,
    /// A reader that has freed its entry does not look whether anybody waits for it.
    DeafToWaiters,
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
            Fault::SeekerRecordedFirst if op == "take_seek" => mortal::member_last(o),
            Fault::NoSecondLook if tag == "SPIN_R_TAKE" && o.kind == Kind::Load => {
                perform(o);
                library::biased()
            }
            Fault::EntersUnbiased if tag == "SPIN_R_TAKE" && o.kind == Kind::Load => {
                perform(o) | library::biased()
            }
            Fault::PassesALineBy
                if tag == "ENTRY_GONE" && library::is_of_first_line(o.address as u64) =>
            {
                perform(o);
                0
            }
            Fault::DeafToWaiters
                if o.kind == Kind::Load
                    && tag == "-"
                    && o.width == 4
                    && library::is_of_first_line(o.address as u64) =>
            {
                perform(o);
                0
            }
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
        Fault::NoSecondLook,
        Fault::EntersUnbiased,
        Fault::PassesALineBy,
        Fault::DeafToWaiters,
        Fault::KeepsReading,
        Fault::HiddenWaiter,
        Fault::LostWake,
        Fault::SeekerRecordedFirst,
    ]
    .into_iter()
    .find(|fault| format!("{fault:?}") == name)
}
