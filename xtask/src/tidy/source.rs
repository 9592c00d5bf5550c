//! A file that is checked, and which of its lines are code, comment or test.

use std::fs;
use std::io::ErrorKind;
use std::process::Command;

use crate::program::{command_output, root};

/// A text file.
pub(super) struct Source {
    /// The path from the workspace's directory, with `/`.
    pub(super) path: String,
    pub(super) text: String,
}

/// A line of a file.
pub(super) struct Line<'a> {
    /// The number of the line, from 1.
    pub(super) number: usize,
    pub(super) whole: &'a str,
    /// The line without its comment; empty if it is only a comment.
    pub(super) code: &'a str,
    pub(super) is_test: bool,
}

impl Source {
    pub(super) fn new(path: &str, text: &str) -> Self {
        Self { path: path.to_owned(), text: text.to_owned() }
    }

    pub(super) fn is_rust(&self) -> bool {
        self.path.ends_with(".rs")
    }

    /// Returns the last part of the path.
    pub(super) fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(&self.path)
    }

    /// Returns `true` if the file is a test, a bench or an example.
    pub(super) fn is_test(&self) -> bool {
        let folders = ["tests/", "benches/", "examples/"];
        let inside = |folder| self.path.starts_with(folder) || self.path.contains(&format!("/{folder}"));
        folders.into_iter().any(inside) || self.name() == "tests.rs" || self.path.ends_with("_tests.rs")
    }

    /// Returns the lines of the file. Lines after the first unindented `#[cfg(test)]` are test lines.
    pub(super) fn lines(&self) -> impl Iterator<Item = Line<'_>> {
        let mut is_test = self.is_test();
        self.text.lines().enumerate().map(move |(index, whole)| {
            is_test |= whole == "#[cfg(test)]";
            Line { number: index + 1, whole, code: code_of(whole), is_test }
        })
    }
}

/// Returns a line without its comment. A `//` after a space within a string counts as a comment, too; URLs contain no
/// space before their `//`.
fn code_of(line: &str) -> &str {
    if line.trim_start().starts_with("//") {
        return "";
    }
    line.split(" // ").next().unwrap_or(line)
}

/// The files that git tracks or would track.
pub(super) struct Tracked {
    pub(super) sources: Vec<Source>,
    /// The paths of the files that are not text in UTF-8.
    pub(super) binaries: Vec<String>,
}

/// Returns every file that git tracks or would track.
pub(super) fn tracked() -> Result<Tracked, String> {
    let mut git = Command::new("git");
    git.current_dir(root()).args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]);
    let paths = command_output(&mut git)?;
    let mut tracked = Tracked { sources: Vec::new(), binaries: Vec::new() };
    for path in paths.split('\0').filter(|path| !path.is_empty()) {
        match fs::read_to_string(root().join(path)) {
            Ok(text) => tracked.sources.push(Source::new(path, &text)),
            Err(error) if error.kind() == ErrorKind::InvalidData => tracked.binaries.push(path.to_owned()),
            // It is deleted, but still in the index.
            Err(_) => {}
        }
    }
    Ok(tracked)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_are_removed_from_code() {
        for (line, code) in [
            ("    let x = 1; // tokio", "    let x = 1;"),
            ("/// tokio", ""),
            ("    //! tokio", ""),
            ("    get(\"http://tokio\")", "    get(\"http://tokio\")"),
        ] {
            assert_eq!(code_of(line), code);
        }
    }

    #[test]
    fn test_lines_are_detected_by_path_and_cfg() {
        for (path, is_test) in [
            ("crates/core/tests/grammar.rs", true),
            ("crates/fetch/src/drivers/ftp/tests.rs", true),
            ("crates/core/benches/parse.rs", true),
            ("tests/src/lib.rs", true),
            ("crates/fetch/src/engine.rs", false),
        ] {
            assert_eq!(Source::new(path, "").is_test(), is_test, "{path}");
        }
        let source = Source::new("crates/core/src/a.rs", "fn a() {}\n#[cfg(test)]\nmod tests {}\n");
        assert_eq!(source.lines().map(|line| line.is_test).collect::<Vec<_>>(), [false, true, true]);
    }
}
