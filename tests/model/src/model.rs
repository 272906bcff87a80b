// SPDX-License-Identifier: MIT
//! A model by its name, and how to run it in this process.
//!
//! `WIDTH/SCRIPT|SCRIPT...` for the progressive spinlock, `lockWIDTH/...` for the one that sleeps,
//! `sharedWIDTH/...` for the one in shared memory, or the name of a scene; then options:
//!   app=N        the application bits at the start
//!   end=N        those at the end, when the model changes them
//!   any-end      they may end either way
//!   polls=N      a waiter polls N times before its pauses give way to the others
//!   stalled=N    N claims of S of threads stopped between claim and withdrawal, which comes
//!                at some time after the first thread has ended
//!   reach=N      fails unless some access finds a word of at least N: what the model is there for
//!   time=N       N ns pass at some moment; each look at the clock may come before or after
//!                (but those of a scene's first thread come after)
//!   ipi=1        heavy fences interrupt the other threads, light ones are nothing (interrupts.rs)
//!   fences=1     full fences of two threads are tried in both orders (loom by itself does not)
//!   bias=1       readers of the lock that sleeps scale: the word has BIASED, each thread a line
//!   bias=2       they begin to: PAWL_BIAS=on, and the first drop of R sets BIASED
//!   preempt=N    at most N preemptions (default: no bound)

use std::sync::Arc;

use crate::scene::{self, Scene};
use crate::script::{find, Row};
use crate::subject::{Kind, Subject, EXCLUSION, PROGRESS, RACE, REACHED, RESTORED, VISIBILITY};
use crate::{clock, hooks, interrupts, subject};

/// Scheduling points in one execution; beyond that somebody waits for ever.
const BRANCHES: usize = 4_000;

pub struct Model {
    pub scene: Option<Scene>, // then width and scripts mean nothing
    pub width: usize,
    pub kind: Kind,
    pub scripts: Vec<&'static Row>,
    pub application: u64,
    pub end: Option<u64>,
    pub any_end: bool,
    pub polls: usize,
    pub stalled: u64,
    pub reach: u64,
    pub time: u64,
    pub interrupts: bool,
    pub fences: bool,
    pub bias: u64,
    pub preemptions: Option<usize>,
}

impl Model {
    pub fn parse(name: &str) -> Result<Model, String> {
        let first = name.split(' ').next().unwrap_or_default();
        let scene = scene::find(first);
        let (lock, scripts) = match scene {
            Some(_) => ("32", ""),
            None => first
                .split_once('/')
                .ok_or(format!("{first} is no scene, and no WIDTH/SCRIPT|SCRIPT..."))?,
        };
        let (kind, width) = match lock.trim_end_matches(|c: char| c.is_ascii_digit()) {
            "lock" => (Kind::Sleeps, &lock["lock".len()..]),
            "shared" => (Kind::Shared, &lock["shared".len()..]),
            _ => (Kind::Spins, lock),
        };
        let more = scene.as_ref().map_or("", |s| s.options);
        let words = more.split(' ').chain(name.split(' ').skip(1)).filter(|w| !w.is_empty());
        let mut model = Model {
            width: width.parse().map_err(|_| format!("no width {width}"))?,
            kind,
            scene,
            scripts: Vec::new(),
            application: 0,
            end: None,
            any_end: false,
            polls: 0,
            stalled: 0,
            reach: 0,
            time: 0,
            interrupts: false,
            fences: false,
            bias: 0,
            preemptions: None,
        };
        if kind != Kind::Spins && model.width == 16 {
            return Err("locks that sleep have 32 or 64 bits".into());
        }
        for script in scripts.split('|').filter(|_| model.scene.is_none()) {
            model
                .scripts
                .push(find(script).ok_or(format!("no script {script}"))?);
        }
        if model.scripts.len() > hooks::THREADS {
            return Err(format!("loom has {} threads at most", hooks::THREADS));
        }
        for word in words {
            let (key, value) = word.split_once('=').unwrap_or((word, "0"));
            let number: u64 = value.parse().map_err(|_| format!("{word}: no number"))?;
            match key {
                "app" => model.application = number,
                "end" => model.end = Some(number),
                "any-end" => model.any_end = true,
                "polls" => model.polls = number as usize,
                "stalled" => model.stalled = number,
                "reach" => model.reach = number,
                "time" => model.time = number,
                "ipi" => model.interrupts = number != 0,
                "bias" => model.bias = number,
                "fences" => model.fences = number != 0,
                "preempt" => model.preemptions = Some(number as usize),
                _ => return Err(format!("no option {key}")),
            }
        }
        if model.bias != 0 && kind != Kind::Sleeps {
            return Err("only readers of lock32 and lock64 scale".into());
        }
        Ok(model)
    }

    /// Explores all executions within the bounds; the first that fails ends the process.
    pub fn run(self) {
        hooks::set_polls_without_yield(self.polls);
        interrupts::model(self.interrupts);
        hooks::try_orders_of_fences(self.fences);
        clock::model(self.time);
        let mut builder = loom::model::Builder::new();
        builder.max_threads = hooks::THREADS;
        builder.max_branches = BRANCHES;
        builder.preemption_bound = self.preemptions;
        let reach = self.reach;
        let show = hooks::shown();
        builder.check(move || {
            self.once();
            if hooks::executions() == show {
                print!("{}", hooks::schedule());
            }
        });
        let reached = hooks::largest_found();
        assert!(
            reached >= reach,
            "{REACHED}: no word above {reached:#x} was met"
        );
    }

    fn once(&self) {
        if let Some(scene) = &self.scene {
            return scene.once();
        }
        hooks::reset();
        let lock = Arc::new(Subject::new(self.width, self.kind, self.application));
        lock.scale(self.bias, self.scripts.len() as u32);
        for (i, script) in self.scripts.iter().enumerate() {
            hooks::i_am(i);
            script.1(&lock);
        }
        lock.claim_seek(self.stalled);
        hooks::threads_start();
        // Where time passes the first thread runs no script: to it, it has passed (unordered.rs).
        let first = usize::from(self.time == 0);
        let others: Vec<_> = (first..self.scripts.len())
            .map(|i| {
                let lock = lock.clone();
                let script = self.scripts[i].2;
                loom::thread::spawn(move || {
                    hooks::i_am(i);
                    script(&lock);
                })
            })
            .collect();
        if first == 1 {
            hooks::i_am(0);
            self.scripts[0].2(&lock);
        }
        lock.withdraw_seek(self.stalled);
        for other in others {
            other.join().expect("a panic ends the process");
        }
        if !self.any_end {
            lock.finish(self.end);
        }
    }
}

/// Which property a panic's message speaks of.
pub fn property_of(message: &str) -> &'static str {
    for own in [EXCLUSION, VISIBILITY, RESTORED, REACHED, PROGRESS] {
        if message.starts_with(own) {
            return own;
        }
    }
    if message.contains("Causality violation") {
        return RACE;
    }
    if message.contains("maximum number of branches") || message.contains("deadlock") {
        return PROGRESS;
    }
    subject::HARNESS
}
