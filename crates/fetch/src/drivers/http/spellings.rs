//! The spelling of the header names of a request: that of the caller, otherwise title case.

use http::{HeaderMap, HeaderValue};

use super::options::HttpOptions;

/// The header names in the spelling of the caller, in the order in which the fields are sent. Empty if all are in title
/// case, which hyper writes.
#[derive(Clone, Default)]
pub(super) struct Spellings(Vec<String>);

impl Spellings {
    /// Returns the names of the caller's fields, and TE if it is sent.
    pub(super) fn of(options: &HttpOptions) -> Self {
        let names = options.headers.iter().filter(|field| field.value.is_some()).map(|field| &field.name);
        let te = options.transfer_coding.then(|| "TE".to_owned());
        let names: Vec<String> = names.cloned().chain(te).collect();
        let is_title_case = |name: &String| title_case(&name.to_ascii_lowercase()) == *name;
        Self(if names.iter().all(is_title_case) { Vec::new() } else { names })
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the fields with their names as HTTP/1 sends them.
    pub(super) fn spelt<'h>(
        &self,
        headers: &'h HeaderMap,
    ) -> impl Iterator<Item = (String, &'h HeaderValue)> {
        let mut unused = self.0.clone();
        headers.iter().map(move |(name, value)| {
            let own = take(&mut unused, name.as_str().as_bytes());
            (own.unwrap_or_else(|| title_case(name.as_str())), value)
        })
    }

    /// Replaces the names in the head of a request.
    pub(super) fn respell(self, head: &mut [u8]) {
        let mut unused = self.0;
        for line in head.split_mut(|byte| *byte == b'\n') {
            let Some(end) = line.iter().position(|byte| *byte == b':') else { continue };
            if let Some(own) = take(&mut unused, &line[..end]) {
                line[..end].copy_from_slice(own.as_bytes());
            }
        }
    }
}

/// Takes the first of `names` that equals `name` without regard to case: fields of one name are sent in their order.
fn take(names: &mut Vec<String>, name: &[u8]) -> Option<String> {
    let at = names.iter().position(|own| own.as_bytes().eq_ignore_ascii_case(name))?;
    Some(names.remove(at))
}

/// Returns a header name with a capital letter at the start of each word.
pub(super) fn title_case(name: &str) -> String {
    let words = name.split('-').map(|word| {
        let (first, rest) = word.split_at(word.len().min(1));
        first.to_ascii_uppercase() + rest
    });
    words.collect::<Vec<_>>().join("-")
}
