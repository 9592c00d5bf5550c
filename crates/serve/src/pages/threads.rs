//! The articles of a newsgroup, as threads by their References (RFC 5536 §3.2.10).

use std::collections::{HashMap, VecDeque};
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use fetch_url::driver::ByteSource;
use fetch_url::{Entry, Error, Listing};
use fetch_url_proto::Details;
use fetch_url_proto::nntp::ArticleDetails;
use maud::{Markup, html};

use super::listing::{CHUNK_SIZE, Place};
use super::shell::{Shell, entries_here};
use crate::answer::Answer;
use crate::field_text::{author_text, shortened, subject_text, time_text};

/// The maximum number of articles of a page: the newest ones.
const MAX_ARTICLES: usize = 1000;
/// The maximum depth of the lists of a thread. Deeper answers stand beside each other.
const MAX_DEPTH: usize = 12;
/// The maximum size of a subject and of an author in the page, in bytes. A server sends up to 64 KiB.
const MAX_TEXT: usize = 1024;
/// The maximum size of the link to an article, in bytes. An article with a longer one has no link.
const MAX_LINK: usize = 2048;
/// The maximum size of a message-id, in bytes (RFC 3977 §3.6). No article refers to one with a longer id.
const MAX_ID: usize = 250;

/// An article of the page.
struct Article {
    id: Vec<u8>,
    link: Option<String>,
    subject: String,
    author: String,
    time: Option<i64>,
    /// The number of the article to which it refers, counted from the beginning of the list.
    parent: Option<usize>,
    /// The positions of the articles that refer to it.
    answers: Vec<usize>,
}

/// The newest articles of a list, while it arrives.
#[derive(Default)]
struct NewestArticles {
    articles: VecDeque<Article>,
    /// The number of each article in `articles`, by its message-id.
    numbers: HashMap<Vec<u8>, usize>,
    /// The number of articles of the list so far.
    count: usize,
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
    let mut newest = NewestArticles::default();
    let mut next = first;
    while let Some(entry) = next {
        newest.add(place, entry);
        next = listing.next().await?;
    }
    let (count, shown_count) = (newest.count, newest.articles.len());
    let shown = place.url.redacted().to_string();
    let title = shown.rsplit(['/', ':']).next().unwrap_or(&shown).to_owned();
    let (before, after) = Shell::of_url(&title, place.form, &place.url, &shown).split_page(&html! {
        h1 { (title) }
        @if count > shown_count {
            p.note { "The newest " (shown_count) " of " (count) " articles." }
        }
        @if count == 0 { p.note { "There are no articles." } }
        ul.threads { (entries_here()) }
    });
    Ok(Answer::page_stream(Bytes::from(before), ThreadsPage::new(newest, after)))
}

impl NewestArticles {
    /// Adds the next article of the list, and removes the oldest one if there are too many.
    fn add(&mut self, place: &Place, entry: Entry) {
        let details = match entry.details {
            Details::Article(details) => *details,
            _ => ArticleDetails::default(),
        };
        let mut references = details.references.rsplit(u8::is_ascii_whitespace);
        // An article comes after those that it refers to, so hostile references cannot make a loop.
        let parent = references.find_map(|id| self.numbers.get(id).copied());
        if self.articles.len() == MAX_ARTICLES
            && let Some(oldest) = self.articles.pop_front()
            && self.numbers.get(&oldest.id) == Some(&(self.count - MAX_ARTICLES))
        {
            self.numbers.remove(&oldest.id);
        }
        let has_id = !details.message_id.is_empty() && details.message_id.len() <= MAX_ID;
        let id = if has_id { details.message_id } else { Vec::new() };
        if has_id {
            self.numbers.insert(id.clone(), self.count);
        }
        let link = entry.url.as_deref().and_then(|url| place.form.untrusted_link(url));
        self.articles.push_back(Article {
            id,
            link: link.filter(|link| link.len() <= MAX_LINK),
            subject: shortened(subject_text(&details.subject), MAX_TEXT),
            author: shortened(author_text(&details.from), MAX_TEXT),
            time: entry.modified,
            parent,
            answers: Vec::new(),
        });
        self.count += 1;
    }

    /// Returns the articles with their answers, and the positions of those that begin a thread.
    fn into_threads(self) -> (Vec<Article>, Vec<usize>) {
        let first = self.count - self.articles.len();
        let mut articles: Vec<Article> = self.articles.into();
        let mut roots = Vec::new();
        for position in 0..articles.len() {
            let parent = articles.get(position).and_then(|article| article.parent?.checked_sub(first));
            match parent.and_then(|parent| articles.get_mut(parent)) {
                Some(parent) => parent.answers.push(position),
                None => roots.push(position),
            }
        }
        (articles, roots)
    }
}

