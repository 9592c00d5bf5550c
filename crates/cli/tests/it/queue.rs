//! `fetch-url queue`: lines, workers and results on a private NATS server.

mod bad_input;
mod chaos;
mod files;
mod limits;
mod logins;
mod nats;
mod options;
mod relay;
mod retries;
mod workers;

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use fetch_url_tests::{HttpResponse, HttpServer};
use tempfile::TempDir;

use self::nats::{NatsServer, wait_for};
use crate::support::{RunResult, fetch_url_command, run_command};

/// The maximum time for a number of the status to change.
const TIME_LIMIT: std::time::Duration = std::time::Duration::from_secs(20);

impl RunResult {
    /// Returns standard output as text.
    fn text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }
}

/// A server of files, a NATS server, an output directory and a list.
struct Site {
    nats: NatsServer,
    http: HttpServer,
    directory: TempDir,
}

/// The content of the file `path`: several thousand bytes that no other file has.
fn content(path: &str) -> Vec<u8> {
    path.bytes().cycle().take(5000 + path.len()).collect()
}

impl Site {
    /// Starts the servers. Returns `None` if nats-server is not installed.
    fn start() -> Option<Self> {
        Self::start_with(|path| match path {
            path if path.contains("missing") => HttpResponse::new(404),
            path => HttpResponse::new(200).body(content(path)),
        })
    }

    fn start_with(answer: impl Fn(&str) -> HttpResponse + Send + Sync + 'static) -> Option<Self> {
        Some(Self::on(NatsServer::start()?, answer))
    }

    /// Starts the server of files beside this NATS server.
    fn on(nats: NatsServer, answer: impl Fn(&str) -> HttpResponse + Send + Sync + 'static) -> Self {
        let http = HttpServer::start(move |request| answer(&request.path())).expect("a server");
        let directory = tempfile::tempdir().expect("a directory");
        fs::create_dir(directory.path().join("out")).expect("created");
        Self { nats, http, directory }
    }

    fn queue(&self) -> String {
        self.nats.queue("corpus")
    }

    fn out(&self) -> PathBuf {
        self.directory.path().join("out")
    }

    /// Writes a list of the files `names`.
    fn list(&self, names: &[&str]) -> PathBuf {
        let path = self.directory.path().join("list");
        let lines: Vec<String> =
            names.iter().map(|name| format!("{}\t{name}\n", self.http.url(name))).collect();
        fs::write(&path, lines.concat()).expect("written");
        path
    }

    /// Adds the files `names` to a queue with a short lease. Returns what is printed.
    fn add(&self, names: &[&str]) -> String {
        let list = self.list(names);
        let result =
            self.run(&["add", &self.queue(), "--lease", "1", "--input-file", list.to_str().expect("a path")]);
        assert_eq!(result.exit, 0, "{}", result.stderr);
        result.text()
    }

    fn run(&self, arguments: &[&str]) -> RunResult {
        run_queue(self.directory.path(), arguments)
    }

    /// Runs a worker until the queue is empty.
    fn work(&self, options: &[&str]) -> RunResult {
        let mut command = self.worker(options);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        run_command(command)
    }

    fn worker(&self, options: &[&str]) -> Command {
        self.worker_of(&self.queue(), options)
    }

    fn worker_of(&self, queue: &str, options: &[&str]) -> Command {
        let mut command = fetch_url_command();
        command.current_dir(self.directory.path());
        command.args(["queue", "work", queue, "--output-dir", "out", "-Z"]).args(options);
        command
    }

    /// Starts a worker in the background.
    fn spawn_worker(&self, options: &[&str]) -> Running {
        self.spawn_worker_of(&self.queue(), options)
    }

    /// Starts a worker in the background that reaches the queue by this address.
    fn spawn_worker_of(&self, queue: &str, options: &[&str]) -> Running {
        let mut command = self.worker_of(queue, options);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        Running(command.spawn().expect("it starts"))
    }

