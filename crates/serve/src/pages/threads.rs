//! The articles of a newsgroup, as threads by their References (RFC 5536 §3.2.10).

use std::collections::{HashMap, VecDeque};

use fetch_url::{Entry, Error, Listing};
use fetch_url_proto::Details;
use fetch_url_proto::nntp::ArticleDetails;
use http::StatusCode;
use maud::{Markup, html};

use super::listing::Place;
use super::shell::Shell;
use crate::answer::Answer;
use crate::field_text::{author_text, subject_text, time_text};

/// The maximum number of articles of a page: the newest ones.
const MAX_ARTICLES: usize = 1000;
/// The maximum depth of the lists of a thread. Deeper answers stand beside each other.
const MAX_DEPTH: usize = 12;

/// An article of the page.
struct Article {
    link: Option<String>,
    subject: String,
    author: String,
    time: Option<i64>,
    /// The articles that refer to it.
    answers: Vec<usize>,
}

/// Returns the page of a newsgroup.
///
/// # Errors
/// The error of the listing.
pub(super) async fn threads_answer(
    place: &Place,
    first: Option<Entry>,
    mut listing: Listing,
) -> Result<Answer, Error> {
    let (mut newest, mut count) = (VecDeque::new(), 0_usize);
    let mut next = first;
    while let Some(entry) = next {
        count += 1;
        if newest.len() == MAX_ARTICLES {
            newest.pop_front();
        }
        newest.push_back(entry);
        next = listing.next().await?;
    }
    let entries: Vec<Entry> = newest.into();
    let (articles, roots) = threads(place, &entries);
    let shown = place.url.redacted().to_string();
    let title = shown.rsplit(['/', ':']).next().unwrap_or(&shown).to_owned();
    let page = Shell::of_url(&title, place.form, &place.url, &shown).page(&html! {
        h1 { (title) }
        @if count > entries.len() {
            p.note { "The newest " (entries.len()) " of " (count) " articles." }
        }
        @if roots.is_empty() { p.note { "There are no articles." } }
        ul.threads {
            @for root in roots.iter().rev() { (thread(&articles, *root, 0)) }
        }
    });
    Ok(Answer::page(StatusCode::OK, page))
}

/// Returns the articles, and the positions of those that begin a thread.
fn threads(place: &Place, entries: &[Entry]) -> (Vec<Article>, Vec<usize>) {
    let details = |entry: &Entry| match &entry.details {
        Details::Article(details) => Some((**details).clone()),
        _ => None,
    };
    let details: Vec<ArticleDetails> =
        entries.iter().map(|entry| details(entry).unwrap_or_default()).collect();
    let positions: HashMap<&[u8], usize> = details
        .iter()
        .enumerate()
        .map(|(position, article)| (article.message_id.as_slice(), position))
        .collect();
    let mut articles: Vec<Article> = entries
        .iter()
        .zip(&details)
        .map(|(entry, details)| Article {
            link: entry.url.as_deref().and_then(|url| place.form.untrusted_link(url)),
            subject: subject_text(&details.subject),
            author: author_text(&details.from),
            time: entry.modified,
            answers: Vec::new(),
        })
        .collect();
    let mut roots = Vec::new();
    for (position, article) in details.iter().enumerate() {
        let mut references = article.references.rsplit(u8::is_ascii_whitespace);
        // An article comes after those that it refers to, so hostile references cannot make a loop.
        let parent = references.find_map(|id| positions.get(id).copied().filter(|parent| *parent < position));
        match parent.and_then(|parent| articles.get_mut(parent)) {
            Some(parent) => parent.answers.push(position),
            None => roots.push(position),
        }
    }
    (articles, roots)
}

fn thread(articles: &[Article], position: usize, depth: usize) -> Markup {
    let Some(article) = articles.get(position) else { return html! {} };
    let subject = if article.subject.trim().is_empty() { "(no subject)" } else { &article.subject };
    let heading = html! {
        @match &article.link {
            Some(link) => a href=(link) { (subject) },
            None => (subject),
        }
        span.by { (article.author) @if let Some(time) = article.time { ", " (time_text(time)) } }
    };
    let answers = html! {
        @for answer in &article.answers { (thread(articles, *answer, depth + 1)) }
    };
    // Lists are nested to a limited depth; HTML readers limit theirs, too.
    if depth >= MAX_DEPTH {
        return html! { li { (heading) } (answers) };
    }
    html! {
        li {
            (heading)
            @if !article.answers.is_empty() { ul { (answers) } }
        }
    }
}
