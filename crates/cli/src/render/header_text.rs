//! Decodes header fields of articles.

use mail_parser::MessageParser;

/// Returns the name of the first author in a From field, or else the address.
pub(super) fn author(from: &[u8]) -> Option<String> {
    let header = [b"From: ", from, b"\r\n\r\n"].concat();
    let message = MessageParser::default().parse_headers(&header)?;
    let address = message.from()?.first()?;
    address.name().or_else(|| address.address()).map(str::to_owned)
}

/// Returns a Subject field with its encoded words (RFC 2047) decoded.
pub(super) fn subject(value: &[u8]) -> Option<String> {
    let header = [b"Subject: ", value, b"\r\n\r\n"].concat();
    MessageParser::default().parse_headers(&header)?.subject().map(str::to_owned)
}
