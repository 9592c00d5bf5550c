//! `cargo xtask bench scale`: what grows with the input. The CPU time and the memory per line of lists of 10^3 to 10^6
//! lines, and the speed of `extract` and `explain`. It needs nginx; a peer that does the same does not exist.

use std::fs;
use std::io::{Error, Result, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use fetch_url_tests::ServerCert;
use tempfile::TempDir;

use super::fixture::write_object;
use super::nginx::Nginx;
use super::run::{self, Sample};
use crate::program;

/// The name of the row.
pub(super) const ROW: &str = "scale";
/// The numbers of lines of the lists.
const LINES: [usize; 4] = [1_000, 10_000, 100_000, 1_000_000];
/// The maximum memory for any list.
const MEMORY_TARGET_MIB: f64 = 64.0;
/// The size of the text for `extract`.
const TEXT_BYTES: usize = 200 << 20;
const EXTRACT_TARGET_MB: f64 = 500.0;
/// The number of URLs for `explain`, as many as fit into one command line.
const EXPLAINED: usize = 10_000;
const ROUNDS: usize = 5;
/// The time limit of one run.
const RUN_TIME: Duration = Duration::from_secs(300);

/// Measures all parts and prints them.
pub(super) fn run() -> std::result::Result<(), String> {
    measure(&program::fetch_url(&["--release"])?).map_err(|error| format!("bench: scale: {error}"))
}

fn measure(fetch_url: &Path) -> Result<()> {
    let memory = Path::new("/dev/shm");
    let folder = if memory.is_dir() { TempDir::new_in(memory)? } else { TempDir::new()? };
    println!("\n== {ROW}");
    lists(fetch_url, folder.path())?;
    extract(fetch_url, folder.path())?;
    explain(fetch_url)
}

/// Fetches one object of 1 KiB as often as the list has lines, each time into a file of its own.
fn lists(fetch_url: &Path, folder: &Path) -> Result<()> {
    write_object(&folder.join("1024.bin"), 1024)?;
    let nginx = Nginx::local(folder, &ServerCert::good()?.write_files()?)?;
    println!("bench: scale: lists of 1 KiB objects, 16 at once, with a journal");
    for count in LINES {
        let (list, out) = (folder.join("list"), folder.join("out"));
        write_list(&list, count, nginx.ports.http)?;
        fs::create_dir(&out)?;
        let mut command = Command::new(fetch_url);
        command.args(["-s", "-Z", "--parallel-max", "16", "--input-file"]).arg(&list);
        command.arg("--output-dir").arg(&out);
        let sample = timed(&mut command)?;
        let files = fs::read_dir(&out)?.count();
        if files < count {
            return Err(Error::other(format!("{files} of {count} files")));
        }
        let memory = sample.memory.map_or(0.0, |bytes| bytes as f64 / 1_048_576.0);
        println!(
            "  {count:>9} lines  {:>8.2} s  {:>6.1} µs CPU per line  {memory:>6.1} MiB, target {MEMORY_TARGET_MIB}: {}",
            sample.wall.as_secs_f64(),
            sample.cpu.as_secs_f64() * 1e6 / count as f64,
            verdict(memory <= MEMORY_TARGET_MIB),
        );
        fs::remove_dir_all(&out)?;
    }
    Ok(())
}

fn write_list(path: &Path, count: usize, port: u16) -> Result<()> {
    let mut list = std::io::BufWriter::new(fs::File::create(path)?);
    for number in 0..count {
        writeln!(list, "http://127.0.0.1:{port}/1024.bin\t{number}.bin")?;
    }
    list.flush()
}

/// Searches prose with a URL in every tenth line.
fn extract(fetch_url: &Path, folder: &Path) -> Result<()> {
    let path = folder.join("prose.txt");
    let mut text = String::with_capacity(TEXT_BYTES + 200);
    for line in 0.. {
        text += "It was a bright cold day in April, and the clocks were striking thirteen; see also: \n";
        if line % 10 == 0 {
            text += "The file is at <URL:ftp://ftp.example.com/pub/notes/";
            text += &line.to_string();
            text += ".txt>, as always.\n";
        }
        if text.len() >= TEXT_BYTES {
            break;
        }
    }
    fs::write(&path, &text)?;
    let megabytes = text.len() as f64 / 1e6;
    drop(text);
    let mut command = Command::new(fetch_url);
    command.arg("extract").arg(&path);
    let seconds = least_seconds(&mut command)?;
    let speed = megabytes / seconds;
    println!(
        "bench: scale: extract: {speed:.0} MB/s, target {EXTRACT_TARGET_MB}: {}",
        verdict(speed >= EXTRACT_TARGET_MB)
    );
    fs::remove_file(path)
}

fn explain(fetch_url: &Path) -> Result<()> {
    let mut command = Command::new(fetch_url);
    command.args(["explain", "--json"]);
    command.args((0..EXPLAINED).map(|number| format!("ftp://ftp.example.com/pub/{number}/notes.txt;type=a")));
    let seconds = least_seconds(&mut command)?;
    println!("bench: scale: explain: {:.0} URLs per second", EXPLAINED as f64 / seconds);
    Ok(())
}

/// Returns the least time of several runs.
fn least_seconds(command: &mut Command) -> Result<f64> {
    let mut least = f64::INFINITY;
    for _ in 0..ROUNDS {
        least = least.min(timed(command)?.wall.as_secs_f64());
    }
    Ok(least)
}

fn timed(command: &mut Command) -> Result<Sample> {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::inherit());
    run::timed(command, RUN_TIME).map_err(Error::other)
}

const fn verdict(is_met: bool) -> &'static str {
    if is_met { "met" } else { "missed" }
}
