// SPDX-License-Identifier: MIT
//! Pawl's locks beside those of parking_lot and of the standard library: nanoseconds that a thread
//! spends on an operation, alone and beside another one that does the same. The rows of an
//! operation take turns, round after round, each thread on a CPU of its own.
//!
//!     cargo bench                            a table
//!     pawl bench crate                       the same with intervals and a page (doc/bench.md)
//!
//! The second one starts this program without cargo's `--bench`. It then prints JSON lines as the
//! drivers in `bench/` do. Numbers of a machine that does something else meanwhile mean nothing.

use lock_api::{RawMutex, RawRwLock, RawRwLockUpgrade};
use pawl::ReadScaling;
use std::collections::BTreeMap;
use std::hint::black_box;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, AtomicU8, Ordering};
use std::thread;
use std::time::{Duration, Instant};

const HELP: &str = "What the locks of the Rust crate cost, beside parking_lot's and std's.

  --list              the rows as a JSON array
  --candidates A,B    these rows only
  --rounds N          samples of each row (21)
  --seconds S         length of a sample (0.02)
  --warmup S          seconds before each sample (0.003)
  --pin auto|A,B      CPUs: thread i on the i-th; auto: those that it may use
  --bench             a table instead of JSON lines; cargo bench says so";

/// Operations between two looks at the clock's flag: enough to make that look cost nothing.
const BATCH: u64 = 64;
const PEER: &str = "parking_lot";

// ---- What is asked for --------------------------------------------------------------------------

struct Asked {
    list: bool,
    help: bool,
    table: bool,
    names: Vec<String>,
    rounds: u32,
    seconds: f64,
    warmup: f64,
    pin: String,
    cpus: Vec<usize>,
}

fn number<N: std::str::FromStr + PartialOrd + std::fmt::Display>(
    option: &str,
    text: &str,
    least: N,
    most: N,
) -> Result<N, String> {
    match text.parse::<N>() {
        Ok(found) if found >= least && found <= most => Ok(found),
        _ => Err(format!("{option} is {text}; it must be between {least} and {most}.")),
    }
}

impl Asked {
    fn of(mut words: impl Iterator<Item = String>) -> Result<Asked, String> {
        let mut asked = Asked {
            list: false,
            help: false,
            table: false,
            names: Vec::new(),
            rounds: 21,
            seconds: 0.02,
            warmup: 0.003,
            pin: "auto".to_string(),
            cpus: Vec::new(),
        };
        while let Some(option) = words.next() {
            let mut value = || words.next().ok_or(format!("{option} needs a value. See --help."));
            match option.as_str() {
                "--list" => asked.list = true,
                "--help" | "-h" => asked.help = true,
                "--bench" => asked.table = true,
                "--candidates" => asked.names = value()?.split(',').map(String::from).collect(),
                "--rounds" => asked.rounds = number(&option, &value()?, 1, 100_000)?,
                "--seconds" => asked.seconds = number(&option, &value()?, 0.0001, 3600.0)?,
                "--warmup" => asked.warmup = number(&option, &value()?, 0.0, 60.0)?,
                "--pin" => asked.pin = value()?,
                _ => return Err(format!("There is no option {option}. See --help.")),
            }
        }
        asked.cpus = cpus(&asked.pin)?;
        Ok(asked)
    }
}

/// The CPUs that `--pin` names.
fn cpus(text: &str) -> Result<Vec<usize>, String> {
    let found = if text == "auto" {
        system::allowed()
    } else {
        text.split(',').map(str::parse).collect::<Result<_, _>>().map_err(|_| {
            format!("--pin is '{text}'; it must be CPU numbers with commas between them, or auto.")
        })?
    };
    for &cpu in &found {
        // In a thread of its own: this one stays where it is.
        if !thread::spawn(move || system::pin(cpu)).join().unwrap_or(false) {
            return Err(format!("Could not pin a thread on CPU {cpu}; name others with --pin."));
        }
    }
    Ok(found)
}

#[cfg(target_os = "linux")]
mod system {
    const WORDS: usize = 16;

    extern "C" {
        fn sched_getaffinity(thread: i32, size: usize, set: *mut u64) -> i32;
        fn sched_setaffinity(thread: i32, size: usize, set: *const u64) -> i32;
    }

