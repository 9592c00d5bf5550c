//! Downloads a URL from a scripted peer into a file, and checks what holds for every protocol: the directory has the
//! file after success and nothing after an error, no other connection than those to the origin gets its password, and the
//! download ends within its total time.

use std::fs;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use fetch_url::network::ConnectTo;
use fetch_url::output::{FileOptions, SyncMode};
use fetch_url::url::Host;
use fetch_url::{Credential, Credentials, Error, Fetcher, Policy, Proof, Request};
use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};
use tokio::task::LocalSet;
use tokio::time::Instant;

use super::peer::{ConnectionLog, Listeners, Peer, Ports};
use super::script::Script;

/// The password for the origin. It does not begin with a hexadecimal digit, so that no escape before it hides it.
const PASSWORD: &str = "sesame";
/// `me:sesame` in Base64.
const BASIC: &str = "bWU6c2VzYW1l";
/// Maximum time without data.
const IDLE_TIME: Duration = Duration::from_secs(5);
/// Maximum time of a request, without the time to clean up.
const TOTAL_TIME: Duration = Duration::from_secs(20);
/// Maximum time to close connections and remove files after the end of the request.
const CLEAN_UP_TIME: Duration = Duration::from_secs(1);
/// Maximum size of an object in bytes. Inputs are shorter, and content codings are limited.
const MAX_SIZE: u64 = 1 << 22;

/// The end of a run.
#[derive(Debug)]
pub(super) struct Finished {
    /// The content of the file, and how its end was detected.
    pub(super) result: Result<(Vec<u8>, Proof), Error>,
    pub(super) connections: Vec<ConnectionLog>,
}

impl Finished {
    /// Returns the connections to the first or to the second listener.
    pub(super) fn to(&self, is_second: bool) -> Vec<&ConnectionLog> {
        self.connections.iter().filter(|connection| connection.is_second == is_second).collect()
    }
}

/// Plays `script` under paused time, which passes only while client and server wait, and downloads the URL that `request`
/// builds. `retries` is the maximum number of retries.
pub(super) fn download(
    script: &Script,
    retries: u32,
    request: impl Fn(Ports) -> Result<Request, Error>,
) -> Finished {
    thread_local!(static SETUP: Setup = Setup::new());
    SETUP.with(|setup| setup.download(script, retries, request))
}

/// The runtime, the directory and the listeners of all runs of a thread. To create them takes longer than a run.
struct Setup {
    runtime: Runtime,
    directory: TempDir,
    listeners: Listeners,
}

impl Setup {
    fn new() -> Self {
        let runtime = Builder::new_current_thread().enable_all().start_paused(true).build();
        let listeners = Listeners::bind().expect("two ports");
        Self { runtime: runtime.expect("a runtime"), directory: memory_directory(), listeners }
    }

    fn download(
        &self,
        script: &Script,
        retries: u32,
        request: impl Fn(Ports) -> Result<Request, Error>,
    ) -> Finished {
        let directory = self.directory.path();
        let (result, connections) = LocalSet::new().block_on(&self.runtime, async {
            let peer = Peer::start(script, &self.listeners);
            let started = Instant::now();
            let result = run(peer.ports, directory, retries, request).await;
            assert!(started.elapsed() <= TOTAL_TIME + CLEAN_UP_TIME, "{:?} to {result:?}", started.elapsed());
            let connections = peer.log.borrow().clone();
            (result, connections)
        });
        self.listeners.drop_waiting();
        let finished = Finished { result: check_directory(directory, result), connections };
        check_secrets(&finished);
        finished
    }
}

async fn run(
    ports: Ports,
    directory: &Path,
    retries: u32,
    request: impl Fn(Ports) -> Result<Request, Error>,
) -> Result<Proof, Error> {
    let origins = ["http", "ftp", "gopher", "nntp", "wais"];
    let mut credentials = Credentials::default();
    for origin in origins.map(|scheme| format!("{scheme}://127.0.0.1:{}/", ports.first)) {
        // A scheme without passwords has no credentials.
        if let Ok(known) = credentials.clone().for_origin(&origin, Credential::login("me", PASSWORD)) {
            credentials = known;
        }
    }
    let mut policy = Policy::default().total_timeout(TOTAL_TIME).read_timeout(IDLE_TIME).max_size(MAX_SIZE);
    policy.network.routes.connect_to = routes(ports);
    policy.retry.max_retries = retries;
    policy.retry.delay = Some(Duration::ZERO);
    let fetcher = Fetcher::builder().policy(policy).credentials(credentials).build();
    let mut options = FileOptions::default();
    options.sync = SyncMode::Never;
    Ok(fetcher.download(request(ports)?, directory.join("out")).options(options).await?.proof)
}

/// Returns routes that lead the first server's address to itself, and every other one to the second listener. So no name is
/// resolved, and no other server is contacted.
fn routes(ports: Ports) -> Vec<ConnectTo> {
    let loopback = || Some(Host::V4(Ipv4Addr::LOCALHOST));
    let first = ConnectTo { host: loopback(), port: Some(ports.first), to_host: None, to_port: None };
    let others = ConnectTo { host: None, port: None, to_host: loopback(), to_port: Some(ports.second) };
    vec![first, others]
}

/// Checks the names in the directory, removes the file and returns its content.
fn check_directory(directory: &Path, result: Result<Proof, Error>) -> Result<(Vec<u8>, Proof), Error> {
    let entries = fs::read_dir(directory).expect("a directory");
    let names: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    match result {
        Ok(proof) => {
            let path = directory.join("out");
            assert_eq!(names, std::slice::from_ref(&path));
            let content = fs::read(&path).expect("the file");
            fs::remove_file(path).expect("the file");
            Ok((content, proof))
        }
        Err(error) => {
            assert!(names.is_empty(), "{names:?} after {error}");
            Err(error)
        }
    }
}

fn check_secrets(finished: &Finished) {
    let has_password = |connection: &&ConnectionLog| {
        let text = String::from_utf8_lossy(&connection.received);
        text.contains(PASSWORD) || text.contains(BASIC)
    };
    assert!(!finished.to(true).iter().any(has_password), "a password at another server");
    // A server that did not get the password can guess it.
    let is_sent = finished.to(false).iter().any(has_password);
    if let (true, Err(error)) = (is_sent, &finished.result) {
        assert!(!error.to_string().contains(PASSWORD), "{error}");
    }
}

/// Returns a directory in memory, if there is one.
fn memory_directory() -> TempDir {
    let in_memory = tempfile::tempdir_in("/dev/shm");
    in_memory.or_else(|_| tempfile::tempdir()).expect("a directory")
}

/// Returns `true` if `part` can be made from `whole` by leaving out bytes.
pub(super) fn is_subsequence(part: &[u8], whole: &[u8]) -> bool {
    let mut rest = whole.iter();
    part.iter().all(|byte| rest.any(|other| other == byte))
}

/// Returns what all connections sent.
pub(super) fn all_sent(finished: &Finished) -> Vec<u8> {
    finished.connections.iter().flat_map(|connection| connection.sent.clone()).collect()
}
