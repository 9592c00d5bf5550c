//! Servers of all protocols with content for pages.

use fetch_url::url::HostPort;
use fetch_url_serve::ServeOptions;
use fetch_url_tests::{
    FtpConfig, FtpServer, GopherAsk, GopherConfig, GopherForm, GopherItem, GopherServer, HttpResponse,
    HttpServer, NntpArticle, NntpConfig, NntpGroup, NntpServer, ProsperoConfig, ProsperoLink, ProsperoObject,
    ProsperoServer, WaisConfig, WaisDatabase, WaisDocument, WaisServer,
};

use crate::support::options;

/// An article with an encoded Subject, quoted lines, links and an attachment.
const ARTICLE: &str = "Path: test.invalid!not-for-mail\r\n\
    From: =?utf-8?Q?Zo=C3=AB?= Writer <zoe@test.invalid>\r\n\
    Newsgroups: fetch.test\r\n\
    Subject: =?ISO-8859-1?Q?caf=E9?= and links\r\n\
    Date: Thu, 01 Dec 1994 12:34:56 +0000\r\n\
    Message-ID: <2@test.invalid>\r\n\
    References: <1@test.invalid>\r\n\
    MIME-Version: 1.0\r\n\
    Content-Type: multipart/mixed; boundary=b\r\n\
    \r\n\
    --b\r\n\
    Content-Type: text/plain; charset=utf-8\r\n\
    \r\n\
    > A quoted line.\r\n\
    See <URL:gopher://gopher.example.org/1/> or http://www.example.org/a?b=c.\r\n\
    <script>alert(1)</script>\r\n\
    --b\r\n\
    Content-Type: application/zip; name=\"a.zip\"\r\n\
    Content-Disposition: attachment; filename=\"../a.zip\"\r\n\
    \r\n\
    zip bytes\r\n\
    --b--\r\n";

/// The servers.
pub(crate) struct Fixture {
    pub(crate) ftp: FtpServer,
    pub(crate) gopher: GopherServer,
    pub(crate) http: HttpServer,
    pub(crate) news: NntpServer,
    pub(crate) prospero: ProsperoServer,
    pub(crate) wais: WaisServer,
}

impl Fixture {
    pub(crate) fn start() -> Self {
        Self {
            ftp: FtpServer::start(ftp()).expect("starts"),
            gopher: GopherServer::start(gopher()).expect("starts"),
            http: HttpServer::start(|request| match request.path().as_str() {
                "/" => HttpResponse::new(200).header("Content-Type", "text/html").body("<h1>A web page</h1>"),
                _ => HttpResponse::new(404).body("no such page"),
            })
            .expect("starts"),
            news: NntpServer::start(news()).expect("starts"),
            prospero: ProsperoServer::start(prospero()).expect("starts"),
            wais: WaisServer::start(wais()).expect("starts"),
        }
    }

    /// Returns options with the news server of the fixture.
    pub(crate) fn options(&self) -> ServeOptions {
        let mut options = options();
        options.news_server = Some(HostPort::parse(&self.news.addr().to_string()).expect("an address"));
        options
    }
}

fn ftp() -> FtpConfig {
    FtpConfig::new()
        .file("/pub/readme.txt", "hello from ftp\r\n")
        .file("/pub/a <b>&\"c\".bin", "binary")
        .file("/pub/caf\u{e9} with a long name that does not fit on a telephone.tar.gz", "x".repeat(5000))
        .pattern("/pub/large.iso", 3 << 20)
        .dir("/pub/sub")
}

fn gopher() -> GopherConfig {
    let form = GopherForm::new()
        .ask(GopherAsk::Note, "Tell us about you.")
        .ask(GopherAsk::Ask, "Your name?\tNobody")
        .ask(GopherAsk::Choose, "Colour?\tred\tgreen")
        .ask(GopherAsk::AskL, "Remarks?")
        .ask(GopherAsk::Select, "News?\t1");
    GopherConfig::new()
        .plus()
        .item(GopherItem::menu("", &["/about", "/find", "/form", "/sub", "/image", "/data"]))
        .item(GopherItem::menu("/sub", &["/about"]).name("A directory with more"))
        .item(GopherItem::text("/about", "Hello from gopher.\r\n").name("About this server").view(
            "text/html",
            Some("En_US"),
            "<p>Hello",
        ))
        .item(
            GopherItem::search("/find", |words| {
                let words = String::from_utf8_lossy(words).into_owned();
                format!("iYou searched for {words}\tfake\t(NULL)\t0\r\n").into_bytes()
            })
            .name("Search the archive"),
        )
        .item(GopherItem::text("/form", "").name("Guest book").form(form))
        .item(GopherItem::new('I', "/image", "GIF89a").name("A picture"))
        .item(GopherItem::pattern("/data", 2 << 20).name("Data"))
}

fn news() -> NntpConfig {
    let group = NntpGroup::new("fetch.test")
        .append(NntpArticle::post("1@test.invalid", "The first article", "hello\r\n"))
        .append(NntpArticle::new(ARTICLE).with_id("2@test.invalid"))
        .append(NntpArticle::post("3@test.invalid", "Another subject", "hello\r\n"));
    NntpConfig::new().group(group).group(NntpGroup::new("fetch.empty").posting("m"))
}

fn wais() -> WaisConfig {
    let database = WaisDatabase::new("poems")
        .document(WaisDocument::new("A poem about a river", "river water", "TEXT", "The river runs.\n"))
        .document(WaisDocument::new("The <b>sea</b>", "sea water", "TEXT", "The sea.\n"));
    WaisConfig::new().database(database)
}

fn prospero() -> ProsperoConfig {
    ProsperoConfig::new()
        .object(
            "/srv",
            ProsperoObject::directory([
                ProsperoLink::file("a text", "/srv/a"),
                ProsperoLink::directory("more", "/srv/d"),
            ]),
        )
        .object("/srv/a", ProsperoObject::file("hello from prospero\n"))
        .object("/srv/d", ProsperoObject::directory([]))
}
