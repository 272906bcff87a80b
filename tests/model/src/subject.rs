// SPDX-License-Identifier: MIT
//! A lock under test, the data that it protects, and the book of who holds what.
//!
//! The data is such that each missing order shows:
//!   value   written under W, read under R, S and A          plain
//!   notes   written under S and W, read under A             plain: seekers see each other's
//!   hint    stored under S, loaded under R (relaxed), written plainly under W, read so under A
//!   sum     added to under A (relaxed), read plainly under R and S, written plainly under W
//! The book is kept in the order of the execution, and says who holds what at each switch.

use loom::cell::UnsafeCell;
use loom::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::cell::RefCell;
use std::ffi::c_void;

use crate::fault::Fault;
use crate::{hooks, library};

/// What a model's failure is called; the panic hook looks for these words.
pub const EXCLUSION: &str = "exclusion";
pub const VISIBILITY: &str = "visibility";
pub const RACE: &str = "data race";
pub const RESTORED: &str = "word as found";
pub const PROGRESS: &str = "progress";
/// The model does not come to the situation that it is about.
pub const REACHED: &str = "reach";
/// None of them: the harness or the checker itself is at fault.
pub const HARNESS: &str = "harness";

#[derive(Default)]
struct Book {
    held: Vec<char>, // by thread
    value: u64,
    hint: u64,
    sum: u64,
}

/// Which of the locks with these operations.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Spins,
    Sleeps,
    Shared,
}

pub struct Subject {
    width: usize,
    kind: Kind,
    start: u64,
    value: UnsafeCell<u64>,
    notes: UnsafeCell<u64>,
    hint: AtomicU64,
    sum: AtomicU64,
    flag: UnsafeCell<u64>,
    book: RefCell<Book>,
}

// Loom runs everything on one system thread.
unsafe impl Sync for Subject {}
unsafe impl Send for Subject {}

fn beside(a: char, b: char) -> bool {
    matches!(
        (a, b),
        ('U', _) | (_, 'U') | ('R', 'R') | ('R', 'S') | ('S', 'R') | ('A', 'A')
    ) || ([a, b].contains(&TURNS) && ![a, b].contains(&'W'))
}

/// Held R and is about to hold A: whoever may be beside the one or the other.
const TURNS: char = 'r';

/// What a caller holds until the operation returns. Each operation of a lock that spins lets go
/// with its last access, and loom switches threads before an access, never after one: so what is
/// booked at the return is exact. Only A -> R lets go first and waits then. One that sleeps wakes
/// others after it has let go: there what is given up is booked at the start, a little early; and
/// who has turned R into A wakes other atomic users before it returns.
fn meanwhile(from: char, to: char, sleeps: bool) -> char {
    const RANKS: &str = "URSAW";
    if (from, to) == ('A', 'R') {
        'U'
    } else if sleeps && (from, to) == ('R', 'A') {
        TURNS
    } else if sleeps && RANKS.find(to) < RANKS.find(from) {
        to
    } else {
        from
    }
}

impl Subject {
    pub fn new(width: usize, kind: Kind, application: u64) -> Subject {
        unsafe {
            *library::word() = application;
            *library::word().add(1) = 0;
            hooks::prepare(library::word() as *mut c_void, width as u32 / 8);
            if kind == Kind::Shared {
                let waits = (library::word() as *mut u8).add(width / 8);
                hooks::prepare(waits as *mut c_void, 4);
            }
        }
        Subject {
            width,
            kind,
            start: application,
            value: UnsafeCell::new(0),
            notes: UnsafeCell::new(0),
            hint: AtomicU64::new(0),
            sum: AtomicU64::new(0),
            flag: UnsafeCell::new(0),
            book: RefCell::new(Book {
                held: vec!['U'; hooks::THREADS],
                ..Book::default()
            }),
        }
    }

    /// Its readers scale from the start (1), or from the first drop of R on (2).
    pub fn scale(&self, bias: u64, threads: u32) {
        if bias != 0 {
            library::scale(threads, bias == 2);
        }
        if bias == 1 {
            self.perform(hooks::Kind::Or, library::biased());
        }
    }

    fn address(&self) -> *mut c_void {
        library::word() as *mut c_void
    }

    /// Runs one operation of the library and books its outcome; true when it moved as named.
    pub fn op(&self, name: &str) -> bool {
        let op = library::op(name);
        self.enter(meanwhile(op.from, op.to, self.kind != Kind::Spins));
        hooks::begin(op.name);
        let run = op.run[library::size(self.width) + 2 * self.kind as usize];
        let result = run.expect("the lock has it")(self.address());
        hooks::end();
        let moved = result || op.always;
        self.enter(if moved { op.to } else { op.otherwise });
        hooks::say(format!("{name} {}", if moved { "done" } else { "failed" }));
        moved
    }

    fn enter(&self, state: char) {
        let me = hooks::me();
        let mut book = self.book.borrow_mut();
        book.held[me] = state;
        for (other, &held) in book.held.iter().enumerate() {
            assert!(
                other == me || beside(state, held),
                "{EXCLUSION}: thread {me} holds {state} beside {held} of thread {other}"
            );
        }
    }

    /// Uses the data as a holder of that state may.
    pub fn touch(&self, state: char) {
        match state {
            'R' => self.read(),
            'S' => self.seek(),
            'W' => self.write(),
            'A' => self.update(),
            _ => unreachable!(),
        }
    }

