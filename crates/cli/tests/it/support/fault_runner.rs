//! The runner of the fault tables (docs/spec/faults.md, section 3): every row over each of its transports, with and
//! without an old output file, against the real binary, and the checks that are the same for all protocols.

use std::sync::Mutex;
use std::time::Duration;

use super::fault_checks::{
    NOTE_PREFIX, check_content, check_stderr, check_target, check_target_and_part, check_text,
};
use super::{RunResult, check_in_parallel, ensure, run_fetch_url, run_measuring_memory};
use fetch_url_tests::{
    Completeness, Fault, FaultCase, FaultFixture, FaultResult, FaultServer, OldFile, PreparedCase,
    ServerCert, Target, Transport,
};

/// The number of cases that run at the same time.
pub(crate) const THREADS: usize = 12;

/// The maximum peak memory of a run, in KiB. A debug build needs about 25 MiB.
const MAX_MEMORY: u64 = 64 * 1024;
/// The number of runs with the highest peak memory that a table prints.
const PRINTED_PEAKS: usize = 10;

/// The schemes to which the access methods of a Prospero object may lead.
const ACCESS_SCHEMES: [&str; 5] = ["prospero", "ftp", "gopher", "wais", "telnet"];

/// A check that one protocol adds to those of all protocols.
pub(crate) type ProtocolCheck<S> = fn(&PreparedCase<S>, &RunResult) -> Result<(), String>;

/// Runs fault cases. Holds what they have in common: the contents, the stall and the certificate.
pub(crate) struct FaultRunner {
    pub(crate) fixture: FaultFixture,
    cert: ServerCert,
    /// The peak memory of each run in KiB, and its case.
    peaks: Mutex<Vec<(u64, String)>>,
}

impl FaultRunner {
    /// Creates a runner for the tables of one protocol. A stalled server sends nothing for 20 seconds, longer than the
    /// idle timeout of every case.
    pub(crate) fn new<S: FaultServer>() -> Self {
        let fixture = FaultFixture { stall: Duration::from_secs(20), ..S::fixture() };
        Self { fixture, cert: ServerCert::good().expect("create certificate"), peaks: Mutex::default() }
    }

    /// Runs all cases of these rows and checks exit status, output file, remaining files, messages and completeness.
    pub(crate) fn check_table<S: FaultServer>(
        &self,
        faults: impl IntoIterator<Item = &'static Fault<S>>,
        protocol_check: ProtocolCheck<S>,
    ) {
        check_in_parallel(&FaultCase::all(faults), THREADS, |case| self.check_case(case, protocol_check));
        self.print_highest_peaks();
    }

    /// Prints the runs with the highest peak memory. The tests show it with `--nocapture`.
    #[allow(clippy::print_stdout, reason = "the output of a test")]
    fn print_highest_peaks(&self) {
        let mut peaks = std::mem::take(&mut *self.peaks.lock().expect("no panic"));
        peaks.sort_unstable_by(|one, other| other.cmp(one));
        for (memory, case) in peaks.iter().take(PRINTED_PEAKS) {
            println!("peak memory {memory} KiB: {case}");
        }
    }

    /// Starts the server of a case and creates its output directory.
    pub(crate) fn prepare<S: FaultServer>(&self, case: &FaultCase<S>) -> PreparedCase<S> {
        case.prepare(&self.fixture, &self.cert).expect("start server")
    }

    fn check_case<S: FaultServer>(
        &self,
        case: &FaultCase<S>,
        protocol_check: ProtocolCheck<S>,
    ) -> Result<(), String> {
        let (fault, prepared) = (case.fault, self.prepare(case));
        let (memory, result) = run_measuring_memory(prepared.command_line(&[]));
        self.peaks.lock().expect("no panic").push((memory, case.to_string()));
        let fail = |why: String| format!("{case}: {why} (exit {}, {})", result.exit, result.stderr.trim());
        ensure(fault.accepts(result.exit), || {
            fail(format!("expected {} or {:?}", fault.exit, fault.other_exits))
        })?;
        ensure(memory <= MAX_MEMORY, || fail(format!("peak memory {memory} KiB")))?;
        self.check_output(fault, &prepared.target, result.exit).map_err(fail)?;
        check_stderr(&result, reported_scheme(&prepared.url, &result), fault.message).map_err(fail)?;
        protocol_check(&prepared, &result).map_err(fail)?;
        // A fault with several outcomes may end differently in the second run.
        let is_certain = result.exit == 0 && fault.other_exits.is_empty() && case.old_file == OldFile::Absent;
        if is_certain { self.check_completeness(case, &result).map_err(fail) } else { Ok(()) }
    }

