//! The nntp and news column of the fault matrix (SECURITY.md, section 3): what a fault is and how a server
//! plays it.
//!
//! The faults themselves are data, in `fault_list.rs`, `listing_fault_list.rs` and
//! `login_fault_list.rs`. Run each with [`Before::Absent`](crate::Before) and
//! [`Before::Old`](crate::Before), without retries, over each of its transports. Only the final dot says that an
//! article is whole, and nothing is resumed: after a failure nothing is left over.

use std::io::Result;
use std::time::Duration;

use crate::cert::ServerCert;
use crate::nntp::fault_list::NNTP_FAULTS;
use crate::nntp::fault_sites::SECRET;
use crate::nntp::listing_fault_list::NNTP_LISTING_FAULTS;
use crate::nntp::login_fault_list::NNTP_LOGIN_FAULTS;
use crate::nntp::server::NntpServer;
use crate::nntp::site::NntpSite;

/// How the connection is protected.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum NntpTransport {
    /// nntp and news, by STARTTLS if the client likes: the server offers it, and nobody insists.
    Offered,
    /// nntp and news, not at all.
    Plain,
    /// nntp and news, by STARTTLS, which the client must insist on.
    Starttls,
    /// nntps and snews.
    Tls,
}

/// What the server shows, measured against what the client trusts.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum NntpFaultCert {
    /// It ended in 2001.
    Expired,
    /// Nothing wrong.
    Good,
    /// Signed by its owner.
    SelfSigned,
    /// For another host.
    WrongName,
}

/// What the name holds after exit status 0.
#[derive(Clone, Copy, Debug)]
pub enum NntpResult {
    /// Exactly this.
    Is(fn(&NntpFaultSetting) -> Vec<u8>),
    /// All of these, and nothing that a terminal would obey.
    Shows(&'static [&'static str]),
}

/// One fault, and what the client must make of it.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct NntpFault {
    /// Lower case with underscores; unique.
    pub name: &'static str,
    /// In clear, by STARTTLS, under TLS.
    pub transports: &'static [NntpTransport],
    /// What the server shows under TLS.
    pub cert: NntpFaultCert,
    /// The server.
    pub site: fn(&NntpFaultSetting) -> NntpSite,
    /// Group and number behind the slash after the host; or what begins with `news:`.
    pub path: &'static str,
    /// The options that the client needs for it, see [`NntpFault::arguments`].
    pub options: &'static [&'static str],
    /// The exit status of CLI.md. With any other than 0 the name is untouched and nothing is left over.
    pub expect: i32,
    /// Exit statuses that would be right as well.
    pub also: &'static [i32],
    /// What the name holds with exit status 0, also where another was expected.
    pub result: NntpResult,
    /// What standard error says when it is not 0.
    pub says: &'static [&'static str],
}

/// What all faults of a test run share.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct NntpFaultSetting {
    /// The article `<plain@test.invalid>`, number 1 of `fetch.test`: whole lines that end in CR LF and do not
    /// begin with a dot; more than 514 octets.
    pub article: Vec<u8>,
    /// How long a stalled server says nothing: longer than the client's idle timeout.
    pub stall: Duration,
}

impl Default for NntpFaultSetting {
    /// About 1500 octets and a stall of 10 seconds.
    fn default() -> Self {
        let body: String = (0..100).map(|line| format!("{line:02}: a line.\r\n")).collect();
        let article = crate::NntpArticle::post("plain@test.invalid", "plain article 1", body);
        Self { article: article.octets(), stall: Duration::from_secs(10) }
    }
}

