//! Maps errors of hyper, reqwest and rustls to errors of this crate.

use std::error::Error as StdError;
use std::io;

use crate::net::proxy::Proxy;
use crate::net::tls;
use crate::{Code, Error, Phase};

const CLOSED_EARLY: &str = "the connection was closed before the end of the body";

/// Returns the error for a failure on an open connection before the head of the response.
pub(super) fn error_before_response(error: impl StdError + Send + Sync + 'static) -> Error {
    let causes = ErrorCauses::from_error(&error);
    if let Some(tls) = causes.tls {
        return tls;
    }
    let (code, phase, detail) = match &causes {
        ErrorCauses { unprocessed: Some(Unprocessed::RefusedStream), .. } => {
            (Code::Busy, Phase::Reply, "the server refused the HTTP/2 stream")
        }
        ErrorCauses { unprocessed: Some(Unprocessed::GoAway), .. } => {
            (Code::EmptyReply, Phase::Reply, "the server closed the HTTP/2 connection before this request")
        }
        ErrorCauses { reset: Some(Reset::Overload), .. } => (
            Code::Busy,
            Phase::Reply,
            "the server reset the HTTP/2 stream because of its load (ENHANCE_YOUR_CALM)",
        ),
        ErrorCauses { reset: Some(Reset::GivenUp), .. } => {
            (Code::EmptyReply, Phase::Reply, "the server reset the HTTP/2 stream")
        }
        ErrorCauses { is_body_of_request: true, .. } => (Code::Usage, Phase::Request, ""),
        ErrorCauses { is_too_large: true, .. } => {
            (Code::LimitReached, Phase::Reply, "the head of the response is too long")
        }
        ErrorCauses { parse: Some(detail), .. } => (Code::PeerMisbehaved, Phase::Reply, *detail),
        ErrorCauses { io: Some(io::ErrorKind::ConnectionReset), .. } => {
            (Code::EmptyReply, Phase::Reply, "the connection was reset")
        }
        ErrorCauses { is_closed: true, .. }
        | ErrorCauses { is_incomplete: true, .. }
        | ErrorCauses { io: Some(io::ErrorKind::UnexpectedEof), .. } => {
            (Code::EmptyReply, Phase::Reply, "the connection was closed")
        }
        _ => (Code::PeerMisbehaved, Phase::Reply, ""),
    };
    let detail = if detail.is_empty() { causes.deepest } else { detail.to_owned() };
    Error::new(code, phase, detail).with_source(error)
}

/// Returns the error for a failure before the head of the response, through a SOCKS proxy.
pub(super) fn proxy_error(error: reqwest::Error, proxy: &Proxy) -> Error {
    if !error.is_connect() {
        return error_before_response(error);
    }
    let causes = ErrorCauses::from_error(&error);
    let (code, phase) = causes.proxy_failure();
    let detail = format!("through the proxy {proxy}: {}", causes.deepest);
    Error::new(code, phase, detail).with_source(error)
}

/// Returns the error for a failure while the body is read.
pub(super) fn body_error(error: impl StdError + Send + Sync + 'static) -> Error {
    let causes = ErrorCauses::from_error(&error);
    let detail = match causes.io {
        Some(io::ErrorKind::ConnectionReset) => "the connection was reset".to_owned(),
        // TLS ended without close_notify, or a proxy closed the connection.
        Some(io::ErrorKind::UnexpectedEof) => CLOSED_EARLY.to_owned(),
        _ if causes.is_incomplete || causes.is_closed => CLOSED_EARLY.to_owned(),
        _ => causes.deepest,
    };
    let is_invalid = matches!(causes.io, Some(io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput));
    let code = if causes.is_too_large {
        Code::LimitReached
    } else if is_invalid || causes.parse.is_some() {
        Code::PeerMisbehaved
    } else {
        Code::Truncated
    };
    Error::new(code, Phase::Body, detail).with_source(error)
}