    pub const PINS: bool = true;

    pub fn allowed() -> Vec<usize> {
        let mut set = [0u64; WORDS];
        if unsafe { sched_getaffinity(0, size_of_val(&set), set.as_mut_ptr()) } < 0 {
            return Vec::new();
        }
        (0..WORDS * 64).filter(|cpu| set[cpu / 64] >> (cpu % 64) & 1 == 1).collect()
    }

    pub fn pin(cpu: usize) -> bool {
        let mut set = [0u64; WORDS];
        if cpu >= WORDS * 64 {
            return false;
        }
        set[cpu / 64] = 1 << (cpu % 64);
        unsafe { sched_setaffinity(0, size_of_val(&set), set.as_ptr()) == 0 }
    }

    fn size_of_val(set: &[u64; WORDS]) -> usize {
        std::mem::size_of_val(set)
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    pub const PINS: bool = false;

    pub fn allowed() -> Vec<usize> {
        (0..std::thread::available_parallelism().map_or(1, |n| n.get())).collect()
    }

    pub fn pin(_cpu: usize) -> bool {
        true
    }
}

// ---- A sample -----------------------------------------------------------------------------------

struct Sample {
    ops: u64,
    seconds: f64,
}

const WAITS: u8 = 0;
const WARMS: u8 = 1;
const COUNTS: u8 = 2;
const ENDS: u8 = 3;

/// So many threads do the operation until the time is over.
fn measure(asked: &Asked, threads: usize, operation: impl Fn(u64) + Sync) -> Sample {
    let (phase, ready, ops) = (AtomicU8::new(WAITS), AtomicU64::new(0), AtomicU64::new(0));
    let batch = |from: u64| (from..from + BATCH).for_each(&operation);
    let seconds = thread::scope(|s| {
        for place in 0..threads {
            let (phase, ready, ops, batch) = (&phase, &ready, &ops, &batch);
            s.spawn(move || {
                system::pin(asked.cpus[place]);
                ready.fetch_add(1, Ordering::AcqRel);
                while phase.load(Ordering::Acquire) == WAITS {
                    thread::yield_now();
                }
                let mut count = 0;
                while phase.load(Ordering::Relaxed) == WARMS {
                    batch(count);
                    count += BATCH;
                }
                let warm = count;
                while phase.load(Ordering::Relaxed) != ENDS {
                    batch(count);
                    count += BATCH;
                }
                ops.fetch_add(count - warm, Ordering::Relaxed);
            });
        }
        while ready.load(Ordering::Acquire) < threads as u64 {
            thread::yield_now();
        }
        phase.store(WARMS, Ordering::Release);
        thread::sleep(Duration::from_secs_f64(asked.warmup));
        let start = Instant::now();
        phase.store(COUNTS, Ordering::Release);
        thread::sleep(Duration::from_secs_f64(asked.seconds));
        phase.store(ENDS, Ordering::Release);
        start.elapsed().as_secs_f64()
    });
    Sample { ops: ops.into_inner(), seconds }
}

// ---- The operations -----------------------------------------------------------------------------

/// A lock on cache lines of its own.
#[repr(align(128))]
struct Placed<T>(T);

fn take_read<R: RawRwLock>(lock: &R) {
    lock.lock_shared();
    black_box(lock);
    unsafe { lock.unlock_shared() };
}

fn take_and_upgrade<R: RawRwLockUpgrade>(lock: &R) {
    lock.lock_upgradable();
    black_box(lock);
    unsafe {
        lock.upgrade();
        lock.unlock_exclusive();
    }
}

fn read<R: RawRwLock + Sync>(asked: &Asked, threads: usize) -> Sample {
    let lock = Placed(R::INIT);
    measure(asked, threads, |_| take_read(&lock.0))
}

fn write<R: RawRwLock + Sync>(asked: &Asked, threads: usize) -> Sample {
    let lock = Placed(R::INIT);
    measure(asked, threads, |_| {
        lock.0.lock_exclusive();
        black_box(&lock);
        unsafe { lock.0.unlock_exclusive() };
    })
}

fn upgrade<R: RawRwLockUpgrade + Sync>(asked: &Asked, threads: usize) -> Sample {
    let lock = Placed(R::INIT);
    measure(asked, threads, |_| take_and_upgrade(&lock.0))
}

/// One operation of a hundred upgrades, the others read.
fn mix<R: RawRwLockUpgrade + Sync>(asked: &Asked, threads: usize) -> Sample {
    let lock = Placed(R::INIT);
    measure(asked, threads, |i| {
        if i % 100 == 0 {
            take_and_upgrade(&lock.0);
        } else {
            take_read(&lock.0);
        }
    })
}

fn mutex<R: RawMutex + Sync>(asked: &Asked, threads: usize) -> Sample {
    let lock = Placed(R::INIT);
    measure(asked, threads, |_| {
        lock.0.lock();
        black_box(&lock);
        unsafe { lock.0.unlock() };
    })
}

fn with_read(asked: &Asked, threads: usize) -> Sample {
    let lock = Placed(pawl::RwLock::new(()));
    measure(asked, threads, |_| lock.0.with_read(|()| black_box(())))
}

fn std_read(asked: &Asked, threads: usize) -> Sample {
    let lock = Placed(std::sync::RwLock::new(()));
    measure(asked, threads, |_| drop(black_box(lock.0.read())))
}

fn std_write(asked: &Asked, threads: usize) -> Sample {
    let lock = Placed(std::sync::RwLock::new(()));
    measure(asked, threads, |_| drop(black_box(lock.0.write())))
}

fn std_mutex(asked: &Asked, threads: usize) -> Sample {
    let lock = Placed(std::sync::Mutex::new(()));
    measure(asked, threads, |_| drop(black_box(lock.0.lock())))
}

// ---- The rows -----------------------------------------------------------------------------------

type Measure = fn(&Asked, usize) -> Sample;

struct Row {
    operation: &'static str,
    lock: &'static str,
    threads: usize,
    measure: Measure,
}

const ROWS: [(&str, &str, Measure); 15] = [
    ("read", "pawl", read::<pawl::RawRwLock>),
    ("read", "pawl_again", read::<pawl::RawRwLock>),
    ("read", "pawl_with_read", with_read),
    ("read", PEER, read::<parking_lot::RawRwLock>),
    ("read", "std", std_read),
    ("write", "pawl", write::<pawl::RawRwLock>),
    ("write", PEER, write::<parking_lot::RawRwLock>),
    ("write", "std", std_write),
    ("upgrade", "pawl", upgrade::<pawl::RawRwLock>),
    ("upgrade", PEER, upgrade::<parking_lot::RawRwLock>),
    ("mix", "pawl", mix::<pawl::RawRwLock>),
    ("mix", PEER, mix::<parking_lot::RawRwLock>),
    ("mutex", "pawl", mutex::<pawl::RawMutex>),
    ("mutex", PEER, mutex::<parking_lot::RawMutex>),
    ("mutex", "std", std_mutex),
];

impl Row {
    fn all() -> Vec<Row> {
        let made = |threads| {
            ROWS.iter().map(move |&(operation, lock, measure)| Row {
                operation,
                lock,
                threads,
                measure,
            })
        };
        made(1).chain(made(2)).collect()
    }

