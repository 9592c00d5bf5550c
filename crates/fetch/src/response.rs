//! What came back: facts about the object, and the object in one of four shapes.

use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use fetch_url_core::Url;
use fetch_url_proto::{Entry, Head};
use futures_core::Stream;

use crate::body::EndMark;
use crate::engine::guard::Guard;
use crate::{Advice, Body, ByteSource, Code, Error, Phase, Proof, Session, Validator};

/// An answer.
#[derive(Debug)]
#[non_exhaustive]
pub struct Response {
    /// What is known of the object.
    pub meta: Meta,
    /// The object.
    pub content: Content,
    /// What the answer would have been as an error: the caller asked for its body all the same.
    pub refusal: Option<Error>,
}

impl Response {
    /// An answer of these two parts.
    pub const fn new(meta: Meta, content: Content) -> Self {
        Self { meta, content, refusal: None }
    }
}

/// What is known of the object.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Meta {
    /// Where it was asked for.
    pub asked: Url<'static>,
    /// Where it was in the end.
    pub url: Url<'static>,
    /// Size of the whole object and time of its last change.
    pub head: Head,
    /// Where in the object the body begins.
    pub offset: u64,
    /// Tells this version of the object from another.
    pub validator: Option<Validator>,
    /// Whether a later request can ask for the missing part.
    pub is_resumable: bool,
    /// Its media type, as the peer gave it.
    pub media_type: Option<String>,
    /// The name the peer suggests: octets of a stranger, see [`crate::safe_name`].
    pub suggested_name: Option<Vec<u8>>,
    /// The first line of the answer, where there is one.
    pub reply: Option<String>,
    /// The header fields, where there are any.
    pub fields: Vec<(String, Vec<u8>)>,
    /// The status of the answer, where the protocol has one.
    pub status: Option<u16>,
    /// What was spoken, such as `HTTP/1.1`.
    pub protocol: Option<&'static str>,
    /// How often the answer pointed elsewhere.
    pub hops: u32,
    /// How often it was tried again.
    pub retries: u32,
    /// What the caller should know: departures of the peer that lose nothing.
    pub notes: Vec<&'static str>,
    /// When each step was done, and between which addresses.
    pub steps: Steps,
}

/// When each step of a request was done, counted from its beginning, and between which addresses.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct Steps {
    /// The last attempt began: the hops before it took so long.
    pub begun: Duration,
    /// The host was looked up.
    pub resolved: Option<Duration>,
    /// The connection was open.
    pub connected: Option<Duration>,
    /// TLS was shaken.
    pub secured: Option<Duration>,
    /// The request could go out.
    pub sent: Option<Duration>,
    /// The first octet of the answer was here.
    pub replied: Option<Duration>,
    /// The server's address.
    pub peer: Option<SocketAddr>,
    /// Ours.
    pub local: Option<SocketAddr>,
    /// How many connections were opened.
    pub connections: u32,
}

impl Meta {
    /// Nothing is known but the URL.
    pub fn new(url: Url<'static>) -> Self {
        Self {
            asked: url.clone(),
            url,
            head: Head { size: None, modified: None },
            offset: 0,
            validator: None,
            is_resumable: false,
            media_type: None,
            suggested_name: None,
            reply: None,
            fields: Vec::new(),
            status: None,
            protocol: None,
            hops: 0,
            retries: 0,
            notes: Vec::new(),
            steps: Steps::default(),
        }
    }
}

/// The object.
#[derive(Debug)]
#[non_exhaustive]
pub enum Content {
    /// The URL names no data object: what a person can do with it.
    Advice(Advice),
    /// Octets.
    Body(Body),
    /// Only what is known was asked for.
    Head,
    /// A directory, a menu, a list of groups.
    Listing(Listing),
    /// A session with a server, which was asked for.
    Session(Box<Session>),
    /// The condition of the request does not hold: the caller's own copy is good.
    Unchanged,
}

/// A stream of entries, in flat memory.
pub struct Listing {
    entries: Pin<Box<dyn Stream<Item = Result<Entry, Error>> + Send>>,
    /// How many have come, and may.
    count: u64,
    most: Option<u64>,
    guard: Option<Guard>,
    proof: Proof,
    mark: EndMark,
}

