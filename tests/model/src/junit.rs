// SPDX-License-Identifier: MIT
//! What became of each model and mutant: a count in the end, and JUnit's XML for those
//! who count the tests of the whole project.

use std::fmt::Write;

use crate::record;

struct Case {
    name: String,
    seconds: f64,
    failure: Option<String>,
    output: String,
}

#[derive(Default)]
pub struct Report {
    cases: Vec<Case>,
}

impl Report {
    pub fn passed(&mut self, name: String, seconds: f64) {
        self.cases.push(Case {
            name,
            seconds,
            failure: None,
            output: String::new(),
        });
    }

    pub fn failed(&mut self, name: String, seconds: f64, why: String, output: String) {
        self.cases.push(Case {
            name,
            seconds,
            failure: Some(why),
            output,
        });
    }

    pub fn failures(&self) -> usize {
        self.cases.iter().filter(|c| c.failure.is_some()).count()
    }

    pub fn passes(&self) -> usize {
        self.cases.len() - self.failures()
    }

    pub fn print_failures(&self) {
        for case in &self.cases {
            if let Some(why) = &case.failure {
                println!("FAILED  {}: {why}", case.name);
            }
        }
    }

    pub fn write(&self, path: &str, seconds: f64) -> std::io::Result<()> {
        let mut text = format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"models\" tests=\"{}\" \
             failures=\"{}\" errors=\"0\" skipped=\"0\" time=\"{seconds:.3}\">\n",
            self.cases.len(),
            self.failures()
        );
        for case in &self.cases {
            let name = escaped(&case.name);
            let start = format!("  <testcase name=\"{name}\" time=\"{:.3}\"", case.seconds);
            let line = match &case.failure {
                None => format!("{start}/>"),
                Some(why) => format!(
                    "{start}>\n    <failure message=\"{}\">{}</failure>\n  </testcase>",
                    escaped(why),
                    escaped(&case.output)
                ),
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
