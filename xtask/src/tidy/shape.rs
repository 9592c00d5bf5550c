//! How a file begins, what it is called and how long it is.

use super::Finding;
use super::source::Source;

/// Names that say nothing of what is inside.
const EMPTY_NAMES: [&str; 4] = ["common", "helpers", "types", "utils"];

/// Lines that are not test; and lines of a test file, or with the tests.
const MOST_LINES: usize = 400;
const MOST_LINES_WITH_TESTS: usize = 600;

/// Files with a bound of their own.
const BOUNDS: [(&str, usize); 2] = [("ARCHITECTURE.md", 200), ("crates/cli/src/main.rs", 60)];

/// Every Rust file says in its first line what it is for.
pub(super) fn head(source: &Source, findings: &mut Vec<Finding>) {
    if source.is_rust() && !source.text.starts_with("//! ") {
        findings.push(Finding::new(source, 1, "does not begin with `//! what it is for`"));
    }
}

/// No file or folder for things that found no better place.
pub(super) fn names(source: &Source, findings: &mut Vec<Finding>) {
    let parts = source.path.trim_end_matches(".rs").split('/');
    if let Some(name) = parts.into_iter().find(|part| source.is_rust() && EMPTY_NAMES.contains(part)) {
        findings.push(Finding::new(source, 0, format!("`{name}` names no concept of the domain")));
    }
}

/// Files that fit into a head.
pub(super) fn sizes(source: &Source, findings: &mut Vec<Finding>) {
    let all = source.text.lines().count();
    let code = source.lines().filter(|line| !line.is_test).count();
    if let Some((_, most)) = BOUNDS.iter().find(|(path, most)| *path == source.path && all > *most) {
        findings.push(Finding::new(source, 0, format!("{all} lines, at most {most}")));
    }
    if source.is_rust() && code > MOST_LINES {
        let what = format!("{code} lines without the tests, at most {MOST_LINES}");
        findings.push(Finding::new(source, 0, what));
    }
    if source.is_rust() && all > MOST_LINES_WITH_TESTS {
        findings.push(Finding::new(source, 0, format!("{all} lines, at most {MOST_LINES_WITH_TESTS}")));
    }
}

#[cfg(test)]
mod tests {
    use super::super::check;
    use super::*;

    #[test]
    fn heads() {
        let missing = || (1, "does not begin with `//! what it is for`".to_owned());
        assert_eq!(check(head, "xtask/src/a.rs", "//! What.\n"), []);
        assert_eq!(check(head, "docker/a.sh", "#!/bin/sh\n"), []);
        for text in ["", "use std::fs;\n//! What.\n", "//!\n", "// What.\n"] {
            assert_eq!(check(head, "xtask/src/a.rs", text), [missing()]);
        }
    }

    #[test]
    fn empty_names() {
        for path in ["crates/core/src/utils.rs", "crates/cli/tests/common/mod.rs"] {
            assert_eq!(check(names, path, "").len(), 1, "{path}");
        }
        for path in ["crates/core/src/host.rs", "docker/common/probe.pl", "crates/core/src/media_types.rs"] {
            assert_eq!(check(names, path, ""), [], "{path}");
        }
    }

    #[test]
    fn lengths() {
        let path = "crates/core/src/host.rs";
        let long = |code: usize, tests: usize| {
            "x\n".repeat(code) + "#[cfg(test)]\n" + &"y\n".repeat(tests.saturating_sub(1))
        };
        assert_eq!(check(sizes, path, &long(400, 200)), []);
        let what = "401 lines without the tests, at most 400".to_owned();
        assert_eq!(check(sizes, path, &long(401, 1)), [(0, what)]);
        assert_eq!(check(sizes, path, &long(400, 201)), [(0, "601 lines, at most 600".to_owned())]);
        assert_eq!(check(sizes, "crates/core/tests/table.rs", &"x\n".repeat(600)), []);
        let main = check(sizes, "crates/cli/src/main.rs", &"x\n".repeat(61));
        assert_eq!(main, [(0, "61 lines, at most 60".to_owned())]);
        assert_eq!(check(sizes, "ARCHITECTURE.md", &"x\n".repeat(201)).len(), 1);
        assert_eq!(check(sizes, "README.md", &"x\n".repeat(999)), []);
    }
}
