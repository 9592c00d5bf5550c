//! A host that says it is busy (421, 429, 503) in the middle of a batch: it is asked later and by fewer, others go on,
//! and in the end everything is there.

#![allow(clippy::expect_used, reason = "a helper of tests")]

mod support;

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use fetch_url_tests::{Act, FtpServer, FtpSite, HttpReply, HttpServer, Rule};
use support::{Ran, fetch_in, serving};

/// What is on its way when the word comes that the host is busy.
const GRACE: Duration = Duration::from_millis(150);
/// The first wait when the host does not say for how long: a second, and not the same for all.
const ABOUT_A_SECOND: Duration = Duration::from_millis(750);
/// How long each answer takes, so that several are under way at the same time.
const SERVICE: Duration = Duration::from_millis(25);

fn place() -> tempfile::TempDir {
    tempfile::tempdir().expect("a directory")
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// When something began, and how many were under way then, itself included.
#[derive(Clone, Default)]
struct Gauge {
    now: Arc<AtomicUsize>,
    begun: Arc<Mutex<Vec<(Instant, usize)>>>,
    busy: Arc<Mutex<Vec<Instant>>>,
}

impl Gauge {
    fn begin(&self) {
        let now = self.now.fetch_add(1, Ordering::SeqCst) + 1;
        locked(&self.begun).push((Instant::now(), now));
    }

    fn end(&self) {
        let _ = self.now.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |now| now.checked_sub(1));
    }

    fn say_busy(&self) {
        locked(&self.busy).push(Instant::now());
    }

    fn count(&self) -> usize {
        locked(&self.begun).len()
    }

    /// Of each that began after the first word: how long after it, and how many were under way.
    fn after(&self) -> Vec<(Duration, usize)> {
        let said = *locked(&self.busy).first().expect("it was busy once");
        let begun = locked(&self.begun);
        let after = begun.iter().filter(|(when, _)| *when > said);
        after.map(|(when, now)| (when.saturating_duration_since(said), *now)).collect()
    }

    /// The most at the same time before the first word.
    fn most_before(&self) -> usize {
        let said = *locked(&self.busy).first().expect("it was busy once");
        locked(&self.begun).iter().filter(|(when, _)| *when <= said).map(|(_, now)| *now).max().unwrap_or(0)
    }
}

/// Holds the name of everything. The `nth` request is answered by `busy`.
fn http(nth: usize, busy: HttpReply) -> (HttpServer, Gauge) {
    let gauge = Gauge::default();
    let (own, asked) = (gauge.clone(), AtomicUsize::new(0));
    let server = serving(move |request| {
        own.begin();
        let is_busy = asked.fetch_add(1, Ordering::SeqCst) + 1 == nth;
        sleep(SERVICE);
        own.end();
        if is_busy {
            own.say_busy();
            return busy.clone();
        }
        HttpReply::new(200).body(request.path().trim_start_matches('/').to_owned())
    });
    (server, gauge)
}

fn batch(directory: &Path, lines: &[String], more: &[&str]) -> Ran {
    fs::write(directory.join("list"), lines.join("\n")).expect("a list");
    fetch_in(directory, ["--input-file", "list", "-Z"].iter().chain(more))
}

/// So many names, which begin with a word.
fn all(word: &str, count: usize) -> Vec<String> {
    (0..count).map(|number| format!("{word}{number}")).collect()
}

fn urls(server: &HttpServer, names: &[String]) -> Vec<String> {
    names.iter().map(|name| server.url(name)).collect()
}

#[track_caller]
fn are_there(directory: &Path, names: &[String]) {
    for name in names {
        let content = fs::read_to_string(directory.join(name)).unwrap_or_default();
        assert_eq!(&content, name);
    }
}

/// A wait, in which nobody asks; and those who come first after it are fewer.
#[track_caller]
fn backs_off(gauge: &Gauge, what: &str, wait: Duration) {
    let before = gauge.most_before();
    assert!((4..=8).contains(&before), "{what}: {before} at the same time before");
    let is_early = |time: Duration| time > GRACE && time < wait;
    let (later, now): (Vec<Duration>, Vec<usize>) =
        gauge.after().into_iter().filter(|(time, _)| *time > GRACE).unzip();
    assert!(!later.iter().any(|&time| is_early(time)), "{what}: too early: {later:?}");
    assert!(later.len() > 10, "{what}: {} after the wait", later.len());
    assert!(now[..8].iter().all(|&now| now < 7), "{what}: {before} before, {now:?} after");
}

const EIGHT: [&str; 4] = ["--parallel-max", "16", "--parallel-max-host", "8"];

