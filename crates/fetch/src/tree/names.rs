//! Local names of entries: sanitised, and unique in their directory.

use std::collections::{HashMap, HashSet};

use fetch_url_core::{PercentEncoded, Url};
use fetch_url_proto::Entry;

use super::identity::resource_identity;
use super::kind::UncertainKind;
use crate::file_name;

/// An entry with a URL that may be mirrored.
pub(super) struct Candidate {
    /// The index of the entry in the listing.
    pub(super) index: usize,
    pub(super) url: Url<'static>,
    /// The sanitised name, which several candidates may share.
    pub(super) name: String,
    /// `true` if sanitising did not change the server's name.
    pub(super) is_server_name_unchanged: bool,
    pub(super) is_directory: bool,
    pub(super) size: Option<u64>,
    pub(super) modified: Option<i64>,
    pub(super) uncertain_kind: Option<UncertainKind>,
}

/// Returns the server's name of an entry, or `None` if it is a path instead of one name.
pub(super) fn server_file_name(url: &Url<'_>, entry: &Entry) -> Option<Vec<u8>> {
    match url {
        // The display string of a menu item is not a name. Selectors of directories may end with a slash.
        Url::Gopher(url) => {
            let selector = url.selector();
            let last = selector.as_str().trim_end_matches('/').rsplit('/').next().unwrap_or_default();
            let last = PercentEncoded::from(last).decode().into_owned();
            Some(if last.is_empty() { entry.name.clone() } else { last })
        }
        // The name of an article is its number.
        Url::News(_) | Url::Nntp(_) => {
            Some(file_name(url).map_or_else(|| entry.name.clone(), String::into_bytes))
        }
        _ => Some(entry.name.clone()).filter(|name| !name.contains(&b'/')),
    }
}

/// Gives each candidate a unique name that does not depend on the order of the listing. A candidate keeps its name if no
/// other candidate has the same, or if it is the only file with that name which sanitising did not change. All others
/// get a part of their URL's digest as suffix.
pub(super) fn with_unique_names(candidates: Vec<Candidate>) -> Vec<(Candidate, String)> {
    let keeps_name = names_to_keep(&candidates);
    let keeps_own_name = |(_, keeps_name): &(Candidate, bool)| *keeps_name;
    let (kept, renamed): (Vec<_>, Vec<_>) = candidates.into_iter().zip(keeps_name).partition(keeps_own_name);
    let mut used_names: HashSet<String> = kept.iter().map(|(candidate, _)| candidate.name.clone()).collect();
    let kept = kept.into_iter().map(|(candidate, _)| {
        let name = candidate.name.clone();
        (candidate, name)
    });
    let mut named: Vec<_> = kept.collect();
    for (candidate, _) in renamed {
        let identity = resource_identity(&candidate.url);
        // A hostile server could list a file with the short suffix.
        let mut name = format!("{}~{:08x}", candidate.name, identity >> 96);
        if !used_names.insert(name.clone()) {
            name = format!("{}~{identity:032x}", candidate.name);
            used_names.insert(name.clone());
        }
        named.push((candidate, name));
    }
    named.sort_by_key(|(candidate, _)| candidate.index);
    named
}

/// Returns for each candidate whether it keeps its name.
fn names_to_keep(candidates: &[Candidate]) -> Vec<bool> {
    let mut groups: HashMap<&str, Vec<usize>> = HashMap::new();
    for (index, candidate) in candidates.iter().enumerate() {
        groups.entry(&candidate.name).or_default().push(index);
    }
    let mut keeps_name = vec![false; candidates.len()];
    for group in groups.values() {
        let is_verbatim_file = |index: &&usize| {
            candidates[**index].is_server_name_unchanged && !candidates[**index].is_directory
        };
        let verbatim_files: Vec<usize> = group.iter().filter(is_verbatim_file).copied().collect();
        match (&group[..], &verbatim_files[..]) {
            ([only], _) | (_, [only]) => keeps_name[*only] = true,
            _ => {}
        }
    }
    keeps_name
}
