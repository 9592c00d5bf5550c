//! A gopher request as octets: the line, its fields, and the data block that Gopher+ may send after it.

/// A request line, taken apart.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Request<'a> {
    pub(crate) selector: &'a [u8],
    pub(crate) search: Option<&'a [u8]>,
    /// With its first character.
    pub(crate) plus: Option<&'a [u8]>,
    /// Whether a data block follows.
    pub(crate) has_data: bool,
}

impl<'a> Request<'a> {
    /// Takes a line without its end apart. `searches` tells whether the item of a selector is searched.
    pub(crate) fn parse(line: &'a [u8], knows_plus: bool, searches: impl Fn(&[u8]) -> bool) -> Self {
        let mut fields = line.split(|octet| *octet == b'\t');
        let selector = fields.next().unwrap_or_default();
        let (first, second, third) = (fields.next(), fields.next(), fields.next());
        let plain = Self { selector, search: first, ..Self::default() };
        let Some(first) = first.filter(|_| knows_plus) else { return plain };
        if let Some(plus) = second.filter(|second| is_plus(second)) {
            return Self { plus: Some(plus), has_data: third == Some(b"1"), ..plain };
        }
        // A search may begin with a plus as well.
        if !is_plus(first) || first.starts_with(b"+") && searches(selector) {
            return plain;
        }
        Self { selector, search: None, plus: Some(first), has_data: second == Some(b"1") }
    }
}

fn is_plus(field: &[u8]) -> bool {
    matches!(field.first(), Some(b'+' | b'!' | b'$'))
}

/// What was received of a data block.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Block {
    /// This is not one.
    Broken(String),
    /// More is to come, unless the client said its end.
    More,
    /// All of it: the content, and how many octets it took.
    Whole(Vec<u8>, usize),
}

impl Block {
    /// `+-1`, lines and a lone dot; `+-2` to the end; or `+N` and N octets.
    pub(crate) fn parse(octets: &[u8], is_end: bool) -> Self {
        let Some(line_end) = octets.iter().position(|octet| *octet == b'\n') else { return Self::More };
        let (line, rest) = (&octets[..line_end], &octets[line_end + 1..]);
        let (line, head) = (line.strip_suffix(b"\r").unwrap_or(line), line_end + 1);
        match line {
            b"+-1" => match dotted(rest) {
                Some((content, taken)) => Self::Whole(content, head + taken),
                None => Self::More,
            },
            b"+-2" if is_end => Self::Whole(rest.to_vec(), octets.len()),
            b"+-2" => Self::More,
            _ => match length(line) {
                Some(length) if rest.len() >= length => Self::Whole(rest[..length].to_vec(), head + length),
                Some(_) => Self::More,
                None => Self::Broken(format!("{} begins no data", line.escape_ascii())),
            },
        }
    }
}

fn length(line: &[u8]) -> Option<usize> {
    let digits = line.strip_prefix(b"+")?;
    let is_number = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
    std::str::from_utf8(digits).ok().filter(|_| is_number)?.parse().ok()
}

/// The lines before a lone dot, without the dots that were put before dots; and how much that took.
fn dotted(octets: &[u8]) -> Option<(Vec<u8>, usize)> {
    let (mut content, mut taken) = (Vec::new(), 0);
    for line in octets.split_inclusive(|octet| *octet == b'\n') {
        taken += line.len();
        if line == b".\r\n" || line == b".\n" {
            return Some((content, taken));
        }
        content.extend_from_slice(if line.starts_with(b"..") { &line[1..] } else { line });
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> (String, Option<String>, Option<String>, bool) {
        let request = Request::parse(line.as_bytes(), true, |selector| selector == b"/search");
        let text = |octets: &[u8]| String::from_utf8_lossy(octets).into_owned();
        (text(request.selector), request.search.map(text), request.plus.map(text), request.has_data)
    }

    #[test]
    fn lines_are_taken_apart() {
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
    fn blocks_are_whole_or_not_yet_or_never() {
        let whole = |content: &str, taken| Block::Whole(content.into(), taken);
        let cases = [
            ("+-1\r\na\r\n..b\r\n.\r\nmore", false, whole("a\r\n.b\r\n", 16)),
            ("+-1\r\n.\r\n", false, whole("", 8)),
            ("+-1\r\na\r\n.", false, Block::More),
            ("+-1", false, Block::More),
            ("+3\r\nabcd", false, whole("abc", 7)),
            ("+3\r\nab", false, Block::More),
            ("+-2\r\nab", false, Block::More),
            ("+-2\r\nab", true, whole("ab", 7)),
            ("3\r\nabc", false, Block::Broken("3 begins no data".to_owned())),
            ("++3\r\nabc", false, Block::Broken("++3 begins no data".to_owned())),
        ];
        for (octets, is_end, expected) in cases {
            assert_eq!(Block::parse(octets.as_bytes(), is_end), expected, "{octets:?}");
        }
    }
}
