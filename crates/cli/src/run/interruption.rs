//! The message after Ctrl-C: what is kept, and how to go on.

use std::fs;
use std::path::{Path, PathBuf};

use super::context::Run;
use crate::render::summary::{KeptFile, print_interruption};

/// The suffixes of a partial download and of its state (docs/spec/cli.md, section Files). Long names are shortened; their
/// files are not mentioned.
const SUFFIXES: [&str; 2] = [".fetch-url.part", ".fetch-url.json"];

/// Prints the partial files of this run that a later run can resume.
pub(super) fn report(run: &Run) {
    let kept: Vec<KeptFile> = run.open_files.borrow().values().filter_map(|path| kept_file(path)).collect();
    // A mirror always resumes.
    let option = if run.mirror.is_some() { "" } else { " with -C -" };
    print_interruption(&kept, option);
}

/// Returns the partial download of `path`, if it has a state, without which it is not resumed.
fn kept_file(path: &Path) -> Option<KeptFile> {
    let [part, state] = SUFFIXES.map(|suffix| {
        let mut name = path.as_os_str().to_owned();
        name.push(suffix);
        PathBuf::from(name)
    });
    let size = fs::metadata(part).ok()?.len();
    // Without a validator, the next run fetches the object from the start.
    let state: serde_json::Value = serde_json::from_slice(&fs::read(state).ok()?).ok()?;
    state["validator"].is_string().then(|| KeptFile { name: path.to_owned(), size })
}
