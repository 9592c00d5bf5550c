//! The connection to the NATS server.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_nats::jetstream::Context;
use async_nats::jetstream::context::ContextBuilder;
use async_nats::{ClientError, ConnectErrorKind, ConnectOptions, Event, ServerError, rustls};
use fetch_url::{Code, Error, Phase};

use crate::error::{Cause, cause, is_closed_connection, request_error, usage_error};
use crate::{Location, Login};
use tokio::sync::watch::{self, Receiver, Sender};

/// The maximum time for the first connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// The maximum time for the answer to a request.
pub(crate) const REQUEST_TIMEOUT: Duration = Duration::from_secs(5);
/// The longest wait between two attempts to connect again.
const MAX_RECONNECT_WAIT: Duration = Duration::from_secs(2);
/// A server that refuses this many logins in a row does not accept the login any more. The attempts take 6 seconds.
const MAX_REFUSED_LOGINS: u32 = 6;
/// The maximum number of published messages that the server has not confirmed.
pub(crate) const MAX_UNCONFIRMED: usize = 1024;
/// The maximum length of the headers of a message.
const MAX_HEADERS: usize = 256;

/// A connection that the client library opens again when it is lost.
#[derive(Clone)]
pub(crate) struct Session {
    context: Context,
    /// The address of the server.
    server: String,
    /// The last refusal of the server for missing permission. The refused request itself gets no answer.
    denied: Arc<Mutex<Option<String>>>,
    /// Changes when the connection was opened again.
    connections: Receiver<u64>,
    /// The number of refused logins in a row.
    refused_logins: Receiver<u32>,
}

impl Session {
    pub(crate) async fn connect(location: &Location, login: Login) -> Result<Self, Error> {
        install_cryptography();
        let denied: Arc<Mutex<Option<String>>> = Arc::default();
        let (connected, connections) = watch::channel(0);
        let (refused, refused_logins) = watch::channel(0);
        let options = options(location, login)?.event_callback({
            let denied = denied.clone();
            move |event| {
                note_event(event, &denied, &connected, &refused);
                std::future::ready(())
            }
        });
        let client = tokio::time::timeout(CONNECT_TIMEOUT, options.connect(location.server_url())).await;
        let client = match client {
            Ok(client) => client.map_err(|error| connect_error(location, &error))?,
            Err(_) => {
                let detail = format!("{}: no NATS server answered within 10 seconds", location.server_url());
                return Err(Error::new(Code::TimedOut, Phase::Connect, detail));
            }
        };
        let context = ContextBuilder::new()
            .timeout(REQUEST_TIMEOUT)
            .ack_timeout(REQUEST_TIMEOUT)
            .max_ack_inflight(MAX_UNCONFIRMED * 2)
            .build(client);
        let server = location.server_url();
        Ok(Self { context, server, denied, connections, refused_logins })
    }

