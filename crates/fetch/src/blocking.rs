//! A blocking fetcher for programs without an async runtime: every call blocks the calling thread.

use std::future::IntoFuture as _;
use std::path::Path;

use bytes::Bytes;
use tokio::runtime::{Builder, Runtime};

use crate::{Code, Download, Entry, Error, IntoRequest, Meta, Phase, Receipt};

/// A [`crate::Fetcher`] with its own runtime on the calling thread.
///
/// # Panics
/// Its functions panic inside an async runtime, and so does dropping it there.
#[derive(Debug)]
pub struct Fetcher {
    inner: crate::Fetcher,
    runtime: Runtime,
}

impl Fetcher {
    /// Returns a fetcher for all schemes that are compiled in, with the default policy.
    ///
    /// # Errors
    /// [`Code::Internal`] if the system cannot create a runtime.
    pub fn new() -> Result<Self, Error> {
        Self::from_fetcher(crate::Fetcher::new())
    }

    /// Returns a blocking fetcher that uses `inner`, for example with another policy or credentials.
    ///
    /// # Errors
    /// [`Code::Internal`] if the system cannot create a runtime.
    pub fn from_fetcher(inner: crate::Fetcher) -> Result<Self, Error> {
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime =
            runtime.map_err(|error| Error::io(Code::Internal, Phase::Plan, "the runtime", error))?;
        Ok(Self { inner, runtime })
    }

    /// Fetches a URL. Read the response with [`Response::bytes`] or [`Response::text`].
    ///
    /// # Errors
    /// As for [`crate::Fetcher::get`].
    pub fn get(&self, url: impl IntoRequest) -> Result<Response<'_>, Error> {
        let response = self.runtime.block_on(self.inner.get(url))?;
        Ok(Response { runtime: &self.runtime, response })
    }

    /// Downloads a URL to a file. `options` sets the options of the [`Download`], such as
    /// `|download| download.resume().checksum(sum)`.
    ///
    /// ```no_run
    /// # fn main() -> Result<(), fetch_url::Error> {
    /// let fetcher = fetch_url::blocking::Fetcher::new()?;
    /// fetcher.download("http://example.com/a.iso", "a.iso", |download| download.resume())?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As for [`crate::Fetcher::download`].
    pub fn download(
        &self,
        url: impl IntoRequest,
        path: impl AsRef<Path>,
        options: impl FnOnce(Download) -> Download,
    ) -> Result<Receipt, Error> {
        self.runtime.block_on(options(self.inner.download(url, path)).into_future())
    }

    /// Returns all entries of a directory, menu or list.
    ///
    /// # Errors
    /// As for [`crate::Fetcher::list`].
    pub fn list(&self, url: impl IntoRequest) -> Result<Vec<Entry>, Error> {
        self.runtime.block_on(async {
            let mut listing = self.inner.list(url).await?;
            let mut entries = Vec::new();
            while let Some(entry) = listing.next().await? {
                entries.push(entry);
            }
            Ok(entries)
        })
    }
}

/// A response whose body is read by blocking calls.
#[derive(Debug)]
pub struct Response<'f> {
    runtime: &'f Runtime,
    response: crate::Response,
}

impl Response<'_> {
    /// Returns the metadata of the response.
    pub const fn meta(&self) -> &Meta {
        &self.response.meta
    }

    /// Reads the whole body into memory. A listing becomes its names, one per line.
    ///
    /// # Errors
    /// As for [`crate::Response::bytes`].
    pub fn bytes(self) -> Result<Bytes, Error> {
        self.runtime.block_on(self.response.bytes())
    }

    /// Reads the whole body into memory, as text. Bytes that are not UTF-8 become U+FFFD.
    ///
    /// # Errors
    /// As for [`crate::Response::bytes`].
    pub fn text(self) -> Result<String, Error> {
        self.runtime.block_on(self.response.text())
    }
}