    /// Returns a number of the status.
    fn count(&self, name: &str) -> u64 {
        let result = self.run(&["status", &self.queue(), "--format", "json"]);
        assert_eq!(result.exit, 0, "{}", result.stderr);
        let text = result.text();
        let rest = text.split(&format!("\"{name}\":")).nth(1).expect("a number");
        rest.chars().take_while(char::is_ascii_digit).collect::<String>().parse().expect("a number")
    }

    fn wait_for_count(&self, name: &str, is_enough: impl Fn(u64) -> bool) {
        let start = std::time::Instant::now();
        while !is_enough(self.count(name)) {
            let status = || self.run(&["status", &self.queue()]).text();
            assert!(start.elapsed() < TIME_LIMIT, "waited for {name}: {}", status());
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    }

    /// Checks that the output directory has these files with their content, and nothing else but its marker.
    fn check_files(&self, names: &[&str]) {
        for name in names {
            let read = fs::read(self.out().join(name)).expect("the file exists");
            assert!(read == content(&format!("/{name}")), "{name} has other bytes");
        }
        let entries = fs::read_dir(self.out()).expect("a directory").map(|entry| entry.expect("an entry"));
        let names_found: Vec<String> =
            entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        let expected: HashSet<&str> = names.iter().copied().collect();
        let others: Vec<_> = names_found
            .iter()
            .filter(|name| !expected.contains(name.as_str()) && *name != ".fetch-url-queue")
            .collect();
        assert!(others.is_empty(), "left over: {others:?}");
    }
}

/// A worker in the background. It is killed when dropped.
struct Running(Child);

impl Running {
    /// Ends the worker as kill -9 does.
    fn kill(&mut self) {
        self.0.kill().expect("killed");
        self.0.wait().expect("ended");
    }

