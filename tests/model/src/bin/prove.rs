// SPDX-License-Identifier: MIT
//! Runs all models, the named mistakes, and every weaker order; prints what became of each.
//!
//!     prove [--quick] [--jobs N] [--only good|bad|orders] [--match TEXT] [--verbose]
//!     prove --run MODEL [--fault NAME] [--mutate TAG:order[@file:line]]
//!     prove --list [--quick]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use pawl_model::child::{run_apart, run_here, Outcome};
use pawl_model::{fault, library, subject, suite};

/// A model that needs longer has not been explored.
const LIMIT: Duration = Duration::from_secs(120);
const LIMIT_DEEP: Duration = Duration::from_secs(1200);

struct Options {
    quick: bool,
    jobs: usize,
    only: String,
    matching: String, // only models whose names have this in them
    verbose: bool,
}

impl Options {
    fn limit(&self) -> Duration {
        if self.quick {
            LIMIT
        } else {
            LIMIT_DEEP
        }
    }

    fn wants(&self, part: &str) -> bool {
        self.only.is_empty() || self.only == part
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let has = |name: &str| arguments.iter().any(|a| a == name);
    let value = |name: &str| {
        let at = arguments.iter().position(|a| a == name)?;
        arguments.get(at + 1).cloned()
    };
    if let Some(model) = value("--run") {
        let fault = value("--fault").unwrap_or("None".into());
        std::process::exit(run_here(
            &model,
            &fault,
            &value("--mutate").unwrap_or_default(),
        ));
    }
    let options = Options {
        quick: has("--quick"),
        jobs: value("--jobs")
            .and_then(|n| n.parse().ok())
            .unwrap_or_else(|| std::thread::available_parallelism().map_or(1, |n| n.get())),
        only: value("--only").unwrap_or_default(),
        matching: value("--match").unwrap_or_default(),
        verbose: has("--verbose"),
    };
    if has("--list") {
        suite::good(options.quick)
            .iter()
            .for_each(|model| println!("{model}"));
        return;
    }
    std::process::exit(i32::from(!prove(&options)));
}

/// Does `work` for each of 0..count, `jobs` at a time; the results in order.
fn in_parallel<T: Send>(jobs: usize, count: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..jobs.max(1) {
            scope.spawn(|| loop {
                let i = next.fetch_add(1, Ordering::Relaxed);
                if i >= count {
                    break;
                }
                let result = work(i);
                done.lock().expect("no worker panics").push((i, result));
            });
        }
    });
    let mut done = done.into_inner().expect("no worker panics");
    done.sort_by_key(|(i, _)| *i);
    done.into_iter().map(|(_, result)| result).collect()
}

fn prove(options: &Options) -> bool {
    let start = Instant::now();
    let mut passed = 0;
    let mut failed = Vec::new();

    let mut models = suite::good(options.quick);
    models.retain(|model| model.contains(&options.matching));
    let asleep = Mutex::new(String::new());
    let good = in_parallel(options.jobs, models.len(), |i| {
        let model = &models[i];
        let sleeps = model.starts_with("lock");
        // They touch nearly the same places: one after the other learns fewer.
        let known = if sleeps {
            asleep.lock().expect("no worker panics").clone()
        } else {
            String::new()
        };
        let outcome = run_apart(model, &known, "None", "", options.limit());
        if sleeps {
            *asleep.lock().expect("no worker panics") = outcome.places.clone();
        }
        eprint!("\r{} of {} ", i + 1, models.len());
        outcome
    });
    eprintln!();
    report_good(options, &good, start, &mut passed, &mut failed);
    if options.wants("bad") {
        report_bad(options, &mut passed, &mut failed);
    }
    let mut survivors = 0;
    if options.wants("orders") {
        survivors = report_orders(options, &good, &mut passed, &mut failed);
    }
    println!();
    for name in &failed {
        println!("FAILED  {name}");
    }
    println!(
        "{survivors} mutants survived, {:.0} s",
        start.elapsed().as_secs_f64()
    );
    println!("{passed} passed, {} failed", failed.len());
    failed.is_empty() && passed > 0
}

