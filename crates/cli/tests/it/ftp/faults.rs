//! The FTP column of the fault matrix (docs/spec/faults.md, section 3): every fault of [`FTP_FAULTS`] is played against
//! the real binary, once with an older file under the target name and once without.

use crate::support::fault_checks::{check_error_report, check_target_and_part};
use crate::support::fault_runner::{FaultRunner, THREADS};
use crate::support::{check_in_parallel, ensure, part_metadata_path, part_path, run_fetch_url};
use fetch_url_tests::{FTP_FAULTS, FaultCase, FtpFault, FtpServer, OldFile};

#[test]
fn every_fault_exits_with_the_code_of_the_matrix() {
    let runner = FaultRunner::new::<FtpServer>();
    runner.check_table(FTP_FAULTS, |case, result| {
        // Unlike the check of all protocols, this one allows no notes.
        check_error_report(result, case.url.split("://").next().unwrap_or_default())
    });
}

/// Returns `true` if the kept part can be resumed: SIZE must be the same before and after the repair.
fn can_be_resumed(fault: &FtpFault) -> bool {
    !fault.name.contains("without_size") && fault.name != "size_too_large"
}

/// Runs once against the faulty server and once against the repaired one; checks that only the missing bytes are sent.
fn check_next_run_resumes(case: &FaultCase<FtpServer>, runner: &FaultRunner) -> Result<(), String> {
    let (prepared, content) = (runner.prepare(case), &runner.fixture.content);
    let arguments = prepared.command_line(&["-C", "-"]);
    let first = run_fetch_url(&arguments);
    let fail = |why: String| format!("{case}: {why}; first run: {} {}", first.exit, first.stderr.trim());
    ensure(case.fault.accepts(first.exit), || fail("exit status".to_owned()))?;
    if first.exit == 0 {
        return Ok(());
    }
    let path = prepared.target.path();
    let part = std::fs::read(part_path(&path)).unwrap_or_default();
    ensure(!part.is_empty() && content.starts_with(&part), || fail(format!(".part: {} bytes", part.len())))?;
    let has_metadata = part_metadata_path(&path).exists();
    prepared.server.disable_rules();
    let sent_before = prepared.server.bytes_sent();
    let second = run_fetch_url(&arguments);
    ensure(second.exit == 0, || fail(format!("second run: {} {}", second.exit, second.stderr)))?;
    check_target_and_part(&prepared.target, 0, content).map_err(fail)?;
    let missing = (content.len() - part.len()) as u64;
    // Up to 64 bytes before the resume offset are sent again and compared.
    let expected = missing + part.len().min(64) as u64;
    let sent = prepared.server.bytes_sent() - sent_before;
    ensure(!has_metadata || sent == expected, || {
        fail(format!("{sent} bytes were sent, {missing} were missing"))
    })
}

#[test]
fn kept_part_is_resumed_by_the_next_run() {
    let runner = FaultRunner::new::<FtpServer>();
    let faults = FTP_FAULTS.iter().filter(|fault| fault.keeps_part && can_be_resumed(fault));
    let mut cases = FaultCase::all(faults);
    // With an existing file, `-C -` first compares its end: resume/existing_files.rs.
    cases.retain(|case| case.old_file == OldFile::Absent);
    assert!(cases.len() > 20, "{}", cases.len());
    check_in_parallel(&cases, THREADS, |case| check_next_run_resumes(case, &runner));
}
