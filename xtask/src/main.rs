//! `cargo xtask CHORE`: the commands for developers and CI. This file only dispatches; each command has its own file.
#![forbid(unsafe_code)]
#![allow(
    clippy::print_stderr,
    clippy::print_stdout,
    reason = "commands for developers print to the terminal"
)]

mod api;
mod bench;
mod chaos;
mod complexity;
mod demo;
mod dist;
mod fuzz;
mod generated;
mod manual;
mod program;
mod record;
mod release;
mod servers;
mod site;
mod test;
mod tidy;

use std::path::Path;

use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask CHORE

  test [STEP ...] all checks before a commit, the live tests included; or the steps whose name contains STEP
  tidy            the project's own rules: file heads, sizes, forbidden words
  servers up      build and start the servers of docker/; needs a Docker engine
  servers down    stop them
  fuzz [TARGET ...] [--seconds N]  run the fuzz targets whose name contains TARGET, or all, each for N seconds
                  (default 60); needs the nightly toolchain and cargo-fuzz
  demo            fetch a URL of every scheme from servers made for it; needs nothing but Rust
  record          draw a session in a terminal as assets/demo.svg, for the README
  chaos [--seed N] [--rounds N] [--seconds N]  random faults, kills and full disks; 200 rounds by default
  complexity [FILTER]  instructions per byte of untrusted input must not grow with their length; needs valgrind
  dist [--twice | --try]  packages, a static binary, a container image, checksums; --twice compares the bytes of two
                  builds, --try installs the packages in Debian containers
  bench [FILTER [--against PROGRAM]]  measure the rows whose name contains FILTER against the installed peers, and
                  against another build of fetch-url
  bench --plot [FILE]  draw the figures of target/bench.json, or of FILE, into docs/site/src/plots
  api [--check]   write the listings of the public API in docs/api; or say how it differs from them; needs nightly and
                  cargo-public-api
  release --dry-run [--without STEP ...]  run everything that a release needs, and list what would be published
  site            build the documentation site in target/site and check its links; needs mdbook
  gen [--check]   write the tables of README and site, the manual pages, the completions; or say which are stale";

/// Prints what a command skipped, if anything.
fn print_skipped(skipped: Option<String>) {
    skipped.iter().for_each(|text| println!("{text}"));
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let result = match *words {
        ["test", ref names @ ..] => test::run(names),
        ["tidy"] => tidy::run(),
        ["servers", "up"] => servers::up(),
        ["servers", "down"] => servers::down(),
        ["fuzz", ref arguments @ ..] => fuzz::run(arguments),
        ["demo"] => demo::run(),
        ["dist", ref options @ ..] => dist::run(options),
        ["chaos", ref options @ ..] => chaos::run(options),
        [chaos::WITH_VOLUMES, ref options @ ..] => chaos::run_with_volumes(options),
        ["complexity"] => complexity::run("").map(print_skipped),
        ["complexity", filter] => complexity::run(filter).map(print_skipped),
        [complexity::READ_ALL, filter] => {
            complexity::read_all(filter);
            Ok(())
        }
        ["bench", "--plot"] => site::plot(None),
        ["bench", "--plot", file] => site::plot(Some(file)),
        ["site"] => site::run(),
        ["record"] => record::run(),
        ["api"] => api::write(),
        ["api", "--check"] => api::check().map(print_skipped),
        ["release", "--dry-run"] => release::dry_run(&[]),
        ["release", "--dry-run", "--without", ref steps @ ..] => release::dry_run(steps),
        ["bench"] => bench::run("", None),
        ["bench", filter] => bench::run(filter, None),
        ["bench", filter, "--against", program] => bench::run(filter, Some(Path::new(program))),
        // Server and client of some rows of the bench, which the bench starts as separate processes.
        [bench::NEWS_SERVER, address] => bench::serve_news(address),
        [bench::CONNECT, address] => bench::time_connection(address),
        [bench::NEWS_CLIENT, ahead, url, out] => bench::fetch_news(ahead, url, out),
        ["gen"] => generated::write(),
        ["gen", "--check"] => generated::check(),
        ["-h" | "--help" | "help"] => {
            println!("{USAGE}");
            Ok(())
        }
        _ => Err(USAGE.to_owned()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}
