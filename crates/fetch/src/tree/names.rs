//! Local names of entries: sanitised, and unique in their directory.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::num::NonZeroU64;

use fetch_url_core::{PercentEncoded, Url, UserInfo, parse};
use fetch_url_proto::Entry;
use icu_normalizer::DecomposingNormalizerBorrowed;

use super::identity::{IdentitySet, digest_of, resource_identity};
use super::kind::UncertainKind;
use crate::{Error, file_name};

/// An entry with a URL that may be mirrored. A listing may have several hundred thousand of them, so the URL is text
/// instead of its parts, the start that all URLs of the listing share is stored once, and so is a name that ends the URL.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    /// The URL without the login of the start; only its end if `has_base`.
    url: Box<str>,
    /// The URL begins with the [`url_base`] of the listing.
    has_base: bool,
    /// The sanitised name, which several candidates may share until [`make_names_unique`]; `None` if it is `url` without
    /// a final slash.
    name: Option<Box<str>>,
    /// The other properties.
    pub(super) properties: Properties,
}

/// The properties of a [`Candidate`] beside its URL and its name.
#[derive(Clone, Debug)]
pub(super) struct Properties {
    /// `true` if sanitising did not change the server's name.
    pub(super) is_server_name_unchanged: bool,
    pub(super) is_directory: bool,
    /// The patterns of the rules select it, by its name before [`make_names_unique`].
    pub(super) is_selected: bool,
    pub(super) size: Option<u64>,
    pub(super) modified: Option<i64>,
    pub(super) modified_nanoseconds: u32,
    pub(super) content_id: Option<NonZeroU64>,
    pub(super) uncertain_kind: Option<UncertainKind>,
}

impl Candidate {
    /// Creates a candidate. `base` is the [`url_base`] of its listing.
    pub(super) fn new(url: &str, name: String, base: &str, properties: Properties) -> Self {
        let end = url.strip_prefix(base).filter(|_| !base.is_empty());
        let is_end = end.is_some_and(|end| end.strip_suffix('/').unwrap_or(end) == name);
        let name = if is_end { None } else { Some(name.into()) };
        Self { url: end.unwrap_or(url).into(), has_base: end.is_some(), name, properties }
    }

    /// Returns the sanitised name.
    pub(super) fn name(&self) -> &str {
        let end = || self.url.strip_suffix('/').unwrap_or(&self.url);
        self.name.as_deref().unwrap_or_else(end)
    }

    /// Returns the text of the URL.
    fn url(&self, base: &str) -> Cow<'_, str> {
        if self.has_base { format!("{base}{}", self.url).into() } else { Cow::Borrowed(&self.url) }
    }

    /// Returns the URL with a login. It was parsed before, so the result is always `Some`.
    pub(super) fn parse_url(&self, base: &str, login: Option<&UserInfo<'_>>) -> Option<Url<'static>> {
        Some(parse(&self.url(base)).ok()?.into_owned().url.with_user_info(login))
    }
}

/// Returns the start of the URL of an entry, up to the slash before its last segment: that of the other URLs of the listing.
pub(super) fn url_base(url: &str) -> &str {
    let path = url.strip_suffix('/').unwrap_or(url);
    path.rfind('/').map_or("", |slash| &url[..=slash])
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
///
/// `folds_names` returns `true` if names that differ only in case, or only in their Unicode form, are the same in the
/// directory. It is called if there are such names, with `true` if they are all ASCII. The first file of them in byte
/// order then keeps its name, if sanitising did not change it.
///
/// # Errors
/// That of `folds_names`; the names are unchanged.
pub(super) fn make_names_unique(
    candidates: &mut [Candidate],
    base: &str,
    folds_names: impl FnOnce(bool) -> Result<bool, Error>,
) -> Result<(), Error> {
    let by_name = sorted_by_name(candidates);
    let pairs = by_name.windows(2).map(|pair| [candidates[pair[0]].name(), candidates[pair[1]].name()]);
    let mut variants = pairs.filter(|[one, other]| is_variant_name(one, other)).peekable();
    let folds_names =
        variants.peek().is_some() && folds_names(variants.all(|names| names.concat().is_ascii()))?;
    let (kept, renamed) = split_by_name(&by_name, candidates, folds_names);
    let mut new_names = IdentitySet::default();
    for index in renamed {
        let (short, long) = names_with_suffix(&candidates[index], base);
        // A hostile server could list a file with the short suffix.
        let is_kept = has_name(&kept, candidates, &short, folds_names);
        let is_free =
            !is_kept && new_names.insert(if folds_names { fold_name(&short) } else { (&*short).into() });
        candidates[index].name = Some(if is_free { short } else { long }.into());
    }
    Ok(())
}

/// Returns the name of a candidate with a short and with a long part of the digest of its URL.
fn names_with_suffix(candidate: &Candidate, base: &str) -> (String, String) {
    let (name, url) = (candidate.name(), candidate.url(base));
    let identity = parse(&url).map_or_else(|_| digest_of(url.as_bytes()), |url| resource_identity(&url.url));
    let with_suffix = |suffix: String| [name, "~", &suffix].concat();
    (with_suffix(format!("{:08x}", identity >> 96)), with_suffix(format!("{identity:032x}")))
}

/// Returns `true` if one of the candidates `kept`, which are in the order of their names, has the name `wanted`.
fn has_name(kept: &[usize], candidates: &[Candidate], wanted: &str, folds_names: bool) -> bool {
    let order = |index: &usize| match folds_names {
        true => compare_folded(candidates[*index].name(), wanted),
        false => compare_names(candidates[*index].name(), wanted),
    };
    kept.binary_search_by(order).is_ok()
}

/// Returns `name` in a form that is the same for all names that differ only in case or in their Unicode form (composed or
/// decomposed letters, UAX #15).
pub fn fold_name(name: &str) -> Cow<'_, str> {
    match name {
        name if !name.is_ascii() => folded(name).collect(),
        name if name.bytes().any(|byte| byte.is_ascii_uppercase()) => name.to_ascii_lowercase().into(),
        name => name.into(),
    }
}

