//! Lines and tokens of Prospero's text, as dirsrv writes and reads them.

/// A quote begins at the first of these.
const SPECIAL: &[u8] = b" \t\x0c\x0b\n\r/'+,";

/// A line of a request.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Line<'a> {
    pub(crate) raw: &'a [u8],
    pub(crate) tokens: Vec<Vec<u8>>,
}

/// Why a request cannot be read any further.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Unreadable {
    /// A line of nothing, or a CR outside quotes.
    EmptyLine,
    /// The text ends inside a quote.
    OpenQuote,
}

/// A token with the quotes that it needs: from its first special octet to its end.
pub(crate) fn quoted(token: &[u8]) -> Vec<u8> {
    let at = token.iter().position(|octet| SPECIAL.contains(octet)).unwrap_or(token.len());
    if at == token.len() && at > 0 {
        return token.to_vec();
    }
    let mut octets = token[..at].to_vec();
    octets.push(b'\'');
    for octet in &token[at..] {
        octets.extend(std::iter::repeat_n(*octet, if *octet == b'\'' { 2 } else { 1 }));
    }
    octets.push(b'\'');
    octets
}

/// Tokens with a blank between each two.
pub(crate) fn joined<'a>(tokens: impl IntoIterator<Item = &'a [u8]>) -> Vec<u8> {
    tokens.into_iter().map(quoted).collect::<Vec<_>>().join(b" ".as_slice())
}

/// Takes the next line off the text; none when there is no more.
pub(crate) fn next_line<'a>(text: &mut &'a [u8]) -> Option<Result<Line<'a>, Unreadable>> {
    let whole = *text;
    let end = line_end(whole);
    let raw = &whole[..end.at];
    *text = whole.get(end.at + 1..).unwrap_or_default();
    if whole.is_empty() {
        return None;
    }
    if end.is_quoted {
        return Some(Err(Unreadable::OpenQuote));
    }
    let tokens = split(raw);
    let is_empty = tokens.is_empty() || end.has_return;
    Some(if is_empty { Err(Unreadable::EmptyLine) } else { Ok(Line { raw, tokens }) })
}

/// Where the first line ends.
struct LineEnd {
    at: usize,
    /// It is the end of the text, inside a quote.
    is_quoted: bool,
    /// A CR stands before it, outside quotes.
    has_return: bool,
}

fn line_end(text: &[u8]) -> LineEnd {
    let (mut is_quoted, mut has_return) = (false, false);
    for (at, octet) in text.iter().enumerate() {
        match octet {
            b'\'' => is_quoted = !is_quoted,
            b'\r' if !is_quoted => has_return = true,
            b'\n' if !is_quoted => return LineEnd { at, is_quoted, has_return },
            _ => {}
        }
    }
    LineEnd { at: text.len(), is_quoted, has_return }
}

/// The lines of a text with their ends, however it is quoted.
pub(crate) fn lines(mut text: &[u8]) -> Vec<&[u8]> {
    let mut lines = Vec::new();
    while !text.is_empty() {
        let (line, rest) = text.split_at((line_end(text).at + 1).min(text.len()));
        lines.push(line);
        text = rest;
    }
    lines
}

/// The tokens of a line in which every quote is closed.
fn split(line: &[u8]) -> Vec<Vec<u8>> {
    let mut tokens = Vec::new();
    let mut token: Option<Vec<u8>> = None;
    let mut is_quoted = false;
    let mut octets = line.iter().copied().peekable();
    while let Some(octet) = octets.next() {
        match octet {
            b' ' | b'\t' if !is_quoted => tokens.extend(token.take()),
            b'\'' if is_quoted && octets.next_if_eq(&b'\'').is_some() => {
                token.get_or_insert_default().push(octet)
            }
            b'\'' => {
                is_quoted = !is_quoted;
                token.get_or_insert_default();
            }
            _ => token.get_or_insert_default().push(octet),
        }
    }
    tokens.extend(token);
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quote_begins_in_mid_token() {
        let rows: [(&[u8], &[u8]); 9] = [
            (b"", b"''"),
            (b"dir", b"dir"),
            (b"26 bytes", b"26' bytes'"),
            (b"/srv/pub", b"'/srv/pub'"),
            (b"AFTP/anon.txt", b"AFTP'/anon.txt'"),
            (b"it's a file.txt", b"it'''s a file.txt'"),
            (b"g.test(70)", b"g.test(70)"),
            (b"#/EDU/X", b"#'/EDU/X'"),
            (b"a\0b'c d\n\r\n\xff/+,end", b"a\0b'''c d\n\r\n\xff/+,end'"),
        ];
        for (token, written) in rows {
            assert_eq!(quoted(token).escape_ascii().to_string(), written.escape_ascii().to_string());
            assert_eq!(split(written), [token]);
        }
        assert_eq!(joined([b"a".as_slice(), b"", b"b c"]), b"a '' b' c'");
    }

    #[test]
    fn lines_end_outside_quotes() {
        let mut text = b"LINK  L\t'a\nb' x\nEND".as_slice();
        let tokens: Vec<_> =
            std::iter::from_fn(|| next_line(&mut text)).map(|line| line.unwrap().tokens).collect();
        assert_eq!(
            tokens,
            [vec![b"LINK".to_vec(), b"L".to_vec(), b"a\nb".to_vec(), b"x".to_vec()], vec![b"END".to_vec()]]
        );
        assert_eq!(lines(b"a 'b\nc'\n\nd"), [b"a 'b\nc'\n".as_slice(), b"\n", b"d"]);
    }

    #[test]
    fn what_cannot_be_read_is_told() {
        let rows: [(&[u8], Unreadable); 5] = [
            (b"\n", Unreadable::EmptyLine),
            (b" \t\nVERSION\n", Unreadable::EmptyLine),
            (b"VERSION\r\n", Unreadable::EmptyLine),
            (b"a 'b\n", Unreadable::OpenQuote),
            (b"a '''\n", Unreadable::OpenQuote),
        ];
        for (text, why) in rows {
            assert_eq!(next_line(&mut &*text), Some(Err(why)), "{}", text.escape_ascii());
        }
        assert_eq!(next_line(&mut b"'\r\n'".as_slice()).unwrap().unwrap().tokens, [b"\r\n"]);
    }
}
