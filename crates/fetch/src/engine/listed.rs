//! A directory as a whole: a listing that breaks off for a cause that passes is asked for anew, since half of one says
//! nothing of what is not there.

use fetch_url_proto::Entry;

use super::deadline::Deadline;
use super::retry::Patience;
use crate::fetcher::Inner;
use crate::{Code, Content, Error, Fetcher, Meta, Phase, Request};

/// What is known of the directory, and all its entries.
pub(crate) async fn entries(
    fetcher: &Fetcher,
    inner: &Inner,
    request: &Request,
) -> Result<(Meta, Vec<Entry>), Error> {
    let deadline = Deadline::start(inner.policy.timeouts);
    let mut patience = Patience::new(inner.policy.retry);
    loop {
        let response = fetcher.fetch(request.clone()).await?;
        let Content::Listing(mut listing) = response.content else {
            let error = Error::new(Code::NotFound, Phase::Reply, "it is no directory");
            return Err(error.at(&response.meta.url));
        };
        let mut entries = Vec::new();
        let broken = loop {
            match listing.next().await {
                Ok(Some(entry)) => entries.push(entry),
                Ok(None) => return Ok((response.meta, entries)),
                Err(error) => break error.at(&response.meta.url),
            }
        };
        patience.wait(request, broken, 0, &deadline).await?;
    }
}
