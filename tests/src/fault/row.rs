//! A row of a fault table: how a server misbehaves, and how the client must end.
//!
//! The rows are data, in the files `*fault_list.rs` of each protocol.

use std::io::Result;
use std::time::Duration;

use crate::cert::ServerCert;
use crate::pattern::pattern_vec;

/// A server that can play the rows of a fault table.
pub trait FaultServer: Sized + 'static {
    /// How a row describes its server: a function that returns a configuration or a response.
    type Play: Copy + Send + Sync + 'static;

    /// Returns the contents that the rows of this protocol assume.
    fn fixture() -> FaultFixture {
        FaultFixture::default()
    }

    /// Starts a server that plays the row. `cert` is its certificate for TLS.
    fn start_fault(
        fault: &Fault<Self>,
        transport: Transport,
        fixture: &FaultFixture,
        cert: &ServerCert,
    ) -> Result<Self>;

    /// Returns the URL of a row's path on this server.
    fn fault_url(&self, path: &str) -> String;

    /// Returns the options that the client needs for this transport and path, besides those of the row.
    fn client_arguments(&self, _transport: Transport, _path: &str) -> Vec<String> {
        Vec::new()
    }

    /// Disables the rules of the server, if it has any.
    fn disable_rules(&self) {}
}

/// How a connection is encrypted.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Transport {
    /// Not at all.
    Plain,
    /// TLS after AUTH TLS or STARTTLS. The client requires it.
    StartTls,
    /// The server offers STARTTLS and the client does not require it.
    StartTlsOffered,
    /// TLS from the first byte: https, ftps, gophers, nntps, snews.
    Tls,
}

/// The certificate that a server presents, compared with what the client trusts.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum FaultCert {
    /// Valid, but on data connections the certificate is self-signed.
    DataSelfSigned,
    /// Expired in 2001.
    Expired,
    /// Valid.
    Good,
    /// Not valid before the year 4000.
    NotYetValid,
    /// Self-signed and not trusted.
    SelfSigned,
    /// Valid, and the server supports TLS 1.2 only.
    Tls12,
    /// Valid for another host.
    WrongName,
}

/// The expected content of the output file after exit status 0.
#[derive(Clone, Copy, Debug)]
pub enum FaultResult {
    /// Text that contains all of these words and no control characters.
    Contains(&'static [&'static str]),
    /// Exactly these bytes.
    Exactly(fn(&FaultFixture) -> Vec<u8>),
}

/// How it is known that a result is complete.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Completeness {
    /// Assumed, because the protocol cannot prove it for such an object: `--require-complete` refuses it.
    Assumed,
    /// Assumed because a terminator is missing: there is a note, and `--require-complete` refuses it.
    AssumedWithNote,
    /// Proven: there is no note, and `--require-complete` accepts it.
    Proven,
    /// Proven, but there is a note.
    ProvenWithNote,
}

/// One row of a fault table.
pub struct Fault<S: FaultServer> {
    /// The name: lower case with underscores, unique within the protocol.
    pub name: &'static str,
    /// How the server plays the fault.
    pub play: S::Play,
    /// The transports over which the row is run.
    pub transports: &'static [Transport],
    /// The certificate under TLS.
    pub cert: FaultCert,
    /// The part of the URL after the host and the slash, or a URL that begins with `news:`.
    pub path: &'static str,
    /// Options of the client.
    pub arguments: &'static [&'static str],
    /// The expected exit status (`docs/spec/cli.md`). With any status but 0 the output file is untouched.
    pub exit: i32,
    /// Other exit statuses that are accepted.
    pub other_exits: &'static [i32],
    /// The expected content of the output file after exit status 0, also if another status was expected.
    pub result: FaultResult,
    /// How it is known that the result is complete. `None`: the test does not check it.
    pub completeness: Option<Completeness>,
    /// After a failure a prefix of the content, at least one byte, is kept for a resume. If `false`, no temporary file
    /// is left.
    pub keeps_part: bool,
    /// Words that the error message on standard error contains after a failure.
    pub message: &'static [&'static str],
}

/// The contents, stall and certificate that all rows of a test run share.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct FaultFixture {
    /// The content of the object under test; more than 514 bytes.
    pub content: Vec<u8>,
    /// Gopher: the content of the text item. Complete lines that end in CR LF and do not start with a dot;
    /// more than 514 bytes.
    pub text: Vec<u8>,
    /// The time for which a stalled server sends nothing. It must be longer than the idle timeout of the client.
    pub stall: Duration,
    /// HTTP: `host:port` for redirects that must not be followed.
    pub elsewhere: String,
}