#[test]
fn http_says_when() {
    thread::scope(|scope| {
        for (status, after) in [(503, Some("1")), (429, Some("1")), (503, None), (429, None)] {
            scope.spawn(move || {
                let reply = HttpReply::new(status);
                let reply = after.into_iter().fold(reply, |reply, after| reply.header("Retry-After", after));
                let wait = after.map_or(ABOUT_A_SECOND, |_| Duration::from_millis(950));
                let (server, gauge) = http(12, reply);
                let (names, here) = (all("f", 40), place());
                let begun = Instant::now();
                let more = [&["--retry", "3"], &EIGHT[..]].concat();
                let ran = batch(here.path(), &urls(&server, &names), &more);
                assert_eq!(ran.exits(0).stderr.matches("busy").count(), 1, "{}", ran.stderr);
                are_there(here.path(), &names);
                backs_off(&gauge, &format!("{status} {after:?}"), wait);
                assert_eq!(gauge.count(), 41);
                assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
            });
        }
    });
}

/// While one host waits the other is asked, and by no fewer than before.
#[track_caller]
fn is_asked_meanwhile(own: usize) {
    let (server, gauge) = http(6, HttpReply::new(503).header("Retry-After", "1"));
    let (other, pace) = http(0, HttpReply::new(200));
    let elsewhere = other.url("").replacen("127.0.0.1", "other.test", 1);
    let resolve = format!("other.test:{}:127.0.0.1", other.addr().port());
    let (names, others, here) = (all("f", own), all("o", 300), place());
    let mut ours = urls(&server, &names).into_iter();
    let mixed = others.iter().flat_map(|name| [ours.next(), Some(format!("{elsewhere}{name}"))]);
    let lines: Vec<String> = mixed.flatten().collect();
    let more = [&["--retry", "3", "--resolve", &resolve], &EIGHT[..]].concat();
    batch(here.path(), &lines, &more).exits(0);
    are_there(here.path(), &others);
    let is_early = |time: Duration| time > GRACE && time < Duration::from_millis(950);
    assert!(!gauge.after().iter().any(|(time, _)| is_early(*time)), "asked before the wait was over");
    let said = *locked(&gauge.busy).first().expect("it was busy once");
    let begun = locked(&pace.begun);
    let is_meanwhile = |when: Instant| when > said + GRACE && when < said + Duration::from_millis(700);
    let meanwhile = begun.iter().filter(|(when, _)| is_meanwhile(*when));
    let most = meanwhile.clone().map(|(_, now)| *now).max();
    assert!(meanwhile.count() >= 60 && most >= Some(6), "at most {most:?} at the same time");
}

#[test]
fn others_go_on() {
    is_asked_meanwhile(7);
}

/// More lines of the busy host than there are workers, and the others behind them.
#[test]
fn others_go_on_beside_many() {
    is_asked_meanwhile(30);
}

/// Busy whenever more than two ask at the same time.
#[test]
fn http_that_serves_two_at_once() {
    let now = AtomicUsize::new(0);
    let server = serving(move |request| {
        let own = now.fetch_add(1, Ordering::SeqCst) + 1;
        sleep(SERVICE);
        now.fetch_sub(1, Ordering::SeqCst);
        if own > 2 {
            return HttpReply::new(503);
        }
        HttpReply::new(200).body(request.path().trim_start_matches('/').to_owned())
    });
    let (names, here) = (all("f", 20), place());
    let more = ["--retry", "3", "--retry-delay", "0.2"];
    batch(here.path(), &urls(&server, &names), &more).exits(0);
    are_there(here.path(), &names);
}

/// Who stays busy is given up, file by file, and the others are fetched.
#[test]
fn busy_for_good() {
    let server = serving(|_| HttpReply::new(503));
    let (other, _) = http(0, HttpReply::new(200));
    let (names, others, here) = (all("f", 6), all("o", 6), place());
    let mut lines = urls(&other, &others);
    lines.extend(urls(&server, &names));
    let begun = Instant::now();
    let ran = batch(here.path(), &lines, &["--retry", "1", "--retry-delay", "0.1"]);
    ran.exits(92);
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
    // One more try each, and perhaps another for a refusal that was for all of them.
    let asked = server.requests().len();
    assert!((12..=18).contains(&asked), "{asked} requests");
    are_there(here.path(), &others);
    assert!(here.path().join(".list.journal").exists());
    // A wait of an hour is not taken, and nobody else waits for it.
    let server = serving(|_| HttpReply::new(429).header("Retry-After", "3600"));
    let lines: Vec<String> = urls(&server, &names).into_iter().chain(urls(&other, &others)).collect();
    for more in [&["--retry", "3"][..], &["--retry", "0"], &["--retry", "3", "--retry-max-time", "1"]] {
        let (here, begun) = (place(), Instant::now());
        batch(here.path(), &lines, more).exits(92);
        assert!(begun.elapsed() < Duration::from_secs(2), "{more:?}: {:?}", begun.elapsed());
        are_there(here.path(), &others);
    }
}

