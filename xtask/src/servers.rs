//! `cargo xtask servers up|down`: the real servers of the live tests, in containers on 127.0.0.1.
//!
//! Finds Compose, builds a base image if no registry answers, builds and starts the containers, and waits until every
//! server answers. The servers themselves are in `docker/`; `test.rs` runs the tests.

#![allow(clippy::print_stderr, reason = "prints its progress to the terminal")]

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Each server and its plaintext port; `docker/README.md` lists all ports.
const SERVERS: [(&str, u16, ReadySign); 16] = [
    ("apache", 17081, ReadySign::Page),
    ("bsdftpd", 17124, ReadySign::Greeting),
    ("busybox", 17127, ReadySign::Greeting),
    ("caddy", 17082, ReadySign::Page),
    ("gophernicus", 17070, ReadySign::Text),
    ("inn", 17119, ReadySign::News),
    ("nginx", 17080, ReadySign::Page),
    ("proftpd", 17122, ReadySign::Greeting),
    ("proxies", 17182, ReadySign::ProxiedPage),
    ("pureftpd", 17123, ReadySign::Greeting),
    ("pyftpdlib", 17125, ReadySign::Greeting),
    ("pygopherd", 17071, ReadySign::Text),
    ("sn", 17118, ReadySign::News),
    ("telnetd", 17023, ReadySign::Options),
    ("twisted", 17126, ReadySign::Greeting),
    ("vsftpd", 17121, ReadySign::Greeting),
];

/// The response by which a ready server is recognised. Docker's port proxy listens before the server does, so a
/// connection alone proves nothing.
#[derive(Clone, Copy)]
enum ReadySign {
    /// The reply 220, with which FTP begins.
    Greeting,
    /// The reply 200 or 201, with which NNTP begins.
    News,
    /// The options with which telnet begins; text follows when they are answered.
    Options,
    /// A test file over HTTP.
    Page,
    /// A test file of nginx through an HTTP proxy.
    ProxiedPage,
    /// A test file over gopher.
    Text,
}

const PUBLIC_BASE: &str = "debian:bookworm-slim";
const OWN_BASE: &str = "fetch-url-test/base";

// The time limits of the commands.
const QUERY_TIMEOUT: Duration = Duration::from_secs(20);
const BUILD_TIMEOUT: Duration = Duration::from_secs(600);
const MAKE_BASE: Duration = Duration::from_secs(400);
const PULL: Duration = Duration::from_secs(120);
const START: Duration = Duration::from_secs(120);
const STOP: Duration = Duration::from_secs(60);

/// The time limit from the start of the containers until the last server answers.
const READY_TIMEOUT: Duration = Duration::from_secs(120);
/// The time limit of one attempt to get an answer.
const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(2);
/// The interval between two checks of a server that is not ready.
const POLL_INTERVAL: Duration = Duration::from_millis(50);
/// The number of lines that are shown of the output of a failed command.
const SHOWN_LINES: usize = 20;

/// Builds and starts the servers. Returns when every server has answered.
pub(crate) fn up() -> Result<(), String> {
    let began = Instant::now();
    let compose = Compose::find()?;
    if !engine_answers() {
        return Err("no Docker engine answers: `docker info` fails".to_owned());
    }
    make_run_folders()?;
    let base = base_image()?;
    eprintln!("servers: building on {base} (the first time this takes a minute)");
    compose.build(base)?;
    compose.start(base)?;
    wait_for_answers()?;
    eprintln!("servers: all up after {:.1} s", began.elapsed().as_secs_f32());
    Ok(())
}

/// Stops the servers and removes their containers and volume. The images and `docker/run` are kept.
pub(crate) fn down() -> Result<(), String> {
    make_run_folders()?;
    Compose::find()?.stop()?;
    eprintln!("servers: down");
    Ok(())
}

/// Returns `true` if a Docker engine answers `docker info`.
pub(crate) fn engine_answers() -> bool {
    succeeds(Command::new("docker").arg("info"), QUERY_TIMEOUT)
}

/// The two programs that understand `compose.yaml`.
#[derive(Clone, Copy)]
enum Compose {
    /// `docker compose`, version 2.
    Plugin,
    /// `docker-compose`, version 1.29.
    Standalone,
}

impl Compose {
    fn find() -> Result<Self, String> {
        [Self::Plugin, Self::Standalone]
            .into_iter()
            .find(|compose| succeeds(compose.command().arg("version"), QUERY_TIMEOUT))
            .ok_or_else(|| "neither `docker compose` nor `docker-compose` is installed".to_owned())
    }

    fn command(self) -> Command {
        let mut command = match self {
            Self::Plugin => Command::new("docker"),
            Self::Standalone => Command::new("docker-compose"),
        };
        if matches!(self, Self::Plugin) {
            command.arg("compose");
        }
        command.current_dir(docker_folder());
        command
    }

    fn build(self, base: &str) -> Result<(), String> {
        let mut command = self.command();
        command.env("BASE", base).arg("build");
        if matches!(self, Self::Standalone) {
            command.arg("--parallel"); // version 2 does that anyway
        }
        logged("build", &mut command, BUILD_TIMEOUT)
    }

    fn start(self, base: &str) -> Result<(), String> {
        logged("start", self.command().env("BASE", base).args(["up", "-d", "--remove-orphans"]), START)
    }

    fn stop(self) -> Result<(), String> {
        logged("stop", self.command().args(["down", "-v", "--remove-orphans"]), STOP)
    }
}

