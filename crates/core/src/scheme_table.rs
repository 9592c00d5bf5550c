//! The table of schemes: name, family, default port, TLS and status of each.

/// The group of schemes that share one syntax and one URL type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SchemeFamily {
    /// `file`: [`FileUrl`](crate::FileUrl).
    File,
    /// `ftp` and `ftps`: [`FtpUrl`](crate::FtpUrl).
    Ftp,
    /// `gopher` and `gophers`: [`GopherUrl`](crate::GopherUrl).
    Gopher,
    /// `http` and `https`: [`HttpUrl`](crate::HttpUrl).
    Http,
    /// `mailto`: [`MailtoUrl`](crate::MailtoUrl).
    Mailto,
    /// `news` and `snews`: [`NewsUrl`](crate::NewsUrl).
    News,
    /// `nntp` and `nntps`: [`NntpUrl`](crate::NntpUrl).
    Nntp,
    /// `prospero`: [`ProsperoUrl`](crate::ProsperoUrl).
    Prospero,
    /// `telnet`: [`TelnetUrl`](crate::TelnetUrl).
    Telnet,
    /// `wais`: [`WaisUrl`](crate::WaisUrl).
    Wais,
    /// Every other scheme: [`OtherUrl`](crate::OtherUrl).
    Other,
}

/// The transport security of a scheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Security {
    /// The connection starts without TLS.
    Plain,
    /// The connection uses TLS from its first byte (implicit TLS).
    Tls,
}

/// The status of a scheme in RFC 1738.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SchemeStatus {
    /// One of the ten schemes of RFC 1738 §3.
    Rfc1738,
    /// Not in RFC 1738.
    Later,
    /// A name that RFC 1738 §4 reserves without defining how to access it.
    Reserved,
}

/// The properties of a scheme: one row of [`SCHEMES`].
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct Scheme {
    /// The name in lower case; empty in the row for unknown schemes.
    pub name: &'static str,
    /// The group of schemes with the same syntax.
    pub family: SchemeFamily,
    /// The transport security.
    pub security: Security,
    /// The port of a URL that names none; `None` if the scheme has no default port.
    pub default_port: Option<u16>,
    /// The status in RFC 1738.
    pub status: SchemeStatus,
    /// The RFC and section that define the scheme.
    pub defined_in: &'static str,
}

const fn row(
    name: &'static str,
    family: SchemeFamily,
    security: Security,
    default_port: Option<u16>,
    status: SchemeStatus,
    defined_in: &'static str,
) -> Scheme {
    Scheme { name, family, security, default_port, status, defined_in }
}

use SchemeFamily as F;
use SchemeStatus::{Later, Reserved, Rfc1738};
use Security::{Plain, Tls};

/// The table of known schemes. Its last row, with an empty name, applies to every unknown scheme.
pub static SCHEMES: [Scheme; 23] = [
    row("ftp", F::Ftp, Plain, Some(21), Rfc1738, "RFC 1738 §3.2"),
    row("http", F::Http, Plain, Some(80), Rfc1738, "RFC 1738 §3.3"),
    row("gopher", F::Gopher, Plain, Some(70), Rfc1738, "RFC 1738 §3.4"),
    row("mailto", F::Mailto, Plain, None, Rfc1738, "RFC 1738 §3.5"),
    row("news", F::News, Plain, Some(119), Rfc1738, "RFC 1738 §3.6"),
    row("nntp", F::Nntp, Plain, Some(119), Rfc1738, "RFC 1738 §3.7"),
    row("telnet", F::Telnet, Plain, Some(23), Rfc1738, "RFC 1738 §3.8"),
    row("wais", F::Wais, Plain, Some(210), Rfc1738, "RFC 1738 §3.9"),
    row("file", F::File, Plain, None, Rfc1738, "RFC 1738 §3.10"),
    row("prospero", F::Prospero, Plain, Some(1525), Rfc1738, "RFC 1738 §3.11"),
    row("https", F::Http, Tls, Some(443), Later, "RFC 9110 §4.2.2"),
    row("ftps", F::Ftp, Tls, Some(990), Later, "IANA port, implicit TLS"),
    row("gophers", F::Gopher, Tls, Some(70), Later, "gopher over TLS, by convention"),
    row("nntps", F::Nntp, Tls, Some(563), Later, "RFC 8143, implicit TLS"),
    row("snews", F::News, Tls, Some(563), Later, "RFC 5538 §2.2"),
    row("afs", F::Other, Plain, None, Reserved, "RFC 1738 §4"),
    row("mid", F::Other, Plain, None, Reserved, "RFC 1738 §4"),
    row("cid", F::Other, Plain, None, Reserved, "RFC 1738 §4"),
    row("nfs", F::Other, Plain, None, Reserved, "RFC 1738 §4"),
    row("tn3270", F::Other, Plain, Some(23), Reserved, "RFC 1738 §4"),
    row("mailserver", F::Other, Plain, None, Reserved, "RFC 1738 §4"),
    row("z39.50", F::Other, Plain, Some(210), Reserved, "RFC 1738 §4"),
    row("", F::Other, Plain, None, Later, "RFC 1738 §5 otherurl"),
];

/// The row for unknown schemes.
pub(crate) static UNKNOWN_SCHEME: &Scheme = &SCHEMES[22];

/// Returns the row of the scheme `name`, ignoring ASCII case, or `None` if the scheme is unknown.
///
/// ```
/// let https = fetch_url_core::find_scheme("HTTPS").expect("https is known");
/// assert_eq!((https.name, https.default_port), ("https", Some(443)));
/// assert_eq!(fetch_url_core::find_scheme("x-any"), None);
/// ```
pub fn find_scheme(name: &str) -> Option<&'static Scheme> {
    let named = |row: &&Scheme| !row.name.is_empty() && row.name.eq_ignore_ascii_case(name);
    SCHEMES.iter().find(named)
}

/// Returns the row of a scheme whose name is written in lower case. No other function matches on the text of a scheme.
#[inline]
pub(crate) fn find_lower_case(name: &[u8]) -> Option<&'static Scheme> {
    let index = match name {
        b"ftp" => 0,
        b"http" => 1,
        b"gopher" => 2,
        b"mailto" => 3,
        b"news" => 4,
        b"nntp" => 5,
        b"telnet" => 6,
        b"wais" => 7,
        b"file" => 8,
        b"prospero" => 9,
        b"https" => 10,
        b"ftps" => 11,
        b"gophers" => 12,
        b"nntps" => 13,
        b"snews" => 14,
        b"afs" => 15,
        b"mid" => 16,
        b"cid" => 17,
        b"nfs" => 18,
        b"tn3270" => 19,
        b"mailserver" => 20,
        b"z39.50" => 21,
        _ => return None,
    };
    Some(&SCHEMES[index])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lower_case_lookup_agrees_with_the_table() {
        for row in SCHEMES.iter().filter(|row| !row.name.is_empty()) {
            assert_eq!(find_lower_case(row.name.as_bytes()), Some(row));
            assert_eq!(find_scheme(&row.name.to_uppercase()), Some(row));
        }
        assert_eq!(find_scheme(""), None);
        assert_eq!(find_scheme("url"), None);
    }
}
