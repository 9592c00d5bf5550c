//! A news article as an answer: its page, or one of its attachments.

use bytes::Bytes;
use fetch_url::{Body, Code, Error, Phase, Url};
use http::StatusCode;
use http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use mail_parser::{MessageParser, MimeHeaders as _};

use crate::answer::Answer;
use crate::answer_body::AnswerContent;
use crate::disposition::attachment;
use crate::media_type::{BINARY, is_shown};
use crate::pages::article::article_page;
use crate::request_target::RequestedUrl;
use crate::security_headers::ContentOrigin;

/// The maximum size of an article that is shown as a page, in bytes. Larger ones have their source only.
const MAX_ARTICLE: usize = 8 * 1024 * 1024;

/// The maximum number of lines that may begin a part, and of fields that state its type. The parser needs hundreds of
/// bytes for each part.
const MAX_PARTS: usize = 10_000;
/// The maximum size of the header of an article that is shown as a page, in bytes.
const MAX_HEADER: usize = 64 * 1024;

/// Returns the charset that the header at the beginning of an article states for its text.
pub(crate) fn article_charset(beginning: &[u8]) -> Option<String> {
    let header = MessageParser::default().parse_headers(beginning)?;
    let charset = header.content_type()?.attribute("charset")?.to_ascii_lowercase();
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.:".contains(&byte);
    (!charset.is_empty() && charset.len() < 40 && charset.bytes().all(is_name)).then_some(charset)
}

/// Returns the page of the article in `body`, or the attachment that `requested` names.
pub(crate) async fn article_answer(
    requested: &RequestedUrl,
    url: &Url<'static>,
    body: Body,
) -> Result<Answer, Error> {
    let article = body.collect(MAX_ARTICLE).await?;
    check_complexity(&article)?;
    let message = MessageParser::default().parse(&article);
    let Some(message) = message else {
        let detail = "the article has no header";
        return Err(Error::new(Code::PeerMisbehaved, Phase::Body, detail));
    };
    let Some(part) = requested.field("part") else {
        return Ok(Answer::page(StatusCode::OK, article_page(requested.form, url, &message)));
    };
    let number = part.parse().ok();
    let part = number
        .and_then(|number| message.attachment(number))
        .ok_or_else(|| Error::new(Code::NotFound, Phase::Request, "the article has no such attachment"))?;
    let media_type = part.content_type().map(|kind| match kind.subtype() {
        Some(subtype) => format!("{}/{subtype}", kind.ctype()).to_ascii_lowercase(),
        None => BINARY.to_owned(),
    });
    let media_type = media_type.unwrap_or_else(|| BINARY.to_owned());
    let name = part.attachment_name().and_then(|name| fetch_url::output::safe_name(name.as_bytes()));
    let name = name.unwrap_or_else(|| "attachment".to_owned());
    let mut answer = Answer::new(StatusCode::OK, ContentOrigin::Sandboxed).with(CONTENT_TYPE, &media_type);
    if !is_shown(&media_type) {
        answer = answer.with(CONTENT_DISPOSITION, &attachment(&name));
    }
    answer.content = AnswerContent::Whole(Bytes::copy_from_slice(part.contents()));
    Ok(answer)
}

/// Checks that the page of `article` needs no more memory than an article counts ([`crate::memory`]).
fn check_complexity(article: &[u8]) -> Result<(), Error> {
    let (mut position, mut header, mut parts) = (0, None, 0);
    for line in article.split_inclusive(|byte| *byte == b'\n') {
        if header.is_none() && line.trim_ascii_end().is_empty() {
            header = Some(position);
        }
        position += line.len();
        let is_type = line.get(..13).is_some_and(|name| name.eq_ignore_ascii_case(b"content-type:"));
        parts += usize::from(is_type || line.starts_with(b"--"));
    }
    if parts <= MAX_PARTS && header.unwrap_or(position) <= MAX_HEADER {
        return Ok(());
    }
    let detail = "the article has too many parts or header fields for a page";
    let hint = "?fetch-url-source=1 after the URL shows its source";
    Err(Error::new(Code::LimitReached, Phase::Body, detail).with_hint(hint))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn article_with_too_many_parts_or_fields_is_no_page() {
        let header = "Subject: s\r\n";
        for (text, is_page) in [
            (format!("{header}\r\n{}", "-- \r\n".repeat(MAX_PARTS)), true),
            (format!("{header}\r\n{}", "--b\r\n\r\n".repeat(MAX_PARTS + 1)), false),
            (format!("{header}\r\n{}", "content-TYPE: message/rfc822\n\n".repeat(MAX_PARTS + 1)), false),
            (format!("{}\r\n", "a:\r\n".repeat(MAX_HEADER / 4)), true),
            (format!("{}\r\n", "a:\r\n".repeat(MAX_HEADER / 4 + 1)), false),
            ("a:\n".repeat(MAX_HEADER), false),
        ] {
            assert_eq!(check_complexity(text.as_bytes()).is_ok(), is_page, "{}", text.len());
        }
    }
}
