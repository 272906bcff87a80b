// SPDX-License-Identifier: MIT
//! Runs all models, the named mistakes, and every mutant; prints what became of each.
//!
//!     prove [--test|--quick] [--jobs N] [--only good|bad|mutants] [--match TEXT] [--tags TEXT]
//!           [--undecided] [--patience SECONDS] [--minutes N] [--verbose]
//!           [--junit FILE] [--table FILE]
//!     prove --run MODEL [--fault NAME] [--mutate TAG:change[@site]]
//!     prove --list [--test|--quick]
//!
//! The last line counts what passed (mutants that live for a reason included), what failed, and
//! mutants whose reason is "not yet": they are allowed, and work to do.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::IsTerminal;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use pawl_model::child::{run_apart, run_here, Outcome, TIME_LIMIT};
use pawl_model::fate::{self, Fate, Verdict};
use pawl_model::fault::WAKE;
use pawl_model::junit::Report;
use pawl_model::mutants::{self, Mutant, Name};
use pawl_model::record::{self, Explained, Kind, Record, Row, KILLED, UNDECIDED, UNTOUCHED};
use pawl_model::suite::{self, Entry, Set};
use pawl_model::{library, sites, suite_locks};

/// A model that needs longer has not been explored.
const LIMIT: Duration = Duration::from_secs(300);
/// Minutes after which no further model is explored more deeply.
const MINUTES: u64 = 30;

struct Options {
    set: Set,
    jobs: usize,
    only: String,
    matching: String, // only models whose names have this in them
    tags: String,     // only mutants with this in TAG:change@site
    undecided: bool,  // only mutants that the record leaves so
    patience: Option<Duration>,
    verbose: bool,
    table: Option<String>,
    end: Instant, // of the deeper ones
}

impl Options {
    fn wants(&self, part: &str) -> bool {
        self.only.is_empty() || self.only == part
    }

    fn is_whole(&self) -> bool {
        self.matching.is_empty() && self.tags.is_empty() && !self.undecided
    }
}

const USAGE: &str = "Runs all models, the named mistakes, and every mutant (tests/model/README.md).
    prove [--test|--quick] [--jobs N] [--only good|bad|mutants] [--match TEXT] [--tags TEXT]
          [--undecided] [--patience SECONDS] [--minutes N] [--verbose]
          [--junit FILE] [--table FILE]
    prove --run MODEL [--fault NAME] [--mutate TAG:change[@site]]
    prove --list [--test|--quick]";
const SWITCHES: [&str; 5] = ["--test", "--quick", "--undecided", "--verbose", "--list"];
const VALUES: [&str; 11] = [
    "--jobs", "--only", "--match", "--tags", "--patience", "--minutes", "--junit", "--table",
    "--run", "--fault", "--mutate",
];

/// What is wrong with the arguments.
fn fault_of(arguments: &[String]) -> Option<String> {
    let mut rest = arguments.iter();
    while let Some(a) = rest.next() {
        let takes_value = VALUES.contains(&a.as_str());
        if takes_value && rest.next().is_none() {
            return Some(format!("{a} needs a value"));
        }
        if !takes_value && !SWITCHES.contains(&a.as_str()) {
            return Some(format!("no option {a}"));
        }
    }
    None
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.iter().any(|a| a == "--help" || a == "-h") {
        println!("{USAGE}");
        return;
    }
    if let Some(fault) = fault_of(&arguments) {
        eprintln!("prove: {fault}\n{USAGE}");
        std::process::exit(2);
    }
    let has = |name: &str| arguments.iter().any(|a| a == name);
    let value = |name: &str| {
        let at = arguments.iter().position(|a| a == name)?;
        arguments.get(at + 1).cloned()
    };
    let text = |name: &str| value(name).unwrap_or_default();
    if let Some(model) = value("--run") {
        let fault = value("--fault").unwrap_or("None".into());
        std::process::exit(run_here(&model, &fault, &text("--mutate")));
    }
    let start = Instant::now();
    let minutes = value("--minutes").and_then(|n| n.parse().ok());
    let options = Options {
        set: match (has("--test"), has("--quick")) {
            (true, _) => Set::Test,
            (_, true) => Set::Quick,
            _ => Set::Deep,
        },
        jobs: value("--jobs")
            .and_then(|n| n.parse().ok())
            .unwrap_or_else(|| std::thread::available_parallelism().map_or(1, |n| n.get())),
        only: text("--only"),
        matching: text("--match"),
        tags: text("--tags"),
        undecided: has("--undecided"),
        patience: value("--patience").and_then(|n| n.parse().ok()).map(Duration::from_secs),
        verbose: has("--verbose"),
        table: value("--table"),
        end: start + 60 * Duration::from_secs(minutes.unwrap_or(MINUTES)),
    };
    if has("--list") {
        let entries = suite::entries();
        let names = entries.iter().filter_map(|e| e.first(options.set));
        names.for_each(|name| println!("{name}"));
        return;
    }
    let mut report = Report::default();
    prove(&options, &mut report);
    let seconds = start.elapsed().as_secs_f64();
    println!();
    report.print_failures();
    if let Some(file) = value("--junit") {
        report.write(&file, seconds).expect("the report can be written");
    }
    println!("{seconds:.0} s");
    let (passed, failed) = (report.passes(), report.failures());
    println!("{passed} passed, {failed} failed, {} not yet", report.open());
    std::process::exit(i32::from(report.failures() > 0 || report.passes() == 0));
}

