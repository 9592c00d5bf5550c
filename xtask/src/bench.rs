//! `cargo xtask bench [filter]`: compares the release build with the installed peers on this machine, in interleaved
//! runs. Only the ratios are meaningful, because machines are shared and noisy.
//!
//! The rows are in `bench/workload.rs`, their servers in `bench/fixture.rs`, one run of one tool in
//! `bench/run.rs`, the figures in `bench/report.rs`.

mod delayed_network;
mod fixture;
mod gopher;
mod news;
mod nginx;
mod peer;
mod queue;
mod report;
mod run;
mod scale;
mod serve;
mod vsftpd;
mod workload;

use std::path::Path;
use std::time::{Duration, Instant};

use fixture::Fixture;
use peer::Tool;
use report::Measured;
use run::Sample;
use workload::{Task, WORKLOADS, Workload};

use crate::program::{self, cargo};
pub(crate) use delayed_network::{CONNECT, time_connection};
pub(crate) use news::{
    CLIENT as NEWS_CLIENT, SERVER as NEWS_SERVER, fetch as fetch_news, serve as serve_news,
};

/// A row ends after this time, even if rounds are left, once it has `FEWEST_ROUNDS`.
const ROW_TIME: Duration = Duration::from_secs(90);
const FEWEST_ROUNDS: usize = 5;
/// A tool that needs more time for a run is measured once.
const SLOW: Duration = Duration::from_secs(20);

/// The name of the row that measures the parser instead of a transfer.
const PARSE: &str = "parse";

/// Measures the rows whose name contains `filter`. `other_build` is another build of fetch-url, measured in the same
/// rounds.
pub(crate) fn run(filter: &str, other_build: Option<&Path>) -> Result<(), String> {
    let rows: Vec<&Workload> = WORKLOADS.iter().filter(|row| row.name.contains(filter)).collect();
    let has = |row: &str| row.contains(filter);
    let others = [PARSE, serve::ROW, scale::ROW, queue::ROW];
    if rows.is_empty() && !others.into_iter().any(has) {
        let names: Vec<&str> = WORKLOADS.iter().map(|row| row.name).chain(others).collect();
        return Err(format!("bench: no row name contains {filter:?}; the rows are {}", names.join(", ")));
    }
    if !rows.is_empty() {
        let measured = transfers(&rows, other_build)?;
        println!("\n{}", report::table(&measured));
        let path = report::write(&measured)?;
        println!("bench: wrote {}", path.display());
    }
    if has(serve::ROW) {
        serve::run()?;
    }
    if has(scale::ROW) {
        scale::run()?;
    }
    if has(queue::ROW) {
        queue::run()?;
    }
    if has(PARSE) {
        println!("\n== {PARSE}");
        program::run_command(&mut cargo(["bench", "-p", "fetch-url-core", "--bench", "parse"]))?;
    }
    Ok(())
}

fn transfers(rows: &[&'static Workload], other_build: Option<&Path>) -> Result<Vec<Measured>, String> {
    let tools = peer::all(&program::fetch_url(&["--release"])?, other_build);
    let fixture =
        Fixture::start(rows).map_err(|error| format!("bench: the servers do not start: {error}"))?;
    println!("bench: served by {}, written to {}", fixture.server(), fixture.folder().display());
    rows.iter().filter(|row| fixture.serves(row)).map(|row| measure(row, &tools, &fixture)).collect()
}

/// Measures one row: each tool once to warm up, then rounds of all tools in turn.
fn measure(row: &'static Workload, tools: &[Tool], fixture: &Fixture) -> Result<Measured, String> {
    let urls = fixture.urls(row);
    let out = fixture.folder().join("out");
    let once = |tool: &Tool| run::once(tool, row, &urls, fixture.authority(), &out);
    let mut warm: Vec<&Tool> = Vec::new();
    let mut samples: Vec<Vec<Sample>> = Vec::new();
    for tool in tools.iter().filter(|tool| tool.can(row)) {
        match once(tool) {
            Ok(first) => {
                let only = match row.task {
                    _ if first.wall <= SLOW => None,
                    // The first run made the copy.
                    Task::MirrorAgain => Some(once(tool)?),
                    _ => Some(first),
                };
                warm.push(tool);
                samples.push(only.into_iter().collect());
            }
            Err(why) if tool.name == peer::OURS => return Err(why),
            // A peer that fails, or needs more than two minutes, is skipped.
            Err(why) => println!("{why}: skipped"),
        }
    }
    let tools = warm;
    println!("bench: {}: {} rounds of {} tools", row.name, row.rounds, tools.len());
    // A slow tool has its only sample already.
    let quick: Vec<usize> = (0..tools.len()).filter(|&index| samples[index].is_empty()).collect();
    let began = Instant::now();
    for round in 0..row.rounds {
        if round >= FEWEST_ROUNDS && began.elapsed() > ROW_TIME {
            break;
        }
        for &index in &quick {
            samples[index].push(once(tools[index])?);
        }
    }
    remove(&out);
    tools.iter().for_each(|tool| remove(&run::copy_of(tool, &out)));
    Ok(Measured::new(row, &tools, samples, fixture.round_trip(row)?))
}

/// Removes a file or directory, if it exists.
fn remove(path: &Path) {
    let _ = std::fs::remove_file(path).or_else(|_| std::fs::remove_dir_all(path));
}
