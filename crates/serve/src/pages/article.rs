//! The page of a news article: header folded away, text with its links, attachments.

use fetch_url::Url;
use fetch_url::output::safe_name;
use fetch_url::url::find_urls;
use mail_parser::{Address, HeaderValue, Message, MimeHeaders as _};
use maud::{Markup, html};

use super::shell::Shell;
use crate::field_text::{clean, display_text, size_text};
use crate::link::Form;

/// The maximum size of the text of a page in bytes: its elements may need fifteen times as much.
const MAX_TEXT: usize = 512 * 1024;

/// Returns the page of `message`.
pub(crate) fn article_page(form: Form, url: &Url<'_>, message: &Message<'_>) -> String {
    let shown = url.redacted().to_string();
    let subject = message.subject().map(|subject| clean(subject.chars()));
    let subject =
        subject.filter(|subject| !subject.trim().is_empty()).unwrap_or_else(|| "(no subject)".to_owned());
    Shell::of_url(&subject, form, url, &shown).page(&html! {
        article {
            h1 { (subject) }
            dl {
                @if let Some(from) = message.from().map(address_text) { dt { "From" } dd { (from) } }
                @if let Some(date) = message.date() { dt { "Date" } dd { (date.to_rfc822()) } }
                (groups(form, url, message))
                (references(form, url, message))
            }
            details {
                summary { "All header fields" }
                dl {
                    @for (name, value) in message.headers_raw() {
                        dt { (display_text(name.as_bytes())) }
                        dd { (display_text(value.trim().as_bytes())) }
                    }
                }
            }
            @let (texts, is_cut) = shown_texts(message);
            @for text in texts { (text_with_links(form, &text)) }
            @if is_cut { p { "The text is longer. Its source has all of it." } }
            (attachments(form, &url.to_string(), message))
            p { a href=(form.link(&format!("{url}?fetch-url-source=1"))) { "Source of the article" } }
        }
    })
}

/// Returns the texts up to [`MAX_TEXT`] bytes, and `true` if there are more.
fn shown_texts(message: &Message<'_>) -> (Vec<String>, bool) {
    let (mut texts, mut left) = (Vec::new(), MAX_TEXT);
    for text in (0..message.text_body_count()).filter_map(|position| message.body_text(position)) {
        let end = (0..=left.min(text.len())).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
        let shown = text.get(..end).unwrap_or_default();
        texts.push(clean(shown.chars().filter(|character| *character != '\r')));
        left -= end;
        if end < text.len() {
            return (texts, true);
        }
    }
    (texts, false)
}

fn address_text(address: &Address<'_>) -> String {
    let shown = address.iter().map(|one| match (one.name(), one.address()) {
        (Some(name), Some(address)) => format!("{name} <{address}>"),
        (name, address) => name.or(address).unwrap_or_default().to_owned(),
    });
    clean(shown.collect::<Vec<_>>().join(", ").chars())
}

/// Returns the start of the URLs of the server of `url`: `news:` or `news://host/`.
fn server_prefix(url: &Url<'_>) -> String {
    let text = url.redacted().to_string();
    match text.split_once("://") {
        Some((scheme, rest)) => {
            let scheme = if matches!(scheme, "nntps" | "snews") { "snews" } else { "news" };
            format!("{scheme}://{}/", rest.split('/').next().unwrap_or_default())
        }
        None => "news:".to_owned(),
    }
}

fn groups(form: Form, url: &Url<'_>, message: &Message<'_>) -> Markup {
    let names = message.header_raw("Newsgroups").unwrap_or_default();
    let names: Vec<&str> = names.split(',').map(str::trim).filter(|name| !name.is_empty()).collect();
    let prefix = server_prefix(url);
    html! {
        @if !names.is_empty() {
            dt { "Groups" }
            dd { @for (index, name) in names.iter().enumerate() {
                @if index > 0 { ", " }
                @match form.untrusted_link(&format!("{prefix}{name}")) {
                    Some(link) => a href=(link) { (display_text(name.as_bytes())) },
                    None => (display_text(name.as_bytes())),
                }
            } }
        }
    }
}

/// Returns links to the articles that this one refers to.
fn references(form: Form, url: &Url<'_>, message: &Message<'_>) -> Markup {
    let ids: Vec<String> = match message.references() {
        HeaderValue::Text(id) => vec![id.to_string()],
        HeaderValue::TextList(ids) => ids.iter().map(ToString::to_string).collect(),
        _ => Vec::new(),
    };
    let prefix = server_prefix(url);
    let links: Vec<String> =
        ids.iter().filter_map(|id| form.untrusted_link(&format!("{prefix}{id}"))).collect();
    html! {
        @if !links.is_empty() {
            dt { "Thread" }
            dd { @for (index, link) in links.iter().enumerate() { a href=(link) { (index + 1) } " " } }
        }
    }
}

/// Returns text in which URLs are links, and quoted lines are muted.
fn text_with_links(form: Form, text: &str) -> Markup {
    html! {
        pre {
            @for line in text.lines() {
                @if line.starts_with('>') { span.quote { (line_with_links(form, line)) } }
                @else { (line_with_links(form, line)) }
                "\n"
            }
        }
    }
}

fn line_with_links(form: Form, line: &str) -> Markup {
    let mut at = 0;
    let mut parts = Vec::new();
    for found in find_urls(line) {
        let Some(link) = form.untrusted_link(found.text()) else { continue };
        let span = found.span();
        if let (Some(before), Some(shown)) = (line.get(at..span.start), line.get(span.clone())) {
            parts.push((before, Some((link, shown))));
            at = span.end;
        }
    }
    parts.push((line.get(at..).unwrap_or_default(), None));
    html! {
        @for (before, link) in parts {
            (before)
            @if let Some((link, shown)) = link { a href=(link) rel="noreferrer" { (shown) } }
        }
    }
}

fn attachments(form: Form, url: &str, message: &Message<'_>) -> Markup {
    html! {
        @if message.attachment_count() > 0 {
            section aria-labelledby="attachments" {
                h2 #attachments { "Attachments" }
                ul {
                    @for (number, part) in message.attachments().enumerate() {
                        @let name = part.attachment_name().and_then(|name| safe_name(name.as_bytes()));
                        @let name = name.unwrap_or_else(|| "attachment".to_owned());
                        li {
                            a href=(form.link(&format!("{url}?fetch-url-part={number}"))) { (clean(name.chars())) }
                            " " small { (size_text(part.contents().len() as u64)) }
                        }
                    }
                }
            }
        }
    }
}
