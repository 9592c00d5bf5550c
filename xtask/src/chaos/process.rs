//! Runs the program, with what the plan does to the process.

use std::io::{Error, Read as _, Result};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use wait4::Wait4 as _;

use super::plan::Disturbance;

/// A process that runs longer is killed, and its round fails. No run needs a tenth of it.
const TIME_LIMIT: Duration = Duration::from_secs(60);

/// The result of a process.
#[derive(Debug, Default)]
pub(super) struct Ended {
    /// The exit status; `None` if a signal killed the process.
    pub(super) exit: Option<i32>,
    pub(super) stderr: String,
    /// Peak memory in bytes, from samples.
    pub(super) peak_memory: u64,
    pub(super) cpu_time: Duration,
    pub(super) is_late: bool,
}

/// Runs the program in `directory` and returns the result of each process.
pub(super) fn run(
    program: &Path,
    arguments: &[String],
    directory: &Path,
    what: Disturbance,
) -> Result<Vec<Ended>> {
    let start = || start(program, arguments, directory, what);
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
            let child = start()?;
            thread::sleep(moment);
            send_signal(&child, signal)?;
            Ok(vec![wait(child)?])
        }
        Disturbance::Suspension(moment, length) => {
            let child = start()?;
            thread::sleep(moment);
            send_signal(&child, "STOP")?;
            thread::sleep(length);
            send_signal(&child, "CONT")?;
            Ok(vec![wait(child)?])
        }
        Disturbance::Nothing
        | Disturbance::FileSizeLimit(_)
        | Disturbance::FullVolume(_)
        | Disturbance::ReadOnlyVolume => Ok(vec![wait(start()?)?]),
    }
}

fn start(program: &Path, arguments: &[String], directory: &Path, what: Disturbance) -> Result<Child> {
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
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn()
}

/// Sends a signal to a process that was not waited for, so that its number is still its own.
fn send_signal(child: &Child, signal: &str) -> Result<()> {
    let status = Command::new("kill").args(["-s", signal, &child.id().to_string()]).status()?;
    if status.success() { Ok(()) } else { Err(Error::other(format!("kill -s {signal}: {status}"))) }
}

fn wait(mut child: Child) -> Result<Ended> {
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
    Ok(Ended {
        exit: used.status.code(),
        stderr: String::from_utf8_lossy(&stderr).into_owned(),
        peak_memory: peak_memory.unwrap_or_default(),
        cpu_time: used.rusage.utime + used.rusage.stime,
        is_late,
    })
}
