//! The lists of a news server: LIST, LISTGROUP, OVER and HDR (RFC 3977 §6.1.2, §7.6, §8).

use std::ops::RangeInclusive;

use crate::nntp::desk::Desk;
use crate::nntp::group::NntpGroup;
use crate::nntp::reply::Reply;
use crate::nntp::wildmat::wildmat;

/// So many made groups, or lines of an overview, go into one piece.
const PIECE: usize = 256;
/// What each line of an overview has behind its number.
const FIELDS: &str = "Subject:\r\nFrom:\r\nDate:\r\nMessage-ID:\r\nReferences:\r\n:bytes\r\n:lines\r\n";

impl<'a> Desk<'a> {
    pub(crate) fn list(&self, arguments: &[&[u8]]) -> Reply<'a> {
        let keyword = arguments.first().map_or(b"ACTIVE".to_vec(), |word| word.to_ascii_uppercase());
        let pattern = arguments.get(1).map_or(b"*".to_vec(), |pattern| pattern.to_vec());
        let once = |text: &str| std::iter::once(text.as_bytes().to_vec());
        match keyword.as_slice() {
            b"ACTIVE" => self.active(pattern),
            b"NEWSGROUPS" => self.descriptions(pattern),
            b"OVERVIEW.FMT" => Reply::line("215 Order of fields in overview database").with(once(FIELDS)),
            b"HEADERS" if !self.is_sn() => {
                Reply::line("215 Headers and metadata items supported").with(once(":\r\n"))
            }
            _ => self.unknown_list(),
        }
    }

    pub(crate) fn unknown_list(&self) -> Reply<'a> {
        Reply::line(if self.is_sn() {
            "503 LIST command not implemented"
        } else {
            "501 Unknown LIST keyword"
        })
    }

    fn active(&self, pattern: Vec<u8>) -> Reply<'a> {
        let low = self.low_of_empty();
        let groups: Vec<&NntpGroup> = self.listed(&pattern).collect();
        let lines = groups.into_iter().map(move |group| group.active(low));
        let status = if self.is_sn() {
            "215 list follows"
        } else {
            "215 Newsgroups in form \"group high low status\""
        };
        Reply::line(status).with(lines.chain(crowd(self.site.crowd, pattern)))
    }

    fn descriptions(&self, pattern: Vec<u8>) -> Reply<'a> {
        let groups: Vec<&NntpGroup> = self.listed(&pattern).collect();
        let lines = groups.into_iter().map(NntpGroup::described);
        Reply::line("215 Newsgroup descriptions in form \"group description\"").with(lines)
    }

    /// The groups that this client may see and that match.
    fn listed(&self, pattern: &[u8]) -> impl Iterator<Item = &'a NntpGroup> {
        let groups = self.site.groups.iter().filter(|group| self.may_read(group));
        groups.filter(move |group| wildmat(pattern, group.name()))
    }

    pub(crate) fn list_group(&mut self, arguments: &[&[u8]]) -> Reply<'a> {
        let current = self.group.map(|group| group.name().to_vec());
        let Some(name) = arguments.first().map(|name| name.to_vec()).or(current) else {
            return Reply::line("412 Not in a newsgroup");
        };
        let Some(range) = arguments.get(1).map_or(Some(0..=u64::MAX), |range| range_of(range)) else {
            return Reply::line("501 Syntax error in range");
        };
        let reply = match self.enter(&name, true) {
            Ok(reply) => reply,
            Err(refusal) => return refusal,
        };
        let range = if self.is_sn() { 0..=u64::MAX } else { range };
        let numbers = self.group.into_iter().flat_map(move |group| group.numbers(range.clone()));
        reply.with(numbers.map(|number| format!("{number}\r\n").into_bytes()))
    }

    /// OVER and XOVER.
    pub(crate) fn overview(&mut self, verb: &str, argument: Option<&[u8]>) -> Reply<'a> {
        let status = match argument {
            Some(range) if !self.is_sn() => {
                format!("224 Overview information for {} follows", String::from_utf8_lossy(range))
            }
            _ => "224 Overview information follows".to_owned(),
        };
        let is_known = verb == "OVER" && self.site.manners.over_by_id;
        match self.many(verb, argument, is_known) {
            Ok(Many::One(number, group)) => Reply::line(status)
                .with(group.at(number).into_iter().map(move |article| article.overview(number))),
            Ok(Many::Found(line)) => Reply::line(status).with(std::iter::once(line.overview(0))),
            Ok(Many::Range(range, group)) => Reply::line(status).with(overviews(group, range)),
            Err(reply) => reply,
        }
    }

    /// HDR and XHDR.
    pub(crate) fn headers(&mut self, verb: &str, name: &[u8], argument: Option<&[u8]>) -> Reply<'a> {
        let name = String::from_utf8_lossy(name).into_owned();
        let code = if verb == "HDR" { 225 } else { 221 };
        let status = format!("{code} Header or metadata information for {name} follows");
        let line = |number: u64, value: Vec<u8>| [format!("{number} ").as_bytes(), &value, b"\r\n"].concat();
        match self.many(verb, argument, true) {
            Ok(Many::One(number, group)) => {
                let article = group.at(number).into_iter();
                Reply::line(status).with(article.map(move |article| line(number, article.field(&name))))
            }
            Ok(Many::Found(article)) => {
                Reply::line(status).with(std::iter::once(line(0, article.field(&name))))
            }
            Ok(Many::Range(range, group)) => {
                let lines = group.numbers(range).filter_map(move |number| {
                    group.at(number).map(|article| line(number, article.field(&name)))
                });
                Reply::line(status).with(lines)
            }
            Err(reply) => reply,
        }
    }

    /// The articles that a range, a message-id or nothing means.
    fn many(
        &mut self,
        verb: &str,
        argument: Option<&[u8]>,
        is_id_known: bool,
    ) -> Result<Many<'a>, Reply<'a>> {
        match argument {
            Some(id) if id.starts_with(b"<") && !is_id_known => {
                return Err(Reply::line("503 Overview by Message-ID unsupported"));
            }
            Some(id) if id.starts_with(b"<") => {
                return self.find(Some(id)).map(|found| Many::Found(found.article.into_owned()));
            }
            _ => {}
        }
        let Some(group) = self.group else { return Err(Reply::line("412 Not in a newsgroup")) };
        let Some(argument) = argument else {
            return self.find(None).map(|found| Many::One(found.number, group));
        };
        let range = range_of(argument).ok_or_else(|| Reply::line("501 Syntax error in range"))?;
        if !self.is_sn() && group.numbers(range.clone()).next().is_none() {
            let code = if verb.starts_with('X') { 420 } else { 423 };
            return Err(Reply::line(format!("{code} No articles in {}", String::from_utf8_lossy(argument))));
        }
        Ok(Many::Range(range, group))
    }
}

