//! The rows of the HTTP fault table (docs/spec/faults.md, section 3). The server sends the same response to every
//! request.

use std::io::Result;

use crate::cert::ServerCert;
use crate::fault::row::{Fault, FaultFixture, FaultServer, Transport};
use crate::http::request::HttpRequest;
use crate::http::response::HttpResponse;
use crate::http::server::HttpServer;

/// A row of the HTTP fault table.
pub type HttpFault = Fault<HttpServer>;

/// A request to a faulty server.
#[derive(Clone, Copy, Debug)]
pub struct HttpFaultRequest<'a> {
    /// The request.
    pub request: &'a HttpRequest,
    /// The contents that the rows assume.
    pub fixture: &'a FaultFixture,
}

type Play = fn(&HttpFaultRequest<'_>) -> HttpResponse;

impl FaultServer for HttpServer {
    type Play = Play;

    fn start_fault(
        fault: &Fault<Self>,
        transport: Transport,
        fixture: &FaultFixture,
        cert: &ServerCert,
    ) -> Result<Self> {
        let (play, fixture) = (fault.play, fixture.clone());
        let handler = move |request: &HttpRequest| play(&HttpFaultRequest { request, fixture: &fixture });
        if transport == Transport::Plain { Self::start(handler) } else { Self::start_tls(handler, cert) }
    }

    fn fault_url(&self, path: &str) -> String {
        self.url(path)
    }
}

impl HttpFault {
    /// A row in plaintext.
    pub(crate) const fn new(name: &'static str, exit: i32, play: Play) -> Self {
        Self::row(name, exit, play, "a")
    }
}

impl<'a> HttpFaultRequest<'a> {
    /// Returns the correct content.
    #[must_use]
    pub fn content(&self) -> &'a [u8] {
        &self.fixture.content
    }
}

#[cfg(test)]
#[path = "faults_tests.rs"]
mod tests;
