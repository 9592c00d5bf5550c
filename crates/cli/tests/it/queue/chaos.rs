//! Workers, servers and connections that fail at random moments.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use fetch_url_tests::{FtpConfig, FtpServer, HttpResponse};

use super::limits::Concurrency;
use super::relay::Relay;
use super::{Running, Site, content};
use crate::support::wait_until;

/// The limit of requests to the web server over all workers.
const LIMIT: &str = "4";
/// The options of the workers.
const OPTIONS: [&str; 7] =
    ["--wait", "--parallel-max-host", LIMIT, "--retry-delay", "0.5", "--max-tries", "1000"];
/// Every fourth line names the FTP server, the others name the web server.
const FTP_SHARE: usize = 4;
/// The time between two failures.
const PAUSE: Duration = Duration::from_millis(400);

/// The queue with its servers and workers. The first worker reaches the NATS server through a relay.
struct Chaos {
    site: Site,
    ftp: FtpServer,
    relay: Relay,
    workers: Vec<Running>,
    is_busy: Arc<AtomicBool>,
    concurrency: Arc<Concurrency>,
    kills: u32,
    restarts: u32,
    cuts: u32,
}

impl Chaos {
    fn start(names: &[String]) -> Option<Self> {
        let concurrency = Arc::new(Concurrency::default());
        let is_busy = Arc::new(AtomicBool::new(false));
        let (counted, busy) = (concurrency.clone(), is_busy.clone());
        let site = Site::start_with(move |path| match busy.load(Ordering::SeqCst) {
            true => HttpResponse::new(503),
            false => counted.answer(path, Duration::from_millis(15)),
        })?;
        let files = names.iter().step_by(FTP_SHARE);
        let config =
            files.fold(FtpConfig::new(), |config, name| config.file(name, content(&format!("/{name}"))));
        let ftp = FtpServer::start(config).expect("a server");
        let relay = Relay::start(&site.nats.address);
        let mut chaos = Self {
            site,
            ftp,
            relay,
            workers: Vec::new(),
            is_busy,
            concurrency,
            kills: 0,
            restarts: 0,
            cuts: 0,
        };
        chaos.add(names);
        chaos.workers = (0..3).map(|index| chaos.spawn(index)).collect();
        Some(chaos)
    }

    fn add(&self, names: &[String]) {
        // The same computer under another name is another host.
        let ftp = format!("ftp://localhost:{}", self.ftp.addr().port());
        let line = |(index, name): (usize, &String)| match index % FTP_SHARE {
            0 => format!("{ftp}/{name}\t{name}\n"),
            _ => format!("{}\t{name}\n", self.site.http.url(name)),
        };
        let lines: String = names.iter().enumerate().map(line).collect();
        fs::write(self.site.directory.path().join("list"), lines).expect("written");
        let add = ["add", &self.site.queue(), "--lease", "1", "--input-file", "list"];
        self.site.run(&add).assert_exit(0);
    }

    fn spawn(&self, index: usize) -> Running {
        let queue = if index == 0 { self.relay.queue("corpus") } else { self.site.queue() };
        self.site.spawn_worker_of(&queue, &OPTIONS)
    }

    /// Lets the next failure happen.
    fn fail(&mut self, round: usize) {
        self.is_busy.store(round % 6 == 3, Ordering::SeqCst);
        // A cut lasts three rounds, longer than the lease.
        self.relay.set_cut(round % 12 >= 8 && round % 12 < 11);
        match round % 6 {
            0 | 4 => {
                let index = (round / 2) % self.workers.len();
                self.workers[index].kill();
                self.workers[index] = self.spawn(index);
                self.kills += 1;
            }
            1 => {
                self.site.nats.restart();
                self.restarts += 1;
            }
            2 if round % 12 == 8 => self.cuts += 1,
            _ => {}
        }
    }

    /// Checks that every line is done once, within the limits.
    fn check(&mut self, names: &[String]) {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        self.is_busy.store(false, Ordering::SeqCst);
        self.relay.set_cut(false);
        self.site.wait_for_count("waiting", |count| count == 0);
        self.site.wait_for_count("in_flight", |count| count == 0);
        self.workers.iter_mut().for_each(Running::kill);
        self.site.check_files(&names);
        assert_eq!((self.site.count("done"), self.site.count("failed")), (names.len() as u64, 0));
        // A killed client leaves its requests at the server for the time of an answer; a worker that is cut off
        // finishes its requests while the next worker has the lines.
        let highest = self.concurrency.highest.load(Ordering::SeqCst);
        assert!(highest <= 12, "{highest} requests at the same moment");
    }
}

#[test]
#[allow(clippy::disallowed_methods, reason = "the long run of this test is chosen by the environment")]
#[allow(clippy::print_stdout, reason = "the long run reports what it has done")]
fn random_kills_restarts_and_cuts_lose_nothing_and_exceed_no_limit() {
    let count =
        std::env::var("FETCH_URL_QUEUE_CHAOS_LINES").ok().and_then(|text| text.parse().ok()).unwrap_or(300);
    let names: Vec<String> = (0..count).map(|number| format!("f{number}")).collect();
    let Some(mut chaos) = Chaos::start(&names) else { return };
    let start = Instant::now();
    let limit = Duration::from_secs(120 + count / 10);
    let mut round = 0;
    let is_done = wait_until(limit, || {
        std::thread::sleep(PAUSE);
        chaos.fail(round);
        round += 1;
        // A run of few lines has each failure, too.
        round > 12 && chaos.site.count("done") == count
    });
    assert!(
        is_done,
        "the queue does not become empty: {}",
        chaos.site.run(&["status", &chaos.site.queue()]).text()
    );
    chaos.check(&names);
    let seconds = start.elapsed().as_secs();
    let Chaos { kills, restarts, cuts, .. } = chaos;
    println!("{count} lines, {kills} kills, {restarts} restarts, {cuts} cuts, {seconds} s");
}
