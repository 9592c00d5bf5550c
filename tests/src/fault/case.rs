//! The cases of a fault table, rows × transports × {no old file, old file}, and everything that a test needs to run a
//! case.

use std::fmt;
use std::io::{Result, Write as _};
use std::sync::atomic::{AtomicUsize, Ordering};

use tempfile::NamedTempFile;

use crate::cert::ServerCert;
use crate::fault::row::{Fault, FaultFixture, FaultServer, Transport};
use crate::target::{OldFile, Target};

/// One run of a row: over one transport, with an old file under the output name or without.
pub struct FaultCase<S: FaultServer> {
    /// The row.
    pub fault: &'static Fault<S>,
    /// The transport.
    pub transport: Transport,
    /// The content of the output name before the run.
    pub old_file: OldFile,
}

/// A case with its running server and its output directory.
pub struct PreparedCase<S: FaultServer> {
    /// The row.
    pub fault: &'static Fault<S>,
    /// The server.
    pub server: S,
    /// The output file.
    pub target: Target,
    /// The URL that the client must fetch.
    pub url: String,
    transport: Transport,
    /// The CA certificate that the client must trust.
    ca: NamedTempFile,
}

impl<S: FaultServer> FaultCase<S> {
    /// Returns the cases of these rows.
    pub fn all(faults: impl IntoIterator<Item = &'static Fault<S>>) -> Vec<Self> {
        let with_transports = faults
            .into_iter()
            .flat_map(|fault| fault.transports.iter().map(move |transport| (fault, *transport)));
        with_transports
            .flat_map(|(fault, transport)| OldFile::ALL.map(|old_file| Self { fault, transport, old_file }))
            .collect()
    }

    /// Starts the server and creates the output directory. `good` is the certificate of rows that do not name
    /// another.
    pub fn prepare(&self, fixture: &FaultFixture, good: &ServerCert) -> Result<PreparedCase<S>> {
        let (server, ca_pem) = self.fault.serve(self.transport, fixture, good)?;
        let mut ca = NamedTempFile::new()?;
        ca.write_all(ca_pem.as_bytes())?;
        let (url, target) = (self.fault.url(&server), Target::new(self.old_file)?);
        Ok(PreparedCase { fault: self.fault, server, target, url, transport: self.transport, ca })
    }
}

impl<S: FaultServer> fmt::Display for FaultCase<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} over {:?}, old file {:?}", self.fault.name, self.transport, self.old_file)
    }
}

impl<S: FaultServer> PreparedCase<S> {
    /// Returns the command line of the client: timeouts, trusted CA, output file, the options of the row,
    /// `more` options and the URL. The idle timeout is 2 seconds.
    #[must_use]
    pub fn command_line(&self, more: &[&str]) -> Vec<String> {
        let mut words: Vec<String> =
            ["--connect-timeout", "10", "--read-timeout", "2"].map(str::to_owned).into();
        if self.transport != Transport::Plain {
            words.extend(["--cacert".to_owned(), self.ca.path().display().to_string()]);
        }
        words.extend(["-o".to_owned(), self.target.path().display().to_string()]);
        words.extend(self.fault.arguments.iter().chain(more).map(|word| (*word).to_owned()));
        words.extend(self.server.client_arguments(self.transport, self.fault.path));
        words.push(self.url.clone());
        words
    }
}

/// Runs `check` for every row on several threads.
///
/// # Panics
/// Panics with the errors of all rows if there are any.
pub fn check_in_parallel<T: Sync>(
    rows: &[T],
    threads: usize,
    check: impl Fn(&T) -> std::result::Result<(), String> + Sync,
) {
    let next = AtomicUsize::new(0);
    let worker = || {
        let mut errors = Vec::new();
        while let Some(row) = rows.get(next.fetch_add(1, Ordering::SeqCst)) {
            errors.extend(check(row).err());
        }
        errors
    };
    let errors: Vec<String> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(worker)).collect();
        let join = |worker: std::thread::ScopedJoinHandle<'_, Vec<String>>| worker.join();
        workers
            .into_iter()
            .flat_map(|worker| join(worker).unwrap_or_else(|_| vec!["a check panicked".to_owned()]))
            .collect()
    });
    assert!(errors.is_empty(), "{} of {} rows:\n{}", errors.len(), rows.len(), errors.join("\n"));
}

/// Checks the invariants of every table: the number of rows and of cases, unique names, rows without contradictions,
/// and servers that start.
#[cfg(test)]
pub(crate) fn check_table<S: FaultServer>(
    faults: impl IntoIterator<Item = &'static Fault<S>>,
    expected_rows: usize,
    expected_cases: usize,
) {
    use crate::fault::row::FaultCert;

    let good = ServerCert::good().unwrap();
    let (mut names, mut cases) = (std::collections::HashSet::new(), 0);
    for fault in faults {
        let name = fault.name;
        assert!(names.insert(name), "{name} twice");
        cases += FaultCase::all([fault]).len();
        assert!(fault.accepts(fault.exit) && !fault.other_exits.contains(&fault.exit), "{name}");
        assert!(!fault.transports.is_empty(), "{name}");
        assert!(!fault.keeps_part || fault.exit != 0, "{name}");
        let is_plain = fault.transports.contains(&Transport::Plain);
        assert!(fault.cert == FaultCert::Good || !is_plain, "{name}: no certificate in plaintext");
        let (server, ca) = fault.serve(fault.transports[0], &S::fixture(), &good).unwrap();
        let has_own_ca =
            matches!(fault.cert, FaultCert::Expired | FaultCert::NotYetValid | FaultCert::WrongName);
        assert_eq!(ca != good.ca_pem(), has_own_ca, "{name}");
        let path = fault.path.rsplit(':').next().unwrap_or_default();
        assert!(fault.url(&server).ends_with(path), "{name}: {}", fault.url(&server));
    }
    assert_eq!((names.len(), cases), (expected_rows, expected_cases));
}
