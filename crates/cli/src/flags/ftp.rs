//! What only FTP understands, in curl's letters.

use clap::{Args, ValueEnum};

/// What only FTP understands.
#[derive(Args, Debug)]
pub struct Ftp {
    /// List names only, by NLST: as a directory is listed anyway
    #[arg(short = 'l', long, overrides_with = "list_format")]
    pub list_only: bool,
    /// How a directory is listed: names (NLST), or long, with what the server tells (MLSD, LIST)
    #[arg(long, value_name = "HOW", value_enum, default_value_t)]
    pub list_format: ListFormat,
    /// Files as text, their line ends as they are here (TYPE A), unless the URL says otherwise
    #[arg(short = 'B', long)]
    pub use_ascii: bool,
    /// How the directories of a path are walked
    #[arg(long, value_name = "HOW", value_enum, default_value_t)]
    pub ftp_method: FtpMethod,
    /// The server opens the data connection, to this address of ours; - is the one we talk from
    #[arg(short = 'P', long, value_name = "ADDRESS", overrides_with = "ftp_pasv")]
    pub ftp_port: Option<String>,
    /// We open the data connection (the default)
    #[arg(long, alias = "passive-ftp")]
    pub ftp_pasv: bool,
    /// Ask for the data connection by PASV, not by EPSV
    #[arg(long)]
    pub disable_epsv: bool,
    /// Ask for the data connection by PORT, not by EPRT
    #[arg(long)]
    pub disable_eprt: bool,
    /// The account, for servers that want one (ACCT)
    #[arg(long, value_name = "ACCOUNT")]
    pub ftp_account: Option<String>,
    /// What an anonymous login gives as its password (anonymous@)
    #[arg(long, value_name = "ADDRESS")]
    pub ftp_anonymous_email: Option<String>,
    /// The address in a reply to PASV is not used (it never is)
    #[arg(long, hide = true)]
    pub ftp_skip_pasv_ip: bool,
}

/// How a directory is listed.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub enum ListFormat {
    /// By NLST
    #[default]
    Names,
    /// By MLSD, else LIST, else NLST
    Long,
}

/// How the directories of a path are walked.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub enum FtpMethod {
    /// A CWD for each, as RFC 1738 says
    #[default]
    #[value(alias = "multicwd")]
    Rfc1738,
    /// No CWD: the whole path goes into the command
    Nocwd,
    /// One CWD for all of them
    Singlecwd,
    /// As RFC 1738 says; if a CWD is refused, without any
    Auto,
}
