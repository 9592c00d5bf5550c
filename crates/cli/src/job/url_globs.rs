//! curl's URL globs: `{a,b}`, `[1-100]`, `[001-100:10]` and `[a-z]` stand for several URLs, and `#1` in the value of `-o`
//! for the text of the first glob.

use std::net::Ipv6Addr;

/// The maximum number of URLs that one text may stand for.
const MAX_URLS: usize = 100_000;

/// A URL of a glob, and the texts that it has in place of the globs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct GlobbedUrl {
    pub(super) url: String,
    values: Vec<String>,
}

impl GlobbedUrl {
    /// Returns the value of `-o` with `#1`, `#2` and so on replaced. Other numbers stay, as in curl.
    pub(super) fn file_name(&self, pattern: &str) -> String {
        let mut name = String::new();
        let mut pieces = pattern.split('#');
        name.push_str(pieces.next().unwrap_or_default());
        for piece in pieces {
            let digits = piece.bytes().take_while(u8::is_ascii_digit).count();
            let number = piece[..digits].parse::<usize>().ok().filter(|number| *number > 0);
            match number.and_then(|number| self.values.get(number - 1)) {
                Some(value) => {
                    name.push_str(value);
                    name.push_str(&piece[digits..]);
                }
                None => {
                    name.push('#');
                    name.push_str(piece);
                }
            }
        }
        name
    }
}

/// Returns the URLs that a text stands for, the last glob varying fastest. A text without globs stands for itself.
///
/// # Errors
/// Returns what is wrong with a glob.
pub(super) fn expand(text: &str) -> Result<Vec<GlobbedUrl>, String> {
    let mut urls = vec![GlobbedUrl { url: String::new(), values: Vec::new() }];
    let mut rest = text;
    while let Some(at) = rest.find(['{', '[', '\\', '}', ']']) {
        push_text(&mut urls, &rest[..at]);
        rest = &rest[at..];
        if let Some(escaped) = rest.strip_prefix('\\') {
            let length = usize::from(escaped.starts_with(['{', '}', '[', ']']));
            push_text(&mut urls, if length == 1 { &escaped[..1] } else { "\\" });
            rest = &escaped[length..];
            continue;
        }
        if rest.starts_with(['}', ']']) {
            return Err(format!("{:?} has no opening bracket", &rest[..1]));
        }
        let is_set = rest.starts_with('{');
        let Some(end) = (if is_set { end_of_set(rest) } else { rest.find(']') }) else {
            return Err(format!("{:?} has no {:?}", &rest[..1], if is_set { '}' } else { ']' }));
        };
        let inner = &rest[1..end];
        if !is_set && (inner.is_empty() || is_address(inner)) {
            push_text(&mut urls, &rest[..=end]);
        } else {
            let values = if is_set { set(inner) } else { range(inner) };
            urls = multiply(
                &urls,
                &values.ok_or_else(|| format!("{:?} is not a list or range", &rest[..=end]))?,
            )?;
        }
        rest = &rest[end + 1..];
    }
    push_text(&mut urls, rest);
    Ok(urls)
}

fn push_text(urls: &mut [GlobbedUrl], text: &str) {
    urls.iter_mut().for_each(|url| url.url.push_str(text));
}

fn multiply(urls: &[GlobbedUrl], values: &[String]) -> Result<Vec<GlobbedUrl>, String> {
    if urls.len().saturating_mul(values.len()) > MAX_URLS {
        return Err(format!("more than {MAX_URLS} URLs"));
    }
    let with = |url: &GlobbedUrl, value: &String| {
        let mut url = url.clone();
        url.url.push_str(value);
        url.values.push(value.clone());
        url
    };
    Ok(urls.iter().flat_map(|url| values.iter().map(move |value| with(url, value))).collect())
}

/// Returns `true` for an IPv6 address, with or without a zone.
fn is_address(text: &str) -> bool {
    text.split('%').next().is_some_and(|address| address.parse::<Ipv6Addr>().is_ok())
}

/// Returns the position of the first `}` that no backslash escapes.
fn end_of_set(text: &str) -> Option<usize> {
    let mut is_escaped = false;
    let end = text.char_indices().find(|(_, character)| {
        let is_end = *character == '}' && !is_escaped;
        is_escaped = *character == '\\' && !is_escaped;
        is_end
    });
    end.map(|(at, _)| at)
}