    fn same(what: &str, seen: u64, last: u64) {
        assert!(
            seen == last,
            "{VISIBILITY}: {what} is {last}, a holder saw {seen}"
        );
    }

    fn read(&self) {
        Self::same(
            "value",
            self.value.with(|v| unsafe { *v }),
            self.book.borrow().value,
        );
        Self::same(
            "sum",
            unsafe { self.sum.unsync_load() },
            self.book.borrow().sum,
        );
        self.hint.load(Relaxed);
    }

    fn seek(&self) {
        Self::same(
            "value",
            self.value.with(|v| unsafe { *v }),
            self.book.borrow().value,
        );
        Self::same(
            "sum",
            unsafe { self.sum.unsync_load() },
            self.book.borrow().sum,
        );
        self.notes.with_mut(|n| unsafe { *n += 1 });
        let hint = self.hint.load(Relaxed);
        Self::same("hint", hint, self.book.borrow().hint);
        self.book.borrow_mut().hint = hint + 1;
        self.hint.store(hint + 1, Relaxed);
    }

    fn write(&self) {
        self.value.with_mut(|v| unsafe { *v += 1 });
        self.book.borrow_mut().value += 1;
        self.notes.with_mut(|n| unsafe { *n += 1 });
        let hint = plainly(&self.hint, |h| {
            *h += 1;
            *h
        });
        self.book.borrow_mut().hint += 1;
        Self::same("hint", hint, self.book.borrow().hint);
        let sum = plainly(&self.sum, |s| {
            *s += 1;
            *s
        });
        self.book.borrow_mut().sum += 1;
        Self::same("sum", sum, self.book.borrow().sum);
    }

    fn update(&self) {
        Self::same(
            "value",
            self.value.with(|v| unsafe { *v }),
            self.book.borrow().value,
        );
        self.notes.with(|_| ());
        Self::same(
            "hint",
            unsafe { self.hint.unsync_load() },
            self.book.borrow().hint,
        );
        self.book.borrow_mut().sum += 1;
        self.sum.fetch_add(1, Relaxed);
    }

    /// Drops after the touch, or before it where that is the mistake.
    pub fn touch_and(&self, state: char, drop: &str) {
        if hooks::fault() == Fault::DropBeforeStore && state == 'W' {
            self.op(drop);
            self.touch(state);
        } else {
            self.touch(state);
            self.op(drop);
        }
    }

    // ---- The application's bits --------------------------------------------------------------

    pub fn set_bits(&self, bits: u64) -> u64 {
        hooks::begin("set_bits");
        let found = (library::bits(self.width).set)(self.address(), bits);
        hooks::end();
        found
    }

    pub fn clear_bits(&self, bits: u64) -> u64 {
        hooks::begin("clear_bits");
        let found = (library::bits(self.width).clear)(self.address(), bits);
        hooks::end();
        found
    }

    pub fn bits(&self) -> u64 {
        hooks::begin("bits");
        let found = (library::bits(self.width).bits)(self.address());
        hooks::end();
        found
    }

    /// Data that is passed on by a bit, under no lock.
    pub fn write_flag(&self) {
        self.flag.with_mut(|f| unsafe { *f += 1 });
    }

    pub fn read_flag(&self) {
        let seen = self.flag.with(|f| unsafe { *f });
        assert!(
            seen == 1,
            "{VISIBILITY}: a changed bit was seen, what it announces was not"
        );
    }

    // ---- Claims of threads that were stopped -------------------------------------------------

    pub fn claim_seek(&self, claims: u64) {
        if claims > 0 {
            self.perform(hooks::Kind::Add, claims * ((1 << (self.width / 2)) + 4));
        }
    }

    pub fn withdraw_seek(&self, claims: u64) {
        if claims > 0 {
            self.perform(hooks::Kind::Sub, claims * ((1 << (self.width / 2)) + 4));
        }
    }

    fn perform(&self, kind: hooks::Kind, operand: u64) -> u64 {
        hooks::perform(hooks::Operation {
            address: self.address(),
            width: self.width as u32 / 8,
            kind,
            order: hooks::Order::Relaxed,
            tag: 0,
            operand,
            expected: 0,
        })
    }

    // ---- The end -----------------------------------------------------------------------------

    /// Every thread has ended: nobody holds anything, and the word is as it was. In shared memory
    /// it may say that somebody sleeps though nobody does any more. BIASED may have come or gone.
    pub fn finish(&self, application: Option<u64>) {
        let book = self.book.borrow();
        assert!(
            book.held.iter().all(|&h| h == 'U'),
            "harness: a script ends while it holds"
        );
        let may_stay = match self.kind {
            Kind::Shared => 1,
            Kind::Sleeps => library::biased(),
            Kind::Spins => 0,
        };
        let word = self.perform(hooks::Kind::Load, 0) & !may_stay;
        let expected = application.unwrap_or(self.start);
        assert!(
            word == expected,
            "{RESTORED}: the word is {word:#x}, not {expected:#x}"
        );
        assert!(
            library::entries_are_free(),
            "{RESTORED}: an entry has a lock, or a line has a waiter"
        );
    }
}

/// An access that is not atomic: loom wants it ordered after and before all others.
fn plainly<R>(atomic: &AtomicU64, change: impl FnOnce(&mut u64) -> R) -> R {
    let atomic = atomic as *const AtomicU64 as *mut AtomicU64;
    unsafe { (*atomic).with_mut(change) }
}
