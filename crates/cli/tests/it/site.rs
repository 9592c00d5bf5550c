//! The pages of the documentation site that show commands: each recipe is run against loopback servers, and the options
//! in the tables for users of other programs exist.

mod fixture;
mod recipe;

use std::fs;
use std::path::PathBuf;

use fixture::Fixture;
use recipe::{Block, blocks, with_output};

use crate::support::check_in_parallel;

const THREADS: usize = 4;

fn page(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/site/src").join(name);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Runs the commands of a page. If an output differs, writes the page with the real output beside the other temporary
/// files, and names it.
#[allow(clippy::print_stderr, reason = "a failed test names the file with the real output")]
fn check_page(name: &str) -> usize {
    let text = page(name);
    let blocks: Vec<Block> = blocks(&text).collect();
    let outputs = std::sync::Mutex::new(vec![Vec::new(); blocks.len()]);
    let indexes: Vec<usize> = (0..blocks.len()).collect();
    let run_all = std::panic::AssertUnwindSafe(|| {
        check_in_parallel(&indexes, THREADS, |&index| {
            let block = &blocks[index];
            let fixture = Fixture::start().map_err(|error| error.to_string())?;
            let actual: Vec<String> = block.steps.iter().map(|step| fixture.run(&step.command)).collect();
            let result = block.check(&actual);
            outputs.lock().expect("no other check panicked")[index] = actual;
            result
        });
    });
    if let Err(failure) = std::panic::catch_unwind(run_all) {
        let actual = with_output(&text, &outputs.lock().expect("no other check panicked"));
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
        fs::write(&path, actual).expect("write the page");
        eprintln!("the page with the real output: {}", path.display());
        std::panic::resume_unwind(failure);
    }
    blocks.len()
}

#[test]
fn recipes_print_what_their_page_shows() {
    let count = check_page("recipes.md");
    assert!(count >= 50, "{count} recipes");
}

#[test]
fn getting_started_prints_what_its_page_shows() {
    assert!(check_page("getting-started.md") > 0);
}

/// Returns the cells of the tables of a page whose first cell is code.
fn rows(text: &str) -> impl Iterator<Item = Vec<&str>> {
    let lines = text.lines().filter(|line| line.starts_with("| `"));
    lines.map(|line| line.trim_matches('|').split(" | ").map(str::trim).collect())
}

/// Returns the options in the code spans of a text.
fn options(text: &str) -> impl Iterator<Item = &str> {
    let spans = text.split('`').skip(1).step_by(2).flat_map(|span| span.split([' ', '=']));
    spans.filter(|word| word.starts_with('-') && *word != "-")
}

#[test]
fn tables_for_users_of_other_programs_name_only_options_that_exist() {
    let mut known = fetch_url_cli::flags::command();
    // Defines the options of mirror, too.
    known.build();
    let mirror = known.find_subcommand("mirror").expect("mirror is a command").clone();
    let exists = |option: &str| {
        let mut arguments = known.get_arguments().chain(mirror.get_arguments());
        arguments.any(|argument| match option.strip_prefix("--") {
            Some(long) => argument.get_long_and_visible_aliases().unwrap_or_default().contains(&long),
            None => argument.get_short().is_some_and(|short| option == format!("-{short}")),
        })
    };
    for name in ["from-curl.md", "from-wget.md", "from-lftp.md"] {
        let text = page(name);
        let mut count = 0;
        for row in rows(&text).filter(|row| row.len() == 2) {
            for option in options(row[1]) {
                assert!(exists(option), "{name}: {option} in {row:?}");
                count += 1;
            }
        }
        assert!(count > 5, "{name} names {count} options");
    }
}

/// The page lists the same options that the program names when they are given.
#[test]
fn options_of_curl_that_are_not_supported_are_rejected_by_name() {
    let text = page("from-curl.md");
    let (_, list) = text.split_once("## Not supported").expect("the section exists");
    let names: Vec<&str> = options(list).collect();
    assert!(names.len() > 10, "{names:?}");
    for name in names {
        let result = crate::support::run_fetch_url([name, "http://127.0.0.1:9/"]);
        result.assert_exit(2).assert_stderr_contains("is an option of curl that fetch-url does not have");
    }
}