/// Decomposes the letters of a name, and converts them to lower, upper and lower case. All conversions are needed: some
/// letters have two lower-case forms, such as the Greek sigma, and the capital sharp s becomes `ss` as the small one.
fn folded(name: &str) -> impl Iterator<Item = char> + '_ {
    let decomposed = DecomposingNormalizerBorrowed::new_nfd().normalize_iter(name.chars());
    let lower = decomposed.flat_map(char::to_lowercase);
    lower.flat_map(char::to_uppercase).flat_map(char::to_lowercase)
}

/// Returns the indices of the candidates, sorted by [`compare_names`].
fn sorted_by_name(candidates: &[Candidate]) -> Vec<usize> {
    let mut by_name: Vec<usize> = (0..candidates.len()).collect();
    by_name.sort_by(|one, other| compare_names(candidates[*one].name(), candidates[*other].name()));
    by_name
}

/// Returns the indices of the candidates that keep their names, in the order of `by_name`, and of those that do not.
fn split_by_name(by_name: &[usize], candidates: &[Candidate], folds_names: bool) -> (Vec<usize>, Vec<usize>) {
    let is_equal = |one: &usize, other: &usize| candidates[*one].name() == candidates[*other].name();
    let is_same = |one: &usize, other: &usize| {
        is_equal(one, other)
            || folds_names && is_variant_name(candidates[*one].name(), candidates[*other].name())
    };
    let is_verbatim_file = |index: &&usize| {
        candidates[**index].properties.is_server_name_unchanged
            && !candidates[**index].properties.is_directory
    };
    let only_verbatim_file = |equal: &[usize]| {
        let mut verbatim_files = equal.iter().filter(is_verbatim_file);
        verbatim_files.next().copied().filter(|_| verbatim_files.next().is_none())
    };
    let (mut kept, mut renamed) = (Vec::with_capacity(by_name.len()), Vec::new());
    for group in by_name.chunk_by(is_same) {
        let keeps_name = match group {
            [only] => Some(*only),
            group => group.chunk_by(is_equal).find_map(only_verbatim_file),
        };
        kept.extend(keeps_name);
        renamed.extend(group.iter().filter(|index| keeps_name != Some(**index)));
    }
    (kept, renamed)
}

/// Compares names without regard to case and Unicode form, and equal ones by their bytes.
fn compare_names(one: &str, other: &str) -> Ordering {
    compare_folded(one, other).then_with(|| one.cmp(other))
}

/// Compares names without regard to case and Unicode form.
fn compare_folded(one: &str, other: &str) -> Ordering {
    if one.is_ascii() && other.is_ascii() {
        let lower = |byte: u8| byte.to_ascii_lowercase();
        return one.bytes().map(lower).cmp(other.bytes().map(lower));
    }
    folded(one).cmp(folded(other))
}

/// Returns `true` if two different names differ only in case or Unicode form.
fn is_variant_name(one: &str, other: &str) -> bool {
    one != other && compare_folded(one, other).is_eq()
}
