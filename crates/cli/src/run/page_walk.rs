//! The pages of a mirror and their links. Links are read in rounds: the pages of a round are saved before the links of any
//! of them are followed, so that local names do not depend on which page arrives first.

use std::cell::{Cell, RefCell};
use std::path::Path;

use fetch_url::mirror::{DirHandle, FileEntry};
use fetch_url::{Code, Error, Meta, Phase};
#[cfg(feature = "html")]
use fetch_url_proto::HtmlLinks;
use fetch_url_proto::{CssLinks, PageKind, PageLink};

/// The largest page or style sheet whose links are read, in bytes.
const MAX_PAGE_SIZE: u64 = 32 * 1024 * 1024;
/// The task yields after this many tokens, so that other tasks can run.
const TOKENS_PER_YIELD: usize = 1024;

/// The pages of a walk.
#[derive(Default)]
pub(super) struct PageWalk {
    /// Files whose links have not been read.
    saved: RefCell<Vec<SavedPage>>,
    /// The number of transfers and readers of links that have not ended.
    active: Cell<usize>,
    has_ordinary_pages: Cell<bool>,
}

/// A saved or unchanged file that may contain links.
pub(super) struct SavedPage {
    pub(super) entry: Box<FileEntry>,
    media_type: Option<String>,
}

impl PageWalk {
    /// Records that the server sent an ordinary page instead of a listing.
    pub(super) fn found_ordinary_page(&self) {
        self.has_ordinary_pages.set(true);
    }

    pub(super) const fn has_ordinary_pages(&self) -> bool {
        self.has_ordinary_pages.get()
    }

    /// Records the start of a transfer or of reading links.
    pub(super) fn begin(&self) {
        self.active.set(self.active.get() + 1);
    }

    /// Records the end of a transfer. The links of the file are read later if it is complete and came from the server
    /// of `entry`; `meta` describes the last response.
    pub(super) fn end(&self, entry: &FileEntry, meta: Option<&Meta>, is_complete: bool) {
        if is_complete && meta.is_none_or(|meta| meta.url.same_origin(&entry.url)) {
            let media_type = meta.and_then(|meta| meta.media_type.clone());
            self.saved.borrow_mut().push(SavedPage { entry: Box::new(entry.clone()), media_type });
        }
        self.end_without_links();
    }

    /// Records the end of a transfer or of reading links, without a file whose links are to be read.
    pub(super) fn end_without_links(&self) {
        self.active.set(self.active.get().saturating_sub(1));
    }

    /// Returns `true` while a transfer or a reader of links is active.
    pub(super) const fn is_active(&self) -> bool {
        self.active.get() > 0
    }

    /// Takes the files whose links have not been read, sorted by their paths.
    pub(super) fn take_saved(&self) -> Vec<SavedPage> {
        let mut saved = self.saved.take();
        saved.sort_by(|one, other| one.entry.path.cmp(&other.entry.path));
        saved
    }
}

/// A reader of the links of a page.
enum LinkReader {
    #[cfg(feature = "html")]
    Html(Box<HtmlLinks>),
    Css(CssLinks),
}

/// Reads the links of a saved file, if it is HTML or CSS by its media type, name or beginning.
///
/// # Errors
/// The first error of `add`, [`Code::SinkFailed`] if the file cannot be read, [`Code::Unsupported`] above 32 MiB.
pub(super) async fn read_links(
    page: &SavedPage,
    directory: &Path,
    mut add: impl FnMut(&PageLink) -> Result<(), Error>,
) -> Result<(), Error> {
    let Some(mut reader) = open_reader(page, directory)? else { return Ok(()) };
    let mut tokens = 0_usize;
    loop {
        let token = match &mut reader {
            #[cfg(feature = "html")]
            LinkReader::Html(links) => links.process_token(),
            LinkReader::Css(links) => links.process_token(),
        };
        match token {
            None => return Ok(()),
            Some(None) => {}
            Some(Some(link)) => add(&link)?,
        }
        tokens += 1;
        if tokens.is_multiple_of(TOKENS_PER_YIELD) {
            tokio::task::yield_now().await;
        }
    }
}

/// Returns the reader of the links of a saved file, or `None` if it is neither HTML nor CSS.
fn open_reader(page: &SavedPage, directory: &Path) -> Result<Option<LinkReader>, Error> {
    let kind = page.media_type.as_deref().map(PageKind::from_media_type);
    if kind == Some(None) {
        return Ok(None);
    }
    // A dry run has not saved it, and must not create its directory.
    if directory.join(&page.entry.path).symlink_metadata().is_err() {
        return Ok(None);
    }
    let (parent, name) = page.entry.path.rsplit_once('/').unwrap_or(("", &page.entry.path));
    let Some(content) = DirHandle::open_or_create(directory, parent)?.read_file(name, MAX_PAGE_SIZE)? else {
        let is_known = kind.is_some() || PageKind::from_name_and_start(name, b"").is_some();
        let error = Error::new(Code::Unsupported, Phase::Deliver, format!("more than {MAX_PAGE_SIZE} bytes"));
        return if is_known { Err(error) } else { Ok(None) };
    };
    let url = page.entry.url.without_password().to_string();
    // The query is part of the local name, but not of the extension.
    let path = url.split('?').next().unwrap_or_default();
    let kind = kind.flatten().or_else(|| PageKind::from_name_and_start(path, &content));
    Ok(match kind {
        None => None,
        #[cfg(feature = "html")]
        Some(PageKind::Html) => Some(LinkReader::Html(Box::new(HtmlLinks::new(content.into(), &url)))),
        // Such a build reads no index pages, so a mirror has no pages.
        #[cfg(not(feature = "html"))]
        Some(PageKind::Html) => None,
        Some(PageKind::Css) => Some(LinkReader::Css(CssLinks::new(content.into(), &url))),
    })
}
