//! `fetch-url serve`: its options, its logs, its end. What it answers is tested in `crates/serve`.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Child, ChildStderr, Stdio};
use std::time::Duration;

use fetch_url_tests::{
    GopherConfig, GopherItem, GopherServer, HttpResponse, HttpServer, NntpConfig, NntpGroup, NntpServer,
    ProxyServer, ReservedPort,
};

use crate::support::{RunResult, fetch_url_command, run_command};

mod cache;

/// A running `fetch-url serve`. It is killed when dropped.
struct Serve {
    process: Child,
    /// The messages after the one with the address.
    messages: BufReader<ChildStderr>,
    address: String,
}

impl Serve {
    /// Starts it on a free port and waits until it listens.
    fn start(arguments: &[&str], variables: &[(&str, &str)]) -> Self {
        let mut command = fetch_url_command();
        command.args(["serve", "--listen", "127.0.0.1:0"]).args(arguments).envs(variables.iter().copied());
        let mut process = command.stderr(Stdio::piped()).stdout(Stdio::null()).spawn().expect("it starts");
        let mut messages = BufReader::new(process.stderr.take().expect("a pipe"));
        let mut line = String::new();
        messages.read_line(&mut line).expect("a message");
        let address = line.split("http://").nth(1).map(|rest| rest.trim().trim_end_matches('/').to_owned());
        Self { process, messages, address: address.expect(&line) }
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.address).expect("it listens");
        stream.set_read_timeout(Some(Duration::from_secs(30))).expect("a timeout");
        stream
    }

    /// Returns the answer to a request for `target`.
    fn get(&self, target: &str) -> String {
        let mut stream = self.connect();
        let head = format!("GET {target} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", self.address);
        stream.write_all(head.as_bytes()).expect("sent");
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).expect("an answer");
        String::from_utf8_lossy(&answer).into_owned()
    }

    fn terminate(&self) {
        let id = self.process.id().to_string();
        let sent = std::process::Command::new("kill").args(["-TERM", &id]).status().expect("kill runs");
        assert!(sent.success());
    }

    /// Waits for the end. Returns the exit status and the messages.
    fn wait(mut self) -> (Option<i32>, String) {
        let mut messages = String::new();
        self.messages.read_to_string(&mut messages).expect("text");
        (self.process.wait().expect("it ends").code(), messages)
    }
}

