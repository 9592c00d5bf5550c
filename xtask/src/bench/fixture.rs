//! The objects of the bench and their servers: nginx if it is installed, otherwise the HTTP server of the tests; vsftpd,
//! with and without a delay; the bench's own Gopher server.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{Error, Result, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use fetch_url_tests::{CertFiles, FileHeaders, HttpServer, ServerCert, pattern_handler, pattern_vec};
use tempfile::TempDir;

use super::delayed_network::DelayedNetwork;
use super::gopher::Gopher;
use super::news::{ARTICLE_BYTES, News};
use super::vsftpd::Vsftpd;
use super::workload::{Source, WORKLOADS, Workload};
use crate::program;

/// A directory in memory, if there is one, so that the disk is not measured.
const MEMORY: &str = "/dev/shm";
/// The time limit for the first answer of nginx.
const START: Duration = Duration::from_secs(5);

/// The directory and the servers.
pub(super) struct Fixture {
    folder: TempDir,
    server: Server,
    ftp: Option<Vsftpd>,
    ftps: Option<Vsftpd>,
    gopher: Gopher,
    remote_ftp: Option<Vsftpd>,
    news: Option<News>,
    remote_news: Option<News>,
    cert: CertFiles,
    /// Declared after the servers that use it, so that it is dropped last.
    _network: Option<DelayedNetwork>,
}

