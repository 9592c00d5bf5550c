//! The page of a listing: its entries are rendered as they arrive, so that a long list needs no memory.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use fetch_url::driver::ByteSource;
use fetch_url::url::WaisResource;
use fetch_url::{Entry, Error, Listing, Meta, Url};
use fetch_url_proto::Details;
use futures_core::Stream as _;
use maud::{Markup, html};

use super::shell::{Shell, entries_here};
use super::{ask_form, directory, menu, news, results, search, threads};
use crate::answer::Answer;
use crate::field_text::display_text;
use crate::link::Form;
use crate::newsgroup_url::is_newsgroup;
use crate::request_target::RequestedUrl;
use crate::shared::Shared;

/// The size of a chunk of a page, in bytes.
pub(super) const CHUNK_SIZE: usize = 16 * 1024;

/// Renders an entry of a list.
pub(super) type RenderEntry = fn(&Place, &Entry) -> Markup;

/// The page in which an entry is: its URL and the form of its links.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) form: Form,
    pub(super) url: Url<'static>,
}

/// Returns the page of `listing`.
///
/// # Errors
/// The error of its first entry: later ones are shown in the page.
pub(crate) async fn listing_answer(
    shared: &Shared,
    requested: &RequestedUrl,
    url: &Url<'static>,
    meta: &Meta,
    mut listing: Listing,
) -> Result<Answer, Error> {
    let place = Place { form: requested.form, url: url.clone() };
    let first = listing.next().await?;
    let shown = url.redacted().to_string();
    if let Some(form) = first.as_ref().and_then(|entry| ask_form::attributes_page(&place, entry, &shown)) {
        // The attributes are complete only at the end of the list.
        while listing.next().await?.is_some() {}
        return Ok(Answer::page(http::StatusCode::OK, form));
    }
    if is_newsgroup(url) {
        return threads::threads_answer(&place, first, listing).await;
    }
    let (render, frame) = list_of(url, first.as_ref());
    let title = title_of(url);
    let shell = Shell::of_url(&title, requested.form, url, &shown);
    let notes = meta.notes.iter().map(|note| display_text(note.as_bytes()));
    let (before, after) = shell.split_page(&html! {
        h1 { (title) }
        @for note in notes { p.note { (note) } }
        (frame(&place))
    });
    let page = ListingPage {
        listing,
        place,
        render,
        next: first,
        after: Some(after),
        entries: 0,
        max_entries: shared.limits.max_page_entries,
        failed: None,
    };
    Ok(Answer::page_stream(Bytes::from(before), page))
}

/// Returns how the entries of this listing are shown, and the elements around them.
fn list_of(url: &Url<'_>, first: Option<&Entry>) -> (RenderEntry, fn(&Place) -> Markup) {
    match (first.map(|entry| &entry.details), url) {
        (Some(Details::MenuItem(..)), _) | (None, Url::Gopher(_)) => (menu::item, menu_frame),
        (Some(Details::Newsgroup(_)), _) | (None, Url::News(_)) => (news::group_row, news::group_table),
        (Some(Details::Document(_)), _) | (None, Url::Wais(_)) => (results::row, results_frame),
        _ => (directory::row, directory::table),
    }
}

fn menu_frame(place: &Place) -> Markup {
    html! {
        @if let Url::Gopher(url) = &place.url && url.gtype() == b'7' {
            (search::words_form(place.form, &place.url.to_string(), "Search again",
                &search::words_of(&place.url).unwrap_or_default()))
        }
        ul.menu { (entries_here()) }
    }
}

fn results_frame(place: &Place) -> Markup {
    let text = place.url.to_string();
    let database = text.split('?').next().unwrap_or(&text);
    html! {
        (search::words_form(place.form, database, "Words to search for",
            &search::words_of(&place.url).unwrap_or_default()))
        (results::table())
    }
}

fn title_of(url: &Url<'_>) -> String {
    match url {
        Url::Wais(url) if matches!(url.resource(), WaisResource::Search(_)) => "Search results".to_owned(),
        Url::News(_) => "Newsgroups".to_owned(),
        Url::Gopher(gopher) => {
            let selector = display_text(&gopher.selector().decode());
            let host = gopher.host_port().host().to_string();
            if matches!(selector.as_str(), "" | "/") { host } else { format!("{host} {selector}") }
        }
        _ => {
            let text = url.redacted().to_string();
            let path = text.split_once("://").map_or(text.as_str(), |(_, rest)| rest);
            display_text(path.as_bytes())
        }
    }
}

/// The entries of a listing as a part of a page.
struct ListingPage {
    listing: Listing,
    place: Place,
    render: RenderEntry,
    /// The entry that arrived before the page began.
    next: Option<Entry>,
    /// The end of the page, until it is sent.
    after: Option<String>,
    entries: u64,
    max_entries: u64,
    /// The error that ends the page after its last chunk.
    failed: Option<Error>,
}

impl ByteSource for ListingPage {
    fn poll_chunk(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Error>>> {
        let this = self.get_mut();
        if let Some(error) = this.failed.take() {
            return Poll::Ready(Some(Err(error)));
        }
        if this.after.is_none() {
            return Poll::Ready(None);
        }
        let mut chunk = String::new();
        while chunk.len() < CHUNK_SIZE {
            let entry = match this.next.take() {
                Some(entry) => Some(Ok(entry)),
                None => match Pin::new(&mut this.listing).poll_next(cx) {
                    Poll::Ready(entry) => entry,
                    Poll::Pending if chunk.is_empty() => return Poll::Pending,
                    Poll::Pending => break,
                },
            };
            match entry {
                Some(Ok(entry)) if this.entries < this.max_entries => {
                    this.entries += 1;
                    chunk.push_str(&(this.render)(&this.place, &entry).into_string());
                }
                Some(Ok(_)) => {
                    this.end(
                        &mut chunk,
                        Some(&format!("Only the first {} entries are shown.", this.max_entries)),
                    );
                    break;
                }
                Some(Err(error)) => {
                    this.end(&mut chunk, Some(&format!("The list is incomplete: {error}")));
                    this.failed = Some(error);
                    break;
                }
                None => {
                    let empty = (this.entries == 0).then_some("There are no entries.");
                    this.end(&mut chunk, empty);
                    break;
                }
            }
        }
        Poll::Ready(Some(Ok(chunk.into())))
    }
}

impl ListingPage {
    /// Adds the end of the page with a note.
    fn end(&mut self, chunk: &mut String, note: Option<&str>) {
        let after = self.after.take().unwrap_or_default();
        let Some(note) = note else {
            chunk.push_str(&after);
            return;
        };
        let note = html! { p.note role="status" { (note) } }.into_string();
        // The note stands behind the list, before the end of the content.
        match after.split_once("</main>") {
            Some((list, rest)) => chunk.push_str(&format!("{list}{note}</main>{rest}")),
            None => chunk.push_str(&(after + &note)),
        }
    }
}
