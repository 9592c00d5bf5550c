//! The state of the links of pages: which were found, their local paths, and why others are not fetched.

use std::collections::BTreeMap;

use fetch_url_core::Url;

use super::identity::IdentitySet;
use super::page_paths::{PagePath, PagePaths};

/// The position of a file in a mirror of linked pages.
#[derive(Clone, Copy, Debug)]
pub(super) struct PagePosition {
    /// The number of requisites that lead from a page to this file; 0 for a page.
    pub(super) requisite_chain: u32,
}

/// The numbers of links that are not fetched, by reason. Each URL counts once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SkippedLinks {
    /// On another server: another host, port or scheme.
    pub other_servers: u64,
    /// On the same server, outside the start directory.
    pub outside_start: u64,
    /// Excluded by a pattern.
    pub excluded: u64,
    /// More links away from the start than the maximum depth.
    pub too_deep: u64,
    /// The URL has no name that is valid for a file.
    pub nameless: u64,
}

/// The links that were found in pages, and the local paths of those that are fetched.
#[derive(Debug)]
pub(super) struct PageLinks {
    pub(super) paths: PagePaths,
    /// Links that have no local path yet, by their URLs.
    pub(super) found: BTreeMap<String, FoundLink>,
    /// The identities of pages that were found or skipped.
    pub(super) seen: IdentitySet,
    pub(super) skipped: SkippedLinks,
}

/// A link that is to be fetched.
#[derive(Debug)]
pub(super) struct FoundLink {
    pub(super) url: Url<'static>,
    pub(super) path: PagePath,
    pub(super) depth: u32,
    pub(super) position: PagePosition,
}

impl PageLinks {
    pub(super) fn new(keeps_dots: bool) -> Self {
        Self {
            paths: PagePaths::new(keeps_dots),
            found: BTreeMap::new(),
            seen: IdentitySet::default(),
            skipped: SkippedLinks::default(),
        }
    }

    /// Records a listed directory or file, so that links to it are not fetched again.
    pub(super) fn record_listed(&mut self, url: &Url<'_>, path: &str, is_directory: bool) {
        let Url::Http(http) = url else { return };
        self.seen.insert(PagePath::of(http).identity());
        match is_directory {
            true => self.paths.record_directory(url, path),
            false => self.paths.record_file(url, path),
        }
    }
}
