// SPDX-License-Identifier: MIT
//! Two files: proof.tsv, what a run found of each mutant, which scripts/orders puts into
//! its report; and survivors.def, why others live.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use crate::fault::WAKE;
use crate::library;
use crate::mutants::Name;

pub const KILLED: &str = "killed";
pub const SURVIVED: &str = "survived";
pub const UNTOUCHED: &str = "untouched";
pub const UNDECIDED: &str = "undecided";
pub const UNEXPLAINED: &str = "unexplained";
/// What becomes of mutants and accesses, in the order of the totals.
const FATES: [&str; 6] = [
    KILLED,
    KINDS[0].2,
    KINDS[1].2,
    KINDS[2].2,
    UNDECIDED,
    UNEXPLAINED,
];

fn own_file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// What is known of a mutant. Of an access that no model touches the change is `untouched`.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    pub order: String,
    pub models: usize,
    pub executions: u64,
    pub fate: String, // killed, survived, undecided, or untouched
    pub by: String,   // the model; "-"
    pub why: String,  // the property broken, or the reason
}

pub type Record = BTreeMap<Name, Row>;

const HEAD: &str = "# SPDX-License-Identifier: MIT\n\
                    # What prove found of each mutant: see README.md. Written by prove --table.\n\
                    # tag\tsite\tmutant\torder\tmodels\texecutions\tfate\tmodel\twhy\n";

/// As committed; empty if there is none.
pub fn read() -> Record {
    let text = std::fs::read_to_string(own_file("proof.tsv")).unwrap_or_default();
    text.lines().filter_map(parse).collect()
}

fn parse(line: &str) -> Option<(Name, Row)> {
    let mut cells = line.split('\t').map(String::from);
    let name = Name {
        tag: cells.next().filter(|tag| !tag.starts_with('#'))?,
        place: cells.next()?,
        change: cells.next()?,
    };
    let row = Row {
        order: cells.next()?,
        models: cells.next()?.parse().ok()?,
        executions: cells.next()?.parse().ok()?,
        fate: cells.next()?,
        by: cells.next()?,
        why: cells.next()?,
    };
    Some((name, row))
}

pub fn write(path: &str, record: &Record) -> std::io::Result<()> {
    let tags = library::tags();
    let rank = |tag: &str| tags.iter().skip(1).position(|t| t.name == tag).unwrap_or(tags.len());
    let mut rows: Vec<_> = record.iter().collect();
    rows.sort_by_key(|(name, _)| (rank(&name.tag), *name));
    let mut text = String::from(HEAD);
    for (n, r) in rows {
        let start = format!("{}\t{}\t{}\t{}", n.tag, n.place, n.change, r.order);
        let rest = format!("{}\t{}\t{}\t{}\t{}", r.models, r.executions, r.fate, r.by, r.why);
        writeln!(text, "{start}\t{rest}").expect("a string takes it");
    }
    replace(path, &text)
}

/// Nobody ever sees half of it.
pub fn replace(path: &str, text: &str) -> std::io::Result<()> {
    let fresh = format!("{path}.tmp");
    std::fs::write(&fresh, text)?;
    std::fs::rename(fresh, path)
}

/// Why a mutant lives, or an access is in no model. A reason begins with the kind's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Nothing that can be observed changes.
    Equivalent,
    /// Models do not have it.
    Outside,
    /// Work to do.
    NotYet,
}

const KINDS: [(Kind, &str, &str); 3] = [
    (Kind::Equivalent, "equivalent: ", "equivalent"),
    (Kind::Outside, "outside: ", "outside the models"),
    (Kind::NotYet, "not yet: ", "not yet"),
];

/// What that reason says; None if it has no kind, or says nothing more.
pub fn kind_of(reason: &str) -> Option<Kind> {
    let known = KINDS.iter().find(|(_, start, _)| reason.starts_with(start));
    known.filter(|(_, start, _)| reason.len() > start.len()).map(|k| k.0)
}

impl Row {
    /// As totals count it. A reason does not stand in for models that have not run.
    pub fn becomes(&self) -> &'static str {
        match self.fate.as_str() {
            KILLED => KILLED,
            UNDECIDED => UNDECIDED,
            _ => KINDS
                .iter()
                .find(|k| Some(k.0) == kind_of(&self.why))
                .map_or(UNEXPLAINED, |k| k.2),
        }
    }
}

/// What is made wrong, as totals call it.
fn group_of(name: &Name) -> &'static str {
    match (name.tag.as_str(), name.change.as_str()) {
        (WAKE, _) => "wakes",
        (_, "stale") => "second looks",
        (_, "skip") => "changes",
        _ => "orders",
    }
}

