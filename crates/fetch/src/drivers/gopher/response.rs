//! Sends one request and receives its response: first the metadata, then the bytes or entries as they arrive.

use std::borrow::Cow;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use fetch_url_proto::gopher::{Exchange, GopherRequest, ResponseKind};
use fetch_url_proto::gopher_plus::Framing;
use fetch_url_proto::{Details, Entry, Event, Head, Rejection, Step};
use futures_core::Stream;

use super::plan::GopherPlan;
use super::rejection::rejection_error;
use crate::body::TerminatorCheck;
use crate::net::connection::Connection;
use crate::time::idle_end::IdleEnd;
use crate::{
    Body, ByteSource, Code, Content, Error, Listing, Meta, Outcome, Phase, Proof, Response, RunContext,
};

/// The reported missing part of a response whose connection stays open after the final line of one dot.
const MISSING_END: &str = "the end of the connection";

/// A response whose beginning has arrived.
pub(super) struct GopherResponse {
    connection: Connection<Exchange>,
    /// Ends the response after its final line of one dot: some servers keep the connection open.
    idle_end: IdleEnd,
    /// Size and modification time, if the server sent them.
    head: Head,
    /// A note for the caller.
    note: Option<Cow<'static, str>>,
    /// The response was ended after its final line of one dot, because the connection stayed open.
    is_cut: bool,
}

/// The beginning of a response.
pub(super) enum ResponseStart {
    Accepted(Box<GopherResponse>),
    Rejected(Box<Rejection>),
}

/// Connects, sends `request` and waits until the response begins. With `is_raw`, menus and attributes are returned as
/// bytes.
pub(super) async fn send_request(
    request: &GopherRequest,
    is_raw: bool,
    plan: &GopherPlan,
    ctx: &RunContext,
) -> Result<ResponseStart, Error> {
    let GopherPlan { host, port, options, .. } = plan;
    let machine = Exchange::new(request, plan.gtype, options.dots, is_raw, plan.tls_server());
    let info = ctx.connector.connection_info();
    let mut connection = if plan.is_tls {
        let stream = ctx.connector.connect_tls(host, *port, &[], &ctx.deadline).await?;
        Connection::new(machine, ctx.connector.tls_stream(stream), info)
    } else {
        let stream = ctx.connector.connect(host, *port, &ctx.deadline).await?;
        Connection::new(machine, ctx.connector.plain_stream(stream), info)
    };
    let mut note = None;
    let beginning = ctx.deadline.bound(Phase::Reply, receive_beginning(&mut connection, &mut note)).await;
    let (beginning, is_cut) = match beginning {
        // A short response may be an error or a text until the connection ends.
        Err(error)
            if error.code() == Code::TimedOut
                && connection.machine().has_final_dot(connection.received()) =>
        {
            ctx.deadline.check()?;
            connection.end_input();
            (receive_beginning(&mut connection, &mut note).await?, true)
        }
        beginning => (beginning?, false),
    };
    Ok(match beginning {
        Ok(head) => {
            let idle_end = IdleEnd::new(ctx.deadline, info);
            ResponseStart::Accepted(Box::new(GopherResponse { connection, idle_end, head, note, is_cut }))
        }
        Err(rejection) => ResponseStart::Rejected(rejection),
    })
}

/// Waits until the response begins.
async fn receive_beginning(
    connection: &mut Connection<Exchange>,
    note: &mut Option<Cow<'static, str>>,
) -> Result<Result<Head, Box<Rejection>>, Error> {
    loop {
        match connection.step().await? {
            Step::Emit(Event::Head(head)) => return Ok(Ok(head)),
            Step::Emit(Event::Note(text)) => *note = Some(text),
            Step::Emit(Event::Rejected(rejection)) => return Ok(Err(rejection)),
            _ => return Err(unexpected_step_error()),
        }
    }
}

impl GopherResponse {
    /// Returns `true` if the response has a Gopher+ status line.
    pub(super) const fn is_gopher_plus(&self) -> bool {
        self.connection.machine().framing().is_some()
    }

    /// Reads the rest of a response of entries and returns the first entry.
    ///
    /// # Errors
    /// The server refused the request, or the connection was lost.
    pub(super) async fn read_single_entry(&mut self) -> Result<Option<Entry>, Error> {
        let entry = self.next_entry().await?;
        while self.next_entry().await?.is_some() {}
        Ok(entry)
    }

    async fn next_entry(&mut self) -> Result<Option<Entry>, Error> {
        loop {
            match self.connection.step().await? {
                Step::Emit(Event::Entry(entry)) => return Ok(Some(entry)),
                Step::Emit(Event::Rejected(rejection)) => return Err(rejection_error(&rejection)),
                Step::Emit(_) => {}
                _ => return Ok(None),
            }
        }
    }

