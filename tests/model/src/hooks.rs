// SPDX-License-Identifier: MIT
//! The hook backend of the seam over loom: each access of the library becomes an access to a loom
//! atomic of its width and order. Loom runs all simulated threads of an execution on one system
//! thread, so what belongs to the execution lives in a thread-local. No borrow of it may be held
//! while loom is called: loom switches threads there.

use loom::sync::atomic::{fence, AtomicU16, AtomicU32, AtomicU64, AtomicU8, Ordering};
use loom::sync::Condvar;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::ffi::c_void;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use crate::fault::{self, Change, Fault, Mutation};
use crate::{fork, hang, interrupts, library, memory, notes, places, plain, sleep};

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

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(C)]
#[allow(dead_code)]
pub enum Order {
    Relaxed,
    Acquire,
    Release,
    AcqRel,
    SeqCst,
}

/// Kinds of fences, in Operation::operand.
const LIGHT: u64 = 1;
const HEAVY: u64 = 2;

/// struct pawl_operation of <pawl/detail/hook.h>.
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

/// An address of the library's as an atomic of loom's.
#[derive(Clone)]
enum Atomic {
    B1(Arc<AtomicU8>),
    B2(Arc<AtomicU16>),
    B4(Arc<AtomicU32>),
    B8(Arc<AtomicU64>),
}

impl Atomic {
    fn bytes(&self) -> u32 {
        match self {
            Atomic::B1(_) => 1,
            Atomic::B2(_) => 2,
            Atomic::B4(_) => 4,
            Atomic::B8(_) => 8,
        }
    }
}

