//! Listings: directories, menus and lists of groups as streams of entries.

pub(crate) mod entry_list;

use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use fetch_url_proto::{Entry, OtherLinkCounts};
use futures_core::Stream;

use crate::body::TerminatorCheck;
use crate::body::limits::BodyLimits;
use crate::{Body, ByteSource, Code, Error, Phase, Proof, Validator};

/// Listings: directories, menus and lists of groups as streams of entries.
pub struct Listing {
    entries: Pin<Box<dyn Stream<Item = Result<Entry, Error>> + Send>>,
    /// Number of entries so far.
    count: u64,
    max_entries: Option<u64>,
    limits: Option<BodyLimits>,
    proof: Proof,
    terminator_check: TerminatorCheck,
    /// The page that the server sent instead of a listing; set at the end of the stream.
    kept_page: Arc<OnceLock<KeptPage>>,
    /// The links that are no entries; set at the end of the stream.
    other_links: Arc<OnceLock<OtherLinks>>,
}

/// The links of an index page that are no entries.
#[derive(Debug, Default)]
pub(crate) struct OtherLinks {
    /// Their names, or `None` if they are unknown: they need too much memory, or a link may lead to another page of the
    /// listing.
    pub(crate) names: Option<Vec<Vec<u8>>>,
    pub(crate) counts: OtherLinkCounts,
}

/// An HTML page that is not a listing.
#[derive(Debug)]
pub(crate) struct KeptPage {
    pub(crate) content: Bytes,
    /// The size in bytes that the server reported.
    pub(crate) size: Option<u64>,
    pub(crate) validator: Option<Validator>,
    /// How it is known that the page is complete.
    pub(crate) proof: Proof,
}

impl Listing {
    /// Creates a listing from a stream of entries.
    pub fn new(entries: impl Stream<Item = Result<Entry, Error>> + Send + 'static) -> Self {
        Self {
            entries: Box::pin(entries),
            count: 0,
            max_entries: None,
            limits: None,
            proof: Proof::Proven("the end of the listing"),
            terminator_check: TerminatorCheck::default(),
            kept_page: Arc::default(),
            other_links: Arc::default(),
        }
    }

    /// Creates a listing from an iterator, which must not block.
    pub fn from_entries(
        entries: impl Iterator<Item = Result<Entry, Error>> + Send + Unpin + 'static,
    ) -> Self {
        Self::new(Iter(entries))
    }

    /// Returns the next entry, or `None` at the end of a complete listing.
    ///
    /// # Errors
    /// `Code::Truncated` if the listing ended early, `Code::LimitReached` beyond the limit of entries,
    /// `Code::TimedOut`, or an error of the protocol.
    pub async fn next(&mut self) -> Result<Option<Entry>, Error> {
        std::future::poll_fn(|cx| Pin::new(&mut *self).poll_next(cx)).await.transpose()
    }
}

impl Listing {
    /// Converts the listing to a body that contains the bytes `render` returns for each entry. Limits of size and
    /// time then apply to these bytes.
    pub fn into_body(mut self, render: impl FnMut(&Entry) -> Vec<u8> + Send + Unpin + 'static) -> Body {
        let (limits, proof, terminator_check) =
            (self.limits.take(), self.proof, self.terminator_check.clone());
        let body = Body::from_source(Rendered { listing: self, render }, None, proof)
            .with_terminator_check(terminator_check);
        match limits {
            Some(limits) => body.with_body_limits(limits),
            None => body,
        }
    }

    /// Sets how it is known that the listing is complete, and the check that reports a missing terminator.
    pub(crate) fn with_terminator_check(mut self, proof: Proof, terminator_check: TerminatorCheck) -> Self {
        (self.proof, self.terminator_check) = (proof, terminator_check);
        self
    }

    /// Sets the cell in which the stream of entries stores a page that is not a listing.
    pub(crate) fn with_kept_page(mut self, kept_page: Arc<OnceLock<KeptPage>>) -> Self {
        self.kept_page = kept_page;
        self
    }

    /// Returns the page that the server sent instead of a listing. It is known only at the end of the stream.
    pub(crate) fn kept_page(&self) -> Option<&KeptPage> {
        self.kept_page.get()
    }

    /// Sets the cell in which the stream of entries stores the other links.
    pub(crate) fn with_other_links(mut self, other_links: Arc<OnceLock<OtherLinks>>) -> Self {
        self.other_links = other_links;
        self
    }

    /// Returns the links that are no entries. They are known only at the end of the stream.
    pub(crate) fn other_links(&self) -> Option<&OtherLinks> {
        self.other_links.get()
    }

    /// Returns how it is known that the listing is complete. It may change from proven to assumed at the end.
    pub const fn proof(&self) -> Proof {
        self.proof
    }

    fn count_entry(&mut self, entry: Entry) -> Result<Entry, Error> {
        self.count += 1;
        match self.max_entries.filter(|max| self.count > *max) {
            None => Ok(entry),
            Some(max) => {
                let detail = format!("the listing has more than {max} entries");
                Err(Error::new(Code::LimitReached, Phase::Body, detail))
            }
        }
    }

    /// Returns the name of the terminator that was missing at the end.
    pub(crate) fn missing_terminator(&self) -> Option<&'static str> {
        self.terminator_check.missing()
    }

    fn poll_entry(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Entry, Error>>> {
        let polled = self.entries.as_mut().poll_next(cx);
        let polled = polled.map(|next| next.map(|entry| self.count_entry(entry?)));
        let Some(limits) = &mut self.limits else { return polled };
        match polled {
            Poll::Ready(next) => {
                if let Err(error) = limits.check_deadline() {
                    return Poll::Ready(Some(Err(error)));
                }
                Poll::Ready(match next {
                    None => self.check_end().err().map(Err),
                    next => next,
                })
            }
            Poll::Pending => limits.poll_expired(cx).map(|error| Some(Err(error))),
        }
    }

    fn check_end(&mut self) -> Result<(), Error> {
        let requires_proof = self.limits.as_ref().is_some_and(BodyLimits::requires_proof);
        self.terminator_check.apply(requires_proof, &mut self.proof)
    }

    /// Applies the caller's limits; the engine calls this once.
    pub(crate) fn with_limits(mut self, limits: BodyLimits) -> Self {
        (self.max_entries, self.limits) = (limits.limits.max_entries, Some(limits));
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
        let polled = self.poll_entry(cx);
        polled.map(|next| {
            next.map(|entry| {
                entry.map_err(|error| match &self.limits {
                    Some(limits) => limits.name_url(error),
                    None => error,
                })
            })
        })
    }
}

struct Iter<I>(I);

impl<I: Iterator + Unpin> Stream for Iter<I> {
    type Item = I::Item;

    fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        Poll::Ready(self.0.next())
    }
}
