//! What entries are called here: safely, and no two of a directory the same.

use std::collections::{HashMap, HashSet};

use fetch_url_core::{PercentEncoded, Url};
use fetch_url_proto::Entry;

use super::identity::resource_identity;
use super::kind::KindUncertain;
use crate::file_name;

/// An entry that leads somewhere.
pub(super) struct Candidate {
    /// Which of the entries it is.
    pub(super) index: usize,
    pub(super) url: Url<'static>,
    /// Safe, and perhaps that of others, too.
    pub(super) name: String,
    /// The name is just what the server calls it.
    pub(super) is_verbatim: bool,
    pub(super) is_directory: bool,
    pub(super) size: Option<u64>,
    pub(super) modified: Option<i64>,
    pub(super) doubt: Option<KindUncertain>,
}

/// What the server calls it: one name, and no path.
pub(super) fn own_name(url: &Url<'_>, entry: &Entry) -> Option<Vec<u8>> {
    match url {
        // What a menu shows are words, and directories of some servers end in a slash.
        Url::Gopher(url) => {
            let selector = url.selector();
            let last = selector.as_str().trim_end_matches('/').rsplit('/').next().unwrap_or_default();
            let last = PercentEncoded::from(last).decode().into_owned();
            Some(if last.is_empty() { entry.name.clone() } else { last })
        }
        // An article is known by its number.
        Url::News(_) | Url::Nntp(_) => {
            Some(file_name(url).map_or_else(|| entry.name.clone(), String::into_bytes))
        }
        _ => Some(entry.name.clone()).filter(|name| !name.contains(&b'/')),
    }
}

/// The candidates with names of their own, in whatever order they came. They keep theirs whom nobody shares it with, and
/// of several the only file that is really called so; to the others a part of the URL's digest is added.
pub(super) fn named(candidates: Vec<Candidate>) -> Vec<(Candidate, String)> {
    let plain = plain_names(&candidates);
    let is_plain = |(_, is_plain): &(Candidate, bool)| *is_plain;
    let (plain, shared): (Vec<_>, Vec<_>) = candidates.into_iter().zip(plain).partition(is_plain);
    let mut taken: HashSet<String> = plain.iter().map(|(candidate, _)| candidate.name.clone()).collect();
    let plain = plain.into_iter().map(|(candidate, _)| {
        let name = candidate.name.clone();
        (candidate, name)
    });
    let mut named: Vec<_> = plain.collect();
    for (candidate, _) in shared {
        let mark = resource_identity(&candidate.url);
        // A server can know the short one, and have a file that is called so.
        let mut name = format!("{}~{:08x}", candidate.name, mark >> 96);
        if !taken.insert(name.clone()) {
            name = format!("{}~{mark:032x}", candidate.name);
            taken.insert(name.clone());
        }
        named.push((candidate, name));
    }
    named.sort_by_key(|(candidate, _)| candidate.index);
    named
}

/// Which of the candidates keep their name.
fn plain_names(candidates: &[Candidate]) -> Vec<bool> {
    let mut groups: HashMap<&str, Vec<usize>> = HashMap::new();
    for (index, candidate) in candidates.iter().enumerate() {
        groups.entry(&candidate.name).or_default().push(index);
    }
    let mut plain = vec![false; candidates.len()];
    for group in groups.values() {
        let is_best = |index: &&usize| candidates[**index].is_verbatim && !candidates[**index].is_directory;
        let best: Vec<usize> = group.iter().filter(is_best).copied().collect();
        match (&group[..], &best[..]) {
            ([only], _) | (_, [only]) => plain[*only] = true,
            _ => {}
        }
    }
    plain
}
