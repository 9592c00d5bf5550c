//! Converts errors of rustls to errors of this library, with phase, message and hint.

use std::io;
use std::time::{Duration, UNIX_EPOCH};

use rustls::pki_types::{ServerName, UnixTime};
use rustls::{AlertDescription, CertificateError, InvalidMessage, PeerIncompatible};

use super::ca_as_end_entity::is_authority_used_as_server;
use super::verify::CertificateRejection;
use crate::{Code, Error, Hint, Phase};

/// Maximum number of names of a certificate that a message shows.
const MAX_NAMES: usize = 5;

/// Converts an error of rustls.
pub(crate) fn to_tls_error(error: &rustls::Error) -> Error {
    use rustls::Error as E;
    let (phase, (detail, hint)) = match error {
        // `openssl req -x509` makes such certificates.
        authority if is_authority_used_as_server(authority) => {
            let detail = "the certificate is that of an authority (CA:TRUE), not of a server";
            (Phase::Certificate, (detail.to_owned(), Some(Hint::CustomAuthority)))
        }
        E::InvalidCertificate(why) => (Phase::Certificate, certificate_message(why)),
        E::NoCertificatesPresented => (Phase::Certificate, without_hint("the server sent no certificate")),
        E::AlertReceived(alert) => (Phase::Tls, alert_message(*alert)),
        E::PeerIncompatible(why) => (Phase::Tls, incompatibility_message(why)),
        E::InvalidMessage(InvalidMessage::InvalidContentType | InvalidMessage::UnknownProtocolVersion) => {
            (Phase::Tls, without_hint("the server's reply is not TLS"))
        }
        other => (Phase::Tls, without_hint(other.to_string())),
    };
    let failure = Error::new(Code::TlsFailed, phase, detail).with_source(error.clone());
    match hint {
        Some(hint) => failure.with_hint(hint),
        None => failure,
    }
}

/// Returns the TLS error inside an I/O error, if there is one.
pub(crate) fn find_tls_error(error: &io::Error) -> Option<&rustls::Error> {
    error.get_ref()?.downcast_ref()
}

/// Returns the error for a connection that was lost: `code`, or the error of TLS that ended it. With TLS 1.3, a server
/// rejects the client's certificate only after the handshake.
pub(crate) fn lost_connection_error(code: Code, phase: Phase, what: &str, error: io::Error) -> Error {
    match find_tls_error(&error) {
        Some(error) => to_tls_error(error),
        None => Error::io(code, phase, what, error),
    }
}

/// A message and its hint.
type Message = (String, Option<Hint>);

fn without_hint(detail: impl Into<String>) -> Message {
    (detail.into(), None)
}

/// Returns the message for a rejected certificate.
fn certificate_message(why: &CertificateError) -> Message {
    use CertificateError as C;
    match why {
        C::BadEncoding => without_hint("the certificate is malformed"),
        // This is the signature of the handshake; a wrong signature of a certificate is `CertificateRejection::ForeignSignature`.
        C::BadSignature => without_hint("the server does not have the private key of its certificate"),
        C::Expired => ("the certificate expired".to_owned(), Some(Hint::CertificateTime)),
        C::ExpiredContext { not_after, .. } => {
            (format!("the certificate expired on {}", date(*not_after)), Some(Hint::CertificateTime))
        }
        C::InvalidPurpose | C::InvalidPurposeContext { .. } => {
            without_hint("the certificate is not for servers")
        }
        C::NotValidForName => ("the certificate is for another name".to_owned(), Some(Hint::CertificateName)),
        C::NotValidForNameContext { expected, presented } => {
            (wrong_name(expected, presented), Some(Hint::CertificateName))
        }
        C::NotValidYet => ("the certificate is not valid yet".to_owned(), Some(Hint::CertificateTime)),
        C::NotValidYetContext { time, not_before } => {
            let (now, begin) = (date(*time), date(*not_before));
            let detail = format!("the certificate is not valid before {begin}; the local time is {now}");
            (detail, Some(Hint::CertificateTime))
        }
        C::Revoked => without_hint("the certificate was revoked"),
        C::UnknownIssuer => {
            ("the certificate was issued by an unknown authority".to_owned(), Some(Hint::CustomAuthority))
        }
        C::Other(other) => rejection_message(other),
        other => without_hint(format!("the certificate: {other}")),
    }
}

/// Returns the message for a rejection without a variant in rustls.
fn rejection_message(other: &rustls::OtherError) -> Message {
    match other.0.downcast_ref::<CertificateRejection>() {
        Some(CertificateRejection::Unpinned) => without_hint(other.to_string()),
        Some(CertificateRejection::ForeignSignature | CertificateRejection::SelfSigned) => {
            (other.to_string(), Some(Hint::CustomAuthority))
        }
        None => without_hint(format!("the certificate: {other}")),
    }
}

