//! The servers of the site's commands: every host below example.org is one of them, by the user's configuration file.

use std::fs;
use std::io::Result;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

use fetch_url_tests::{
    Ending, FileHeaders, FtpAction, FtpConfig, FtpRule, FtpServer, GopherAsk, GopherConfig, GopherForm,
    GopherItem, GopherServer, HttpRequest, HttpResponse, HttpServer, NntpArticle, NntpConfig, NntpGroup,
    NntpServer, ProsperoConfig, ProsperoServer, ServerCert, WaisConfig, WaisDatabase, WaisDocument,
    WaisServer, file_handler, pattern_vec, sha256,
};
use tempfile::TempDir;

use crate::support::{BINARY, isolate_environment, run_command};

const HOSTS: [&str; 3] = ["www.example.org", "ftp.example.org", "news.example.org"];
const TIME: &str = "Thu, 01 Dec 1994 12:34:56 GMT";
const HELLO: &str = "Hello from the other end of a URL.\n";
const SIZE: usize = 300_000;
const CUT: u64 = 200_000;

/// The directory of the commands, their home and their servers.
pub(crate) struct Fixture {
    folder: TempDir,
    home: TempDir,
    _servers: Servers,
}

struct Servers {
    http: HttpServer,
    https: HttpServer,
    ftp: FtpServer,
    ftps: FtpServer,
    gopher: GopherServer,
    nntp: NntpServer,
    nntps: NntpServer,
    wais: WaisServer,
    prospero: ProsperoServer,
}

impl Fixture {
    pub(crate) fn start() -> Result<Self> {
        let (folder, home) = (tempfile::tempdir()?, tempfile::tempdir()?);
        let cert = ServerCert::for_names(&HOSTS)?;
        let (ftp, wais) = (FtpServer::start(ftp_site())?, WaisServer::start(wais_site())?);
        let gopher = GopherServer::start(gopher_site())?;
        let prospero = ProsperoConfig::all_access_methods(ftp.addr(), gopher.addr(), wais.addr());
        let servers = Servers {
            http: HttpServer::start(site())?,
            https: HttpServer::start_tls(site(), &cert)?,
            ftp,
            ftps: FtpServer::start_implicit(ftp_site(), &cert)?,
            gopher,
            nntp: NntpServer::start(news_site())?,
            nntps: NntpServer::start_tls(news_site(), &cert)?,
            wais,
            prospero: ProsperoServer::start(prospero)?,
        };
        let files = cert.write_files()?;
        let config = home.path().join(".config/fetch-url");
        fs::create_dir_all(&config)?;
        fs::copy(files.ca, home.path().join("ca.pem"))?;
        fs::write(config.join("config"), servers.config(&home.path().join("ca.pem")))?;
        Ok(Self { folder, home, _servers: servers })
    }

    /// Runs a command in the directory and returns what a terminal would show.
    pub(crate) fn run(&self, line: &str) -> String {
        let mut command = Command::new("sh");
        isolate_environment(&mut command);
        let programs = PathBuf::from(BINARY).parent().map(|folder| folder.display().to_string());
        let path = format!("{}:/usr/bin:/bin", programs.unwrap_or_default());
        command.env("PATH", path).env("HOME", self.home.path()).env("TZ", "UTC").env("LC_ALL", "C.UTF-8");
        command.arg("-c").arg(format!("exec 2>&1\n{line}")).current_dir(self.folder.path());
        let output = run_command(command).stdout_text();
        with_fixed_time(&output.replace(&self.folder.path().display().to_string(), "/srv/me"))
    }
}

/// Replaces the time in a summary such as `2 files, 40 B in 0.3 s`, which differs from run to run.
fn with_fixed_time(output: &str) -> String {
    let is_time =
        |word: &str| word.contains('.') && word.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let line = |line: &str| {
        let Some((before, after)) = line.rsplit_once(" B in ") else { return line.to_owned() };
        match after.split_once(' ') {
            Some((time, rest)) if is_time(time) => format!("{before} B in 0.1 {rest}"),
            _ => line.to_owned(),
        }
    };
    let end = if output.ends_with('\n') { "\n" } else { "" };
    output.lines().map(line).collect::<Vec<_>>().join("\n") + end
}

