// SPDX-License-Identifier: MIT
//! The hook backend of the seam over loom: each access of the library becomes an access to a loom
//! atomic of its width and order. Loom runs all simulated threads of an execution on one system
//! thread, so what belongs to the execution lives in a thread-local. No borrow of it may be held
//! while loom is called: loom switches threads there.

use loom::sync::atomic::{fence, AtomicU16, AtomicU32, AtomicU64, AtomicU8, Ordering};
use std::cell::{Cell, RefCell};
use std::collections::{BTreeSet, HashMap};
use std::ffi::c_void;
use std::sync::{Arc, OnceLock};

use crate::fault::{self, Fault, Mutation};
use crate::{library, suite};

pub const THREADS: usize = 5;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
#[allow(dead_code)] // all values come from C
pub enum Kind {
    Load,
    Store,
    Add,
    Sub,
    And,
    Or,
    Xor,
    Exchange,
    CompareExchange,
    Fence,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
#[allow(dead_code)]
pub enum Order {
    Relaxed,
    Acquire,
    Release,
    AcqRel,
    SeqCst,
}

/// struct pawl_operation of <pawl/hook.h>.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Operation {
    pub address: *mut c_void,
    pub width: u32,
    pub kind: Kind,
    pub order: Order,
    pub tag: u32,
    pub operand: u64,
    pub expected: u64,
}

#[derive(Clone)]
enum Place {
    B1(Arc<AtomicU8>),
    B2(Arc<AtomicU16>),
    B4(Arc<AtomicU32>),
    B8(Arc<AtomicU64>),
}

/// One line of the schedule.
enum Line {
    Access {
        thread: usize,
        op: &'static str,
        done: Operation,
        found: u64,
    },
    Said {
        thread: usize,
        what: String,
    },
}

#[derive(Default)]
struct Execution {
    places: HashMap<usize, Place>,
    started: bool, // threads run: a place made now would not be ordered before their accesses
    lines: Vec<Line>,
    running: [&'static str; THREADS],
    pauses: [usize; THREADS],
    idle: usize, // pauses since anything changed
    pruned: bool,
    clock: u64,
}

thread_local! {
    static NOW: RefCell<Execution> = RefCell::default();
    static COUNT: Cell<u64> = const { Cell::new(0) };
    /// Operations, and (site, tag) pairs, that any execution of this process has run.
    static RUN: RefCell<BTreeSet<&'static str>> = const { RefCell::new(BTreeSet::new()) };
    static TOUCHED: RefCell<BTreeSet<(&'static str, u32)>> = RefCell::default();
    static SITES: RefCell<HashMap<usize, &'static str>> = RefCell::default();
    static LARGEST: Cell<u64> = const { Cell::new(0) };
    static PATIENCE: Cell<usize> = const { Cell::new(0) };
    static FAULT: Cell<Fault> = const { Cell::new(Fault::None) };
    static MUTATION: RefCell<Option<Mutation>> = const { RefCell::new(None) };
}

loom::thread_local! {
    static ME: Cell<usize> = Cell::new(0);
}

// ---- What the models use ----------------------------------------------------------------------

/// The first thing in each execution.
pub fn reset() {
    NOW.with(|n| *n.borrow_mut() = Execution::default());
    COUNT.with(|c| c.set(c.get() + 1));
}

/// Polls that a waiter makes before one of its pauses gives way to others.
pub fn set_polls_without_yield(polls: usize) {
    PATIENCE.with(|p| p.set(polls));
}

pub fn set_fault(fault: Fault) {
    FAULT.with(|f| f.set(fault));
}

pub fn fault() -> Fault {
    FAULT.with(Cell::get)
}

pub fn set_mutation(mutation: Option<Mutation>) {
    MUTATION.with(|m| *m.borrow_mut() = mutation);
}

/// Makes the place now, by the thread that creates all others.
pub fn prepare(address: *mut c_void, bytes: u32) {
    let _ = place(address, bytes);
}

pub fn threads_start() {
    NOW.with(|n| n.borrow_mut().started = true);
}

pub fn i_am(thread: usize) {
    ME.with(|m| m.set(thread));
}

pub fn me() -> usize {
    ME.with(Cell::get)
}

pub fn begin(op: &'static str) {
    let me = me();
    RUN.with(|r| r.borrow_mut().insert(op));
    NOW.with(|n| n.borrow_mut().running[me] = op);
}

pub fn end() {
    let me = me();
    NOW.with(|n| n.borrow_mut().running[me] = "");
    something_changed();
}

pub fn say(what: String) {
    let thread = me();
    NOW.with(|n| n.borrow_mut().lines.push(Line::Said { thread, what }));
}

pub fn executions() -> u64 {
    COUNT.with(Cell::get)
}

pub fn touched() -> Vec<(&'static str, u32)> {
    TOUCHED.with(|t| t.borrow().iter().copied().collect())
}

pub fn largest_found() -> u64 {
    LARGEST.with(Cell::get)
}

pub fn operations_run() -> Vec<&'static str> {
    RUN.with(|r| r.borrow().iter().copied().collect())
}

/// What the threads of this execution have done so far, in order.
pub fn schedule() -> String {
    let Ok(text) = NOW.with(|n| n.try_borrow().map(|n| n.lines.iter().map(show).collect())) else {
        return "(the schedule was being written)\n".into();
    };
    text
}

fn show(line: &Line) -> String {
    match line {
        Line::Said { thread, what } => format!("  thread {thread}  {what}\n"),
        Line::Access {
            thread,
            op,
            done,
            found,
        } => {
            let what = match done.kind {
                Kind::Load => format!("load -> {found:#x}"),
                Kind::Store => format!("store {:#x}", done.operand),
                Kind::Fence => "fence".into(),
                Kind::CompareExchange => {
                    format!(
                        "cas {:#x} -> {:#x}, found {found:#x}",
                        done.expected, done.operand
                    )
                }
                kind => format!("{kind:?} {:#x}, found {found:#x}", done.operand).to_lowercase(),
            };
            let tag = tag_name(done.tag);
            format!(
                "  thread {thread}    {op:26} {what:40} {:?} {tag}\n",
                done.order
            )
        }
    }
}

pub fn tag_name(tag: u32) -> &'static str {
    static NAMES: OnceLock<Vec<&'static str>> = OnceLock::new();
    NAMES.get_or_init(|| library::tags().iter().map(|t| t.name).collect())[tag as usize]
}

