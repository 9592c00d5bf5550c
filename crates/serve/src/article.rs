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
use crate::request_target::AskedUrl;
use crate::security_headers::Author;

/// The maximum size of an article that is shown as a page, in bytes. Larger ones have their source only.
const MAX_ARTICLE: usize = 8 * 1024 * 1024;

/// Returns the charset that the header at the beginning of an article states for its text.
pub(crate) fn article_charset(beginning: &[u8]) -> Option<String> {
    let header = MessageParser::default().parse_headers(beginning)?;
    let charset = header.content_type()?.attribute("charset")?.to_ascii_lowercase();
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.:".contains(&byte);
    (!charset.is_empty() && charset.len() < 40 && charset.bytes().all(is_name)).then_some(charset)
}

/// Returns the page of the article in `body`, or the attachment that `asked` names.
pub(crate) async fn article_answer(
    asked: &AskedUrl,
    url: &Url<'static>,
    body: Body,
) -> Result<Answer, Error> {
    let article = body.collect(MAX_ARTICLE).await?;
    let message = MessageParser::default().parse(&article);
    let Some(message) = message else {
        let detail = "the article has no header";
        return Err(Error::new(Code::PeerMisbehaved, Phase::Body, detail));
    };
    let Some(part) = asked.field("part") else {
        return Ok(Answer::page(StatusCode::OK, article_page(asked.form, url, &message)));
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
    let mut answer = Answer::new(StatusCode::OK, Author::Foreign).with(CONTENT_TYPE, &media_type);
    if !is_shown(&media_type) {
        answer = answer.with(CONTENT_DISPOSITION, &attachment(&name));
    }
    answer.content = AnswerContent::Whole(Bytes::copy_from_slice(part.contents()));
    Ok(answer)
}
