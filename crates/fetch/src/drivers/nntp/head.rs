//! Metadata without the object: the header of an article, the article numbers of a group.

use fetch_url_proto::nntp::parse_article_date;
use fetch_url_proto::{Event, Step};

use super::active_request::ActiveRequest;
use super::connection::{NntpConnection, unexpected_step_error};
use super::plan::NewsOperation;
use super::rejection::rejection_error;
use super::response::response_meta;
use crate::tree::content_id_of;
use crate::{Code, Content, Error, Outcome, Phase, Response};

/// Maximum size of the header of an article in bytes.
const MAX_HEADER_BYTES: usize = 256 * 1024;

/// Reads the response to its end and returns it as header fields.
pub(super) async fn read_head(
    mut connection: NntpConnection,
    request: &ActiveRequest,
) -> Result<Outcome, Error> {
    let ActiveRequest { plan, ctx, .. } = request;
    let named_id = connection.session().message_id().and_then(content_id_of);
    let (mut header, mut groups) = (Vec::new(), 0_u64);
    loop {
        match ctx.deadline.bound(Phase::Reply, connection.step()).await? {
            Step::Emit(Event::Body(chunk)) => header.extend_from_slice(&chunk),
            Step::Emit(Event::Entry(_)) => groups += 1,
            Step::Emit(Event::Rejected(rejection)) => return Err(rejection_error(&rejection, request)),
            Step::Done => break,
            _ => return Err(unexpected_step_error()),
        }
        if header.len() > MAX_HEADER_BYTES {
            let detail = format!("the header of the article has more than {MAX_HEADER_BYTES} bytes");
            return Err(Error::new(Code::LimitReached, Phase::Reply, detail));
        }
        ctx.deadline.check()?;
    }
    let mut meta = response_meta(plan);
    match &plan.operation {
        NewsOperation::Article(_) => {
            meta.fields = parse_header_fields(&header).into_iter().collect();
            let date = meta.fields.iter().find(|(name, _)| name.eq_ignore_ascii_case("date"));
            meta.head.modified = date.and_then(|(_, value)| parse_article_date(value));
            let id = meta.fields.iter().find(|(name, _)| name.eq_ignore_ascii_case("message-id"));
            meta.content_id = named_id.or_else(|| content_id_of(id.map_or(b"", |(_, value)| value)));
        }
        NewsOperation::ListGroups(_) => {
            meta.fields.push(("Groups".to_owned(), groups.to_string().into()));
        }
        NewsOperation::ArticleRange(..) | NewsOperation::ListArticles(..) => {
            if let Some(group) = connection.session().selected() {
                let numbers = [("Articles", group.count), ("First", group.low), ("Last", group.high)];
                let fields = numbers.map(|(name, number)| (name.to_owned(), number.to_string().into()));
                meta.fields.extend(fields);
            }
        }
    }
    request.keep(connection);
    Ok(Outcome::Response(Response::new(meta, Content::Head)))
}

/// Parses header fields; folded lines are joined (RFC 5322 §2.2.3).
fn parse_header_fields(header: &[u8]) -> Vec<(String, Vec<u8>)> {
    let mut fields: Vec<(String, Vec<u8>)> = Vec::new();
    for line in header.split(|byte| *byte == b'\n') {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.is_empty() {
            break;
        }
        if let (Some(b' ' | b'\t'), Some((_, value))) = (line.first(), fields.last_mut()) {
            value.push(b' ');
            value.extend_from_slice(line.trim_ascii_start());
            continue;
        }
        let at = line.iter().position(|byte| *byte == b':').unwrap_or(line.len());
        let (name, value) = line.split_at(at);
        let value = value.strip_prefix(b":").unwrap_or(value).trim_ascii();
        fields.push((String::from_utf8_lossy(name).into_owned(), value.to_vec()));
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn header_fields_are_unfolded_and_end_at_the_empty_line() {
        let fields = parse_header_fields(
            b"From: a@b\r\nSubject: one\r\n two\r\n\tthree\r\nodd line\r\nX:\r\n\r\nBody: no\r\n",
        );
        let expected = [("From", "a@b"), ("Subject", "one two three"), ("odd line", ""), ("X", "")];
        let expected = expected.map(|(name, value)| (name.to_owned(), value.as_bytes().to_vec()));
        assert_eq!(fields, expected);
    }
}
