//! The rows of the news fault tables (docs/spec/faults.md, section 3). Only the terminating dot proves that an
//! article is complete, and articles are not resumed: after a failure nothing is left over.

use std::io::Result;

use crate::cert::ServerCert;
use crate::fault::row::{Fault, FaultFixture, FaultServer, Transport};
use crate::nntp::article::NntpArticle;
use crate::nntp::config::NntpConfig;
use crate::nntp::fault_configs::SECRET;
use crate::nntp::fault_list::NNTP_FAULTS;
use crate::nntp::listing_fault_list::NNTP_LISTING_FAULTS;
use crate::nntp::login_fault_list::NNTP_LOGIN_FAULTS;
use crate::nntp::server::NntpServer;

/// A row of a news fault table.
pub type NntpFault = Fault<NntpServer>;

type Play = fn(&FaultFixture) -> NntpConfig;

impl FaultServer for NntpServer {
    type Play = Play;

    /// Returns the article `<plain@test.invalid>`, number 1 of `fetch.test`, as the content: about 1500 bytes
    /// of complete lines.
    fn fixture() -> FaultFixture {
        let defaults = FaultFixture::default();
        let body = String::from_utf8_lossy(&defaults.text).into_owned();
        let article = NntpArticle::post("plain@test.invalid", "plain article 1", body);
        FaultFixture { content: article.bytes(), ..defaults }
    }

    fn start_fault(
        fault: &Fault<Self>,
        transport: Transport,
        fixture: &FaultFixture,
        cert: &ServerCert,
    ) -> Result<Self> {
        let config = (fault.play)(fixture);
        match transport {
            Transport::Plain => Self::start(config),
            Transport::StartTls | Transport::StartTlsOffered => Self::start(config.starttls(cert)),
            Transport::Tls => Self::start_tls(config, cert),
        }
    }

    fn fault_url(&self, path: &str) -> String {
        match path.strip_prefix("news:") {
            Some(part) => self.news_url(part),
            None => self.url(path),
        }
    }

    fn client_arguments(&self, transport: Transport, path: &str) -> Vec<String> {
        let mut words = Vec::new();
        if transport == Transport::StartTls {
            words.push("--ssl-reqd".to_owned());
        }
        if path.starts_with("news:") {
            words.extend(["--news-server".to_owned(), self.news_server()]);
        }
        words
    }

    fn disable_rules(&self) {
        self.disable_rules();
    }
}

impl NntpFault {
    /// Returns the rows of all three tables.
    pub fn all() -> impl Iterator<Item = &'static Self> {
        NNTP_FAULTS.iter().chain(NNTP_LISTING_FAULTS).chain(NNTP_LOGIN_FAULTS)
    }

    /// Returns the command lines with a user or a password that the server received in plaintext, unless the
    /// row allows them by `--insecure-auth`. The password of the rows is `secret-7`.
    #[must_use]
    pub fn plaintext_logins(&self, server: &NntpServer) -> Vec<String> {
        if self.arguments.contains(&"--insecure-auth") {
            return Vec::new();
        }
        let is_login =
            |line: &String| line.to_ascii_uppercase().starts_with("AUTHINFO") || line.contains(SECRET);
        server.plaintext_commands().into_iter().filter(is_login).collect()
    }

    /// A row about article 1, in plaintext and under TLS.
    pub(crate) const fn new(name: &'static str, exit: i32, play: Play) -> Self {
        Self::row(name, exit, play, "fetch.test/1").plain_and_tls()
    }

    /// A row about `<plain@test.invalid>`, in plaintext and under TLS.
    pub(crate) const fn news(name: &'static str, exit: i32, play: Play) -> Self {
        Self::row(name, exit, play, "news:plain@test.invalid").plain_and_tls()
    }

    /// A row about an article that requires a login. The client has one.
    pub(crate) const fn login(name: &'static str, exit: i32, play: Play) -> Self {
        Self::row(name, exit, play, "fetch.private/1").plain_and_tls().with(&["-u", "alice:secret-7"])
    }

    /// A row about a listing, in plaintext. After exit status 0 the output contains these words.
    pub(crate) const fn list(
        name: &'static str,
        exit: i32,
        path: &'static str,
        play: Play,
        shows: &'static [&'static str],
    ) -> Self {
        Self::row(name, exit, play, path).shows(shows)
    }

    pub(crate) const fn offered(self) -> Self {
        Self { transports: &[Transport::StartTlsOffered], ..self }
    }

    pub(crate) const fn all_transports(self) -> Self {
        Self { transports: &[Transport::Plain, Transport::StartTls, Transport::Tls], ..self }
    }

    pub(crate) const fn encrypted(self) -> Self {
        Self { transports: &[Transport::StartTls, Transport::Tls], ..self }
    }
}

#[cfg(test)]
#[path = "faults_tests.rs"]
mod tests;
