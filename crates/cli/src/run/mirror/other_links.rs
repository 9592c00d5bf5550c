//! Links of index pages that are named like entries, but lead to other servers or directories, or have a query. They
//! are not fetched, only counted.

use fetch_url::mirror::{DirEntry, OtherLinkCounts, SkippedLinks};

use super::MirrorWalker;
use crate::run::context::Run;

impl MirrorWalker {
    /// Adds the counts of an index page, and prints a note if it has such links only.
    pub(super) fn count_other_links(
        &self,
        counts: OtherLinkCounts,
        has_entries: bool,
        directory: &DirEntry,
        run: &Run,
    ) {
        let mut totals = self.other_links.get();
        totals.other_servers += counts.other_servers;
        totals.outside += counts.outside;
        totals.with_query += counts.with_query;
        self.other_links.set(totals);
        let kinds = [
            (counts.other_servers, "to other servers"),
            (counts.outside, "to other directories"),
            (counts.with_query, "with a query"),
        ];
        let found = kinds.iter().filter(|(count, _)| *count > 0);
        let found: Vec<_> = found.map(|(count, what)| format!("{count} {what}")).collect();
        if !has_entries && !found.is_empty() {
            let words = format!("the listing has no entries, only links: {}", found.join(", "));
            self.print_note(&directory.url.redacted().to_string(), &words, run);
        }
    }

    /// Returns the numbers of links of pages that are not fetched.
    pub(in crate::run) fn skipped_links(&self) -> SkippedLinks {
        let mut links = self.tree.borrow().skipped_links();
        let rows = self.other_links.get();
        links.other_servers += rows.other_servers;
        links.outside_start += rows.outside;
        links
    }

    /// Returns the number of links of index pages that are named like entries, but have a query.
    pub(in crate::run) const fn links_with_query(&self) -> u64 {
        self.other_links.get().with_query
    }
}
