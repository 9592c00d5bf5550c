//! The objects of the bench and their servers: nginx if it is installed, otherwise the HTTP server of the tests; vsftpd,
//! with and without a delay; the bench's own Gopher server.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{Error, Result, Write as _};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, SystemTime};

use fetch_url_tests::{CertFiles, FileHeaders, HttpServer, ServerCert, pattern_handler, pattern_vec};
use tempfile::TempDir;

use super::delayed_network::{self, DelayedNetwork};
use super::gopher::Gopher;
use super::news::{ARTICLE_BYTES, News};
use super::nginx::Nginx;
use super::vsftpd::Vsftpd;
use super::workload::{OBJECTS_PER_DIRECTORY, Reference, Source, WORKLOADS, Workload};
use crate::program;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// A directory in memory, if there is one, so that the disk is not measured.
const MEMORY: &str = "/dev/shm";

/// The directory and the servers.
pub(super) struct Fixture {
    folder: TempDir,
    server: Server,
    ftp: Option<Vsftpd>,
    ftps: Option<Vsftpd>,
    gopher: Gopher,
    remote_ftp: Option<Vsftpd>,
    remote_http: Option<Nginx>,
    news: Option<News>,
    remote_news: Option<News>,
    cert: CertFiles,
    /// Declared after the servers that use it, so that it is dropped last.
    _network: Option<DelayedNetwork>,
}

