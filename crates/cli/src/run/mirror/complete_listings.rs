//! The names in completely listed directories, with which `--delete` decides what the server no longer has.

use std::cell::{Ref, RefCell};
use std::collections::{BTreeSet, HashMap, HashSet};

use fetch_url::mirror::ListedName;
use fetch_url::{Code, Error};

use crate::run::delete_extraneous::{FinalListings, ListedNames};

/// The listed names of a mirror. A directory without names keeps all its files.
///
/// A listing may contain error messages instead of names, or distorted names. The transfers of its entries show that:
/// they succeed ([`Self::confirm`]) or fail ([`Self::add_failure`]).
#[derive(Default)]
pub(super) struct CompleteListings {
    names: RefCell<ListedNames>,
    /// The paths of entries of unknown kind that could not be fetched as files, and are listed as directories.
    uncertain: RefCell<HashSet<String>>,
    /// The directories with an entry that was fetched or listed, or is unchanged.
    confirmed: RefCell<HashSet<String>>,
    /// The paths of gopher items that another menu has listed before.
    in_other_menus: RefCell<HashSet<String>>,
    /// The identities of the URLs of these items.
    other_urls: RefCell<HashSet<u64>>,
    /// The paths of entries that have a file of their own, beside which earlier runs left files with a suffix.
    own_files: RefCell<HashSet<String>>,
    /// The directories with an entry that does not exist.
    doubtful: RefCell<HashSet<String>>,
    /// The paths of the entries that could not be fetched or listed.
    failed: RefCell<BTreeSet<String>>,
}

impl CompleteListings {
    /// Adds the names of a directory.
    /// `in_other_menus` are the names of items that another gopher menu has listed before.
    pub(super) fn add(
        &self,
        directory: &str,
        mut names: HashMap<String, ListedName>,
        in_other_menus: HashMap<String, ListedName>,
    ) {
        for (name, listed) in in_other_menus {
            let path = if directory.is_empty() { name.clone() } else { format!("{directory}/{name}") };
            self.in_other_menus.borrow_mut().insert(path);
            self.other_urls.borrow_mut().insert(listed.url);
            // If another entry has this name, too, its URL stays.
            names.entry(name).or_insert(listed).is_directory = None;
        }
        self.names.borrow_mut().insert(directory.to_owned(), names);
    }

    /// Returns the identities of the items that several menus list.
    pub(super) fn other_urls(&self) -> Ref<'_, HashSet<u64>> {
        self.other_urls.borrow()
    }

    /// Returns the names so far.
    pub(super) fn names(&self) -> Ref<'_, ListedNames> {
        self.names.borrow()
    }

    /// Sets the kind of a listed entry to the result of `kind_of`, which gets the present kind.
    pub(super) fn set_kind(&self, path: &str, kind_of: impl FnOnce(Option<bool>) -> Option<bool>) {
        let (parent, name) = split(path);
        if let Some(entry) = self.names.borrow_mut().get_mut(parent).and_then(|names| names.get_mut(name)) {
            entry.is_directory = kind_of(entry.is_directory);
        }
    }

    /// Records that an entry of unknown kind could not be fetched as a file, so it is listed as a directory.
    pub(super) fn add_uncertain(&self, path: &str) {
        self.uncertain.borrow_mut().insert(path.to_owned());
    }

    /// Records that the entry at `path` was fetched or listed, or is unchanged. The start directory is no entry.
    pub(super) fn confirm(&self, path: &str) {
        let (parent, name) = split(path);
        if !name.is_empty() && !self.confirmed.borrow().contains(parent) {
            self.confirmed.borrow_mut().insert(parent.to_owned());
        }
    }

    /// Records that the entry at `path` was fetched or is unchanged: files with its path and a suffix are not its copies.
    pub(super) fn add_own_file(&self, path: &str) {
        self.own_files.borrow_mut().insert(path.to_owned());
    }

    /// Records that the entry at `path` could not be fetched or listed, so that its kind is unknown, and a local directory
    /// there is kept. `is_kind_unknown` is `true` for an entry that was neither a file nor a directory.
    pub(super) fn add_failure(&self, path: &str, is_kind_unknown: bool, error: &Error) {
        let (parent, _) = split(path);
        self.failed.borrow_mut().insert(path.to_owned());
        self.set_kind(path, |_| None);
        // A name with CR or NUL is no name of the server: the lines of the listing were not read as it meant them.
        if is_kind_unknown || self.uncertain.borrow().contains(path) || error.code() == Code::ForbiddenByte {
            self.names.borrow_mut().remove(parent);
        } else if error.code() == Code::NotFound {
            self.doubtful.borrow_mut().insert(parent.to_owned());
        }
    }

    /// Takes the listings, and the directories that are kept because at least one of their entries does not exist and none
    /// is confirmed.
    pub(super) fn take(&self) -> (FinalListings, Vec<String>) {
        let (mut names, confirmed) = (self.names.take(), self.confirmed.take());
        let doubtful = self.doubtful.take().into_iter().filter(|directory| !confirmed.contains(directory));
        let mut kept: Vec<String> = doubtful.filter(|directory| names.remove(directory).is_some()).collect();
        kept.sort_unstable();
        let (failed, own_files) = (self.failed.take(), self.own_files.take());
        let (in_other_menus, other_urls) = (self.in_other_menus.take(), self.other_urls.take());
        (FinalListings { names, failed, own_files, in_other_menus, other_urls }, kept)
    }
}

