//! Rules about the first line, the name and the length of a file.

use super::Finding;
use super::source::Source;

/// File names that do not describe their content.
const CATCH_ALL_NAMES: [&str; 4] = ["common", "helpers", "types", "utils"];

/// The maximum number of lines without tests, and of lines of a test file or with tests.
const MAX_LINES: usize = 400;
const MAX_LINES_WITH_TESTS: usize = 600;

/// Files with their own limits.
const BOUNDS: [(&str, usize); 2] = [("ARCHITECTURE.md", 280), ("crates/cli/src/main.rs", 60)];

/// The binary files of the project: pictures, and inputs of fuzz targets.
const BINARIES: [&str; 2] = ["assets/", "tests/fuzz/seeds/"];

/// Checks that there are no binary files but those of the project, such as packages that a tool has downloaded.
pub(super) fn binaries(paths: &[String], findings: &mut Vec<Finding>) {
    let is_unknown = |path: &&String| !BINARIES.iter().any(|folder| path.starts_with(folder));
    findings.extend(paths.iter().filter(is_unknown).map(|path| Finding {
        path: path.clone(),
        line: 0,
        what: "is a binary file".to_owned(),
    }));
}

/// Checks that the first line of a Rust file is a doc comment that describes the file.
pub(super) fn head(source: &Source, findings: &mut Vec<Finding>) {
    if source.is_rust() && !source.text.starts_with("//! ") {
        findings.push(Finding::new(source, 1, "does not begin with `//! what it is for`"));
    }
}

/// Checks that no file or directory has a catch-all name.
pub(super) fn names(source: &Source, findings: &mut Vec<Finding>) {
    let parts = source.path.trim_end_matches(".rs").split('/');
    if let Some(name) = parts.into_iter().find(|part| source.is_rust() && CATCH_ALL_NAMES.contains(part)) {
        findings.push(Finding::new(source, 0, format!("`{name}` is a catch-all name")));
    }
}

/// Checks that files are short enough to be understood at once.
pub(super) fn sizes(source: &Source, findings: &mut Vec<Finding>) {
    let all = source.text.lines().count();
    let code = source.lines().filter(|line| !line.is_test).count();
    if let Some((_, most)) = BOUNDS.iter().find(|(path, most)| *path == source.path && all > *most) {
        findings.push(Finding::new(source, 0, format!("{all} lines, at most {most}")));
    }
    if source.is_rust() && code > MAX_LINES {
        let what = format!("{code} lines without the tests, at most {MAX_LINES}");
        findings.push(Finding::new(source, 0, what));
    }
    if source.is_rust() && all > MAX_LINES_WITH_TESTS {
        findings.push(Finding::new(source, 0, format!("{all} lines, at most {MAX_LINES_WITH_TESTS}")));
    }
}

#[cfg(test)]
mod tests {
    use super::super::check;
    use super::*;

    #[test]
    fn binary_files_outside_their_directories_are_found() {
        let paths =
            ["assets/serve.png", "tests/fuzz/seeds/telnet/iac", "docs/six-1.16.0-py2.py3-none-any.whl"];
        let mut findings = Vec::new();
        binaries(&paths.map(str::to_owned), &mut findings);
        assert_eq!(findings.iter().map(|finding| &*finding.path).collect::<Vec<_>>(), [paths[2]]);
    }

    #[test]
    fn first_line_must_be_a_doc_comment() {
        let missing = || (1, "does not begin with `//! what it is for`".to_owned());
        assert_eq!(check(head, "xtask/src/a.rs", "//! What.\n"), []);
        assert_eq!(check(head, "docker/a.sh", "#!/bin/sh\n"), []);
        for text in ["", "use std::fs;\n//! What.\n", "//!\n", "// What.\n"] {
            assert_eq!(check(head, "xtask/src/a.rs", text), [missing()]);
        }
    }

    #[test]
    fn catch_all_names_are_reported() {
        for path in ["crates/core/src/utils.rs", "crates/cli/tests/common/mod.rs"] {
            assert_eq!(check(names, path, "").len(), 1, "{path}");
        }
        for path in ["crates/core/src/host.rs", "docker/common/probe.pl", "crates/core/src/media_types.rs"] {
            assert_eq!(check(names, path, ""), [], "{path}");
        }
    }

    #[test]
    fn files_over_the_limit_are_reported() {
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
        assert_eq!(check(sizes, "ARCHITECTURE.md", &"x\n".repeat(281)).len(), 1);
        assert_eq!(check(sizes, "README.md", &"x\n".repeat(999)), []);
    }
}
