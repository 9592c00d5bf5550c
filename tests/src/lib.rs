//! Loopback servers for the tests, the demo and the bench: honest ones, scripted ones and hostile ones.
//!
//! ```
//! use fetch_url_tests::{HttpReply, HttpServer};
//!
//! let server = HttpServer::start(|request| match request.method.as_str() {
//!     "GET" => HttpReply::new(200).header("Content-Type", "text/plain").body("hello"),
//!     _ => HttpReply::new(405),
//! })?;
//! assert!(server.url("/greeting").starts_with("http://127.0.0.1:"));
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! Everything listens on 127.0.0.1 with a port of the system's choice, waits only with a limit, and stops
//! when dropped.

mod cert;
mod channel;
mod ftp;
mod gopher;
mod http;
mod listener;
mod nntp;
mod pattern;
mod prospero;
mod proxy;
#[cfg(unix)]
mod pty;
mod script;
mod script_server;
mod temp;
mod wais;
mod wire;

pub use cert::{CertFiles, ServerCert};
pub use ftp::fault_list::FTP_FAULTS;
pub use ftp::faults::{FtpFault, FtpFaultCert, FtpFaultSetting, FtpTransport};
pub use ftp::rule::{Act, Ending, On, Rule};
pub use ftp::server::FtpServer;
pub use ftp::site::{EmptyCwd, FtpSite};
pub use gopher::fault_list::GOPHER_FAULTS;
pub use gopher::faults::{GopherFault, GopherFaultCert, GopherFaultSetting, GopherProof, GopherResult};
pub use gopher::form::{GopherAsk, GopherForm};
pub use gopher::item::{GopherEnd, GopherItem, GopherLength};
pub use gopher::plus_fault_list::GOPHER_PLUS_FAULTS;
pub use gopher::rule::{GopherAct, GopherOn, GopherRule};
pub use gopher::server::GopherServer;
pub use gopher::site::GopherSite;
pub use http::coded::{Coding, coded, coded_zeros};
pub use http::date::http_date;
pub use http::fault_list::HTTP_FAULTS;
pub use http::faults::{Fault, FaultCase, FaultSetting, Transport};
pub use http::file_handler::{FileFacts, Ranges, file_handler, pattern_handler};
pub use http::reply::HttpReply;
pub use http::request::HttpRequest;
pub use http::server::HttpServer;
pub use nntp::article::NntpArticle;
pub use nntp::fault_list::NNTP_FAULTS;
pub use nntp::faults::{NntpFault, NntpFaultCert, NntpFaultSetting, NntpResult, NntpTransport};
pub use nntp::group::NntpGroup;
pub use nntp::listing_fault_list::NNTP_LISTING_FAULTS;
pub use nntp::login_fault_list::NNTP_LOGIN_FAULTS;
pub use nntp::rule::{NntpAct, NntpOn, NntpRule};
pub use nntp::server::NntpServer;
pub use nntp::site::{NntpDialect, NntpSite};
pub use pattern::{pattern, pattern_vec};
pub use prospero::attribute::ProsperoAttribute;
pub use prospero::fault_list::PROSPERO_FAULTS;
pub use prospero::faults::{ProsperoFault, ProsperoFaultSetting, ProsperoResult};
pub use prospero::header::{ProsperoDatagram, ProsperoHeader};
pub use prospero::hop_fault_list::PROSPERO_HOP_FAULTS;
pub use prospero::link::ProsperoLink;
pub use prospero::link_fault_list::PROSPERO_LINK_FAULTS;
pub use prospero::object::ProsperoObject;
pub use prospero::packet::ProsperoPacket;
pub use prospero::place::ProsperoHost;
pub use prospero::rule::{ProsperoAct, ProsperoCut, ProsperoOn, ProsperoPackets, ProsperoRule};
pub use prospero::server::ProsperoServer;
pub use prospero::site::ProsperoSite;
pub use prospero::text_fault_list::PROSPERO_TEXT_FAULTS;
pub use proxy::server::{ConnectFault, ProxyServer};
pub use proxy::socks::SocksFault;
pub use proxy::tunnel::{AddressType, Tunnel};
#[cfg(unix)]
pub use pty::Terminal;
pub use script::{Script, Step};
pub use script_server::ScriptServer;
pub use temp::{Before, Target};
pub use wais::database::WaisDatabase;
pub use wais::diagnostic::WaisDiagnostic;
pub use wais::document::WaisDocument;
pub use wais::fault_list::WAIS_FAULTS;
pub use wais::faults::{WaisFault, WaisFaultSetting, WaisResult};
pub use wais::request::WaisRequest;
pub use wais::rule::{WaisAct, WaisCut, WaisLayer, WaisOn, WaisRule};
pub use wais::search_fault_list::WAIS_SEARCH_FAULTS;
pub use wais::server::WaisServer;
pub use wais::site::WaisSite;