/// The threads as a part of a page. Each article is rendered once, when it is sent: nested lists that are rendered from
/// the inside out would copy each article once for each list around it.
struct ThreadsPage {
    articles: Vec<Article>,
    /// The parts that are not rendered yet, the next one last.
    rest: Vec<Part>,
}

/// A part of the page.
enum Part {
    Article {
        position: usize,
        depth: usize,
    },
    /// The end of lists and of items.
    End(&'static str),
    /// The end of the page.
    PageEnd(String),
}

impl ThreadsPage {
    fn new(newest: NewestArticles, after: String) -> Self {
        let (articles, roots) = newest.into_threads();
        let mut rest = vec![Part::PageEnd(after)];
        rest.extend(roots.into_iter().map(|position| Part::Article { position, depth: 0 }));
        Self { articles, rest }
    }

    /// Renders an article, and puts its answers before the other parts.
    fn render(&mut self, chunk: &mut String, position: usize, depth: usize) {
        let Some(article) = self.articles.get_mut(position) else { return };
        let answers = std::mem::take(&mut article.answers);
        chunk.push_str("<li>");
        chunk.push_str(&heading(article).into_string());
        // Lists are nested to a limited depth; HTML readers limit theirs, too.
        if depth >= MAX_DEPTH || answers.is_empty() {
            chunk.push_str("</li>");
        } else {
            chunk.push_str("<ul>");
            self.rest.push(Part::End("</ul></li>"));
        }
        let answers = answers.into_iter().rev();
        self.rest.extend(answers.map(|position| Part::Article { position, depth: depth + 1 }));
    }
}

impl ByteSource for ThreadsPage {
    fn poll_chunk(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Error>>> {
        let this = self.get_mut();
        let mut chunk = String::new();
        while chunk.len() < CHUNK_SIZE {
            match this.rest.pop() {
                Some(Part::Article { position, depth }) => this.render(&mut chunk, position, depth),
                Some(Part::End(tags)) => chunk.push_str(tags),
                Some(Part::PageEnd(after)) => chunk.push_str(&after),
                None => break,
            }
        }
        Poll::Ready((!chunk.is_empty()).then(|| Ok(chunk.into())))
    }
}

/// Returns the line of an article.
fn heading(article: &Article) -> Markup {
    let subject = if article.subject.trim().is_empty() { "(no subject)" } else { &article.subject };
    html! {
        @match &article.link {
            Some(link) => a href=(link) { (subject) },
            None => (subject),
        }
        span.by { (article.author) @if let Some(time) = article.time { ", " (time_text(time)) } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn article(parent: Option<usize>) -> Article {
        let (subject, author) = ("s".to_owned(), "a".to_owned());
        Article { id: Vec::new(), link: None, subject, author, time: None, parent, answers: Vec::new() }
    }

    fn rendered(parents: &[Option<usize>]) -> String {
        let articles: VecDeque<Article> = parents.iter().map(|parent| article(*parent)).collect();
        let newest = NewestArticles { count: articles.len(), articles, numbers: HashMap::new() };
        let mut page = ThreadsPage::new(newest, "!".to_owned());
        let mut text = String::new();
        let mut cx = Context::from_waker(std::task::Waker::noop());
        while let Poll::Ready(Some(Ok(chunk))) = Pin::new(&mut page).poll_chunk(&mut cx) {
            text += std::str::from_utf8(&chunk).expect("text");
        }
        text.replace("s<span class=\"by\">a</span>", "")
    }

    #[test]
    fn answers_are_nested_below_their_article() {
        let page = rendered(&[None, Some(0), None, Some(1), Some(0)]);
        assert_eq!(page, "<li></li><li><ul><li><ul><li></li></ul></li><li></li></ul></li>!");
    }

    #[test]
    fn answers_below_the_maximum_depth_stand_beside_each_other() {
        let parents: Vec<Option<usize>> = (0..1000_usize).map(|number| number.checked_sub(1)).collect();
        let page = rendered(&parents);
        assert_eq!(page.matches("<li>").count(), 1000);
        assert_eq!(page.matches("<ul>").count(), MAX_DEPTH);
        assert!(page.ends_with(&format!("<li></li>{}!", "</ul></li>".repeat(MAX_DEPTH))));
    }
}