impl NntpFault {
    /// Those of all three tables.
    pub fn all() -> impl Iterator<Item = &'static Self> {
        NNTP_FAULTS.iter().chain(NNTP_LISTING_FAULTS).chain(NNTP_LOGIN_FAULTS)
    }

    /// Whether this exit status is right.
    #[must_use]
    pub fn accepts(&self, exit: i32) -> bool {
        exit == self.expect || self.also.contains(&exit)
    }

    /// The options that the client needs over this transport, beside those for the certificate. Many have the
    /// login in [`NntpFault::options`]; its password is `secret-7`.
    #[must_use]
    pub fn arguments(&self, transport: NntpTransport, server: &NntpServer) -> Vec<String> {
        let mut words: Vec<String> = self.options.iter().map(|word| (*word).to_owned()).collect();
        if transport == NntpTransport::Starttls {
            words.push("--ssl-reqd".to_owned());
        }
        if self.path.starts_with("news:") {
            words.extend(["--news-server".to_owned(), server.news_server()]);
        }
        words
    }

    /// The URL of the article on a server with this fault.
    #[must_use]
    pub fn url(&self, server: &NntpServer) -> String {
        match self.path.strip_prefix("news:") {
            Some(part) => server.news_url(part),
            None => server.url(self.path),
        }
    }

    /// The command lines with a login that the server heard in clear, and should not have.
    #[must_use]
    pub fn secrets_in_clear(&self, server: &NntpServer) -> Vec<String> {
        if self.options.contains(&"--insecure-auth") {
            return Vec::new();
        }
        let is_secret =
            |line: &String| line.to_ascii_uppercase().starts_with("AUTHINFO") || line.contains(SECRET);
        server.in_clear().into_iter().filter(is_secret).collect()
    }

    /// Starts a server with this fault. Also gives the CA certificate that the client trusts, in PEM; `good` is
    /// what the server shows if nothing is wrong with it.
    pub fn serve(
        &self,
        transport: NntpTransport,
        setting: &NntpFaultSetting,
        good: &ServerCert,
    ) -> Result<(NntpServer, String)> {
        let shown = match self.cert {
            NntpFaultCert::Expired => ServerCert::expired()?,
            NntpFaultCert::Good => good.clone(),
            NntpFaultCert::SelfSigned => ServerCert::self_signed()?,
            NntpFaultCert::WrongName => ServerCert::wrong_name()?,
        };
        // Who trusts a self-signed certificate finds nothing wrong with it.
        let trusted = if self.cert == NntpFaultCert::SelfSigned { good } else { &shown };
        let site = (self.site)(setting);
        let server = match transport {
            NntpTransport::Plain => NntpServer::start(site),
            NntpTransport::Offered | NntpTransport::Starttls => NntpServer::start(site.starttls(&shown)),
            NntpTransport::Tls => NntpServer::start_tls(site, &shown),
        };
        Ok((server?, trusted.ca_pem().to_owned()))
    }

    /// A fault met on the way to article 1, in clear and under TLS.
    pub(crate) const fn new(
        name: &'static str,
        expect: i32,
        site: fn(&NntpFaultSetting) -> NntpSite,
    ) -> Self {
        Self {
            name,
            transports: &[NntpTransport::Plain, NntpTransport::Tls],
            cert: NntpFaultCert::Good,
            site,
            path: "fetch.test/1",
            options: &[],
            expect,
            also: &[],
            result: NntpResult::Is(|setting| setting.article.clone()),
            says: &[],
        }
    }

    /// A fault met on the way to `<plain@test.invalid>`.
    pub(crate) const fn news(
        name: &'static str,
        expect: i32,
        site: fn(&NntpFaultSetting) -> NntpSite,
    ) -> Self {
        Self { path: "news:plain@test.invalid", ..Self::new(name, expect, site) }
    }

    /// A fault met by one who has a login, and whose server wants one.
    pub(crate) const fn login(
        name: &'static str,
        expect: i32,
        site: fn(&NntpFaultSetting) -> NntpSite,
    ) -> Self {
        Self { options: &["-u", "alice:secret-7"], path: "fetch.private/1", ..Self::new(name, expect, site) }
    }

    /// A fault met on the way to a list, in clear. With exit status 0 this is in it.
    pub(crate) const fn list(
        name: &'static str,
        expect: i32,
        path: &'static str,
        site: fn(&NntpFaultSetting) -> NntpSite,
        shows: &'static [&'static str],
    ) -> Self {
        Self { path, result: NntpResult::Shows(shows), ..Self::new(name, expect, site).plain() }
    }

    pub(crate) const fn or(self, also: &'static [i32]) -> Self {
        Self { also, ..self }
    }

    pub(crate) const fn at(self, path: &'static str) -> Self {
        Self { path, ..self }
    }

    pub(crate) const fn with(self, options: &'static [&'static str]) -> Self {
        Self { options, ..self }
    }

    pub(crate) const fn is(self, content: fn(&NntpFaultSetting) -> Vec<u8>) -> Self {
        Self { result: NntpResult::Is(content), ..self }
    }

    pub(crate) const fn says(self, words: &'static [&'static str]) -> Self {
        Self { says: words, ..self }
    }

    pub(crate) const fn plain(self) -> Self {
        Self { transports: &[NntpTransport::Plain], ..self }
    }

    pub(crate) const fn tls(self) -> Self {
        Self { transports: &[NntpTransport::Tls], ..self }
    }

    pub(crate) const fn starttls(self) -> Self {
        Self { transports: &[NntpTransport::Starttls], ..self }
    }

    pub(crate) const fn offered(self) -> Self {
        Self { transports: &[NntpTransport::Offered], ..self }
    }

    pub(crate) const fn all_ways(self) -> Self {
        let transports = &[NntpTransport::Plain, NntpTransport::Starttls, NntpTransport::Tls];
        Self { transports, ..self }
    }

    pub(crate) const fn secured(self) -> Self {
        Self { transports: &[NntpTransport::Starttls, NntpTransport::Tls], ..self }
    }

    pub(crate) const fn showing(self, cert: NntpFaultCert) -> Self {
        Self { cert, ..self.secured() }
    }
}

#[cfg(test)]
#[path = "faults_tests.rs"]
mod tests;
