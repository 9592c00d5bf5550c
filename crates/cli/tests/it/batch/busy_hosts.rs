//! Busy hosts in a batch (status 429 and 503, FTP reply 421): fetch-url waits, sends fewer parallel requests to the
//! busy host, continues with other hosts, and finally downloads every file.

use std::io::Read as _;
use std::io::Write as _;
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::Stdio;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::sleep;
use std::time::{Duration, Instant};
use std::{fs, thread};

use crate::support::{
    RunResult, fetch_url_command, http_server, run_fetch_url_in, temp_dir, wait_for_exit, wait_until,
};
use fetch_url_tests::{FtpAction, FtpConfig, FtpRule, FtpServer, HttpResponse, HttpServer};

/// Requests that start within this time after the busy response may have been sent before it arrived.
const IN_FLIGHT_TIME: Duration = Duration::from_millis(150);
/// The minimum of the first delay without Retry-After: one second with jitter.
const MIN_FIRST_DELAY: Duration = Duration::from_millis(750);
/// The duration of each response, so that several requests are active at the same time.
const RESPONSE_TIME: Duration = Duration::from_millis(25);

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Records when requests (or connections) start, how many are active at that time, and when the server reports that
/// it is busy.
#[derive(Clone, Default)]
struct LoadRecorder {
    active: Arc<AtomicUsize>,
    starts: Arc<Mutex<Vec<(Instant, usize)>>>,
    busy: Arc<Mutex<Vec<Instant>>>,
}

impl LoadRecorder {
    fn begin(&self) {
        let active = self.active.fetch_add(1, Ordering::SeqCst) + 1;
        lock(&self.starts).push((Instant::now(), active));
    }

    fn end(&self) {
        let _ = self.active.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |active| active.checked_sub(1));
    }

    fn record_busy(&self) {
        lock(&self.busy).push(Instant::now());
    }

    fn count(&self) -> usize {
        lock(&self.starts).len()
    }

    /// Returns for each start after the first busy response: the time since that response and the number of active
    /// requests.
    fn starts_after_busy(&self) -> Vec<(Duration, usize)> {
        let first_busy = *lock(&self.busy).first().expect("a busy response");
        let starts = lock(&self.starts);
        let later = starts.iter().filter(|(time, _)| *time > first_busy);
        later.map(|(time, active)| (time.saturating_duration_since(first_busy), *active)).collect()
    }

    /// Returns the maximum number of active requests before the first busy response.
    fn max_active_before_busy(&self) -> usize {
        let first_busy = *lock(&self.busy).first().expect("a busy response");
        lock(&self.starts)
            .iter()
            .filter(|(time, _)| *time <= first_busy)
            .map(|(_, active)| *active)
            .max()
            .unwrap_or(0)
    }
}

/// Starts an HTTP server that answers the `nth` request with `busy`; the content of every file is its name.
fn server_busy_at(nth: usize, busy: HttpResponse) -> (HttpServer, LoadRecorder) {
    let load = LoadRecorder::default();
    let (server_load, request_count) = (load.clone(), AtomicUsize::new(0));
    let server = http_server(move |request| {
        server_load.begin();
        let is_busy = request_count.fetch_add(1, Ordering::SeqCst) + 1 == nth;
        sleep(RESPONSE_TIME);
        server_load.end();
        if is_busy {
            server_load.record_busy();
            return busy.clone();
        }
        HttpResponse::new(200).body(request.path().trim_start_matches('/').to_owned())
    });
    (server, load)
}

fn batch(directory: &Path, lines: &[String], options: &[&str]) -> RunResult {
    fs::write(directory.join("list"), lines.join("\n")).expect("a list");
    run_fetch_url_in(directory, ["--input-file", "list", "-Z"].iter().chain(options))
}

/// Returns `count` names: `prefix` and a number.
fn numbered_names(prefix: &str, count: usize) -> Vec<String> {
    (0..count).map(|number| format!("{prefix}{number}")).collect()
}

fn urls(server: &HttpServer, names: &[String]) -> Vec<String> {
    names.iter().map(|name| server.url(name)).collect()
}

#[track_caller]
fn assert_files(directory: &Path, names: &[String]) {
    for name in names {
        let content = fs::read_to_string(directory.join(name)).unwrap_or_default();
        assert_eq!(&content, name);
    }
}

