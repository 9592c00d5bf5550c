//! `cargo xtask servers up|down`: the real servers of the live tests, in containers on 127.0.0.1.
//!
//! For finding Compose, making a base image where no registry answers, building, starting, and waiting until
//! every server answers. Not for what they are or serve (that is `docker/`), nor for running the tests.

#![allow(clippy::print_stderr, reason = "a chore tells the person who runs it how far it is")]

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Each server and the port where it speaks in the clear; all ports are in `docker/README.md`.
const SERVERS: [(&str, u16, Sign); 14] = [
    ("apache", 17081, Sign::Page),
    ("bsdftpd", 17124, Sign::Greeting),
    ("caddy", 17082, Sign::Page),
    ("gophernicus", 17070, Sign::Text),
    ("inn", 17119, Sign::News),
    ("nginx", 17080, Sign::Page),
    ("proftpd", 17122, Sign::Greeting),
    ("pureftpd", 17123, Sign::Greeting),
    ("pyftpdlib", 17125, Sign::Greeting),
    ("pygopherd", 17071, Sign::Text),
    ("sn", 17118, Sign::News),
    ("telnetd", 17023, Sign::Options),
    ("twisted", 17126, Sign::Greeting),
    ("vsftpd", 17121, Sign::Greeting),
];

/// By what a server shows that it is up. The engine's proxy listens before the server does, so a connection alone
/// proves nothing.
#[derive(Clone, Copy)]
enum Sign {
    /// The reply 220 that FTP begins with.
    Greeting,
    /// The reply 200 or 201 that NNTP begins with.
    News,
    /// The options that telnet begins with: words come when they are answered.
    Options,
    /// A test file over HTTP.
    Page,
    /// A test file over gopher.
    Text,
}

const PUBLIC_BASE: &str = "debian:bookworm-slim";
const OWN_BASE: &str = "fetch-url-test/base";

// How long each kind of command may take.
const ASK: Duration = Duration::from_secs(20);
const BUILD: Duration = Duration::from_secs(600);
const MAKE_BASE: Duration = Duration::from_secs(400);
const PULL: Duration = Duration::from_secs(120);
const START: Duration = Duration::from_secs(120);
const STOP: Duration = Duration::from_secs(60);

/// From the containers' start until the last server answers.
const ANSWER: Duration = Duration::from_secs(120);
/// One attempt to get an answer.
const ATTEMPT: Duration = Duration::from_secs(2);
/// Between two looks at something that is not ready.
const PAUSE: Duration = Duration::from_millis(50);
/// How much of a failed command's output is shown.
const SHOWN_LINES: usize = 20;

/// Builds and starts the servers, and returns when every one has answered.
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

/// Stops the servers and removes their containers and volume; the images and `docker/run` stay.
pub(crate) fn down() -> Result<(), String> {
    make_run_folders()?;
    Compose::find()?.stop()?;
    eprintln!("servers: down");
    Ok(())
}

/// Whether a Docker engine answers `docker info`.
pub(crate) fn engine_answers() -> bool {
    succeeds(Command::new("docker").arg("info"), ASK)
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
            .find(|compose| succeeds(compose.command().arg("version"), ASK))
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
        logged("build", &mut command, BUILD)
    }

    fn start(self, base: &str) -> Result<(), String> {
        logged("start", self.command().env("BASE", base).args(["up", "-d", "--remove-orphans"]), START)
    }

    fn stop(self) -> Result<(), String> {
        logged("stop", self.command().args(["down", "-v", "--remove-orphans"]), STOP)
    }
}

/// The image to build on: one that is there, else the public one, else our own from debootstrap.
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
    succeeds(Command::new("docker").args(["image", "inspect", image]), ASK)
}

/// Waits for all servers against one clock, telling of each when it has answered.
fn wait_for_answers() -> Result<(), String> {
    let began = Instant::now();
    for (name, port, sign) in SERVERS {
        while !sign.is_seen(port) {
            if began.elapsed() > ANSWER {
                let limit = ANSWER.as_secs();
                return Err(format!(
                    "{name} does not answer on 127.0.0.1:{port} after {limit} s; \
                     see docker/run/log and, in docker/, `docker compose logs {name}`"
                ));
            }
            thread::sleep(PAUSE);
        }
        eprintln!("servers: {name} answers on 127.0.0.1:{port}");
    }
    Ok(())
}

impl Sign {
    fn is_seen(self, port: u16) -> bool {
        match (self, self.first_bytes(port)) {
            (Self::Greeting, Ok(bytes)) => bytes.starts_with(b"220"),
            (Self::News, Ok(bytes)) => bytes.starts_with(b"20"),
            (Self::Options, Ok(bytes)) => bytes[0] == 0xff, // IAC
            (Self::Page, Ok(bytes)) => bytes.starts_with(b"HTTP/1.") && bytes.ends_with(b" 200"),
            (Self::Text, Ok(bytes)) => bytes.starts_with(b"About"),
            (_, Err(_)) => false,
        }
    }

    /// What the server on this port says first.
    fn first_bytes(self, port: u16) -> io::Result<[u8; b"HTTP/1.1 200".len()]> {
        let request: &[u8] = match self {
            Self::Greeting | Self::News => b"QUIT\r\n",
            Self::Options => b"",
            Self::Page => b"GET /hello.txt HTTP/1.0\r\nHost: localhost\r\n\r\n",
            Self::Text => b"/about.txt\r\n",
        };
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let mut server = TcpStream::connect_timeout(&address, ATTEMPT)?;
        server.set_read_timeout(Some(ATTEMPT))?;
        server.set_write_timeout(Some(ATTEMPT))?;
        server.write_all(request)?;
        let mut bytes = [0; b"HTTP/1.1 200".len()];
        server.read_exact(&mut bytes)?;
        Ok(bytes)
    }
}

/// The folders that the containers write to, made here so that they belong to this user and not to root.
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

/// Runs a command in silence; a missing program, a failure and a time-out are all `false`.
fn succeeds(command: &mut Command, limit: Duration) -> bool {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    matches!(finish(command, limit), Ok(Some(status)) if status.success())
}

/// Runs a command with its output in `docker/run/<step>.log`, whose end goes into the error when it fails.
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

/// The command's status, or `None` when it had to be killed at its limit.
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
        thread::sleep(PAUSE);
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
