//! The directory and the servers of the demo, which are removed and stopped when it ends.

use std::fs;
use std::io::Result;
use std::path::Path;

use fetch_url_tests::{
    CertFiles, Ending, FileHeaders, FtpAction, FtpConfig, FtpRule, FtpServer, GopherAsk, GopherConfig,
    GopherForm, GopherItem, GopherServer, HttpRequest, HttpResponse, HttpServer, NntpArticle, NntpConfig,
    NntpGroup, NntpServer, ProsperoConfig, ProsperoServer, ServerCert, WaisConfig, WaisDatabase,
    WaisDocument, WaisServer, file_handler, pattern_vec,
};
use tempfile::TempDir;

use super::gateway::Gateway;
use super::rows::{HELLO, PROSE};

/// Large enough that a truncated transfer has bytes before and after the cut.
const BIG: usize = 300_000;
const CUT: u64 = 200_000;

/// The directory, the servers, and the beginnings of their URLs.
pub(super) struct Fixture {
    folder: TempDir,
    http: HttpServer,
    https: HttpServer,
    ftp: FtpServer,
    ftps: FtpServer,
    gopher: GopherServer,
    gophers: GopherServer,
    nntp: NntpServer,
    nntps: NntpServer,
    wais: WaisServer,
    prospero: ProsperoServer,
    /// `fetch-url serve`.
    gateway: Option<Gateway>,
    trusted: CertFiles,
}

impl Fixture {
    /// Starts the servers, and the gateway of `program`.
    pub(super) fn start(program: Option<&Path>) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        fs::write(folder.path().join("hello.txt"), HELLO)?;
        fs::write(folder.path().join("prose.txt"), PROSE)?;
        fs::create_dir_all(folder.path().join("pub/empty"))?;
        fs::write(folder.path().join("pub/README"), HELLO)?;
        fs::write(folder.path().join("pub/data.bin"), big_file())?;
        let cert = ServerCert::good()?;
        let (ftp, wais) = (FtpServer::start(ftp_site())?, WaisServer::start(wais_site())?);
        let gopher = GopherServer::start(gopher_site())?;
        let prospero = ProsperoConfig::all_access_methods(ftp.addr(), gopher.addr(), wais.addr());
        Ok(Self {
            folder,
            http: HttpServer::start(site())?,
            https: HttpServer::start_tls(site(), &cert)?,
            ftp,
            ftps: FtpServer::start_implicit(ftp_site(), &cert)?,
            gopher,
            gophers: GopherServer::start_tls(gopher_site(), &cert)?,
            nntp: NntpServer::start(news_site())?,
            nntps: NntpServer::start_tls(news_site(), &cert)?,
            wais,
            prospero: ProsperoServer::start(prospero)?,
            gateway: program.map(Gateway::start).transpose()?,
            trusted: cert.write_files()?,
        })
    }

    /// The working directory of the program.
    pub(super) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Returns `text` with the ports and paths of this run filled in.
    pub(super) fn filled(&self, text: &str) -> String {
        text.replace("{http}", self.http.url("/").trim_end_matches('/'))
            .replace("{https}", self.https.url("/").trim_end_matches('/'))
            .replace("{ftp}", self.ftp.url("").trim_end_matches('/'))
            .replace("{ftps}", self.ftps.url("").trim_end_matches('/'))
            .replace("{gopher}", self.gopher.url("").trim_end_matches('/'))
            .replace("{gophers}", self.gophers.url("").trim_end_matches('/'))
            .replace("{news}", &self.nntp.news_server())
            .replace("{nntp}", self.nntp.url("").trim_end_matches('/'))
            .replace("{nntps}", self.nntps.url("").trim_end_matches('/'))
            .replace("{wais}", self.wais.url("").trim_end_matches('/'))
            .replace("{prospero}", self.prospero.url("").trim_end_matches('/'))
            .replace("{serve}", self.gateway.as_ref().map_or("", Gateway::address))
            .replace("{document}", &self.wais.document_url("demo", "Gopher burrows").unwrap_or_default())
            .replace("{folder}", &self.folder().to_string_lossy())
            .replace("{ca}", &self.trusted.ca.to_string_lossy())
    }
}

