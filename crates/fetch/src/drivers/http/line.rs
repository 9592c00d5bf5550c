//! A connection of our own to a server, HTTP/1.1 or HTTP/2 as TLS agreed: opened by `Dial`, its
//! requests octet for octet as the plan has them.

use std::sync::Arc;

use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_LENGTH, HOST, PROXY_AUTHORIZATION};
use http::{Request, Response};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::AbortHandle;

use super::fault;
use super::plan::HttpPlan;
use crate::net::contact::Ends;
use crate::{Code, Ctx, Error, Phase};

/// The most fields of an answer.
pub(super) const FIELDS: usize = 512;
/// The most octets of the head of an answer.
const HEAD: usize = 256 * 1024;
/// The most octets that are read at once.
const BUFFER: usize = 512 * 1024;
/// HTTP/2: octets on their way per stream and connection, enough for 100 MB/s at 100 ms.
pub(super) const WINDOW: u32 = 16 * 1024 * 1024;

type Payload = Full<Bytes>;

/// An open connection.
pub(super) enum Line {
    One { sender: http1::SendRequest<Payload>, _mover: Mover, ends: Ends },
    Two { sender: http2::SendRequest<Payload>, mover: Arc<Mover>, ends: Ends },
}

impl Line {
    /// Opens one.
    pub(super) async fn open(plan: &HttpPlan, ctx: &Ctx) -> Result<Self, Error> {
        let (host, port, deadline) = (&plan.host, plan.port, &ctx.deadline);
        if !plan.is_tls {
            return Self::one(ctx.dial.connect(host, port, deadline).await?, plan, ctx).await;
        }
        let protocols: &[&[u8]] = if plan.takes_http2() { &[b"h2", b"http/1.1"] } else { &[b"http/1.1"] };
        let stream = ctx.dial.connect_tls(host, port, protocols, deadline).await?;
        match stream.get_ref().1.alpn_protocol() {
            Some(b"h2") => Self::two(stream, plan, ctx).await,
            _ => Self::one(stream, plan, ctx).await,
        }
    }

    async fn one<S>(stream: S, plan: &HttpPlan, ctx: &Ctx) -> Result<Self, Error>
    where
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        let mut builder = http1::Builder::new();
        builder.max_headers(FIELDS).max_header_size(HEAD).max_buf_size(BUFFER);
        let shaken =
            async { builder.handshake(TokioIo::new(stream)).await.map_err(|error| before(error, plan)) };
        let (sender, connection) = ctx.deadline.bound(Phase::Connect, shaken).await?;
        Ok(Self::One { sender, _mover: Mover::start(connection), ends: ends(ctx) })
    }

    async fn two<S>(stream: S, plan: &HttpPlan, ctx: &Ctx) -> Result<Self, Error>
    where
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        let mut builder = http2::Builder::new(TokioExecutor::new());
        builder.initial_stream_window_size(WINDOW).initial_connection_window_size(WINDOW);
        builder.max_header_list_size(u32::try_from(HEAD).unwrap_or(u32::MAX));
        let shaken =
            async { builder.handshake(TokioIo::new(stream)).await.map_err(|error| before(error, plan)) };
        let (sender, connection) = ctx.deadline.bound(Phase::Connect, shaken).await?;
        Ok(Self::Two { sender, mover: Arc::new(Mover::start(connection)), ends: ends(ctx) })
    }

    /// Waits until it takes a request; false when it is closed.
    pub(super) async fn is_ready(&mut self) -> bool {
        match self {
            Self::One { sender, .. } => sender.ready().await.is_ok(),
            Self::Two { sender, .. } => sender.ready().await.is_ok(),
        }
    }

    /// The same connection for another request at the same time, where it can be shared.
    pub(super) fn shared(&self) -> Option<Self> {
        match self {
            Self::One { .. } => None,
            Self::Two { sender, mover, ends } => {
                Some(Self::Two { sender: sender.clone(), mover: mover.clone(), ends: *ends })
            }
        }
    }

    /// The addresses at its two ends.
    pub(super) const fn ends(&self) -> Ends {
        match self {
            Self::One { ends, .. } | Self::Two { ends, .. } => *ends,
        }
    }

    /// Sends a request and waits for the head of its answer.
    pub(super) async fn send(&mut self, request: Request<Payload>) -> Result<Response<Incoming>, Lost> {
        let sent = match self {
            Self::One { sender, .. } => sender.try_send_request(request).await,
            Self::Two { sender, .. } => sender.try_send_request(request).await,
        };
        sent.map_err(|mut error| Lost {
            is_unsent: error.take_message().is_some(),
            error: error.into_error(),
        })
    }

    /// The plan's request in the words of this connection.
    pub(super) fn request(&self, plan: &HttpPlan) -> Result<Request<Payload>, Error> {
        let uri = match self {
            Self::One { .. } => plan.target.clone(),
            Self::Two { .. } => format!("https://{}{}", plan.authority, plan.target),
        };
        let internal = |error: http::Error| Error::new(Code::Internal, Phase::Plan, error.to_string());
        let body = Full::new(plan.body.clone().unwrap_or_default());
        let mut request =
            Request::builder().method(plan.method.clone()).uri(uri).body(body).map_err(internal)?;
        let fields = request.headers_mut();
        if let Self::One { .. } = self {
            let host = http::HeaderValue::from_str(&plan.authority);
            fields.insert(HOST, host.map_err(|error| internal(error.into()))?);
        }
        fields.extend(plan.fields.clone());
        // What is meant for a proxy is nothing that a server may see.
        fields.remove(PROXY_AUTHORIZATION);
        if plan.body.as_ref().is_some_and(Bytes::is_empty) {
            fields.insert(CONTENT_LENGTH, http::HeaderValue::from_static("0"));
        }
        if let Some(authorization) = &plan.authorization {
            fields.insert(AUTHORIZATION, authorization.clone());
        }
        Ok(request)
    }
}

/// A request that got no answer.
pub(super) struct Lost {
    pub(super) error: hyper::Error,
    /// It never went out.
    pub(super) is_unsent: bool,
}

/// The ends of the connection that was just opened.
fn ends(ctx: &Ctx) -> Ends {
    let facts = ctx.dial.contact().facts();
    (facts.peer, facts.local)
}

/// What went wrong before the answer.
pub(super) fn before(error: hyper::Error, plan: &HttpPlan) -> Error {
    fault::before_answer(error, false, plan.is_tls)
}

/// The task that moves a connection's octets: it ends with whoever holds it.
pub(super) struct Mover(AbortHandle);

impl Mover {
    #[allow(
        clippy::disallowed_methods,
        reason = "hyper's connection must be polled beside its body; ends on drop"
    )]
    fn start<T: Send + 'static>(connection: impl Future<Output = T> + Send + 'static) -> Self {
        Self(tokio::spawn(connection).abort_handle())
    }
}

impl Drop for Mover {
    fn drop(&mut self) {
        self.0.abort();
    }
}