// ---- An access --------------------------------------------------------------------------------

fn place(address: *mut c_void, bytes: u32) -> Place {
    let key = address as usize;
    let (known, started) = NOW.with(|n| (n.borrow().places.get(&key).cloned(), n.borrow().started));
    let made = match known {
        Some(found) => found,
        None => {
            assert!(
                !started,
                "harness: an address is first touched while threads run"
            );
            let made = unsafe {
                match bytes {
                    1 => Place::B1(Arc::new(AtomicU8::new(*(address as *const u8)))),
                    2 => Place::B2(Arc::new(AtomicU16::new(*(address as *const u16)))),
                    4 => Place::B4(Arc::new(AtomicU32::new(*(address as *const u32)))),
                    8 => Place::B8(Arc::new(AtomicU64::new(*(address as *const u64)))),
                    _ => panic!("harness: an access of {bytes} bytes"),
                }
            };
            NOW.with(|n| n.borrow_mut().places.insert(key, made.clone()));
            made
        }
    };
    let has = match made {
        Place::B1(_) => 1,
        Place::B2(_) => 2,
        Place::B4(_) => 4,
        Place::B8(_) => 8,
    };
    assert!(
        has == bytes,
        "harness: one address is accessed with {has} and with {bytes} bytes"
    );
    made
}

fn ordering(order: Order) -> Ordering {
    match order {
        Order::Relaxed => Ordering::Relaxed,
        Order::Acquire => Ordering::Acquire,
        Order::Release => Ordering::Release,
        Order::AcqRel => Ordering::AcqRel,
        Order::SeqCst => Ordering::SeqCst,
    }
}

macro_rules! carry_out {
    ($atomic:expr, $type:ty, $o:expr) => {{
        let order = ordering($o.order);
        let operand = $o.operand as $type;
        match $o.kind {
            Kind::Load => $atomic.load(order) as u64,
            Kind::Store => {
                $atomic.store(operand, order);
                0
            }
            Kind::Add => $atomic.fetch_add(operand, order) as u64,
            Kind::Sub => $atomic.fetch_sub(operand, order) as u64,
            Kind::And => $atomic.fetch_and(operand, order) as u64,
            Kind::Or => $atomic.fetch_or(operand, order) as u64,
            Kind::Xor => $atomic.fetch_xor(operand, order) as u64,
            Kind::Exchange => $atomic.swap(operand, order) as u64,
            Kind::CompareExchange => {
                let expected = $o.expected as $type;
                match $atomic.compare_exchange(expected, operand, order, Ordering::Relaxed) {
                    Ok(found) | Err(found) => found as u64,
                }
            }
            Kind::Fence => unreachable!(),
        }
    }};
}

/// The access itself, on loom's memory, noted in the schedule.
pub fn perform(o: Operation) -> u64 {
    let thread = me();
    let op = NOW.with(|n| n.borrow().running[thread]);
    let found = match o.kind {
        Kind::Fence => {
            if o.order != Order::Relaxed {
                fence(ordering(o.order));
            }
            0
        }
        _ => match place(o.address, o.width) {
            Place::B1(a) => carry_out!(a, u8, o),
            Place::B2(a) => carry_out!(a, u16, o),
            Place::B4(a) => carry_out!(a, u32, o),
            Place::B8(a) => carry_out!(a, u64, o),
        },
    };
    NOW.with(|n| {
        n.borrow_mut().lines.push(Line::Access {
            thread,
            op,
            done: o,
            found,
        })
    });
    LARGEST.with(|l| l.set(l.get().max(found)));
    if o.kind != Kind::Load {
        something_changed();
    }
    found
}

