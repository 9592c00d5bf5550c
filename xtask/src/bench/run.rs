//! One run of one tool: its time and memory, and whether it fetched everything.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use fetch_url_tests::peak_memory;
use wait4::Wait4 as _;

use super::delayed_network;
use super::peer::Tool;
use super::remove;
use super::workload::{Source, Task, Workload};

/// The time limit of a run.
const RUN_TIME: Duration = Duration::from_secs(120);
/// The interval between two samples of the memory of a process.
const SAMPLE_INTERVAL: Duration = Duration::from_millis(10);

/// The cost of a run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sample {
    pub(super) wall: Duration,
    /// User and system time.
    pub(super) cpu: Duration,
    /// The peak memory, unless the process ended before the first sample.
    pub(super) memory: Option<u64>,
}

/// Runs a tool with a missing output file or an empty directory, and checks that the output is complete.
pub(super) fn once(
    tool: &Tool,
    row: &Workload,
    urls: &[String],
    ca: &Path,
    out: &Path,
) -> Result<Sample, String> {
    let copy = copy_of(tool, out);
    let out = if row.task == Task::MirrorAgain { &copy } else { out };
    if row.task != Task::MirrorAgain {
        remove(out);
    }
    let failed = |why: String| format!("bench: {}: {}: {why}", tool.name, row.name);
    let told = |error: std::io::Error| failed(error.to_string());
    let mut command = if urls.len() == 1 {
        tool.command(row, &urls[0], out)
    } else {
        fs::create_dir(out).map_err(told)?;
        let list = out.with_extension("list");
        fs::write(&list, urls.join("\n")).map_err(told)?;
        tool.command_for_many(urls, row.at_once, &list, out)
    };
    tool.add_options(&mut command, row.source, ca);
    if matches!(row.source, Source::RemoteFtp | Source::RemoteHttp | Source::RemoteNews) {
        command = delayed_network::in_local_namespace(&command);
    }
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::inherit());
    let sample = timed(&mut command, RUN_TIME).map_err(failed)?;
    let (files, bytes) = count_output(out).map_err(told)?;
    let is_whole = files == row.count && bytes == row.size * row.count as u64;
    if is_whole { Ok(sample) } else { Err(failed(format!("received {bytes} bytes in {files} files"))) }
}

/// Returns the directory of the copy that a tool makes in its first run and compares in the others.
pub(super) fn copy_of(tool: &Tool, out: &Path) -> PathBuf {
    out.with_file_name(format!("copy-of-{}", tool.name))
}

/// Returns the number of files and of their bytes. In a directory only the objects count, not what a tool adds.
fn count_output(out: &Path) -> std::io::Result<(usize, u64)> {
    if out.is_file() {
        return Ok((1, fs::metadata(out)?.len()));
    }
    let (mut files, mut bytes) = (0, 0);
    for entry in fs::read_dir(out)? {
        let path = entry?.path();
        if path.is_dir() || path.extension().is_some_and(|extension| extension == "bin") {
            let (more_files, more_bytes) = count_output(&path)?;
            (files, bytes) = (files + more_files, bytes + more_bytes);
        }
    }
    Ok((files, bytes))
}

/// Runs a command, which is killed at its time limit.
pub(super) fn timed(command: &mut Command, limit: Duration) -> Result<Sample, String> {
    let began = Instant::now();
    let mut child = command.spawn().map_err(|error| error.to_string())?;
    let id = child.id();
    let (ended, end) = mpsc::channel();
    let watcher = thread::spawn(move || watch(id, &end, limit));
    let used = child.wait4();
    let wall = began.elapsed();
    drop(ended);
    let memory = watcher.join().unwrap_or_default();
    let used = used.map_err(|error| error.to_string())?;
    if !used.status.success() {
        return Err(used.status.to_string());
    }
    Ok(Sample { wall, cpu: used.rusage.utime + used.rusage.stime, memory })
}

/// Samples the peak memory of a process until it ends, and kills it at its time limit.
fn watch(id: u32, end: &Receiver<()>, limit: Duration) -> Option<u64> {
    let (began, mut peak) = (Instant::now(), None);
    while end.recv_timeout(SAMPLE_INTERVAL) == Err(RecvTimeoutError::Timeout) {
        peak = peak_memory(id).or(peak);
        if began.elapsed() > limit {
            let _ = Command::new("kill").arg(id.to_string()).status();
        }
    }
    peak
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_timed_and_a_failed_one_is_an_error() {
        let sample = timed(Command::new("sleep").arg("0.05"), RUN_TIME).unwrap();
        assert!(sample.wall >= Duration::from_millis(50) && sample.cpu < sample.wall);
        assert_eq!(timed(&mut Command::new("false"), RUN_TIME).unwrap_err(), "exit status: 1");
    }
}