impl Drop for Serve {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn run_serve(arguments: &[&str]) -> RunResult {
    let mut command = fetch_url_command();
    command.arg("serve").args(arguments);
    run_command(command)
}

#[test]
fn options_reach_the_server() {
    let gopher =
        GopherServer::start(GopherConfig::new().item(GopherItem::text("/a", "hello\r\n"))).expect("starts");
    let url = gopher.url("0/a");
    let strict = Serve::start(&[], &[]);
    assert!(strict.get(&url).starts_with("HTTP/1.1 403 "));
    assert!(strict.get("/").contains("Open a URL of any scheme"));
    let open = Serve::start(&["--allow-private"], &[]);
    assert!(open.get(&url).contains("hello\r\n"));
    assert!(open.get(&format!("/{url}")).contains("content-security-policy: default-src 'none'"));
    let folder = tempfile::tempdir().expect("a directory");
    let root = folder.path().canonicalize().expect("it exists");
    std::fs::write(root.join("a.txt"), "from a file").expect("a file");
    let root = root.to_str().expect("UTF-8");
    let files = Serve::start(&["--allow-file", root], &[]);
    assert!(files.get(&format!("/file://{root}/a.txt")).ends_with("from a file"));
    assert!(open.get(&format!("/file://{root}/a.txt")).starts_with("HTTP/1.1 403 "));
}

#[test]
fn news_server_comes_from_the_option_or_the_environment() {
    let news = NntpServer::start(NntpConfig::new().group(NntpGroup::new("fetch.test"))).expect("starts");
    let address = news.addr().to_string();
    for (arguments, variables) in [
        (vec!["--allow-private", "--news-server", &address], vec![("NNTPSERVER", "news.invalid")]),
        (vec!["--allow-private"], vec![("NNTPSERVER", address.as_str())]),
    ] {
        let serve = Serve::start(&arguments, &variables);
        assert!(serve.get("news:*").contains("fetch.test"), "{arguments:?}");
    }
}

#[test]
fn netrc_is_read_only_with_its_option() {
    let http = HttpServer::start(|request| match request.header_text("authorization") {
        Some("Basic bWU6c2VjcmV0") => HttpResponse::new(200).body("hello"),
        _ => HttpResponse::new(401).header("WWW-Authenticate", "Basic realm=\"x\""),
    })
    .expect("starts");
    let home = tempfile::tempdir().expect("a directory");
    let netrc = home.path().join(".netrc");
    std::fs::write(&netrc, "machine 127.0.0.1 login me password secret\n").expect("a file");
    std::fs::set_permissions(&netrc, std::fs::Permissions::from_mode(0o600)).expect("a mode");
    let home = home.path().to_str().expect("UTF-8");
    let target = format!("/{}", http.url("/"));
    let without = Serve::start(&["--allow-private"], &[("HOME", home)]);
    assert!(without.get(&target).starts_with("HTTP/1.1 401 "));
    let with = Serve::start(&["--allow-private", "--netrc"], &[("HOME", home)]);
    assert!(with.get(&target).ends_with("hello"));
}

#[test]
fn proxies_of_options_and_environment_are_used() {
    let http = HttpServer::start(|_| HttpResponse::new(200).body("hello")).expect("starts");
    let proxy = ProxyServer::http().expect("starts");
    let (url, variable) = (proxy.url(), [("http_proxy", "http://127.0.0.1:1/")]);
    for (arguments, variables, expected) in [
        (&["-x", &url][..], &[][..], "hello"),
        (&[], &[("http_proxy", url.as_str())], "hello"),
        (&["--proxy", &url], &variable, "hello"),
        (&["-x", ""], &variable, "hello"),
        (&["--noproxy", "127.0.0.1"], &variable, "hello"),
        (&[], &variable, "\"code\":\"connect_failed\""),
    ] {
        let arguments: Vec<&str> = ["--allow-private"].iter().chain(arguments).copied().collect();
        let serve = Serve::start(&arguments, variables);
        let answer = serve.get(&http.url("/"));
        assert!(answer.contains(expected), "{arguments:?} {variables:?}: {answer}");
    }
    assert_eq!(proxy.requests().len(), 3);
}

#[test]
fn proxy_that_is_the_server_itself_is_refused() {
    // The reserved port is taken by the server that uses it as its proxy.
    let port = ReservedPort::tcp().expect("a port");
    let address = port.addr().to_string();
    let serve = Serve::start(&["--allow-private", "--listen", &address, "-x", &address], &[]);
    for target in ["http://h.invalid/", "gopher://h.invalid/1/", "ftp://h.invalid/"] {
        let mut stream = TcpStream::connect(&address).expect("it listens");
        stream.write_all(format!("GET {target} HTTP/1.0\r\n\r\n").as_bytes()).expect("sent");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        assert!(
            answer.contains(" 403 Forbidden") && answer.contains("the address of this program"),
            "{answer}"
        );
    }
    drop(serve);
}

#[test]
fn sigterm_finishes_the_answer_and_exits_with_0() {
    let http =
        HttpServer::start(|_| HttpResponse::new(200).body("0123456789").drip(1, Duration::from_millis(60)))
            .expect("starts");
    let folder = tempfile::tempdir().expect("a directory");
    let (log, events) = (folder.path().join("access.log"), folder.path().join("events"));
    let path = |path: &Path| path.to_str().expect("UTF-8").to_owned();
    let serve = Serve::start(&["--allow-private", "--log", &path(&log), "--events", &path(&events)], &[]);
    let mut stream = serve.connect();
    stream.write_all(format!("GET {} HTTP/1.1\r\nHost: h\r\n\r\n", http.url("/")).as_bytes()).expect("sent");
    while http.requests().is_empty() {
        std::thread::sleep(Duration::from_millis(5));
    }
    serve.terminate();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    assert!(answer.ends_with("0123456789"), "{answer}");
    assert_eq!(serve.wait().0, Some(0));
    let log = std::fs::read_to_string(log).expect("a log");
    assert!(log.ends_with("\" 200 10\n") && log.starts_with("127.0.0.1 - - ["), "{log}");
    let events = std::fs::read_to_string(events).expect("events");
    assert!(events.lines().next().is_some_and(|line| line.contains("listening")), "{events}");
    assert!(events.lines().last().is_some_and(|line| line.contains("stopped")), "{events}");
}

#[test]
fn second_signal_ends_the_process_at_once() {
    let http = HttpServer::start(|_| {
        HttpResponse::new(200).stream(100).cut_body_at(1).then_stall(Duration::from_secs(60))
    })
    .expect("starts");
    let serve = Serve::start(&["--allow-private", "--shutdown-timeout", "50"], &[]);
    let mut stream = serve.connect();
    stream.write_all(format!("GET {} HTTP/1.1\r\nHost: h\r\n\r\n", http.url("/")).as_bytes()).expect("sent");
    stream.read_exact(&mut [0]).expect("the answer has begun");
    serve.terminate();
    // The first signal closes the listener.
    while TcpStream::connect(&serve.address).is_ok() {
        std::thread::sleep(Duration::from_millis(5));
    }
    serve.terminate();
    assert_eq!(serve.wait().0, None, "ended by the signal");
}

#[test]
fn invalid_options_exit_with_2() {
    for (arguments, message) in [
        (&["--listen", "0.0.0.0:0"][..], "no clients are allowed"),
        (&["--listen", "0.0.0.0:0"], "--allow-client ADDRESS/BITS"),
        (&["--listen", "localhost"], "--listen"),
        (&["--allow-client", "10.0.0.0/99"], "ADDRESS/BITS"),
        (&["--allow-file", "/no/such/directory"], "/no/such/directory"),
        (&["--news-server", "a b"], "--news-server"),
        (&["--netrc-file", "/no/such/file"], "/no/such/file"),
        (&["--max-clients", "0"], "--max-clients"),
        (&["--max-memory", "1M"], "--max-memory SIZE of fetch-url serve is at least 48M"),
        (&["--log", "/no/such/directory/log"], "/no/such/directory/log"),
        (&["--cache-size", "1G"], "--cache"),
        (&["--cache", "/etc"], "the directory has other files"),
        (&["--cache", "/proc/no-cache"], "/proc/no-cache"),
        (&["http://h/"], "http://h/"),
    ] {
        run_serve(arguments).assert_exit(2).assert_stderr_contains(message);
    }
}

#[test]
fn occupied_port_is_reported() {
    let serve = Serve::start(&[], &[]);
    run_serve(&["--listen", &serve.address]).assert_exit(2).assert_stderr_contains("cannot listen on");
}
