// SPDX-License-Identifier: MIT
//! One model in a process of its own: a failure, a hang or a mistake in one cannot touch another.

use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::model::{property_of, Model};
use crate::notes::{self, Use};
use crate::{fault, hang, hooks, places, subject};

/// The property of a model that was not explored in time.
pub const TIME_LIMIT: &str = "time limit";

/// That of one in which the library touched memory that is not there, or is not what it seems.
pub const CRASH: &str = "crash";

/// What became of a model.
#[derive(Clone, Debug)]
pub struct Outcome {
    pub model: String,
    pub good: bool,
    pub property: String, // of a failure
    pub executions: u64,
    pub seconds: f64,
    pub run: Vec<String>, // operations
    pub touched: Vec<Touched>,
    pub wakes: Vec<Vec<usize>>, // where the calls return to
    pub places: String,         // for those who run the model again
    pub output: String,
}

/// An access that the model has come to.
#[derive(Clone, Debug)]
pub struct Touched {
    pub address: usize, // where its call returns to
    pub tag: String,
    pub order: String, // as it stands there
    pub purpose: Use,
}

/// The child's side: runs the model and prints one RESULT line; the exit code is 3 if it failed.
pub fn run_here(name: &str, fault_name: &str, mutation: &str) -> i32 {
    let model = match Model::parse(name) {
        Ok(model) => model,
        Err(why) => {
            eprintln!("{name}: {why}");
            return 2;
        }
    };
    let Some(fault) = fault::named(fault_name) else {
        eprintln!("no fault {fault_name}");
        return 2;
    };
    hooks::set_fault(fault);
    if !mutation.is_empty() {
        let Some(mutation) = fault::Mutation::parse(mutation) else {
            eprintln!("{mutation}: a mutation is TAG:change or TAG:change@file:line");
            return 2;
        };
        hooks::set_mutation(Some(mutation));
    }
    let start = Instant::now();
    let what = name.to_string();
    std::panic::set_hook(Box::new(move |info| {
        let payload = info.payload();
        let message = payload
            .downcast_ref::<String>()
            .map(String::as_str)
            .or(payload.downcast_ref::<&str>().copied())
            .unwrap_or("(no message)");
        let property = property_of(message);
        println!(
            "{what}: {property} broken in execution {}",
            hooks::executions()
        );
        println!("  {}", message.trim().replace('\n', "\n  "));
        print!("{}", hooks::schedule());
        print_result(false, property, start);
        std::process::exit(3);
    }));
    hang::watch();
    model.run();
    print_result(true, "-", start);
    0
}

fn print_result(good: bool, property: &str, start: Instant) {
    let touched: Vec<String> = notes::touched()
        .iter()
        .map(|t| {
            let tag = hooks::tag_name(t.tag);
            format!("{:x}={tag}={:?}={}", t.address, t.order, t.purpose.letter())
        })
        .collect();
    let wakes: Vec<String> = notes::woken().iter().map(|r| fault::show_returns(r)).collect();
    println!(
        "RESULT {} {} {} {:.6} {} {} {} {}",
        if good { "ok" } else { "fail" },
        property.replace(' ', "_"),
        hooks::executions(),
        start.elapsed().as_secs_f64(),
        notes::operations_run().join(","),
        touched.join(","),
        wakes.join("+"),
        places::list()
    );
}

fn parse_touched(item: &str) -> Option<Touched> {
    let mut parts = item.split('=');
    Some(Touched {
        address: usize::from_str_radix(parts.next()?, 16).ok()?,
        tag: parts.next()?.into(),
        order: parts.next()?.into(),
        purpose: Use::named(parts.next()?)?,
    })
}

/// The parent's side.
pub fn run_apart(
    model: &str,
    known_places: &str,
    fault_name: &str,
    mutation: &str,
    limit: Duration,
) -> Outcome {
    let start = Instant::now();
    let program = std::env::current_exe().expect("the program knows where it is");
    let mut child = Command::new(program)
        .args(["--run", model, "--fault", fault_name, "--mutate", mutation])
        .env(places::VARIABLE, known_places)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()
        .expect("the program runs itself");
    let mut pipe = child.stdout.take().expect("piped");
    let reader = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = pipe.read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    });
    let mut late = false;
    let mut nap = Duration::from_micros(500);
    while child
        .try_wait()
        .expect("a child can be waited for")
        .is_none()
    {
        if !late && start.elapsed() > limit {
            late = true;
            let _ = child.kill();
        }
        std::thread::sleep(nap);
        nap = (nap * 2).min(Duration::from_millis(20));
    }
    let output = reader.join().unwrap_or_default();
    let crashed = child.wait().is_ok_and(|status| status.signal().is_some());
    let without_result = match (late, crashed) {
        (true, _) => TIME_LIMIT,
        (false, true) => CRASH,
        (false, false) => subject::HARNESS,
    };
    parse(model, output, without_result, start.elapsed().as_secs_f64())
}

/// `property` is that of a child that has not come to a result.
fn parse(model: &str, output: String, property: &str, seconds: f64) -> Outcome {
    let mut outcome = Outcome {
        model: model.into(),
        good: false,
        property: property.into(),
        executions: 0,
        seconds,
        run: Vec::new(),
        touched: Vec::new(),
        wakes: Vec::new(),
        places: String::new(),
        output: String::new(),
    };
    if let Some(line) = output.lines().rev().find_map(|l| l.strip_prefix("RESULT ")) {
        let words: Vec<&str> = line.split(' ').collect();
        outcome.good = words[0] == "ok";
        outcome.property = words[1].replace('_', " ");
        outcome.executions = words[2].parse().unwrap_or(0);
        outcome.seconds = words[3].parse().unwrap_or(seconds);
        outcome.run = words[4].split(',').map(String::from).collect();
        outcome.touched = words[5].split(',').filter_map(parse_touched).collect();
        outcome.wakes = words[6].split('+').filter_map(fault::parse_returns).collect();
        outcome.places = words.get(7).unwrap_or(&"").to_string();
    }
    outcome.output = output;
    outcome
}