/// Does `work` for each of 0..count, `jobs` at a time; the results in order. The last ones are the
/// longest, so they come first.
fn in_parallel<T: Send>(jobs: usize, count: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let left = AtomicUsize::new(count);
    let done = Mutex::new(Vec::new());
    let tell = std::io::stderr().is_terminal();
    std::thread::scope(|scope| {
        for _ in 0..jobs.max(1) {
            scope.spawn(|| loop {
                let i = left.fetch_sub(1, Ordering::Relaxed) as isize - 1;
                if i < 0 {
                    break;
                }
                let result = work(i as usize);
                let mut done = done.lock().expect("no worker panics");
                done.push((i, result));
                if tell {
                    eprint!("\r{} of {count} ", done.len());
                }
            });
        }
    });
    if tell {
        eprint!("\r                 \r");
    }
    let mut done = done.into_inner().expect("no worker panics");
    done.sort_by_key(|(i, _)| *i);
    done.into_iter().map(|(_, result)| result).collect()
}

fn prove(options: &Options, report: &mut Report) {
    println!("==== Good models ====");
    let mut entries = suite::entries();
    entries.retain(|e| e.first(options.set).is_some_and(|n| n.contains(&options.matching)));
    let asleep = Mutex::new(String::new());
    let good = in_parallel(options.jobs, entries.len(), |i| {
        let model = entries[i].first(options.set).expect("kept for it");
        // Scripts of one kind touch nearly the same places: one after the other learns fewer. (Not
        // scenes: in the memory of one another one has words of other sizes.)
        let kind = model.split_once('/').map_or("", |(kind, _)| kind);
        let sleeps = kind.starts_with("lock") || kind.starts_with("shared");
        let known = if sleeps {
            asleep.lock().expect("no worker panics").clone()
        } else {
            String::new()
        };
        let outcome = run_apart(model, &known, "None", "", LIMIT);
        if sleeps {
            *asleep.lock().expect("no worker panics") = outcome.places.clone();
        }
        if options.verbose {
            print_good(&outcome);
        }
        outcome
    });
    report_good(options, &good, report);
    let explained = record::explained().unwrap_or_else(|why| {
        report.failed("survivors.def".into(), 0.0, why, String::new());
        Vec::new()
    });
    let untouched = report_untouched(options, &good, &explained, report);
    if options.wants("bad") {
        report_bad(options, report);
    }
    if options.wants("mutants") {
        if options.set == Set::Test {
            report_sample(options, &entries, &good, report);
        } else {
            let found = report_mutants(options, &entries, &good, &explained, untouched, report);
            report_stale(options, &explained, &found, report);
            if let Some(path) = &options.table {
                write_table(options, path, found);
            }
        }
    }
    if options.set == Set::Deep && options.wants("deeper") {
        report_deeper(options, &entries, &good, report);
    }
}

