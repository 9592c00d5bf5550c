//! Lines and tokens of Prospero's text, quoted and parsed as in dirsrv.

/// A token is quoted from the first of these bytes.
const SPECIAL: &[u8] = b" \t\x0c\x0b\n\r/'+,";

/// A line of a request.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct RequestLine<'a> {
    pub(crate) raw: &'a [u8],
    pub(crate) tokens: Vec<Vec<u8>>,
}

/// Why a line is invalid.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum LineError {
    /// The line is empty, or contains CR outside quotes.
    EmptyLine,
    /// The text ends inside a quote.
    OpenQuote,
}

/// Quotes a token from its first special byte to its end.
pub(crate) fn quote(token: &[u8]) -> Vec<u8> {
    let at = token.iter().position(|byte| SPECIAL.contains(byte)).unwrap_or(token.len());
    if at == token.len() && at > 0 {
        return token.to_vec();
    }
    let mut bytes = token[..at].to_vec();
    bytes.push(b'\'');
    for byte in &token[at..] {
        bytes.extend(std::iter::repeat_n(*byte, if *byte == b'\'' { 2 } else { 1 }));
    }
    bytes.push(b'\'');
    bytes
}

/// Joins quoted tokens with spaces.
pub(crate) fn join_quoted<'a>(tokens: impl IntoIterator<Item = &'a [u8]>) -> Vec<u8> {
    tokens.into_iter().map(quote).collect::<Vec<_>>().join(b" ".as_slice())
}

/// Takes the next line from the text. Returns `None` at the end.
pub(crate) fn next_line<'a>(text: &mut &'a [u8]) -> Option<Result<RequestLine<'a>, LineError>> {
    let whole = *text;
    let end = line_end(whole);
    let raw = &whole[..end.at];
    *text = whole.get(end.at + 1..).unwrap_or_default();
    if whole.is_empty() {
        return None;
    }
    if end.is_quoted {
        return Some(Err(LineError::OpenQuote));
    }
    let tokens = parse_tokens(raw);
    let is_empty = tokens.is_empty() || end.has_return;
    Some(if is_empty { Err(LineError::EmptyLine) } else { Ok(RequestLine { raw, tokens }) })
}

/// The end of the first line.
struct LineEnd {
    at: usize,
    /// The text ends inside a quote.
    is_quoted: bool,
    /// The line contains CR outside quotes.
    has_return: bool,
}

fn line_end(text: &[u8]) -> LineEnd {
    let (mut is_quoted, mut has_return) = (false, false);
    for (at, byte) in text.iter().enumerate() {
        match byte {
            b'\'' => is_quoted = !is_quoted,
            b'\r' if !is_quoted => has_return = true,
            b'\n' if !is_quoted => return LineEnd { at, is_quoted, has_return },
            _ => {}
        }
    }
    LineEnd { at: text.len(), is_quoted, has_return }
}

/// Splits a text into lines, which keep their ends. LF inside quotes does not end a line.
pub(crate) fn lines(mut text: &[u8]) -> Vec<&[u8]> {
    let mut lines = Vec::new();
    while !text.is_empty() {
        let (line, rest) = text.split_at((line_end(text).at + 1).min(text.len()));
        lines.push(line);
        text = rest;
    }
    lines
}

/// Parses the tokens of a line in which every quote is closed.
fn parse_tokens(line: &[u8]) -> Vec<Vec<u8>> {
    let mut tokens = Vec::new();
    let mut token: Option<Vec<u8>> = None;
    let mut is_quoted = false;
    let mut bytes = line.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        match byte {
            b' ' | b'\t' if !is_quoted => tokens.extend(token.take()),
            b'\'' if is_quoted && bytes.next_if_eq(&b'\'').is_some() => {
                token.get_or_insert_default().push(byte)
            }
            b'\'' => {
                is_quoted = !is_quoted;
                token.get_or_insert_default();
            }
            _ => token.get_or_insert_default().push(byte),
        }
    }
    tokens.extend(token);
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn token_is_quoted_from_first_special_byte() {
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
            assert_eq!(quote(token).escape_ascii().to_string(), written.escape_ascii().to_string());
            assert_eq!(parse_tokens(written), [token]);
        }
        assert_eq!(join_quoted([b"a".as_slice(), b"", b"b c"]), b"a '' b' c'");
    }

    #[test]
    fn line_ends_outside_quotes() {
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
    fn invalid_lines_are_errors() {
        let rows: [(&[u8], LineError); 5] = [
            (b"\n", LineError::EmptyLine),
            (b" \t\nVERSION\n", LineError::EmptyLine),
            (b"VERSION\r\n", LineError::EmptyLine),
            (b"a 'b\n", LineError::OpenQuote),
            (b"a '''\n", LineError::OpenQuote),
        ];
        for (text, why) in rows {
            assert_eq!(next_line(&mut &*text), Some(Err(why)), "{}", text.escape_ascii());
        }
        assert_eq!(next_line(&mut b"'\r\n'".as_slice()).unwrap().unwrap().tokens, [b"\r\n"]);
    }
}