/// Checks that no request is sent during `wait` after the busy response, and that fewer requests are active
/// afterwards.
#[track_caller]
fn assert_backoff(load: &LoadRecorder, case: &str, wait: Duration) {
    let max_before = load.max_active_before_busy();
    assert!((4..=8).contains(&max_before), "{case}: {max_before} active requests before");
    let is_early = |time: Duration| time > IN_FLIGHT_TIME && time < wait;
    let (later, active): (Vec<Duration>, Vec<usize>) =
        load.starts_after_busy().into_iter().filter(|(time, _)| *time > IN_FLIGHT_TIME).unzip();
    assert!(!later.iter().any(|&time| is_early(time)), "{case}: requests during the wait: {later:?}");
    assert!(later.len() > 10, "{case}: only {} requests after the wait", later.len());
    assert!(active[..8].iter().all(|&active| active < 7), "{case}: {max_before} before, {active:?} after");
}

const EIGHT_PER_HOST: [&str; 4] = ["--parallel-max", "16", "--parallel-max-host", "8"];

#[test]
fn busy_http_host_gets_no_request_for_retry_after_or_one_second() {
    thread::scope(|scope| {
        for (status, later) in [(503, Some("1")), (429, Some("1")), (503, None), (429, None)] {
            scope.spawn(move || {
                let reply = HttpResponse::new(status);
                let reply = later.into_iter().fold(reply, |reply, later| reply.header("Retry-After", later));
                let wait = later.map_or(MIN_FIRST_DELAY, |_| Duration::from_millis(950));
                let (server, load) = server_busy_at(12, reply);
                let (names, dir) = (numbered_names("f", 40), temp_dir());
                let start = Instant::now();
                let options = [&["--retry", "3"], &EIGHT_PER_HOST[..]].concat();
                let result = batch(dir.path(), &urls(&server, &names), &options);
                assert_eq!(result.assert_exit(0).stderr.matches("busy").count(), 1, "{}", result.stderr);
                assert_files(dir.path(), &names);
                assert_backoff(&load, &format!("{status} {later:?}"), wait);
                assert_eq!(load.count(), 41);
                assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
            });
        }
    });
}

/// Mixes `busy_count` URLs of a busy host with 300 URLs of another host, which must not get fewer parallel requests.
#[track_caller]
fn check_other_host_continues(busy_count: usize) {
    let (server, load) = server_busy_at(6, HttpResponse::new(503).header("Retry-After", "3"));
    let (other, other_load) = server_busy_at(0, HttpResponse::new(200));
    let other_url = other.url("").replacen("127.0.0.1", "other.test", 1);
    let resolve = format!("other.test:{}:127.0.0.1", other.addr().port());
    let (names, others, dir) = (numbered_names("f", busy_count), numbered_names("o", 300), temp_dir());
    let mut busy_urls = urls(&server, &names).into_iter();
    let mixed = others.iter().flat_map(|name| [busy_urls.next(), Some(format!("{other_url}{name}"))]);
    let lines: Vec<String> = mixed.flatten().collect();
    let options = [&["--retry", "3", "--resolve", &resolve], &EIGHT_PER_HOST[..]].concat();
    batch(dir.path(), &lines, &options).assert_exit(0);
    assert_files(dir.path(), &others);
    let is_early = |time: Duration| time > IN_FLIGHT_TIME && time < Duration::from_millis(2950);
    assert!(
        !load.starts_after_busy().iter().any(|(time, _)| is_early(*time)),
        "the busy host gets a request during the wait"
    );
    let first_busy = *lock(&load.busy).first().expect("a busy response");
    let starts = lock(&other_load.starts);
    let is_during_wait =
        |time: Instant| time > first_busy + IN_FLIGHT_TIME && time < first_busy + Duration::from_millis(2700);
    let during_wait = starts.iter().filter(|(time, _)| is_during_wait(*time));
    let max_active = during_wait.clone().map(|(_, active)| *active).max();
    assert!(during_wait.count() >= 60 && max_active >= Some(6), "at most {max_active:?} active requests");
}

#[test]
fn other_host_continues_while_one_is_busy() {
    check_other_host_continues(7);
}

/// In the list, the lines of the busy host come first, and they are more than there are workers.
#[test]
fn other_host_continues_when_all_workers_have_busy_urls() {
    check_other_host_continues(30);
}

