// SPDX-License-Identifier: MIT
//! Two files: proof.tsv, what a run found of each mutant, which scripts/orders puts into
//! doc/orders.md; and survivors.def, the survivors that are explained.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use crate::library;
use crate::mutants::Name;

pub const UNTOUCHED: &str = "untouched";
pub const UNDECIDED: &str = "undecided";

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

/// A line of survivors.def: `TAG change site : reason`.
#[derive(Debug)]
pub struct Explained {
    tag: String,    // or *
    change: String, // or *
    site: String,   // file#number, file, folder/, or the functions of a wake
    pub reason: String,
    pub line: usize,
}

impl Explained {
    pub fn is_about(&self, name: &Name) -> bool {
        let file = name.place.split('#').next().unwrap_or_default();
        let folder = self.site.ends_with('/') && file.starts_with(&self.site);
        (self.tag == "*" && name.tag != crate::fault::WAKE || self.tag == name.tag)
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
        if reason.trim().is_empty() {
            return Err(format!("survivors.def:{}: no reason", i + 1));
        }
        all.push(Explained {
            tag: tag.into(),
            change: change.into(),
            site: site.into(),
            reason: reason.trim().into(),
            line: i + 1,
        });
    }
    Ok(all)
}
