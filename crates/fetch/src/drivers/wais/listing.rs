//! What a search has found, document by document.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use fetch_url_core::{Escaped, Url, charset};
use fetch_url_proto::wais::{DocumentFacts, Search};
use fetch_url_proto::{Details, Entry, Event, Step};
use futures_core::Stream;

use super::io::disagree;
use super::plan::WaisPlan;
use crate::net::pump::Pump;
use crate::{Error, Listing, Request};

/// The documents whose list has begun.
pub(super) fn arriving(pump: Pump<Search>, plan: &WaisPlan) -> Listing {
    Listing::new(Incoming { pump: Some(pump), place: place(&plan.url) })
}

/// `wais://host:port/database/`.
fn place(url: &Url<'_>) -> String {
    match url {
        Url::Wais(url) => format!("wais://{}/{}/", url.at(), url.database()),
        _ => String::new(),
    }
}

/// The URL of a document, as RFC 1738 has it. A document that is a URL has it for its headline.
fn url(facts: &DocumentFacts, place: &str) -> Option<String> {
    let wtype = facts.first_type();
    if wtype == b"URL" {
        return facts.link();
    }
    let encoded = |octets| Escaped::encode(octets, charset::UCHAR);
    let text = format!("{place}{}/{}", encoded(wtype), encoded(facts.id.octets()));
    // What would be refused is no URL to be shown.
    let request = Request::new(&text).ok()?;
    WaisPlan::new(&request).is_ok().then_some(text)
}

struct Incoming {
    /// None after the end.
    pump: Option<Pump<Search>>,
    place: String,
}

impl Stream for Incoming {
    type Item = Result<Entry, Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            let Some(pump) = &mut self.pump else { return Poll::Ready(None) };
            let error = match ready!(pump.poll_step(cx)) {
                Ok(Step::Emit(Event::Entry(mut entry))) => {
                    if let Details::Document(facts) = &entry.details {
                        entry.url = url(facts, &self.place);
                    }
                    return Poll::Ready(Some(Ok(entry)));
                }
                Ok(Step::Emit(Event::Note(_))) => continue,
                Ok(Step::Done) => None,
                Ok(_) => Some(disagree()),
                Err(error) => Some(error),
            };
            self.pump = None;
            return Poll::Ready(error.map(Err));
        }
    }
}
