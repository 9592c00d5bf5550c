//! One request and its answer: from the connection to the octets, or entries, as they arrive.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use fetch_url_proto::gopher::{Answer, Expected, GopherRequest};
use fetch_url_proto::gopher_plus::Framing;
use fetch_url_proto::{Details, Entry, Event, Head, Refused, Step};
use futures_core::Stream;

use super::plan::GopherPlan;
use super::refusal;
use crate::body::EndMark;
use crate::net::pump::Pump;
use crate::{Body, ByteSource, Code, Content, Ctx, Error, Listing, Phase, Proof};

/// An answer that has begun.
pub(super) struct Talk {
    pump: Pump<Answer>,
    /// What is known of the object.
    pub(super) head: Head,
    /// What the caller should know of the answer.
    pub(super) note: Option<&'static str>,
}

/// How an answer begins.
pub(super) enum Begun {
    Talk(Box<Talk>),
    Refused(Box<Refused>),
}

/// Sends `request`, and waits for the answer to begin. As octets it comes whatever it is, but for texts.
pub(super) async fn begin(
    request: &GopherRequest,
    as_octets: bool,
    plan: &GopherPlan,
    ctx: &Ctx,
) -> Result<Begun, Error> {
    let GopherPlan { host, port, options, .. } = plan;
    let answer = Answer::new(request, plan.gtype, options.dots, as_octets, plan.here());
    let contact = ctx.dial.contact();
    let mut pump = if plan.is_tls {
        let stream = ctx.dial.connect_tls(host, *port, &[], &ctx.deadline).await?;
        Pump::new(answer, ctx.dial.tls_stream(stream), contact)
    } else {
        let stream = ctx.dial.connect(host, *port, &ctx.deadline).await?;
        Pump::new(answer, ctx.dial.plain_stream(stream), contact)
    };
    let mut note = None;
    let begun = async {
        loop {
            match pump.step().await? {
                Step::Emit(Event::Head(head)) => return Ok(Ok(head)),
                Step::Emit(Event::Note(told)) => note = Some(told),
                Step::Emit(Event::Refused(refused)) => return Ok(Err(refused)),
                _ => return Err(disagree()),
            }
        }
    };
    Ok(match ctx.deadline.bound(Phase::Reply, begun).await? {
        Ok(head) => Begun::Talk(Box::new(Talk { pump, head, note })),
        Err(refused) => Begun::Refused(refused),
    })
}

impl Talk {
    /// Whether the server speaks Gopher+ after all.
    pub(super) const fn is_plus(&self) -> bool {
        self.pump.machine().framing().is_some()
    }

    /// What the answer is read as.
    pub(super) const fn expects(&self) -> Expected {
        self.pump.machine().expected()
    }

    /// The next entry, of an answer that has some.
    ///
    /// # Errors
    /// The server refuses, or the answer was cut.
    async fn entry(&mut self) -> Result<Option<Entry>, Error> {
        loop {
            match self.pump.step().await? {
                Step::Emit(Event::Entry(entry)) => return Ok(Some(entry)),
                Step::Emit(Event::Refused(refused)) => return Err(refusal::error(&refused)),
                Step::Emit(_) => {}
                _ => return Ok(None),
            }
        }
    }

    /// The only entry of an answer that has come to a good end.
    ///
    /// # Errors
    /// As for [`Talk::entry`].
    pub(super) async fn only_entry(&mut self) -> Result<Option<Entry>, Error> {
        let entry = self.entry().await?;
        while self.entry().await?.is_some() {}
        Ok(entry)
    }

    /// The object; of attributes those of these names, without names all.
    pub(super) fn into_content(self, names: Vec<Vec<u8>>) -> Content {
        let mark = EndMark::default();
        let proof = proof(self.pump.machine());
        let incoming = Incoming { pump: self.pump, mark: mark.clone(), names, is_over: false };
        match incoming.pump.machine().expected() {
            Expected::Attributes | Expected::Menu => {
                Content::Listing(Listing::new(incoming).ending_by(proof, mark))
            }
            _ => Content::Body(Body::from_source(incoming, self.head.size, proof).ending_by(mark)),
        }
    }
}

/// The rest of an answer.
struct Incoming {
    pump: Pump<Answer>,
    mark: EndMark,
    names: Vec<Vec<u8>>,
    is_over: bool,
}

impl Incoming {
    /// The next event; none at the end.
    fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Event, Error>>> {
        if self.is_over {
            return Poll::Ready(None);
        }
        let event = loop {
            match ready!(self.pump.poll_step(cx)) {
                Ok(Step::Emit(Event::Unmarked(mark))) => self.mark.is_missing(mark),
                Ok(Step::Emit(event)) => return Poll::Ready(Some(Ok(event))),
                Ok(Step::Done) => break None,
                Ok(_) => break Some(Err(disagree())),
                Err(error) => break Some(Err(error)),
            }
        };
        self.is_over = true;
        Poll::Ready(event)
    }
}

impl ByteSource for Incoming {
    fn poll_chunk(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Error>>> {
        let event = ready!(self.poll_event(cx));
        Poll::Ready(event.map(|event| match event? {
            Event::Body(octets) => Ok(octets),
            _ => Err(disagree()),
        }))
    }
}

impl Stream for Incoming {
    type Item = Result<Entry, Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let event = ready!(self.poll_event(cx));
        Poll::Ready(event.map(|event| match event? {
            Event::Entry(mut entry) => {
                keep(&mut entry, &self.names);
                Ok(entry)
            }
            Event::Refused(refused) => Err(refusal::error(&refused)),
            _ => Err(disagree()),
        }))
    }
}

/// How the end of an answer is known, unless its mark is missing.
fn proof(answer: &Answer) -> Proof {
    match (answer.framing(), answer.expected()) {
        (Some(Framing::Length(_)), _) => Proof::Proven("the length that Gopher+ tells"),
        (Some(Framing::End), _) | (_, Expected::Octets) => {
            Proof::Assumed("the server ends it with the connection")
        }
        _ => Proof::Proven("the line of one dot at its end"),
    }
}

/// Leaves of an item's attributes those of these names: there are servers that send them all.
pub(super) fn keep(entry: &mut Entry, names: &[Vec<u8>]) {
    if let (Details::MenuItem(_, Some(attributes)), false) = (&mut entry.details, names.is_empty()) {
        attributes.keep(names);
    }
}

fn disagree() -> Error {
    Error::new(Code::Internal, Phase::Reply, "the machine and its driver disagree")
}
