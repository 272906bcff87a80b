// SPDX-License-Identifier: MIT
//! Mutants: the library with one thing made wrong at one site. Which there are follows from what
//! the good models came to.
//!
//!   order   the next weaker ones of an ordered access or fence
//!   skip    a store, an addition, a compare-exchange that changes nothing, claims to have
//!   stale   a load that looks again, in one operation, is told what the thread last saw there (if
//!           in some execution it found something new)
//!   wake    a wake wakes nobody; told apart by the functions that it comes through

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use crate::child::{run_apart, Outcome};
use crate::fate::{self, Fate};
use crate::fault::{self, WAKE};
use crate::notes::Use;
use crate::sites;

/// What a mutant is called, in the record too.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Name {
    pub tag: String,   // "-": relaxed; "wake"
    pub place: String, // file#number; of a wake the functions
    pub change: String,
}

impl Name {
    /// For people.
    pub fn shown(&self) -> String {
        format!("{}:{}@{}", self.tag, self.change, self.place)
    }
}

pub struct Mutant {
    pub name: Name,
    pub order: String, // as it stands; "-" of a wake
    pub at: String,    // file:line, for readers of the output
    returns: BTreeSet<Vec<usize>>,
    pub models: Vec<usize>, // that touch it
}

/// All mutants of what the models touched.
pub fn all(good: &[Outcome]) -> Vec<Mutant> {
    let mut found: BTreeMap<Name, Mutant> = BTreeMap::new();
    for (model, outcome) in good.iter().enumerate() {
        for touch in &outcome.touched {
            let site = sites::site(&touch.tag, touch.address);
            if site.file == "?" {
                continue; // the scene's own
            }
            let mut changes: Vec<&str> = fault::weaker(&touch.order).to_vec();
            match touch.purpose {
                Use::Change => changes.push("skip"),
                Use::News => changes.push("stale"),
                Use::Again | Use::Load | Use::Fence => {}
            }
            for change in changes {
                let name = Name {
                    tag: touch.tag.clone(),
                    place: site.place(),
                    change: change.into(),
                };
                let at = format!("{}:{}", site.file, site.line);
                add(&mut found, name, &site.order, at, vec![touch.address], model);
            }
        }
        for returns in &outcome.wakes {
            let chain = sites::chain(returns);
            if chain.is_empty() {
                continue;
            }
            let name = Name {
                tag: WAKE.into(),
                place: chain.into(),
                change: "skip".into(),
            };
            add(&mut found, name, "-", chain.into(), returns.clone(), model);
        }
    }
    found.into_values().collect()
}

fn add(
    found: &mut BTreeMap<Name, Mutant>,
    name: Name,
    order: &str,
    at: String,
    returns: Vec<usize>,
    model: usize,
) {
    let mutant = found.entry(name.clone()).or_insert(Mutant {
        name,
        order: order.into(),
        at,
        returns: BTreeSet::new(),
        models: Vec::new(),
    });
    mutant.returns.insert(returns);
    if mutant.models.last() != Some(&model) {
        mutant.models.push(model);
    }
}

impl Mutant {
    /// How the names of the models begin that are about it.
    fn primitive(&self) -> String {
        let from = if self.name.tag.len() > 1 && self.name.tag != WAKE {
            self.name.tag.to_lowercase()
        } else {
            self.name.place.rsplit('/').next().unwrap_or_default().into()
        };
        let first = from.split(['_', '.', '#']).next().unwrap_or_default();
        match first {
            "spin" => "32/",
            "call" => "rcu_call",
            "br" | "cells" => "exact",
            "park" => "wait",
            "wake" => "rcu_call",
            first => first,
        }
        .into()
    }

    /// As --mutate has it.
    fn mutation(&self) -> String {
        let returns: Vec<String> = self.returns.iter().map(|r| fault::show_returns(r)).collect();
        format!("{}:{}@{}", self.name.tag, self.name.change, returns.join("+"))
    }

    /// The same for people.
    pub fn shown(&self) -> String {
        self.name.shown()
    }

    /// One model with the mutant in it.
    pub fn run_in(&self, model: &str, places: &str, limit: Duration) -> Outcome {
        run_apart(model, places, "None", &self.mutation(), limit)
    }

    /// Runs the models that touch it until one fails: first the one that did so last time, then
    /// those of its own primitive, by their names, then the cheapest; none when the time is up.
    /// `names` are the models' names and `good` what became of them unharmed.
    pub fn hunt(
        &self,
        names: &[String],
        good: &[Outcome],
        last_time: Option<&str>,
        limit: Duration,
    ) -> Fate {
        let own = self.primitive();
        let mut order = self.models.clone();
        order.sort_by_key(|i| {
            let name = names[*i].as_str();
            (last_time != Some(name), !name.starts_with(&own), good[*i].executions)
        });
        let start = Instant::now();
        fate::hunt(
            order,
            limit,
            || start.elapsed(),
            |i| self.run_in(&names[i], &good[i].places, limit),
        )
    }
}

/// Ordered accesses that no model has come to.
pub fn untouched(good: &[Outcome]) -> Vec<&'static sites::Site> {
    let touched: BTreeSet<&sites::Site> = good
        .iter()
        .flat_map(|o| &o.touched)
        .map(|t| sites::site(&t.tag, t.address))
        .collect();
    sites::ordered().filter(|s| !touched.contains(s)).collect()
}