impl Servers {
    /// Returns a configuration file that leads to the servers of this run.
    fn config(&self, ca: &std::path::Path) -> String {
        let hosts = [
            ("www.example.org:80", self.http.addr()),
            ("www.example.org:443", self.https.addr()),
            ("ftp.example.org:21", self.ftp.addr()),
            ("ftp.example.org:990", self.ftps.addr()),
            ("gopher.example.org:70", self.gopher.addr()),
            ("news.example.org:119", self.nntp.addr()),
            ("news.example.org:563", self.nntps.addr()),
            ("wais.example.org:210", self.wais.addr()),
            ("archive.example.org:1525", self.prospero.addr()),
        ];
        let lines = hosts.map(|(host, address)| format!("connect-to = \"{host}:{address}\"\n"));
        format!("cacert = \"{}\"\nno-progress-meter\n{}", ca.display(), lines.concat())
    }
}

fn ftp_site() -> FtpConfig {
    let files = [
        ("/pub/hello.txt", HELLO),
        ("/pub/lines.txt", "one\r\ntwo\r\n"),
        ("/pub/project/README", "A project.\n"),
        ("/pub/project/src/main.c", "int main(void) { return 0; }\n"),
        ("/etc/motd", "Welcome.\n"),
    ];
    let config = files.into_iter().fold(FtpConfig::new(), |config, (path, text)| {
        config.file(path, text).modified(path, "19941201123456")
    });
    config
        .file("/pub/iso.img", big_file())
        .modified("/pub/iso.img", "19941201123456")
        .file("/pub/cut.img", big_file())
        .rule(FtpRule::on("RETR cut.img", FtpAction::CutData(CUT, Ending::Fin)).nth(1))
}

fn wais_site() -> WaisConfig {
    let document = WaisDocument::new("Gopher burrows", "gopher tunnel", "TEXT", HELLO);
    WaisConfig::new().database(WaisDatabase::new("demo").document(document))
}

fn news_site() -> NntpConfig {
    let article = |id: &str, subject: &str, body: &str| {
        let header = format!("Message-ID: <{id}@example.org>\r\nFrom: Alice <alice@example.org>\r\n");
        let dated = format!("{header}Date: Thu, 01 Dec 1994 12:34:56 +0000\r\nSubject: {subject}\r\n");
        NntpArticle::new(format!("{dated}\r\n{body}"))
    };
    let group = NntpGroup::new("misc.test")
        .append(article("one", "An article", "The first article.\r\n"))
        .append(article("two", "Re: An article", "The second article.\r\n"));
    NntpConfig::new().group(group).group(NntpGroup::new("misc.announce"))
}

fn gopher_site() -> GopherConfig {
    let found = |words: &[u8]| [b"0About ", words, b"\t/hello.txt\tgopher.example.org\t70\r\n"].concat();
    let guests = GopherForm::new().ask(GopherAsk::Ask, "Your name?");
    let here = |item: GopherItem| item.at("gopher.example.org", 70);
    GopherConfig::new()
        .plus()
        .item(here(GopherItem::new('i', "hello", "").name("Welcome").without_plus_marker()))
        .item(here(
            GopherItem::text("/hello.txt", HELLO)
                .name("A greeting")
                .modified("19941201123456")
                .without_plus_marker(),
        ))
        .item(here(GopherItem::search("/find", found).name("A search").without_plus_marker()))
        .item(here(GopherItem::text("/guests", "").name("Guests").form(guests)))
        .item(here(GopherItem::error('0', "/nothing", 1, "not here")))
}