/// Returns `true` if the server reports that it did not process the request, so that a request of any method can be sent
/// again (RFC 9113 §8.7).
pub(super) fn is_unprocessed(error: &(dyn StdError + 'static)) -> bool {
    ErrorCauses::from_error(error).unprocessed.is_some()
}

/// Returns `true` if the server does not accept the request over HTTP/2 (HTTP_1_1_REQUIRED, RFC 9113 §7).
pub(super) fn requires_http1(error: &Error) -> bool {
    ErrorCauses::from_error(error).requires_http1
}

/// How an HTTP/2 server reports that it did not process a request (RFC 9113 §8.7).
#[derive(Clone, Copy)]
enum Unprocessed {
    /// RST_STREAM with REFUSED_STREAM.
    RefusedStream,
    /// GOAWAY with a last stream below that of the request.
    GoAway,
}

#[cfg(feature = "http2")]
impl Unprocessed {
    fn from_h2(error: &h2::Error) -> Option<Self> {
        match error.reason() {
            // h2 reports a GOAWAY of the server only to streams above its last one.
            _ if error.is_remote() && error.is_go_away() => Some(Self::GoAway),
            Some(h2::Reason::REFUSED_STREAM) if error.is_remote() => Some(Self::RefusedStream),
            _ => None,
        }
    }
}

/// Why an HTTP/2 server reset the stream of a request that it may have processed. Other reasons accuse the client of a
/// protocol error.
#[derive(Clone, Copy)]
enum Reset {
    /// ENHANCE_YOUR_CALM.
    Overload,
    /// NO_ERROR, INTERNAL_ERROR or CANCEL: as if the connection had been closed.
    GivenUp,
}

#[cfg(feature = "http2")]
impl Reset {
    fn from_h2(error: &h2::Error) -> Option<Self> {
        match error.reason().filter(|_| error.is_remote() && error.is_reset())? {
            h2::Reason::ENHANCE_YOUR_CALM => Some(Self::Overload),
            h2::Reason::NO_ERROR | h2::Reason::INTERNAL_ERROR | h2::Reason::CANCEL => Some(Self::GivenUp),
            _ => None,
        }
    }
}

/// The causes found in the chain of sources of an error.
#[derive(Default)]
struct ErrorCauses {
    tls: Option<Error>,
    io: Option<io::ErrorKind>,
    is_timeout: bool,
    is_incomplete: bool,
    /// The connection was closed: h2 reports an orderly end, a write failed, or the connection task of hyper has ended.
    is_closed: bool,
    /// The message could not be parsed, for this reason.
    parse: Option<&'static str>,
    is_too_large: bool,
    /// The body of the request could not be read.
    is_body_of_request: bool,
    unprocessed: Option<Unprocessed>,
    reset: Option<Reset>,
    requires_http1: bool,
    deepest: String,
    all: Vec<String>,
}

impl ErrorCauses {
    fn from_error(error: &(dyn StdError + 'static)) -> Self {
        let mut causes = Self::default();
        let mut next = Some(error);
        while let Some(error) = next {
            causes.inspect(error);
            causes.deepest = error.to_string();
            causes.all.push(causes.deepest.clone());
            next = error.source();
        }
        causes
    }

    /// Returns the code for a failure to connect through a proxy. reqwest reports errors of the handshake as text only.
    fn proxy_failure(&self) -> (Code, Phase) {
        let mentions = |text| self.all.iter().any(|cause| cause.contains(text));
        match self.io {
            _ if self.is_timeout => (Code::TimedOut, Phase::Connect),
            Some(io::ErrorKind::TimedOut) => (Code::TimedOut, Phase::Connect),
            _ if mentions("server ident service") => (Code::AuthNeeded, Phase::Proxy),
            _ if mentions("connection not allowed") || mentions("not supported") => {
                (Code::Denied, Phase::Proxy)
            }
            _ if mentions("failed parsing server response") || mentions("incorrectly") => {
                (Code::PeerMisbehaved, Phase::Proxy)
            }
            _ if mentions("io error during SOCKS handshake") => (Code::EmptyReply, Phase::Proxy),
            _ if mentions("credentials") || mentions("authentication") => (Code::AuthNeeded, Phase::Proxy),
            _ => (Code::ConnectFailed, Phase::Connect),
        }
    }

    fn inspect(&mut self, error: &(dyn StdError + 'static)) {
        if let Some(error) = error.downcast_ref::<io::Error>() {
            self.io = Some(error.kind());
            self.is_closed |=
                matches!(error.kind(), io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionAborted);
            // io::Error::source skips the error inside it.
            if let Some(inside) = error.get_ref() {
                self.inspect(inside);
            }
        } else if let Some(error) = error.downcast_ref::<rustls::Error>() {
            self.tls = Some(tls::to_tls_error(error));
        } else if let Some(error) = error.downcast_ref() {
            self.inspect_hyper(error);
        } else if let Some(error) = error.downcast_ref::<reqwest::Error>() {
            self.is_timeout |= error.is_timeout();
        } else {
            #[cfg(feature = "http2")]
            self.inspect_h2(error);
        }
    }

    #[cfg(feature = "http2")]
    fn inspect_h2(&mut self, error: &(dyn StdError + 'static)) {
        let Some(error) = error.downcast_ref::<h2::Error>() else { return };
        self.unprocessed = Unprocessed::from_h2(error);
        self.reset = Reset::from_h2(error);
        self.requires_http1 |= error.is_remote() && error.reason() == Some(h2::Reason::HTTP_1_1_REQUIRED);
        // h2::Error has no source.
        if let Some(error) = error.get_io() {
            self.inspect(error);
        }
    }

    fn inspect_hyper(&mut self, error: &hyper::Error) {
        self.is_incomplete |= error.is_incomplete_message();
        // hyper reports the end of its connection task as an error of the caller (`is_user`).
        let is_connection_gone = error.is_user() && error.to_string().contains("dispatch");
        self.is_closed |= is_connection_gone;
        self.is_body_of_request |= error.is_user() && !is_connection_gone;
        if error.is_parse() {
            let text = error.to_string();
            self.parse = Some(parse_detail(&text));
            self.is_too_large |= text.contains("too large");
        }
    }
}

/// Returns the reason why hyper cannot parse a response. hyper names the part in the text of its error only.
fn parse_detail(text: &str) -> &'static str {
    match text {
        _ if text.contains("content-length") => "Content-Length is not one number",
        _ if text.contains("transfer-encoding") => "Transfer-Encoding is not valid for this response",
        _ if text.contains("header") => "a line of the header is not a field, or has a control character",
        _ => "not an HTTP response",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn end_of_tls_without_close_notify_is_named_without_the_text_of_the_library() {
        let library = io::Error::new(
            io::ErrorKind::UnexpectedEof,
            "peer closed connection without sending TLS close_notify: https://docs.rs/rustls/",
        );
        let error = body_error(library);
        assert_eq!(error.code(), Code::Truncated);
        assert!(error.to_string().ends_with(CLOSED_EARLY), "{error}");
    }
}
