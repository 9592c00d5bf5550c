//! What only FTP understands.

use std::net::IpAddr;

use fetch_url_proto::ftp::{ListVerb, Method};

/// How a URL is fetched by FTP: an extra of [`crate::Request`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct FtpOptions {
    /// How the directories of the path are walked.
    pub walk: FtpWalk,
    /// How a directory is listed.
    pub listing: FtpListing,
    /// The URL names a directory, whatever it looks like.
    pub lists: bool,
    /// A listing is delivered as the server sends it.
    pub raw_listing: bool,
    /// Without a typecode in the URL: as text, its line ends as they are here.
    pub ascii: bool,
    /// The account, for servers that want one besides user and password (RFC 959 §4.1.1).
    pub account: Option<Vec<u8>>,
    /// What an anonymous login gives in place of a password (RFC 1738 §3.2.1).
    pub anonymous_address: Option<Vec<u8>>,
    /// The server is to open the data connection, to this address of ours.
    pub active: Option<ActiveAddress>,
    /// EPSV is not used (RFC 2428 §3).
    pub no_epsv: bool,
    /// EPRT is not used (RFC 2428 §2).
    pub no_eprt: bool,
}

/// Where the server is to open the data connection to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "these are all the cases")]
pub enum ActiveAddress {
    /// The address that the commands come from.
    #[default]
    SameAsControl,
    /// Another one of this machine.
    At(IpAddr),
}

/// How the directories of a path are walked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "these are all the ways")]
pub enum FtpWalk {
    /// As RFC 1738 says; if a CWD is refused, not at all.
    Auto,
    /// No CWD: the whole path goes into the command.
    NoCwd,
    /// One CWD for each directory: RFC 1738 §3.2.2.
    #[default]
    Rfc1738,
    /// One CWD for all of them.
    SingleCwd,
}

impl FtpWalk {
    pub(super) const fn method(self) -> Method {
        match self {
            Self::Auto | Self::Rfc1738 => Method::Rfc1738,
            Self::NoCwd => Method::NoCwd,
            Self::SingleCwd => Method::SingleCwd,
        }
    }
}

/// How a directory is listed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "these are the ways")]
pub enum FtpListing {
    /// By MLSD, else by LIST, else by NLST: sizes and times where the server tells them.
    Long,
    /// By NLST, as RFC 1738 says: names.
    #[default]
    Names,
}

impl FtpListing {
    pub(super) const fn verb(self) -> ListVerb {
        match self {
            Self::Long => ListVerb::Mlsd,
            Self::Names => ListVerb::Nlst,
        }
    }
}
