//! A direct connection to a server: hyper over a stream that `Connector` opened, HTTP/1.1 or HTTP/2 as negotiated in
//! TLS (ALPN). The request target is sent byte for byte.

use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_LENGTH, HOST, PROXY_AUTHORIZATION};
use http::{Request, Response, Version};
use hyper::body::{Body as _, Incoming};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::OwnedSemaphorePermit;
use tokio_rustls::client::TlsStream;

use super::connection_task::ConnectionTask;
use super::exchange::{MAX_HEAD_SIZE, SharedExchange};
use super::http2_connection::Http2Connection;
use super::interim::InterimCounter;
use super::options::HttpVersion;
use super::plan::HttpPlan;
use super::request_body::OutgoingBody;
use super::transport_error;
use super::upload::{Upload, UploadProgress};
use super::watched_stream::WatchedStream;
use crate::net::connection_info::Endpoints;
use crate::{Code, Error, Phase, RunContext};

/// Maximum number of header fields of a response.
pub(super) const MAX_HEADERS: usize = 512;
/// Maximum number of bytes that one read returns.
const MAX_READ_BUFFER: usize = 512 * 1024;

/// An open connection.
pub(super) enum Connection {
    Http1 {
        sender: http1::SendRequest<OutgoingBody>,
        _task: ConnectionTask,
        endpoints: Endpoints,
        exchange: SharedExchange,
    },
    Http2(Http2Connection),
}

impl Connection {
    /// Connects to the server of `plan`, or to the proxy that reads its request.
    pub(super) async fn open(plan: &HttpPlan, ctx: &RunContext) -> Result<Self, Error> {
        let (host, port, deadline) = (&plan.host, plan.port, &ctx.deadline);
        let alpn: &[&[u8]] = if plan.allows_http2() { &[b"h2", b"http/1.1"] } else { &[b"http/1.1"] };
        if let Some(stream) = ctx.connector.connect_unix(deadline).await? {
            if !plan.is_tls {
                return Self::open_plain(stream, plan, ctx).await;
            }
            let stream = ctx.connector.tls_over_unix(stream, host, alpn, deadline).await?;
            return Self::open_tls(stream, ctx).await;
        }
        if plan.is_forwarded {
            let stream = ctx.connector.connect_to_proxy(host, port, deadline).await?;
            return Self::open_http1(stream, ctx).await;
        }
        if !plan.is_tls {
            return Self::open_plain(ctx.connector.connect(host, port, deadline).await?, plan, ctx).await;
        }
        Self::open_tls(ctx.connector.connect_tls(host, port, alpn, deadline).await?, ctx).await
    }

