//! A direct connection to a server: hyper over a stream that `Connector` opened, HTTP/1.1 or HTTP/2 as negotiated in
//! TLS (ALPN). The request target is sent byte for byte.

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

use super::plan::HttpPlan;
use super::transport_error;
use crate::net::connection_info::Endpoints;
use crate::{Code, Error, Phase, RunContext};

/// The most header headers of a response.
pub(super) const MAX_HEADERS: usize = 512;
/// The most bytes of the head of a response.
const MAX_HEAD_SIZE: usize = 256 * 1024;
/// The most bytes that one read returns.
const MAX_READ_BUFFER: usize = 512 * 1024;
/// The HTTP/2 flow-control window of a stream and of a connection, in bytes: enough for 100 MB/s at 100 ms.
pub(super) const HTTP2_WINDOW: u32 = 16 * 1024 * 1024;

type RequestBody = Full<Bytes>;

/// An open connection.
pub(super) enum Connection {
    Http1 { sender: http1::SendRequest<RequestBody>, _task: ConnectionTask, endpoints: Endpoints },
    Http2 { sender: http2::SendRequest<RequestBody>, task: Arc<ConnectionTask>, endpoints: Endpoints },
}

impl Connection {
    /// Connects to the server of `plan`.
    pub(super) async fn open(plan: &HttpPlan, ctx: &RunContext) -> Result<Self, Error> {
        let (host, port, deadline) = (&plan.host, plan.port, &ctx.deadline);
        if !plan.is_tls {
            return Self::open_http1(ctx.connector.connect(host, port, deadline).await?, plan, ctx).await;
        }
        let protocols: &[&[u8]] = if plan.allows_http2() { &[b"h2", b"http/1.1"] } else { &[b"http/1.1"] };
        let stream = ctx.connector.connect_tls(host, port, protocols, deadline).await?;
        match stream.get_ref().1.alpn_protocol() {
            Some(b"h2") => Self::open_http2(stream, plan, ctx).await,
            _ => Self::open_http1(stream, plan, ctx).await,
        }
    }

    async fn open_http1<S>(stream: S, plan: &HttpPlan, ctx: &RunContext) -> Result<Self, Error>
    where
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        let mut builder = http1::Builder::new();
        builder.max_headers(MAX_HEADERS).max_header_size(MAX_HEAD_SIZE).max_buf_size(MAX_READ_BUFFER);
        // A folded field is read as one line (RFC 9112 §5.2).
        builder.allow_obsolete_multiline_headers_in_responses(true);
        let handshake = async {
            builder.handshake(TokioIo::new(stream)).await.map_err(|error| connection_error(error, plan))
        };
        let (sender, connection) = ctx.deadline.bound(Phase::Connect, handshake).await?;
        Ok(Self::Http1 { sender, _task: ConnectionTask::spawn(connection), endpoints: last_endpoints(ctx) })
    }

    async fn open_http2<S>(stream: S, plan: &HttpPlan, ctx: &RunContext) -> Result<Self, Error>
    where
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        let mut builder = http2::Builder::new(TokioExecutor::new());
        builder.initial_stream_window_size(HTTP2_WINDOW).initial_connection_window_size(HTTP2_WINDOW);
        builder.max_header_list_size(u32::try_from(MAX_HEAD_SIZE).unwrap_or(u32::MAX));
        let handshake = async {
            builder.handshake(TokioIo::new(stream)).await.map_err(|error| connection_error(error, plan))
        };
        let (sender, connection) = ctx.deadline.bound(Phase::Connect, handshake).await?;
        Ok(Self::Http2 {
            sender,
            task: Arc::new(ConnectionTask::spawn(connection)),
            endpoints: last_endpoints(ctx),
        })
    }

    /// Waits until the connection can send a request. Returns `false` if it is closed.
    pub(super) async fn is_ready(&mut self) -> bool {
        match self {
            Self::Http1 { sender, .. } => sender.ready().await.is_ok(),
            Self::Http2 { sender, .. } => sender.ready().await.is_ok(),
        }
    }

    /// Returns a second handle to an HTTP/2 connection, for a parallel request.
    pub(super) fn clone_if_multiplexed(&self) -> Option<Self> {
        match self {
            Self::Http1 { .. } => None,
            Self::Http2 { sender, task, endpoints } => {
                Some(Self::Http2 { sender: sender.clone(), task: task.clone(), endpoints: *endpoints })
            }
        }
    }

    /// Returns the address of the server and the local address.
    pub(super) const fn endpoints(&self) -> Endpoints {
        match self {
            Self::Http1 { endpoints, .. } | Self::Http2 { endpoints, .. } => *endpoints,
        }
    }

    /// Sends a request and waits for the head of the response.
    pub(super) async fn send_request(
        &mut self,
        request: Request<RequestBody>,
    ) -> Result<Response<Incoming>, SendError> {
        let sent = match self {
            Self::Http1 { sender, .. } => sender.try_send_request(request).await,
            Self::Http2 { sender, .. } => sender.try_send_request(request).await,
        };
        sent.map_err(|mut error| SendError {
            is_unsent: error.take_message().is_some(),
            error: error.into_error(),
        })
    }

    /// Returns the request of `plan` in the form that this HTTP version needs.
    pub(super) fn build_request(&self, plan: &HttpPlan) -> Result<Request<RequestBody>, Error> {
        let uri = match self {
            Self::Http1 { .. } => plan.target.clone(),
            Self::Http2 { .. } => format!("https://{}{}", plan.authority, plan.target),
        };
        let internal = |error: http::Error| Error::new(Code::Internal, Phase::Plan, error.to_string());
        let body = Full::new(plan.body.clone().unwrap_or_default());
        let mut request =
            Request::builder().method(plan.method.clone()).uri(uri).body(body).map_err(internal)?;
        let headers = request.headers_mut();
        if let Self::Http1 { .. } = self {
            let host = http::HeaderValue::from_str(&plan.authority);
            headers.insert(HOST, host.map_err(|error| internal(error.into()))?);
        }
        headers.extend(plan.headers.clone());
        // There is no proxy: the server must not see credentials for one.
        headers.remove(PROXY_AUTHORIZATION);
        if plan.body.as_ref().is_some_and(Bytes::is_empty) {
            headers.insert(CONTENT_LENGTH, http::HeaderValue::from_static("0"));
        }
        if let Some(authorization) = &plan.authorization {
            headers.insert(AUTHORIZATION, authorization.clone());
        }
        Ok(request)
    }
}

/// A request without a response.
pub(super) struct SendError {
    pub(super) error: hyper::Error,
    /// The request was not sent.
    pub(super) is_unsent: bool,
}

/// Returns the endpoints of the connection that was opened last.
fn last_endpoints(ctx: &RunContext) -> Endpoints {
    let facts = ctx.connector.connection_info().facts();
    (facts.peer, facts.local)
}

/// Returns the error for a failure before the head of the response.
pub(super) fn connection_error(error: hyper::Error, plan: &HttpPlan) -> Error {
    transport_error::error_before_response(error, false, plan.is_tls)
}

/// The task that drives a connection. It is aborted on drop.
pub(super) struct ConnectionTask(AbortHandle);

impl ConnectionTask {
    #[allow(
        clippy::disallowed_methods,
        reason = "hyper's connection must be polled beside its body; ends on drop"
    )]
    fn spawn<T: Send + 'static>(connection: impl Future<Output = T> + Send + 'static) -> Self {
        Self(tokio::spawn(connection).abort_handle())
    }
}

impl Drop for ConnectionTask {
    fn drop(&mut self) {
        self.0.abort();
    }
}