fn print_good(o: &Outcome) {
    let fate = if o.good { "passed" } else { &o.property };
    println!("{:44} {:10} executions {:9.3} s  {fate}", o.model, o.executions, o.seconds);
}

fn report_good(options: &Options, good: &[Outcome], report: &mut Report) {
    for o in good {
        if !o.good && !options.verbose {
            print_good(o);
        }
        let name = format!("good {}", o.model);
        if o.good {
            report.passed(name, o.seconds);
        } else {
            println!("{}", o.output);
            report.failed(name, o.seconds, o.property.clone(), o.output.clone());
        }
    }
    let executions: u64 = good.iter().map(|o| o.executions).sum();
    let seconds: f64 = good.iter().map(|o| o.seconds).sum();
    println!(
        "{} models, {executions} executions explored, {seconds:.0} s of processor time",
        good.len()
    );
    let run: BTreeSet<&str> = good.iter().flat_map(|o| &o.run).map(String::as_str).collect();
    for op in library::ops() {
        if !run.contains(op.name) && options.matching.is_empty() {
            let name = format!("operation {}", op.name);
            report.failed(name, 0.0, "no model runs it".into(), String::new());
        }
    }
}

/// The good models again within larger bounds, the cheapest first, until the time is used up.
fn report_deeper(options: &Options, entries: &[Entry], good: &[Outcome], report: &mut Report) {
    println!("\n==== Deeper ====");
    let mut deeper: Vec<usize> = (0..entries.len())
        .filter(|i| entries[*i].deep != entries[*i].quick && good[*i].good)
        .collect();
    deeper.sort_by_key(|i| std::cmp::Reverse(good[*i].executions)); // the last one comes first
    let outcomes = in_parallel(options.jobs, deeper.len(), |i| {
        let left = options.end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return None;
        }
        let known = &good[deeper[i]].places;
        let outcome = run_apart(&entries[deeper[i]].deep, known, "None", "", left);
        (outcome.good || outcome.property != TIME_LIMIT).then_some(outcome)
    });
    let explored: Vec<&Outcome> = outcomes.iter().flatten().collect();
    for o in &explored {
        if options.verbose || !o.good {
            print_good(o);
        }
        if o.good {
            report.passed(format!("deeper {}", o.model), o.seconds);
        } else {
            println!("{}", o.output);
            let name = format!("deeper {}", o.model);
            report.failed(name, o.seconds, o.property.clone(), o.output.clone());
        }
    }
    let executions: u64 = explored.iter().map(|o| o.executions).sum();
    println!(
        "{} of {} models, {executions} executions explored; for the others the time was too short",
        explored.len(),
        deeper.len()
    );
}

fn report_bad(options: &Options, report: &mut Report) {
    println!("\n==== Named and planted mistakes ====");
    let named = suite::BAD.iter().map(|suite::Bad(fault, model, expected)| {
        (format!("{fault:?}"), String::new(), *model, *expected)
    });
    let planted = suite::PLANTED.iter().chain(suite_locks::PLANTED);
    let planted = planted.map(|suite::Planted(what, model, expected)| {
        if what.contains(':') {
            ("None".into(), what.to_string(), *model, *expected)
        } else {
            (what.to_string(), String::new(), *model, *expected)
        }
    });
    let mut bad: Vec<_> = named.chain(planted).collect();
    bad.retain(|(_, _, model, _)| model.contains(&options.matching));
    let outcomes = in_parallel(options.jobs, bad.len(), |i| {
        let (fault, mutation, model, _) = &bad[i];
        run_apart(model, "", fault, mutation, LIMIT)
    });
    for (outcome, (fault, mutation, model, expected)) in outcomes.iter().zip(&bad) {
        let what = if mutation.is_empty() { fault } else { mutation };
        let caught = !outcome.good && expected.contains(&outcome.property.as_str());
        let fate = if outcome.good {
            "NOT CAUGHT".to_string()
        } else {
            let by = &outcome.property;
            format!("caught by {by} in execution {}", outcome.executions)
        };
        println!("{what:20} {model:44} {fate}");
        let name = format!("bad {what} {model}");
        if caught {
            report.passed(name, outcome.seconds);
        } else {
            println!("{}", outcome.output);
            report.failed(name, outcome.seconds, fate, outcome.output.clone());
        }
        if options.verbose {
            println!("{}", outcome.output);
        }
    }
}