    /// Opens HTTP on a connection without TLS.
    async fn open_plain<S>(stream: S, plan: &HttpPlan, ctx: &RunContext) -> Result<Self, Error>
    where
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        match plan.allows_http2() {
            true => Http2Connection::open(stream, ctx).await.map(Self::Http2),
            false => Self::open_http1(stream, ctx).await,
        }
    }

    /// Opens HTTP on a TLS connection, in the version that was negotiated.
    async fn open_tls<S>(stream: TlsStream<S>, ctx: &RunContext) -> Result<Self, Error>
    where
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        match stream.get_ref().1.alpn_protocol() {
            Some(b"h2") => Http2Connection::open(stream, ctx).await.map(Self::Http2),
            _ => Self::open_http1(stream, ctx).await,
        }
    }

    async fn open_http1<S>(stream: S, ctx: &RunContext) -> Result<Self, Error>
    where
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        let mut builder = http1::Builder::new();
        builder.max_headers(MAX_HEADERS).max_header_size(MAX_HEAD_SIZE).max_buf_size(MAX_READ_BUFFER);
        // A folded field is read as one line (RFC 9112 §5.2).
        builder.allow_obsolete_multiline_headers_in_responses(true);
        builder.title_case_headers(true);
        let exchange = SharedExchange::default();
        let stream = WatchedStream::new(stream, exchange.clone());
        let handshake = async { builder.handshake(TokioIo::new(stream)).await.map_err(connection_error) };
        let (sender, connection) = ctx.deadline.bound(Phase::Connect, handshake).await?;
        let (_task, endpoints) =
            (ConnectionTask::spawn(connection), ctx.connector.connection_info().endpoints());
        Ok(Self::Http1 { sender, _task, endpoints, exchange })
    }

    /// Waits until the connection can send a request. Returns `false` if it is closed.
    pub(super) async fn is_ready(&mut self) -> bool {
        match self {
            Self::Http1 { sender, .. } => sender.ready().await.is_ok(),
            Self::Http2(connection) => connection.is_ready().await,
        }
    }

    /// Returns a second handle to an HTTP/2 connection, for a parallel request.
    #[cfg_attr(not(feature = "http2"), allow(unreachable_code, reason = "there are no such connections"))]
    pub(super) fn clone_if_multiplexed(&self) -> Option<Self> {
        match self {
            Self::Http1 { .. } => None,
            Self::Http2(connection) => Some(Self::Http2(connection.clone())),
        }
    }

    /// Reserves the connection for a request. The reservation ends when it is dropped. Returns `None` if the request has a body,
    /// and another body is being sent over the HTTP/2 connection.
    pub(super) fn reserve(&self, has_body: bool) -> Option<Reservation> {
        match self {
            Self::Http2(connection) if has_body => {
                connection.upload_permit().map(|permit| Reservation { _permit: Some(permit) })
            }
            _ => Some(Reservation { _permit: None }),
        }
    }

    /// Returns the counter of the interim responses to `request`.
    pub(super) fn interim_counter<B>(&self, request: &mut Request<B>) -> InterimCounter {
        match self {
            Self::Http1 { .. } => InterimCounter::counting(request),
            Self::Http2(connection) => connection.interim_counter(),
        }
    }

    /// Returns the address of the server and the local address.
    pub(super) const fn endpoints(&self) -> Endpoints {
        match self {
            Self::Http1 { endpoints, .. } => *endpoints,
            Self::Http2(connection) => connection.endpoints(),
        }
    }

    /// Returns the record of the exchange over an HTTP/1 connection.
    pub(super) const fn exchange(&self) -> Option<&SharedExchange> {
        match self {
            Self::Http1 { exchange, .. } => Some(exchange),
            Self::Http2(_) => None,
        }
    }

    /// Sends a request and waits for the head of the response. `upload` is the progress of the request body.
    pub(super) async fn send_request(
        &mut self,
        request: Request<OutgoingBody>,
        plan: &HttpPlan,
        upload: &UploadProgress,
    ) -> Result<Response<Incoming>, SendError> {
        let sent = match self {
            Self::Http1 { sender, exchange, .. } => {
                exchange.begin(plan, upload);
                sender.try_send_request(request).await
            }
            Self::Http2(connection) => {
                connection.send_request(request, plan.body.is_some().then_some(upload)).await
            }
        };
        sent.map_err(|mut error| SendError {
            is_unsent: error.take_message().is_some(),
            is_head_incomplete: self.exchange().is_some_and(SharedExchange::has_received),
            error: error.into_error(),
        })
    }

    /// Returns the request of `plan` in the form that this HTTP version needs.
    pub(super) fn build_request(
        &self,
        plan: &HttpPlan,
        upload: Upload,
    ) -> Result<Request<OutgoingBody>, Error> {
        let uri = match self {
            Self::Http1 { .. } => plan.target.clone(),
            Self::Http2(_) => {
                let scheme = if plan.is_tls { "https" } else { "http" };
                format!("{scheme}://{}{}", plan.authority, plan.target)
            }
        };
        // The target was checked when the request was planned.
        let invalid_host = |error: http::Error| {
            let detail = format!("the host {:?} cannot be sent: {error}", plan.authority);
            Error::new(Code::BadUrl, Phase::Plan, detail)
        };
        let body = plan.body.clone().unwrap_or_else(|| Bytes::new().into()).open(upload)?;
        let is_empty = plan.body.is_some() && body.is_end_stream();
        let mut request =
            Request::builder().method(plan.method.clone()).uri(uri).body(body).map_err(invalid_host)?;
        if plan.options.version == HttpVersion::Http10 {
            *request.version_mut() = Version::HTTP_10;
        }
        let headers = request.headers_mut();
        if let Self::Http1 { .. } = self {
            let host = http::HeaderValue::from_str(&plan.authority);
            headers.insert(HOST, host.map_err(|error| invalid_host(error.into()))?);
        }
        if let Some(authorization) = &plan.authorization {
            headers.insert(AUTHORIZATION, authorization.clone());
        }
        headers.extend(plan.headers.clone());
        // The server must not receive credentials for a proxy.
        headers.remove(PROXY_AUTHORIZATION);
        if is_empty {
            headers.insert(CONTENT_LENGTH, http::HeaderValue::from_static("0"));
        }
        Ok(request)
    }
}

/// The reservation of a connection for one request.
pub(super) struct Reservation {
    /// The permit to send a body over HTTP/2.
    _permit: Option<OwnedSemaphorePermit>,
}

/// The error of a request that got no response.
pub(super) struct SendError {
    pub(super) error: hyper::Error,
    /// The request was not sent.
    pub(super) is_unsent: bool,
    /// HTTP/1.1: a part of the head of the response has arrived.
    pub(super) is_head_incomplete: bool,
}

/// Returns the error for a failure before the head of the response.
pub(super) fn connection_error(error: hyper::Error) -> Error {
    transport_error::error_before_response(error)
}
