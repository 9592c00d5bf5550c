//! The lists of the news server: LIST, LISTGROUP, OVER and HDR (RFC 3977 §6.1.2, §7.6, §8).

use std::ops::RangeInclusive;

use crate::nntp::article::NntpArticle;
use crate::nntp::group::NntpGroup;
use crate::nntp::reply::Reply;
use crate::nntp::session::Session;
use crate::nntp::wildmat::wildmat;

/// How many generated groups or overview lines go into one piece.
const LINES_PER_PIECE: usize = 256;
/// The fields of an overview line after the number.
const FIELDS: &str = "Subject:\r\nFrom:\r\nDate:\r\nMessage-ID:\r\nReferences:\r\n:bytes\r\n:lines\r\n";

impl<'a> Session<'a> {
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
        let low = self.low_number_of_empty_group();
        let groups: Vec<&NntpGroup> = self.matching_groups(&pattern).collect();
        let lines = groups.into_iter().map(move |group| group.active_line(low));
        let status = if self.is_sn() {
            "215 list follows"
        } else {
            "215 Newsgroups in form \"group high low status\""
        };
        Reply::line(status).with(lines.chain(generated_groups(self.config.generated_groups, pattern)))
    }

    fn descriptions(&self, pattern: Vec<u8>) -> Reply<'a> {
        let groups: Vec<&NntpGroup> = self.matching_groups(&pattern).collect();
        let lines = groups.into_iter().map(NntpGroup::newsgroups_line);
        Reply::line("215 Newsgroup descriptions in form \"group description\"").with(lines)
    }

    /// Returns the groups that match the pattern and that this client may read.
    fn matching_groups(&self, pattern: &[u8]) -> impl Iterator<Item = &'a NntpGroup> {
        let groups = self.config.groups.iter().filter(|group| self.may_read(group));
        groups.filter(move |group| wildmat(pattern, group.name()))
    }

    pub(crate) fn list_group(&mut self, arguments: &[&[u8]]) -> Reply<'a> {
        let current = self.group.map(|group| group.name().to_vec());
        let Some(name) = arguments.first().map(|name| name.to_vec()).or(current) else {
            return Reply::line("412 Not in a newsgroup");
        };
        let Some(range) = arguments.get(1).map_or(Some(0..=u64::MAX), |range| parse_range(range)) else {
            return Reply::line("501 Syntax error in range");
        };
        let reply = match self.select_group(&name, true) {
            Ok(reply) => reply,
            Err(refusal) => return refusal,
        };
        let range = if self.is_sn() { 0..=u64::MAX } else { range };
        let numbers = self.group.into_iter().flat_map(move |group| group.numbers(range.clone()));
        reply.with(numbers.map(|number| format!("{number}\r\n").into_bytes()))
    }

    /// Executes OVER and XOVER.
    pub(crate) fn overview(&mut self, verb: &str, argument: Option<&[u8]>) -> Reply<'a> {
        let status = match argument {
            Some(range) if !self.is_sn() => {
                format!("224 Overview information for {} follows", String::from_utf8_lossy(range))
            }
            _ => "224 Overview information follows".to_owned(),
        };
        let allows_id = verb == "OVER" && self.config.behaviour.supports_over_by_id;
        match self.select_articles(verb, argument, allows_id) {
            Ok(Selection::Current(number, group)) => Reply::line(status)
                .with(group.find(number).into_iter().map(move |article| article.overview(number))),
            Ok(Selection::ById(article)) => Reply::line(status).with(std::iter::once(article.overview(0))),
            Ok(Selection::Range(range, group)) => Reply::line(status).with(overviews(group, range)),
            Err(reply) => reply,
        }
    }

    /// Executes HDR and XHDR.
    pub(crate) fn headers(&mut self, verb: &str, name: &[u8], argument: Option<&[u8]>) -> Reply<'a> {
        let name = String::from_utf8_lossy(name).into_owned();
        let code = if verb == "HDR" { 225 } else { 221 };
        let status = format!("{code} Header or metadata information for {name} follows");
        let line = |number: u64, value: Vec<u8>| [format!("{number} ").as_bytes(), &value, b"\r\n"].concat();
        match self.select_articles(verb, argument, true) {
            Ok(Selection::Current(number, group)) => {
                let article = group.find(number).into_iter();
                Reply::line(status).with(article.map(move |article| line(number, article.field(&name))))
            }
            Ok(Selection::ById(article)) => {
                Reply::line(status).with(std::iter::once(line(0, article.field(&name))))
            }
            Ok(Selection::Range(range, group)) => {
                let lines = group.numbers(range).filter_map(move |number| {
                    group.find(number).map(|article| line(number, article.field(&name)))
                });
                Reply::line(status).with(lines)
            }
            Err(reply) => reply,
        }
    }

    /// Returns the articles of a range, of a message-id, or the current one.
    ///
    /// # Errors
    /// The refusal.
    fn select_articles(
        &mut self,
        verb: &str,
        argument: Option<&[u8]>,
        allows_id: bool,
    ) -> Result<Selection<'a>, Reply<'a>> {
        match argument {
            Some(id) if id.starts_with(b"<") && !allows_id => {
                return Err(Reply::line("503 Overview by Message-ID unsupported"));
            }
            Some(id) if id.starts_with(b"<") => {
                return self.find(Some(id)).map(|found| Selection::ById(found.article.into_owned()));
            }
            _ => {}
        }
        let Some(group) = self.group else { return Err(Reply::line("412 Not in a newsgroup")) };
        let Some(argument) = argument else {
            return self.find(None).map(|found| Selection::Current(found.number, group));
        };
        let range = parse_range(argument).ok_or_else(|| Reply::line("501 Syntax error in range"))?;
        if !self.is_sn() && group.numbers(range.clone()).next().is_none() {
            let code = if verb.starts_with('X') { 420 } else { 423 };
            return Err(Reply::line(format!("{code} No articles in {}", String::from_utf8_lossy(argument))));
        }
        Ok(Selection::Range(range, group))
    }
}