/// Returns the parent directory and the name of an entry.
fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

#[cfg(test)]
mod tests {
    use fetch_url::Phase;

    use super::*;

    fn listings() -> CompleteListings {
        let listings = CompleteListings::default();
        for directory in ["", "d"] {
            listings.add(
                directory,
                HashMap::from([listed("a", None), listed("b", Some(true))]),
                HashMap::new(),
            );
        }
        listings
    }

    fn listed(name: &str, is_directory: Option<bool>) -> (String, ListedName) {
        (name.to_owned(), ListedName { is_directory, url: 0 })
    }

    fn error(code: Code) -> Error {
        Error::new(code, Phase::Reply, "failed")
    }

    /// Returns the directories whose files `--delete` may remove, and those that are kept.
    fn result(listings: &CompleteListings) -> (Vec<String>, Vec<String>) {
        let (listings, kept) = listings.take();
        let mut directories: Vec<String> = listings.names.into_keys().collect();
        directories.sort_unstable();
        (directories, kept)
    }

    #[test]
    fn listing_is_used_unless_an_entry_casts_doubt_on_it() {
        for (path, is_kind_unknown, code, expected) in [
            ("d/a", false, Code::Truncated, (&["", "d"][..], &[][..])),
            ("d/a", false, Code::NotFound, (&[""], &["d"])),
            ("a", false, Code::NotFound, (&["d"], &[""])),
            ("d/a", true, Code::NotFound, (&[""], &[])),
            ("d/a", false, Code::ForbiddenByte, (&[""], &[])),
        ] {
            let listings = listings();
            listings.add_failure(path, is_kind_unknown, &error(code));
            let (directories, kept) = result(&listings);
            assert_eq!(
                (&directories[..], &kept[..]),
                (&*owned(expected.0), &*owned(expected.1)),
                "{path} {code:?}"
            );
        }
    }

    #[test]
    fn entry_that_does_not_exist_is_accepted_beside_one_that_was_fetched() {
        let listings = listings();
        listings.confirm("d/b");
        listings.add_failure("d/a", false, &error(Code::NotFound));
        assert_eq!(result(&listings), (owned(&["", "d"]), Vec::new()));
    }

    #[test]
    fn directory_of_unknown_kind_that_cannot_be_listed_keeps_the_files_beside_it() {
        let listings = listings();
        listings.add_uncertain("d/a");
        listings.add_failure("d/b", false, &error(Code::Denied));
        listings.add_failure("d/a", false, &error(Code::Denied));
        assert_eq!(result(&listings), (owned(&[""]), Vec::new()));
    }

    #[test]
    fn kind_of_an_entry_that_could_not_be_fetched_is_unknown() {
        let listings = listings();
        listings.confirm("d/a");
        listings.add_failure("d/b", false, &error(Code::NotFound));
        assert_eq!(listings.names()["d"]["b"].is_directory, None);
    }

    #[test]
    fn kind_of_a_listed_entry_is_replaced() {
        let listings = listings();
        listings.set_kind("d/a", |kind| kind.or(Some(true)));
        listings.set_kind("d/b", |_| None);
        listings.set_kind("d/c", |_| Some(true));
        let names = listings.names();
        assert_eq!(names["d"], HashMap::from([listed("a", Some(true)), listed("b", None)]));
    }

    fn owned(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|&text| text.to_owned()).collect()
    }
}
