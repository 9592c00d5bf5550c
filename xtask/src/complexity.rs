//! `cargo xtask complexity [FILTER]`: checks that each parser of untrusted input needs time in proportion to its length.
//!
//! Valgrind counts the instructions for texts of length n, 2n and 4n. The counts repeat on every machine, unlike times.
//! The readers and their texts are in `complexity/readers.rs`. One process reads all texts in order; valgrind writes
//! the count of each call of [`read_once`] to a file.

mod readers;

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use readers::{READERS, Reader};

use crate::program::{run_command, version};

/// The command of `xtask` that valgrind runs.
pub(crate) const READ_ALL: &str = "read-hostile-texts";

/// The full name of [`read_once`]. Patterns with `*` do not work for both options of valgrind.
const COUNTED: &str = "xtask::complexity::read_once";
/// The largest allowed growth of the instruction count when the text is twice as long.
const MAX_RATIO: f64 = 2.3;
const FACTORS: [usize; 3] = [1, 2, 4];

/// Reads the texts of all readers whose name contains `filter`, as valgrind's process.
pub(crate) fn read_all(filter: &str) {
    for reader in selected(filter) {
        for factor in FACTORS {
            let text = (reader.text)(factor * reader.count);
            read_once(reader.read, &text);
        }
    }
}

/// The function whose instructions are counted.
#[inline(never)]
fn read_once(read: fn(&[u8]), text: &[u8]) {
    read(text);
}

fn selected(filter: &str) -> impl Iterator<Item = &'static Reader> {
    READERS.iter().filter(move |reader| reader.name.contains(filter))
}

/// Counts the instructions and prints them. Returns what was skipped, or nothing.
pub(crate) fn run(filter: &str) -> Result<Option<String>, String> {
    if version("valgrind", "--version").is_none() {
        return Ok(Some("complexity skipped: valgrind is not installed".to_owned()));
    }
    let directory = tempfile::tempdir().map_err(|error| error.to_string())?;
    count_instructions(filter, directory.path())?;
    let counts = read_counts(directory.path(), FACTORS.len() * selected(filter).count())?;
    let mut slow = Vec::new();
    println!("{:<34} {:>14} {:>7} {:>7}", "reader", "instructions", "2n/n", "4n/2n");
    for (reader, counts) in selected(filter).zip(counts.chunks(FACTORS.len())) {
        let ratios = [ratio(counts[1], counts[0]), ratio(counts[2], counts[1])];
        println!("{:<34} {:>14} {:>7.2} {:>7.2}", reader.name, counts[0], ratios[0], ratios[1]);
        if ratios.iter().any(|ratio| *ratio > MAX_RATIO) {
            slow.push(reader.name);
        }
    }
    if slow.is_empty() { Ok(None) } else { Err(format!("more than linear time: {}", slow.join(", "))) }
}

fn ratio(longer: u64, shorter: u64) -> f64 {
    longer as f64 / shorter.max(1) as f64
}

fn count_instructions(filter: &str, directory: &Path) -> Result<(), String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["-q", "--tool=callgrind", "--collect-atstart=no"]);
    valgrind.args([format!("--toggle-collect={COUNTED}"), format!("--dump-after={COUNTED}")]);
    valgrind.arg(format!("--callgrind-out-file={}", directory.join("out").display()));
    run_command(valgrind.arg(program).args([READ_ALL, filter]).stderr(Stdio::null()))
}

/// Returns the counts of the calls: `out.1` has that of the first call.
fn read_counts(directory: &Path, calls: usize) -> Result<Vec<u64>, String> {
    let read = |call: usize| {
        let path = directory.join(format!("out.{call}"));
        let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        total(&text).ok_or_else(|| format!("{}: no total", path.display()))
    };
    (1..=calls).map(read).collect()
}

/// Returns the number of instructions in an output file of callgrind.
fn total(text: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix("totals: "))?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn total_of_an_output_file_is_read() {
        assert_eq!(total("version: 1\nevents: Ir\n12 3\ntotals: 4711\n"), Some(4711));
        assert_eq!(total("version: 1\n"), None);
    }

    #[test]
    fn every_reader_accepts_its_text() {
        for reader in READERS {
            let text = (reader.text)(3);
            assert!(!text.is_empty() && (reader.text)(6).len() > text.len(), "{}", reader.name);
            read_once(reader.read, &text);
        }
    }
}
