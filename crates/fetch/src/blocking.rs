//! For programs without a runtime: the same fetcher, waited for.

use std::path::Path;

use tokio::runtime::{Builder, Runtime};

use crate::{Code, Content, Error, FileOptions, FileSink, Phase, Receipt, Request, Sink, deliver};

/// A [`crate::Fetcher`] and a runtime of its own, on the calling thread.
#[derive(Debug)]
pub struct Fetcher {
    inner: crate::Fetcher,
    runtime: Runtime,
}

impl Fetcher {
    /// Every scheme that is built in, under the default policy.
    ///
    /// # Errors
    /// `internal` when the system gives no runtime.
    pub fn new() -> Result<Self, Error> {
        Self::from_fetcher(crate::Fetcher::new())
    }

    /// A fetcher of the caller's making.
    ///
    /// # Errors
    /// `internal` when the system gives no runtime.
    pub fn from_fetcher(inner: crate::Fetcher) -> Result<Self, Error> {
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime =
            runtime.map_err(|error| Error::io(Code::Internal, Phase::Plan, "the runtime", error))?;
        Ok(Self { inner, runtime })
    }

    /// The object that `text` names, in memory, up to `most` octets.
    ///
    /// # Errors
    /// Why there is no answer; `limit_reached` beyond `most`.
    pub fn read(&self, text: &str, most: usize) -> Result<Vec<u8>, Error> {
        self.runtime.block_on(async {
            let response = self.inner.get(text).await?;
            match response.content {
                Content::Body(body) => body.collect(most).await,
                Content::Listing(listing) => {
                    listing.into_body(|entry| [&entry.name[..], b"\n"].concat()).collect(most).await
                }
                Content::Advice(advice) => Ok(advice.text.into_bytes()),
                Content::Head | Content::Unchanged => Ok(Vec::new()),
                Content::Session(_) => {
                    Err(Error::new(Code::Usage, Phase::Deliver, "the URL names no data object"))
                }
            }
        })
    }

    /// Fetches the object that `text` names into a file, going on where an earlier call ended.
    ///
    /// # Errors
    /// Why there is no answer, or `sink_failed`.
    pub fn save(&self, text: &str, path: &Path) -> Result<Receipt, Error> {
        let request = Request::new(text)?;
        let sink = FileSink::open(path, FileOptions::default().resuming(true))?;
        let resume = sink.resume_of(request.url());
        self.runtime.block_on(async {
            let response = self.inner.fetch(request.resuming(resume)).await?;
            deliver(response, Sink::file(sink), &mut ()).await
        })
    }
}
