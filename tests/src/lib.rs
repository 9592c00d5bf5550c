//! Loopback servers for the tests, the demo and the benchmarks of fetch-url.
//!
//! Each server listens on a free port of 127.0.0.1, logs what it receives, and stops when it is dropped. It follows its
//! protocol, except for its *rules*: a rule has a trigger (a command, a request, a new connection) and an action (other
//! bytes, a pause, an ending). A server with a rule is a test of one fault. `tests/README.md` explains which test goes
//! where.
//!
//! # A server of each protocol
//! The tests start a server, fetch its URL with the program or the library, and check the result and what the server
//! received.
//!
//! HTTP: a handler returns the response to each request. The response may be invalid in any way.
//!
//! ```
//! use fetch_url_tests::{HttpResponse, HttpServer};
//!
//! let server = HttpServer::start(|request| match request.path().as_str() {
//!     "/a" => HttpResponse::new(200).body("hello"),
//!     "/cut" => HttpResponse::new(200).body("hello").cut_body_at(2).then_reset(),
//!     _ => HttpResponse::new(404),
//! })?;
//! let url = server.url("/a");
//! assert!(url.starts_with("http://127.0.0.1:") && server.requests().is_empty());
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! FTP: files, accounts, and rules for commands. `FtpServer::start_tls` offers AUTH TLS, `start_implicit` is for ftps.
//!
//! ```
//! use fetch_url_tests::{Ending, FtpAction, FtpConfig, FtpRule, FtpServer};
//!
//! let config = FtpConfig::new()
//!     .file("/pub/a.txt", "hello")
//!     .without("MDTM")
//!     .rule(FtpRule::on("RETR", FtpAction::CutData(2, Ending::Reset)).nth(1));
//! let server = FtpServer::start(config)?;
//! assert!(server.url("/pub/a.txt").ends_with("/pub/a.txt") && server.received_text().is_empty());
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! Gopher and Gopher+: items, and rules for requests.
//!
//! ```
//! use fetch_url_tests::{Ending, GopherConfig, GopherItem, GopherServer};
//!
//! let item = GopherItem::text("/a", "hello\r\n").modified("19941201123456");
//! let server = GopherServer::start(GopherConfig::new().plus().item(item).cut(4, Ending::Close))?;
//! assert!(server.url("0/a").ends_with("/0/a"));
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! News: groups of articles, accounts, STARTTLS and COMPRESS. `NntpServer::start_tls` is for nntps and snews.
//!
//! ```
//! use fetch_url_tests::{NntpArticle, NntpConfig, NntpGroup, NntpServer};
//!
//! let article = NntpArticle::post("1@test.invalid", "A subject", "hello\r\n");
//! let group = NntpGroup::new("fetch.test").append(article);
//! let config = NntpConfig::new().group(group).answer("XOVER", "500 What?\r\n");
//! let server = NntpServer::start(config)?;
//! assert!(server.url("fetch.test/1").starts_with("nntp://127.0.0.1:"));
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! WAIS: databases of documents.
//!
//! ```
//! use fetch_url_tests::{WaisAction, WaisConfig, WaisDatabase, WaisDocument, WaisServer};
//!
//! let document = WaisDocument::new("A headline", "some words", "TEXT", "hello\n");
//! let config = WaisConfig::new().database(WaisDatabase::new("t").document(document));
//! let server = WaisServer::start(config.nth(2, WaisAction::NoInformation))?;
//! assert!(server.document_url("t", "A headline").is_some() && server.url("t?words").ends_with("/t?words"));
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! Prospero: files, directories and links over UDP. Rules change, drop, delay and reorder packets.
//!
//! ```
//! use fetch_url_tests::{
//!     ProsperoAction, ProsperoConfig, ProsperoLink, ProsperoObject, ProsperoPackets, ProsperoServer,
//! };
//!
//! let config = ProsperoConfig::new()
//!     .object("/srv/a", ProsperoObject::file("hello"))
//!     .object("/srv", ProsperoObject::directory([ProsperoLink::file("a", "/srv/a")]))
//!     .always(ProsperoAction::Drop(ProsperoPackets::number(1).times(1)));
//! let server = ProsperoServer::start(config)?;
//! assert!(server.url("/srv/a").starts_with("prospero://127.0.0.1:"));
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! Proxies: [`ProxyServer`] is an HTTP or SOCKS5 proxy that resolves every host to 127.0.0.1.
//!
//! Any protocol that consists of lines: [`ScriptServer`] plays a transcript, whose format [`Script`] describes.
//!
//! ```
//! use fetch_url_tests::{Script, ScriptServer};
//!
//! let script = Script::parse("S: 220 hello\nC: QUIT\n@stall 300\nS: 221 bye\n@fin")?;
//! let server = ScriptServer::start(vec![script]).map_err(|error| error.to_string())?;
//! // After the client has run, `server.failures()` must be empty.
//! assert_eq!(server.addr().ip().to_string(), "127.0.0.1");
//! # Ok::<(), String>(())
//! ```
//!
//! A server that is not there: [`ReservedPort`] is a port where nothing listens while other tests run.
//!
//! # TLS, output files and terminals
//! [`ServerCert`] creates certificates, valid and faulty ones, together with the CA that the client must trust.
//! [`Target`] is an output file in a temporary directory. `Terminal` (Unix) runs a program in a pseudo-terminal.
//!
//! # Fault tables
//! A [`Fault`] is one row of docs/spec/faults.md, section 3: how the server plays it, over which transports, and how the
//! client must end. All protocols have the same type of row and the same runner, [`FaultCase`]. The tables are the
//! constants `*_FAULTS`, in the files `src/*/*fault_list.rs`.
//!
//! ```
//! use fetch_url_tests::{FTP_FAULTS, FaultCase, FaultServer, FtpServer, ServerCert};
//!
//! let (fixture, cert) = (FtpServer::fixture(), ServerCert::good()?);
//! let cases = FaultCase::all(FTP_FAULTS.iter().filter(|fault| fault.name == "retr_550"));
//! for case in &cases {
//!     let prepared = case.prepare(&fixture, &cert)?;
//!     let arguments = prepared.command_line(&["--retry", "0"]);
//!     // Run the program with these arguments, and compare its exit status with `case.fault.exit`.
//!     assert!(arguments.contains(&prepared.url) && case.fault.exit == 78);
//! }
//! assert_eq!(cases.len(), 2, "with an old output file and without");
//! # Ok::<(), std::io::Error>(())
//! ```

