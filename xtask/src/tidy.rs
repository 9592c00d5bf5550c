//! `cargo xtask tidy`: the project's own rules, which rustfmt and clippy cannot check.
//!
//! The rules are data: forbidden words in `tidy/words.rs`, names and sizes of files in `tidy/shape.rs`, dependencies in
//! `tidy/manifest.rs`.

mod import_cycles;
mod manifest;
mod shape;
mod source;
mod words;

use source::{Source, Tracked};

/// A rule: returns the violations in one file.
type Rule = fn(&Source, &mut Vec<Finding>);

const RULES: [Rule; 5] = [manifest::pure_crates, shape::head, shape::names, shape::sizes, words::forbidden];

/// Files that the project must contain.
const NEEDED: [&str; 2] = ["ARCHITECTURE.md", "crates/cli/src/main.rs"];

/// A violation of a rule.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Finding {
    path: String,
    line: usize,
    what: String,
}

impl Finding {
    fn new(source: &Source, line: usize, what: impl Into<String>) -> Self {
        Self { path: source.path.clone(), line, what: what.into() }
    }
}

/// Checks every file that git tracks or would track against every rule.
pub(crate) fn run() -> Result<(), String> {
    let Tracked { sources, binaries } = source::tracked()?;
    let mut findings = Vec::new();
    shape::binaries(&binaries, &mut findings);
    for source in &sources {
        for rule in RULES {
            rule(source, &mut findings);
        }
    }
    import_cycles::find_cycles(&sources, &mut findings);
    for needed in NEEDED.iter().filter(|needed| !sources.iter().any(|source| source.path == **needed)) {
        findings.push(Finding { path: (*needed).to_owned(), line: 0, what: "missing".to_owned() });
    }
    findings.sort();
    if findings.is_empty() {
        println!("tidy: {} files, nothing found", sources.len());
        return Ok(());
    }
    Err(report(&findings))
}

fn report(findings: &[Finding]) -> String {
    let lines = findings.iter().map(|Finding { path, line, what }| match line {
        0 => format!("{path}: {what}\n"),
        line => format!("{path}:{line}: {what}\n"),
    });
    format!("{}tidy: {} findings", lines.collect::<String>(), findings.len())
}

/// Returns the violations in a file with this path and text, for the tests of the rules.
#[cfg(test)]
fn check(rule: Rule, path: &str, text: &str) -> Vec<(usize, String)> {
    let mut findings = Vec::new();
    rule(&Source::new(path, text), &mut findings);
    findings.into_iter().map(|finding| (finding.line, finding.what)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_report_is_a_line_for_each_finding() {
        let finding = |line, what: &str| Finding { path: "a.rs".to_owned(), line, what: what.to_owned() };
        let text = report(&[finding(0, "missing"), finding(7, "bad")]);
        assert_eq!(text, "a.rs: missing\na.rs:7: bad\ntidy: 2 findings");
    }
}
