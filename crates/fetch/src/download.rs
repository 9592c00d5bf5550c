//! Downloading one URL into one file: resume, atomic naming, checksum and progress in one call.

use std::future::IntoFuture;
use std::path::{Path, PathBuf};
use std::pin::Pin;

use crate::save::save;
use crate::{Checksum, Error, Fetcher, FileOptions, FileSink, IntoRequest, Progress, Receipt, Request, Sink};

impl Fetcher {
    /// Downloads a URL to a file. The file gets its name only when it is complete.
    ///
    /// ```no_run
    /// # async fn example() -> Result<(), fetch_url::Error> {
    /// let fetcher = fetch_url::Fetcher::new();
    /// let receipt = fetcher.download("ftp://ftp.example.org/pub/iso.img", "iso.img").resume().await?;
    /// println!("{} bytes, {}", receipt.bytes, receipt.proof);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// Awaiting the download can fail with every [`Code`](crate::Code) of [`fetch`](Self::fetch) and
    /// [`save`](crate::output::save).
    pub fn download(&self, url: impl IntoRequest, path: impl AsRef<Path>) -> Download {
        Download::new(self.clone(), url.into_request(), path.as_ref().to_owned())
    }
}

/// A download that starts when it is awaited; made by [`Fetcher::download`].
///
/// The file gets its final name only when it is complete. Until then the bytes are in `NAME.fetch-url.part`,
/// so an existing file is not changed if the download fails.
#[must_use = "a download starts when it is awaited"]
pub struct Download {
    fetcher: Fetcher,
    request: Result<Request, Error>,
    path: PathBuf,
    options: FileOptions,
    checksum: Option<Checksum>,
    progress: Box<dyn Progress>,
}

impl Download {
    fn new(fetcher: Fetcher, request: Result<Request, Error>, path: PathBuf) -> Self {
        let options = FileOptions::default();
        Self { fetcher, request, path, options, checksum: None, progress: Box::new(()) }
    }

    /// Continues a partial download of an earlier run, if the object is still the same; otherwise starts again from the
    /// first byte. A partial download is kept in `NAME.fetch-url.part` and `NAME.fetch-url.json`.
    pub const fn resume(mut self) -> Self {
        self.options = self.options.resuming(true);
        self
    }

    /// Requires this checksum of the complete object. Otherwise the download fails with
    /// [`Code::ChecksumMismatch`](crate::Code::ChecksumMismatch), and no file is created.
    pub fn checksum(mut self, checksum: Checksum) -> Self {
        self.checksum = Some(checksum);
        self
    }

    /// Calls `progress` with the number of bytes of the object that are written, and their total if it is known.
    pub fn progress(mut self, progress: impl Progress + 'static) -> Self {
        self.progress = Box::new(progress);
        self
    }

    /// Fails with [`Code::Usage`](crate::Code::Usage) if the file exists.
    pub const fn no_clobber(mut self) -> Self {
        self.options = self.options.no_clobber(true);
        self
    }

    /// Sets the modification time of the file to the one that the server reports.
    pub const fn remote_time(mut self) -> Self {
        self.options = self.options.remote_time(true);
        self
    }

    /// Replaces all file options, such as the sync mode.
    pub const fn options(mut self, options: FileOptions) -> Self {
        self.options = options;
        self
    }

    async fn run(self) -> Result<Receipt, Error> {
        let Self { fetcher, request, path, options, checksum, mut progress } = self;
        let request = request?;
        let file = FileSink::open(&path, options).map_err(|error| error.with_url(request.url()))?;
        let resume = file.resume_of(request.url());
        let response = fetcher.fetch(request.resuming(resume)).await?;
        let sink = match checksum {
            Some(checksum) => Sink::file(file).with_checksum(checksum),
            None => Sink::file(file),
        };
        save(response, sink, &mut *progress).await
    }
}

impl IntoFuture for Download {
    type Output = Result<Receipt, Error>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.run())
    }
}

impl std::fmt::Debug for Download {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Download")
            .field("path", &self.path)
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}
