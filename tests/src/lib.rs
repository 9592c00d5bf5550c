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
mod http_date;
mod http_reply;
mod http_request;
mod http_server;
mod listener;
mod pattern;
mod proxy_server;
#[cfg(unix)]
mod pty;
mod script;
mod script_server;
mod socks;
mod temp;
mod tunnel;
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
pub use http_date::http_date;
pub use http_reply::HttpReply;
pub use http_request::HttpRequest;
pub use http_server::HttpServer;
pub use pattern::{pattern, pattern_vec};
pub use proxy_server::{ConnectFault, ProxyServer};
#[cfg(unix)]
pub use pty::Terminal;
pub use script::{Script, Step};
pub use script_server::ScriptServer;
pub use socks::SocksFault;
pub use temp::{Before, Target};
pub use tunnel::{AddressType, Tunnel};