fn big_file() -> Vec<u8> {
    pattern_vec(0, SIZE)
}

/// The checksum list of `/dist/`; the second entry is wrong.
const SUMS: &str = "\
e30abac4e5f2a5c1a6e2a1d9f47ab2cd7cf2eb5e0c3f5c1c6b2d9f5f2a0d0000  wrong.txt
";

fn site() -> impl Fn(&HttpRequest) -> HttpResponse + Send + Sync + 'static {
    let file = |content: Vec<u8>, tag: &str| {
        let headers = FileHeaders {
            etag: Some(format!("\"{tag}\"")),
            last_modified: Some(TIME.to_owned()),
            ..FileHeaders::default()
        };
        file_handler(content, headers)
    };
    let (hello, big) = (file(HELLO.into(), "hello"), file(big_file(), "big"));
    let sums = format!("{SUMS}{}", sums_of_files());
    let listed = AtomicBool::new(false);
    let html = |text: &str| HttpResponse::new(200).header("Content-Type", "text/html").body(text);
    move |request| match request.path().as_str() {
        "/a.txt" | "/dist/1.txt" | "/dist/2.txt" | "/dist/3.txt" | "/dist/wrong.txt" => {
            hello(request).header("Content-Type", "text/plain")
        }
        "/dist/tool-1.0.tar" => big(request).header("Content-Type", "application/x-tar"),
        "/dist/" => html(INDEX),
        "/changing/" if !listed.swap(true, Ordering::Relaxed) => html(INDEX),
        "/changing/" => html(&INDEX.replace("2.txt", "1.txt")),
        "/changing/1.txt" | "/changing/2.txt" | "/changing/tool-1.0.tar" => hello(request),
        "/dist/SHA256SUMS" => HttpResponse::new(200).body(sums.clone()),
        "/flaky/tool.tar" if request.header("Range").is_none() => big(request).cut_body_at(CUT),
        "/flaky/tool.tar" => big(request),
        "/moved" => HttpResponse::new(302).header("Location", "/a.txt"),
        "/report" => HttpResponse::new(200)
            .header("Content-Disposition", "attachment; filename=\"report 1994.txt\"")
            .body(HELLO),
        "/manual/" => html("<link rel=stylesheet href=style.css><a href=two.html>next</a>\n"),
        "/manual/two.html" => html("<a href=./>back</a> <a href=http://other.example/>elsewhere</a>\n"),
        "/manual/style.css" => HttpResponse::new(200).header("Content-Type", "text/css").body("p {}\n"),
        "/echo" => {
            let kind = request.header_text("Content-Type").unwrap_or("no type");
            let key = request.header_text("X-Key").unwrap_or("no key");
            let body = String::from_utf8_lossy(&request.body);
            HttpResponse::new(200).body(format!("{}, {kind}, {key}: {body}\n", request.method))
        }
        // me:secret
        "/private" if request.header_text("Authorization") == Some("Basic bWU6c2VjcmV0") => hello(request),
        "/private" => HttpResponse::new(401).header("WWW-Authenticate", "Basic realm=\"demo\""),
        _ => HttpResponse::new(404).body("there is no such page\n"),
    }
}

const INDEX: &str = "<title>Index of /dist/</title><h1>Index of /dist/</h1><pre><a href=\"../\">../</a>\n\
    <a href=\"1.txt\">1.txt</a>      01-Dec-1994 12:34      35\n\
    <a href=\"2.txt\">2.txt</a>      01-Dec-1994 12:34      35\n\
    <a href=\"tool-1.0.tar\">tool-1.0.tar</a>      01-Dec-1994 12:34      300000\n</pre>";

/// Returns the lines of `SHA256SUMS` for the files with right checksums.
fn sums_of_files() -> String {
    let sum = |bytes: &[u8]| sha256(bytes);
    format!("{}  1.txt\n{}  tool-1.0.tar\n", sum(HELLO.as_bytes()), sum(&big_file()))
}
