//! The ftp column of the fault matrix (SECURITY.md, section 3) through the real binary: every fault of
//! [`FTP_FAULTS`], with an older file under the name and without.

#![allow(clippy::expect_used, reason = "a helper of tests")]

mod support;

use std::time::Duration;

use fetch_url_tests::{Before, FTP_FAULTS, FtpFault, FtpFaultSetting, ServerCert, Target};
use support::sound::{disk_is_sound, report_is_one_line};
use support::{Ran, ensure, fetch, in_parallel, journal_of, part_of};

const THREADS: usize = 16;

fn setting() -> FtpFaultSetting {
    FtpFaultSetting { stall: Duration::from_secs(12), ..FtpFaultSetting::default() }
}

/// A directory for the object, and what a fetch into it says.
struct Row {
    target: Target,
    ca: std::path::PathBuf,
    url: String,
    more: &'static [&'static str],
}

impl Row {
    fn new(fault: &FtpFault, before: Before, url: String, ca_pem: &str) -> Self {
        let target = Target::new(before).expect("a directory");
        let ca = std::env::temp_dir().join(format!(
            "fetch-url-ca-{}-{before:?}-{}",
            fault.name,
            std::process::id()
        ));
        std::fs::write(&ca, ca_pem).expect("a file");
        Self { target, ca, url, more: fault.arguments() }
    }

    fn fetch(&self, more: &[&str]) -> Ran {
        let path = self.target.path();
        let output = path.to_str().expect("a path in UTF-8");
        let ca = self.ca.to_str().expect("a path in UTF-8");
        let mut words = vec!["--read-timeout", "2", "--cacert", ca, "-o", output];
        words.extend(self.more);
        words.extend(more);
        words.push(&self.url);
        fetch(words)
    }
}

impl Drop for Row {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.ca);
    }
}

fn one_fault(
    fault: &'static FtpFault,
    before: Before,
    setting: &FtpFaultSetting,
    cert: &ServerCert,
) -> Result<(), String> {
    let (server, ca) = fault.serve(setting, cert).expect("a server");
    let row = Row::new(fault, before, fault.url(&server), &ca);
    let ran = row.fetch(&[]);
    let told =
        |why: String| format!("{} {before:?}: {why} (exit {}, {})", fault.name, ran.exit, ran.stderr.trim());
    ensure(fault.accepts(ran.exit), || told(format!("expected {} or {:?}", fault.expect, fault.also)))?;
    disk_is_sound(&row.target, ran.exit, &setting.content).map_err(told)?;
    report_is_one_line(&ran, row.url.split("://").next().unwrap_or_default()).map_err(told)?;
    let is_clean = row.target.leftovers().is_ok_and(|left| left.is_empty());
    ensure(fault.keeps_part || is_clean, || told(format!("leaves {:?}", row.target.leftovers())))
}

#[test]
fn every_fault_ends_as_the_matrix_says() {
    let (setting, cert) = (setting(), ServerCert::good().expect("a certificate"));
    let rows: Vec<(&'static FtpFault, Before)> =
        FTP_FAULTS.iter().flat_map(|fault| Before::ALL.map(|before| (fault, before))).collect();
    in_parallel(&rows, THREADS, |(fault, before)| one_fault(fault, *before, &setting, &cert));
}

/// Whether what was kept can be joined to the rest: only when SIZE told the same before and after.
fn can_be_joined(fault: &FtpFault) -> bool {
    !fault.name.contains("without_size") && fault.name != "size_too_large"
}

/// A run that is cut, then one against the mended server.
fn one_convergence(
    fault: &'static FtpFault,
    before: Before,
    setting: &FtpFaultSetting,
    cert: &ServerCert,
) -> Result<(), String> {
    let (server, ca) = fault.serve(setting, cert).expect("a server");
    let row = Row::new(fault, before, fault.url(&server), &ca);
    let first = row.fetch(&["-C", "-"]);
    let told = |why: String| format!("{} {before:?}: {why}; first {}", fault.name, first.stderr.trim());
    ensure(fault.accepts(first.exit), || told(format!("first run: {}", first.exit)))?;
    if first.exit == 0 {
        return Ok(());
    }
    let path = row.target.path();
    let kept = std::fs::read(part_of(&path)).unwrap_or_default();
    let is_prefix = !kept.is_empty() && setting.content.starts_with(&kept);
    ensure(is_prefix, || told(format!(".part: {} octets", kept.len())))?;
    let has_journal = journal_of(&path).exists();
    server.mend();
    let sent = server.octets_sent();
    let second = row.fetch(&["-C", "-"]);
    ensure(second.exit == 0, || told(format!("second run: {} {}", second.exit, second.stderr)))?;
    disk_is_sound(&row.target, 0, &setting.content).map_err(told)?;
    let rest = (setting.content.len() - kept.len()) as u64;
    // A server is asked to repeat a few, to show where it begins.
    let most = rest + kept.len().min(64) as u64;
    let came = server.octets_sent() - sent;
    ensure(!has_journal || came == most, || told(format!("{came} octets came again, {rest} were missing")))
}

#[test]
fn what_is_kept_is_used_by_the_next_run() {
    let (setting, cert) = (setting(), ServerCert::good().expect("a certificate"));
    let rows: Vec<(&'static FtpFault, Before)> = FTP_FAULTS
        .iter()
        .filter(|fault| fault.keeps_part && can_be_joined(fault))
        .flat_map(|fault| Before::ALL.map(|before| (fault, before)))
        .collect();
    assert!(rows.len() > 40, "{}", rows.len());
    in_parallel(&rows, THREADS, |(fault, before)| one_convergence(fault, *before, &setting, &cert));
}