/// Returns an FTP tree. The first transfer of its large file is reset.
fn ftp_site() -> FtpConfig {
    FtpConfig::new()
        .file("/hello.txt", HELLO)
        .file("/pub/file.bin", HELLO)
        .file("/pub/lines.txt", "one\r\ntwo\r\n")
        .file("/pub/big.bin", big_file())
        .modified("/pub/big.bin", "19941201123456")
        .rule(FtpRule::on("RETR big.bin", FtpAction::CutData(CUT, Ending::Reset)).nth(1))
}

/// Returns a database with one document.
fn wais_site() -> WaisConfig {
    let document = WaisDocument::new("Gopher burrows", "gopher tunnel", "TEXT", HELLO);
    WaisConfig::new().database(WaisDatabase::new("demo").document(document))
}

/// Returns two groups, and two articles in one of them.
fn news_site() -> NntpConfig {
    let article = |id: &str, subject: &str, body: &str| {
        let header = format!("Message-ID: <{id}@demo.invalid>\r\nFrom: Alice <alice@demo.invalid>\r\n");
        let dated = format!("{header}Date: Thu, 01 Dec 1994 12:34:56 +0000\r\nSubject: {subject}\r\n");
        NntpArticle::new(format!("{dated}\r\n{body}"))
    };
    let group = NntpGroup::new("demo.test")
        .append(article("one", "An article", ".a line with a dot\r\n"))
        .append(article("two", "=?ISO-8859-1?Q?caf=E9?=", "and another\r\n"));
    NntpConfig::new().group(group).group(NntpGroup::new("demo.announce"))
}

/// Returns a Gopher+ site with one item of each kind.
fn gopher_site() -> GopherConfig {
    let found = |words: &[u8]| [b"0", words, b"\thello.txt\tlocalhost\t70\r\n"].concat();
    let guests = GopherForm::new().ask(GopherAsk::Ask, "Your name?");
    GopherConfig::new()
        .plus()
        .item(GopherItem::new('i', "hello", "").name("Welcome to the demo").without_plus_marker())
        .item(
            GopherItem::text("/hello.txt", HELLO)
                .name("A greeting")
                .modified("19941201123456")
                .without_plus_marker(),
        )
        .item(GopherItem::search("/find", found).name("A search").without_plus_marker())
        .item(GopherItem::text("/guests", "").name("Guests").form(guests))
        .item(GopherItem::error('0', "/nothing", 1, "not here"))
}

/// Returns the content of the file that is truncated and resumed.
pub(super) fn big_file() -> Vec<u8> {
    pattern_vec(0, BIG)
}

/// Returns a small site: a text, a redirect to it, and a file that is truncated unless a range is requested.
fn site() -> impl Fn(&HttpRequest) -> HttpResponse + Send + Sync + 'static {
    let tagged = |etag: &str| FileHeaders { etag: Some(etag.to_owned()), ..FileHeaders::default() };
    let hello = file_handler(HELLO.into(), tagged("\"hello\""));
    let big = file_handler(big_file(), tagged("\"big\""));
    move |request| match request.path().as_str() {
        "/hello.txt" => hello(request).header("Content-Type", "text/plain"),
        "/moved" => HttpResponse::new(302).header("Location", "/hello.txt"),
        "/big.bin" if request.header("Range").is_none() => big(request).cut_body_at(CUT),
        "/big.bin" => big(request),
        "/echo" => {
            let kind = request.header_text("Content-Type").unwrap_or_default();
            let body = String::from_utf8_lossy(&request.body);
            HttpResponse::new(200).body(format!("{} {kind} {body}\n", request.method))
        }
        // me:secret
        "/private" if request.header_text("Authorization") == Some("Basic bWU6c2VjcmV0") => hello(request),
        "/private" => HttpResponse::new(401).header("WWW-Authenticate", "Basic realm=\"demo\""),
        _ => HttpResponse::new(404).body("there is no such page\n"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_filled() {
        let fixture = Fixture::start(None).unwrap();
        assert!(fixture.filled("{http}/a").starts_with("http://127.0.0.1:"));
        assert!(fixture.filled("{https}/a").starts_with("https://127.0.0.1:"));
        assert!(!fixture.filled("file://{folder}/{ca}").contains('{'));
        assert!(fixture.folder().join("pub/README").is_file());
    }
}