/// Between a client and an FTP server: admits so many sessions, sees every command and reply.
struct Door {
    address: SocketAddr,
    retr: Gauge,
    sessions: Gauge,
}

impl Door {
    fn before(server: SocketAddr, most: usize) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
        let address = listener.local_addr().expect("an address");
        let (retr, sessions) = (Gauge::default(), Gauge::default());
        let shared = (retr.clone(), sessions.clone());
        // It ends with the test's process.
        thread::spawn(move || {
            for client in listener.incoming() {
                let Ok(mut client) = client else { return };
                let (retr, sessions) = (shared.0.clone(), shared.1.clone());
                thread::spawn(move || {
                    sessions.begin();
                    if sessions.now.load(Ordering::SeqCst) > most {
                        sessions.say_busy();
                        let _ = client.write_all(b"421 Too many connections from your address.\r\n");
                    } else if let Ok(server) = TcpStream::connect(server) {
                        talk(&client, &server, &retr);
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

/// Both ways, until one of the two ends.
fn talk(client: &TcpStream, server: &TcpStream, retr: &Gauge) {
    thread::scope(|scope| {
        scope.spawn(|| {
            pass(client, server, |octets| {
                lines_with(octets, b"RETR ").for_each(|()| retr.begin());
            });
        });
        pass(server, client, |octets| {
            lines_with(octets, b"421 ").for_each(|()| {
                retr.say_busy();
                retr.end();
            });
            lines_with(octets, b"226 ").for_each(|()| retr.end());
        });
    });
}

fn lines_with<'a>(octets: &'a [u8], word: &'a [u8]) -> impl Iterator<Item = ()> + 'a {
    octets.split(|&octet| octet == b'\n').filter(move |line| line.starts_with(word)).map(|_| ())
}

fn pass(mut from: &TcpStream, mut to: &TcpStream, see: impl Fn(&[u8])) {
    let mut buffer = [0; 4096];
    while let Ok(count @ 1..) = from.read(&mut buffer) {
        see(&buffer[..count]);
        if to.write_all(&buffer[..count]).is_err() {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Both);
    let _ = from.shutdown(Shutdown::Both);
}

fn ftp_site(names: &[String]) -> FtpSite {
    let site = FtpSite::new().anonymous().rule(Rule::on("RETR", Act::Drip(1, Duration::from_millis(8))));
    names.iter().fold(site, |site, name| site.file(format!("/{name}"), name.as_bytes()))
}

/// A session is told to go at its first file: no idle one that has been there for too long.
#[test]
fn ftp_says_421() {
    let (names, here) = (all("f", 40), place());
    let busy = Act::Answer(b"421 Too busy, come back later.\r\n".into());
    let pause = Rule::on("RETR", Act::Pause(Duration::from_millis(20))).nth(4);
    let site = ftp_site(&names).rule(pause).rule(Rule::on("RETR", busy).nth(4));
    let server = FtpServer::start(site).expect("a server");
    let door = Door::before(server.addr(), 100);
    let more = [&["--retry", "3"], &EIGHT[..]].concat();
    batch(here.path(), &door.urls(&names), &more).exits(0);
    are_there(here.path(), &names);
    backs_off(&door.retr, "421", ABOUT_A_SECOND);
}

fn two_sessions(more: &[&str]) {
    let (names, here) = (all("f", 20), place());
    let server = FtpServer::start(ftp_site(&names)).expect("a server");
    let door = Door::before(server.addr(), 2);
    let begun = Instant::now();
    batch(here.path(), &door.urls(&names), more).exits(0);
    are_there(here.path(), &names);
    assert!(begun.elapsed() < Duration::from_secs(15), "{:?}", begun.elapsed());
    // Not knocked at again and again by sixteen.
    let knocks = door.sessions.count();
    assert!(knocks <= 40, "{knocks} sessions were tried");
}

#[test]
fn ftp_that_allows_two_sessions() {
    two_sessions(&["--retry", "3"]);
}

/// Those who were refused do not come back all at once.
#[test]
fn ftp_that_allows_two_sessions_and_a_fixed_delay() {
    two_sessions(&["--retry", "3", "--retry-delay", "0.2"]);
}

/// `--fail-early` asks for nothing more, not even for what waits for a busy host.
#[test]
fn what_waits_is_left_when_it_stops_early() {
    let server = serving(|_| HttpReply::new(503));
    let (names, here) = (all("f", 30), place());
    let more = ["--retry", "0", "--fail-early", "--parallel-max-host", "2"];
    batch(here.path(), &urls(&server, &names), &more).exits(92);
    let asked = server.requests().len();
    assert!(asked <= 4, "{asked} requests");
}
