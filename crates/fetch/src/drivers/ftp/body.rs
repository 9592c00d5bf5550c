//! The octets of a transfer. It is whole when the data connection has come to its end and the server
//! has then said 226 or 250; the size is checked by the body around it.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use fetch_url_proto::ftp::{Form, Step};

use super::data::Arrival;
use super::fault;
use super::line::Line;
use super::plan::FtpPlan;
use super::servers::Servers;
use crate::body::{EndMark, LocalLines};
use crate::engine::waiting::Key;
use crate::{Body, ByteSource, Code, Ctx, Error, Phase, Proof};

type Ending = Pin<Box<dyn Future<Output = Result<(), Error>> + Send>>;

/// A transfer under way.
pub(super) struct Transfer {
    state: State,
    /// Told when the server says itself that it was not all.
    mark: EndMark,
    ctx: Ctx,
    servers: Arc<Servers>,
    key: Key,
}

enum State {
    Arriving(Box<(Arrival, Line)>),
    /// The data connection has come to its end; the server's word is waited for.
    Ending(Ending),
    Ended,
}

impl Transfer {
    pub(super) fn new(arrival: Arrival, line: Line, key: Key, plan: &FtpPlan, ctx: &Ctx) -> Self {
        Self {
            state: State::Arriving(Box::new((arrival, line))),
            mark: EndMark::default(),
            ctx: ctx.clone(),
            servers: plan.servers.clone(),
            key,
        }
    }

    /// Told at the end.
    pub(super) fn mark(&self) -> EndMark {
        self.mark.clone()
    }

    /// A file of `form`, of `expected` octets where that is known; only the first `stop` of them are
    /// wanted.
    pub(super) fn into_body(self, form: &Form, expected: Option<u64>, stop: Option<u64>) -> Body {
        match (form, stop, expected) {
            (Form::Ascii, ..) => {
                let proof = Proof::Assumed("text of TYPE A has no size that the server could tell");
                Body::from_source(Text { transfer: self, lines: LocalLines::default() }, None, proof)
            }
            (_, Some(stop), _) => {
                let first = First { transfer: self, left: stop };
                Body::from_source(
                    first,
                    expected,
                    Proof::Assumed("the server does not prove where it begins"),
                )
            }
            (_, None, Some(size)) => {
                let whole = Whole { transfer: self, left: size };
                Body::from_source(whole, expected, Proof::Proven("SIZE and the reply 226"))
            }
            _ => Body::from_source(self, None, Proof::Assumed("the server does not tell the size")),
        }
    }

    /// First the data connection is closed, since some servers wait for that; then the server is heard.
    fn end(&mut self, line: Line) -> Ending {
        let (ctx, servers, key) = (self.ctx.clone(), self.servers.clone(), self.key.clone());
        let mark = self.mark.clone();
        Box::pin(async move {
            let mut line = line;
            match line.advance(&ctx).await {
                Ok(Step::Done) => {}
                Ok(_) => return Err(Error::new(Code::Internal, Phase::Body, "the session has not ended")),
                Err(trouble) => return Err(cut_short(fault::error(trouble))),
            }
            if line.was_less() {
                mark.is_missing("the server's word that nothing was left out");
            }
            if line.prepare(&ctx.dial).await {
                servers.put(key, line);
            }
            Ok(())
        })
    }

    fn poll_arriving(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Error>>> {
        let State::Arriving(arriving) = &mut self.state else { return Poll::Ready(None) };
        let Poll::Ready(arrived) = arriving.0.poll(cx) else {
            let Err(trouble) = arriving.1.poll_promises(cx) else { return Poll::Pending };
            self.state = State::Ended;
            return Poll::Ready(Some(Err(fault::error(trouble))));
        };
        match arrived {
            Ok(octets) if !octets.is_empty() => Poll::Ready(Some(Ok(octets))),
            Ok(_) => {
                let State::Arriving(arriving) = std::mem::replace(&mut self.state, State::Ended) else {
                    return Poll::Ready(None);
                };
                let (arrival, line) = *arriving;
                drop(arrival);
                self.state = State::Ending(self.end(line));
                Poll::Ready(None)
            }
            Err(error) => {
                self.state = State::Ended;
                let error = Error::io(Code::Truncated, Phase::Body, "the data connection", error);
                Poll::Ready(Some(Err(error)))
            }
        }
    }
}

impl ByteSource for Transfer {
    fn poll_chunk(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Error>>> {
        if let Some(arrived) = ready!(self.poll_arriving(cx)) {
            return Poll::Ready(Some(arrived));
        }
        let State::Ending(ending) = &mut self.state else { return Poll::Ready(None) };
        let ended = ready!(ending.as_mut().poll(cx));
        self.state = State::Ended;
        Poll::Ready(ended.err().map(Err))
    }
}

/// Without the server's word that it was all, it was not.
fn cut_short(error: Error) -> Error {
    match error.code() {
        Code::EmptyReply | Code::Busy | Code::Denied | Code::NotFound => {
            let detail = format!("without the server's word that it was all: {error}");
            Error::new(Code::Truncated, Phase::Body, detail)
        }
        _ => error,
    }
}

/// A file of known size: what comes beyond it shows that the size or the octets are another's.
struct Whole {
    transfer: Transfer,
    left: u64,
}

impl ByteSource for Whole {
    fn poll_chunk(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Error>>> {
        let arrived = ready!(Pin::new(&mut self.transfer).poll_chunk(cx));
        if let Some(Ok(octets)) = &arrived {
            match self.left.checked_sub(octets.len() as u64) {
                Some(left) => self.left = left,
                None => {
                    self.transfer.state = State::Ended;
                    let error = Error::new(Code::Truncated, Phase::Body, "more octets than SIZE told");
                    return Poll::Ready(Some(Err(error.lasting().voiding())));
                }
            }
        }
        Poll::Ready(arrived)
    }
}

/// The first octets of what comes; then the connection is given up.
struct First {
    transfer: Transfer,
    left: u64,
}

impl ByteSource for First {
    fn poll_chunk(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Error>>> {
        if self.left == 0 {
            self.transfer.state = State::Ended;
            return Poll::Ready(None);
        }
        let arrived = ready!(Pin::new(&mut self.transfer).poll_chunk(cx));
        Poll::Ready(arrived.map(|arrived| {
            arrived.map(|mut octets| {
                octets.truncate(usize::try_from(self.left).unwrap_or(usize::MAX));
                self.left -= octets.len() as u64;
                octets
            })
        }))
    }
}

/// Text, its line ends as they are here.
struct Text {
    transfer: Transfer,
    lines: LocalLines,
}

impl ByteSource for Text {
    fn poll_chunk(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Error>>> {
        loop {
            return Poll::Ready(match ready!(Pin::new(&mut self.transfer).poll_chunk(cx)) {
                Some(Ok(octets)) => match self.lines.turn(octets) {
                    // A CR alone is held back.
                    turned if turned.is_empty() => continue,
                    turned => Some(Ok(turned)),
                },
                Some(Err(error)) => Some(Err(error)),
                None => self.lines.end().map(Ok),
            });
        }
    }
}