    /// Returns the outcome for the engine. `kept_attributes` are the names of the attributes to keep; empty: all.
    pub(super) fn into_outcome(mut self, plan: &GopherPlan, kept_attributes: Vec<Vec<u8>>) -> Outcome {
        let has_attributes = self.connection.machine().expected() == ResponseKind::Attributes;
        let mut meta = response_meta(plan, self.is_gopher_plus() && has_attributes);
        meta.head = self.head.clone();
        meta.notes.extend(self.note.take());
        Outcome::Response(Response::new(meta, self.into_content(kept_attributes)))
    }

    fn into_content(self, kept_attributes: Vec<Vec<u8>>) -> Content {
        let terminator_check = TerminatorCheck::default();
        if self.is_cut {
            terminator_check.set_missing(MISSING_END);
        }
        let (proof, expected) = (end_proof(self.connection.machine()), self.connection.machine().expected());
        let source = ResponseSource {
            connection: self.connection,
            idle_end: self.idle_end,
            terminator_check: terminator_check.clone(),
            kept_attributes,
            is_finished: false,
        };
        match expected {
            ResponseKind::Attributes | ResponseKind::Menu => {
                Content::Listing(Listing::new(source).with_terminator_check(proof, terminator_check))
            }
            _ => Content::Body(
                Body::from_source(source, self.head.size, proof).with_terminator_check(terminator_check),
            ),
        }
    }
}

/// Returns the metadata that every response has.
pub(super) fn response_meta(plan: &GopherPlan, is_gopher_plus: bool) -> Meta {
    let mut meta = Meta::new(plan.url.clone());
    meta.protocol = Some(if is_gopher_plus { "Gopher+" } else { "Gopher" });
    meta
}

/// The rest of a response: the bytes of an object, or the entries of a menu.
struct ResponseSource {
    connection: Connection<Exchange>,
    idle_end: IdleEnd,
    terminator_check: TerminatorCheck,
    kept_attributes: Vec<Vec<u8>>,
    is_finished: bool,
}

impl ResponseSource {
    /// Returns the next event, or `None` at the end.
    fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Event, Error>>> {
        if self.is_finished {
            return Poll::Ready(None);
        }
        let last = loop {
            let polled = self.connection.poll_step(cx);
            if polled.is_pending() && self.connection.machine().has_final_dot(self.connection.received()) {
                ready!(self.idle_end.poll(cx));
                if self.connection.machine().framing().is_none() {
                    self.terminator_check.set_missing(MISSING_END);
                }
                self.connection.end_input();
                continue;
            }
            match ready!(polled) {
                Ok(Step::Emit(Event::UnterminatedEnd(missing))) => self.terminator_check.set_missing(missing),
                Ok(Step::Emit(event)) => return Poll::Ready(Some(Ok(event))),
                Ok(Step::Done) => break None,
                Ok(_) => break Some(Err(unexpected_step_error())),
                Err(error) => break Some(Err(error)),
            }
        };
        self.is_finished = true;
        Poll::Ready(last)
    }
}

impl ByteSource for ResponseSource {
    fn poll_chunk(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Error>>> {
        let event = ready!(self.poll_event(cx));
        Poll::Ready(event.map(|event| match event? {
            Event::Body(bytes) => Ok(bytes),
            _ => Err(unexpected_step_error()),
        }))
    }
}

impl Stream for ResponseSource {
    type Item = Result<Entry, Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let event = ready!(self.poll_event(cx));
        Poll::Ready(event.map(|event| match event? {
            Event::Entry(mut entry) => {
                keep_attributes(&mut entry, &self.kept_attributes);
                Ok(entry)
            }
            Event::Rejected(rejection) => Err(rejection_error(&rejection)),
            _ => Err(unexpected_step_error()),
        }))
    }
}

/// Returns how the end of a response is known. If the terminator is missing, the machine reports it at the end.
fn end_proof(machine: &Exchange) -> Proof {
    match (machine.framing(), machine.expected()) {
        (Some(Framing::Length(_)), _) => Proof::Proven("the length in the Gopher+ status line"),
        (Some(Framing::End), _) | (_, ResponseKind::Binary) => {
            Proof::Assumed("the server marks the end only by closing the connection")
        }
        _ => Proof::Proven("the final line with a single dot"),
    }
}

/// Removes the attributes of a menu item that the caller did not request: some servers always send all of them.
pub(super) fn keep_attributes(entry: &mut Entry, names: &[Vec<u8>]) {
    if let (Details::MenuItem(_, Some(attributes)), false) = (&mut entry.details, names.is_empty()) {
        attributes.retain_blocks(names);
    }
}

/// The error for a step that the driver does not expect: a bug in this program.
fn unexpected_step_error() -> Error {
    Error::new(Code::Internal, Phase::Reply, "unexpected step of the Gopher machine")
}
