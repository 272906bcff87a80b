// SPDX-License-Identifier: MIT
//! What became of each model and mutant: a count in the end, and JUnit's XML for those
//! who count the tests of the whole project.

use std::fmt::Write;

use crate::record;

enum Fate {
    Passed,
    /// Allowed to live, and why; `open`: it is not explained yet.
    Lives {
        open: bool,
        why: String,
    },
    Failed {
        why: String,
        output: String,
    },
}

struct Case {
    name: String,
    seconds: f64,
    fate: Fate,
}

#[derive(Default)]
pub struct Report {
    cases: Vec<Case>,
}

impl Report {
    fn add(&mut self, name: String, seconds: f64, fate: Fate) {
        self.cases.push(Case {
            name,
            seconds,
            fate,
        });
    }

    pub fn passed(&mut self, name: String, seconds: f64) {
        self.add(name, seconds, Fate::Passed);
    }

    /// A mutant that is not killed, for a reason.
    pub fn lives(&mut self, name: String, seconds: f64, open: bool, why: String) {
        self.add(name, seconds, Fate::Lives { open, why });
    }

    pub fn failed(&mut self, name: String, seconds: f64, why: String, output: String) {
        self.add(name, seconds, Fate::Failed { why, output });
    }

    fn count(&self, matching: impl Fn(&Fate) -> bool) -> usize {
        self.cases.iter().filter(|c| matching(&c.fate)).count()
    }

    pub fn failures(&self) -> usize {
        self.count(|f| matches!(f, Fate::Failed { .. }))
    }

    /// Of which it is not known yet why they live.
    pub fn open(&self) -> usize {
        self.count(|f| matches!(f, Fate::Lives { open: true, .. }))
    }

    pub fn passes(&self) -> usize {
        self.cases.len() - self.failures() - self.open()
    }

    pub fn print_failures(&self) {
        for case in &self.cases {
            if let Fate::Failed { why, .. } = &case.fate {
                println!("FAILED  {}: {why}", case.name);
            }
        }
    }

    pub fn write(&self, path: &str, seconds: f64) -> std::io::Result<()> {
        let mut text = format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"models\" tests=\"{}\" \
             failures=\"{}\" errors=\"0\" skipped=\"{}\" time=\"{seconds:.3}\">\n",
            self.cases.len(),
            self.failures(),
            self.open()
        );
        for case in &self.cases {
            let name = escaped(&case.name);
            let start = format!("  <testcase name=\"{name}\" time=\"{:.3}\"", case.seconds);
            let inside = match &case.fate {
                Fate::Passed => String::new(),
                Fate::Lives { open: false, why } => {
                    format!("<system-out>{}</system-out>", escaped(why))
                }
                Fate::Lives { open: true, why } => {
                    format!("<skipped message=\"{}\"/>", escaped(why))
                }
                Fate::Failed { why, output } => format!(
                    "<failure message=\"{}\">{}</failure>",
                    escaped(why),
                    escaped(output)
                ),
            };
            let line = if inside.is_empty() {
                format!("{start}/>")
            } else {
                format!("{start}>\n    {inside}\n  </testcase>")
            };
            writeln!(text, "{line}").expect("a string takes it");
        }
        text.push_str("</testsuite>\n");
        record::replace(path, &text)
    }
}

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' | '\t' => out.push(c),
            c if c.is_control() => out.push('?'),
            c => out.push(c),
        }
    }
    out
}
