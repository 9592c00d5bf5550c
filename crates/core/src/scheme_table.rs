//! One row per scheme: what it is called, who speaks it, on which port, and its standing.

/// Who knows how to read the part after the colon.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "each is the scheme of its name")]
pub enum Family {
    File,
    Ftp,
    Gopher,
    Http,
    Mailto,
    News,
    Nntp,
    Prospero,
    Telnet,
    Wais,
    Other,
}

/// Whether the connection is wrapped in TLS from its first octet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Security {
    /// In the clear.
    Plain,
    /// TLS from the first octet.
    Tls,
}

/// How the scheme stands to RFC 1738.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Standing {
    /// One of the ten of §3.
    Rfc1738,
    /// Came later, the same thing over TLS.
    Later,
    /// Named in §4 and reserved, without an access method.
    Reserved,
}

/// A row of the table.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct Scheme {
    /// In lower case.
    pub name: &'static str,
    /// Who reads it.
    pub family: Family,
    /// In the clear or TLS.
    pub security: Security,
    /// The port when none is written.
    pub default_port: Option<u16>,
    /// How it stands to RFC 1738.
    pub standing: Standing,
    /// Where it is defined.
    pub defined_in: &'static str,
}

const fn row(
    name: &'static str,
    family: Family,
    security: Security,
    default_port: Option<u16>,
    standing: Standing,
    defined_in: &'static str,
) -> Scheme {
    Scheme { name, family, security, default_port, standing, defined_in }
}

use Family as F;
use Security::{Plain, Tls};
use Standing::{Later, Reserved, Rfc1738};

/// Every scheme with a name of its own.
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
    row("ftps", F::Ftp, Tls, Some(990), Later, "RFC 4217, implicit TLS"),
    row("gophers", F::Gopher, Tls, Some(70), Later, "gopher over TLS, by practice"),
    row("nntps", F::Nntp, Tls, Some(563), Later, "RFC 4642, implicit TLS"),
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

/// The row that stands for every scheme without a name of its own here.
pub(crate) static UNNAMED: &Scheme = &SCHEMES[22];

/// The row of a scheme; its name is compared without regard to case.
pub fn scheme(name: &str) -> Option<&'static Scheme> {
    let named = |row: &&Scheme| !row.name.is_empty() && row.name.eq_ignore_ascii_case(name);
    SCHEMES.iter().find(named)
}

/// The row of a scheme written in lower case: the one place that matches on scheme text.
#[inline]
pub(crate) fn exact(name: &[u8]) -> Option<&'static Scheme> {
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
    fn the_match_and_the_table_agree() {
        for row in SCHEMES.iter().filter(|row| !row.name.is_empty()) {
            assert_eq!(exact(row.name.as_bytes()), Some(row));
            assert_eq!(scheme(&row.name.to_uppercase()), Some(row));
        }
        assert_eq!(scheme(""), None);
        assert_eq!(scheme("url"), None);
    }
}