/// The line of the library that makes the call returning to this address: include/..:N or src/..:N.
fn site_of(tag: u32, address: *mut c_void) -> &'static str {
    if let Some(known) = SITES.with(|s| s.borrow().get(&(address as usize)).copied()) {
        return known;
    }
    let mut found = String::from("?");
    // One less, to be inside the call. The innermost frame is the seam itself.
    backtrace::resolve((address as usize - 1) as *mut c_void, |symbol| {
        let (Some(file), Some(line)) = (symbol.filename(), symbol.lineno()) else {
            return;
        };
        let file = file.to_string_lossy();
        let at = file
            .rfind("/include/pawl/")
            .or(file.rfind("/src/"))
            .map_or(0, |at| at + 1);
        let seam = file.ends_with("/atomic.h") || file.ends_with("/hook.h");
        if found == "?" && !seam {
            found = format!("{}:{line}", &file[at..]);
        }
    });
    let listed = suite::as_listed(tag_name(tag), &found, &suite::sites_to_touch());
    let kept: &'static str = Box::leak(listed.into_boxed_str());
    SITES.with(|s| s.borrow_mut().insert(address as usize, kept));
    kept
}

/// The operation as the mutation makes it; None when the mutation leaves it out.
fn mutated(mut o: Operation, address: *mut c_void) -> Option<Operation> {
    if o.tag == 0 && matches!(o.kind, Kind::Load | Kind::Store | Kind::Fence) {
        return Some(o);
    }
    let site = site_of(o.tag, address);
    TOUCHED.with(|t| t.borrow_mut().insert((site, o.tag)));
    MUTATION.with(|m| {
        if let Some(m) = m
            .borrow()
            .as_ref()
            .filter(|m| m.hits(site, tag_name(o.tag)))
        {
            o.order = m.order?;
        }
        Some(o)
    })
}

// ---- Waiting ----------------------------------------------------------------------------------
// Two waiters could poll in turn for ever while a third thread, which they wait for, is never let
// run: such schedules are not fair, and no lock would end in them. So after a few polls without any
// change loom is told to stop branching, and from there it runs who has paused least. Branches that
// would have begun later are moved by loom to the last point before, where the state was the same.

const POLLS_WITHOUT_CHANGE: usize = 6;

fn nothing_changed() {
    let prune = NOW.with(|n| {
        let mut n = n.borrow_mut();
        n.idle += 1;
        let prune = n.idle > POLLS_WITHOUT_CHANGE && !n.pruned;
        n.pruned |= prune;
        prune
    });
    if prune {
        loom::stop_exploring();
    }
}

fn something_changed() {
    let resume = NOW.with(|n| {
        let mut n = n.borrow_mut();
        n.idle = 0;
        std::mem::take(&mut n.pruned)
    });
    if resume {
        loom::explore();
    }
}

// ---- <pawl/hook.h> ----------------------------------------------------------------------------
// A panic here ends the process (the panic hook of run.rs), so none unwinds into C.

/// pawl_hook_atomic, by way of models.c.
#[no_mangle]
extern "C" fn m_hook_atomic(operation: *const Operation, site: *mut c_void) -> u64 {
    let thread = me();
    let op = NOW.with(|n| n.borrow().running[thread]);
    match mutated(unsafe { *operation }, site) {
        Some(o) => fault().carry_out(op, o),
        None => fault::look(unsafe { *operation }),
    }
}

#[no_mangle]
extern "C" fn pawl_hook_relax() {
    let thread = me();
    let pauses = NOW.with(|n| {
        let mut n = n.borrow_mut();
        n.pauses[thread] += 1;
        n.pauses[thread]
    });
    if pauses > PATIENCE.with(Cell::get) {
        nothing_changed();
        loom::thread::yield_now();
    }
}

#[no_mangle]
extern "C" fn pawl_hook_yield() {
    loom::thread::yield_now();
}

#[no_mangle]
extern "C" fn pawl_hook_wait(_address: *const u32, _expected: u32, _deadline: u64) -> bool {
    panic!("harness: a progressive spinlock never sleeps");
}

#[no_mangle]
extern "C" fn pawl_hook_wake(_address: *const u32, _count: u32) -> u32 {
    panic!("harness: a progressive spinlock never wakes anybody");
}

/// A virtual clock: one nanosecond for each look.
#[no_mangle]
extern "C" fn pawl_hook_now() -> u64 {
    NOW.with(|n| {
        let mut n = n.borrow_mut();
        n.clock += 1;
        n.clock
    })
}

#[no_mangle]
extern "C" fn pawl_hook_thread_id() -> u32 {
    me() as u32 + 1
}

#[no_mangle]
extern "C" fn pawl_hook_thread_slot() -> *mut *mut c_void {
    panic!("harness: a progressive spinlock needs no thread line");
}

#[no_mangle]
extern "C" fn pawl_hook_process() -> *mut c_void {
    panic!("harness: a progressive spinlock needs no process object");
}
