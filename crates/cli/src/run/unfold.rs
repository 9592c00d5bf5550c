//! A URL that names several articles, each for a file of its own.

use std::ops::RangeInclusive;
use std::sync::Arc;

use fetch_url::proto::Details;
use fetch_url::proto::nntp::Part;
use fetch_url::url::{Url, parse};
use fetch_url::{Code, Content, Error, Next, NntpOptions, Phase, Request};

use crate::flags::Format;
use crate::job::news::is_range;
use crate::job::{Job, Output, Transfer};

/// So many URLs are made at a time.
const PIECE: usize = 512;

/// The articles that there are of a range.
pub(super) struct Several {
    /// The group's URL.
    group: String,
    numbers: Vec<u64>,
}

impl Several {
    /// Their URLs, some at a time.
    pub(super) fn pieces(&self) -> impl Iterator<Item = Arc<[Url<'static>]>> + '_ {
        let url = |number: &u64| {
            parse(&format!("{}/{number}", self.group)).ok().map(|parsed| parsed.into_owned().url)
        };
        self.numbers.chunks(PIECE).map(move |numbers| numbers.iter().filter_map(url).collect())
    }
}

/// The articles of a range which goes to several files; none where `transfer` is one file.
pub(super) async fn articles(job: &Job, transfer: &Transfer) -> Result<Option<Several>, Error> {
    let is_named = matches!(transfer.output, Output::Named { .. });
    let is_whole = job.shape.format == Format::Mbox || job.shape.head;
    if !is_named || is_whole || !is_range(&transfer.url) {
        return Ok(None);
    }
    let request = job.shape.request(&transfer.url, Next::default())?;
    let Url::Nntp(url) = request.url() else { return Ok(None) };
    let (first, last) = url.articles().map_or((0, 0), |articles| (articles.first, articles.last));
    let text = request.url().to_string();
    let group = text.rsplit_once('/').map_or(text.as_str(), |(group, _)| group).to_owned();
    let numbers = list(job, request, first..=last).await?;
    if numbers.is_empty() {
        return Err(Error::new(Code::NotFound, Phase::Request, "no article has one of these numbers"));
    }
    Ok(Some(Several { group, numbers }))
}

/// The range as a list. What is in it is fetched and written under its number, so the server is not believed.
async fn list(job: &Job, request: Request, mut wanted: RangeInclusive<u64>) -> Result<Vec<u64>, Error> {
    let mut options = request.extra::<NntpOptions>().cloned().unwrap_or_default();
    (options.lists_ranges, options.raw_lists, options.part) = (true, false, Part::default());
    let plain = Request::from_url(request.url().clone()).with_extra(options);
    let Content::Listing(mut entries) = job.fetcher.fetch(plain).await?.content else {
        return Err(Error::new(Code::Internal, Phase::Request, "a range is no list"));
    };
    let mut found = Vec::new();
    while let Some(entry) = entries.next().await? {
        let Details::Article(facts) = &entry.details else {
            return Err(misbehaved("a line of the list of articles is none", &entry.name));
        };
        if !wanted.contains(&facts.number) {
            return Err(misbehaved(
                "the list has a number that was not asked for, or not in order",
                &entry.name,
            ));
        }
        wanted = facts.number + 1..=*wanted.end();
        found.push(facts.number);
    }
    Ok(found)
}

fn misbehaved(detail: &str, line: &[u8]) -> Error {
    Error::new(Code::PeerMisbehaved, Phase::Request, detail).with_reply(line)
}