enum Server {
    Loopback(Vec<(&'static str, HttpServer)>),
    Nginx { process: Child, ports: NginxPorts, version: String },
}

/// The ports of nginx.
#[derive(Clone, Copy)]
struct NginxPorts {
    http: u16,
    https: u16,
    http2: u16,
}

impl Fixture {
    /// Starts the servers for these rows. Prints which servers are not available.
    pub(super) fn start(rows: &[&Workload]) -> Result<Self> {
        let memory = Path::new(MEMORY);
        let folder = if memory.is_dir() { TempDir::new_in(memory)? } else { TempDir::new()? };
        for row in rows {
            fs::create_dir_all(folder.path().join(row.folder))?;
            let is_made = matches!(row.source, Source::RemoteNews | Source::News);
            for number in 0..if is_made { 0 } else { row.count } {
                write_object(&folder.path().join(object(row, number)), row.size)?;
            }
            if row.source == Source::Gzip {
                compress(&folder.path().join(object(row, 0)), row.size)?;
            }
        }
        let cert = ServerCert::good()?.write_files()?;
        let server = match program::version("nginx", "-v") {
            Some(version) => nginx(folder.path(), &cert, version)?,
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
        let wants_network = wants(Source::RemoteFtp) || wants(Source::RemoteNews);
        let network =
            if wants_network { available_or_note("delayed network", DelayedNetwork::open()) } else { None };
        let is_remote = |source| network.is_some() && wants(source);
        let remote_ftp = if is_remote(Source::RemoteFtp) {
            available_or_note("remote ftp", Vsftpd::remote(folder.path()))
        } else {
            None
        };
        let remote_news = if is_remote(Source::RemoteNews) {
            available_or_note("remote news", News::remote())
        } else {
            None
        };
        let gopher = Gopher::local(folder.path())?;
        Ok(Self { folder, server, ftp, ftps, gopher, remote_ftp, news, remote_news, cert, _network: network })
    }

    /// Returns `true` if a server for the row is available.
    pub(super) fn serves(&self, row: &Workload) -> bool {
        match row.source {
            Source::RemoteFtp => self.remote_ftp.is_some(),
            Source::RemoteNews => self.remote_news.is_some(),
            Source::News => self.news.is_some(),
            Source::Ftp => self.ftp.is_some(),
            Source::Ftps => self.ftps.is_some(),
            Source::Gzip | Source::Http2 | Source::Https => matches!(self.server, Server::Nginx { .. }),
            Source::File | Source::Gopher | Source::Http => true,
        }
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

    /// Returns the URLs of the objects of a row.
    pub(super) fn urls(&self, row: &Workload) -> Vec<String> {
        (0..row.count).map(|number| self.url(row, number)).collect()
    }

    fn url(&self, row: &Workload, number: usize) -> String {
        let name = object(row, number);
        match (&self.server, row.source) {
            (_, Source::File) => format!("file://{}/{name}", self.folder().display()),
            (_, Source::Gopher) => format!("gopher://{}/9/{name}", self.gopher.authority),
            (_, Source::Ftp) => self.ftp.as_ref().map_or_else(String::new, |server| ftp_url(server, &name)),
            (_, Source::Ftps) => self
                .ftps
                .as_ref()
                .map_or_else(String::new, |server| format!("ftps://{}/{name}", server.authority)),
            (_, Source::RemoteFtp) => {
                self.remote_ftp.as_ref().map_or_else(String::new, |server| ftp_url(server, &name))
            }
            (_, Source::News) => news_url(self.news.as_ref(), row),
            (_, Source::RemoteNews) => news_url(self.remote_news.as_ref(), row),
            (Server::Nginx { ports, .. }, source) => match source {
                Source::Https => format!("https://127.0.0.1:{}/{name}", ports.https),
                Source::Http2 => format!("https://127.0.0.1:{}/{name}", ports.http2),
                _ => format!("http://127.0.0.1:{}/{name}", ports.http),
            },
            (Server::Loopback(servers), _) => {
                let server = servers.iter().find(|(served, _)| *served == row.name);
                server.map_or_else(String::new, |(_, server)| server.url(&name))
            }
        }
    }
}

impl Drop for Fixture {
    fn drop(&mut self) {
        if let Server::Nginx { process, .. } = &mut self.server {
            let _ = process.kill().and_then(|()| process.wait());
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

fn nginx(folder: &Path, cert: &CertFiles, version: String) -> Result<Server> {
    // All are held until all are known, so that no two are the same.
    let free = || TcpListener::bind((Ipv4Addr::LOCALHOST, 0));
    let held = [free()?, free()?, free()?];
    let port = |held: &TcpListener| held.local_addr().map(|address| address.port());
    let ports = NginxPorts { http: port(&held[0])?, https: port(&held[1])?, http2: port(&held[2])? };
    drop(held);
    let config = folder.join("nginx.conf");
    fs::write(&config, nginx_config(folder, ports, cert))?;
    let mut command = Command::new("nginx");
    command.arg("-p").arg(folder).arg("-c").arg(&config).arg("-e").arg(folder.join("error.log"));
    let mut process = command.stdin(Stdio::null()).spawn()?;
    let began = Instant::now();
    while TcpStream::connect((Ipv4Addr::LOCALHOST, ports.http)).is_err() {
        if began.elapsed() > START {
            let _ = process.kill().and_then(|()| process.wait());
            return Err(Error::other(format!("nginx does not answer on 127.0.0.1:{}", ports.http)));
        }
        thread::sleep(Duration::from_millis(10));
    }
    Ok(Server::Nginx { process, ports, version })
}

/// Returns a configuration with which nginx is one foreground process, so that killing this process stops all of it.
fn nginx_config(folder: &Path, NginxPorts { http, https, http2 }: NginxPorts, cert: &CertFiles) -> String {
    let (folder, key, cert) = (folder.display(), cert.key.display(), cert.cert.display());
    let scratch = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
    let scratch: String = scratch.map(|name| format!("{name}_temp_path {folder}/{name};\n")).concat();
    format!(
        "daemon off;\nmaster_process off;\npid {folder}/nginx.pid;\nevents {{}}\n\
         http {{\naccess_log off;\nsendfile on;\ntcp_nopush on;\ngzip_static on;\n{scratch}\
         ssl_certificate {cert};\nssl_certificate_key {key};\nkeepalive_requests 100000;\nroot {folder};\n\
         server {{ listen 127.0.0.1:{http}; }}\nserver {{ listen 127.0.0.1:{https} ssl; }}\n\
         server {{ listen 127.0.0.1:{http2} ssl http2; }}\n}}\n"
    )
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
