//! The road for targets that reqwest's URL parser would rewrite (`/a/../b`, `/%2e/`, `'`): hyper on
//! a connection of our own, the target octet for octet.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame};
use http_body_util::Empty;
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::AbortHandle;

use super::fault;
use super::interim::Interim;
use super::plan::HttpPlan;
use crate::{Code, Ctx, Error, Phase};

/// Sends the request on a connection of its own.
pub(super) async fn send(plan: &HttpPlan, ctx: &Ctx) -> Result<reqwest::Response, Error> {
    let (host, port, deadline) = (&plan.host, plan.port, &ctx.deadline);
    if plan.is_tls {
        exchange(plan, ctx, ctx.dial.connect_tls(host, port, &[b"http/1.1"], deadline).await?).await
    } else {
        exchange(plan, ctx, ctx.dial.connect(host, port, deadline).await?).await
    }
}

async fn exchange<S>(plan: &HttpPlan, ctx: &Ctx, stream: S) -> Result<reqwest::Response, Error>
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let answered = async {
        let shaken = http1::handshake(TokioIo::new(stream)).await;
        let (mut sender, connection) =
            shaken.map_err(|error| fault::before_answer(error, false, plan.is_tls))?;
        let driver = Driver::start(connection);
        let mut request = request(plan)?;
        let interim = Interim::default();
        interim.watch(&mut request);
        let sent = async {
            let response = sender.send_request(request).await;
            response.map_err(|error| fault::before_answer(error, false, plan.is_tls))
        };
        let response = interim.bound(sent).await?;
        let (head, incoming) = response.into_parts();
        let body = reqwest::Body::wrap(Driven { incoming, _driver: driver });
        Ok(reqwest::Response::from(http::Response::from_parts(head, body)))
    };
    ctx.deadline.bound(Phase::Reply, answered).await
}

fn request(plan: &HttpPlan) -> Result<http::Request<Empty<Bytes>>, Error> {
    let mut request = http::Request::builder()
        .method(plan.method.clone())
        .uri(&plan.target)
        .header(http::header::HOST, plan.authority());
    for (name, value) in &plan.fields {
        request = request.header(name, value);
    }
    if let Some(authorization) = &plan.authorization {
        request = request.header(http::header::AUTHORIZATION, authorization);
    }
    let internal = |error: http::Error| Error::new(Code::Internal, Phase::Plan, error.to_string());
    request.body(Empty::new()).map_err(internal)
}

/// The task that moves the connection's octets: it ends with whoever holds it.
struct Driver(AbortHandle);

impl Driver {
    #[allow(
        clippy::disallowed_methods,
        reason = "hyper's connection must be polled beside its body; ends on drop"
    )]
    fn start<S>(connection: http1::Connection<TokioIo<S>, Empty<Bytes>>) -> Self
    where
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        Self(tokio::spawn(connection).abort_handle())
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// A body and the task that feeds it.
struct Driven {
    incoming: Incoming,
    _driver: Driver,
}

impl Body for Driven {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        Pin::new(&mut self.incoming).poll_frame(cx)
    }
}
