//! Suggestions of what a caller can do about an error. The library names its settings; the command line shows options.

use std::fmt;

/// A suggestion that goes with an [`Error`](crate::Error).
///
/// `Display` names the setting of this library. A program with options of its own matches on the variant and shows the
/// name of its option.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Hint {
    /// A form of Gopher+ has a question without an answer; questions are counted from 1.
    AnswerForm(usize),
    /// Allow Basic authentication, which sends the password in plain text.
    BasicLogin,
    /// Use a name of the certificate in the URL.
    CertificateName,
    /// The certificate is not valid now: check the clock, or accept any certificate.
    CertificateTime,
    /// Give the client's certificate.
    ClientCertificate,
    /// Give the private key of the client's certificate.
    ClientKey,
    /// Open the interactive session.
    Connect,
    /// Trust another certification authority.
    CustomAuthority,
    /// Connect to the host directly instead of through the proxy.
    Direct,
    /// Allow redirects from TLS to plain text.
    Downgrade,
    /// Give the FTP account (ACCT, RFC 959 §4.1.1).
    FtpAccount,
    /// Allow passwords on a connection without TLS.
    InsecureLogin,
    /// Give a user name and a password.
    Login,
    /// Name the news server for URLs without one.
    NewsServer,
    /// Use passive mode for FTP data connections.
    PassiveMode,
    /// Allow this port.
    Port(u16),
    /// Allow redirects from a public to a private address.
    PrivateRedirect,
    /// Give a user name and a password for the proxy.
    ProxyLogin,
    /// Tunnel FTP through the HTTP proxy with CONNECT.
    ProxyTunnel,
    /// Allow reading FIFOs and devices.
    SpecialFiles,
    /// A complete sentence.
    Text(String),
}

impl Hint {
    /// Returns the text of a [`Hint::Text`], which may contain text from a server.
    pub(super) const fn text_mut(&mut self) -> Option<&mut String> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }
}

impl fmt::Display for Hint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::AnswerForm(number) => {
                return write!(f, "answer question {number} with GopherOptions::answers");
            }
            Self::BasicLogin => {
                "AuthMode::AfterChallenge also allows Basic, which sends the password in plain text"
            }
            Self::CertificateName => {
                "use a name of the certificate in the URL; Routes::connect_to keeps the server"
            }
            Self::CertificateTime => {
                "check the clock of this machine; TlsOptions::trust decides which certificates are accepted"
            }
            Self::ClientCertificate => "set a client certificate with TlsOptions::identity",
            Self::ClientKey => {
                "pass the private key to Identity::from_pem: it is not in the file of the certificate"
            }
            Self::Connect => "Request::open_session opens the session",
            Self::CustomAuthority => "TlsOptions::trust adds or replaces certification authorities",
            Self::Direct => "Proxies::direct lists hosts that are contacted without the proxy",
            Self::Downgrade => "RedirectLimits::allow_downgrade allows redirects from https to http",
            Self::FtpAccount => "FtpOptions::account gives the account",
            Self::InsecureLogin => {
                "use nntps, or NewsOptions::insecure_auth to send the password in plain text"
            }
            Self::Login => "give a user name and a password with Credentials",
            Self::NewsServer => "Request::news_server names the server",
            Self::PassiveMode => "FtpOptions::active must not be set: passive mode works through a proxy",
            Self::Port(port) => return write!(f, "NetworkPolicy::allowed_ports allows port {port}"),
            Self::PrivateRedirect => {
                "NetworkPolicy::allow_private allows redirects from public to private addresses"
            }
            Self::ProxyLogin => "Proxy::with_login gives user name and password for the proxy",
            Self::ProxyTunnel => "Proxies::tunnel sends FTP through the proxy with CONNECT",
            Self::SpecialFiles => "Request::special_files allows FIFOs and devices",
            Self::Text(text) => text,
        })
    }
}

impl From<&str> for Hint {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Hint {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}
