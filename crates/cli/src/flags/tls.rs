//! Options for TLS.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// Options for TLS.
#[derive(Args, Debug)]
pub struct TlsFlags {
    /// Trust only the certificate authorities in this PEM file
    ///
    /// By default those of the system are trusted, or Mozilla's if the system has none.
    #[arg(long, value_name = "FILE")]
    pub cacert: Option<PathBuf>,
    /// Accept every certificate
    ///
    /// Anyone on the network path can then read and change the data.
    #[arg(short = 'k', long)]
    pub insecure: bool,
    /// Client certificate, in PEM
    #[arg(short = 'E', long, value_name = "FILE")]
    pub cert: Option<PathBuf>,
    /// Private key of the client certificate, in PEM, if it is in another file
    #[arg(long, value_name = "FILE", requires = "cert")]
    pub key: Option<PathBuf>,
    /// Require one of these public keys of the server
    ///
    /// The form is sha256//BASE64, several separated by ;, or a file with a public key.
    #[arg(long, value_name = "HASHES|FILE")]
    pub pinnedpubkey: Option<String>,
    /// For ftp, news and nntp: use TLS if the server supports it
    ///
    /// An attacker on the network path can prevent TLS. Use --ssl-reqd to require it.
    #[arg(long, alias = "ftp-ssl", overrides_with = "ssl_reqd")]
    pub ssl: bool,
    /// For ftp, news and nntp: require TLS
    ///
    /// Without TLS, neither a login nor a request is sent.
    #[arg(long, alias = "ftp-ssl-reqd")]
    pub ssl_reqd: bool,
    /// Accept the end of a TLS connection without close_notify
    ///
    /// It applies to gophers URLs and to FTP data connections. An attacker on the network path can then truncate the data.
    #[arg(long)]
    pub allow_tls_truncation: bool,
    /// Use TLS 1.2 or later (the default)
    #[arg(long = "tlsv1.2", overrides_with = "tlsv1_3")]
    pub tlsv1_2: bool,
    /// Use TLS 1.3 or later
    #[arg(long = "tlsv1.3")]
    pub tlsv1_3: bool,
    /// Maximum version of TLS
    #[arg(long, value_name = "VERSION")]
    pub tls_max: Option<TlsMax>,
}

/// The maximum version of TLS.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum TlsMax {
    /// TLS 1.2
    #[value(name = "1.2")]
    V12,
    /// TLS 1.3
    #[value(name = "1.3")]
    V13,
    /// The highest version that both sides support
    Default,
}