/// The server answers 503 while more than two requests are active.
#[test]
fn all_files_arrive_from_server_that_allows_two_requests() {
    let active = AtomicUsize::new(0);
    let server = http_server(move |request| {
        let server_load = active.fetch_add(1, Ordering::SeqCst) + 1;
        sleep(RESPONSE_TIME);
        active.fetch_sub(1, Ordering::SeqCst);
        if server_load > 2 {
            return HttpResponse::new(503);
        }
        HttpResponse::new(200).body(request.path().trim_start_matches('/').to_owned())
    });
    let (names, dir) = (numbered_names("f", 20), temp_dir());
    let options = ["--retry", "3", "--retry-delay", "0.2"];
    batch(dir.path(), &urls(&server, &names), &options).assert_exit(0);
    assert_files(dir.path(), &names);
}

/// Each file of a host that stays busy fails after its retries; the files of the other host are downloaded.
#[test]
fn host_that_stays_busy_fails_without_delaying_others() {
    let server = http_server(|_| HttpResponse::new(503));
    let (other, _) = server_busy_at(0, HttpResponse::new(200));
    let (names, others, dir) = (numbered_names("f", 6), numbered_names("o", 6), temp_dir());
    let mut lines = urls(&other, &others);
    lines.extend(urls(&server, &names));
    let start = Instant::now();
    let result = batch(dir.path(), &lines, &["--retry", "1", "--retry-delay", "0.1"]);
    result.assert_exit(92);
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    // One retry for each of 6 files, and at most one more for a response that counted for all of them.
    let request_count = server.requests().len();
    assert!((12..=18).contains(&request_count), "{request_count} requests");
    assert_files(dir.path(), &others);
    assert!(dir.path().join(".list.journal").exists());
    // A file whose Retry-After is an hour fails at once; other hosts are not delayed.
    let server = http_server(|_| HttpResponse::new(429).header("Retry-After", "3600"));
    let lines: Vec<String> = urls(&server, &names).into_iter().chain(urls(&other, &others)).collect();
    for options in [&["--retry", "3"][..], &["--retry", "0"], &["--retry", "3", "--retry-max-time", "1"]] {
        let (dir, start) = (temp_dir(), Instant::now());
        batch(dir.path(), &lines, options).assert_exit(92);
        assert!(start.elapsed() < Duration::from_secs(2), "{options:?}: {:?}", start.elapsed());
        assert_files(dir.path(), &others);
    }
}

/// A TCP proxy before an FTP server: it limits the number of sessions and records RETR commands and replies.
struct FtpProxy {
    address: SocketAddr,
    retr: LoadRecorder,
    sessions: LoadRecorder,
}

impl FtpProxy {
    fn start(server: SocketAddr, max_sessions: usize) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
        let address = listener.local_addr().expect("an address");
        let (retr, sessions) = (LoadRecorder::default(), LoadRecorder::default());
        let shared = (retr.clone(), sessions.clone());
        // The thread ends with the test process.
        thread::spawn(move || {
            for client in listener.incoming() {
                let Ok(mut client) = client else { return };
                let (retr, sessions) = (shared.0.clone(), shared.1.clone());
                thread::spawn(move || {
                    sessions.begin();
                    if sessions.active.load(Ordering::SeqCst) > max_sessions {
                        sessions.record_busy();
                        let _ = client.write_all(b"421 Too many connections from your address.\r\n");
                    } else if let Ok(server) = TcpStream::connect(server) {
                        forward_session(&client, &server, &retr);
                    }
                    sessions.end();
                });
            }
        });
        Self { address, retr, sessions }
    }

    fn urls(&self, names: &[String]) -> Vec<String> {
        names.iter().map(|name| format!("ftp://{}/{name}", self.address)).collect()
    }
}

/// Forwards data in both directions until one side closes.
fn forward_session(client: &TcpStream, server: &TcpStream, retr: &LoadRecorder) {
    thread::scope(|scope| {
        scope.spawn(|| {
            forward(client, server, |bytes| {
                lines_with(bytes, b"RETR ").for_each(|()| retr.begin());
            });
        });
        forward(server, client, |bytes| {
            lines_with(bytes, b"421 ").for_each(|()| {
                retr.record_busy();
                retr.end();
            });
            lines_with(bytes, b"226 ").for_each(|()| retr.end());
        });
    });
}

/// Returns one item for each line that starts with `word`.
fn lines_with<'a>(bytes: &'a [u8], word: &'a [u8]) -> impl Iterator<Item = ()> + 'a {
    bytes.split(|&byte| byte == b'\n').filter(move |line| line.starts_with(word)).map(|_| ())
}

