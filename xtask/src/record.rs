//! `cargo xtask record`: runs the program in a terminal and draws what it shows as `assets/demo.svg`, for the README.
//!
//! The servers are those of the tests on loopback. A configuration file leads the names of the URLs to them.

mod svg;

use std::fs;
use std::io::{Error, Result};
use std::num::NonZeroU16;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use fetch_url_tests::{
    FileHeaders, FtpConfig, FtpServer, GopherConfig, GopherItem, GopherServer, HttpRequest, HttpResponse,
    HttpServer, Terminal, file_handler, pattern_vec,
};
use svg::Frame;

use crate::demo::quoted;
use crate::program::{self, root};

/// The drawing, below the directory of the workspace.
const OUT: &str = "assets/demo.svg";
const COLUMNS: u16 = 112;
const ROWS: u16 = 20;
/// The minimum time between two frames.
const FRAME: Duration = Duration::from_millis(120);
/// How long a command is shown before it runs, and its result after it has ended.
const BEFORE: Duration = Duration::from_millis(900);
const AFTER: Duration = Duration::from_millis(2500);

/// The commands in order. Each begins with an empty screen.
const SCENES: [&[&str]; 4] = [
    &["gopher://gopher.example/"],
    &["-O", "http://www.example/big.iso"],
    &["mirror", "-Z", "ftp://ftp.example/pub/"],
    &["explain", "ftp://me@ftp.example/%2Fetc/motd;type=a"],
];

const CONFIG: &str = "\
limit-rate = 700k
connect-to = gopher.example:70:{gopher}
connect-to = www.example:80:{http}
connect-to = ftp.example:21:{ftp}
";

/// Records all scenes and writes the drawing.
pub(crate) fn run() -> std::result::Result<(), String> {
    let program = program::fetch_url(&[])?;
    let failed = |error: Error| format!("record: {error}");
    let frames = record(&program).map_err(failed)?;
    let path = root().join(OUT);
    fs::write(&path, svg::draw(&frames, COLUMNS, ROWS))
        .map_err(|error| format!("cannot write {}: {error}", path.display()))?;
    println!("record: {} frames in {}", frames.len(), path.display());
    Ok(())
}

fn record(program: &Path) -> Result<Vec<Frame>> {
    let home = tempfile::tempdir()?;
    let (gopher, http, ftp) =
        (GopherServer::start(gopher_site())?, HttpServer::start(web_site())?, FtpServer::start(ftp_site())?);
    let config = home.path().join("fetch-url");
    fs::create_dir(&config)?;
    let filled = CONFIG
        .replace("{gopher}", &gopher.addr().to_string())
        .replace("{http}", &http.addr().to_string())
        .replace("{ftp}", &ftp.addr().to_string());
    fs::write(config.join("config"), filled)?;
    let mut frames = Vec::new();
    for scene in SCENES {
        let mut command = Command::new(program);
        command.args(scene).current_dir(home.path()).env("XDG_CONFIG_HOME", home.path());
        command.env("TERM", "xterm-256color").env_remove("NO_COLOR");
        frames.extend(play(scene, &command)?);
    }
    Ok(frames)
}

/// Runs a command and returns its frames.
fn play(arguments: &[&str], command: &Command) -> Result<Vec<Frame>> {
    let mut terminal = Terminal::start(command, COLUMNS)?;
    let arrivals = terminal.arrivals()?;
    let size = |count| NonZeroU16::new(count).ok_or_else(|| Error::other("a screen of size 0"));
    let mut screen = vt100::Parser::new(size(ROWS)?, size(COLUMNS)?, 0);
    let typed: Vec<String> = arguments.iter().map(|argument| quoted(argument)).collect();
    screen.process(format!("$ fetch-url {}\r\n", typed.join(" ")).as_bytes());
    let mut frames = vec![Frame::new(screen.screen(), BEFORE)];
    let (mut drawn, mut shown) = (Duration::ZERO, 0);
    for arrival in &arrivals {
        if arrival.time >= drawn + FRAME {
            frames.push(Frame::new(screen.screen(), arrival.time - drawn));
            drawn = arrival.time;
        }
        screen.process(&terminal.bytes()[shown..arrival.end]);
        shown = arrival.end;
    }
    frames.push(Frame::new(screen.screen(), AFTER));
    match terminal.exit_status()? {
        0 => Ok(frames),
        status => Err(Error::other(format!("exit status {status}: {}", terminal.screen()))),
    }
}

fn gopher_site() -> GopherConfig {
    let info = |text: &str| GopherItem::new('i', "", "").name(text);
    GopherConfig::new()
        .item(info("Welcome to the small internet."))
        .item(info(""))
        .item(GopherItem::text("/about.txt", "").name("About this server"))
        .item(GopherItem::new('1', "/phlogs", "").name("Phlogs"))
        .item(GopherItem::new('7', "/find", "").name("Search all texts"))
        .item(GopherItem::new('9', "/fetch-url.tar", "").name("An archive"))
}

/// Returns a site whose large file breaks off unless a range is requested.
fn web_site() -> impl Fn(&HttpRequest) -> HttpResponse + Send + Sync + 'static {
    let headers = FileHeaders { etag: Some("\"1\"".to_owned()), ..FileHeaders::default() };
    let big = file_handler(pattern_vec(0, 2_400_000), headers);
    move |request| match request.header("Range") {
        None => big(request).cut_body_at(1_300_000),
        Some(_) => big(request),
    }
}

fn ftp_site() -> FtpConfig {
    [("README", 900), ("data/1994.csv", 700_000), ("data/1995.csv", 500_000), ("data/index.csv", 90_000)]
        .into_iter()
        .fold(FtpConfig::new(), |site, (name, size)| site.file(format!("/pub/{name}"), pattern_vec(0, size)))
}
