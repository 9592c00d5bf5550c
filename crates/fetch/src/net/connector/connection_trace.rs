//! The lines of the wire trace about connections: addresses, TLS and certificates, in the words of curl.

use std::fmt::Display;
use std::net::SocketAddr;

use fetch_url_core::Host;
use rustls::ClientConnection;

use crate::net::tls::CertificateSummary;
use crate::net::trace;

/// Traces the addresses of a host name.
pub(super) fn resolved(host: &Host<'_>, addresses: &[SocketAddr]) {
    if matches!(host, Host::Name(_)) && trace::is_enabled() {
        let addresses: Vec<String> = addresses.iter().map(|address| address.ip().to_string()).collect();
        trace::note(&format_args!("Host {host} was resolved: {}", addresses.join(", ")));
    }
}

/// Traces an attempt to connect.
pub(super) fn trying(address: SocketAddr) {
    trace::note(&format_args!("  Trying {address}..."));
}

/// Traces an open connection.
pub(super) fn connected(what: &dyn Display, address: Option<SocketAddr>) {
    if let Some(address) = address {
        trace::note(&format_args!("Connected to {what} ({}) port {}", address.ip(), address.port()));
    }
}

/// Traces the result of a TLS handshake: version, cipher, protocol, and the certificate of the server.
pub(super) fn tls(connection: &ClientConnection) {
    if !trace::is_enabled() {
        return;
    }
    let version = connection.protocol_version().and_then(|version| version.as_str()).unwrap_or("TLS");
    let cipher = connection.negotiated_cipher_suite().and_then(|suite| suite.suite().as_str());
    let version = version.replacen("TLSv1_", "TLSv1.", 1);
    let cipher = cipher.unwrap_or("unknown cipher").replacen("TLS13_", "TLS_", 1);
    trace::note(&format_args!("SSL connection using {version} / {cipher}"));
    match connection.alpn_protocol() {
        Some(protocol) => {
            trace::note(&format_args!("ALPN: server accepted {}", String::from_utf8_lossy(protocol)));
        }
        None => trace::note(&"ALPN: server did not agree on a protocol"),
    }
    let certificate = connection.peer_certificates().and_then(|chain| chain.first());
    let Some(summary) = certificate.and_then(|certificate| CertificateSummary::of(certificate)) else {
        return;
    };
    trace::note(&"Server certificate:");
    for (name, value) in [
        ("subject", &summary.subject),
        ("start date", &summary.not_before),
        ("expire date", &summary.not_after),
        ("issuer", &summary.issuer),
    ] {
        trace::note(&format_args!(" {name}: {value}"));
    }
}
