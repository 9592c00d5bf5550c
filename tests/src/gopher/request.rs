//! Parses Gopher requests: the fields of the line, and the data block that may follow it in Gopher+.

/// The fields of a request line.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Request<'a> {
    pub(crate) selector: &'a [u8],
    pub(crate) search: Option<&'a [u8]>,
    /// The Gopher+ field, with its first character.
    pub(crate) plus: Option<&'a [u8]>,
    /// A data block follows.
    pub(crate) has_data: bool,
}

impl<'a> Request<'a> {
    /// Parses a line without its end. `is_search` returns `true` for selectors of type 7.
    pub(crate) fn parse(line: &'a [u8], supports_plus: bool, is_search: impl Fn(&[u8]) -> bool) -> Self {
        let mut fields = line.split(|byte| *byte == b'\t');
        let selector = fields.next().unwrap_or_default();
        let (first, second, third) = (fields.next(), fields.next(), fields.next());
        let plain = Self { selector, search: first, ..Self::default() };
        let Some(first) = first.filter(|_| supports_plus) else { return plain };
        if let Some(plus) = second.filter(|second| is_plus(second)) {
            return Self { plus: Some(plus), has_data: third == Some(b"1"), ..plain };
        }
        // The words of a search may start with a plus too.
        if !is_plus(first) || first.starts_with(b"+") && is_search(selector) {
            return plain;
        }
        Self { selector, search: None, plus: Some(first), has_data: second == Some(b"1") }
    }
}

fn is_plus(field: &[u8]) -> bool {
    matches!(field.first(), Some(b'+' | b'!' | b'$'))
}

/// A data block, as far as it was received.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum DataBlock {
    /// The content, and the number of bytes that the block takes.
    Complete(Vec<u8>, usize),
    Incomplete,
    /// The reason why it is not a data block.
    Invalid(String),
}

impl DataBlock {
    /// Parses `+-1`, lines and a dot; `+-2` up to the end; or `+N` and N bytes.
    pub(crate) fn parse(bytes: &[u8], is_end: bool) -> Self {
        let Some(line_end) = bytes.iter().position(|byte| *byte == b'\n') else { return Self::Incomplete };
        let (line, rest) = (&bytes[..line_end], &bytes[line_end + 1..]);
        let (line, head) = (line.strip_suffix(b"\r").unwrap_or(line), line_end + 1);
        match line {
            b"+-1" => match dot_terminated(rest) {
                Some((content, taken)) => Self::Complete(content, head + taken),
                None => Self::Incomplete,
            },
            b"+-2" if is_end => Self::Complete(rest.to_vec(), bytes.len()),
            b"+-2" => Self::Incomplete,
            _ => match length(line) {
                Some(length) if rest.len() >= length => {
                    Self::Complete(rest[..length].to_vec(), head + length)
                }
                Some(_) => Self::Incomplete,
                None => Self::Invalid(format!("{} begins no data", line.escape_ascii())),
            },
        }
    }
}

fn length(line: &[u8]) -> Option<usize> {
    let digits = line.strip_prefix(b"+")?;
    let is_number = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
    std::str::from_utf8(digits).ok().filter(|_| is_number)?.parse().ok()
}

/// Returns the lines before the terminating dot, and how many bytes they take. UMN servers leave doubled dots as they are.
fn dot_terminated(bytes: &[u8]) -> Option<(Vec<u8>, usize)> {
    let (mut content, mut taken) = (Vec::new(), 0);
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        taken += line.len();
        if line == b".\r\n" || line == b".\n" {
            return Some((content, taken));
        }
        content.extend_from_slice(line);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> (String, Option<String>, Option<String>, bool) {
        let request = Request::parse(line.as_bytes(), true, |selector| selector == b"/search");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (text(request.selector), request.search.map(text), request.plus.map(text), request.has_data)
    }

    #[test]
    fn line_is_split_into_selector_search_and_plus() {
        let cases = [
            ("", "", None, None, false),
            ("/a", "/a", None, None, false),
            ("/a\tb c", "/a", Some("b c"), None, false),
            ("/a\t", "/a", Some(""), None, false),
            ("/a\t+", "/a", None, Some("+"), false),
            ("/a\t+text/plain En_US", "/a", None, Some("+text/plain En_US"), false),
            ("/a\t!+ASK", "/a", None, Some("!+ASK"), false),
            ("/a\t+\t1", "/a", None, Some("+"), true),
            ("/a\t+\t0", "/a", None, Some("+"), false),
            ("/search\t+x", "/search", Some("+x"), None, false),
            ("/search\t!", "/search", None, Some("!"), false),
            ("/search\tx\t+\t1", "/search", Some("x"), Some("+"), true),
            ("/search\t\t$", "/search", Some(""), Some("$"), false),
        ];
        for (line, selector, search, plus, has_data) in cases {
            let owned = |text: Option<&str>| text.map(str::to_owned);
            assert_eq!(parsed(line), (selector.to_owned(), owned(search), owned(plus), has_data), "{line}");
        }
        let plain = Request::parse(b"/a\t+\t1", false, |_| false);
        assert_eq!((plain.search, plain.plus, plain.has_data), (Some(b"+".as_slice()), None, false));
    }

    #[test]
    fn data_block_is_complete_incomplete_or_invalid() {
        let complete = |content: &str, taken| DataBlock::Complete(content.into(), taken);
        let cases = [
            ("+-1\r\na\r\n..b\r\n.\r\nmore", false, complete("a\r\n..b\r\n", 16)),
            ("+-1\r\n.\r\n", false, complete("", 8)),
            ("+-1\r\na\r\n.", false, DataBlock::Incomplete),
            ("+-1", false, DataBlock::Incomplete),
            ("+3\r\nabcd", false, complete("abc", 7)),
            ("+3\r\nab", false, DataBlock::Incomplete),
            ("+-2\r\nab", false, DataBlock::Incomplete),
            ("+-2\r\nab", true, complete("ab", 7)),
            ("3\r\nabc", false, DataBlock::Invalid("3 begins no data".to_owned())),
            ("++3\r\nabc", false, DataBlock::Invalid("++3 begins no data".to_owned())),
        ];
        for (bytes, is_end, expected) in cases {
            assert_eq!(DataBlock::parse(bytes.as_bytes(), is_end), expected, "{bytes:?}");
        }
    }
}