    /// Returns the error for the failed request `what`.
    pub(crate) fn error(&self, what: &str, error: &(dyn std::error::Error + 'static)) -> Error {
        if cause(error) == Cause::TimedOut && self.is_login_refused() {
            return self.login_error();
        }
        let denied = self.denied.lock().unwrap_or_else(PoisonError::into_inner).clone();
        request_error(what, error, denied)
    }

    /// Waits until the server refuses the login for good: it was valid before. Returns the error.
    pub(crate) async fn login_refused(&self) -> Error {
        let mut refused = self.refused_logins.clone();
        let is_refused = refused.wait_for(|count| *count >= MAX_REFUSED_LOGINS).await.is_ok();
        if !is_refused {
            // The connection was closed for good.
            std::future::pending::<()>().await;
        }
        self.login_error()
    }

    pub(crate) fn is_login_refused(&self) -> bool {
        *self.refused_logins.borrow() >= MAX_REFUSED_LOGINS
    }

    fn login_error(&self) -> Error {
        let detail =
            format!("{}: the NATS server refuses the login, which it has accepted before", self.server);
        Error::new(Code::AuthNeeded, Phase::Request, detail)
            .with_hint("the password, token or credentials file was changed, or has expired")
    }

    /// Returns the error for a failed acknowledgement, whose type has no sources.
    pub(crate) fn boxed_error(&self, what: &str, error: &async_nats::Error) -> Error {
        self.error(what, &**error)
    }

    /// Returns a receiver that changes when the connection was opened again.
    pub(crate) fn reconnected(&self) -> Receiver<u64> {
        self.connections.clone()
    }

    /// Returns the maximum length of a message with the headers of this crate, as the server states it.
    pub(crate) fn max_message(&self) -> usize {
        self.context.client().max_payload().saturating_sub(MAX_HEADERS)
    }

    /// Returns the interface to JetStream.
    pub(crate) const fn context(&self) -> &Context {
        &self.context
    }
}

fn note_event(event: Event, denied: &Mutex<Option<String>>, connected: &Sender<u64>, refused: &Sender<u32>) {
    match event {
        Event::Connected => {
            refused.send_replace(0);
            connected.send_modify(|count| *count += 1);
        }
        // The client library reports the kind of a failed connection as text.
        Event::ClientError(ClientError::Other(text)) if is_login_refusal(&text) => {
            refused.send_modify(|count| *count = count.saturating_add(1));
        }
        Event::ServerError(ServerError::Other(text))
            if text.to_ascii_lowercase().contains("permissions violation") =>
        {
            *denied.lock().unwrap_or_else(PoisonError::into_inner) = Some(text);
        }
        _ => {}
    }
}

fn is_login_refusal(text: &str) -> bool {
    [ConnectErrorKind::Authentication, ConnectErrorKind::AuthorizationViolation]
        .iter()
        .any(|kind| kind.to_string() == text)
}

fn options(location: &Location, login: Login) -> Result<ConnectOptions, Error> {
    login.check_files()?;
    let mut options = ConnectOptions::new()
        .name("fetch-url")
        .connection_timeout(CONNECT_TIMEOUT / 2)
        // Certificates are given for TLS: without it, the login would be sent in clear text.
        .require_tls(location.requires_tls || login.authorities.is_some() || login.identity.is_some())
        // All subjects are made of checked names, digests and numbers, or come from the server.
        .skip_subject_validation(true)
        .reconnect_delay_callback(|attempts| {
            let wait = Duration::from_millis(50).saturating_mul(1 << attempts.min(6));
            wait.min(MAX_RECONNECT_WAIT)
        });
    let user = login.user.or_else(|| location.user.clone());
    options = match (login.credentials, login.token, user) {
        (Some(text), ..) => options
            .credentials(&text)
            .map_err(|_| usage_error("the credentials file has no JWT and seed of a NATS user"))?,
        (None, Some(token), _) => options.token(token),
        (None, None, Some(user)) => options.user_and_password(user, login.password.unwrap_or_default()),
        (None, None, None) => options,
    };
    if let Some(path) = login.authorities {
        options = options.add_root_certificates(path);
    }
    if let Some((certificate, key)) = login.identity {
        options = options.add_client_certificate(certificate, key);
    }
    Ok(options)
}

/// The client library takes the cryptography of the process, which is not chosen yet if two are built in.
fn install_cryptography() {
    use rustls::crypto;
    #[cfg(feature = "aws-lc-rs")]
    let provider = crypto::aws_lc_rs::default_provider();
    #[cfg(not(feature = "aws-lc-rs"))]
    let provider = crypto::ring::default_provider();
    // An error means that the program has installed one itself.
    let _already_installed = provider.install_default();
}

fn connect_error(location: &Location, error: &async_nats::ConnectError) -> Error {
    let server = location.server_url();
    if let Some(error) = tls_error(error) {
        return tls_failure(&server, error);
    }
    let is_not_reached = is_lost(error) || is_closed_connection(error);
    let (code, phase) = match error.kind() {
        ConnectErrorKind::Authentication | ConnectErrorKind::AuthorizationViolation => {
            let detail = format!("{server}: the NATS server refuses the login");
            return Error::new(Code::AuthNeeded, Phase::Request, detail);
        }
        ConnectErrorKind::Dns => (Code::ResolveFailed, Phase::Resolve),
        ConnectErrorKind::Tls => (Code::TlsFailed, Phase::Tls),
        ConnectErrorKind::TimedOut => (Code::TimedOut, Phase::Connect),
        ConnectErrorKind::Io if !is_not_reached => {
            let detail = format!("{server} does not speak the protocol of NATS: {error}");
            return Error::new(Code::PeerMisbehaved, Phase::Connect, detail);
        }
        _ => (Code::ConnectFailed, Phase::Connect),
    };
    Error::new(code, phase, format!("{server}: {error}"))
}

/// Returns the cause of a failed TLS handshake, which the client library reports as an error of the connection.
fn tls_error(error: &async_nats::ConnectError) -> Option<&rustls::Error> {
    io_error(error)?.get_ref()?.downcast_ref()
}

fn tls_failure(server: &str, error: &rustls::Error) -> Error {
    use rustls::AlertDescription as Alert;
    let (phase, what) = match error {
        rustls::Error::InvalidCertificate(_) => (Phase::Certificate, ""),
        rustls::Error::InvalidMessage(_) => (Phase::Tls, "the NATS server does not answer with TLS: "),
        rustls::Error::AlertReceived(
            Alert::BadCertificate
            | Alert::UnsupportedCertificate
            | Alert::CertificateRevoked
            | Alert::CertificateExpired
            | Alert::CertificateUnknown
            | Alert::CertificateRequired
            | Alert::UnknownCA
            | Alert::AccessDenied,
        ) => (Phase::Tls, "the NATS server refuses the client certificate, or wants one: "),
        _ => (Phase::Tls, ""),
    };
    Error::new(Code::TlsFailed, phase, format!("{server}: {what}{error}"))
}

fn io_error(error: &async_nats::ConnectError) -> Option<&std::io::Error> {
    std::error::Error::source(error)?.downcast_ref()
}

/// Returns `true` if no connection was made, or if it was lost.
fn is_lost(error: &async_nats::ConnectError) -> bool {
    use std::io::ErrorKind as Kind;
    let kind = io_error(error).map(std::io::Error::kind);
    matches!(
        kind,
        Some(
            Kind::ConnectionRefused
                | Kind::HostUnreachable
                | Kind::NetworkUnreachable
                | Kind::PermissionDenied
                | Kind::ConnectionReset
                | Kind::ConnectionAborted
                | Kind::BrokenPipe
                | Kind::UnexpectedEof
        )
    )
}
