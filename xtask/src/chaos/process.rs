//! Runs the program, with what the plan does to the process.

use std::fmt;
use std::fs::File;
use std::io::{Error, Read as _, Result, Seek as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use wait4::Wait4 as _;

use super::plan::Disturbance;

/// A process that runs longer is killed, and its round fails. No run needs a tenth of it.
const TIME_LIMIT: Duration = Duration::from_secs(60);

/// The result of a process.
#[derive(Default)]
pub(super) struct Ended {
    /// The exit status; `None` if a signal killed the process.
    pub(super) exit: Option<i32>,
    /// The standard output, if it was kept.
    pub(super) stdout: Vec<u8>,
    pub(super) stderr: String,
    /// Peak memory in bytes, from samples.
    pub(super) peak_memory: u64,
    pub(super) cpu_time: Duration,
    pub(super) is_late: bool,
}

impl fmt::Debug for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { exit, stdout, stderr, peak_memory, cpu_time, is_late } = self;
        let mut shown = f.debug_struct("Ended");
        shown.field("exit", exit).field("stdout bytes", &stdout.len()).field("stderr", stderr);
        shown.field("peak_memory", peak_memory).field("cpu_time", cpu_time).field("is_late", is_late).finish()
    }
}

/// Runs the program in `directory` and returns the result of each process, with its standard output if `keeps_stdout` is
/// set.
pub(super) fn run(
    program: &Path,
    arguments: &[String],
    directory: &Path,
    what: Disturbance,
    keeps_stdout: bool,
) -> Result<Vec<Ended>> {
    let start = || -> Result<(Child, Option<File>)> {
        let stdout = if keeps_stdout { Some(tempfile::tempfile()?) } else { None };
        let child = start(program, arguments, directory, what, stdout.as_ref())?;
        Ok((child, stdout))
    };
    match what {
        Disturbance::SecondProcess => {
            let (first, second) = (start()?, start()?);
            thread::scope(|scope| {
                let first = scope.spawn(|| wait(first));
                let second = wait(second)?;
                let first = first.join().map_err(|_| Error::other("a thread panicked"))??;
                Ok(vec![first, second])
            })
        }
        Disturbance::Signal(signal, moment) => {
            let started = start()?;
            thread::sleep(moment);
            send_signal(&started.0, signal)?;
            Ok(vec![wait(started)?])
        }
        Disturbance::Suspension(moment, length) => {
            let started = start()?;
            thread::sleep(moment);
            send_signal(&started.0, "STOP")?;
            thread::sleep(length);
            send_signal(&started.0, "CONT")?;
            Ok(vec![wait(started)?])
        }
        Disturbance::Nothing
        | Disturbance::FileSizeLimit(_)
        | Disturbance::FullVolume(_)
        | Disturbance::ReadOnlyVolume => Ok(vec![wait(start()?)?]),
    }
}

fn start(
    program: &Path,
    arguments: &[String],
    directory: &Path,
    what: Disturbance,
    stdout: Option<&File>,
) -> Result<Child> {
    let mut command = match what {
        Disturbance::FileSizeLimit(bytes) => {
            let mut shell = Command::new("sh");
            // The signal would kill the process; ignored, the write fails. `ulimit -f` counts blocks of 512 bytes.
            let script = "trap '' XFSZ; ulimit -f \"$0\"; exec \"$@\"";
            shell.args(["-c", script, &(bytes / 512).to_string()]).arg(program);
            shell
        }
        _ => Command::new(program),
    };
    command.args(arguments).current_dir(directory);
    let stdout = stdout.map_or_else(|| Ok(Stdio::null()), |file| file.try_clone().map(Stdio::from))?;
    command.stdin(Stdio::null()).stdout(stdout).stderr(Stdio::piped()).spawn()
}

/// Sends a signal to a process that was not waited for, so that its number is still its own.
fn send_signal(child: &Child, signal: &str) -> Result<()> {
    let status = Command::new("kill").args(["-s", signal, &child.id().to_string()]).status()?;
    if status.success() { Ok(()) } else { Err(Error::other(format!("kill -s {signal}: {status}"))) }
}

fn wait((mut child, stdout): (Child, Option<File>)) -> Result<Ended> {
    let started = Instant::now();
    let mut pipe = child.stderr.take();
    let reader = thread::spawn(move || {
        let mut text = Vec::new();
        if let Some(pipe) = &mut pipe {
            // A read error ends the text, and the process is reported by its exit status.
            let _ = pipe.read_to_end(&mut text);
        }
        text
    });
    let mut peak_memory = None;
    // The pipe closes when the process ends.
    while !reader.is_finished() && started.elapsed() < TIME_LIMIT {
        peak_memory = fetch_url_tests::peak_memory(child.id()).or(peak_memory);
        thread::sleep(Duration::from_millis(2));
    }
    let is_late = !reader.is_finished();
    if is_late {
        child.kill()?;
    }
    let used = child.wait4()?;
    let stderr = reader.join().map_err(|_| Error::other("a thread panicked"))?;
    let mut output = Vec::new();
    if let Some(mut file) = stdout {
        file.rewind()?;
        file.read_to_end(&mut output)?;
    }
    Ok(Ended {
        stdout: output,
        exit: used.status.code(),
        stderr: String::from_utf8_lossy(&stderr).into_owned(),
        peak_memory: peak_memory.unwrap_or_default(),
        cpu_time: used.rusage.utime + used.rusage.stime,
        is_late,
    })
}
