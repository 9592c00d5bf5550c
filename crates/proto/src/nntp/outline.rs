//! NNTP's commands for news and nntp URLs (RFC 1738 §3.6 and §3.7, RFC 3977).

use fetch_url_core::{Escaped, NewsPart, NewsUrl, NntpUrl};

use crate::{ForbiddenOctet, Octets, Outline};

/// The most ARTICLE commands an outline spells out, one a line; a longer range ends in `…`.
const MOST_ARTICLES: usize = 64;

pub(crate) fn news_requests(url: &NewsUrl<'_>, outline: &mut Outline) -> Result<(), ForbiddenOctet> {
    match url.part() {
        NewsPart::Article(id) | NewsPart::Group(id) if id.decode().contains(&b'@') => {
            outline.say(&[b"ARTICLE <", Octets::NNTP.check("message-id", &id.decode())?, b">"]);
        }
        NewsPart::Group(group) if group.as_str().contains('*') => {
            outline.say(&[b"LIST ACTIVE ", Octets::NNTP.check("group", &group.decode())?]);
        }
        NewsPart::Group(group) => group_requests(group, outline)?,
        _ => outline.say(&[b"LIST ACTIVE"]),
    }
    Ok(())
}

pub(crate) fn requests(url: &NntpUrl<'_>, outline: &mut Outline) -> Result<(), ForbiddenOctet> {
    let Some(articles) = url.articles() else { return group_requests(url.group(), outline) };
    outline.say(&[b"GROUP ", Octets::NNTP.check("group", &url.group().decode())?]);
    let numbers = articles.first..=articles.last;
    for number in numbers.take(MOST_ARTICLES) {
        outline.say(&[b"ARTICLE ", number.to_string().as_bytes()]);
    }
    if articles.last - articles.first >= MOST_ARTICLES as u64 {
        outline.say(&["… ARTICLE ".as_bytes(), articles.last.to_string().as_bytes()]);
    }
    Ok(())
}

fn group_requests(group: &Escaped<'_>, outline: &mut Outline) -> Result<(), ForbiddenOctet> {
    outline.say(&[b"GROUP ", Octets::NNTP.check("group", &group.decode())?]);
    outline.say(&[b"OVER"]);
    Ok(())
}
