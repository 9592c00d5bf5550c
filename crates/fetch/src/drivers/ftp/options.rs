//! Options of the FTP driver.

use std::net::IpAddr;

use fetch_url_proto::ftp::{CwdMethod, ListVerb};

/// Options of the FTP driver, set on a request with [`Request::with_extra`](crate::Request::with_extra).
///
/// The default enters each directory of the path with its own CWD (RFC 1738 §3.2.2), lists directories with NLST,
/// transfers files unchanged (TYPE I), and opens data connections in passive mode.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FtpOptions {
    /// How the directories of the path are entered. Default: one CWD for each.
    pub method: FtpMethod,
    /// Which command lists a directory. Default: NLST, which returns names only.
    pub listing: FtpListing,
    /// Treats the URL as a directory, even if its path does not end with a slash and it has no `;type=d`. Default:
    /// off.
    pub force_listing: bool,
    /// Returns a listing as bytes, unparsed: the response has a body in place of entries. Default: off.
    pub raw_listing: bool,
    /// Transfers files as text (TYPE A) if the URL has no typecode, and converts CRLF to the line ends of this
    /// system. Such a transfer cannot be resumed, and its size is not known. Default: off.
    pub ascii: bool,
    /// Requests the modification time (MDTM, RFC 3659 §3) of texts, too. It costs a round trip. Default: off.
    pub text_time: bool,
    /// The argument of ACCT, for servers that require an account besides user and password (RFC 959 §4.1.1). Default:
    /// the account in `.netrc`. If a server requires an account and none is given, the request fails with
    /// `Code::AuthNeeded`.
    pub account: Option<Vec<u8>>,
    /// The password of an anonymous login (RFC 1738 §3.2.1). Default: `anonymous@`.
    pub anonymous_password: Option<Vec<u8>>,
    /// Active mode: the server opens the data connection to this address (PORT, EPRT). Default: passive mode.
    pub active: Option<ActiveAddress>,
    /// Sends PASV in place of EPSV (RFC 2428 §3). Default: EPSV, and PASV if the server rejects it.
    pub no_epsv: bool,
    /// Sends PORT in place of EPRT in active mode (RFC 2428 §2). Default: EPRT, and PORT if the server rejects it.
    pub no_eprt: bool,
    /// Requests the port of the next data connection while a file is transferred, which saves a round trip for each
    /// file. Only used from the second transfer of a connection on, with servers that are known to support it.
    /// Default: on.
    pub prefetch_port: bool,
}

impl Default for FtpOptions {
    fn default() -> Self {
        Self {
            method: FtpMethod::default(),
            listing: FtpListing::default(),
            force_listing: false,
            raw_listing: false,
            ascii: false,
            text_time: false,
            account: None,
            anonymous_password: None,
            active: None,
            no_epsv: false,
            no_eprt: false,
            prefetch_port: true,
        }
    }
}

/// The local address to which the server opens data connections in active mode. The port is chosen by the system.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "an address is either given or taken from the control connection")]
pub enum ActiveAddress {
    /// The local address of the control connection.
    #[default]
    SameAsControl,
    /// This address of the machine. An address that the machine does not have fails with `Code::ConnectFailed`.
    At(IpAddr),
}

/// How the directories of the path of an FTP URL are entered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "there are no other methods")]
pub enum FtpMethod {
    /// Like [`Self::Rfc1738`]; if the server rejects a CWD, like [`Self::NoCwd`].
    Auto,
    /// No CWD: the transfer command contains the whole path.
    NoCwd,
    /// One CWD for each directory, as RFC 1738 §3.2.2 requires. Works with servers whose paths do not use slashes.
    #[default]
    Rfc1738,
    /// One CWD with the path of all directories.
    SingleCwd,
}

impl FtpMethod {
    /// Returns the method of the first attempt.
    pub(super) const fn cwd_method(self) -> CwdMethod {
        match self {
            Self::Auto | Self::Rfc1738 => CwdMethod::MultiCwd,
            Self::NoCwd => CwdMethod::NoCwd,
            Self::SingleCwd => CwdMethod::SingleCwd,
        }
    }
}

/// Which command lists an FTP directory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "there are no other commands")]
pub enum FtpListing {
    /// MLSD, or LIST if the server does not support it, or else NLST: with sizes and times where the server reports
    /// them.
    Long,
    /// NLST, as RFC 1738 §3.2.2 requires: names only.
    #[default]
    Names,
}

impl FtpListing {
    /// Returns the command of the first attempt.
    pub(super) const fn verb(self) -> ListVerb {
        match self {
            Self::Long => ListVerb::Mlsd,
            Self::Names => ListVerb::Nlst,
        }
    }
}
