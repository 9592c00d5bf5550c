//! The limits and filters of a mirror.

use super::Glob;

/// Limits and filters of a mirror.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TreeRules {
    /// The maximum depth of directories and of links between pages; 0 is only the start directory or page.
    pub max_depth: u32,
    /// The maximum number of entries of all listings and links of all pages together.
    pub max_entries: u64,
    /// Only files that match one of these patterns are fetched; all files if the list is empty.
    pub include: Vec<Glob>,
    /// Files and directories that match one of these patterns are excluded.
    pub exclude: Vec<Glob>,
    /// Keeps a leading dot of names, instead of replacing it.
    pub keeps_dots: bool,
    /// Collects the names of each listing in [`Classified::names`](super::Classified::names), to find local files that are no longer listed.
    pub collects_names: bool,
    /// Follows only links of pages to requisites, such as images and style sheets, also outside the start
    /// directory on its server.
    pub page_requisites_only: bool,
}

impl Default for TreeRules {
    fn default() -> Self {
        Self {
            max_depth: 32,
            max_entries: 1_000_000,
            include: Vec::new(),
            exclude: Vec::new(),
            keeps_dots: false,
            collects_names: false,
            page_requisites_only: false,
        }
    }
}

impl TreeRules {
    /// Returns `true` if the patterns select the path.
    pub(super) fn selects(&self, path: &str, is_directory: bool) -> bool {
        let is_excluded = self.exclude.iter().any(|glob| glob.matches(path));
        !is_excluded && (is_directory || self.includes(path))
    }

    /// Returns `true` if the patterns for files include the path.
    pub(super) fn includes(&self, path: &str) -> bool {
        self.include.is_empty() || self.include.iter().any(|glob| glob.matches(path))
    }
}
