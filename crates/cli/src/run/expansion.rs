//! URLs that stand for several objects: wildcards, and article ranges that are saved with one file per article.

use std::ops::RangeInclusive;
use std::sync::Arc;

use fetch_url::news::NewsOptions;
use fetch_url::url::{Security, Url, parse};
use fetch_url::{Code, Content, Error, Meta, Phase, Request};
use fetch_url_proto::Details;
use fetch_url_proto::metalink;
use fetch_url_proto::nntp::ArticlePart;

use super::context::Run;
use super::ftp_wildcard::expand_wildcard;
use super::work::PlannedTransfer;
use crate::error::usage_error;
use crate::flags::Format;
use crate::job::news::is_range;
use crate::job::{Output, Transfer};

/// The number of URLs that are created at a time.
const URLS_PER_BATCH: usize = 512;

/// The objects of a URL that names several.
pub(super) enum Expansion {
    Articles(ArticleRange),
    /// The files that a wildcard matches.
    Files(Arc<[Url<'static>]>),
    /// The files of a Metalink document.
    Metalink(Vec<Transfer>),
}

impl Expansion {
    /// Returns the transfers of a document, which have outputs of their own.
    pub(super) fn transfers(&self) -> &[Transfer] {
        match self {
            Self::Metalink(transfers) => transfers,
            Self::Articles(_) | Self::Files(_) => &[],
        }
    }

    /// Returns the URLs of the objects that share the output of the transfer, in batches.
    pub(super) fn url_batches(&self) -> Box<dyn Iterator<Item = Arc<[Url<'static>]>> + '_> {
        match self {
            Self::Articles(articles) => Box::new(articles.url_batches()),
            Self::Files(files) => Box::new(std::iter::once(files.clone())),
            Self::Metalink(_) => Box::new(std::iter::empty()),
        }
    }
}

/// Lists what a transfer stands for, or returns `None` if it is one object.
pub(super) async fn expand(run: &Run, planned: &PlannedTransfer) -> Result<Option<Expansion>, Error> {
    if planned.transfer.is_metalink {
        let response = run.fetcher.fetch(planned.request.clone()?).await?;
        if let Some(refusal) = response.status_error {
            return Err(refusal);
        }
        let Content::Body(body) = response.content else {
            return Err(Error::new(Code::PeerMisbehaved, Phase::Reply, "the response is not a metalink"));
        };
        let document = body.collect(metalink::MAX_SIZE).await?;
        let mut files = crate::job::metalink::files(&document, run.options.output_dir.as_deref())?;
        let url = &response.meta.url;
        let is_protected = matches!(url, Url::File(_)) || url.scheme().security == Security::Tls;
        run.options.checksum.apply_to_document(&mut files, is_protected)?;
        // A local document is the user's own.
        let named_by =
            Some(Arc::from(response.meta)).filter(|meta: &Arc<Meta>| !matches!(meta.url, Url::File(_)));
        files.iter_mut().for_each(|file| file.named_by.clone_from(&named_by));
        return Ok(Some(Expansion::Metalink(files)));
    }
    if let Some(files) = expand_wildcard(run, planned).await? {
        if files.len() > 1 && matches!(planned.transfer.output, Output::File(_)) {
            let detail = format!("{} files would be written to one", files.len());
            return Err(usage_error(detail).with_hint("-O names each file like the last part of its URL"));
        }
        return Ok(Some(Expansion::Files(files)));
    }
    Ok(expand_range(run, planned).await?.map(Expansion::Articles))
}

/// The existing articles of a range.
pub(super) struct ArticleRange {
    /// The URL of the group.
    group: String,
    numbers: Vec<u64>,
}

impl ArticleRange {
    /// Returns the URLs of the articles, in batches.
    fn url_batches(&self) -> impl Iterator<Item = Arc<[Url<'static>]>> + '_ {
        let url = |number: &u64| {
            parse(&format!("{}/{number}", self.group)).ok().map(|parsed| parsed.into_owned().url)
        };
        self.numbers.chunks(URLS_PER_BATCH).map(move |numbers| numbers.iter().filter_map(url).collect())
    }
}

/// Lists the articles of a range, or returns `None` if the transfer has one output.
async fn expand_range(run: &Run, planned: &PlannedTransfer) -> Result<Option<ArticleRange>, Error> {
    let is_named = matches!(planned.transfer.output, Output::Named { .. });
    let is_whole = run.options.format == Format::Mbox || run.options.head;
    if !is_named || is_whole || !is_range(&planned.transfer.url) {
        return Ok(None);
    }
    let request = planned.request.clone()?;
    let Url::Nntp(url) = request.url() else { return Ok(None) };
    let (first, last) = url.articles().map_or((0, 0), |articles| (articles.first, articles.last));
    let text = request.url().to_string();
    let group = text.rsplit_once('/').map_or(text.as_str(), |(group, _)| group).to_owned();
    let numbers = list(run, request, first..=last).await?;
    if numbers.is_empty() {
        return Err(Error::new(Code::NotFound, Phase::Request, "the range contains no article"));
    }
    Ok(Some(ArticleRange { group, numbers }))
}

/// Requests the list of the range. Numbers outside the range are rejected, because they become file names.
async fn list(run: &Run, request: Request, mut wanted: RangeInclusive<u64>) -> Result<Vec<u64>, Error> {
    let mut options = request.extra::<NewsOptions>().cloned().unwrap_or_default();
    (options.list_ranges, options.raw_lists, options.part) = (true, false, ArticlePart::default());
    let plain = Request::from_url(request.url().clone()).with_extra(options);
    let Content::Listing(mut entries) = run.fetcher.fetch(plain).await?.content else {
        return Err(Error::new(Code::Internal, Phase::Request, "the response is not a list of articles"));
    };
    let mut found = Vec::new();
    while let Some(entry) = entries.next().await? {
        let Details::Article(details) = &entry.details else {
            return Err(misbehaved("a line of the article list is malformed", &entry.name));
        };
        if !wanted.contains(&details.number) {
            return Err(misbehaved(
                "the article list has a number outside the range, or out of order",
                &entry.name,
            ));
        }
        wanted = details.number + 1..=*wanted.end();
        found.push(details.number);
    }
    Ok(found)
}

fn misbehaved(detail: &str, line: &[u8]) -> Error {
    Error::new(Code::PeerMisbehaved, Phase::Request, detail).with_reply(line)
}