fn forward(mut from: &TcpStream, mut to: &TcpStream, inspect: impl Fn(&[u8])) {
    let mut buffer = [0; 4096];
    while let Ok(count @ 1..) = from.read(&mut buffer) {
        inspect(&buffer[..count]);
        if to.write_all(&buffer[..count]).is_err() {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Both);
    let _ = from.shutdown(Shutdown::Both);
}

fn ftp_site(names: &[String]) -> FtpConfig {
    let site =
        FtpConfig::new().anonymous().rule(FtpRule::on("RETR", FtpAction::Drip(1, Duration::from_millis(8))));
    names.iter().fold(site, |site, name| site.file(format!("/{name}"), name.as_bytes()))
}

/// 421 is the reply to the first RETR of a session; as a reply in an idle session it would only close the session.
#[test]
fn busy_ftp_host_gets_no_request_for_one_second_after_421() {
    let (names, dir) = (numbered_names("f", 40), temp_dir());
    let busy = FtpAction::Answer(b"421 Too busy, come back later.\r\n".into());
    let pause = FtpRule::on("RETR", FtpAction::Pause(Duration::from_millis(20))).nth(4);
    let site = ftp_site(&names).rule(pause).rule(FtpRule::on("RETR", busy).nth(4));
    let server = FtpServer::start(site).expect("a server");
    let proxy = FtpProxy::start(server.addr(), 100);
    let options = [&["--retry", "3"], &EIGHT_PER_HOST[..]].concat();
    batch(dir.path(), &proxy.urls(&names), &options).assert_exit(0);
    assert_files(dir.path(), &names);
    assert_backoff(&proxy.retr, "421", MIN_FIRST_DELAY);
}

fn check_two_sessions_are_enough(options: &[&str]) {
    let (names, dir) = (numbered_names("f", 20), temp_dir());
    let server = FtpServer::start(ftp_site(&names)).expect("a server");
    let proxy = FtpProxy::start(server.addr(), 2);
    let start = Instant::now();
    batch(dir.path(), &proxy.urls(&names), options).assert_exit(0);
    assert_files(dir.path(), &names);
    assert!(start.elapsed() < Duration::from_secs(15), "{:?}", start.elapsed());
    // Refused workers wait before they connect again, so the number of connections is limited.
    let connections = proxy.sessions.count();
    assert!(connections <= 40, "{connections} connections");
}

#[test]
fn all_files_arrive_from_ftp_server_with_two_sessions() {
    check_two_sessions_are_enough(&["--retry", "3"]);
}

/// With a fixed delay, refused workers do not all connect again at the same time.
#[test]
fn all_files_arrive_from_ftp_server_with_two_sessions_and_fixed_delay() {
    check_two_sessions_are_enough(&["--retry", "3", "--retry-delay", "0.2"]);
}

/// After a failure with `--fail-early` no request is sent, not even for files that wait for a busy host.
#[test]
fn fail_early_cancels_files_that_wait_for_busy_host() {
    let server = http_server(|_| HttpResponse::new(503));
    let (names, dir) = (numbered_names("f", 30), temp_dir());
    let options = ["--retry", "0", "--fail-early", "--parallel-max-host", "2"];
    batch(dir.path(), &urls(&server, &names), &options).assert_exit(92);
    let request_count = server.requests().len();
    assert!(request_count <= 4, "{request_count} requests");
}

/// The input ends within a millisecond of the end of the wait, when the second URL waits for the host.
#[test]
fn batch_ends_when_its_input_ends_together_with_the_wait_of_a_host() {
    for trial in 0..12 {
        let server = http_server(|request| match request.path().as_str() {
            "/busy" => HttpResponse::new(503),
            _ => HttpResponse::new(200).body("x"),
        });
        let dir = temp_dir();
        let mut command = fetch_url_command();
        command
            .args(["-s", "--retry", "0", "--retry-delay", "0.2", "--input-file", "-"])
            .current_dir(dir.path());
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the binary can be started");
        let mut input = child.stdin.take().expect("a pipe");
        writeln!(input, "{}\n{}", server.url("/busy"), server.url("/free")).expect("written");
        assert!(wait_until(Duration::from_secs(10), || server.requests().len() == 1));
        sleep(Duration::from_millis(200) + Duration::from_micros(150 * trial));
        drop(input);
        assert_eq!(wait_for_exit(child).exit, 92, "{trial}");
        assert_eq!(server.requests().len(), 2);
    }
}
