//! What is known of an object (`-I`): the header of an article, the numbers of a group.

use fetch_url_proto::nntp::date_seconds;
use fetch_url_proto::{Event, Step};

use super::io::meta;
use super::line::{Line, disagree};
use super::plan::{Errand, NntpPlan};
use super::refusal;
use crate::{Code, Content, Ctx, Error, Outcome, Phase, Response};

/// So much of a header is read.
const HEADER_OCTETS: usize = 256 * 1024;

/// Reads the answer to its end.
pub(super) async fn read(mut line: Line, plan: NntpPlan, ctx: Ctx) -> Result<Outcome, Error> {
    let (mut header, mut groups) = (Vec::new(), 0_u64);
    loop {
        match ctx.deadline.bound(Phase::Reply, line.pump.step()).await? {
            Step::Emit(Event::Body(octets)) => header.extend_from_slice(&octets),
            Step::Emit(Event::Entry(_)) => groups += 1,
            Step::Emit(Event::Refused(refused)) => return Err(refusal::error(&refused, &plan, &ctx)),
            Step::Done => break,
            _ => return Err(disagree()),
        }
        if header.len() > HEADER_OCTETS {
            return Err(Error::new(Code::LimitReached, Phase::Reply, "the length of a header"));
        }
        ctx.deadline.check()?;
    }
    let mut meta = meta(&plan);
    match &plan.errand {
        Errand::Article(_) => {
            meta.fields = fields(&header);
            let date = meta.fields.iter().find(|(name, _)| name.eq_ignore_ascii_case("date"));
            meta.head.modified = date.and_then(|(_, value)| date_seconds(value));
        }
        Errand::Groups(_) => meta.fields.push(("Groups".to_owned(), groups.to_string().into())),
        Errand::Articles(..) | Errand::Group(..) => {
            if let Some(group) = line.pump.machine().selected() {
                let numbers = [("Articles", group.count), ("First", group.low), ("Last", group.high)];
                meta.fields
                    .extend(numbers.map(|(name, number)| (name.to_owned(), number.to_string().into())));
            }
        }
    }
    line.wait(&plan, &ctx);
    Ok(Outcome::Answer(Response::new(meta, Content::Head)))
}

/// The fields of a header; a folded one is one line (RFC 5322 §2.2.3).
fn fields(header: &[u8]) -> Vec<(String, Vec<u8>)> {
    let mut fields: Vec<(String, Vec<u8>)> = Vec::new();
    for line in header.split(|octet| *octet == b'\n') {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.is_empty() {
            break;
        }
        if let (Some(b' ' | b'\t'), Some((_, value))) = (line.first(), fields.last_mut()) {
            value.push(b' ');
            value.extend_from_slice(line.trim_ascii_start());
            continue;
        }
        let at = line.iter().position(|octet| *octet == b':').unwrap_or(line.len());
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
    fn fields_of_a_header() {
        let read =
            fields(b"From: a@b\r\nSubject: one\r\n two\r\n\tthree\r\nodd line\r\nX:\r\n\r\nBody: no\r\n");
        let expected = [("From", "a@b"), ("Subject", "one two three"), ("odd line", ""), ("X", "")];
        let expected = expected.map(|(name, value)| (name.to_owned(), value.as_bytes().to_vec()));
        assert_eq!(read, expected);
    }
}