    /// Checks that the output file has the content that the row allows, and which temporary files remain.
    pub(crate) fn check_output<S: FaultServer>(
        &self,
        fault: &Fault<S>,
        target: &Target,
        exit: i32,
    ) -> Result<(), String> {
        if exit != 0 && fault.keeps_part {
            return check_target_and_part(target, exit, &self.fixture.content);
        }
        check_target(target, exit, |bytes| match fault.result {
            FaultResult::Exactly(content) => check_content(bytes, &content(&self.fixture)),
            FaultResult::Contains(words) => check_text(bytes, words),
        })
    }

    /// Checks how completeness is reported after exit status 0: by a note if the row says so, and by exit status 18 of
    /// a second run with `--require-complete` if completeness is assumed.
    fn check_completeness<S: FaultServer>(
        &self,
        case: &FaultCase<S>,
        first: &RunResult,
    ) -> Result<(), String> {
        let Some(completeness) = case.fault.completeness else { return Ok(()) };
        let has_note = first.stderr.contains(NOTE_PREFIX);
        let (expected_exit, expects_note) = match completeness {
            Completeness::Assumed => (18, None),
            Completeness::AssumedWithNote => (18, Some(true)),
            Completeness::Proven => (0, Some(false)),
            Completeness::ProvenWithNote => (0, Some(true)),
        };
        ensure(expects_note.is_none_or(|expects| expects == has_note), || {
            if has_note { "there is a note".to_owned() } else { "there is no note".to_owned() }
        })?;
        let prepared = self.prepare(case);
        let strict = run_fetch_url(prepared.command_line(&["--require-complete"]));
        let fail =
            |why: String| format!("--require-complete: {why}: {} {}", strict.exit, strict.stderr.trim());
        ensure(strict.exit == expected_exit, || fail(format!("expected {expected_exit}")))?;
        self.check_output(case.fault, &prepared.target, strict.exit).map_err(fail)
    }

    /// Runs the plaintext cases of these rows twice with `-C -`. The first run must fail and leave no temporary file,
    /// because the protocol cannot resume. Then the server follows the protocol, and the second run must fetch the
    /// complete content.
    pub(crate) fn check_restart<S: FaultServer>(
        &self,
        all: impl Iterator<Item = &'static Fault<S>>,
        names: &[&str],
    ) {
        let faults: Vec<_> = all.filter(|fault| names.contains(&fault.name)).collect();
        assert_eq!(faults.len(), names.len());
        check_in_parallel(&faults, THREADS, |&fault| {
            let case = FaultCase { fault, transport: Transport::Plain, old_file: OldFile::Present };
            let prepared = self.prepare(&case);
            let fail = |why: String, result: &RunResult| {
                format!("{}: {why} (exit {}, {})", fault.name, result.exit, result.stderr.trim())
            };
            let first = run_fetch_url(prepared.command_line(&["-C", "-"]));
            ensure(first.exit != 0 && fault.accepts(first.exit), || fail("first run".to_owned(), &first))?;
            self.check_output(fault, &prepared.target, first.exit).map_err(|why| fail(why, &first))?;
            prepared.server.disable_rules();
            let second = run_fetch_url(prepared.command_line(&["-C", "-"]));
            ensure(second.exit == 0, || fail("second run".to_owned(), &second))?;
            self.check_output(fault, &prepared.target, 0).map_err(|why| fail(why, &second))
        });
    }
}

/// Returns the scheme of the URL that the error message must name: that of the case, or for Prospero any to which an
/// access method may lead.
fn reported_scheme<'u>(url: &'u str, result: &RunResult) -> &'u str {
    let scheme = url.split(':').next().unwrap_or_default();
    let is_named = |scheme: &&str| result.stderr.contains(&format!("fetch-url: {scheme}://"));
    match scheme {
        "prospero" => ACCESS_SCHEMES.into_iter().find(is_named).unwrap_or(scheme),
        _ => scheme,
    }
}