enum Server {
    Loopback(Vec<(&'static str, HttpServer)>),
    Nginx { nginx: Nginx, version: String },
}

impl Fixture {
    /// Starts the servers for these rows. Prints which servers are not available.
    pub(super) fn start(rows: &[&Workload]) -> Result<Self> {
        let memory = Path::new(MEMORY);
        let folder = if memory.is_dir() { TempDir::new_in(memory)? } else { TempDir::new()? };
        for row in rows {
            let is_made = matches!(row.source, Source::RemoteNews | Source::News);
            for number in 0..if is_made { 0 } else { row.count } {
                let path = folder.path().join(object(row, number));
                if let Some(directory) = path.parent().filter(|_| number % OBJECTS_PER_DIRECTORY == 0) {
                    fs::create_dir_all(directory)?;
                }
                write_object(&path, row.size)?;
                if row.task.is_mirror() {
                    // A tool cannot trust a time of this minute in a listing.
                    File::open(&path)?.set_modified(SystemTime::now() - DAY)?;
                }
            }
            if row.source == Source::Gzip {
                compress(&folder.path().join(object(row, 0)), row.size)?;
            }
        }
        let cert = ServerCert::good()?.write_files()?;
        let server = match program::version("nginx", "-v") {
            Some(version) => Server::Nginx { nginx: Nginx::local(folder.path(), &cert)?, version },
            None => loopback()?,
        };
        let wants = |source| rows.iter().any(|row| row.source == source);
        let ftp =
            if wants(Source::Ftp) { available_or_note("ftp", Vsftpd::local(folder.path())) } else { None };
        let ftps = if wants(Source::Ftps) {
            available_or_note("ftps", Vsftpd::local_tls(folder.path(), &cert))
        } else {
            None
        };
        let news = if wants(Source::News) { available_or_note("news", News::local()) } else { None };
        let wants_network =
            [Source::RemoteFtp, Source::RemoteHttp, Source::RemoteNews].map(wants).contains(&true);
        let network =
            if wants_network { available_or_note("delayed network", DelayedNetwork::open()) } else { None };
        let is_remote = |source| network.is_some() && wants(source);
        let remote_ftp = if is_remote(Source::RemoteFtp) {
            available_or_note("remote ftp", Vsftpd::remote(folder.path()))
        } else {
            None
        };
        let remote_http = if is_remote(Source::RemoteHttp) {
            available_or_note("remote http", Nginx::remote(folder.path()))
        } else {
            None
        };
        let remote_news = if is_remote(Source::RemoteNews) {
            available_or_note("remote news", News::remote())
        } else {
            None
        };
        let gopher = Gopher::local(folder.path())?;
        Ok(Self {
            folder,
            server,
            ftp,
            ftps,
            gopher,
            remote_ftp,
            remote_http,
            news,
            remote_news,
            cert,
            _network: network,
        })
    }

    /// Returns `true` if a server for the row is available.
    pub(super) fn serves(&self, row: &Workload) -> bool {
        match row.source {
            Source::RemoteFtp => self.remote_ftp.is_some(),
            Source::RemoteHttp => self.remote_http.is_some(),
            Source::RemoteNews => self.remote_news.is_some(),
            Source::News => self.news.is_some(),
            Source::Ftp => self.ftp.is_some(),
            Source::Ftps => self.ftps.is_some(),
            Source::Gzip | Source::Http2 | Source::Https => matches!(self.server, Server::Nginx { .. }),
            // The loopback server of the tests has no index pages.
            Source::Http => !row.task.is_mirror() || matches!(self.server, Server::Nginx { .. }),
            Source::File | Source::Gopher => true,
        }
    }

    /// Returns the round-trip time of the row's server, if the row is compared with it.
    pub(super) fn round_trip(&self, row: &Workload) -> std::result::Result<Option<Duration>, String> {
        let (Reference::RoundTrips(_), Some(server)) = (row.target.to, &self.remote_ftp) else {
            return Ok(None);
        };
        let time = delayed_network::round_trip(&server.authority);
        time.map(Some).map_err(|error| format!("bench: the round-trip time: {error}"))
    }

    pub(super) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Returns the file with the certification authority of the servers.
    pub(super) fn authority(&self) -> &Path {
        &self.cert.ca
    }

    /// Returns the names of the servers, for people.
    pub(super) fn server(&self) -> &str {
        match &self.server {
            Server::Loopback(_) => "the loopback server of the tests (nginx is not installed)",
            Server::Nginx { version, .. } => version,
        }
    }

    /// Returns the URLs of the objects of a row, or that of the directory to copy.
    pub(super) fn urls(&self, row: &Workload) -> Vec<String> {
        if row.task.is_mirror() {
            return vec![self.url(row, row.folder)];
        }
        (0..row.count).map(|number| self.url(row, &object(row, number))).collect()
    }

    fn url(&self, row: &Workload, name: &str) -> String {
        match (&self.server, row.source) {
            (_, Source::File) => format!("file://{}/{name}", self.folder().display()),
            (_, Source::Gopher) => format!("gopher://{}/9/{name}", self.gopher.authority),
            (_, Source::Ftp) => self.ftp.as_ref().map_or_else(String::new, |server| ftp_url(server, name)),
            (_, Source::Ftps) => self
                .ftps
                .as_ref()
                .map_or_else(String::new, |server| format!("ftps://{}/{name}", server.authority)),
            (_, Source::RemoteFtp) => {
                self.remote_ftp.as_ref().map_or_else(String::new, |server| ftp_url(server, name))
            }
            (_, Source::RemoteHttp) => self.remote_http.as_ref().map_or_else(String::new, |server| {
                format!("http://{}:{}/{name}", delayed_network::REMOTE_ADDRESS, server.ports.http)
            }),
            (_, Source::News) => news_url(self.news.as_ref(), row),
            (_, Source::RemoteNews) => news_url(self.remote_news.as_ref(), row),
            (Server::Nginx { nginx, .. }, source) => match source {
                Source::Https => format!("https://127.0.0.1:{}/{name}", nginx.ports.https),
                Source::Http2 => format!("https://127.0.0.1:{}/{name}", nginx.ports.http2),
                _ => format!("http://127.0.0.1:{}/{name}", nginx.ports.http),
            },
            (Server::Loopback(servers), _) => {
                let server = servers.iter().find(|(served, _)| *served == row.name);
                server.map_or_else(String::new, |(_, server)| server.url(name))
            }
        }
    }
}

fn ftp_url(server: &Vsftpd, name: &str) -> String {
    format!("ftp://{}/{name}", server.authority)
}

fn news_url(server: Option<&News>, row: &Workload) -> String {
    let authority = server.map_or("", |server| &server.authority);
    format!("nntp://{authority}/bench.group/1-{}", row.size / ARTICLE_BYTES)
}

/// Returns the server if it is available; otherwise prints why its rows are left out.
fn available_or_note<T>(what: &str, had: Result<T>) -> Option<T> {
    had.map_err(|error| println!("bench: no {what}: {error}")).ok()
}

fn object(row: &Workload, number: usize) -> String {
    if row.task.is_mirror() {
        let directory = number / OBJECTS_PER_DIRECTORY;
        return format!("{}{directory}/{}-{number}.bin", row.folder, row.size);
    }
    let name =
        if row.count == 1 { format!("{}.bin", row.size) } else { format!("{}-{number}.bin", row.size) };
    format!("{}{name}", row.folder)
}

pub(super) fn write_object(path: &Path, size: u64) -> Result<()> {
    const PIECE: u64 = 1 << 20;
    if path.exists() {
        return Ok(());
    }
    let mut file = File::create(path)?;
    let mut offset = 0;
    while offset < size {
        let piece = PIECE.min(size - offset);
        file.write_all(&pattern_vec(offset, piece as usize))?;
        offset += piece;
    }
    Ok(())
}

/// Writes the object in gzip beside it, where nginx looks for it. The object itself becomes a text.
fn compress(path: &Path, size: u64) -> Result<()> {
    let mut text = String::new();
    while (text.len() as u64) < size {
        let _ = writeln!(text, "line {}: {:x} of a text", text.len(), text.len() * 7919 % 65_537);
    }
    text.truncate(usize::try_from(size).unwrap_or(usize::MAX));
    fs::write(path, text)?;
    let status = Command::new("gzip").args(["--keep", "--force", "-6"]).arg(path).status()?;
    if status.success() { Ok(()) } else { Err(Error::other(format!("gzip: {status}"))) }
}

fn loopback() -> Result<Server> {
    let served = WORKLOADS.iter().filter(|row| row.source == Source::Http);
    let start = |row: &Workload| {
        HttpServer::start(pattern_handler(row.size, FileHeaders::default())).map(|server| (row.name, server))
    };
    served.map(start).collect::<Result<_>>().map(Server::Loopback)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_have_their_size_and_content() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.bin");
        write_object(&path, (1 << 20) + 5).unwrap();
        assert_eq!(fs::read(&path).unwrap(), pattern_vec(0, (1 << 20) + 5));
    }

    #[test]
    fn the_loopback_server_has_every_http_row() {
        let Server::Loopback(servers) = loopback().unwrap() else { panic!("another server") };
        assert_eq!(servers.len(), WORKLOADS.iter().filter(|row| row.source == Source::Http).count());
    }
}