/// What OVER and HDR are about.
enum Many<'a> {
    /// By message-id.
    Found(crate::nntp::article::NntpArticle),
    /// The current article.
    One(u64, &'a NntpGroup),
    Range(RangeInclusive<u64>, &'a NntpGroup),
}

/// The overview of a range, some lines at a time.
fn overviews(group: &NntpGroup, range: RangeInclusive<u64>) -> impl Iterator<Item = Vec<u8>> + '_ {
    let mut numbers = group.numbers(range);
    std::iter::from_fn(move || {
        let some = numbers.by_ref().take(PIECE);
        let lines: Vec<Vec<u8>> =
            some.filter_map(|number| group.at(number).map(|article| article.overview(number))).collect();
        (!lines.is_empty()).then(|| lines.concat())
    })
}

/// Groups that nobody named.
fn crowd(count: u64, pattern: Vec<u8>) -> impl Iterator<Item = Vec<u8>> {
    let is_all = pattern == b"*";
    (0..count).step_by(PIECE).map(move |first| {
        let mut lines = Vec::new();
        for number in first..count.min(first + PIECE as u64) {
            let name = format!("crowd.g{number:07}");
            if is_all || wildmat(&pattern, name.as_bytes()) {
                lines.extend_from_slice(name.as_bytes());
                lines.extend_from_slice(b" 0000000000 0000000001 y\r\n");
            }
        }
        lines
    })
}

/// `7`, `7-` or `7-9` (RFC 3977 §8).
fn range_of(text: &[u8]) -> Option<RangeInclusive<u64>> {
    let text = std::str::from_utf8(text).ok()?;
    match text.split_once('-') {
        None => text.parse().ok().map(|number: u64| number..=number),
        Some((first, "")) => Some(first.parse().ok()?..=u64::MAX),
        Some((first, last)) => Some(first.parse().ok()?..=last.parse().ok()?),
    }
}