#![forbid(unsafe_code)]

mod cert;
mod digest;
mod fault;
#[cfg(target_os = "linux")]
mod folding_disk;
mod ftp;
mod gopher;
mod http;
pub mod http2;
mod nntp;
mod pattern;
mod process_memory;
mod prospero;
mod proxy;
#[cfg(unix)]
mod pty;
mod reserved_port;
mod script;
mod script_server;
mod server;
mod target;
mod wais;

pub use cert::{CertFiles, ServerCert};
pub use digest::{base64_sha256, sha256};
pub use fault::case::{FaultCase, PreparedCase, check_in_parallel};
pub use fault::row::{Completeness, Fault, FaultCert, FaultFixture, FaultResult, FaultServer, Transport};
#[cfg(target_os = "linux")]
pub use folding_disk::{Folding, FoldingDisk};
pub use ftp::config::{EmptyCwd, FtpConfig};
pub use ftp::fault_list::FTP_FAULTS;
pub use ftp::faults::FtpFault;
pub use ftp::rule::{FtpAction, FtpRule, FtpTrigger};
pub use ftp::server::FtpServer;
pub use gopher::config::GopherConfig;
pub use gopher::fault_list::GOPHER_FAULTS;
pub use gopher::faults::GopherFault;
pub use gopher::form::{GopherAsk, GopherForm};
pub use gopher::item::{GopherEnd, GopherItem, GopherLength};
pub use gopher::plus_fault_list::GOPHER_PLUS_FAULTS;
pub use gopher::rule::{GopherAction, GopherRule, GopherTrigger};
pub use gopher::server::GopherServer;
pub use http::content_coding::{ContentCoding, encode, encode_zeros};
pub use http::date::http_date;
pub use http::fault_list::HTTP_FAULTS;
pub use http::faults::{HttpFault, HttpFaultRequest};
pub use http::file_handler::{FileHeaders, RangeSupport, file_handler, pattern_handler};
pub use http::request::HttpRequest;
pub use http::response::HttpResponse;
pub use http::server::HttpServer;
pub use nntp::article::NntpArticle;
pub use nntp::config::{NntpConfig, NntpDialect};
pub use nntp::fault_list::NNTP_FAULTS;
pub use nntp::faults::NntpFault;
pub use nntp::group::NntpGroup;
pub use nntp::listing_fault_list::NNTP_LISTING_FAULTS;
pub use nntp::login_fault_list::NNTP_LOGIN_FAULTS;
pub use nntp::rule::{NntpAction, NntpEvent, NntpRule, NntpTrigger};
pub use nntp::server::NntpServer;
pub use pattern::{pattern, pattern_vec};
pub use process_memory::peak_memory;
pub use prospero::attribute::ProsperoAttribute;
pub use prospero::config::ProsperoConfig;
pub use prospero::directory_fault_list::PROSPERO_DIRECTORY_FAULTS;
pub use prospero::fault_list::PROSPERO_FAULTS;
pub use prospero::faults::ProsperoFault;
pub use prospero::header::{ProsperoDatagram, ProsperoHeader};
pub use prospero::host::ProsperoHost;
pub use prospero::link::ProsperoLink;
pub use prospero::object::ProsperoObject;
pub use prospero::packet::ProsperoPacket;
pub use prospero::redirect_fault_list::PROSPERO_REDIRECT_FAULTS;
pub use prospero::rule::{ProsperoAction, ProsperoPackets, ProsperoRule, ProsperoTrigger};
pub use prospero::server::ProsperoServer;
pub use prospero::text_fault_list::PROSPERO_TEXT_FAULTS;
pub use proxy::server::{ConnectFault, ProxyServer};
pub use proxy::socks::SocksFault;
pub use proxy::tls_front::TlsFront;
pub use proxy::tunnel::{AddressType, Tunnel};
#[cfg(unix)]
pub use pty::{Arrival, Terminal};
pub use reserved_port::ReservedPort;
pub use script::{Script, Step};
pub use script_server::ScriptServer;
pub use server::plain_or_tls_connection::Ending;
pub use server::rule::{CutPoint, Rule, Trigger};
pub use server::text::percent_encode;
pub use target::{OldFile, Target};
pub use wais::config::WaisConfig;
pub use wais::database::WaisDatabase;
pub use wais::diagnostic::WaisDiagnostic;
pub use wais::document::WaisDocument;
pub use wais::fault_list::WAIS_FAULTS;
pub use wais::faults::WaisFault;
pub use wais::request::WaisRequest;
pub use wais::rule::{WaisAction, WaisLayer, WaisRule, WaisTrigger};
pub use wais::search_fault_list::WAIS_SEARCH_FAULTS;
pub use wais::server::WaisServer;