impl Listing {
    /// The entries of a stream.
    pub fn new(entries: impl Stream<Item = Result<Entry, Error>> + Send + 'static) -> Self {
        Self {
            entries: Box::pin(entries),
            count: 0,
            most: None,
            guard: None,
            proof: Proof::Proven("the end of the listing"),
            mark: EndMark::default(),
        }
    }

    /// The entries of an iterator that does not wait long.
    pub fn from_entries(
        entries: impl Iterator<Item = Result<Entry, Error>> + Send + Unpin + 'static,
    ) -> Self {
        Self::new(Iter(entries))
    }

    /// The next entry.
    ///
    /// # Errors
    /// The listing was cut or broke a limit.
    pub async fn next(&mut self) -> Result<Option<Entry>, Error> {
        std::future::poll_fn(|cx| Pin::new(&mut *self).poll_next(cx)).await.transpose()
    }
}

impl Listing {
    /// The octets that `render` makes of each entry, as a body: what the caller allows of octets holds
    /// for these.
    pub fn into_body(mut self, render: impl FnMut(&Entry) -> Vec<u8> + Send + Unpin + 'static) -> Body {
        let (guard, proof, mark) = (self.guard.take(), self.proof, self.mark.clone());
        let body = Body::from_source(Rendered { listing: self, render }, None, proof).ending_by(mark);
        match guard {
            Some(guard) => body.limited(guard),
            None => body,
        }
    }

    /// How its end is known to be the end; `mark` is told when what should stand there is missing.
    pub(crate) fn ending_by(mut self, proof: Proof, mark: EndMark) -> Self {
        (self.proof, self.mark) = (proof, mark);
        self
    }

    /// How its end is known to be the end; what is assumed may show only there.
    pub const fn proof(&self) -> Proof {
        self.proof
    }

    fn count_entry(&mut self, entry: Entry) -> Result<Entry, Error> {
        self.count += 1;
        match self.most.filter(|most| self.count > *most) {
            None => Ok(entry),
            Some(most) => {
                let detail = format!("the listing has more than {most} entries");
                Err(Error::new(Code::LimitReached, Phase::Body, detail))
            }
        }
    }

    /// At the end: what should stand there and does not.
    pub(crate) fn missing(&self) -> Option<&'static str> {
        self.mark.missing()
    }

    fn check_end(&mut self) -> Result<(), Error> {
        let requires_proof = self.guard.as_ref().is_some_and(Guard::requires_proof);
        self.mark.check(requires_proof, &mut self.proof)
    }

    /// Applies what the caller allows. The engine does this, once.
    pub(crate) fn guarded(mut self, guard: Guard) -> Self {
        (self.most, self.guard) = (guard.limits.max_entries, Some(guard));
        self
    }
}

struct Rendered<R> {
    listing: Listing,
    render: R,
}

impl<R: FnMut(&Entry) -> Vec<u8> + Send + Unpin> ByteSource for Rendered<R> {
    fn poll_chunk(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Error>>> {
        let entry = ready!(Pin::new(&mut self.listing).poll_next(cx));
        Poll::Ready(entry.map(|entry| entry.map(|entry| (self.render)(&entry).into())))
    }
}

impl std::fmt::Debug for Listing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Listing(…)")
    }
}

impl Stream for Listing {
    type Item = Result<Entry, Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let polled = self.entries.as_mut().poll_next(cx);
        let polled = polled.map(|next| next.map(|entry| self.count_entry(entry?)));
        let Some(guard) = &mut self.guard else { return polled };
        match polled {
            Poll::Ready(next) => {
                if let Err(error) = guard.check() {
                    return Poll::Ready(Some(Err(error)));
                }
                Poll::Ready(match next {
                    None => self.check_end().err().map(Err),
                    next => next,
                })
            }
            Poll::Pending => guard.poll_expired(cx).map(|error| Some(Err(error))),
        }
    }
}

struct Iter<I>(I);

impl<I: Iterator + Unpin> Stream for Iter<I> {
    type Item = I::Item;

    fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        Poll::Ready(self.0.next())
    }
}