/// The sample: of each tag and kind of change the record's cheapest mutant must still be killed
/// by the model that killed it.
fn report_sample(options: &Options, entries: &[Entry], good: &[Outcome], report: &mut Report) {
    println!("\n==== Mutants, one of each tag and change ====");
    let recorded = record::read();
    let at: HashMap<&str, usize> = (0..entries.len()).map(|i| (&*entries[i].quick, i)).collect();
    let mut cheapest: BTreeMap<(String, String), (&Mutant, &Row)> = BTreeMap::new();
    let mutants = mutants::all(good);
    for mutant in &mutants {
        let Some(row) = recorded.get(&mutant.name) else { continue };
        let known = at.get(row.by.as_str()).is_some_and(|i| mutant.models.contains(i));
        let key = (mutant.name.tag.clone(), mutant.name.change.clone());
        if known && cheapest.get(&key).is_none_or(|(_, best)| row.executions < best.executions) {
            cheapest.insert(key, (mutant, row));
        }
    }
    let chosen: Vec<_> = cheapest.into_values().collect();
    let fates = in_parallel(options.jobs, chosen.len(), |i| {
        let (mutant, row) = chosen[i];
        mutant.run_in(&row.by, &good[at[row.by.as_str()]].places, LIMIT)
    });
    for ((mutant, row), outcome) in chosen.iter().zip(&fates) {
        let name = format!("mutant {}", mutant.shown());
        if fate::is_killed(outcome) {
            report.passed(name, outcome.seconds);
        } else {
            let why = format!("no longer killed by {}", row.by);
            report.failed(name, outcome.seconds, why, outcome.output.clone());
        }
    }
    println!("{} tried again where proof.tsv says that they are killed", chosen.len());
}

fn report_mutants(
    options: &Options,
    entries: &[Entry],
    good: &[Outcome],
    explained: &[Explained],
    untouched: Record,
    report: &mut Report,
) -> Record {
    println!("\n==== Mutants ====");
    let recorded = record::read();
    let names: Vec<Vec<String>> = vec![
        entries.iter().map(|e| e.quick.clone()).collect(),
        entries.iter().map(|e| e.deep.clone()).collect(),
    ];
    let mut mutants = mutants::all(good);
    mutants.retain(|m| m.shown().contains(&options.tags));
    if options.undecided {
        let open = |m: &Mutant| recorded.get(&m.name).is_some_and(|row| row.fate == UNDECIDED);
        mutants.retain(open);
    }
    let fates = in_parallel(options.jobs, mutants.len(), |i| {
        let mutant = &mutants[i];
        let excuse = explained.iter().find(|e| e.is_about(&mutant.name));
        let plan = fate::plan(options.set, excuse.map(|e| e.kind), options.patience);
        let last = recorded.get(&mutant.name).map(|row| row.by.as_str());
        let fate = fate::fate_of(plan, |depth, limit| {
            mutant.hunt(&names[depth], good, last, limit)
        });
        print_mutant(options, mutant, &fate, &row_of(mutant, &fate, excuse));
        fate
    });
    let mut found = Record::new();
    for (mutant, fate) in mutants.iter().zip(&fates) {
        let excuse = explained.iter().find(|e| e.is_about(&mutant.name));
        let row = row_of(mutant, fate, excuse);
        let name = format!("mutant {}", mutant.shown());
        match fate::verdict(fate, excuse.map(|e| e.kind), options.set) {
            Verdict::Passed => report.passed(name, fate.seconds),
            Verdict::Lives { open } => report.lives(name, fate.seconds, open, row.why.clone()),
            Verdict::Failed => {
                let why = format!("{} {} models", row.fate, row.models);
                report.failed(name, fate.seconds, why, mutant.at.clone());
            }
            Verdict::Left => {}
        }
        found.insert(mutant.name.clone(), row);
    }
    found.extend(untouched);
    print_totals(&found);
    found
}

