//! The results of fuzz targets: what libFuzzer writes to its log, and the table of all targets.

use std::fmt::Write as _;
use std::path::Path;

/// The line of libFuzzer before the path of an input that failed.
const WRITTEN: &str = "Test unit written to ";
/// The maximum number of characters of a reason.
const MAX_REASON: usize = 300;

/// The result of one target.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct RunReport {
    pub(super) target: String,
    executions: Option<u64>,
    executions_per_second: Option<u64>,
    /// The number of edges of the control flow that were executed.
    edges: Option<u64>,
    /// The number of inputs in the corpus.
    corpus: Option<u64>,
    failures: Vec<Failure>,
}

/// An input that failed, or a target that could not be run.
#[derive(Debug, PartialEq, Eq)]
struct Failure {
    reason: String,
    /// The command that runs the input again.
    command: Option<String>,
}

impl RunReport {
    /// Returns the result of a target that could not be run.
    pub(super) fn failed(target: &str, reason: String) -> Self {
        let failures = vec![Failure { reason, command: None }];
        Self { target: target.to_owned(), failures, ..Self::default() }
    }

    /// Returns the findings, each as a line with the reason and a line with the command that reproduces it.
    pub(super) fn findings(&self) -> Vec<String> {
        let line = |failure: &Failure| {
            let command = failure.command.iter().map(|command| format!("\n  {command}")).collect::<String>();
            format!("{}: {}{command}", self.target, failure.reason)
        };
        self.failures.iter().map(line).collect()
    }
}

/// Reads the log of libFuzzer. `reproduce` returns the command for an input. A target that failed without an input, such
/// as one that does not compile, is a finding that names the log.
pub(super) fn read_log(
    target: &str,
    log: &str,
    is_ok: bool,
    path: &Path,
    reproduce: impl Fn(&Path) -> String,
) -> RunReport {
    let inputs = log.lines().filter_map(|line| line.split_once(WRITTEN)).map(|(_, input)| input.trim());
    let mut failures: Vec<Failure> = inputs
        .map(|input| Failure { reason: reason(log), command: Some(reproduce(Path::new(input))) })
        .collect();
    if failures.is_empty() && !is_ok {
        failures.push(Failure { reason: format!("it failed, see {}", path.display()), command: None });
    }
    let statistic = |name: &str| {
        let start = format!("stat::{name}:");
        log.lines().find_map(|line| line.strip_prefix(&start)?.trim().parse().ok())
    };
    RunReport {
        target: target.to_owned(),
        executions: statistic("number_of_executed_units"),
        executions_per_second: statistic("average_exec_per_sec"),
        edges: last_number(log, " cov: "),
        corpus: last_number(log, " corp: "),
        failures,
    }
}

/// Returns the number after `name` in the last line of progress that has it.
fn last_number(log: &str, name: &str) -> Option<u64> {
    let lines = log.lines().rev().filter(|line| line.starts_with('#'));
    lines.filter_map(|line| line.split_once(name)).find_map(|(_, rest)| {
        let digits = rest.split(|character: char| !character.is_ascii_digit()).next()?;
        digits.parse().ok()
    })
}

/// Returns why an input failed: the message of the panic, or the summary of libFuzzer or of the sanitizer.
fn reason(log: &str) -> String {
    let mut lines =
        log.lines().skip_while(|line| !(line.starts_with("thread ") && line.contains(" panicked at ")));
    let panic = lines.next().map(|place| format!("{} {}", place.trim(), lines.next().unwrap_or_default()));
    let summary = || log.lines().find_map(|line| line.strip_prefix("SUMMARY: ")).map(str::to_owned);
    let text = panic.or_else(summary).unwrap_or_else(|| "it failed".to_owned());
    text.chars().take(MAX_REASON).collect()
}

