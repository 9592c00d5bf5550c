//! Who is believed in TLS, and who we are there.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// Who is believed in TLS.
#[derive(Args, Debug)]
pub struct Tls {
    /// Believe only the authorities in this PEM file
    #[arg(long, value_name = "FILE")]
    pub cacert: Option<PathBuf>,
    /// Believe every certificate: anybody on the way can read and change what comes
    #[arg(short = 'k', long)]
    pub insecure: bool,
    /// Our own certificate, in PEM
    #[arg(short = 'E', long, value_name = "FILE")]
    pub cert: Option<PathBuf>,
    /// The key of our certificate, in PEM, when it is not in the same file
    #[arg(long, value_name = "FILE", requires = "cert")]
    pub key: Option<PathBuf>,
    /// The server must have one of these keys: sha256//BASE64, several with ; between, or a file
    #[arg(long, value_name = "HASHES|FILE")]
    pub pinnedpubkey: Option<String>,
    /// A protocol that begins in the clear goes on in TLS, if the server can: whoever is on the way can
    /// make it look as if it could not
    #[arg(long, alias = "ftp-ssl", overrides_with = "ssl_reqd")]
    pub ssl: bool,
    /// The same, and nothing without TLS: nobody logs in before
    #[arg(long, alias = "ftp-ssl-reqd")]
    pub ssl_reqd: bool,
    /// An end without close_notify is an end, in gophers and in FTP's data: anybody on the way could have
    /// made it
    #[arg(long)]
    pub allow_tls_truncation: bool,
    /// TLS 1.2 or later (the default)
    #[arg(long = "tlsv1.2", overrides_with = "tlsv1_3")]
    pub tlsv1_2: bool,
    /// TLS 1.3 or later
    #[arg(long = "tlsv1.3")]
    pub tlsv1_3: bool,
    /// The highest version of TLS to speak
    #[arg(long, value_name = "VERSION")]
    pub tls_max: Option<TlsMax>,
}

/// The highest version of TLS.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum TlsMax {
    /// TLS 1.2
    #[value(name = "1.2")]
    V12,
    /// TLS 1.3
    #[value(name = "1.3")]
    V13,
    /// Whatever both sides know
    Default,
}