/// Of the accesses to an atomic loom remembers only the last one when it looks for orders that it
/// has not tried. So for one thread's load, another one's load, and that one's store it never tries
/// the store before the first load. `turn` mends that: each load first does something to it that
/// loom takes for a conflict with who did so before, and that orders nothing: it notifies nobody.
#[derive(Clone)]
struct Place {
    atomic: Atomic,
    turn: Arc<Condvar>,
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
    places: HashMap<usize, (Place, u64)>, // and what was last stored there
    lent: [Vec<usize>; THREADS],          // places on a thread's stack
    started: bool, // threads run: a place made now would not be ordered before their accesses
    lines: Vec<Line>,
    running: [&'static str; THREADS],
    seen: [HashMap<usize, u64>; THREADS], // what a thread last saw, in the operation that it runs
    pauses: [usize; THREADS],
    idle: usize, // pauses since anything changed
    pruned: bool,
    fences: Option<Arc<Condvar>>, // a conflict between full fences, where their orders are tried
}

thread_local! {
    static NOW: RefCell<Execution> = RefCell::default();
    static COUNT: Cell<u64> = const { Cell::new(0) };
    static LARGEST: Cell<u64> = const { Cell::new(0) };
    static FENCES: Cell<bool> = const { Cell::new(false) };
    static PATIENCE: Cell<usize> = const { Cell::new(0) };
    static FAULT: Cell<Fault> = const { Cell::new(Fault::None) };
    static MUTATION: RefCell<Option<Mutation>> = const { RefCell::new(None) };
}

loom::thread_local! {
    static ME: Cell<usize> = Cell::new(0);
}

// ---- What the models use ----------------------------------------------------------------------

/// The first thing in each execution. `addresses` that the library will touch are made places.
pub fn reset() {
    NOW.with(|n| {
        *n.borrow_mut() = Execution {
            fences: FENCES.with(Cell::get).then(|| Arc::new(Condvar::new())),
            ..Execution::default()
        }
    });
    COUNT.with(|c| c.set(c.get() + 1));
    library::reset();
    plain::reset();
    memory::reset();
    sleep::reset();
    fork::reset();
}

/// Polls that a waiter makes before one of its pauses gives way to others.
pub fn set_polls_without_yield(polls: usize) {
    PATIENCE.with(|p| p.set(polls));
}

/// Loom does not look for other orders of fences. It does where each notifies nobody first.
pub fn try_orders_of_fences(tried: bool) {
    FENCES.with(|f| f.set(tried));
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

/// From here on the threads run. What the library keeps at fixed addresses has been set up.
pub fn threads_start() {
    for (address, bytes) in places::known() {
        if bytes == plain::BYTES {
            plain::prepare(address);
        } else {
            prepare(address as *mut c_void, bytes);
        }
    }
    plain::threads_start();
    NOW.with(|n| n.borrow_mut().started = true);
}

pub fn threads_run() -> bool {
    NOW.with(|n| n.borrow().started)
}

pub fn i_am(thread: usize) {
    ME.with(|m| m.set(thread));
}

pub fn me() -> usize {
    ME.with(Cell::get)
}

pub fn begin(op: &'static str) {
    notes::runs(op);
    begin_step(op);
}

/// The same for what is no operation of transitions.def.
pub fn begin_step(what: &'static str) {
    let me = me();
    NOW.with(|n| {
        let mut n = n.borrow_mut();
        n.running[me] = what;
        n.seen[me].clear();
    });
}

/// The operation is over, and what it had on the stack is gone.
pub fn end() {
    let me = me();
    NOW.with(|n| {
        let mut n = n.borrow_mut();
        n.running[me] = "";
        n.seen[me].clear();
        for address in std::mem::take(&mut n.lent[me]) {
            n.places.remove(&address);
        }
    });
    plain::end(me);
    something_changed();
}

pub fn say(what: String) {
    let thread = me();
    NOW.with(|n| n.borrow_mut().lines.push(Line::Said { thread, what }));
}

/// The execution of which to print the schedule (PAWL_MODEL_SHOW, from 1; 0: none).
pub fn shown() -> u64 {
    let text = std::env::var("PAWL_MODEL_SHOW").unwrap_or_default();
    text.parse().unwrap_or(0)
}

pub fn executions() -> u64 {
    COUNT.with(Cell::get)
}

pub fn largest_found() -> u64 {
    LARGEST.with(Cell::get)
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

/// The newest value also stands in memory, for code that reads it plainly where nobody else writes.
fn remember(address: *mut c_void, bytes: u32, value: u64) {
    memory::set_value(address, bytes, value);
    let value = memory::value(address, bytes);
    NOW.with(|n| {
        if let Some(known) = n.borrow_mut().places.get_mut(&(address as usize)) {
            known.1 = value;
        }
    });
}

fn place(address: *mut c_void, bytes: u32) -> Place {
    let key = address as usize;
    let now = memory::value(address, bytes);
    let (known, started) = NOW.with(|n| (n.borrow().places.get(&key).cloned(), n.borrow().started));
    if let Some((made, last)) = known {
        let has = made.atomic.bytes();
        assert!(
            has == bytes,
            "harness: one address is accessed with {has} and with {bytes} bytes"
        );
        if last == now {
            return made;
        }
        // Somebody has stored plainly, who must be alone: it is a new atomic from here on.
        unsafe {
            match &made.atomic {
                Atomic::B1(a) => a.unsync_load() as u64,
                Atomic::B2(a) => a.unsync_load() as u64,
                Atomic::B4(a) => a.unsync_load() as u64,
                Atomic::B8(a) => a.unsync_load(),
            };
        }
    } else if started && places::is_static(key) {
        places::start_again_with(key, bytes);
    }
    let made = Place {
        atomic: match bytes {
            1 => Atomic::B1(Arc::new(AtomicU8::new(now as u8))),
            2 => Atomic::B2(Arc::new(AtomicU16::new(now as u16))),
            4 => Atomic::B4(Arc::new(AtomicU32::new(now as u32))),
            _ => Atomic::B8(Arc::new(AtomicU64::new(now))),
        },
        turn: Arc::new(Condvar::new()),
    };
    let me = me();
    NOW.with(|n| {
        let mut n = n.borrow_mut();
        n.places.insert(key, (made.clone(), now));
        if started && !places::is_static(key) {
            n.lent[me].push(key);
        }
    });
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
            if o.order == Order::Relaxed || fork::is_child() {
            } else if interrupts::are_modelled() && o.operand == LIGHT {
            } else if interrupts::are_modelled() && o.operand == HEAVY {
                interrupts::all_threads(thread);
            } else {
                let turn = NOW.with(|n| n.borrow().fences.clone());
                if let Some(turn) = turn {
                    turn.notify_all();
                }
                fence(ordering(o.order));
            }
            0
        }
        _ if fork::is_child() => fork::carry_out(o),
        _ => {
            let place = place(o.address, o.width);
            memory::still_mapped(o.address as usize);
            if o.kind == Kind::Load {
                place.turn.notify_all();
            }
            match place.atomic {
                Atomic::B1(a) => carry_out!(a, u8, o),
                Atomic::B2(a) => carry_out!(a, u16, o),
                Atomic::B4(a) => carry_out!(a, u32, o),
                Atomic::B8(a) => carry_out!(a, u64, o),
            }
        }
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
    if let Some(value) = stored(&o, found).filter(|_| !fork::is_child()) {
        remember(o.address, o.width, value);
        // A poll may be a read-modify-write that changes nothing.
        if value != found || o.kind == Kind::Store {
            something_changed();
        }
    }
    found
}

/// What the access has left there; None if it has changed nothing.
pub fn stored(o: &Operation, found: u64) -> Option<u64> {
    match o.kind {
        Kind::Load | Kind::Fence => None,
        Kind::CompareExchange => (found == o.expected).then_some(o.operand),
        Kind::Store | Kind::Exchange => Some(o.operand),
        Kind::Add => Some(found.wrapping_add(o.operand)),
        Kind::Sub => Some(found.wrapping_sub(o.operand)),
        Kind::And => Some(found & o.operand),
        Kind::Or => Some(found | o.operand),
        Kind::Xor => Some(found ^ o.operand),
    }
}

/// What the mutation makes of it, if it is about this one.
pub fn mutated(tag: &str, returns: &[usize]) -> Option<Change> {
    MUTATION.with(|m| {
        m.borrow()
            .as_ref()
            .filter(|m| m.hits(tag, returns))
            .map(|m| m.change)
    })
}

/// What the thread last saw there in this operation.
fn seen(thread: usize, o: &Operation) -> Option<u64> {
    let key = o.address as usize;
    NOW.with(|n| n.borrow().seen[thread].get(&key).copied())
}

fn sees(thread: usize, o: &Operation, found: u64) {
    if o.kind == Kind::Fence {
        return;
    }
    let value = stored(o, found).unwrap_or(found);
    NOW.with(|n| n.borrow_mut().seen[thread].insert(o.address as usize, value));
}

// ---- Waiting ----------------------------------------------------------------------------------
// Two waiters could poll in turn for ever while a third thread, which they wait for, is never let
// run: such schedules are not fair, and no lock would end in them. So after a few polls without any
// change loom is told to stop branching, and from there it runs who has paused least. Branches that
// would have begun later are moved by loom to the last point before, where the state was the same.

const POLLS_WITHOUT_CHANGE: usize = 6;

pub fn nothing_changed() {
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

pub fn something_changed() {
    let resume = NOW.with(|n| {
        let mut n = n.borrow_mut();
        n.idle = 0;
        std::mem::take(&mut n.pruned)
    });
    if resume {
        loom::explore();
    }
}

// ---- <pawl/detail/hook.h> -----------------------------------------------------------------------
// A panic here ends the process (the panic hook of child.rs), so none unwinds into C.

/// pawl_hook_atomic, by way of models.c.
#[no_mangle]
extern "C" fn m_hook_atomic(operation: *const Operation, site: *mut c_void) -> u64 {
    let thread = me();
    let op = NOW.with(|n| n.borrow().running[thread]);
    let o = unsafe { *operation };
    hang::goes_on();
    interrupts::arrive(thread);
    let before = seen(thread, &o);
    let found = match (mutated(tag_name(o.tag), &[site as usize]), before) {
        (Some(Change::Order(order)), _) => fault().carry_out(op, Operation { order, ..o }),
        (Some(Change::Skip), _) if o.kind == Kind::Fence => 0,
        (Some(Change::Skip), _) => fault::look(o),
        (Some(Change::Zero), _) => {
            fault().carry_out(op, o);
            0
        }
        (Some(Change::Stale), Some(value)) => {
            fault::look(o);
            say(format!("  is told {value:#x} again"));
            value
        }
        _ => fault().carry_out(op, o),
    };
    if !fork::is_child() {
        notes::touches(site as usize, &o, before, found);
    }
    sees(thread, &o, found);
    found
}

#[no_mangle]
extern "C" fn pawl_hook_relax() {
    if fork::is_child() {
        return fork::polls();
    }
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
    if fork::is_child() {
        return fork::polls();
    }
    loom::thread::yield_now();
}

/// The places in this range, with their widths.
pub fn places_in(range: &Range<usize>) -> Vec<(usize, u32)> {
    let mut met: Vec<(usize, u32)> = NOW.with(|n| {
        let n = n.borrow();
        let inside = n.places.iter().filter(|(address, _)| range.contains(address));
        inside.map(|(address, (place, _))| (*address, place.atomic.bytes())).collect()
    });
    met.sort_unstable();
    met
}

/// Loom takes this for a conflict with an access there.
pub fn conflict_at(address: usize, bytes: u32) {
    place(address as *mut c_void, bytes).turn.notify_all();
}

#[no_mangle]
extern "C" fn m_me() -> u32 {
    me() as u32
}
