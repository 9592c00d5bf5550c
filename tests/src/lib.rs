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
mod coded;
mod fault_list;
mod fault_replies;
mod faults;
mod file_handler;
mod ftp_data;
mod ftp_directory;
mod ftp_fault_list;
mod ftp_fault_sites;
mod ftp_faults;
mod ftp_login;
mod ftp_rule;
mod ftp_server;
mod ftp_session;
mod ftp_site;
mod ftp_transfer;
mod ftp_tree;
mod gopher_answer;
mod gopher_content;
mod gopher_fault_list;
mod gopher_fault_sites;
mod gopher_faults;
mod gopher_form;
mod gopher_item;
mod gopher_plus_fault_list;
mod gopher_request;
mod gopher_rule;
mod gopher_server;
mod gopher_site;
mod gopher_talk;
mod http_date;
mod http_reply;
mod http_request;
mod http_server;
mod listener;
mod nntp_article;
mod nntp_deflate;
mod nntp_desk;
mod nntp_fault_list;
mod nntp_fault_sites;
mod nntp_faults;
mod nntp_group;
mod nntp_line;
mod nntp_listing_fault_list;
mod nntp_lists;
mod nntp_login;
mod nntp_login_fault_list;
mod nntp_reply;
mod nntp_rule;
mod nntp_server;
mod nntp_site;
mod nntp_talk;
mod nntp_wildmat;
mod pattern;
mod proxy_server;
#[cfg(unix)]
mod pty;
mod script;
mod script_server;
mod socks;
mod temp;
mod tunnel;
mod wais_answer;
#[cfg(test)]
mod wais_asking;
mod wais_database;
mod wais_desk;
mod wais_diagnostic;
mod wais_document;
mod wais_fault_list;
mod wais_fault_sites;
mod wais_faults;
mod wais_field;
mod wais_request;
mod wais_rule;
mod wais_search_fault_list;
mod wais_sending;
mod wais_server;
mod wais_site;
mod wais_talk;
mod wire;

pub use cert::{CertFiles, ServerCert};
pub use coded::{Coding, coded, coded_zeros};
pub use fault_list::HTTP_FAULTS;
pub use faults::{Fault, FaultCase, FaultSetting, Transport};
pub use file_handler::{FileFacts, Ranges, file_handler, pattern_handler};
pub use ftp_fault_list::FTP_FAULTS;
pub use ftp_faults::{FtpFault, FtpFaultCert, FtpFaultSetting, FtpTransport};
pub use ftp_rule::{Act, Ending, On, Rule};
pub use ftp_server::FtpServer;
pub use ftp_site::{EmptyCwd, FtpSite};
pub use gopher_fault_list::GOPHER_FAULTS;
pub use gopher_faults::{GopherFault, GopherFaultCert, GopherFaultSetting, GopherProof, GopherResult};
pub use gopher_form::{GopherAsk, GopherForm};
pub use gopher_item::{GopherEnd, GopherItem, GopherLength};
pub use gopher_plus_fault_list::GOPHER_PLUS_FAULTS;
pub use gopher_rule::{GopherAct, GopherOn, GopherRule};
pub use gopher_server::GopherServer;
pub use gopher_site::GopherSite;
pub use http_date::http_date;
pub use http_reply::HttpReply;
pub use http_request::HttpRequest;
pub use http_server::HttpServer;
pub use nntp_article::NntpArticle;
pub use nntp_fault_list::NNTP_FAULTS;
pub use nntp_faults::{NntpFault, NntpFaultCert, NntpFaultSetting, NntpResult, NntpTransport};
pub use nntp_group::NntpGroup;
pub use nntp_listing_fault_list::NNTP_LISTING_FAULTS;
pub use nntp_login_fault_list::NNTP_LOGIN_FAULTS;
pub use nntp_rule::{NntpAct, NntpOn, NntpRule};
pub use nntp_server::NntpServer;
pub use nntp_site::{NntpDialect, NntpSite};
pub use pattern::{pattern, pattern_vec};
pub use proxy_server::{ConnectFault, ProxyServer};
#[cfg(unix)]
pub use pty::Terminal;
pub use script::{Script, Step};
pub use script_server::ScriptServer;
pub use socks::SocksFault;
pub use temp::{Before, Target};
pub use tunnel::{AddressType, Tunnel};
pub use wais_database::WaisDatabase;
pub use wais_diagnostic::WaisDiagnostic;
pub use wais_document::WaisDocument;
pub use wais_fault_list::WAIS_FAULTS;
pub use wais_faults::{WaisFault, WaisFaultSetting, WaisResult};
pub use wais_request::WaisRequest;
pub use wais_rule::{WaisAct, WaisCut, WaisLayer, WaisOn, WaisRule};
pub use wais_search_fault_list::WAIS_SEARCH_FAULTS;
pub use wais_server::WaisServer;
pub use wais_site::WaisSite;