fn report_good(
    options: &Options,
    good: &[Outcome],
    start: Instant,
    passed: &mut usize,
    failed: &mut Vec<String>,
) {
    println!("==== Good models ====");
    for outcome in good {
        if options.verbose || !outcome.good {
            println!(
                "{:44} {:10} executions {:9.3} s  {}",
                outcome.model,
                outcome.executions,
                outcome.seconds,
                if outcome.good {
                    "passed"
                } else {
                    &outcome.property
                }
            );
        }
        if outcome.good {
            *passed += 1;
        } else {
            println!("{}", outcome.output);
            failed.push(format!("good {}: {}", outcome.model, outcome.property));
        }
    }
    let executions: u64 = good.iter().map(|o| o.executions).sum();
    println!(
        "{} models, {executions} executions explored, {:.0} s",
        good.len(),
        start.elapsed().as_secs_f64()
    );
    let run: BTreeSet<&str> = good
        .iter()
        .flat_map(|o| o.run.iter().map(String::as_str))
        .collect();
    for op in library::ops() {
        if !run.contains(op.name) && options.matching.is_empty() {
            failed.push(format!("operation {} is in no model", op.name));
        }
    }
}

fn report_bad(options: &Options, passed: &mut usize, failed: &mut Vec<String>) {
    println!("\n==== Named mistakes ====");
    let named = suite::BAD.iter().map(|suite::Bad(fault, model, expected)| {
        (format!("{fault:?}"), String::new(), *model, *expected)
    });
    let planted = suite::PLANTED.iter().map(|suite::Planted(what, model, expected)| {
        if what.contains(':') {
            ("None".into(), what.to_string(), *model, *expected)
        } else {
            (what.to_string(), String::new(), *model, *expected)
        }
    });
    let bad: Vec<_> = named.chain(planted).collect();
    let outcomes = in_parallel(options.jobs, bad.len(), |i| {
        let (fault, mutation, model, _) = &bad[i];
        run_apart(model, "", fault, mutation, options.limit())
    });
    for (outcome, (fault, mutation, model, expected)) in outcomes.iter().zip(&bad) {
        let what = if mutation.is_empty() { fault } else { mutation };
        let caught = !outcome.good && expected.contains(&outcome.property.as_str());
        println!(
            "{what:20} {model:44} {}",
            if outcome.good {
                "NOT CAUGHT".to_string()
            } else {
                format!(
                    "caught by {} in execution {}",
                    outcome.property, outcome.executions
                )
            }
        );
        if caught {
            *passed += 1;
        } else {
            println!("{}", outcome.output);
            failed.push(format!("bad {what} {model}: {}", outcome.property));
        }
        if options.verbose {
            println!("{}", outcome.output);
        }
    }
}

/// One weaker order at one site; or, for tag "-", a relaxed change of the word that is left out.
struct Mutant {
    tag: String,
    site: String,
    order: String,
    weaker: &'static str,
}

fn mutants(good: &[Outcome]) -> (Vec<Mutant>, Vec<String>) {
    let mut by_tag: BTreeMap<&str, BTreeSet<(&str, &str)>> = BTreeMap::new();
    for (site, tag, order) in good.iter().flat_map(|o| &o.touched) {
        by_tag.entry(tag).or_default().insert((site, order));
    }
    let mut all = Vec::new();
    let mut untouched = Vec::new();
    for tag in library::tags().iter().skip(1) {
        let Some(sites) = by_tag.get(tag.name) else {
            untouched.push(tag.name.to_string());
            continue;
        };
        for (site, order) in sites {
            for weaker in fault::weaker(order) {
                all.push(Mutant {
                    tag: tag.name.into(),
                    site: site.to_string(),
                    order: order.to_string(),
                    weaker,
                });
            }
        }
    }
    for (site, _) in by_tag.get("-").into_iter().flatten() {
        all.push(Mutant {
            tag: "-".into(),
            site: site.to_string(),
            order: "change".into(),
            weaker: "skip",
        });
    }
    (all, untouched)
}

