//! Reads the names and dates of a certificate (RFC 5280 §4.1), for the wire trace. Nothing is verified here.

use super::der::{self, OBJECT_IDENTIFIER, SEQUENCE};

/// The tag of the version of a certificate, `[0]`.
const VERSION: u8 = 0xa0;
/// The tag of a time with a year of two digits.
const UTC_TIME: u8 = 0x17;
/// Maximum number of parts of a name that are shown.
const MAX_PARTS: usize = 8;

/// The attributes of names that have a short form (RFC 4514 §3).
const ATTRIBUTES: [(&[u8], &str); 6] = [
    (b"\x55\x04\x03", "CN"),
    (b"\x55\x04\x06", "C"),
    (b"\x55\x04\x07", "L"),
    (b"\x55\x04\x08", "ST"),
    (b"\x55\x04\x0a", "O"),
    (b"\x55\x04\x0b", "OU"),
];

/// The names and dates of a certificate, as text. Names are untrusted and may contain any character.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct CertificateSummary {
    pub(crate) subject: String,
    pub(crate) issuer: String,
    pub(crate) not_before: String,
    pub(crate) not_after: String,
}

impl CertificateSummary {
    /// Reads a certificate in DER, or returns `None` if it is malformed.
    pub(crate) fn of(certificate: &[u8]) -> Option<Self> {
        let (certificate, _) = der::tagged(certificate, SEQUENCE)?;
        let (to_be_signed, _) = der::tagged(certificate, SEQUENCE)?;
        let mut fields = der::elements(to_be_signed).filter(|(tag, _)| *tag != VERSION);
        let (_serial, _algorithm) = (fields.next()?, fields.next()?);
        let (issuer, validity, subject) = (fields.next()?.1, fields.next()?.1, fields.next()?.1);
        let mut times = der::elements(validity).map(|(tag, time)| date(tag, time));
        Some(Self {
            subject: name(subject),
            issuer: name(issuer),
            not_before: times.next()??,
            not_after: times.next()??,
        })
    }
}

/// Returns a name such as `C=DE; O=Example; CN=example.org`.
fn name(sequence: &[u8]) -> String {
    let part = |set: &[u8]| {
        let (attribute, _) = der::tagged(set, SEQUENCE)?;
        let (kind, rest) = der::tagged(attribute, OBJECT_IDENTIFIER)?;
        let (_, value, _) = der::element(rest)?;
        let (_, short) = ATTRIBUTES.iter().find(|(own, _)| *own == kind)?;
        Some(format!("{short}={}", String::from_utf8_lossy(value)))
    };
    der::elements(sequence).filter_map(|(_, set)| part(set)).take(MAX_PARTS).collect::<Vec<_>>().join("; ")
}

/// Returns a time as `2026-01-31 12:00:00 UTC`.
fn date(tag: u8, time: &[u8]) -> Option<String> {
    let text = str::from_utf8(time).ok()?.strip_suffix('Z')?;
    let text = match tag {
        // Years from 50 are in the twentieth century (RFC 5280 §4.1.2.5.1).
        UTC_TIME if text < "50" => format!("20{text}"),
        UTC_TIME => format!("19{text}"),
        _ => text.to_owned(),
    };
    let is_time = text.len() == 14 && text.bytes().all(|byte| byte.is_ascii_digit());
    let part = |range: std::ops::Range<usize>| text.get(range).unwrap_or_default();
    is_time.then(|| {
        let day = format!("{}-{}-{}", part(0..4), part(4..6), part(6..8));
        format!("{day} {}:{}:{} UTC", part(8..10), part(10..12), part(12..14))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use fetch_url_tests::ServerCert;

    #[test]
    fn names_and_dates_of_a_certificate_are_read_and_every_prefix_is_safe() {
        let cert = ServerCert::expired().expect("a certificate");
        let der = cert.cert_der();
        let summary = CertificateSummary::of(der).expect("a certificate");
        assert!(summary.not_after.starts_with("2001-01-01 "), "{summary:?}");
        assert!(summary.issuer.contains("CN="), "{summary:?}");
        for end in 0..der.len() {
            CertificateSummary::of(&der[..end]);
        }
        assert_eq!(date(UTC_TIME, b"500131120000Z").as_deref(), Some("1950-01-31 12:00:00 UTC"));
        assert_eq!(date(0x18, b"20500131120000Z").as_deref(), Some("2050-01-31 12:00:00 UTC"));
        assert_eq!(date(0x18, b"2050013112000\xffZ"), None);
    }
}