/// The articles that an OVER or HDR command selects.
enum Selection<'a> {
    ById(NntpArticle),
    Current(u64, &'a NntpGroup),
    Range(RangeInclusive<u64>, &'a NntpGroup),
}

/// Returns the overview lines of a range, several lines in each piece.
fn overviews(group: &NntpGroup, range: RangeInclusive<u64>) -> impl Iterator<Item = Vec<u8>> + '_ {
    let mut numbers = group.numbers(range);
    std::iter::from_fn(move || {
        let some = numbers.by_ref().take(LINES_PER_PIECE);
        let lines: Vec<Vec<u8>> =
            some.filter_map(|number| group.find(number).map(|article| article.overview(number))).collect();
        (!lines.is_empty()).then(|| lines.concat())
    })
}

/// Returns the LIST ACTIVE lines of generated groups, several lines in each piece.
fn generated_groups(count: u64, pattern: Vec<u8>) -> impl Iterator<Item = Vec<u8>> {
    let is_all = pattern == b"*";
    (0..count).step_by(LINES_PER_PIECE).map(move |first| {
        let mut lines = Vec::new();
        for number in first..count.min(first + LINES_PER_PIECE as u64) {
            let name = format!("many.g{number:07}");
            if is_all || wildmat(&pattern, name.as_bytes()) {
                lines.extend_from_slice(name.as_bytes());
                lines.extend_from_slice(b" 0000000000 0000000001 y\r\n");
            }
        }
        lines
    })
}

/// Parses `7`, `7-` or `7-9` (RFC 3977 §8).
fn parse_range(text: &[u8]) -> Option<RangeInclusive<u64>> {
    let text = std::str::from_utf8(text).ok()?;
    match text.split_once('-') {
        None => text.parse().ok().map(|number: u64| number..=number),
        Some((first, "")) => Some(first.parse().ok()?..=u64::MAX),
        Some((first, last)) => Some(first.parse().ok()?..=last.parse().ok()?),
    }
}