fn wrong_name(host: &ServerName<'_>, presented: &[String]) -> String {
    let names: Vec<&str> = presented.iter().filter_map(|name| host_of(name)).collect();
    let shown = names[..names.len().min(MAX_NAMES)].join(", ");
    let host = host.to_str();
    match names.len() {
        0 => format!("the certificate has no host names, so it is not for {host}"),
        1..=MAX_NAMES => format!("the certificate is for {shown}, not for {host}"),
        count => {
            format!("the certificate is for {shown} and {} more, not for {host}", count - MAX_NAMES)
        }
    }
}

/// Extracts the host from webpki's form of a name: `DnsName("a.example")`, `IpAddress(192.0.2.1)`.
fn host_of(name: &str) -> Option<&str> {
    let dns = name.strip_prefix("DnsName(\"").and_then(|rest| rest.strip_suffix("\")"));
    dns.or_else(|| name.strip_prefix("IpAddress(")?.strip_suffix(')'))
}

fn date(time: UnixTime) -> String {
    /// The first second of the year 10000, which HTTP dates cannot represent.
    const YEAR_10000: u64 = 253_402_300_800;
    let seconds = time.as_secs().min(YEAR_10000 - 1);
    httpdate::fmt_http_date(UNIX_EPOCH + Duration::from_secs(seconds))
}

/// Returns the message for an alert of the server.
fn alert_message(alert: AlertDescription) -> Message {
    use AlertDescription as A;
    match alert {
        A::CertificateRequired => {
            ("the server requires a client certificate".to_owned(), Some(Hint::ClientCertificate))
        }
        A::BadCertificate
        | A::CertificateExpired
        | A::CertificateRevoked
        | A::CertificateUnknown
        | A::UnknownCA
        | A::UnsupportedCertificate => {
            without_hint(format!("the server rejects the client certificate ({alert:?})"))
        }
        A::ProtocolVersion => without_hint("the server supports no TLS version that is enabled"),
        A::UnrecognisedName => without_hint("the server does not recognise this host name"),
        other => without_hint(format!("TLS alert from the server: {other:?}")),
    }
}

/// Returns the message for an incompatible server.
fn incompatibility_message(why: &PeerIncompatible) -> Message {
    use PeerIncompatible as P;
    match why {
        P::ServerDoesNotSupportTls12Or13 => without_hint("the server supports neither TLS 1.2 nor TLS 1.3"),
        P::ServerTlsVersionIsDisabledByOurConfig => {
            without_hint("the server supports no TLS version that is enabled")
        }
        other => without_hint(format!("the server is incompatible: {other:?}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_name_message_shows_at_most_5_names() {
        let dns = |name: &str| format!("DnsName(\"{name}\")");
        let many: Vec<String> = (1..=7).map(|n| dns(&format!("h{n}"))).collect();
        for (presented, words) in [
            (vec![], "has no host names, so it is not for a.test"),
            (vec!["DirectoryName".to_owned()], "has no host names, so it is not for a.test"),
            (vec![dns("b.test")], "is for b.test, not for a.test"),
            (
                vec![dns("*.b.test"), "IpAddress(192.0.2.1)".to_owned()],
                "is for *.b.test, 192.0.2.1, not for a.test",
            ),
            (many, "is for h1, h2, h3, h4, h5 and 2 more, not for a.test"),
        ] {
            let host = ServerName::try_from("a.test").expect("a name");
            assert_eq!(wrong_name(&host, &presented), format!("the certificate {words}"));
        }
    }

    #[test]
    fn dates_are_limited_to_the_year_9999() {
        let date = |seconds| date(UnixTime::since_unix_epoch(Duration::from_secs(seconds)));
        assert_eq!(date(0), "Thu, 01 Jan 1970 00:00:00 GMT");
        for late in [253_402_300_799, 253_402_300_800, u64::MAX] {
            assert_eq!(date(late), "Fri, 31 Dec 9999 23:59:59 GMT");
        }
    }

    #[test]
    fn alerts_and_incompatibilities_have_a_phase_and_a_message() {
        for (cause, words) in [
            (rustls::Error::AlertReceived(AlertDescription::UnknownCA), "client certificate (UnknownCA)"),
            (
                rustls::Error::AlertReceived(AlertDescription::UnrecognisedName),
                "does not recognise this host name",
            ),
            (rustls::Error::AlertReceived(AlertDescription::HandshakeFailure), "HandshakeFailure"),
            (PeerIncompatible::ServerDoesNotSupportTls12Or13.into(), "neither TLS 1.2 nor TLS 1.3"),
            (PeerIncompatible::NoCipherSuitesInCommon.into(), "NoCipherSuitesInCommon"),
            (InvalidMessage::InvalidContentType.into(), "not TLS"),
            (rustls::Error::DecryptError, "cannot decrypt"),
        ] {
            let error = to_tls_error(&cause);
            assert_eq!((error.code(), error.phase(), error.exit_status()), (Code::TlsFailed, Phase::Tls, 35));
            assert!(error.to_string().contains(words), "{error}");
        }
    }
}
