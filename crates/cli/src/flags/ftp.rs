//! Options for FTP.

use clap::{Args, ValueEnum};

/// Options for FTP, named as in curl.
#[derive(Args, Debug)]
pub struct FtpFlags {
    /// List names only (NLST); the same as --list-format names
    #[arg(short = 'l', long, overrides_with = "list_format")]
    pub list_only: bool,
    /// Format of a directory listing
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t)]
    pub list_format: ListFormat,
    /// Transfer files as text (TYPE A), unless the URL has a typecode
    #[arg(short = 'B', long)]
    pub use_ascii: bool,
    /// How the directory of a path is selected
    #[arg(long, value_name = "METHOD", value_enum, default_value_t)]
    pub ftp_method: FtpMethod,
    /// Active mode: the server connects to ADDRESS of this machine
    ///
    /// For -, the local address of the control connection is used.
    #[arg(short = 'P', long, value_name = "ADDRESS", overrides_with = "ftp_pasv")]
    pub ftp_port: Option<String>,
    /// Passive mode (the default)
    #[arg(long, alias = "passive-ftp")]
    pub ftp_pasv: bool,
    /// Use PASV instead of EPSV
    #[arg(long)]
    pub disable_epsv: bool,
    /// Use PORT instead of EPRT
    #[arg(long)]
    pub disable_eprt: bool,
    /// Account for servers that request one (ACCT)
    #[arg(long, value_name = "ACCOUNT")]
    pub ftp_account: Option<String>,
    /// Password of an anonymous login (default anonymous@)
    #[arg(long, value_name = "ADDRESS")]
    pub ftp_anonymous_email: Option<String>,
    /// Accepted for compatibility: the address in a reply to PASV is never used
    #[arg(long, hide = true)]
    pub ftp_skip_pasv_ip: bool,
}

/// The format of a directory listing.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub enum ListFormat {
    /// Names only, by NLST
    #[default]
    Names,
    /// Names, sizes and times, by MLSD, otherwise LIST, otherwise NLST
    Long,
}

/// How the directory of a path is selected.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub enum FtpMethod {
    /// One CWD for each directory, as in RFC 1738
    #[default]
    #[value(alias = "multicwd")]
    Rfc1738,
    /// No CWD: the whole path is the argument of the command
    Nocwd,
    /// One CWD for all directories
    Singlecwd,
    /// Like rfc1738; if a CWD is refused, like nocwd
    Auto,
}
