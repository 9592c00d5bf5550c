//! A directory as a whole: a listing that breaks off for a cause that passes is asked for anew, since half of one says
//! nothing of what is not there.

use fetch_url_proto::Entry;

use super::deadline::Deadline;
use super::retry::Patience;
use crate::fetcher::Inner;
use crate::tree::is_same_place;
use crate::{Code, Content, Error, Fetcher, Meta, Phase, Proof, Request};

/// A directory.
#[derive(Debug)]
#[non_exhaustive]
pub struct Directory {
    /// What is known of it.
    pub meta: Meta,
    /// Its entries, in the order of the listing.
    pub entries: Vec<Entry>,
    /// There are more than the caller wants (`limit_reached`).
    pub cut: Option<Error>,
    /// These are all entries for certain: the end of the listing is proven, it came from where it was asked for, and
    /// has entries at all. Servers in trouble give empty pages and menus, cut ones, or those of another place.
    pub is_sure: bool,
}

/// So much of a directory is kept.
const MOST: usize = 128 * 1024 * 1024;
/// So many entries are taken without a look at anything else.
const AT_ONCE: usize = 1024;

/// All entries of the directory that `request` asks for.
pub(crate) async fn directory(
    fetcher: &Fetcher,
    inner: &Inner,
    request: &Request,
) -> Result<Directory, Error> {
    let deadline = Deadline::start(inner.policy.timeouts);
    let mut patience = Patience::new(inner.policy.retry);
    loop {
        let response = fetcher.fetch(request.clone()).await?;
        let Content::Listing(mut listing) = response.content else {
            let error = Error::new(Code::NotFound, Phase::Reply, "it is no directory");
            return Err(error.at(&response.meta.url));
        };
        let meta = response.meta;
        let (mut entries, mut octets) = (Vec::new(), 0);
        let broken = loop {
            match listing.next().await {
                Ok(Some(entry)) => {
                    octets +=
                        size_of::<Entry>() + entry.name.len() + entry.url.as_ref().map_or(0, String::len);
                    entries.push(entry);
                    if entries.len() % AT_ONCE == 0 {
                        // Whoever else has something to do, such as hearing a signal, has a turn.
                        tokio::task::yield_now().await;
                    }
                }
                Ok(None) => {
                    let is_proven =
                        matches!(listing.proof(), Proof::Proven(_)) && listing.missing().is_none();
                    let is_sure = is_proven && !entries.is_empty() && is_same_place(&meta.url, request.url());
                    return Ok(Directory { meta, entries, cut: None, is_sure });
                }
                Err(error) => break error.at(&meta.url),
            }
            if octets > MOST {
                let detail = format!("the directory takes more than {MOST} octets");
                break Error::new(Code::LimitReached, Phase::Body, detail).at(&meta.url);
            }
        };
        if broken.code() == Code::LimitReached {
            return Ok(Directory { meta, entries, cut: Some(broken), is_sure: false });
        }
        patience.wait(request, broken, 0, &deadline).await?;
    }
}