/// `orders 315: 290 killed, 10 equivalent, ...` for each group.
pub fn totals(record: &Record) -> Vec<String> {
    let mut groups: BTreeMap<&str, BTreeMap<&str, usize>> = BTreeMap::new();
    for (name, row) in record {
        *groups.entry(group_of(name)).or_default().entry(row.becomes()).or_default() += 1;
    }
    let shown = |counts: &BTreeMap<&str, usize>| {
        let all = FATES.iter().filter_map(|fate| Some(format!("{} {fate}", counts.get(fate)?)));
        all.collect::<Vec<String>>().join(", ")
    };
    let lines = groups.iter().map(|(group, counts)| {
        format!("{group} {}: {}", counts.values().sum::<usize>(), shown(counts))
    });
    lines.collect()
}

/// A line of survivors.def: `TAG change site : kind: reason`.
#[derive(Debug)]
pub struct Explained {
    tag: String,    // or *
    change: String, // or *
    site: String,   // file#number, file, folder/, or the functions of a wake
    pub kind: Kind,
    pub reason: String, // the kind included
    pub line: usize,
}

impl Explained {
    pub fn is_about(&self, name: &Name) -> bool {
        let file = name.place.split('#').next().unwrap_or_default();
        let folder = self.site.ends_with('/') && file.starts_with(&self.site);
        (self.tag == "*" && name.tag != WAKE || self.tag == name.tag)
            && (self.change == "*" && name.change != UNTOUCHED || self.change == name.change)
            && (self.site == name.place || self.site == file || folder)
    }
}

/// All of them, or what is wrong with a line.
pub fn explained() -> Result<Vec<Explained>, String> {
    let text = std::fs::read_to_string(own_file("survivors.def")).unwrap_or_default();
    let mut all = Vec::new();
    for (i, line) in text.lines().enumerate() {
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        let (what, reason) = line.split_once(" : ").unwrap_or((line, ""));
        let words: Vec<&str> = what.split_whitespace().collect();
        let [tag, change, site] = words[..] else {
            return Err(format!("survivors.def:{}: not `TAG change site : reason`", i + 1));
        };
        let Some(kind) = kind_of(reason.trim()) else {
            let kinds = "begins neither `equivalent: ` nor `outside: ` nor `not yet: `";
            return Err(format!("survivors.def:{}: the reason {kinds}, or ends there", i + 1));
        };
        all.push(Explained {
            tag: tag.into(),
            change: change.into(),
            site: site.into(),
            kind,
            reason: reason.trim().into(),
            line: i + 1,
        });
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fate;

    #[test]
    fn every_test_that_a_reason_names_is_there() {
        let root = own_file("../..");
        for e in explained().expect("survivors.def can be read") {
            let words = e.reason.split([' ', ',', ';', ':', ')']);
            for file in words.filter(|w| w.starts_with("tests/")) {
                assert!(root.join(file).exists(), "survivors.def:{}: no {file}", e.line);
            }
        }
    }

    /// A reason that was mended is the one that the record gives, too.
    #[test]
    fn the_record_gives_the_reasons_of_survivors_def() {
        let explained = explained().expect("survivors.def can be read");
        for (name, row) in read().iter().filter(|(_, row)| row.fate != KILLED) {
            let reason = explained.iter().find(|e| e.is_about(name));
            assert_eq!(row.why, reason.map_or("", |e| &e.reason), "{name:?}");
        }
    }

    #[test]
    fn an_undecided_mutant_is_counted_as_that_whatever_its_reason_says() {
        for (fate, why, counted) in [
            (KILLED, "exclusion", KILLED),
            (UNDECIDED, "equivalent: so", UNDECIDED),
            (UNDECIDED, "", UNDECIDED),
            (SURVIVED, "equivalent: so", "equivalent"),
            (SURVIVED, "not yet: so", "not yet"),
            (UNTOUCHED, "outside: so", "outside the models"),
            (SURVIVED, "", UNEXPLAINED),
            (UNTOUCHED, "equivalent: ", UNEXPLAINED),
        ] {
            let row = Row {
                order: "relaxed".into(),
                models: 1,
                executions: 1,
                fate: fate.into(),
                by: "-".into(),
                why: why.into(),
            };
            assert_eq!(row.becomes(), counted, "{fate} {why}");
        }
    }

    #[test]
    fn the_record_knows_every_fate_by_the_name_that_the_hunt_gives_it() {
        let fate = |decided| fate::Fate {
            decided,
            killer: None,
            executions: 0,
            seconds: 0.0,
        };
        assert_eq!((fate(true).name(), fate(false).name()), (SURVIVED, UNDECIDED));
        let known = [KILLED, SURVIVED, UNDECIDED, UNTOUCHED];
        let record = read();
        assert!(!record.is_empty());
        assert!(record.values().all(|row| known.contains(&row.fate.as_str())));
    }
}
