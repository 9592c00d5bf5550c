//! What an error of reqwest, hyper or rustls means.

use std::error::Error as StdError;
use std::io;

use crate::net::proxy::Proxy;
use crate::net::tls;
use crate::{Code, Error, Phase};

/// Before the head of the answer was there.
pub(super) fn before_answer(
    error: impl StdError + Send + Sync + 'static,
    is_connect: bool,
    is_tls: bool,
) -> Error {
    let causes = Causes::of(&error);
    if let Some(tls) = causes.tls {
        return tls;
    }
    let (code, phase, detail) = match (&causes, is_connect) {
        (Causes { io: Some(io::ErrorKind::TimedOut), .. }, true) => {
            (Code::TimedOut, Phase::Connect, "connecting")
        }
        (_, true) if causes.is_timeout => (Code::TimedOut, Phase::Connect, "connecting"),
        // A refusal to connect is told otherwise: these come when a connection is open.
        (Causes { io: Some(io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset), .. }, true)
            if is_tls =>
        {
            (Code::TlsFailed, Phase::Tls, "the connection ended during the handshake")
        }
        (_, true) => (Code::ConnectFailed, Phase::Connect, ""),
        (Causes { is_too_large: true, .. }, _) => {
            (Code::LimitReached, Phase::Reply, "the head of the answer is too long")
        }
        (Causes { is_parse: true, .. }, _) => (Code::PeerMisbehaved, Phase::Reply, "not an HTTP answer"),
        (Causes { io: Some(io::ErrorKind::ConnectionReset), .. }, _) => {
            (Code::EmptyReply, Phase::Reply, "the connection was reset")
        }
        (Causes { is_incomplete: true, .. }, _)
        | (Causes { io: Some(io::ErrorKind::UnexpectedEof), .. }, _) => {
            (Code::EmptyReply, Phase::Reply, "the connection ended")
        }
        _ => (Code::PeerMisbehaved, Phase::Reply, ""),
    };
    let detail = if detail.is_empty() { causes.deepest } else { detail.to_owned() };
    Error::new(code, phase, detail).with_source(error)
}

/// Before the head of the answer was there, on the way through a proxy.
pub(super) fn through_proxy(error: reqwest::Error, is_tls: bool, proxy: &Proxy) -> Error {
    if !error.is_connect() {
        return before_answer(error, false, is_tls);
    }
    let causes = Causes::of(&error);
    let detail = format!("through the proxy {proxy}: {}", causes.deepest);
    // The tunnel's errors are not to be told apart but by their words.
    let is_about = |word| causes.all.iter().any(|cause| cause.to_ascii_lowercase().contains(word));
    if is_about("auth") || is_about("credential") {
        return Error::new(Code::AuthNeeded, Phase::Proxy, detail).with_source(error);
    }
    match before_answer(error, true, is_tls) {
        error if error.code() == Code::ConnectFailed => {
            Error::new(Code::ConnectFailed, Phase::Connect, detail)
        }
        error => error,
    }
}

/// While the body came.
pub(super) fn in_body(error: impl StdError + Send + Sync + 'static) -> Error {
    let causes = Causes::of(&error);
    let detail = match causes.io {
        Some(io::ErrorKind::ConnectionReset) => "the connection was reset".to_owned(),
        _ if causes.is_incomplete => "the connection ended before the body did".to_owned(),
        _ => causes.deepest,
    };
    let broke_rules = matches!(causes.io, Some(io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput));
    let code = if causes.is_too_large {
        Code::LimitReached
    } else if broke_rules || causes.is_parse {
        Code::PeerMisbehaved
    } else {
        Code::Truncated
    };
    Error::new(code, Phase::Body, detail).with_source(error)
}

/// What is found on the way down an error's causes.
#[derive(Default)]
struct Causes {
    tls: Option<Error>,
    io: Option<io::ErrorKind>,
    is_timeout: bool,
    is_incomplete: bool,
    is_parse: bool,
    is_too_large: bool,
    deepest: String,
    all: Vec<String>,
}

impl Causes {
    fn of(error: &(dyn StdError + 'static)) -> Self {
        let mut causes = Self::default();
        let mut next = Some(error);
        while let Some(error) = next {
            causes.look_at(error);
            causes.deepest = error.to_string();
            causes.all.push(causes.deepest.clone());
            next = error.source();
        }
        causes
    }

    fn look_at(&mut self, error: &(dyn StdError + 'static)) {
        if let Some(error) = error.downcast_ref::<io::Error>() {
            self.io = Some(error.kind());
            // An io::Error's source skips the error inside it.
            if let Some(inside) = error.get_ref() {
                self.look_at(inside);
            }
        } else if let Some(error) = error.downcast_ref::<rustls::Error>() {
            self.tls = Some(tls::error(error));
        } else if let Some(error) = error.downcast_ref() {
            self.look_at_hyper(error);
        } else if let Some(error) = error.downcast_ref::<reqwest::Error>() {
            self.is_timeout |= error.is_timeout();
        }
    }

    fn look_at_hyper(&mut self, error: &hyper::Error) {
        self.is_incomplete |= error.is_incomplete_message();
        self.is_parse |= error.is_parse();
        self.is_too_large |= error.is_parse() && error.to_string().contains("too large");
    }
}
