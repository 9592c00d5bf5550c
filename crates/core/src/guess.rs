//! [`guess`] interprets text that is not a URL of a known scheme, such as `example.com`. The parser itself never adds or
//! changes a scheme.

use crate::percent_encoding::sets;
use crate::{NoteKind, SCHEMES, SchemeStatus, find_scheme, parse};

/// Names that resemble the name of a known scheme but are schemes of their own, sorted.
const OTHER_SCHEMES: [&str; 5] = ["httpu", "ntp", "rtp", "sftp", "tftp"];

/// Schemes without a host whose URLs may have an `@`, and the prefix `URL:`, sorted, so that `sip:x@h` is not read as a login.
const ADDRESS_SCHEMES: [&str; 15] = [
    "acct", "cid", "data", "h323", "im", "jabber", "pres", "sip", "sips", "skype", "smtp", "tag", "url",
    "urn", "xmpp",
];

/// The maximum length of a misspelt scheme name, in bytes.
const MAX_NAME: usize = 16;

/// A likely meaning of text that is not a URL of a known scheme: the result of [`guess`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Guess {
    /// The name of the scheme is misspelt, or its colon is missing: the first `length` bytes may mean `scheme:`.
    Correction {
        /// The length in bytes of the part to be replaced.
        length: usize,
        /// The name of the scheme.
        scheme: &'static str,
    },
    /// A host without a scheme. The text becomes a URL with this scheme and `://` in front: `ftp` if the host begins
    /// with `ftp.`, else `http`.
    Host(&'static str),
    /// The path of a local file.
    Path,
}

impl Guess {
    /// Returns the URL that the guess makes of `text`, or `None` for a path, which depends on the current directory.
    pub fn url(self, text: &str) -> Option<String> {
        match self {
            Self::Correction { length, scheme } => Some(format!("{scheme}:{}", text.get(length..)?)),
            Self::Host(scheme) => Some(format!("{scheme}://{text}")),
            Self::Path => None,
        }
    }
}

/// Returns the likely meaning of text that a person typed, by the rules of curl: a host without a scheme, or else a path or a
/// misspelt scheme. Returns `None` for a URL of a known scheme, and if there is no guess.
///
/// `localhost:8080/x` is a host and a port, although `localhost` could be the name of an unknown scheme, and
/// `user:password@host` is a host and a login.
///
/// ```
/// use fetch_url_core::{Guess, guess};
///
/// assert_eq!(guess("example.com/x"), Some(Guess::Host("http")));
/// assert_eq!(guess("ftp.example.org"), Some(Guess::Host("ftp")));
/// assert_eq!(guess("./x"), Some(Guess::Path));
/// let text = "htp://h/x";
/// assert_eq!(guess(text).and_then(|guess| guess.url(text)).as_deref(), Some("http://h/x"));
/// assert_eq!(guess("http://h/x"), None);
/// // The login of `ftp://ftp.example.org?@other.example/` is `ftp.example.org?`.
/// assert_eq!(guess("ftp.example.org?@other.example/"), None);
/// ```
pub fn guess(text: &str) -> Option<Guess> {
    if is_path(text) {
        return Some(Guess::Path);
    }
    let length = sets::SCHEME.end_of_short_run(text.as_bytes(), 0);
    let (name, rest) = text.split_at_checked(length)?;
    if let Some(rest) = rest.strip_prefix(':') {
        if find_scheme(name).is_some() {
            return None;
        }
        if rest.starts_with("//") {
            return similar_scheme(name).map(|scheme| Guess::Correction { length: length + 1, scheme });
        }
        // An unknown scheme may have any text after its colon. Only a port, and a password with its host, are read as such.
        let is_host = starts_with_port(rest) || (starts_with_password(rest) && may_be_user(name));
        return is_host.then(|| guess_host(text)).flatten();
    }
    if let (true, Some(scheme)) = (rest.starts_with("//"), find_scheme(name)) {
        return Some(Guess::Correction { length, scheme: scheme.name });
    }
    guess_host(text)
}

/// Returns `true` for text that begins as the path of a file does.
fn is_path(text: &str) -> bool {
    let is_absolute = text.starts_with('/') && !text.starts_with("//");
    is_absolute
        || matches!(text, "." | ".." | "~")
        || ["./", "../", "~/"].iter().any(|start| text.starts_with(start))
}