/// Returns the texts of `a,b`. Empty texts are allowed, globs within them are not. A backslash makes the next character
/// literal.
fn set(text: &str) -> Option<Vec<String>> {
    let (mut values, mut value) = (Vec::new(), String::new());
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match character {
            '{' | '[' => return None,
            ',' => values.push(std::mem::take(&mut value)),
            '\\' => value.push(characters.next().unwrap_or('\\')),
            other => value.push(other),
        }
    }
    values.push(value);
    (!text.is_empty()).then_some(values)
}

/// Returns the texts of `1-100`, `001-100` or `a-z`, with an optional `:STEP`.
fn range(text: &str) -> Option<Vec<String>> {
    let (span, step) = match text.split_once(':') {
        Some((span, step)) => (span, Some(number(step).filter(|step| *step > 0)?)),
        None => (text, None),
    };
    // A step larger than the difference is an error, as in curl.
    let is_possible = |length: u64| step.is_none_or(|step| step <= length.max(1));
    let (first, last) = span.split_once('-')?;
    let step_length = usize::try_from(step.unwrap_or(1)).ok()?;
    if let (&[first], &[last]) = (first.as_bytes(), last.as_bytes())
        && first.is_ascii_alphabetic()
        && last.is_ascii_alphabetic()
    {
        let letters = (first..=last).step_by(step_length).map(|letter| char::from(letter).to_string());
        return (first <= last
            && is_possible(u64::from(last - first))
            && first.is_ascii_lowercase() == last.is_ascii_lowercase())
        .then(|| letters.collect());
    }
    let width = if first.starts_with('0') { first.len() } else { 0 };
    let (first, last) = (number(first)?, number(last)?);
    // One number more than allowed is enough for the error.
    let numbers = (first..=last).step_by(step_length).take(MAX_URLS + 1);
    (first <= last && is_possible(last - first))
        .then(|| numbers.map(|number| format!("{number:0width$}")).collect())
}

fn number(text: &str) -> Option<u64> {
    (!text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())).then(|| text.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    fn urls(text: &str) -> Vec<String> {
        expand(text).expect("a glob").into_iter().map(|globbed| globbed.url).collect()
    }

    #[test]
    fn globs_are_expanded_as_in_curl() {
        assert_eq!(urls("http://h/x"), ["http://h/x"]);
        assert_eq!(urls("http://{a,b}/[1-2]"), ["http://a/1", "http://a/2", "http://b/1", "http://b/2"]);
        assert_eq!(urls("f[08-10].txt"), ["f08.txt", "f09.txt", "f10.txt"]);
        assert_eq!(urls("[0-10:5]"), ["0", "5", "10"]);
        assert_eq!(urls("[a-e:2]"), ["a", "c", "e"]);
        assert_eq!(urls("[1-3:2]"), ["1", "3"]);
        assert_eq!(urls("[5-5:1]"), ["5"]);
        assert_eq!(urls("x{,.gz}"), ["x", "x.gz"]);
        assert_eq!(urls(r"a\[1\]\{b\}\c"), [r"a[1]{b}\c"]);
        assert_eq!(urls("x?ids[]=[1-2]"), ["x?ids[]=1", "x?ids[]=2"]);
        assert_eq!(urls(r"{a\,b,c\}\{,\d\\,}x"), ["a,bx", "c}{x", r"d\x", "x"]);
        assert_eq!(urls("http://[::1]:80/[1-1]"), ["http://[::1]:80/1"]);
        assert_eq!(urls("ftp://[fe80::1%25eth0]/"), ["ftp://[fe80::1%25eth0]/"]);
    }

    #[test]
    fn malformed_and_huge_globs_are_errors() {
        for text in [
            "[",
            "{a",
            "[1-",
            "[1]",
            "[2-1]",
            "[a-Z]",
            "[z-a]",
            "{}",
            "[1-9:0]",
            "[1-3:3]",
            "[a-c:3]",
            "{a,b}}",
            "[1-2]x]",
            "[1-200000]",
            "{a,{b}}",
            r"{a\}",
        ] {
            assert!(expand(text).is_err(), "{text}");
        }
        assert!(expand("[1-1000][1-1000]").is_err());
        assert!(expand("[0-18446744073709551615]").is_err());
    }

    #[test]
    fn numbers_in_the_file_name_are_replaced() {
        let url = &expand("http://{a,b}/[1-2]").expect("a glob")[1];
        assert_eq!(url.file_name("#1_#2.txt"), "a_2.txt");
        assert_eq!(url.file_name("x#3#0#"), "x#3#0#");
    }
}