/// Ordered accesses that no model comes to; unless that is explained, they fail.
fn report_untouched(
    options: &Options,
    good: &[Outcome],
    explained: &[Explained],
    report: &mut Report,
) -> Record {
    let mut found = Record::new();
    if !options.is_whole() {
        return found;
    }
    for site in mutants::untouched(good) {
        let (name, row) = untouched_row(site, explained);
        let what = format!("untouched {} {}", site.tag, name.place);
        if row.why.is_empty() {
            let why = format!("{}:{} is in no model", site.file, site.line);
            println!("{} at {why}", site.tag);
            report.failed(what, 0.0, why, String::new());
        } else {
            let open = record::kind_of(&row.why) == Some(Kind::NotYet);
            report.lives(what, 0.0, open, row.why.clone());
        }
        found.insert(name, row);
    }
    println!("{} of {} ordered accesses are in no model", found.len(), sites::ordered().count());
    found
}

fn print_mutant(options: &Options, mutant: &Mutant, fate: &Fate, row: &Row) {
    let line = format!(
        "{:58} {:4} models {:8} executions {:7.2} s  {}",
        mutant.shown(),
        row.models,
        row.executions,
        fate.seconds,
        row.fate
    );
    if fate.killer.is_none() {
        println!("{line} at {}: {}", mutant.at, row.why);
    } else if options.verbose {
        println!("{line} by {} in {}", row.why, row.by);
    }
}

fn row_of(mutant: &Mutant, fate: &Fate, excuse: Option<&Explained>) -> Row {
    let mut row = Row {
        order: mutant.order.clone(),
        models: mutant.models.len(),
        executions: fate.executions,
        fate: fate.name().into(),
        by: "-".into(),
        why: excuse.map_or(String::new(), |e| e.reason.clone()),
    };
    if let Some(killer) = &fate.killer {
        row.by = killer.model.clone();
        row.why = killer.property.clone();
    }
    row
}

fn untouched_row(site: &sites::Site, explained: &[Explained]) -> (Name, Row) {
    let name = Name {
        tag: site.tag.clone(),
        place: site.place(),
        change: UNTOUCHED.into(),
    };
    let excuse = explained.iter().find(|e| e.is_about(&name));
    let row = Row {
        order: site.order.clone(),
        models: 0,
        executions: 0,
        fate: UNTOUCHED.into(),
        by: "-".into(),
        why: excuse.map_or(String::new(), |e| e.reason.clone()),
    };
    (name, row)
}

/// A line that explains a survivor that is none.
fn report_stale(
    options: &Options,
    explained: &[Explained],
    found: &Record,
    report: &mut Report,
) {
    for e in explained {
        let mut about = found.iter().filter(|(name, _)| e.is_about(name)).peekable();
        let tried = about.peek().is_some();
        if about.any(|(_, row)| row.fate != KILLED) || !(tried || options.is_whole()) {
            continue;
        }
        let what = format!("survivors.def:{}", e.line);
        if e.kind == Kind::NotYet {
            println!("{what} can go: what it lists is killed");
            continue;
        }
        let why = if tried { "what it explains is killed" } else { "there is no such mutant" };
        report.failed(what, 0.0, why.into(), String::new());
    }
}

fn print_totals(found: &Record) {
    let mut tags: BTreeMap<&str, bool> = BTreeMap::new();
    for (name, row) in found.iter().filter(|(n, _)| n.tag != "-" && n.tag != WAKE) {
        let all_killed = tags.entry(&name.tag).or_insert(true);
        *all_killed &= row.fate == KILLED;
    }
    let clean = tags.values().filter(|all_killed| **all_killed).count();
    record::totals(found).iter().for_each(|line| println!("{line}"));
    println!("{clean} of {} tags killed in every way at every site", tags.len());
}

/// A part of all that was tried takes the place of what the record said of it.
fn write_table(options: &Options, path: &str, found: Record) {
    let mut recorded = record::read();
    if options.is_whole() {
        recorded = found;
    } else {
        let tags: BTreeSet<&String> = found.keys().map(|name| &name.tag).collect();
        if options.matching.is_empty() && !options.undecided {
            let tried = |name: &Name| {
                tags.contains(&name.tag) && name.shown().contains(&options.tags)
            };
            recorded.retain(|name, row| !tried(name) || row.fate == UNTOUCHED);
        }
        recorded.extend(found);
    }
    record::write(path, &recorded).expect("the record can be written");
}