    fn name(&self) -> String {
        format!("{}/{}@{}", self.operation, self.lock, self.threads)
    }

    /// Why it cannot be measured; empty: it can.
    fn why(&self, asked: &Asked) -> String {
        if self.threads <= asked.cpus.len() {
            return String::new();
        }
        format!("it needs {} CPUs, and may use {}", self.threads, asked.cpus.len())
    }
}

/// The rows that are asked for, or all that can be measured.
fn chosen(asked: &Asked) -> Result<Vec<Row>, String> {
    let mut all = Row::all();
    if asked.names.is_empty() {
        all.retain(|row| row.why(asked).is_empty());
        return Ok(all);
    }
    for name in &asked.names {
        let Some(row) = all.iter().find(|row| row.name() == *name) else {
            return Err(format!("There is no candidate '{name}'. All of them: --list."));
        };
        let why = row.why(asked);
        if !why.is_empty() {
            return Err(format!("The candidate '{name}' cannot be measured: {why}."));
        }
    }
    all.retain(|row| asked.names.contains(&row.name()));
    Ok(all)
}

/// In turns; each round in the other order than the one before.
fn measure_all(asked: &Asked, rows: &[Row], mut told: impl FnMut(&Row, u32, Sample)) {
    for round in 0..asked.rounds {
        for place in 0..rows.len() {
            let place = if round % 2 == 0 { place } else { rows.len() - 1 - place };
            let row = &rows[place];
            told(row, round, (row.measure)(asked, row.threads));
        }
    }
}

// ---- What is printed ----------------------------------------------------------------------------

fn quoted(text: &str) -> String {
    let inside: String = text
        .chars()
        .map(|c| match c {
            '"' | '\\' => format!("\\{c}"),
            c if c.is_control() => "?".to_string(),
            c => c.to_string(),
        })
        .collect();
    format!("\"{inside}\"")
}

fn list(asked: &Asked) {
    let rows: Vec<String> = Row::all()
        .iter()
        .map(|row| {
            let why = row.why(asked);
            format!(
                "{{\"name\":{},\"available\":{},\"why\":{},\"baseline\":{}}}",
                quoted(&row.name()),
                why.is_empty(),
                quoted(&why),
                row.lock == PEER
            )
        })
        .collect();
    println!("[{}]", rows.join(","));
}

fn json_lines(asked: &Asked, rows: &[Row]) {
    let names: Vec<String> = rows.iter().map(|row| quoted(&row.name())).collect();
    let pin_error = if system::PINS { "" } else { "this system pins no threads" };
    println!(
        "{{\"type\":\"start\",\"bench\":\"crate\",\"rounds\":{},\"seconds\":{},\"warmup\":{},\
         \"pin\":{},\"candidates\":[{}],\"compiler\":{},\"flags\":{},\"pinned\":{},\
         \"pin_error\":{}}}",
        asked.rounds,
        asked.seconds,
        asked.warmup,
        quoted(&asked.pin),
        names.join(","),
        quoted(option_env!("PAWL_BENCH_COMPILER").unwrap_or("rustc")),
        quoted("opt-level 3; C: -O2"),
        system::PINS,
        quoted(pin_error)
    );
    measure_all(asked, rows, |row, round, sample| {
        println!(
            "{{\"type\":\"sample\",\"candidate\":{},\"round\":{round},\"threads\":{},\"ops\":{},\
             \"seconds\":{:.9}}}",
            quoted(&row.name()),
            row.threads,
            sample.ops,
            sample.seconds
        );
    });
    println!("{{\"type\":\"end\"}}");
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn table(asked: &Asked, rows: &[Row]) {
    let mut times: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    let mut order: Vec<&Row> = rows.iter().collect();
    order.sort_by_key(|row| (row.threads, ROWS.iter().position(|one| one.0 == row.operation)));
    println!("ns an operation, medians of {} samples of {} s", asked.rounds, asked.seconds);
    measure_all(asked, rows, |row, _, sample| {
        let time = row.threads as f64 * sample.seconds * 1e9 / sample.ops.max(1) as f64;
        times.entry(row.name()).or_default().push(time);
    });
    for row in order {
        let ours = &times[&row.name()];
        let beside = Row { lock: PEER, ..*row };
        let ratio = times.get(&beside.name()).map_or(String::new(), |theirs| {
            let each = ours.iter().zip(theirs).map(|(a, b)| a / b).collect();
            format!("{:6.2} times {PEER}", median(each))
        });
        println!("{:24} {:9.1} {ratio}", row.name(), median(ours.clone()));
    }
}

fn main() -> ExitCode {
    let done = Asked::of(std::env::args().skip(1)).and_then(|asked| {
        if asked.help {
            println!("{HELP}");
            return Ok(());
        }
        if asked.list {
            list(&asked);
            return Ok(());
        }
        let rows = chosen(&asked)?;
        if asked.table {
            table(&asked, &rows);
        } else {
            json_lines(&asked, &rows);
        }
        Ok(())
    });
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(sentence) => {
            println!("{{\"type\":\"error\",\"message\":{}}}", quoted(&sentence));
            ExitCode::from(2)
        }
    }
}