/// Returns `true` if the text begins with a port, followed by nothing, a path, a query or a fragment.
fn starts_with_port(text: &str) -> bool {
    let port = text.split(['/', '?', '#']).next().unwrap_or_default();
    (1..=5).contains(&port.len()) && port.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns `true` if the text begins with a password: an `@` precedes its path, query and fragment.
fn starts_with_password(text: &str) -> bool {
    text.split(['/', '?', '#']).next().unwrap_or_default().contains('@')
}

/// Returns `true` if `name`, before a colon, is more likely a user name than a scheme. The caller has excluded known schemes.
fn may_be_user(name: &str) -> bool {
    let is_experimental = name.get(..2).is_some_and(|start| start.eq_ignore_ascii_case("x-"));
    let is_scheme = is_experimental
        || name.contains('+')
        || ADDRESS_SCHEMES.iter().chain(&OTHER_SCHEMES).any(|own| own.eq_ignore_ascii_case(name));
    !is_scheme && most_similar(name, |_| true).is_none()
}

/// Returns the scheme for a text that begins with a host, or `None` if it does not become a URL.
fn guess_host(text: &str) -> Option<Guess> {
    let authority = text.split(['/', '?', '#']).next().unwrap_or_default();
    if authority.ends_with(':') {
        // `é://u:password@h/` is no host but a scheme that the parser rejects.
        return None;
    }
    let host = authority.rsplit('@').next().unwrap_or_default();
    let is_ftp = host.get(..4).is_some_and(|start| start.eq_ignore_ascii_case("ftp."));
    let scheme = if is_ftp { "ftp" } else { "http" };
    let url = format!("{scheme}://{text}");
    // By RFC 1738, the login of `ftp.a.test?@b.test` is `ftp.a.test?`.
    let has_host = parse(&url)
        .is_ok_and(|parsed| !parsed.notes.iter().any(|note| note.kind() == NoteKind::QuestionMarkInLogin));
    has_host.then_some(Guess::Host(scheme))
}

/// Returns the name of the scheme that an unknown one is most likely a misspelling of. Reserved schemes are not proposed.
fn similar_scheme(name: &str) -> Option<&'static str> {
    most_similar(name, |status| status != SchemeStatus::Reserved)
}

/// Returns the name that is most similar to `name`, of the schemes whose status is accepted.
fn most_similar(name: &str, is_accepted: impl Fn(SchemeStatus) -> bool) -> Option<&'static str> {
    let name = name.to_ascii_lowercase();
    if !(3..=MAX_NAME).contains(&name.len()) || OTHER_SCHEMES.contains(&name.as_str()) {
        return None;
    }
    let limit = if name.len() > 4 { 2 } else { 1 };
    // Prefer `http`: `ttp` has distance 1 to both `http` and `ftp`.
    let preferred = ["http", "https"].into_iter();
    let known = SCHEMES.iter().filter(|row| is_accepted(row.status) && !row.name.is_empty());
    preferred
        .chain(known.map(|row| row.name))
        .map(|known| (distance(name.as_bytes(), known.as_bytes()), known))
        .filter(|(distance, _)| *distance <= limit)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, known)| known)
}

/// Returns the number of inserted, removed, replaced and swapped bytes between two names (optimal string alignment).
fn distance(one: &[u8], two: &[u8]) -> usize {
    let mut two_rows_up: Vec<usize> = Vec::new();
    let mut previous_row: Vec<usize> = (0..=two.len()).collect();
    for (row, byte) in one.iter().enumerate() {
        let mut line = vec![row + 1];
        for (column, other) in two.iter().enumerate() {
            let replaced = previous_row[column] + usize::from(byte != other);
            let mut least = replaced.min(previous_row[column + 1] + 1).min(line[column] + 1);
            let is_swapped = row > 0 && column > 0 && byte == &two[column - 1] && &one[row - 1] == other;
            if is_swapped {
                least = least.min(two_rows_up[column - 1] + 1);
            }
            line.push(least);
        }
        two_rows_up = std::mem::replace(&mut previous_row, line);
    }
    previous_row[two.len()]
}

#[cfg(test)]
mod tests {
    use super::distance;

    #[test]
    fn distance_counts_changed_and_swapped_bytes() {
        for (one, two, expected) in [
            ("http", "http", 0),
            ("htp", "http", 1),
            ("fpt", "ftp", 1),
            ("htttp", "http", 1),
            ("gofer", "gopher", 2),
            ("", "ftp", 3),
        ] {
            assert_eq!(distance(one.as_bytes(), two.as_bytes()), expected, "{one} {two}");
        }
    }
}
