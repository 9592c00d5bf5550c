//! Prints the counts, the status and the failed lines of a queue.

use std::fmt::Write as _;
use std::io::{self, IsTerminal as _};

use fetch_url::Error;
use fetch_url_proto::text::sanitise;
use fetch_url_queue::{AddCounts, FailedLine, Outcome, RetryCounts, Status};
use indicatif::BinaryBytes;
use serde_json::json;

use super::{print_note, print_stdout};
use crate::flags::queue::StatusFormat;

/// Clears a terminal and moves the cursor to its first line.
const CLEAR: &str = "\x1b[H\x1b[2J";

/// Prints the progress of `queue add`.
pub(crate) fn print_progress(counts: &AddCounts) {
    print_note(&format!("{} lines of the list are stored", counts.total()));
}

/// Prints the result of `queue add`.
///
/// # Errors
/// Fails if standard output cannot be written to, as all functions of this file.
pub(crate) fn print_added(counts: &AddCounts) -> Result<(), Error> {
    let AddCounts { added, waiting, done, failed, .. } = counts;
    print_stdout(&format!(
        "added {added}; already waiting {waiting}; already done {done}; already failed {failed}\n"
    ))?;
    if *failed > 0 {
        print_note("fetch-url queue failed --retry adds the failed lines again");
    }
    Ok(())
}

/// Prints the result of `queue failed --retry`.
pub(crate) fn print_retried(counts: RetryCounts) -> Result<(), Error> {
    let RetryCounts { added, waiting, done, .. } = counts;
    print_stdout(&format!("added {added} again; already waiting {waiting}; already done {done}\n"))?;
    if counts.kept > 0 {
        let kept = counts.kept;
        print_note(&format!(
            "{kept} failed lines were not added: they are not lines, or another line has their file"
        ));
    }
    Ok(())
}

/// Prints a failed line in the format of `--input-file`, after a comment with the reason.
pub(crate) fn print_failed(failed: &FailedLine) -> Result<(), Error> {
    let Outcome::Failed { code, exit_status, message } = &failed.entry.outcome else { return Ok(()) };
    let (code, reason) = (sanitise(code.as_bytes()), sanitise(message.replace('\n', " ").as_bytes()));
    let tries = match failed.entry.tries {
        1 => "1 try".to_owned(),
        tries => format!("{tries} tries"),
    };
    let mut text = format!("# {exit_status} {code}, {tries}: {reason}\n");
    if let Some(line) = &failed.line {
        // A line has no control characters, and is printed as it was added.
        text.push_str(&line.to_list_line());
        text.push('\n');
    }
    print_stdout(&text)
}

/// Prints the status. With `is_repeated`, text replaces the text before it on a terminal. JSON is one line for each status.
pub(crate) fn print_status(status: &Status, format: StatusFormat, is_repeated: bool) -> Result<(), Error> {
    match format {
        StatusFormat::Json => print_stdout(&format!("{}\n", status_json(status))),
        StatusFormat::Text if is_repeated => {
            print_stdout(&repeated(&status_text(status), io::stdout().is_terminal()))
        }
        StatusFormat::Text => print_stdout(&status_text(status)),
    }
}

/// Returns a text that replaces the one before it on a terminal, and elsewhere ends with an empty line.
fn repeated(text: &str, is_terminal: bool) -> String {
    if is_terminal { format!("{CLEAR}{text}") } else { format!("{text}\n") }
}

fn status_json(status: &Status) -> serde_json::Value {
    let workers = status.workers.iter().map(|worker| {
        json!({
            "name": worker.name, "in_flight": worker.in_flight, "done": worker.done, "failed": worker.failed,
            "bytes_per_second": worker.rate, "seconds_since_last_seen": worker.last_seen.as_secs(),
        })
    });
    let workers: Vec<_> = workers.collect();
    let hosts: Vec<_> =
        status.backing_off.iter().map(|host| json!({ "host": host.host, "seconds": host.seconds })).collect();
    json!({
        "waiting": status.waiting, "in_flight": status.in_flight, "done": status.done, "failed": status.failed,
        "bytes": status.bytes, "bytes_per_second": status.rate, "workers": workers, "backing_off": hosts,
    })
}

fn status_text(status: &Status) -> String {
    let mut text = String::new();
    let (bytes, rate) = (BinaryBytes(status.bytes), BinaryBytes(status.rate));
    let Status { waiting, in_flight, done, failed, .. } = status;
    // Writing to a string cannot fail.
    let _ = writeln!(
        text,
        "waiting {waiting}  in flight {in_flight}  done {done}  failed {failed}  {bytes}  {rate}/s"
    );
    for worker in &status.workers {
        let name = sanitise(worker.name.as_bytes());
        let _ = writeln!(
            text,
            "worker {name}: in flight {}, done {}, failed {}, {}/s, seen {} s ago",
            worker.in_flight,
            worker.done,
            worker.failed,
            BinaryBytes(worker.rate),
            worker.last_seen.as_secs()
        );
    }
    for host in &status.backing_off {
        let _ = writeln!(text, "backing off {}: {} s", sanitise(host.host.as_bytes()), host.seconds);
    }
    text
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use fetch_url_queue::{BackingOffHost, WorkerStatus};

    use super::*;

    #[test]
    fn repeated_status_clears_a_terminal_and_nothing_else() {
        assert_eq!(repeated("waiting 1\n", true), "\x1b[H\x1b[2Jwaiting 1\n");
        assert_eq!(repeated("waiting 1\n", false), "waiting 1\n\n");
    }

    #[test]
    fn status_shows_lines_workers_and_hosts() {
        let worker = WorkerStatus {
            name: "one:7".to_owned(),
            in_flight: 2,
            done: 3,
            failed: 1,
            rate: 2048,
            last_seen: Duration::from_secs(4),
        };
        let mut status = Status::default();
        (status.waiting, status.in_flight, status.done, status.failed) = (5, 2, 3, 1);
        (status.bytes, status.rate) = (4096, 2048);
        status.workers = vec![worker];
        status.backing_off = vec![BackingOffHost { host: "slow.example".to_owned(), seconds: 9 }];
        assert_eq!(
            status_text(&status),
            "waiting 5  in flight 2  done 3  failed 1  4.00 KiB  2.00 KiB/s\n\
             worker one:7: in flight 2, done 3, failed 1, 2.00 KiB/s, seen 4 s ago\n\
             backing off slow.example: 9 s\n"
        );
        assert_eq!(status_json(&status)["workers"][0]["seconds_since_last_seen"], 4);
        assert_eq!(status_json(&status)["backing_off"][0]["host"], "slow.example");
    }
}
