//! Local names of entries: sanitised, and unique in their directory.

use std::collections::HashSet;

use fetch_url_core::{PercentEncoded, Url, UserInfo, parse};
use fetch_url_proto::Entry;

use super::identity::{digest_of, resource_identity};
use super::kind::UncertainKind;
use crate::file_name;

/// An entry with a URL that may be mirrored. A listing may have a million of them, so the URL is text instead of its
/// parts, which takes a third of the memory.
#[derive(Debug)]
pub(super) struct Candidate {
    /// The URL, without the login of the start.
    pub(super) url: Box<str>,
    /// The sanitised name, which several candidates may share until [`make_names_unique`].
    pub(super) name: Box<str>,
    /// `true` if sanitising did not change the server's name.
    pub(super) is_server_name_unchanged: bool,
    pub(super) is_directory: bool,
    pub(super) size: Option<u64>,
    pub(super) modified: Option<i64>,
    pub(super) uncertain_kind: Option<UncertainKind>,
}

impl Candidate {
    /// Returns the URL with a login. It was parsed before, so the result is always `Some`.
    pub(super) fn parse_url(&self, login: Option<&UserInfo<'_>>) -> Option<Url<'static>> {
        Some(parse(&self.url).ok()?.into_owned().url.with_user_info(login))
    }
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
pub(super) fn make_names_unique(candidates: &mut [Candidate]) {
    let (kept, renamed) = split_by_name(candidates);
    let is_kept =
        |name: &str| kept.binary_search_by(|index| candidates[*index].name.as_ref().cmp(name)).is_ok();
    let mut new_names = HashSet::new();
    let mut unique_name = |index: &usize| {
        let Candidate { url, name, .. } = &candidates[*index];
        let identity =
            parse(url).map_or_else(|_| digest_of(url.as_bytes()), |url| resource_identity(&url.url));
        // A hostile server could list a file with the short suffix.
        let (short, long) = (format!("{name}~{:08x}", identity >> 96), format!("{name}~{identity:032x}"));
        let is_free = !is_kept(&short) && new_names.insert(short.clone());
        if is_free { short } else { long }
    };
    let unique_names: Vec<String> = renamed.iter().map(&mut unique_name).collect();
    for (index, name) in renamed.into_iter().zip(unique_names) {
        candidates[index].name = name.into();
    }
}

/// Returns the indices of the candidates that keep their names, sorted by name, and of those that do not.
fn split_by_name(candidates: &[Candidate]) -> (Vec<usize>, Vec<usize>) {
    let name = |index: &usize| &candidates[*index].name;
    let mut by_name: Vec<usize> = (0..candidates.len()).collect();
    by_name.sort_by(|one, other| name(one).cmp(name(other)));
    let is_verbatim_file =
        |index: &&usize| candidates[**index].is_server_name_unchanged && !candidates[**index].is_directory;
    let (mut kept, mut renamed) = (Vec::with_capacity(by_name.len()), Vec::new());
    for group in by_name.chunk_by(|one, other| name(one) == name(other)) {
        let mut verbatim_files = group.iter().filter(is_verbatim_file);
        let keeps_name = match (group, verbatim_files.next(), verbatim_files.next()) {
            ([only], ..) | (_, Some(only), None) => Some(*only),
            _ => None,
        };
        kept.extend(keeps_name);
        renamed.extend(group.iter().filter(|index| keeps_name != Some(**index)));
    }
    (kept, renamed)
}
