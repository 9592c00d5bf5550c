//! The http column of the fault matrix (SECURITY.md, section 3): what a fault is and how a server plays it.
//!
//! The faults themselves are data, in `fault_list.rs`. Run each with [`Before::Absent`](crate::Before) and
//! [`Before::Old`](crate::Before), without retries: the server answers every request with the same fault.

use std::io::Result;
use std::time::Duration;

use crate::cert::ServerCert;
use crate::http::reply::HttpReply;
use crate::http::request::HttpRequest;
use crate::http::server::HttpServer;
use crate::pattern::pattern_vec;

/// Whether the fault needs TLS.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Transport {
    /// http.
    Plain,
    /// https.
    Tls,
}

/// One way to answer, and what the client must make of it.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Fault {
    /// Lower case with underscores; unique.
    pub name: &'static str,
    /// Plain or TLS.
    pub transport: Transport,
    /// The answer to a request.
    pub reply: fn(&FaultCase<'_>) -> HttpReply,
    /// The exit status of CLI.md. With 0 the name holds the whole content; with any other it is untouched.
    pub expect: i32,
    /// Exit statuses that would be right as well.
    pub also: &'static [i32],
    /// Whether a true prefix of the content, of at least one octet, stays for a resume. If not, nothing is
    /// left over (an empty partial file aside).
    pub keeps_part: bool,
}

/// What all faults of a test run share.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct FaultSetting {
    /// The content that an honest server would give; more than 514 octets.
    pub content: Vec<u8>,
    /// How long a stalled server says nothing: longer than the client's idle timeout.
    pub stall: Duration,
    /// `host:port` for redirects to elsewhere. A listener there can count the hits, which must be none.
    pub elsewhere: String,
}

/// One request to a faulty server.
#[derive(Clone, Copy, Debug)]
pub struct FaultCase<'a> {
    /// The request.
    pub request: &'a HttpRequest,
    /// What the test run chose.
    pub setting: &'a FaultSetting,
}

impl Default for FaultSetting {
    /// 2000 octets, a stall of 10 seconds, and port 1, where nothing listens.
    fn default() -> Self {
        let content = pattern_vec(0, 2000);
        Self { content, stall: Duration::from_secs(10), elsewhere: "127.0.0.1:1".to_owned() }
    }
}

impl Fault {
    /// Whether this exit status is right.
    #[must_use]
    pub fn accepts(&self, exit: i32) -> bool {
        exit == self.expect || self.also.contains(&exit)
    }

    /// Starts a server with this fault; `cert` is used if the fault needs TLS.
    pub fn serve(&'static self, setting: FaultSetting, cert: &ServerCert) -> Result<HttpServer> {
        let reply = self.reply;
        let handler = move |request: &HttpRequest| reply(&FaultCase { request, setting: &setting });
        match self.transport {
            Transport::Plain => HttpServer::start(handler),
            Transport::Tls => HttpServer::start_tls(handler, cert),
        }
    }

    /// A fault after which nothing is left over.
    pub(crate) const fn new(name: &'static str, expect: i32, reply: fn(&FaultCase<'_>) -> HttpReply) -> Self {
        Self { name, transport: Transport::Plain, reply, expect, also: &[], keeps_part: false }
    }

    pub(crate) const fn or(self, also: &'static [i32]) -> Self {
        Self { also, ..self }
    }

    pub(crate) const fn keeping_part(self) -> Self {
        Self { keeps_part: true, ..self }
    }

    pub(crate) const fn tls(self) -> Self {
        Self { transport: Transport::Tls, ..self }
    }
}

impl<'a> FaultCase<'a> {
    /// The honest content.
    #[must_use]
    pub fn content(&self) -> &'a [u8] {
        &self.setting.content
    }
}