    fn wait(&mut self) -> Option<i32> {
        self.0.wait().expect("ended").code()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _killed = self.0.kill();
        let _ended = self.0.wait();
    }
}

fn run_queue(directory: &Path, arguments: &[&str]) -> RunResult {
    let mut command = fetch_url_command();
    command.current_dir(directory).arg("queue").args(arguments);
    run_command(command)
}

#[test]
fn list_that_is_added_twice_adds_nothing() {
    let Some(site) = Site::start() else { return };
    let added = site.add(&["a", "b", "a"]);
    assert_eq!(added, "added 2; already waiting 1; already done 0; already failed 0\n");
    assert_eq!(site.add(&["a", "b"]), "added 0; already waiting 2; already done 0; already failed 0\n");
    assert_eq!(site.work(&[]).exit, 0);
    site.check_files(&["a", "b"]);
    assert_eq!(site.add(&["a", "b", "c"]), "added 1; already waiting 0; already done 2; already failed 0\n");
    assert_eq!((site.count("waiting"), site.count("done"), site.count("failed")), (1, 2, 0));
}

#[test]
fn failed_lines_are_listed_for_input_file_and_retried() {
    let Some(site) = Site::start() else { return };
    site.add(&["a", "missing"]);
    let worked = site.work(&[]);
    assert_eq!(worked.exit, 78, "{}", worked.stderr);
    assert_eq!((site.count("done"), site.count("failed")), (1, 1));
    let failed = site.run(&["failed", &site.queue()]).text();
    let line = format!("{}\tmissing\n", site.http.url("missing"));
    assert!(failed.starts_with("# 78 not_found, 1 try: ") && failed.ends_with(&line), "{failed}");
    fs::write(site.directory.path().join("failed"), &failed).expect("written");
    let fed = site.run(&["add", &site.queue(), "--input-file", "failed"]).text();
    assert_eq!(fed, "added 0; already waiting 0; already done 0; already failed 1\n");

    let retried = site.run(&["failed", &site.queue(), "--retry"]);
    assert_eq!(retried.text(), "added 1 again; already waiting 0; already done 0\n");
    assert_eq!((site.count("waiting"), site.count("failed")), (1, 0));
    assert_eq!(site.work(&[]).exit, 78);
    assert_eq!((site.count("done"), site.count("failed"), site.count("waiting")), (1, 1, 0));
}

#[test]
fn retried_line_that_succeeds_is_done_and_not_failed() {
    let is_there = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let seen = is_there.clone();
    let answer = move |path: &str| match seen.load(std::sync::atomic::Ordering::SeqCst) {
        true => HttpResponse::new(200).body(content(path)),
        false => HttpResponse::new(404),
    };
    let Some(site) = Site::start_with(answer) else { return };
    site.add(&["a"]);
    site.work(&[]);
    is_there.store(true, std::sync::atomic::Ordering::SeqCst);
    site.run(&["failed", &site.queue(), "--retry"]);
    assert_eq!(site.work(&[]).exit, 0);
    site.check_files(&["a"]);
    assert_eq!((site.count("done"), site.count("failed")), (1, 0));
    assert_eq!(site.run(&["failed", &site.queue()]).text(), "");
}

#[test]
fn line_with_a_wrong_checksum_fails_and_the_next_url_of_a_line_is_tried() {
    let Some(site) = Site::start() else { return };
    let wrong = format!("{}\tx\tmd5:900150983cd24fb0d6963f7d28e17f72\n", site.http.url("a"));
    let several = format!("{} {}\tb\n", site.http.url("missing"), site.http.url("b"));
    fs::write(site.directory.path().join("l"), wrong + &several).expect("written");
    assert_eq!(site.run(&["add", &site.queue(), "--input-file", "l"]).exit, 0);
    assert_eq!(site.work(&[]).exit, 91);
    site.check_files(&["b"]);
    assert!(site.run(&["failed", &site.queue()]).text().starts_with("# 91 checksum_mismatch"));
}

#[test]
fn status_names_the_workers_and_dropped_queue_is_gone_and_its_files_stay() {
    let Some(site) = Site::start() else { return };
    site.add(&["a"]);
    let mut worker = site.spawn_worker(&["--wait", "--worker-name", "one"]);
    site.wait_for_count("done", |count| count == 1);
    let text = wait_for(|| {
        let text = site.run(&["status", &site.queue()]).text();
        text.contains("worker one: in flight 0, done 1, failed 0").then_some(text)
    });
    assert!(text.starts_with("waiting 0  in flight 0  done 1  failed 0  4.88 KiB"), "{text}");
    worker.kill();
    assert_eq!(site.run(&["drop", &site.queue()]).exit, 0);
    site.check_files(&["a"]);
    let status = site.run(&["status", &site.queue()]);
    assert_eq!(status.exit, 78);
    assert!(status.stderr.contains("there is no queue"), "{}", status.stderr);
}

/// Starts an `add` that reads the lines which the test writes to the pipe.
fn start_slow_add(site: &Site) -> (Running, std::process::ChildStdin) {
    let mut add = fetch_url_command();
    add.args(["queue", "add", &site.queue(), "--input-file", "-"]).stdin(Stdio::piped());
    let mut add = Running(add.stdout(Stdio::null()).spawn().expect("it starts"));
    let producer = add.0.stdin.take().expect("a pipe");
    (add, producer)
}

#[test]
fn lines_of_a_slow_producer_are_stored_before_the_next_one_arrives() {
    use std::io::Write as _;
    let Some(site) = Site::start() else { return };
    site.add(&["a"]);
    let (mut add, mut producer) = start_slow_add(&site);
    writeln!(producer, "{}\n{}", site.http.url("b"), site.http.url("c")).expect("written");
    site.wait_for_count("waiting", |count| count == 3);
    writeln!(producer, "{}", site.http.url("d")).expect("written");
    drop(producer);
    assert_eq!(add.wait(), Some(0));
    assert_eq!(site.count("waiting"), 4);
}

#[test]
fn add_to_a_queue_that_was_dropped_and_created_again_ends_with_not_found() {
    use std::io::Write as _;
    let Some(site) = Site::start() else { return };
    site.add(&["a"]);
    let (mut add, mut producer) = start_slow_add(&site);
    writeln!(producer, "{}", site.http.url("b")).expect("written");
    site.wait_for_count("waiting", |count| count == 2);
    site.run(&["drop", &site.queue()]).assert_exit(0);
    site.add(&["c"]);
    writeln!(producer, "{}", site.http.url("d")).expect("written");
    drop(producer);
    assert_eq!(add.wait(), Some(78));
    assert_eq!(site.count("waiting"), 1);
}