impl Default for FaultFixture {
    /// Returns 2000 bytes, a hundred lines, a stall of 10 seconds, and port 1, on which nothing listens.
    fn default() -> Self {
        let text: String = (0..100).map(|line| format!("{line:02}: a line.\r\n")).collect();
        Self {
            content: pattern_vec(0, 2000),
            text: text.into_bytes(),
            stall: Duration::from_secs(10),
            elsewhere: "127.0.0.1:1".to_owned(),
        }
    }
}

impl<S: FaultServer> Fault<S> {
    /// Returns `true` if the exit status is expected or accepted.
    #[must_use]
    pub fn accepts(&self, exit: i32) -> bool {
        exit == self.exit || self.other_exits.contains(&exit)
    }

    /// Starts a server that plays the row. Returns it together with the CA certificate that the client must
    /// trust, in PEM. `good` is presented if the row does not say otherwise.
    pub fn serve(
        &self,
        transport: Transport,
        fixture: &FaultFixture,
        good: &ServerCert,
    ) -> Result<(S, String)> {
        let presented = match self.cert {
            FaultCert::Good | FaultCert::DataSelfSigned => good.clone(),
            FaultCert::Expired => ServerCert::expired()?,
            FaultCert::NotYetValid => ServerCert::not_yet_valid()?,
            FaultCert::SelfSigned => ServerCert::self_signed()?,
            FaultCert::Tls12 => good.clone().only_tls12(),
            FaultCert::WrongName => ServerCert::wrong_name()?,
        };
        // The client must not trust the self-signed certificate itself, because it would then accept it.
        let trusted = if self.cert == FaultCert::SelfSigned { good } else { &presented };
        let server = S::start_fault(self, transport, fixture, &presented)?;
        Ok((server, trusted.ca_pem().to_owned()))
    }

    /// Returns the URL of the row on this server.
    #[must_use]
    pub fn url(&self, server: &S) -> String {
        server.fault_url(self.path)
    }
}

/// Constructors of table rows. Each protocol adds its own.
impl<S: FaultServer> Fault<S> {
    /// A row in plaintext. After exit status 0 the output file holds the content of the fixture.
    pub(crate) const fn row(name: &'static str, exit: i32, play: S::Play, path: &'static str) -> Self {
        Self {
            name,
            play,
            transports: &[Transport::Plain],
            cert: FaultCert::Good,
            path,
            arguments: &[],
            exit,
            other_exits: &[],
            result: FaultResult::Exactly(|fixture| fixture.content.clone()),
            completeness: None,
            keeps_part: false,
            message: &[],
        }
    }

    /// Accepts these exit statuses too.
    pub(crate) const fn or(self, other_exits: &'static [i32]) -> Self {
        Self { other_exits, ..self }
    }

    /// Sets the path of the URL.
    pub(crate) const fn at(self, path: &'static str) -> Self {
        Self { path, ..self }
    }

    /// Sets options of the client.
    pub(crate) const fn with(self, arguments: &'static [&'static str]) -> Self {
        Self { arguments, ..self }
    }

    /// Sets the bytes of the output file.
    pub(crate) const fn stores(self, content: fn(&FaultFixture) -> Vec<u8>) -> Self {
        Self { result: FaultResult::Exactly(content), ..self }
    }

    /// Sets the words that the output file contains.
    pub(crate) const fn shows(self, words: &'static [&'static str]) -> Self {
        Self { result: FaultResult::Contains(words), ..self }
    }

    /// Sets the words that the error message contains.
    pub(crate) const fn message(self, words: &'static [&'static str]) -> Self {
        Self { message: words, ..self }
    }

    /// Keeps a prefix for a resume.
    pub(crate) const fn keeping_part(self) -> Self {
        Self { keeps_part: true, ..self }
    }

    pub(crate) const fn assumed(self) -> Self {
        Self { completeness: Some(Completeness::Assumed), ..self }
    }

    pub(crate) const fn assumed_with_note(self) -> Self {
        Self { completeness: Some(Completeness::AssumedWithNote), ..self }
    }

    pub(crate) const fn proven(self) -> Self {
        Self { completeness: Some(Completeness::Proven), ..self }
    }

    pub(crate) const fn proven_with_note(self) -> Self {
        Self { completeness: Some(Completeness::ProvenWithNote), ..self }
    }

    pub(crate) const fn plain(self) -> Self {
        Self { transports: &[Transport::Plain], ..self }
    }

    pub(crate) const fn tls(self) -> Self {
        Self { transports: &[Transport::Tls], ..self }
    }

    pub(crate) const fn plain_and_tls(self) -> Self {
        Self { transports: &[Transport::Plain, Transport::Tls], ..self }
    }

    pub(crate) const fn start_tls(self) -> Self {
        Self { transports: &[Transport::StartTls], ..self }
    }

    /// Sets the certificate. The row must run over TLS.
    pub(crate) const fn presenting(self, cert: FaultCert) -> Self {
        Self { cert, ..self }
    }
}
