//! The errors of tunnels: the proxy refuses, breaks its protocol, or cannot be asked.

use bytes::Bytes;
use fetch_url_core::mask_password;
use fetch_url_proto::WireError;
use fetch_url_proto::proxy::{InvalidDestination, Refusal};

use crate::credentials::masking::mask_secrets;
use crate::credentials::secret::{SecretBytes, is_secret_field};
use crate::net::proxy::Proxy;
use crate::{Code, Error, Hint, Phase};

/// Replaces the password in a text that the proxy has sent, whichever of its bytes are percent-encoded, and the Base64 in
/// which it was sent to the proxy.
pub(super) fn mask_login(text: &[u8], proxy: &Proxy) -> Bytes {
    let password = proxy.login.as_ref().and_then(|login| login.expose_password());
    let sent = proxy.authorization().ok().flatten();
    let sent = sent.as_ref().map(|value| value.trim_start_matches("Basic ").as_bytes());
    let secrets = password.into_iter().chain(sent).filter(|secret| !secret.is_empty());
    let secrets: Vec<SecretBytes> = secrets.map(|secret| SecretBytes::from(secret.to_vec())).collect();
    mask_secrets(text, &secrets)
}

/// Replaces the value of a header field if its name shows that it is secret, and a continued value (RFC 9112 §5.2).
pub(super) fn mask_secret_field(line: Bytes) -> Bytes {
    if line.first().is_some_and(|first| matches!(first, b' ' | b'\t')) {
        return Bytes::from_static(b" ***");
    }
    let Some(colon) = line.iter().position(|&byte| byte == b':') else { return line };
    let name = String::from_utf8_lossy(line[..colon].trim_ascii_end());
    let is_secret = !name.contains(' ') && is_secret_field(&name);
    if is_secret {
        return [name.as_bytes(), b": ***"].concat().into();
    }
    mask_password(&String::from_utf8_lossy(&line)).into()
}

/// Returns the error for a proxy that closed the connection or broke its protocol.
pub(super) fn handshake_error(
    error: WireError,
    has_received: bool,
    lost_error: Option<std::io::Error>,
    proxy: &Proxy,
) -> Error {
    let error = match error {
        WireError::UnexpectedEnd { .. } if !has_received => {
            let detail = format!("the proxy {proxy} closed the connection without a reply");
            Error::new(Code::EmptyReply, Phase::Proxy, detail)
        }
        error => {
            let error = match error {
                // The bytes could repeat the login.
                WireError::Unexpected { what, .. } if proxy.login.is_some() => {
                    WireError::Unexpected { what, got: Bytes::new() }
                }
                error => error,
            };
            let code = Error::from(error.clone()).code();
            Error::new(code, Phase::Proxy, format!("the proxy {proxy}: {error}"))
        }
    };
    match lost_error {
        Some(lost) => error.with_source(lost),
        None => error,
    }
}

/// Returns the error for a proxy that refuses the tunnel.
pub(super) fn refusal_error(refusal: &Refusal, proxy: &Proxy) -> Error {
    let (code, detail, reply) = match refusal {
        Refusal::LoginRequired => (Code::AuthNeeded, "requires a login", String::new()),
        Refusal::LoginRejected => (Code::AuthNeeded, "rejects the login", String::new()),
        Refusal::Status { status, reason } => {
            let reason = mask_login(reason, proxy);
            let reply = format!("{status} {}", String::from_utf8_lossy(&reason)).trim_end().to_owned();
            (status_code(*status), "refuses CONNECT", reply)
        }
        Refusal::Socks4(code @ 0x5b) => {
            (Code::ConnectFailed, "cannot connect to the server", format!("SOCKS {code}"))
        }
        Refusal::Socks4(code @ (0x5c | 0x5d)) => {
            (Code::AuthNeeded, "does not accept the user name", format!("SOCKS {code}"))
        }
        Refusal::Socks4(code) => (Code::PeerMisbehaved, "sent an unknown reply", format!("SOCKS {code}")),
        Refusal::Socks5(code) => {
            let (error_code, detail) = socks5_reply(*code);
            (error_code, detail, format!("SOCKS {code}"))
        }
        _ => (Code::ConnectFailed, "refuses the connection", String::new()),
    };
    let error = Error::new(code, Phase::Proxy, format!("the proxy {proxy} {detail}"));
    let error = if reply.is_empty() { error } else { error.with_reply(reply.as_bytes()) };
    match (code, refusal) {
        (Code::AuthNeeded, _) => error.with_hint(Hint::ProxyLogin),
        (Code::Denied, Refusal::Status { .. }) => {
            error.with_hint("many HTTP proxies allow CONNECT to port 443 only")
        }
        _ => error,
    }
}

/// Returns the error code for a status of the response to CONNECT.
const fn status_code(status: u16) -> Code {
    match status {
        401 | 403 | 405 => Code::Denied,
        429 | 503 => Code::Busy,
        400..=499 => Code::HttpError,
        500..=599 => Code::ConnectFailed,
        _ => Code::PeerMisbehaved,
    }
}

/// Returns the error code and the meaning of a SOCKS 5 reply (RFC 1928 §6).
const fn socks5_reply(code: u8) -> (Code, &'static str) {
    match code {
        1 => (Code::ConnectFailed, "cannot connect to the server"),
        2 => (Code::Denied, "does not allow the connection"),
        3 => (Code::ConnectFailed, "reports that the network of the server cannot be reached"),
        4 => (Code::ConnectFailed, "reports that the host cannot be reached or is unknown"),
        5 => (Code::ConnectFailed, "reports that the server refused the connection"),
        6 => (Code::ConnectFailed, "reports that the time to live has expired"),
        7 => (Code::Denied, "does not support CONNECT"),
        8 => (Code::Denied, "does not support this type of address"),
        _ => (Code::PeerMisbehaved, "sent an unknown reply"),
    }
}

/// Returns the error for a destination or a login that the protocol of the proxy cannot send.
pub(super) fn destination_error(error: InvalidDestination, proxy: &Proxy) -> Error {
    match error {
        InvalidDestination::Login => {
            Error::new(Code::Usage, Phase::Proxy, format!("the login for the proxy {proxy}: {error}"))
        }
        InvalidDestination::Ipv6 => {
            Error::new(Code::Unsupported, Phase::Proxy, format!("through the proxy {proxy}: {error}"))
                .with_hint("socks5 and http proxies support IPv6 addresses")
        }
        _ => Error::new(Code::Unsupported, Phase::Proxy, format!("through the proxy {proxy}: {error}")),
    }
}