/// Returns the base image: a local one, otherwise the public one, otherwise one that is built with debootstrap.
fn base_image() -> Result<&'static str, String> {
    if let Some(here) = [PUBLIC_BASE, OWN_BASE].into_iter().find(|image| has_image(image)) {
        return Ok(here);
    }
    eprintln!("servers: pulling {PUBLIC_BASE}");
    if succeeds(Command::new("docker").args(["pull", "--quiet", PUBLIC_BASE]), PULL) {
        return Ok(PUBLIC_BASE);
    }
    eprintln!("servers: no registry answers, making {OWN_BASE} with debootstrap (half a minute)");
    let script = docker_folder().join("base").join("mkbase.sh");
    logged("base", Command::new("sh").arg(script).arg(OWN_BASE), MAKE_BASE)?;
    Ok(OWN_BASE)
}

fn has_image(image: &str) -> bool {
    succeeds(Command::new("docker").args(["image", "inspect", image]), QUERY_TIMEOUT)
}

/// Waits for all servers until one common deadline, and prints each server when it has answered.
fn wait_for_answers() -> Result<(), String> {
    let began = Instant::now();
    for (name, port, sign) in SERVERS {
        while !sign.is_seen(port) {
            if began.elapsed() > READY_TIMEOUT {
                let limit = READY_TIMEOUT.as_secs();
                return Err(format!(
                    "{name} does not answer on 127.0.0.1:{port} after {limit} s; \
                     see docker/run/log and, in docker/, `docker compose logs {name}`"
                ));
            }
            thread::sleep(POLL_INTERVAL);
        }
        eprintln!("servers: {name} answers on 127.0.0.1:{port}");
    }
    Ok(())
}

impl ReadySign {
    fn is_seen(self, port: u16) -> bool {
        match (self, self.first_bytes(port)) {
            (Self::Greeting, Ok(bytes)) => bytes.starts_with(b"220"),
            (Self::News, Ok(bytes)) => bytes.starts_with(b"20"),
            (Self::Options, Ok(bytes)) => bytes[0] == 0xff, // IAC
            (Self::Page | Self::ProxiedPage, Ok(bytes)) => {
                bytes.starts_with(b"HTTP/1.") && bytes.ends_with(b" 200")
            }
            (Self::Text, Ok(bytes)) => bytes.starts_with(b"About"),
            (_, Err(_)) => false,
        }
    }

    /// Returns the first bytes that the server on this port sends.
    fn first_bytes(self, port: u16) -> io::Result<[u8; b"HTTP/1.1 200".len()]> {
        let request: &[u8] = match self {
            Self::Greeting | Self::News => b"QUIT\r\n",
            Self::Options => b"",
            Self::Page => b"GET /hello.txt HTTP/1.0\r\nHost: localhost\r\n\r\n",
            Self::ProxiedPage => b"GET http://nginx:17080/hello.txt HTTP/1.0\r\nHost: nginx:17080\r\n\r\n",
            Self::Text => b"/about.txt\r\n",
        };
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let mut server = TcpStream::connect_timeout(&address, ATTEMPT_TIMEOUT)?;
        server.set_read_timeout(Some(ATTEMPT_TIMEOUT))?;
        server.set_write_timeout(Some(ATTEMPT_TIMEOUT))?;
        server.write_all(request)?;
        let mut bytes = [0; b"HTTP/1.1 200".len()];
        server.read_exact(&mut bytes)?;
        Ok(bytes)
    }
}

/// Creates the folders that the containers write to, so that they belong to this user and not to root.
fn make_run_folders() -> Result<(), String> {
    for folder in ["log", "tls"] {
        let path = run_folder().join(folder);
        fs::create_dir_all(&path).map_err(|error| format!("cannot make {}: {error}", path.display()))?;
    }
    Ok(())
}

fn docker_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join("docker")
}

fn run_folder() -> PathBuf {
    docker_folder().join("run")
}

/// Runs a command without output. Returns `false` if the program is missing, fails or times out.
fn succeeds(command: &mut Command, limit: Duration) -> bool {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    matches!(finish(command, limit), Ok(Some(status)) if status.success())
}

/// Runs a command with its output in `docker/run/<step>.log`. If it fails, the error contains the end of that file.
fn logged(step: &str, command: &mut Command, limit: Duration) -> Result<(), String> {
    let path = run_folder().join(format!("{step}.log"));
    let outputs = File::create(&path).and_then(|log| Ok((log.try_clone()?, log)));
    let (out, err) = outputs.map_err(|error| format!("cannot write {}: {error}", path.display()))?;
    command.stdin(Stdio::null()).stdout(out).stderr(err);
    let program = command.get_program().to_owned();
    let why = match finish(command, limit) {
        Ok(Some(status)) if status.success() => return Ok(()),
        Ok(Some(status)) => status.to_string(),
        Ok(None) => format!("no end after {} s", limit.as_secs()),
        Err(error) => error.to_string(),
    };
    Err(format!("{step}: {}: {why}\n{}", Path::new(&program).display(), last_lines(&path)))
}

/// Returns the status of the command, or `None` if it was killed at its time limit.
fn finish(command: &mut Command, limit: Duration) -> io::Result<Option<ExitStatus>> {
    let began = Instant::now();
    let mut child = command.spawn()?;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if began.elapsed() > limit {
            return kill(&mut child).map(|()| None);
        }
        thread::sleep(POLL_INTERVAL);
    }
}

fn kill(child: &mut Child) -> io::Result<()> {
    child.kill()?;
    child.wait().map(drop)
}

fn last_lines(path: &Path) -> String {
    let text = fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(SHOWN_LINES)..].join("\n")
}