/// Runs the models that touch the mutant, cheapest first, until one fails.
fn hunt(mutant: &Mutant, good: &[Outcome], limit: Duration) -> (Option<Outcome>, u64, usize, f64) {
    let mutation = format!("{}:{}@{}", mutant.tag, mutant.weaker, mutant.site);
    let mut models: Vec<&Outcome> = good
        .iter()
        .filter(|o| {
            o.touched
                .iter()
                .any(|(site, tag, _)| *site == mutant.site && *tag == mutant.tag)
        })
        .collect();
    models.sort_by_key(|o| o.executions);
    let start = Instant::now();
    let mut executions = 0;
    for model in &models {
        let outcome = run_apart(&model.model, &model.places, "None", &mutation, limit);
        executions += outcome.executions;
        let real = outcome.property != subject::HARNESS && outcome.property != "time limit";
        if !outcome.good && real {
            return (
                Some(outcome),
                executions,
                models.len(),
                start.elapsed().as_secs_f64(),
            );
        }
    }
    (
        None,
        executions,
        models.len(),
        start.elapsed().as_secs_f64(),
    )
}

fn report_orders(
    options: &Options,
    good: &[Outcome],
    passed: &mut usize,
    failed: &mut Vec<String>,
) -> usize {
    println!("\n==== Weaker orders (and, without a tag, changes of the word left out) ====");
    let (mutants, untouched) = mutants(good);
    let found = in_parallel(options.jobs, mutants.len(), |i| {
        hunt(&mutants[i], good, options.limit())
    });
    let mut alive: BTreeMap<&str, usize> = BTreeMap::new();
    for (mutant, (killer, executions, models, seconds)) in mutants.iter().zip(&found) {
        let lives = alive.entry(&mutant.tag).or_default();
        let fate = match killer {
            Some(by) => {
                *passed += 1;
                format!("killed by {} in {}", by.property, by.model)
            }
            None => {
                *lives += 1;
                format!("SURVIVED {models} models")
            }
        };
        println!(
            "{:18} {:8} -> {:8} {:26} {executions:8} executions {seconds:7.2} s  {fate}",
            mutant.tag, mutant.order, mutant.weaker, mutant.site
        );
    }
    let listed = suite::sites_listed();
    for m in mutants.iter().filter(|m| m.tag != "-") {
        let known = listed.contains(&(m.tag.clone(), m.site.clone()));
        // Where a macro makes the function, the debugger names the line that uses it.
        let by_macro = m.site.starts_with("src/bitlock.c:");
        if !known && !by_macro {
            failed.push(format!(
                "{} at {}, which doc/orders.md does not list",
                m.tag, m.site
            ));
        }
    }
    let mut unseen = 0;
    for (tag, site) in listed {
        if mutants.iter().any(|m| m.tag == *tag && m.site == *site) {
            continue;
        }
        unseen += 1;
        if options.matching.is_empty() && suite::must_be_touched(tag, site) {
            failed.push(format!("{tag} at {site} is in no model"));
        }
    }
    println!("{unseen} of {} ordered sites are in no model", listed.len());
    let mut survivors = 0;
    for tag in &untouched {
        if options.matching.is_empty() && tag.starts_with("SPIN_") {
            failed.push(format!("tag {tag} is in no model"));
        } else {
            println!("{tag:18} no model yet");
        }
    }
    for lives in alive.values() {
        survivors += lives;
    }
    println!(
        "{} tags, {} of them killed at every site in every weaker order, {} without a model",
        library::tags().len() - 1,
        alive
            .iter()
            .filter(|(tag, lives)| **tag != "-" && **lives == 0)
            .count(),
        untouched.len()
    );
    survivors
}