/// Returns the table of all targets.
pub(super) fn table(reports: &[RunReport]) -> String {
    let width =
        reports.iter().map(|report| report.target.len()).max().unwrap_or_default().max("target".len());
    let mut text = String::new();
    let mut line = |name: &str, cells: [String; 5]| {
        let [executions, speed, edges, corpus, findings] = cells;
        // Writing into a String cannot fail.
        let _ = writeln!(
            text,
            "{name:<width$}  {executions:>12}  {speed:>8}  {edges:>6}  {corpus:>6}  {findings:>8}"
        );
    };
    line("target", ["executions", "per s", "edges", "corpus", "findings"].map(str::to_owned));
    for report in reports {
        let cell = |number: Option<u64>| number.map_or_else(|| "-".to_owned(), |number| number.to_string());
        let numbers =
            [report.executions, report.executions_per_second, report.edges, report.corpus].map(cell);
        let [executions, speed, edges, corpus] = numbers;
        line(&report.target, [executions, speed, edges, corpus, report.failures.len().to_string()]);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const PASSED: &str = "\
INFO: Running with entropic power schedule (0xFF, 100).
#37\tINITED cov: 410 ft: 900 corp: 30/1Kb exec/s: 0 rss: 60Mb
#4096\tpulse  cov: 512 ft: 1900 corp: 98/3Kb lim: 63 exec/s: 2048 rss: 71Mb
#8192\tDONE   cov: 520 ft: 2000 corp: 101/4Kb lim: 80 exec/s: 4096 rss: 75Mb
Done 8192 runs in 2 second(s)
stat::number_of_executed_units: 8192
stat::average_exec_per_sec:     4096
stat::new_units_added:          71
";
    const FAILED: &str = "\
#5\tNEW    cov: 20 ft: 30 corp: 2/2b lim: 4 exec/s: 0 rss: 50Mb L: 1/1 MS: 1 ChangeByte-
thread '<unnamed>' (77) panicked at fuzz_targets/netrc.rs:35:5:
assertion failed: a secret
note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace
==77== ERROR: libFuzzer: deadly signal
SUMMARY: libFuzzer: deadly signal
artifact_prefix='target/fuzz/artifacts/netrc/'; Test unit written to target/fuzz/artifacts/netrc/crash-1
stat::number_of_executed_units: 5
";

    fn report(log: &str, is_ok: bool) -> RunReport {
        read_log("netrc", log, is_ok, Path::new("netrc.log"), |input| format!("run {}", input.display()))
    }

    #[test]
    fn final_statistics_are_read() {
        let report = report(PASSED, true);
        let numbers = (report.executions, report.executions_per_second, report.edges, report.corpus);
        assert_eq!(numbers, (Some(8192), Some(4096), Some(520), Some(101)));
        assert_eq!(report.findings(), [""; 0]);
    }

    #[test]
    fn input_that_failed_is_reported_with_reason_and_command() {
        let report = report(FAILED, false);
        assert_eq!((report.executions, report.edges), (Some(5), Some(20)));
        let panic =
            "thread '<unnamed>' (77) panicked at fuzz_targets/netrc.rs:35:5: assertion failed: a secret";
        assert_eq!(report.findings(), [format!("netrc: {panic}\n  run target/fuzz/artifacts/netrc/crash-1")]);
    }

    #[test]
    fn timeout_is_reported_by_its_summary_and_a_failed_start_by_its_log() {
        let log = "SUMMARY: libFuzzer: timeout\nartifact_prefix='a/'; Test unit written to a/timeout-1\n";
        assert_eq!(report(log, false).findings(), ["netrc: libFuzzer: timeout\n  run a/timeout-1"]);
        assert_eq!(report("error: no such target\n", false).findings(), ["netrc: it failed, see netrc.log"]);
    }

    #[test]
    fn table_has_a_line_for_each_target() {
        let text = table(&[report(PASSED, true), RunReport::failed("a", "why".to_owned())]);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "target    executions     per s   edges  corpus  findings");
        assert_eq!(lines[1], "netrc           8192      4096     520     101         0");
        assert_eq!(lines[2], "a                  -         -       -       -         1");
    }
}
